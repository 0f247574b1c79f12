// Runs a text or a token list through a grammar, and says where it left it.
//
// Threads  no state; any thread.
#ifndef MASKD_SERVICE_SEQUENCES_CHECKER_H_
#define MASKD_SERVICE_SEQUENCES_CHECKER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "cache/single_flight.h"
#include "grammar_core/frontend/chat/answer_reader.h"
#include "grammar_core/mask/token_mask.h"
#include "service/grammars/tokenizer_store.h"
#include "service/sequences/rule_place.h"

namespace maskd::service {

// How far an input was taken, and what stands there.
struct CheckOutcome {
  bool accepted = false;  // the whole input was taken
  bool may_end = false;   // the text may end after what was taken
  bool finished = false;  // a stop token was taken
  // Where it stopped; of no meaning when accepted.
  std::int64_t byte_offset = 0;
  int token_index = -1;  // -1 for a text
  std::string refused;
  RulePlace rule;  // of the source, that speaks about the place
  // What was taken says, of kind "chat" where its family can be read back.
  std::optional<ChatMessage> message;
  MaskRef allowed;  // null: the place cannot be reached by tokens of this vocabulary
};

// Errors: OUT_OF_RANGE (no such token), RESOURCE_EXHAUSTED (a step over its budget).
absl::StatusOr<CheckOutcome> CheckTokens(const cache::GrammarPtr& grammar,
                                         const std::vector<TokenId>& tokens);

// Errors: RESOURCE_EXHAUSTED.
absl::StatusOr<CheckOutcome> CheckText(const cache::GrammarPtr& grammar,
                                       const LoadedTokenizer& tokenizer, absl::string_view text);

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SEQUENCES_CHECKER_H_
