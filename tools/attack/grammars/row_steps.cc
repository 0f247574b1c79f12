// The operations of a case, one after the other on a row. Before each the row's place is kept, its
// mask and its count of tokens, so that a refused operation can be shown to have changed nothing.
//
// Invariant  an operation that is not known is counted as missing, never as passed.
// Cost       one mask before each operation, and one more after a refusal.
#include "tools/attack/grammars/row_steps.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "tools/attack/cases/text_expression.h"

namespace maskd::attack {
namespace {

using Json = nlohmann::json;

constexpr int kSpecialSteps = 4;

absl::Status Broken(absl::string_view what) { return absl::InternalError(what); }

// The parents of a tree that is given by each token's first child and next sibling. A link out of
// the table stays one: more parents than tokens.
std::vector<int> ParentsOf(std::size_t token_count, const std::vector<int>& children,
                           const std::vector<int>& siblings) {
  std::vector<int> parents(token_count, -1);
  for (std::size_t parent = 0; parent < children.size(); ++parent) {
    std::size_t links = 0;
    int child = children[parent];
    while (child >= 0 && links++ <= token_count) {
      const auto at = static_cast<std::size_t>(child);
      if (at >= parents.size()) parents.resize(at + 1, -1);
      parents[at] = static_cast<int>(parent);
      child = at < siblings.size() ? siblings[at] : -1;
    }
  }
  return parents;
}

}  // namespace

std::optional<RowSteps::Place> RowSteps::Look() {
  absl::StatusOr<MaskWords> mask = row_->Mask();
  if (!mask.ok()) return std::nullopt;
  return Place{*std::move(mask), row_->token_count()};
}

absl::Status RowSteps::TakeWhole(absl::string_view text) {
  if (absl::Status taken = TakeText(text); !taken.ok()) return taken;
  return TakeEnd();
}

absl::Status RowSteps::TakeToken(std::int64_t token) {
  if (token < 0 || token >= tokens_->size) return row_->TakeNoToken(token);
  const auto id = static_cast<TokenId>(token);
  std::int64_t taken = 0;
  return row_->Take({&id, 1}, &taken);
}

absl::Status RowSteps::TakeText(absl::string_view text) {
  const std::optional<std::vector<TokenId>> tokens = tokens_->splitter.Longest(text);
  if (!tokens.has_value()) return absl::InvalidArgumentError("the vocabulary lacks a byte of it");
  std::int64_t count = 0;
  const absl::Status taken = row_->Take(*tokens, &count);
  if (taken.ok()) return taken;
  const absl::Status back = row_->Rollback(count);
  if (!back.ok()) return Broken(absl::StrCat(taken.message(), "; ", back.message()));
  return absl::Status(taken.code(), absl::StrCat("after ", count, " of ", tokens->size(),
                                                 " tokens: ", taken.message()));
}

absl::Status RowSteps::TakeEnd() { return TakeToken(tokens_->stop_ids.front()); }

absl::Status RowSteps::LookAtMask(bool must_have_a_bit) {
  const absl::StatusOr<MaskWords> mask = row_->Mask();
  if (!mask.ok()) return mask.status();
  if (must_have_a_bit && mask->empty()) return Broken("there is no mask");
  return IsAllZero(*mask) ? Broken("the mask is all zero") : absl::OkStatus();
}

absl::Status RowSteps::CheckSpecialTokens() {
  absl::StatusOr<std::unique_ptr<Row>> ahead = row_->Fork();
  if (!ahead.ok()) return ahead.status();
  for (int step = 0; step < kSpecialSteps; ++step) {
    const absl::StatusOr<MaskWords> mask = (*ahead)->Mask();
    if (!mask.ok()) return mask.status();
    if (mask->empty()) break;
    const auto is_stop = [&](TokenId id) {
      return std::ranges::find(tokens_->stop_ids, id) != tokens_->stop_ids.end();
    };
    for (const TokenId id : tokens_->special_ids)
      if (!is_stop(id) && Allows(*mask, id)) return Broken("a special token is allowed");
    TokenId next = 0;
    while (next < tokens_->size && !Allows(*mask, next)) ++next;
    std::int64_t taken = 0;
    const absl::Status status = (*ahead)->Take({&next, 1}, &taken);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status RowSteps::ForkAndCompare(int count) {
  const absl::StatusOr<MaskWords> own = row_->Mask();
  if (!own.ok()) return own.status();
  std::vector<std::unique_ptr<Row>> copies;
  for (int i = 0; i < count; ++i) {
    absl::StatusOr<std::unique_ptr<Row>> copy = row_->Fork();
    if (!copy.ok()) return copy.status();
    copies.push_back(*std::move(copy));
  }
  for (const std::unique_ptr<Row>& copy : copies) {
    const absl::StatusOr<MaskWords> mask = copy->Mask();
    if (!mask.ok()) return mask.status();
    if (*mask != *own) return Broken("a fork has another mask");
  }
  return absl::OkStatus();
}

absl::Status RowSteps::MaskDraft(const Json& step) {
  const auto tokens = step.at("tokens").get<std::vector<TokenId>>();
  const std::vector<int> parents = ParentsOf(tokens.size(), step.at("next").get<std::vector<int>>(),
                                             step.at("sibling").get<std::vector<int>>());
  return row_->MaskDraft(tokens, parents);
}

absl::Status RowSteps::RunOne(const Json& step) {
  const std::string op = step.at("op");
  if (op == "mask" || op == "mask_nonzero") return LookAtMask(op == "mask_nonzero");
  if (op == "mask_same") {
    return before_.has_value() && before_ == Look() ? absl::OkStatus()
                                                    : Broken("the mask has changed");
  }
  if (op == "mask_into") return row_->Write({.more_words = step.at("words")});
  if (op == "mask_row") return row_->Write({.row = step.at("row")});
  if (op == "accept_text") {
    const absl::StatusOr<std::string> text = ExpandText(step.at("text"));
    return text.ok() ? TakeText(*text) : text.status();
  }
  if (op == "accept_token") {
    const Json& token = step.at("token");
    return TakeToken(token.is_string() ? tokens_->size : token.get<std::int64_t>());
  }
  if (op == "end") return TakeEnd();
  if (op == "rollback") return row_->Rollback(step.at("n"));
  if (op == "rollback_all") return row_->Rollback(row_->token_count());
  if (op == "fork") return ForkAndCompare(step.at("n"));
  if (op == "draft_tree") return MaskDraft(step);
  if (op == "special_masked") return CheckSpecialTokens();
  return absl::UnimplementedError(op);
}

void RowSteps::JudgeOne(const Json& step, CaseResult* result) {
  const absl::Status done = RunOne(step);
  if (absl::IsUnimplemented(done)) {
    result->missing_operations.emplace_back(done.message());
    return;
  }
  const bool either = step.value("may_fail", false);
  const bool wanted = step.value("ok", true);
  if (absl::IsInternal(done) || (!either && done.ok() != wanted))
    result->faults.push_back(absl::StrCat(step.dump(), ": ", done.ToString()));
  if (!done.ok() && before_ != Look())
    result->faults.push_back(absl::StrCat(step.dump(), ": was refused, and the row has changed"));
}

void RowSteps::Run(const Json& steps, CaseResult* result) {
  for (const Json& step : steps) {
    const std::string op = step.at("op");
    if (op != "mask_same") before_ = Look();
    JudgeOne(step, result);
  }
}

}  // namespace maskd::attack
