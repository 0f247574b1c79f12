// Says, byte by byte, whether a text can still become a text of a grammar: slow, obvious, and
// written apart from the engine, to hold masks against. It reads nothing but GrammarIr.
//
// How      a nondeterministic machine. A configuration is a stack of what is still to be matched,
//          as a linked list that shares its tails; a state is a set of configurations whose tops
//          read a byte. An IR from ReduceGrammar() has no unproductive part and no left recursion,
//          so a configuration that exists can be completed, and the text may end where one is
//          empty. Equal configurations and equal states are kept once and steps are remembered,
//          which changes no answer.
// Characters  intersections, complements and the names of an object's others are machines of their
//          own (character_machine.h), as far as they are small enough.
// Refused  objects with conditions, machines that are too large, Nothing in a place where it would
//          make a configuration hopeless: the constructor ends the program with the reason, it
//          never guesses.
// Threads  one thread an object. `ir` must outlive it.
#ifndef MASKD_TESTS_ORACLE_PREFIX_ORACLE_H_
#define MASKD_TESTS_ORACLE_PREFIX_ORACLE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/char_set.h"
#include "grammar_core/ir/grammar_ir.h"
#include "tests/oracle/character_machine.h"

namespace maskd {

class PrefixOracle {
 public:
  // A number for a set of configurations.
  using State = std::uint32_t;
  // The text cannot be continued.
  static constexpr State kDead = 0;

  explicit PrefixOracle(const GrammarIr& ir);

  // Why the oracle refuses `ir`; empty where it does not.
  static std::string WhyNot(const GrammarIr& ir);

  [[nodiscard]] State start() const { return start_; }
  State Step(State state, unsigned char byte);
  // Step() for each byte of `text`.
  State StepText(State state, absl::string_view text);
  // Whether the text so far is a whole text.
  [[nodiscard]] bool MayEnd(State state) const { return may_end_[state]; }
  // States made so far.
  [[nodiscard]] std::size_t state_count() const { return sets_.size(); }

 private:
  // What one entry of a stack waits for.
  enum class Wait : std::uint8_t {
    kNode,          // node a
    kRepeat,        // node a, of whose child b rounds are over
    kByte,          // byte a
    kBytes,         // byte string a from its byte b
    kByteSet,       // a byte of set a
    kCharSet,       // a character of set a
    kNumber,        // the number a, of which `notes` is written
    kText,          // text a from its character b
    kTextOfSet,     // the same of text c in text set a
    kName,          // the same of the name of member c of object a
    kMachineBegin,  // machine a
    kMachine,       // the same from its state b, which can go on
    kMember,        // a member of object a; or its '}', where b is kFirst
    kAfterMember,   // ',' and a member of object a, or its '}'
  };
  struct Entry {
    Wait wait;
    Spelling spelling = Spelling::kUtf8;
    std::uint32_t a = 0, b = 0, c = 0;
    // A character begun: its bytes so far.
    std::string bytes = {};
    // kMember, kAfterMember: kSeen or kOpen for each declared member, and one for all others.
    std::string notes = {};
    // kNode, kRepeat, kMember, kAfterMember: levels of indentation around it.
    std::uint32_t depth = 0;
    auto operator<=>(const Entry&) const = default;
    template <typename H>
    friend H AbslHashValue(H h, const Entry& e) {
      return H::combine(std::move(h), e.wait, e.spelling, e.a, e.b, e.c, e.bytes, e.notes, e.depth);
    }
  };
  static constexpr char kSeen = 'x';
  static constexpr char kOpen = '-';
  static constexpr std::uint32_t kFirst = 1;
  struct Cell {
    Entry entry;
    const Cell* below;
  };
  // Null is the empty stack: nothing more is to be matched.
  using Stack = const Cell*;

  Stack Push(const Entry& entry, Stack below);
  // `entries` so that the first is matched first.
  Stack PushAll(const std::vector<Entry>& entries, Stack below);
  // The state of these stacks once their tops read bytes.
  State Intern(std::vector<Stack> open);

  // Replaces tops that read no byte by what they stand for, until every top reads one.
  std::vector<Stack> Closed(std::vector<Stack> open);
  [[nodiscard]] bool ReadsByte(const Entry& entry) const;
  void Expand(Stack stack, std::vector<Stack>* out);
  void ExpandNode(const Entry& top, Stack below, std::vector<Stack>* out);
  void ExpandRepeat(const Entry& top, Stack below, std::vector<Stack>* out);
  void ExpandMember(const Entry& top, Stack below, std::vector<Stack>* out);
  void ExpandAfterMember(const Entry& top, Stack below, std::vector<Stack>* out);
  // A line feed and so many spaces before `below`; an object's break of a line, if it has lines.
  Stack PushBreak(std::uint32_t spaces, Stack below);
  Stack PushBreak(const ObjectSpec& spec, std::uint32_t depth, Stack below);
  // A member from its name, which follows the opening quote, to what is `after` it.
  Stack MemberStack(const ObjectSpec& spec, const std::vector<Entry>& name, NodeId value,
                    const Entry& after, Stack below);

  void StepStack(Stack stack, unsigned char byte, std::vector<Stack>* out);
  void StepCharacter(const Entry& top, Stack below, unsigned char byte, std::vector<Stack>* out);
  // `state` of a machine, which may be an end as well as a place to go on from.
  void PushMachine(Entry state, Stack below, std::vector<Stack>* out);
  // Whether object a has any name for its others.
  [[nodiscard]] bool HasOthers(std::uint32_t object) const;
  // The machine of an intersection or complement; made when first met.
  std::uint32_t MachineOf(NodeId node);
  // The one character that a text stands before, or those of a set.
  [[nodiscard]] CharSet Awaited(const Entry& top) const;
  // The text of kText, kTextOfSet, kName.
  [[nodiscard]] const std::u32string& TextOf(const Entry& top) const;

  const GrammarIr& ir_;
  // Names of members, decoded: names_[object][member].
  std::vector<std::vector<std::u32string>> names_;
  // Machines of the names of others, by object and kind of others; kNoMachine: there is no name.
  std::vector<std::vector<std::uint32_t>> other_names_;
  static constexpr std::uint32_t kNoMachine = 0xFFFFFFFF;
  std::deque<CharacterMachine> machines_;
  absl::flat_hash_map<NodeId, std::uint32_t> node_machines_;
  std::deque<Cell> cells_;
  absl::flat_hash_map<std::pair<Entry, Stack>, Stack> known_cells_;
  std::vector<std::vector<Stack>> sets_;
  std::vector<bool> may_end_;
  std::map<std::vector<Stack>, State> known_sets_;
  absl::flat_hash_map<std::pair<State, unsigned char>, State> known_steps_;
  State start_ = kDead;
};

}  // namespace maskd

#endif  // MASKD_TESTS_ORACLE_PREFIX_ORACLE_H_
