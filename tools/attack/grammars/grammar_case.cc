#include "tools/attack/grammars/grammar_case.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "tools/attack/grammars/neighbours.h"
#include "tools/attack/grammars/row_steps.h"

namespace maskd::attack {
namespace {

constexpr std::size_t kLongestMessage = 4096;

std::string Shown(absl::string_view text) {
  constexpr std::size_t kShown = 60;
  if (text.size() <= kShown) return absl::StrCat("\"", text, "\"");
  return absl::StrCat("\"", text.substr(0, kShown), "...\" (", text.size(), " bytes)");
}

// What the README asks of every refusal.
void JudgeRefusal(const AttackCase& attack, const Target& target, const absl::Status& refusal,
                  CaseResult* result) {
  static constexpr absl::StatusCode kCodes[] = {
      absl::StatusCode::kInvalidArgument, absl::StatusCode::kUnimplemented,
      absl::StatusCode::kResourceExhausted, absl::StatusCode::kDeadlineExceeded};
  const std::string code = absl::StatusCodeToString(refusal.code());
  const bool known = std::ranges::find(kCodes, refusal.code()) != std::end(kCodes);
  const bool named =
      attack.codes.empty() || std::ranges::find(attack.codes, code) != attack.codes.end();
  std::vector<std::string>& faults = result->faults;
  if (!known || !named) faults.push_back(absl::StrCat("refused with ", refusal.ToString()));
  if (refusal.message().empty() || target.ReasonOf(refusal).empty())
    faults.push_back("the refusal does not say why");
  if (refusal.message().size() > kLongestMessage)
    faults.push_back(absl::StrCat("the refusal has ", refusal.message().size(), " bytes"));
  if (!attack.may_be_refused)
    faults.push_back(absl::StrCat("refused, though it must compile: ", refusal.message()));
}

// OK: the row took all of the text and its end.
absl::Status TakeText(Grammar* grammar, const Tokens& tokens, const std::string& text) {
  const absl::StatusOr<std::unique_ptr<Row>> row = grammar->Open();
  if (!row.ok()) return absl::InternalError(absl::StrCat("no row: ", row.status().message()));
  return RowSteps(row->get(), &tokens).TakeWhole(text);
}

void JudgeTexts(const AttackCase& attack, Grammar* grammar, const Tokens& tokens,
                CaseResult* result) {
  for (const std::string& text : attack.accept) {
    const absl::Status taken = TakeText(grammar, tokens, text);
    if (taken.ok()) continue;
    result->faults.push_back(absl::StrCat("refuses ", Shown(text), ": ", taken.message()));
  }
  for (const std::string& text : attack.reject) {
    const absl::Status taken = TakeText(grammar, tokens, text);
    if (taken.ok()) result->faults.push_back(absl::StrCat("lets ", Shown(text), " through"));
    if (absl::IsInternal(taken)) result->faults.emplace_back(taken.message());
  }
}

void RunSteps(const AttackCase& attack, Grammar* grammar, const Tokens& tokens,
              CaseResult* result) {
  if (!attack.needs_special_tokens && attack.steps.is_null()) return;
  const absl::StatusOr<std::unique_ptr<Row>> row = grammar->Open();
  if (!row.ok()) {
    result->faults.push_back(absl::StrCat("no row can be opened: ", row.status().message()));
    return;
  }
  RowSteps steps(row->get(), &tokens);
  if (attack.needs_special_tokens) {
    const absl::Status masked = steps.CheckSpecialTokens();
    if (!masked.ok()) result->faults.emplace_back(masked.message());
  }
  if (!attack.steps.is_null()) steps.Run(attack.steps, result);
}

}  // namespace

void RunGrammarCase(const AttackCase& attack, std::string payload, Target* target,
                    CaseResult* result) {
  const auto grammar = target->Compile(attack.format, std::move(payload));
  result->refused = !grammar.ok();
  if (!grammar.ok()) {
    JudgeRefusal(attack, *target, grammar.status(), result);
    return;
  }
  if (attack.must_be_refused) result->faults.push_back("compiled, though it must be refused");
  const Tokens& tokens = target->tokens();
  Neighbours neighbours(grammar->get(), &tokens,
                        attack.accept.empty() ? std::string() : attack.accept.front());
  JudgeTexts(attack, grammar->get(), tokens, result);
  RunSteps(attack, grammar->get(), tokens, result);
  for (std::string& fault : neighbours.Compare()) result->faults.push_back(std::move(fault));
}

}  // namespace maskd::attack
