// Whether a partly written object can still be brought to its closing brace: required members,
// conditions and counts taken together. Asked by the pass that drops what no text matches, and by
// the engine before it offers a name.
//
// How      depth-first search: what is violated is mended by each member that can mend it. Where
//          one member alone can mend each condition (a dependency), nothing is tried in vain.
// Errors   RESOURCE_EXHAUSTED: limits.emptiness_states.
// Threads  constant once made.
#ifndef MASKD_GRAMMAR_CORE_IR_OBJECT_END_H_
#define MASKD_GRAMMAR_CORE_IR_OBJECT_END_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// Whether an object asks for more than its required members.
bool HasConditions(const ObjectSpec& spec);
// Whether one of `some` is among `marks`.
bool HaveAnyOf(const std::vector<ObjectSpec::Mark>& marks,
               const std::vector<ObjectSpec::Mark>& some);

// What an object has behind it, as far as its end depends on that. Strings have a letter '0' or '1'
// for each thing that they speak of, so that a state is a key as well.
struct ObjectState {
  std::string closed;       // members: written, or no longer possible
  std::string settled;      // conditions: one of `some` has been left, so it holds for good
  std::string marks;        // those left that an unsettled condition has in `unless_all`
  std::uint32_t count = 0;  // members written, as far as min_members and max_members reach

  bool operator==(const ObjectState&) const = default;

  // Equal states, equal keys. Linear in members and conditions.
  [[nodiscard]] std::string Key() const;
};

// The search for one object. Made once; questions about a state are answered without changing it.
class ObjectEnd {
 public:
  using Marks = std::vector<ObjectSpec::Mark>;

  // `spec` must outlive this. `has_value` says whether a node of it has a text at all.
  ObjectEnd(const ObjectSpec& spec, const std::function<bool(NodeId)>& has_value);

  // The ways to write a member that have a value.
  [[nodiscard]] const std::vector<ObjectSpec::Way>& ways(std::size_t member) const {
    return ways_[member];
  }
  // Whether the others at `index` have a value.
  [[nodiscard]] bool others_live(std::size_t index) const { return others_live_[index]; }

  // Nothing written; members that have no value are closed.
  [[nodiscard]] ObjectState Start() const;
  // `state` after one member more, which leaves `marks`. Closing that member is the caller's.
  [[nodiscard]] ObjectState After(ObjectState state, const Marks& marks) const;

  // Whether the closing brace may stand now: required members are there, conditions and counts
  // hold.
  [[nodiscard]] bool MayEndHere(const ObjectState& state) const;
  // Whether one member more, which leaves `marks` and closes the members [first, last), changes
  // nothing about whether the end can be reached. Surely not where it says so; it is cheap.
  [[nodiscard]] bool IsNeutral(const ObjectState& state, const Marks& marks, std::size_t first,
                               std::size_t last) const;
  // How many members must come before the end, at least; required ones are among them.
  [[nodiscard]] std::uint32_t MissingMembers(const ObjectState& state) const;
  // A lower bound of what mends the violated conditions, of which it looks at the first few: the
  // sum over those that no member mends two of, each by its cheapest member that is not closed, or
  // the others. And what is left of it after one member more.
  struct Mending {
    std::uint32_t bytes = 0;
    std::uint32_t bytes_after_one = 0;
  };
  // `member_bytes` and `others_bytes` say what writing one costs at least.
  [[nodiscard]] Mending MendingBytes(
      const ObjectState& state, const std::function<std::uint32_t(std::size_t)>& member_bytes,
      const std::function<std::uint32_t(std::size_t)>& others_bytes) const;
  // Whether writing none or some of the members not closed leads to the end. Each state that it
  // tries takes StateUnits() of `spend`, whose error ends it.
  using Spend = std::function<absl::Status(std::int64_t units)>;
  [[nodiscard]] absl::StatusOr<bool> CanEnd(const ObjectState& state, std::int64_t max_states,
                                            const Spend& spend) const;
  // What a look at all members and conditions takes, in units of work.
  [[nodiscard]] std::int64_t StateUnits() const;

 private:
  // What is to be tried next: nothing, where the end is reached or out of reach.
  struct Step {
    bool ended = false;
    std::vector<ObjectState> next = {};
  };

  [[nodiscard]] bool IsViolated(std::size_t condition, const ObjectState& state) const;
  [[nodiscard]] std::optional<std::size_t> FindViolated(const ObjectState& state) const;
  // The members not closed, and behind all members the others, that make `condition` hold.
  [[nodiscard]] std::vector<std::size_t> MendersOf(std::size_t condition,
                                                   const ObjectState& state) const;
  // Whether `marks` cannot violate a condition that holds in `state`.
  [[nodiscard]] bool AreHarmless(const Marks& marks, const ObjectState& state) const;
  [[nodiscard]] Step StepFrom(ObjectState state) const;
  // Whether writing `member` changes nothing but the count.
  [[nodiscard]] bool IsPlain(std::size_t member) const;
  // Writes the required members that are plain, up to the first that is not, and names that one.
  [[nodiscard]] std::optional<std::size_t> WriteForced(ObjectState* state) const;
  [[nodiscard]] Step Fill(ObjectState state) const;
  // Appends what `state` becomes by each member or others whose marks are `wanted`.
  void AppendWritten(const ObjectState& state, const std::function<bool(const Marks&)>& wanted,
                     std::vector<ObjectState>* out) const;
  void AppendMember(std::size_t member, const ObjectState& state,
                    const std::function<bool(const Marks&)>& wanted,
                    std::vector<ObjectState>* out) const;

  const ObjectSpec* spec_;
  std::vector<std::vector<ObjectSpec::Way>> ways_;
  // The conditions that a member may make hold, by member.
  std::vector<std::vector<std::size_t>> mended_by_;
  std::vector<bool> others_live_;
  // A required member has no value.
  bool required_lost_ = false;
  std::size_t mark_count_ = 0;
  // Counts above this are not told apart.
  std::uint32_t count_clamp_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_OBJECT_END_H_
