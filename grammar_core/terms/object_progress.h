// What an object has behind it and which members may come next.
//
// Progress  a number. Declared order: the index of the next declared member, all those before it
//           being written or passed over. Any order, or an object with conditions: the number of an
//           interned state.
// Ends      a member may be written only if the object can still be ended after it, so a state that
//           is reached can be ended.
// Errors    by Work: RESOURCE_EXHAUSTED where conditions are too hard to decide.
// Threads   the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_TERMS_OBJECT_PROGRESS_H_
#define MASKD_GRAMMAR_CORE_TERMS_OBJECT_PROGRESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/hash/hash.h"

#include "grammar_core/base/hash128.h"
#include "grammar_core/base/index_table.h"
#include "grammar_core/base/work.h"
#include "grammar_core/ir/facts/grammar_facts.h"
#include "grammar_core/ir/object_end.h"
#include "grammar_core/terms/term.h"

namespace maskd {

// The places within one object, as numbers. The spec is the IR's and does not change; places of an
// object in any order are made when first met.
class ObjectProgress {
 public:
  // One object's; `facts` must outlive this. What this keeps, in bytes, is added to `*held_bytes`.
  ObjectProgress(const GrammarFacts& facts, std::uint32_t object, std::int64_t max_end_states,
                 std::int64_t* held_bytes);
  ObjectProgress(const ObjectProgress&) = delete;
  ObjectProgress& operator=(const ObjectProgress&) = delete;

  // After the opening brace.
  [[nodiscard]] std::uint32_t start() const { return 0; }
  [[nodiscard]] bool MayClose(std::uint32_t progress) const;
  // Whether `member`, or one of the others at `index`, may be the next one.
  bool MayWrite(std::uint32_t progress, std::uint32_t member, Work& work);
  bool MayWriteOthers(std::uint32_t progress, std::uint32_t index, Work& work);
  bool MayWriteAny(std::uint32_t progress, Work& work);

  // A value that `member` may have, and the progress behind it.
  struct Written {
    NodeId value;
    std::uint32_t progress;
  };
  // All of them.
  std::vector<Written> Write(std::uint32_t progress, std::uint32_t member, Work& work);
  std::uint32_t WriteOthers(std::uint32_t progress, std::uint32_t index);

  // The progress that stands for `progress` once it is sure that the next member is `first` or one
  // after it: the same for as many as there can be, so that their states are shared.
  [[nodiscard]] std::uint32_t Narrowed(std::uint32_t progress, std::uint32_t first) const {
    return places_.empty() ? first : progress;
  }

  // Lower bounds, in bytes, where `depth` levels are around the object. The first is for the
  // members that must still come, each with a comma and what breaks its line. Then, from the
  // closing quote of the name of `member` to the brace; for the end; for any member, at no level.
  [[nodiscard]] std::uint32_t RequiredBytes(std::uint32_t progress, std::uint32_t depth) const;
  [[nodiscard]] std::uint32_t BytesAfterName(std::uint32_t progress, std::uint32_t member,
                                             std::uint32_t depth) const;
  [[nodiscard]] std::uint32_t EndBytes(std::uint32_t depth) const;
  [[nodiscard]] std::uint32_t any_member_bytes() const { return any_member_bytes_; }
  // `bytes` of members, less what breaks the line of the first one.
  [[nodiscard]] std::uint32_t BehindLine(std::uint32_t bytes, std::uint32_t depth) const;

  // `progress` of `from`, the same object's in another automaton, as one of this.
  std::uint32_t Adopt(const ObjectProgress& from, std::uint32_t progress);

  // Structural: equal for equal objects at equal places, in any grammar.
  [[nodiscard]] Hash128 Key(std::uint32_t progress) const;

 private:
  // A place, where a member's index does not say it all.
  struct Place {
    ObjectState state;
    // Declared order: the next member's index.
    std::uint32_t next = 0;
    // See RequiredBytes(); and the most that one member that is not required takes off the bound.
    std::uint32_t missing_bytes = 0;
    std::uint32_t next_bytes = 0;
    // What a level around the object adds to the members that are required by name.
    std::uint32_t missing_spaces = 0;
    // Whether the object can end after each way of each member, and after each of the others:
    // kUnknown, kNo or kYes.
    std::string can_end;
  };

  [[nodiscard]] std::uint32_t member_count() const {
    return static_cast<std::uint32_t>(spec_->members.size());
  }
  [[nodiscard]] const ObjectSpec::Member& member(std::uint32_t index) const {
    return spec_->members[index];
  }
  [[nodiscard]] bool HasValue(NodeId node) const { return facts_->MinBytes(node) != kNoEnd; }
  // Whether the order and the required members let `member`, or the others, be next.
  [[nodiscard]] bool IsInTurn(std::uint32_t progress, std::uint32_t member) const;
  [[nodiscard]] bool OthersInTurn(std::uint32_t progress) const;
  [[nodiscard]] std::uint32_t NextMember(std::uint32_t progress) const;

  [[nodiscard]] Place AfterMember(std::uint32_t progress, std::uint32_t member,
                                  const ObjectEnd::Marks& marks) const;
  [[nodiscard]] Place AfterOthers(std::uint32_t progress, std::uint32_t index) const;
  // Whether the object can end after way `way` of a member, or after one of the others.
  bool CanEndAfter(std::uint32_t progress, std::uint32_t member, std::size_t way, Work& work);
  bool CanEndAfterOthers(std::uint32_t progress, std::uint32_t index, Work& work);
  // The same of option `option` of `progress`, which leads to `next()`.
  template <typename Next>
  bool CanEnd(std::uint32_t progress, std::size_t option, Next next, Work& work);
  std::uint32_t Intern(Place place);
  // Adds a place that has none of its kind yet; its number.
  template <typename MakePlace>
  std::uint32_t InternAs(const Place& like, MakePlace make);
  void FindRequired();
  void FindMissing(Place* place) const;
  // So many of the others, of an array that has nothing else: all but one are not empty.
  [[nodiscard]] std::uint32_t ItemBytes(std::uint32_t count) const;
  [[nodiscard]] std::uint32_t MemberBytes(std::uint32_t member, std::uint32_t depth = 0) const;

  const GrammarFacts* facts_;
  const ObjectSpec* spec_;
  const Hash128 shape_;
  const std::int64_t max_end_states_;
  std::int64_t* const held_bytes_;
  // With conditions only.
  std::optional<ObjectEnd> end_;
  // The first option of each member, and after them that of the others.
  std::vector<std::size_t> first_option_;
  // By progress; none in declared order without conditions.
  std::vector<Place> places_;
  struct ByPlace {
    const std::vector<Place>* places;
    std::size_t operator()(const Place& place) const {
      return absl::HashOf(place.state.closed, place.state.settled, place.state.marks,
                          place.state.count, place.next);
    }
    std::size_t operator()(std::uint32_t number) const { return (*this)((*places)[number]); }
    bool operator()(std::uint32_t number, const Place& y) const {
      const Place& x = (*places)[number];
      return x.state == y.state && x.next == y.next;
    }
  };
  IndexTable<ByPlace> place_ids_{ByPlace{&places_}};
  // Declared order. From member i on: the first required one, or the count; and the bytes that the
  // required ones take at least, each with a comma. One element more than there are members.
  std::vector<std::uint32_t> next_required_;
  std::vector<std::uint32_t> required_bytes_;
  // What a level around the object adds to those bytes. None where it is on one line.
  std::vector<std::uint32_t> required_spaces_;
  std::uint32_t any_member_bytes_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_OBJECT_PROGRESS_H_
