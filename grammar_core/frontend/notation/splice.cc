#include "grammar_core/frontend/notation/splice.h"

#include <cassert>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/error.h"
#include "grammar_core/ir/facts/rule_groups.h"

namespace maskd {
namespace {

void Move(absl::string_view prefix, std::string* place) { *place = MovedPlace(prefix, *place); }

}  // namespace

bool MovesPlace(absl::string_view place) { return place.empty() || absl::StartsWith(place, "/"); }

std::string MovedPlace(absl::string_view prefix, absl::string_view place) {
  return MovesPlace(place) ? absl::StrCat(prefix, place) : std::string(place);
}

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

absl::Status SpliceRules(const ReadResult& read, const PartHashes& hashes, absl::string_view prefix,
                         IrCopier& copier, IrBuilder& builder, Budget& budget, RuleFaults& faults,
                         MadeParts& made) {
  const GrammarIr& ir = read.ir;
  assert(hashes.nodes.size() == ir.nodes.size() && "a hash for each node");
  const auto is_closed = [&](NodeId node) { return hashes.nodes[node] != Hash128{}; };
  absl::InlinedVector<bool, 96> needed(ir.nodes.size(), false);
  absl::InlinedVector<RuleId, 8> rules;  // that are new
  for (RuleId rule = 0; rule < ir.rules.size(); ++rule) {
    const Hash128 hash = rule < hashes.rules.size() ? hashes.rules[rule] : Hash128{};
    const auto known = hash == Hash128{} ? made.rules.end() : made.rules.find(hash);
    if (known != made.rules.end()) {
      copier.SetRule(rule, known->second);
      continue;
    }
    copier.DeclareRule(rule, MovesPlace(ir.rules[rule].place) ? prefix : "");
    if (hash != Hash128{}) made.rules.emplace(hash, copier.RuleOf(rule));
    needed[ir.rules[rule].body] = true;
    rules.push_back(rule);
  }
  // From wholes to parts, which have smaller numbers; then the other way round.
  for (auto node = static_cast<NodeId>(ir.nodes.size()); node-- > 0;) {
    if (!needed[node]) continue;
    const auto known = is_closed(node) ? made.nodes.find(hashes.nodes[node]) : made.nodes.end();
    if (known == made.nodes.end()) {
      ForEachPart(ir, node, [&](NodeId part) { needed[part] = true; });
    } else {
      copier.SetCopy(node, known->second);
      needed[node] = false;
    }
  }
  for (NodeId node = 0; node < ir.nodes.size(); ++node) {
    if (!needed[node]) continue;
    if (absl::Status status = copier.Copy(node, budget); !status.ok()) return status;
    if (is_closed(node)) made.nodes.emplace(hashes.nodes[node], copier.CopyOf(node));
  }
  for (const RuleId rule : rules)
    builder.DefineRule(copier.RuleOf(rule), copier.CopyOf(ir.rules[rule].body));
  for (const auto& [rule, fault] : read.faults)
    faults.emplace(copier.RuleOf(rule), MovedStatus(fault, prefix));
  return absl::OkStatus();
}

absl::Status MovedStatus(const absl::Status& status, absl::string_view prefix) {
  const std::string place = ErrorPlace(status);
  if (status.ok() || ErrorReason(status).empty() || !MovesPlace(place)) return status;
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
