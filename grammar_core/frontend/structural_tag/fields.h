// Members of one JSON object, each by its key and type.
//
// Errors   INVALID_ARGUMENT at the JSON Pointer of the member: a type that is not the expected one,
//          a member that is missing, a key that is not known.
// Threads  no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_FIELDS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// An error at the member `key` of `object`, whether it is there or not.
absl::Status InvalidMember(const JsonValue& object, absl::string_view key,
                           absl::string_view message);

// Refuses what is no object and keys that are not among `keys`, listing those.
absl::Status CheckKeys(const JsonValue& object, absl::Span<const absl::string_view> keys);

// The member, which must be there: any value, a string's text, a list.
absl::StatusOr<JsonValue> RequiredMember(const JsonValue& object, absl::string_view key);
absl::StatusOr<absl::string_view> RequiredText(const JsonValue& object, absl::string_view key);
absl::StatusOr<JsonValue> RequiredList(const JsonValue& object, absl::string_view key);

// False where there is none.
absl::StatusOr<bool> FlagOf(const JsonValue& object, absl::string_view key);
// A number from 0 to 2^32 - 2; nothing where there is none or null.
absl::StatusOr<std::optional<std::uint32_t>> CountOf(const JsonValue& object,
                                                     absl::string_view key);
// Texts that are not empty; none where there is no such member.
absl::StatusOr<std::vector<std::string>> TextsOf(const JsonValue& object, absl::string_view key);

// A token: its id, or its text as the vocabulary has it.
absl::StatusOr<TokenSpec> ReadToken(const JsonValue& value);
// The same in the form {"type": "token", "token": ...}.
absl::StatusOr<TokenSpec> ReadTokenFormat(const JsonValue& value);
// Adds the tokens of `some`, neither of which is negated.
void AddTokens(const TokenSpec& some, TokenSpec* all);
// The union of a list of tokens; empty where there is no such member.
absl::StatusOr<TokenSpec> TokensOf(const JsonValue& object, absl::string_view key);

// "min" or "max" of a repeat, under `key`; -1 is kUnbounded where `open` allows it.
absl::StatusOr<std::uint32_t> BoundOf(const JsonValue& at, absl::string_view key, bool open);

// Whether `token` is among `tokens`. An id may be any token's of which only the text is known.
bool MayBeAmong(const TokenSpec& token, const TokenSpec& tokens);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_FIELDS_H_
