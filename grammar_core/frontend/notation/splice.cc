#include "grammar_core/frontend/notation/splice.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

bool IsPointer(absl::string_view place) { return place.empty() || absl::StartsWith(place, "/"); }

void Move(absl::string_view prefix, std::string* place) {
  if (IsPointer(*place)) *place = absl::StrCat(prefix, *place);
}

}  // namespace

absl::Status SpliceRules(const ReadResult& read, IrCopier& copier, IrBuilder& builder,
                         Budget& budget, RuleFaults& faults) {
  for (RuleId rule = 0; rule < read.ir.rules.size(); ++rule) copier.DeclareRule(rule);
  for (NodeId node = 0; node < read.ir.nodes.size(); ++node)
    if (absl::Status status = copier.Copy(node, budget); !status.ok()) return status;
  for (RuleId rule = 0; rule < read.ir.rules.size(); ++rule)
    builder.DefineRule(copier.RuleOf(rule), copier.CopyOf(read.ir.rules[rule].body));
  for (const auto& [rule, fault] : read.faults) faults.emplace(copier.RuleOf(rule), fault);
  return absl::OkStatus();
}

absl::Status MovedStatus(const absl::Status& status, absl::string_view prefix) {
  const std::string place = ErrorPlace(status);
  if (status.ok() || ErrorReason(status).empty() || !IsPointer(place)) return status;
  absl::string_view message = status.message();
  if (absl::ConsumePrefix(&message, place)) absl::ConsumePrefix(&message, ": ");
  return ErrorAt(status.code(), absl::StrCat(prefix, place), ErrorReason(status), message);
}

void MovePlaces(absl::string_view prefix, ReadResult* read) {
  for (Diagnostic& warning : read->warnings) Move(prefix, &warning.place);
  for (Diagnostic& bound : read->bounds) Move(prefix, &bound.place);
  for (auto& [rule, fault] : read->faults) fault = MovedStatus(fault, prefix);
  for (IrRule& rule : read->ir.rules) Move(prefix, &rule.place);
  for (DistinctSpec& array : read->ir.distinct) Move(prefix, &array.place);
}

absl::Status EnclosedStatus(const absl::Status& status, absl::string_view place,
                            absl::string_view what) {
  if (status.ok() || ErrorReason(status).empty()) return status;
  return ErrorAt(status.code(), place, ErrorReason(status),
                 absl::StrCat(what, std::string(status.message())));
}

void EnclosePlaces(absl::string_view place, absl::string_view what, ReadResult* read) {
  for (std::vector<Diagnostic>* const remarks : {&read->warnings, &read->bounds}) {
    for (Diagnostic& remark : *remarks) {
      const std::string within = remark.place.empty() ? "" : absl::StrCat(remark.place, ": ");
      remark = {std::string(place), absl::StrCat(what, within, remark.message)};
    }
  }
  for (auto& [rule, fault] : read->faults) fault = EnclosedStatus(fault, place, what);
  for (IrRule& rule : read->ir.rules) rule.place = std::string(place);
  for (DistinctSpec& array : read->ir.distinct) array.place = std::string(place);
  for (TokenSpec& tokens : read->ir.token_specs) tokens.place = std::string(place);
}

}  // namespace maskd
