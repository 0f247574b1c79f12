#include "grammar_core/automaton/item_tokens.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"

namespace maskd {
namespace {

// Whether some comma of `bytes` may stand behind an item or a member.
bool HasItemComma(absl::string_view bytes) {
  for (std::size_t at = bytes.find(','); at != absl::string_view::npos;
       at = bytes.find(',', at + 1)) {
    const absl::string_view before = absl::StripTrailingAsciiWhitespace(bytes.substr(0, at));
    if (before.empty()) return true;
    const char last = before.back();
    if (absl::ascii_isdigit(static_cast<unsigned char>(last)) ||
        absl::string_view("\"]}el").find(last) != absl::string_view::npos) {
      return true;
    }
  }
  return false;
}

// Whether some comma of `bytes` stands outside of strings where they begin within one, perhaps in
// the middle of an escape.
bool HasCommaBehindString(absl::string_view bytes) {
  for (const bool first_escaped : {false, true}) {
    bool in_string = true;
    bool escaped = first_escaped;
    for (const char c : bytes) {
      if (!in_string && c == ',') return true;
      if (c == '"' && !escaped) in_string = !in_string;
      escaped = c == '\\' && !escaped;
    }
  }
  return false;
}

}  // namespace

bool ItemTokens::MayBeginArray(absl::string_view bytes) {
  const std::size_t open = bytes.find_first_of("[{");
  return open != absl::string_view::npos && open < bytes.rfind(',');
}

ItemTokens::ItemTokens(const TokenIndex* index) : index_(index) {
  for (const TokenId id : index_->TokensHolding(',')) {
    const absl::string_view bytes = index_->vocabulary().TokenBytes(id);
    if (!HasItemComma(bytes)) continue;
    const bool out_of_string = HasCommaBehindString(bytes);
    with_comma_.push_back(id);
    if (out_of_string) out_of_string_.push_back(id);
    if (!MayBeginArray(bytes)) continue;
    with_array_.push_back(id);
    if (out_of_string && bytes.find('"') < bytes.find_last_of("[{"))
      array_out_of_string_.push_back(id);
  }
  for (Tokens* tokens : {&with_comma_, &out_of_string_, &with_array_, &array_out_of_string_}) {
    Sort(tokens);
  }
}

void ItemTokens::Sort(Tokens* tokens) const {
  std::ranges::sort(*tokens, {}, [&](TokenId id) { return index_->vocabulary().TokenBytes(id); });
}

}  // namespace maskd
