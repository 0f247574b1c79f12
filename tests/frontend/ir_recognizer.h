// A slow and obvious recogniser of GrammarIr, to hold the automaton against. It shares no code and
// no idea with the engine: it computes, for a node and a place in the text, all places where a
// match of the node can end. A node that is asked for while it is being computed (left recursion)
// gives the places known so far, and rounds are repeated until none brings a new place.
//
// Cost     polynomial in the text; recursion as deep as the text nests. For tests only.
// Threads  one thread an object.
#ifndef MASKD_TESTS_FRONTEND_IR_RECOGNIZER_H_
#define MASKD_TESTS_FRONTEND_IR_RECOGNIZER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

class IrRecognizer {
 public:
  // `ir` must outlive the recogniser.
  explicit IrRecognizer(const GrammarIr& ir) : ir_(ir) {}

  // Whether the whole of `text` is a text of the grammar.
  bool Accepts(absl::string_view text);

 private:
  using Place = std::uint32_t;
  // Ascending and distinct.
  using Places = std::vector<Place>;

  struct Character {
    std::uint32_t code_point;
    Place end;
  };
  // A place between two members of an object, and what is before it.
  struct BetweenMembers {
    Place at;
    std::set<std::size_t> seen = {};
    bool others = false;
    std::set<ObjectSpec::Mark> marks = {};
    std::uint32_t count = 0;
    // Items of an array that are no members.
    std::set<std::u32string> others_seen = {};
    auto operator<=>(const BetweenMembers&) const = default;
  };

  struct Known {
    Places ends;
    int round = 0;      // that looked last
    bool open = false;  // still being computed
  };

  const Places& Ends(NodeId node, Place at, Spelling spelling);
  Places Compute(NodeId node, Place at, Spelling spelling);
  Places OfConcat(const IrNode& n, Place at, Spelling spelling);
  Places OfAlt(const IrNode& n, Place at, Spelling spelling);
  Places OfRepeat(const IrNode& n, Place at, Spelling spelling);
  Places OfAnd(const IrNode& n, Place at, Spelling spelling);
  Places OfNot(const IrNode& n, Place at, Spelling spelling);
  Places OfBytes(const std::string& bytes, Place at) const;
  Places OfText(const std::u32string& text, Place at, Spelling spelling) const;
  Places OfTextSet(const std::vector<std::u32string>& texts, Place at, Spelling spelling) const;
  Places OfNumber(const NumberSpec& spec, Place at) const;
  Places OfObject(const ObjectSpec& spec, Place at);
  Places OfDistinct(const IrNode& n, Place at);
  Places OfBlock(const IrNode& n, Place at);

  // The ends of `node` from any of `from`.
  Places After(const Places& from, NodeId node, Spelling spelling = Spelling::kUtf8);
  // The places behind a line feed and `spaces` spaces for each level that is around.
  Places AfterBreak(const Places& from, std::uint32_t spaces) const;
  // The same in a container that `spec` is, if it has lines.
  Places AfterBreak(const Places& from, const ObjectSpec& spec) const {
    return spec.is_block() ? AfterBreak(from, spec.indent) : from;
  }
  // The places behind `byte` where it stands at one of `from`.
  Places AfterByte(const Places& from, char byte) const;
  // The places behind one member that begins at `from.at`, and the state there.
  std::vector<BetweenMembers> Member(const ObjectSpec& spec, const BetweenMembers& from);
  std::vector<BetweenMembers> BareMember(const ObjectSpec& spec, const BetweenMembers& from);
  // What may stand behind a key: a value, and the state after it.
  using Values = std::vector<std::pair<NodeId, BetweenMembers>>;
  Values ValuesOf(const ObjectSpec& spec, Place key, Place key_end, BetweenMembers from);
  static bool MayClose(const ObjectSpec& spec, const BetweenMembers& state);

  // The character that begins at `at`, or nothing.
  [[nodiscard]] std::optional<Character> Next(Place at, Spelling spelling) const;
  [[nodiscard]] std::optional<Character> NextInJson(Place at) const;
  [[nodiscard]] std::optional<Character> Escaped(Place at) const;
  [[nodiscard]] std::optional<std::uint32_t> Hex4(Place at) const;

  const GrammarIr& ir_;
  absl::string_view text_;
  // The last is the depth.
  absl::flat_hash_map<std::tuple<NodeId, Place, Spelling, std::uint32_t>, Known> known_;
  // Levels around the node at hand.
  std::uint32_t depth_ = 0;
  int round_ = 0;
  // Of this round: whether an open computation was asked for, and whether a place is new.
  bool reentered_ = false;
  bool grew_ = false;
};

}  // namespace maskd

#endif  // MASKD_TESTS_FRONTEND_IR_RECOGNIZER_H_
