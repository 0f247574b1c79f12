#include "grammar_core/tokenizer/vocabulary.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/sha256.h"
#include "grammar_core/base/sort_unique.h"

namespace maskd {
namespace {

// Changes when the canonical form below does, so that no hash of an older form can be met.
constexpr std::uint32_t kHashFormat = 1;

absl::Status Wrong(absl::string_view place, absl::string_view message) {
  return ErrorAt(absl::StatusCode::kInvalidArgument, place, "INVALID_TOKENIZER", message);
}

void AppendWord(std::uint32_t word, std::string* out) {
  for (int shift = 0; shift < 32; shift += 8)
    out->push_back(static_cast<char>((word >> shift) & 0xFF));
}

// A token's kind: 1 for a special one, 2 for an added one, which formats may mean by its spelling,
// else 0.
std::vector<char> KindsOf(const std::vector<Vocabulary::Token>& tokens,
                          const EncodingRules& rules) {
  std::vector<char> kinds(tokens.size(), 0);
  for (const std::vector<TokenId>* added : {&rules.atoms, &rules.user_defined}) {
    for (const TokenId id : *added)
      if (static_cast<std::size_t>(id) < kinds.size()) kinds[static_cast<std::size_t>(id)] = 2;
  }
  for (std::size_t id = 0; id < tokens.size(); ++id)
    if (tokens[id].special) kinds[id] = 1;
  return kinds;
}

// Format, token count, then (kind, length, bytes) a token, then stop count and ids; words of four
// bytes, least significant first. Lengths stand before what they measure: no two vocabularies share
// a form.
std::string CanonicalForm(const std::vector<Vocabulary::Token>& tokens,
                          const std::vector<TokenId>& stop_ids, const EncodingRules& rules) {
  const std::vector<char> kinds = KindsOf(tokens, rules);
  std::string form = "maskd vocabulary";
  AppendWord(kHashFormat, &form);
  AppendWord(static_cast<std::uint32_t>(tokens.size()), &form);
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    form.push_back(kinds[id]);
    AppendWord(static_cast<std::uint32_t>(tokens[id].bytes.size()), &form);
    form.append(tokens[id].bytes);
  }
  AppendWord(static_cast<std::uint32_t>(stop_ids.size()), &form);
  for (const TokenId id : stop_ids) AppendWord(static_cast<std::uint32_t>(id), &form);
  return form;
}

absl::Status CheckTokens(const std::vector<Vocabulary::Token>& tokens) {
  if (tokens.empty()) return Wrong("", "a vocabulary has at least one token");
  if (tokens.size() > Vocabulary::kMaxTokens)
    return Wrong("", absl::StrCat(tokens.size(), " tokens are more than ", Vocabulary::kMaxTokens));
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    const std::size_t byte_count = tokens[id].bytes.size();
    if (byte_count > Vocabulary::kMaxTokenBytes) {
      return Wrong(absl::StrCat("token ", id),
                   absl::StrCat(byte_count, " bytes are more than ", Vocabulary::kMaxTokenBytes));
    }
    if (tokens[id].special && byte_count == 0)
      return Wrong(absl::StrCat("token ", id), "a special token has a spelling");
  }
  return absl::OkStatus();
}

absl::Status CheckStopIds(const std::vector<Vocabulary::Token>& tokens,
                          const std::vector<TokenId>& stop_ids) {
  for (const TokenId id : stop_ids) {
    if (id < 0 || static_cast<std::size_t>(id) >= tokens.size())
      return Wrong(absl::StrCat("stop id ", id), absl::StrCat("not below ", tokens.size()));
    if (!tokens[id].special) return Wrong(absl::StrCat("stop id ", id), "not a special token");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Vocabulary>> Vocabulary::Create(std::string name,
                                                                     std::vector<Token> tokens,
                                                                     std::vector<TokenId> stop_ids,
                                                                     EncodingRules rules) {
  absl::Status checked = CheckTokens(tokens);
  checked.Update(CheckStopIds(tokens, stop_ids));
  if (!checked.ok()) return checked;
  SortUnique(&stop_ids);

  std::shared_ptr<Vocabulary> made(new Vocabulary);
  made->name_ = std::move(name);
  made->hash_ = Sha256Hex(CanonicalForm(tokens, stop_ids, rules));
  made->tokens_ = std::move(tokens);
  made->stop_ids_ = std::move(stop_ids);
  if (!rules.scores.empty()) rules.scores.resize(made->tokens_.size());
  made->encoding_rules_ = std::move(rules);
  if (absl::Status indexed = made->IndexTokens(); !indexed.ok()) return indexed;
  return std::shared_ptr<const Vocabulary>(std::move(made));
}

absl::Status Vocabulary::IndexTokens() {
  assert(special_ids_.empty() && special_by_text_.empty());
  for (TokenId id = 0; id < size(); ++id) {
    const Token& token = tokens_[id];
    if (!token.special) {
      max_token_bytes_ = std::max(max_token_bytes_, static_cast<int>(token.bytes.size()));
      continue;
    }
    special_ids_.push_back(id);
    const auto [at, is_new] = special_by_text_.emplace(token.bytes, id);
    if (!is_new) {
      return Wrong(absl::StrCat("token ", id),
                   absl::StrCat("the special token ", at->second, " is spelled the same"));
    }
  }
  return absl::OkStatus();
}

TokenId Vocabulary::FindSpecial(absl::string_view text) const {
  const auto found = special_by_text_.find(text);
  return found == special_by_text_.end() ? -1 : found->second;
}

}  // namespace maskd
