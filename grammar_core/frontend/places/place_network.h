// A grammar's own text as a network, through which a text is followed to name the parts of the
// source that may come next: for people who ask why a token is refused.
//
// Exactness  every part that may come next is named. Where exact() is false one too many may be:
//            what was approximated takes more texts than the grammar does.
// Bounds     kMostItems steps of the search for one text; past them nothing is known.
// Threads    one thread while it is made; immutable then.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_PLACES_PLACE_NETWORK_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_PLACES_PLACE_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/base/char_set.h"
#include "grammar_core/frontend/structural_tag/written_style.h"

namespace maskd {

// A part of the source, by where it stands.
struct NextPart {
  // What stands there.
  enum class What : std::uint8_t {
    kText,    // a literal, class or other end of a pattern or of rules
    kMarker,  // a text that the grammar writes around others, or free text
    kSchema,  // a JSON Schema whose value is being written
  };

  What what = What::kText;
  // JSON Pointer of the marker, of the schema, or of the text that holds the part; "" where that is
  // the whole source.
  std::string pointer = {};
  // kText: its bytes in that text; `end` is 0 where it is not known.
  std::size_t at = 0;
  std::size_t end = 0;
  // kText: in the definition of this name; "" where it has none.
  std::string rule = {};
  // kMarker: what is written there.
  std::string says = {};
  // kSchema: how its value is written; null: as JSON.
  WrittenStyleRef style = nullptr;
  // kSchema: bytes that were taken before the value.
  std::size_t taken_before = 0;
  // Characters with which the part may go on, of which the search knows.
  CharSet next = {};
};

// Rules of places and edges. A rule begins at one place and ends at another.
class PlaceNetwork {
 public:
  using Place = std::uint32_t;
  using RuleNo = std::uint32_t;

  static constexpr std::size_t kMostItems = 300'000;
  // Places of the network at most; past them what is added is approximated or left out.
  static constexpr std::size_t kMostPlaces = 400'000;

  // What an edge takes.
  enum class Way : std::uint8_t {
    kFree,        // nothing
    kCall,        // what the rule `what` takes
    kCharacter,   // the character `what`
    kSet,         // a character of the set `what`
    kJson,        // a JSON value, whatever its schema
    kTextBegin,   // nothing, where the text begins
    kTextEnd,     // nothing, where the text ends
    kBoundary,    // nothing, where a word begins or ends
    kNoBoundary,  // nothing, elsewhere
  };

  // An empty rule: its end is not reached yet.
  RuleNo NewRule();
  [[nodiscard]] Place begin(RuleNo rule) const { return begins_[rule]; }
  [[nodiscard]] Place end(RuleNo rule) const { return ends_[rule]; }
  Place NewPlace(RuleNo rule);
  void Add(Place from, Way way, std::uint32_t what, Place to);
  void AddSet(Place from, CharSet set, Place to);

  // Rules made of others. All of them add a way to what the rule takes already.
  void AddChain(RuleNo rule, const std::vector<RuleNo>& called);
  void AddText(RuleNo rule, const std::u32string& text);
  void AddUtf8(RuleNo rule, absl::string_view text);
  void AddCharacters(RuleNo rule, CharSet set);
  void AddRepeat(RuleNo rule, RuleNo child, std::uint32_t min, std::uint32_t max);
  void AddAnyText(RuleNo rule) { AddTextWithout(rule, {}); }
  // Any text that holds none of these, which are not empty.
  void AddTextWithout(RuleNo rule, const std::vector<std::string>& excluded);
  // Nothing, where `way` holds.
  void AddCondition(RuleNo rule, Way way) { Add(begin(rule), way, 0, end(rule)); }

  // What is named when a part of the rule comes next.
  void SetPart(RuleNo rule, NextPart part) { parts_[rule] = std::move(part); }
  void SetStart(RuleNo rule) { start_ = rule; }

  // Says that the characters of `set` may follow where others may not, which the network does not
  // know of.
  void TellApart(CharSet set) { sets_.push_back(std::move(set)); }
  // Says that the network takes more than the grammar does.
  void Approximate() { exact_ = false; }
  [[nodiscard]] bool exact() const { return exact_; }
  // Whether it has as many places as it may have.
  [[nodiscard]] bool full() const { return edges_.size() >= kMostPlaces; }

  // Where characters begin that the network can tell from those before them, ascending.
  [[nodiscard]] std::vector<std::uint32_t> Bounds() const;

  // In the order of the source, each once. Nothing where the search would take too much; an empty
  // list where no text goes on with `taken`, or nothing may follow it.
  [[nodiscard]] std::optional<std::vector<NextPart>> Behind(absl::string_view taken) const;
  // Whether `text` is a whole one. Nothing where the search would take too much.
  [[nodiscard]] std::optional<bool> Takes(absl::string_view text) const;

 private:
  friend class PlaceSearch;

  struct Edge {
    Way way;
    std::uint32_t what;
    Place to;
  };

  void AddLoop(RuleNo rule, RuleNo child, bool may_be_none);

  std::vector<std::vector<Edge>> edges_;        // by place
  std::vector<RuleNo> rule_of_;                 // by place
  std::vector<Place> begins_;                   // by rule
  std::vector<Place> ends_;                     // by rule
  std::vector<std::optional<NextPart>> parts_;  // by rule; of rules that consist of others none
  std::vector<CharSet> sets_;
  RuleNo start_ = 0;
  bool exact_ = true;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_PLACES_PLACE_NETWORK_H_
