// Texts that a format spells out, as a vocabulary has them: a marker in them is its token, and no
// sequence of others; what is between markers is text.
//
// Text     a marker that is spelled once is text nowhere in the grammar: its token stands where a
//          format spells it or names it, and in no free text, string or name. Its spelling in
//          ordinary tokens is text as any other.
// Without  a vocabulary all is text.
// Errors   kept, and told by status(): INVALID_ARGUMENT at the place of a text that the
//          vocabulary's tokens cannot spell.
// Threads  belongs to one compile.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_MARKER_SPELLER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_MARKER_SPELLER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "grammar_core/frontend/read_result.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/tokenizer/marker_table.h"

namespace maskd {

// Asked by all that spell texts of a format, so that a marker is spelled one way only.
class MarkerSpeller {
 public:
  // `table` may be null: there is no vocabulary. `builder` must outlive this.
  MarkerSpeller(const MarkerTable* table, IrBuilder& builder) : table_(table), builder_(builder) {}

  // `text`, which may be empty, as what takes it. `place` is where a format spells it; it is made
  // where that is told alone.
  NodeId Spell(absl::string_view text, absl::string_view place);
  NodeId Spell(absl::string_view text, absl::FunctionRef<std::string()> place);

  // Whether there is a marker in the first `bytes` bytes of `text`, if only a part of it.
  [[nodiscard]] bool HasMarker(absl::string_view text,
                               std::size_t bytes = absl::string_view::npos) const;

  // How many bytes of `text` the first `bytes` bytes are, a marker that begins in them whole.
  [[nodiscard]] std::size_t WithWholeMarkers(absl::string_view text, std::size_t bytes) const;

  // Those of `texts` without a marker: with one they are in no text anyhow.
  [[nodiscard]] std::vector<std::string> TextOnly(std::vector<std::string> texts) const;

  // Has the markers in `text` be text nowhere, as if they were spelled.
  void Keep(absl::string_view text, absl::string_view place);
  // The same of tokens that a format names.
  void Keep(const TokenSpec& tokens);

  // A remark for a pattern or rules, whose texts are not looked at for markers but read as such.
  void WarnOfMarkersIn(absl::string_view text, absl::string_view place,
                       std::vector<Diagnostic>* warnings) const;

  // The first error.
  [[nodiscard]] const absl::Status& status() const { return status_; }

  // Says in `result` which markers there were.
  void Finish(ReadResult* result) const;

 private:
  void Note(TokenId marker, absl::FunctionRef<std::string()> place);
  // That takes its token.
  NodeId NodeOf(TokenId marker);

  const MarkerTable* const table_;
  IrBuilder& builder_;
  std::map<TokenId, std::string> kept_;               // where each was spelled first
  absl::flat_hash_map<std::string, NodeId> spelled_;  // the ends of many tags are one text
  absl::flat_hash_map<TokenId, NodeId> markers_;
  absl::Status status_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_MARKER_SPELLER_H_
