// Instances under construction are on a stack of frames. An expression is evaluated from its
// children, which have smaller numbers; a name that is not made yet puts its instance on the stack,
// and the frame is tried again when that is done.
//
// Invariant  an instance is made once; one that is called while it is open becomes a rule, so that
//            recursion ends.
// Cost       linear in expressions, once an instance; a part that is put in place of its calls has
//            kMaxInlineSize nodes at most.
#include "grammar_core/frontend/notation/grammar_compiler.h"

#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

// Parts of characters up to this size are put in place of the calls of their rule.
constexpr std::uint32_t kMaxInlineSize = 1000;
// Bytes of a name in an error message.
constexpr std::size_t kMaxNameBytes = 64;

std::string Quoted(absl::string_view name) {
  return absl::StrCat("\"", name.substr(0, kMaxNameBytes), "\"");
}

void AppendNumber(std::uint64_t value, std::string* key) {
  key->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string InstanceKey(std::uint32_t definition, const std::vector<Part>& arguments,
                        RuleIndex index) {
  std::string key;
  AppendNumber(definition, &key);
  AppendNumber(index, &key);
  for (const Part& argument : arguments)
    AppendNumber(std::uint64_t{argument.node} << 1 | (argument.characters ? 1 : 0), &key);
  return key;
}

bool NamesSomething(const Expression& expression) {
  return expression.kind == ExprKind::kName || expression.kind == ExprKind::kIndexed;
}

}  // namespace

GrammarCompiler::GrammarCompiler(const SourceGrammar& grammar, const LineIndex& lines,
                                 const Limits& limits, Budget& budget, IrBuilder& builder)
    : grammar_(grammar),
      lines_(lines),
      limits_(limits),
      budget_(budget),
      builder_(builder),
      parts_(&builder),
      ignored_(parts_.Empty()) {}

absl::StatusOr<RuleId> GrammarCompiler::Compile(SymbolId start) {
  assert(grammar_.definition_of[start].has_value());
  if (absl::Status status = CheckNames(); !status.ok()) return status;
  if (grammar_.ignored.has_value()) {
    const absl::StatusOr<InstanceId> ignored = Make(*grammar_.ignored);
    if (!ignored.ok()) return ignored.status();
    ignored_ = parts_.Repeat(instances_[*ignored].part, 0, grammar_.ignore_once ? 1 : kUnbounded);
  }
  const absl::StatusOr<InstanceId> made = Make(*grammar_.definition_of[start]);
  if (!made.ok()) return made.status();
  const RuleId rule = RuleOf(*made);
  if (!grammar_.ignore_first) return rule;
  const RuleId whole = builder_.DeclareRule("", lines_.Place(0));
  builder_.DefineRule(whole, parts_.Bytes(parts_.Sequence({ignored_, instances_[*made].part})));
  return whole;
}

