// What can be wrong with one row, each with the field of the client's message that says it. None
// ends the stream: they are answers of their rows.
#include "service/sequences/row_errors.h"

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/matcher/drafts.h"
#include "service/base/errors.h"

namespace maskd::service {

namespace {

absl::Status NotAskedFor(absl::string_view field, absl::string_view hello_field) {
  return ErrorAt(absl::StatusCode::kFailedPrecondition, field, "NOT_ASKED_FOR",
                 absl::StrCat("needs ", hello_field, " in the stream's Hello"));
}

}  // namespace

absl::Status RowNotFound(RowId id) { return NotFound("row", absl::StrCat(id)); }

absl::Status RowExists(RowId id) {
  return ErrorAt(absl::StatusCode::kAlreadyExists, "", "ROW_ALREADY_OPEN",
                 absl::StrCat("row ", id, " is open; it was left as it is"));
}

absl::Status NotReady(RowId id, absl::string_view why) {
  return ErrorAt(absl::StatusCode::kFailedPrecondition, "", "ROW_NOT_READY",
                 absl::StrCat("row ", id, " ", why));
}

// Before the grammar is compiled, so that a row with a wrong option costs no compile.
absl::Status CheckOptions(const RowOptions& options, const FormTerms& terms, int vocab_size) {
  const auto known = [vocab_size](TokenId id) { return id >= 0 && id < vocab_size; };
  for (const TokenId id : options.stop_ids)
    if (!known(id)) return TokenOutOfRange("stop_ids", id, vocab_size);
  for (const LogitBias& bias : options.biases)
    if (!known(bias.id)) return TokenOutOfRange("biases", bias.id, vocab_size);
  if (options.observe && options.gate.has_value())
    return BadField("reasoning", "a row that is only read has none");
  if (options.observe && options.min_tokens > 0)
    return BadField("min_tokens", "a row that is only read may end anywhere");
  if (options.temperature.has_value() && !terms.temperature)
    return NotAskedFor("temperature", "want_temperature");
  return options.biases.empty() || terms.biases ? absl::OkStatus()
                                                : NotAskedFor("biases", "want_bias");
}

absl::Status CheckDrafts(const RowToMove& move, std::int64_t max_tokens) {
  const auto count = static_cast<std::int64_t>(move.drafts.size());
  if (count > max_tokens)
    return LimitExceeded("drafts.tokens", "max_draft_tokens", max_tokens, count);
  const absl::Status tree = CheckDraft({move.drafts, move.draft_parents});
  return tree.ok() ? tree
                   : ErrorAt(tree.code(), absl::StrCat("drafts.", ErrorPlace(tree)),
                             "DRAFT_IS_NO_TREE", tree.message());
}

absl::Status TokenError(const absl::Status& refused, std::size_t index) {
  const char* reason = absl::IsInvalidArgument(refused) ? "TOKEN_REFUSED"
                       : absl::IsOutOfRange(refused)    ? "TOKEN_OUT_OF_RANGE"
                                                        : "STEP_LIMIT_EXCEEDED";
  return ErrorAt(refused.code(), absl::StrCat("tokens[", index, "]"), reason, refused.message());
}

}  // namespace maskd::service
