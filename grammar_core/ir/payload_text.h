// What nodes of the IR and terms hold, as text for people: one spelling for both printers.
//
// Length   of long literals and sets the beginning is printed, and how many there are.
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_IR_PAYLOAD_TEXT_H_
#define MASKD_GRAMMAR_CORE_IR_PAYLOAD_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "grammar_core/base/char_set.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// In quotes, with C's escapes; of UTF-8 what can be shown is shown.
std::string QuotedText(absl::string_view utf8);
std::string QuotedText(const std::u32string& text);
// As a character class: [a-z0-9].
std::string CharClassText(const std::vector<CharRange>& ranges);
std::string ByteClassText(const ByteBits& bytes);
// {"a", "b"}.
std::string TextListText(const std::vector<std::u32string>& texts);
// token<5-7> or token_except<"<|end|>">.
std::string TokenListText(const TokenSpec& spec);
// What stands behind a repeated expression: ?, *, +, {2}, {2,}, {2,5}.
std::string RepeatText(std::uint32_t min, std::uint32_t max);
// utf8, json or canonical_json.
const char* SpellingName(Spelling spelling);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PAYLOAD_TEXT_H_
