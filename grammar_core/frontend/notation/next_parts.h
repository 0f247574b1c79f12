// Which parts of a grammar's text may come next behind a text: for people who ask why a token is
// refused there.
//
// Exactness  every part that may come next is named. One too many may be: counts of a repetition,
//            conditions, intersections and negations are not followed. Which part refused a token
//            is not told.
// Bounds     kMostItems steps of the search for one text; past them nothing is known.
// Threads    immutable.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_NEXT_PARTS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_NEXT_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/base/char_set.h"
#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// A literal, class or other end of the notation, by where it stands.
struct NextPart {
  std::size_t at = 0;  // its byte in the source
  std::string rule;    // in the definition of this name; "" where it has none
  bool operator==(const NextPart&) const = default;
};

// A grammar as a network of small rules, through which texts are followed.
class NextParts {
 public:
  static constexpr std::size_t kMostItems = 100'000;

  // Keeps nothing of either. `ir` has the nodes that the grammar's expressions name.
  NextParts(const SourceGrammar& grammar, const GrammarIr& ir, SymbolId start);

  // In the order of the source, each once. Nothing where the search would take too much; an empty
  // list where no text goes on with `taken`, or nothing may follow it.
  [[nodiscard]] std::optional<std::vector<NextPart>> Behind(absl::string_view taken) const;

 private:
  friend class NextPartsBuilder;
  friend class NextPartsSearch;

  using Place = std::uint32_t;   // a place in a rule
  using RuleNo = std::uint32_t;  // of the network
  enum class Way : std::uint8_t {
    kFree,       // takes nothing
    kCall,       // takes what the rule `what` takes
    kCharacter,  // takes the character `what`
    kSet,        // takes a character of sets_[what]
  };
  struct Edge {
    Way way;
    std::uint32_t what;
    Place to;
  };

  std::vector<std::vector<Edge>> edges_;  // by place
  std::vector<RuleNo> rule_of_;           // by place
  std::vector<Place> begins_;             // by rule
  std::vector<Place> ends_;               // by rule
  // By rule: what is named when a part of it comes next; of rules that consist of others none.
  std::vector<std::optional<NextPart>> parts_;
  std::vector<CharSet> sets_;
  RuleNo start_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_NEXT_PARTS_H_
