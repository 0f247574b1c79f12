// The vocabulary's tokens with a comma are sorted out once by their bytes alone. A row that has
// written items then looks only at these, and for those in ends() it compares parts in place of
// stepping bytes: of the token `b", "c` the rest is `b`, and onward `", "c`, a comma and a string
// that begins with `c`.
//
// Invariant  a token that is in no list cannot hold parts of two items, whatever stands before it.
//            Doubt puts a token into a list: it is then only looked at in vain.
// Cost       one pass over the tokens with a comma, and a sort of each list.
#include "grammar_core/automaton/item_tokens.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/terms/encoding.h"

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

// Whether these are characters of a string, whole ones, as they are decoded.
bool IsPlain(absl::string_view bytes) {
  return Utf8ToCodePoints(bytes).has_value() && std::ranges::none_of(bytes, [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
         });
}

void SkipSpace(absl::string_view* bytes) {
  bytes->remove_prefix(std::min(bytes->find_first_not_of(" \t\n\r"), bytes->size()));
}

// Takes a sign and white space around it.
bool SkipSign(absl::string_view* bytes, absl::string_view sign) {
  SkipSpace(bytes);
  if (!absl::ConsumePrefix(bytes, sign)) return false;
  SkipSpace(bytes);
  return true;
}

// The characters in front of the quote that ends the string in which `bytes` begin, decoded, and
// how many bytes they are; nothing where there is none, or a character that is not whole.
std::optional<std::pair<std::string, std::size_t>> FirstString(absl::string_view bytes) {
  std::string text;
  PartialChar partial = {Spelling::kJsonString};
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (partial.phase == CharPhase::kStart && bytes[at] == '"') return {{text, at}};
    const CharStep step = StepChar(partial, static_cast<unsigned char>(bytes[at]));
    if (step.result == CharStep::Result::kRefused) return std::nullopt;
    partial = step.result == CharStep::Result::kPartial ? step.partial
                                                        : PartialChar{Spelling::kJsonString};
    if (step.result == CharStep::Result::kCharacter) AppendUtf8(step.character, &text);
  }
  return std::nullopt;
}

// Whether none of the strings of `parts` is, or may become, another one of them.
bool AreDistinct(const ItemTokens::Onward& parts) {
  for (auto text = parts.whole.begin(); text != parts.whole.end(); ++text) {
    if (std::find(parts.whole.begin(), text, *text) != text) return false;
    if (!parts.begun.empty() && absl::StartsWith(*text, parts.begun)) return false;
  }
  return true;
}

// The parts of `bytes`, which begin with a quote; nothing where they are others.
std::optional<ItemTokens::Onward> PartsOf(absl::string_view bytes) {
  ItemTokens::Onward parts = {bytes, {}, false, {}, false};
  assert(!bytes.empty() && bytes.front() == '"');
  absl::string_view left = bytes.substr(1);
  while (true) {
    if (!SkipSign(&left, ",")) return std::nullopt;
    if (left.empty()) return parts;
    if (!absl::ConsumePrefix(&left, "\"")) return std::nullopt;
    const std::size_t end = left.find('"');
    absl::string_view text = left.substr(0, end);
    if (end == absl::string_view::npos) parts.escapes = absl::ConsumeSuffix(&text, "\\");
    if (!IsPlain(text)) return std::nullopt;
    if (end == absl::string_view::npos) {
      parts.opened = true;
      parts.begun = text;
      return parts;
    }
    parts.whole.push_back(text);
    left.remove_prefix(end + 1);
  }
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
  for (Tokens* tokens : {&with_comma_, &out_of_string_, &with_array_, &array_out_of_string_})
    Sort(tokens);
  SortEnds();
}

// Many tokens go on alike behind the string they end, so what comes from the quote on is kept once.
// A token that repeats a string within itself is among the others: it must be read again.
void ItemTokens::SortEnds() {
  absl::flat_hash_map<absl::string_view, std::uint32_t> known;
  for (const TokenId id : out_of_string_) {
    const absl::string_view bytes = index_->vocabulary().TokenBytes(id);
    auto first = FirstString(bytes);
    auto parts = first.has_value() ? PartsOf(bytes.substr(first->second)) : std::nullopt;
    if (!parts.has_value() || !AreDistinct(*parts)) {
      other_ends_.push_back(id);
      continue;
    }
    const auto [at, is_new] =
        known.try_emplace(parts->bytes, static_cast<std::uint32_t>(onward_.size()));
    if (is_new) onward_.push_back(*std::move(parts));
    ends_.push_back({id, bytes.substr(0, first->second), std::move(first->first), at->second});
  }
}

void ItemTokens::Sort(Tokens* tokens) const {
  std::ranges::sort(*tokens, {}, [&](TokenId id) { return index_->vocabulary().TokenBytes(id); });
}

}  // namespace maskd
