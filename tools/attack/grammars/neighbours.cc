#include "tools/attack/grammars/neighbours.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace maskd::attack {
namespace {

constexpr std::size_t kWalk = 8;

// The first token that the mask allows and that does not end the text; -1: there is none.
TokenId FirstAllowed(const MaskWords& mask, const Tokens& tokens) {
  for (TokenId id = 0; id < tokens.size; ++id) {
    const bool stops = std::ranges::find(tokens.stop_ids, id) != tokens.stop_ids.end();
    if (!stops && Allows(mask, id)) return id;
  }
  return -1;
}

}  // namespace

Neighbours::Neighbours(Grammar* grammar, const Tokens* tokens, const std::string& text)
    : grammar_(grammar), tokens_(tokens), row_(grammar->Open()) {
  if (row_.ok()) WalkFirst(text);
}

Neighbours::Answer Neighbours::Ask(Row& row) {
  absl::StatusOr<MaskWords> mask = row.Mask();
  if (!mask.ok()) return {mask.status().code(), {}};
  return {absl::StatusCode::kOk, *std::move(mask)};
}

void Neighbours::WalkFirst(const std::string& text) {
  const std::vector<TokenId> wanted =
      tokens_->splitter.Longest(text.substr(0, 16 * kWalk)).value_or(std::vector<TokenId>());
  answers_.push_back(Ask(**row_));
  while (walk_.size() < kWalk && !answers_.back().mask.empty()) {
    const MaskWords& mask = answers_.back().mask;
    const std::size_t at = walk_.size();
    const bool follows = at < wanted.size() && Allows(mask, wanted[at]);
    const TokenId next = follows ? wanted[at] : FirstAllowed(mask, *tokens_);
    if (next < 0) return;
    std::int64_t taken = 0;
    if (absl::Status status = (*row_)->Take({&next, 1}, &taken); !status.ok()) {
      first_fault_ = absl::StrCat("refuses a token that it allows: ", status.message());
      return;
    }
    walk_.push_back(next);
    answers_.push_back(Ask(**row_));
  }
}

std::string Neighbours::WalkAgain(Row& row) const {
  for (std::size_t i = 0; i < answers_.size(); ++i) {
    const Answer now = Ask(row);
    if (now.code != answers_[i].code)
      return absl::StrCat("answers ", absl::StatusCodeToString(now.code), " after ", i, " tokens");
    if (now != answers_[i]) return absl::StrCat("has another mask after ", i, " tokens");
    std::int64_t taken = 0;
    if (i == walk_.size()) break;
    if (absl::Status status = row.Take({&walk_[i], 1}, &taken); !status.ok())
      return absl::StrCat("refuses token ", i, ": ", status.message());
  }
  return "";
}

std::vector<std::string> Neighbours::Compare() {
  if (!row_.ok()) return {absl::StrCat("no row can be opened: ", row_.status().message())};
  std::vector<std::string> faults;
  const auto note = [&](absl::string_view which, const std::string& fault) {
    if (!fault.empty()) faults.push_back(absl::StrCat("a plain row opened ", which, " ", fault));
  };
  Row& before = **row_;
  note("before", first_fault_);
  note("before", Ask(before) == answers_.back() ? "" : "has another mask where it stands");
  const absl::Status back = before.Rollback(before.token_count());
  note("before",
       back.ok() ? WalkAgain(before) : absl::StrCat("does not go back: ", back.message()));
  const absl::StatusOr<std::unique_ptr<Row>> after = grammar_->Open();
  note("after",
       after.ok() ? WalkAgain(**after) : absl::StrCat("fails: ", after.status().message()));
  return faults;
}

}  // namespace maskd::attack