absl::Status GrammarCompiler::CheckNames() const {
  std::vector<bool> live(grammar_.definitions.size(), false);
  for (const std::optional<std::uint32_t>& definition : grammar_.definition_of)
    if (definition.has_value()) live[*definition] = true;
  for (std::size_t i = 0; i < grammar_.definitions.size(); ++i) {
    if (!live[i]) continue;
    const Definition& definition = grammar_.definitions[i];
    for (ExprId id = definition.first; id <= definition.body; ++id) {
      const Expression& expression = grammar_.expressions[id];
      if (!NamesSomething(expression)) continue;
      if (absl::Status status = budget_.Spend(); !status.ok()) return status;
      if (absl::Status status = CheckName(expression, definition); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status GrammarCompiler::CheckName(const Expression& expression,
                                        const Definition& user) const {
  assert(expression.a < grammar_.names.size());
  const std::string name = Quoted(grammar_.names[expression.a]);
  const std::optional<std::uint32_t> found = grammar_.definition_of[expression.a];
  if (!found.has_value())
    return InvalidAt(Place(expression), absl::StrCat(name, " is not defined"));
  const Definition& definition = grammar_.definitions[*found];
  if (user.terminal && !definition.terminal)
    return InvalidAt(Place(expression), absl::StrCat("a terminal cannot hold the rule ", name));
  if (definition.parameters != expression.child_count) {
    return InvalidAt(Place(expression), absl::StrCat(name, " takes ", definition.parameters,
                                                     " arguments, not ", expression.child_count));
  }
  if (definition.indexed != (expression.kind == ExprKind::kIndexed)) {
    return InvalidAt(Place(expression),
                     absl::StrCat(name, definition.indexed ? " needs an index" : " has no index"));
  }
  return absl::OkStatus();
}

absl::StatusOr<GrammarCompiler::InstanceId> GrammarCompiler::Make(std::uint32_t definition) {
  assert(definition < grammar_.definitions.size());
  const Definition& made = grammar_.definitions[definition];
  absl::StatusOr<InstanceId> root = InstanceOf(grammar_.expressions[made.body], definition, {}, 0);
  if (!root.ok()) return root.status();
  if (instances_[*root].progress == Progress::kNew) Open(*root);
  while (!frames_.empty()) {
    if (absl::Status status = budget_.Spend(); !status.ok()) return status;
    if (!builder_.status().ok()) return builder_.status();
    const Frame& frame = frames_.back();
    const Definition& current = DefinitionOf(frame);
    const ExprId next = current.first + static_cast<ExprId>(frame.parts.size());
    if (next > current.body) {
      Finish();
      continue;
    }
    if (!frame.left_out.empty() && frame.left_out[frame.parts.size()]) {
      frames_.back().parts.push_back(parts_.Nothing());
      continue;
    }
    const absl::StatusOr<std::optional<Part>> part = Evaluate(frame, grammar_.expressions[next]);
    if (!part.ok()) return part.status();
    if (part->has_value()) frames_.back().parts.push_back(**part);
  }
  return root;
}

absl::StatusOr<std::optional<Part>> GrammarCompiler::Evaluate(const Frame& frame,
                                                              const Expression& expression) {
  const Instance& instance = instances_[frame.instance];
  assert(instance.progress == Progress::kOpen);
  switch (expression.kind) {
    case ExprKind::kCharacters:
      return Part{expression.a, true, expression.b};
    case ExprKind::kBytes:
      return Part{expression.a, false, 1};
    case ExprKind::kParameter:
      assert(expression.a < instance.arguments.size());
      return Used(expression, instance.arguments[expression.a]);
    case ExprKind::kName:
    case ExprKind::kIndexed: {
      const bool indexed = expression.kind == ExprKind::kIndexed;
      const absl::StatusOr<InstanceId> named =
          InstanceOf(expression, *grammar_.definition_of[expression.a], Children(frame, expression),
                     indexed ? grammar_.index_steps[expression.b].Apply(instance.index) : 0);
      if (!named.ok()) return named.status();
      return Refer(expression, *named);
    }
    default:
      break;
  }
  const std::vector<Part> children = Children(frame, expression);
  if (absl::Status status = CheckSize(expression, children); !status.ok()) return status;
  switch (expression.kind) {
    case ExprKind::kSequence:
      return parts_.Sequence(children);
    case ExprKind::kChoice:
      return parts_.Choice(children);
    case ExprKind::kRepeat:
      assert(children.size() == 1 && expression.a <= expression.b);
      return parts_.Repeat(children[0], expression.a, expression.b);
    case ExprKind::kIf:
      return children[0];
    case ExprKind::kLexeme:
      assert(children.size() == 1);
      return WithIgnored(children[0]);
    case ExprKind::kLimited:
      assert(children.size() == 1);
      return parts_.Limited(children[0], expression.a);
    default:
      return OfCharacters(expression, children);
  }
}

absl::StatusOr<Part> GrammarCompiler::OfCharacters(const Expression& expression,
                                                   const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    if (!part.characters) {
      return UnsupportedAt(Place(expression),
                           "this, of rules that are recursive, hold tokens or have max_tokens,");
    }
  }
  switch (expression.kind) {
    case ExprKind::kBoth:
      return parts_.Both(parts);
    case ExprKind::kNot:
      assert(parts.size() == 1);
      return parts_.Not(parts[0]);
    case ExprKind::kAtMost:
      return parts_.AtMost(parts[0], expression.a);
    default:
      return parts_.Shortest(parts[0]);
  }
}

std::vector<Part> GrammarCompiler::Children(const Frame& frame,
                                            const Expression& expression) const {
  const ExprId first = DefinitionOf(frame).first;
  std::vector<Part> parts;
  parts.reserve(expression.child_count);
  for (std::uint32_t i = 0; i < expression.child_count; ++i) {
    assert(grammar_.children[expression.first_child + i] - first < frame.parts.size());
    parts.push_back(frame.parts[grammar_.children[expression.first_child + i] - first]);
  }
  return parts;
}

Part GrammarCompiler::WithIgnored(const Part& part) const {
  return parts_.Sequence({part, ignored_});
}

absl::StatusOr<std::optional<Part>> GrammarCompiler::Refer(const Expression& expression,
                                                           InstanceId id) {
  const Instance& instance = instances_[id];
  const Definition& definition = grammar_.definitions[instance.definition];
  switch (instance.progress) {
    case Progress::kNew:
      Open(id);
      return std::optional<Part>();
    case Progress::kOpen:
      if (definition.terminal) {
        return InvalidAt(
            Place(expression),
            absl::StrCat("the terminal ", Quoted(NameOf(definition)), " contains itself"));
      }
      return Used(expression, {builder_.Call(RuleOf(id)), false, 1});
    case Progress::kDone:
      break;
  }
  const bool in_place = instance.part.characters && (expression.use == ExprUse::kCharacters ||
                                                     instance.part.size <= kMaxInlineSize);
  if (in_place) return Used(expression, instance.part);
  const Part call = {builder_.Call(RuleOf(id)), false, 1};
  const bool lexeme = expression.use == ExprUse::kLexeme && instance.part.characters;
  return lexeme ? WithIgnored(call) : Used(expression, call);
}

absl::StatusOr<std::optional<Part>> GrammarCompiler::Used(const Expression& expression,
                                                          const Part& part) {
  if (expression.use == ExprUse::kRule) return part;
  if (!part.characters) {
    return UnsupportedAt(Place(expression),
                         "a rule that is recursive, holds tokens or has max_tokens, here");
  }
  return expression.use == ExprUse::kLexeme ? WithIgnored(part) : part;
}

absl::Status GrammarCompiler::CheckSize(const Expression& expression,
                                        const std::vector<Part>& parts) const {
  std::int64_t size = 0;
  for (const Part& part : parts) size += part.size;
  if (size <= limits_.ir_nodes) return absl::OkStatus();
  return LimitExceeded(Place(expression), "ir_nodes", limits_.ir_nodes, size);
}

absl::StatusOr<GrammarCompiler::InstanceId> GrammarCompiler::InstanceOf(
    const Expression& expression, std::uint32_t definition, std::vector<Part> arguments,
    RuleIndex index) {
  const auto id = static_cast<InstanceId>(instances_.size());
  const auto [known, is_new] =
      instance_ids_.try_emplace(InstanceKey(definition, arguments, index), id);
  if (!is_new) return known->second;
  const std::int64_t made =
      id + std::int64_t{1} - static_cast<std::int64_t>(grammar_.definitions.size());
  if (made > limits_.rule_instances)
    return LimitExceeded(Place(expression), "rule_instances", limits_.rule_instances, made);
  instances_.push_back({definition, std::move(arguments), index});
  return id;
}

void GrammarCompiler::Open(InstanceId instance) {
  assert(instances_[instance].progress == Progress::kNew);
  instances_[instance].progress = Progress::kOpen;
  frames_.push_back({instance, LeftOut(instances_[instance]), {}});
}

std::vector<bool> GrammarCompiler::LeftOut(const Instance& instance) const {
  const Definition& definition = grammar_.definitions[instance.definition];
  std::vector<bool> left_out;
  if (!definition.indexed) return left_out;
  left_out.resize(definition.body - definition.first + 1);
  for (ExprId id = definition.first; id <= definition.body; ++id) {
    const Expression& expression = grammar_.expressions[id];
    if (expression.kind != ExprKind::kIf) continue;
    if (Holds(grammar_.index_conditions[expression.a], instance.index)) continue;
    for (ExprId below = expression.b; below < id; ++below)
      left_out[below - definition.first] = true;
  }
  return left_out;
}

void GrammarCompiler::Finish() {
  assert(!frames_.empty() && !frames_.back().parts.empty());
  const InstanceId id = frames_.back().instance;
  const Part part = frames_.back().parts.back();
  frames_.pop_back();
  instances_[id].progress = Progress::kDone;
  instances_[id].part = part;
  // What was called while it was open was declared then.
  if (instances_[id].rule.has_value())
    builder_.DefineRule(*instances_[id].rule, parts_.Bytes(part));
}

RuleId GrammarCompiler::RuleOf(InstanceId id) {
  assert(id < instances_.size());
  Instance& instance = instances_[id];
  if (instance.rule.has_value()) return *instance.rule;
  const Definition& definition = grammar_.definitions[instance.definition];
  const std::string name = definition.indexed
                               ? absl::StrCat(NameOf(definition), "::", instance.index)
                               : NameOf(definition);
  instance.rule = builder_.DeclareRule(name, lines_.Place(definition.at));
  if (instance.progress == Progress::kDone)
    builder_.DefineRule(*instance.rule, parts_.Bytes(instance.part));
  return *instance.rule;
}

const Definition& GrammarCompiler::DefinitionOf(const Frame& frame) const {
  return grammar_.definitions[instances_[frame.instance].definition];
}

const std::string& GrammarCompiler::NameOf(const Definition& definition) const {
  return grammar_.names[definition.symbol];
}

std::string GrammarCompiler::Place(const Expression& expression) const {
  return lines_.Place(expression.at);
}

}  // namespace maskd
