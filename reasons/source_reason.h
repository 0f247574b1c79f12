// Why a text stops where it does: what of the grammar's source speaks about that place.
//
// Exactness  every rule that is named speaks about the place; which of several refused a token is
//            not told. Of patterns and rules it is what may come next (places/place_network.h):
//            where the network takes more than the grammar, a part is named only if some character
//            of it may follow, as far as the caller can say.
// Bounds     kMostRules rules; the questions of viable_parts.h; sources of kMostSourceBytes;
//            kMostPatterns patterns of schemas that are followed, beyond them they are named whole.
// Threads    immutable.
#ifndef MASKD_REASONS_SOURCE_REASON_H_
#define MASKD_REASONS_SOURCE_REASON_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include <nlohmann/json.hpp>

#include "grammar_core/frontend/places/place_network.h"
#include "reasons/json_position.h"
#include "reasons/reason.h"
#include "reasons/schema_rules.h"
#include "reasons/viable_parts.h"

namespace maskd::reasons {

inline constexpr std::size_t kMostPatterns = 16;

// A source, and what reasons are looked for in: its network, and of JSON its tree.
class Source {
 public:
  // Parses the text.
  Source(absl::string_view kind, std::string text);

  // As the caller gave it.
  [[nodiscard]] const std::string& text() const { return text_; }
  // What speaks about the place behind `taken`, a beginning of a text of the grammar.
  [[nodiscard]] Reason ReasonBehind(absl::string_view taken,
                                    const IsViable& viable = nullptr) const;

 private:
  // The bytes of a look-around in a pattern.
  struct Look {
    std::size_t begin;
    std::size_t end;
  };

  void AddLooks(std::vector<NextPart>* parts) const;
  void AddSchema(const NextPart& part, absl::string_view taken, ViableParts& viable,
                 Reason* reason) const;
  bool AddPatterns(const SchemaRule& rule, const OpenString& string, ViableParts& viable,
                   Reason* reason) const;
  [[nodiscard]] PlacedRule RuleOf(const NextPart& part) const;
  [[nodiscard]] PlacedRule RuleOfText(const NextPart& part) const;
  [[nodiscard]] PlacedRule RuleWithin(const std::string& place, absl::string_view text,
                                      const std::optional<SourceSpan>& whole,
                                      const NextPart& part) const;

  const std::string kind_;
  const std::string text_;
  std::unique_ptr<const PlaceNetwork> network_;  // null: none is known
  nlohmann::ordered_json json_;                  // of kinds whose source is JSON
  std::vector<Look> looks_;                      // of a pattern that is the whole source
};

}  // namespace maskd::reasons

#endif  // MASKD_REASONS_SOURCE_REASON_H_
