// From a SourceGrammar to rules of IR.
//
// A definition is made once for each tuple of arguments and index it is used with: an instance.
// Instances that are characters, few and not recursive are put in place of their calls; all others
// become rules. Whether rules are left-recursive or ambiguous does not matter here.
//
// Depth    no recursion: instances under construction are on a stack.
// Errors   at line:column of the source. INVALID_ARGUMENT: an undefined name, arguments that do not
//          fit, a terminal that contains itself. UNIMPLEMENTED: something that only characters
//          allow, of a rule that is no characters. RESOURCE_EXHAUSTED: limits.rule_instances,
//          limits.ir_nodes.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_GRAMMAR_COMPILER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_GRAMMAR_COMPILER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/notation/line_index.h"
#include "grammar_core/frontend/notation/part.h"
#include "grammar_core/frontend/notation/source_grammar.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// For one grammar: Compile() once.
class GrammarCompiler {
 public:
  // All of them must outlive the compiler. `lines` is of the source.
  GrammarCompiler(const SourceGrammar& grammar, const LineIndex& lines, const Limits& limits,
                  Budget& budget, IrBuilder& builder);

  // The rule of `start`, which must be defined. The names in every definition are checked, also
  // where the start does not reach it.
  absl::StatusOr<RuleId> Compile(SymbolId start);

 private:
  using InstanceId = std::uint32_t;
  enum class Progress : std::uint8_t { kNew, kOpen, kDone };
  // A definition with its arguments.
  struct Instance {
    std::uint32_t definition;
    std::vector<Part> arguments;
    RuleIndex index;
    Progress progress = Progress::kNew;
    Part part = {};                   // once it is done
    std::optional<RuleId> rule = {};  // once it was called
  };
  // An instance under construction: the parts of its expressions, of [first, first + size). Those
  // below a condition that does not hold are left out: they may call ever new instances.
  struct Frame {
    InstanceId instance;
    std::vector<bool> left_out;
    std::vector<Part> parts;
  };

  absl::Status CheckNames() const;
  absl::Status CheckName(const Expression& expression, const Definition& user) const;

  absl::StatusOr<InstanceId> Make(std::uint32_t definition);
  // The part of an expression; nothing where it waits for an instance, which was pushed.
  absl::StatusOr<std::optional<Part>> Evaluate(const Frame& frame, const Expression& expression);
  absl::StatusOr<std::optional<Part>> Refer(const Expression& expression, InstanceId instance);
  absl::StatusOr<std::optional<Part>> Used(const Expression& expression, const Part& part);
  absl::StatusOr<Part> OfCharacters(const Expression& expression, const std::vector<Part>& parts);
  [[nodiscard]] std::vector<Part> Children(const Frame& frame, const Expression& expression) const;
  [[nodiscard]] Part WithIgnored(const Part& part) const;

  absl::StatusOr<InstanceId> InstanceOf(const Expression& expression, std::uint32_t definition,
                                        std::vector<Part> arguments, RuleIndex index);
  void Open(InstanceId instance);
  [[nodiscard]] std::vector<bool> LeftOut(const Instance& instance) const;
  void Finish();
  RuleId RuleOf(InstanceId instance);
  // RESOURCE_EXHAUSTED where `parts` are too much for one node: characters are copied into it.
  [[nodiscard]] absl::Status CheckSize(const Expression& expression,
                                       const std::vector<Part>& parts) const;
  [[nodiscard]] const Definition& DefinitionOf(const Frame& frame) const;
  [[nodiscard]] const std::string& NameOf(const Definition& definition) const;
  [[nodiscard]] std::string Place(const Expression& expression) const;

  const SourceGrammar& grammar_;
  const LineIndex& lines_;
  const Limits& limits_;
  Budget& budget_;
  IrBuilder& builder_;
  PartBuilder parts_;
  // What is ignored, as often as it may be.
  Part ignored_;
  std::vector<Instance> instances_;
  absl::flat_hash_map<std::string, InstanceId> instance_ids_;
  std::vector<Frame> frames_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_NOTATION_GRAMMAR_COMPILER_H_
