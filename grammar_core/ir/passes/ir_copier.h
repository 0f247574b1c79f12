// Copies nodes of one IR through the normalising builder of another.
//
// Ownership  long texts, sets and objects are taken out of the old IR, which is no longer whole
//          then, or copied where it is constant.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_IR_PASSES_IR_COPIER_H_
#define MASKD_GRAMMAR_CORE_IR_PASSES_IR_COPIER_H_

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/ir/grammar_ir.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// Used by passes that rewrite a grammar: they copy what stays and make the rest.
class IrCopier {
 public:
  // Both must outlive this. Takes from `from`.
  IrCopier(GrammarIr* from, IrBuilder* to) : IrCopier(*from, to) { taken_from_ = from; }
  // Copies from `from`.
  IrCopier(const GrammarIr& from, IrBuilder* to)
      : from_(from),
        to_(to),
        copies_(from.nodes.size(), to->Nothing()),
        rules_(from.rules.size(), 0) {}

  // Declares `rule` in the new grammar, under its name and its place behind `prefix`.
  void DeclareRule(RuleId rule, absl::string_view prefix = "") {
    const auto& [name, place, body] = from_.rules[rule];
    if (!has_places_)
      rules_[rule] = to_->DeclareRule(name, "");
    else
      rules_[rule] = to_->DeclareRule(name, prefix.empty() ? place : absl::StrCat(prefix, place));
  }
  // Rules that are declared from here on have no places.
  void LeavePlacesOut() { has_places_ = false; }
  // Has `declared` of the new grammar be what `rule` is there.
  void SetRule(RuleId rule, RuleId declared) { rules_[rule] = declared; }
  // The rule in the new grammar; it must have been declared.
  [[nodiscard]] RuleId RuleOf(RuleId rule) const { return rules_[rule]; }

  // Copies `node` from the copies of what it is made of, and its rule if it is a call. Errors:
  // those of the budget and of the builder.
  absl::Status Copy(NodeId node, Budget& budget);

  // Has `copy` be the copy of `node`.
  void SetCopy(NodeId node, NodeId copy) { copies_[node] = copy; }

  // Asked for each node first, when what it is made of has been copied: its copy, or nothing where
  // it is to be copied as it is.
  using Hook = std::function<std::optional<NodeId>(const IrNode&)>;
  void SetHook(Hook hook) { hook_ = std::move(hook); }

  // `spec` of the old IR, speaking of the copies.
  [[nodiscard]] ObjectSpec Mapped(ObjectSpec spec) const;

  // Nothing, for a node that was not copied.
  [[nodiscard]] NodeId CopyOf(NodeId node) const { return copies_[node]; }

 private:
  NodeId Made(const IrNode& node);
  [[nodiscard]] std::size_t PayloadSize(const IrNode& node) const;
  // The entry of one of the old IR's pools, which one node alone speaks of.
  template <typename T>
  T Payload(std::vector<T> GrammarIr::* pool, std::uint32_t index) {
    if (taken_from_ != nullptr) return std::move((taken_from_->*pool)[index]);
    return (from_.*pool)[index];
  }

  const GrammarIr& from_;
  GrammarIr* taken_from_ = nullptr;
  IrBuilder* const to_;
  // One of a tool's schema is made for each tool: its tables are mostly within it.
  absl::InlinedVector<NodeId, 96> copies_;
  absl::InlinedVector<RuleId, 8> rules_;
  bool has_places_ = true;
  absl::InlinedVector<NodeId, 16> children_;  // of the node that is made
  Hook hook_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_PASSES_IR_COPIER_H_
