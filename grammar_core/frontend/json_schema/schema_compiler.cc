#include "grammar_core/frontend/json_schema/schema_compiler.h"

#include <optional>
#include <utility>

#include "absl/status/status.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

// Bytes of a rule's place at most: what lies deeper is placed at what is around it, so that many
// deep rules do not hold many long pointers.
constexpr std::size_t kMaxPlaceBytes = 200;
// Reasons for unsatisfiable rules that are kept; after these a rule's place must do.
constexpr std::size_t kMaxFaults = 1000;

std::string Key(const Conjunction& all) {
  std::string key;
  const auto append = [&](const std::vector<JsonId>& ids) {
    const auto count = static_cast<JsonId>(ids.size());
    key.append(reinterpret_cast<const char*>(&count), sizeof(count));
    key.append(reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(JsonId));
  };
  append(all.locals);
  append(all.any_of);
  return key;
}

// The schema that lists the values, where one does: a const rather than an enum.
const SchemaView* FindLiterals(const MergedSchema& schema) {
  const SchemaView* found = nullptr;
  for (const SchemaView* view : schema.locals) {
    if (view->const_value.has_value()) return view;
    if (view->enum_values.has_value() && found == nullptr) found = view;
  }
  return found;
}

// The const or the enum of a schema that FindLiterals() found.
JsonValue ListedIn(const SchemaView& view) {
  return view.const_value.has_value() ? *view.const_value : *view.enum_values;
}

absl::Status NoTypeLeft(const MergedSchema& schema) {
  const SchemaView* last = schema.locals.back();
  for (const SchemaView* view : schema.locals) {
    if (view->is_false) return InvalidAt(view->at.Pointer(), "the schema false matches nothing");
    if (view->type.has_value()) last = view;
  }
  const JsonValue at = last->type.value_or(last->at);
  return InvalidAt(at.Pointer(), "no type is left of those that the schemas here allow");
}

}  // namespace

SchemaCompiler::SchemaCompiler(const SchemaSet& schemas, const GrammarOptions& options,
                               const Limits& limits, Budget& budget)
    : schemas_(schemas),
      options_(options),
      budget_(budget),
      builder_(limits),
      max_sets_(limits.schema_sets + static_cast<std::int64_t>(schemas.size())),
      strings_(limits, budget, builder_),
      context_(
          options, builder_, strings_,
          [this](const JsonValue& at, const absl::Status& status) { Refuse(at, status); },
          [this](const std::vector<JsonId>& children) { return Value(children); }),
      checker_(schemas, options.strictness, limits, budget, strings_, context_.refuse) {}

absl::StatusOr<ReadResult> SchemaCompiler::Compile() && {
  const Conjunction root = schemas_.Expand({schemas_.root().id()});
  const RuleId start = Declare(root, "");
  while (!queue_.empty() && error_.ok() && builder_.status().ok()) {
    const Task task = std::move(queue_.front());
    queue_.pop_front();
    Fail(budget_.Spend(1 + static_cast<std::int64_t>(task.all.locals.size())));
    Define(task.rule, Body(task.all));
  }
  if (!error_.ok()) return error_;
  if (!builder_.status().ok()) return builder_.status();
  absl::StatusOr<GrammarIr> ir = std::move(builder_).Build(start);
  if (!ir.ok()) return ir.status();
  result_.ir = *std::move(ir);
  return std::move(result_);
}

void SchemaCompiler::Fail(const absl::Status& status) {
  if (error_.ok()) error_ = status;
}

NodeId SchemaCompiler::Value(const std::vector<JsonId>& schemas) {
  const std::string place = schemas.empty()
                                ? std::string()
                                : schemas_.root().at(schemas.front()).PointerWithin(kMaxPlaceBytes);
  return NodeFor(schemas_.Expand(schemas), place);
}

RuleId SchemaCompiler::Declare(const Conjunction& all, const std::string& place) {
  const RuleId rule = builder_.DeclareRule(all.empty() ? "any value" : "#" + place, place);
  nodes_.emplace(Key(all), builder_.Call(rule));
  queue_.push_back({rule, all});
  return rule;
}

// What holds no other value is put in its place; all else is a rule, which may be recursive.
NodeId SchemaCompiler::NodeFor(const Conjunction& all, const std::string& place) {
  const auto known = nodes_.find(Key(all));
  if (known != nodes_.end()) return known->second;
  const auto sets = static_cast<std::int64_t>(nodes_.size()) + 1;
  if (sets > max_sets_) Fail(LimitExceeded(place, "schema_sets", max_sets_, sets));
  const MergedSchema schema = Merge(schemas_, all.locals);
  const bool scalar = (schema.types & (kArrayType | kObjectType)) == 0;
  if (all.any_of.empty() && (scalar || FindLiterals(schema) != nullptr)) {
    const absl::StatusOr<NodeId> body = LocalBody(all.locals);
    if (body.ok()) return nodes_.emplace(Key(all), *body).first->second;
    const RuleId rule = builder_.DeclareRule("#" + place, place);
    Define(rule, body);
    return nodes_.emplace(Key(all), builder_.Call(rule)).first->second;
  }
  return builder_.Call(Declare(all, place));
}

// An INVALID_ARGUMENT is why the rule matches nothing, and of interest only if the start does.
void SchemaCompiler::Define(RuleId rule, const absl::StatusOr<NodeId>& body) {
  builder_.DefineRule(rule, body.ok() ? *body : builder_.Nothing());
  if (body.ok()) return;
  if (absl::IsInvalidArgument(body.status())) {
    if (result_.faults.size() < kMaxFaults) result_.faults.emplace(rule, body.status());
  } else {
    Fail(body.status());
  }
}

absl::StatusOr<NodeId> SchemaCompiler::Body(const Conjunction& all) {
  return all.any_of.empty() ? LocalBody(all.locals) : Branches(all);
}

// The first anyOf is opened; those after it wait in each branch's conjunction. Branches that list
// their values are put together: a hundred thousand of them are one set.
absl::StatusOr<NodeId> SchemaCompiler::Branches(const Conjunction& all) {
  const JsonValue list = schemas_.root().at(all.any_of.front());
  const Conjunction rest{all.locals, {all.any_of.begin() + 1, all.any_of.end()}};
  std::vector<NodeId> branches;
  std::vector<JsonValue> values;
  for (const JsonValue branch : list.children()) {
    if (absl::Status status = budget_.Spend(1 + all.locals.size()); !status.ok()) return status;
    if (!error_.ok()) return error_;
    const Conjunction with = schemas_.Expand({branch.id()}, rest);
    const MergedSchema schema = Merge(schemas_, with.locals);
    // A branch of other types than the schemas beside the anyOf leave is gone at once.
    if (schema.types == kNoType) continue;
    if (with.any_of.empty() && FindLiterals(schema) != nullptr) {
      for (const JsonValue& value : FittingValues(schema)) values.push_back(value);
    } else {
      branches.push_back(NodeFor(with, branch.PointerWithin(kMaxPlaceBytes)));
    }
  }
  if (!values.empty()) branches.push_back(LiteralRule(values, context_));
  if (branches.empty()) {
    return InvalidAt(list.Pointer(), "no branch fits the schemas beside it");
  }
  return builder_.Alt(std::move(branches));
}

absl::StatusOr<NodeId> SchemaCompiler::LocalBody(const std::vector<JsonId>& locals) {
  MergedSchema schema = Merge(schemas_, locals);
  if (schema.types == kNoType) return NoTypeLeft(schema);
  if (FindLiterals(schema) != nullptr) return Literals(schema);
  CheckSupported(schema);
  return Types(schema);
}

void SchemaCompiler::CheckSupported(const MergedSchema& schema) {
  for (const SchemaView* view : schema.locals) {
    for (const SchemaView::Unsupported& keyword : view->unsupported) {
      if ((keyword.domain & schema.types) == 0) continue;
      Refuse(keyword.at, UnsupportedAt(keyword.at.Pointer(), keyword.at.key()));
    }
  }
}

void SchemaCompiler::Refuse(const JsonValue& at, const absl::Status& status) {
  if (options_.strictness == Strictness::kRefuse || !absl::IsUnimplemented(status)) {
    Fail(status);
  } else if (dropped_.insert(at.id()).second) {
    AddWarning({at.Pointer(), "not supported, dropped"}, &result_.warnings);
  }
}

absl::StatusOr<NodeId> SchemaCompiler::Types(const MergedSchema& schema) {
  std::vector<NodeId> alternatives;
  absl::Status fault;
  const auto add = [&](const absl::StatusOr<NodeId>& made) {
    if (made.ok()) {
      alternatives.push_back(*made);
    } else if (fault.ok()) {
      fault = made.status();
    }
  };
  if (schema.types & kNullType) add(builder_.Bytes("null"));
  if (schema.types & kBooleanType)
    add(builder_.Alt({builder_.Bytes("true"), builder_.Bytes("false")}));
  if (schema.types & kNumberType) add(NumberRule(schema, context_));
  if (schema.types & kStringType) add(StringRule(schema, context_));
  if (schema.types & kArrayType) add(ArrayRule(schema, context_));
  if (schema.types & kObjectType) add(ObjectRule(schema, context_));
  if (alternatives.empty()) return fault;
  return builder_.Alt(std::move(alternatives));
}

absl::StatusOr<NodeId> SchemaCompiler::Literals(const MergedSchema& schema) {
  const std::vector<JsonValue> values = FittingValues(schema);
  if (!values.empty()) return LiteralRule(values, context_);
  return InvalidAt(ListedIn(*FindLiterals(schema)).Pointer(),
                   "no value of it fits the schemas beside it");
}

std::vector<JsonValue> SchemaCompiler::FittingValues(const MergedSchema& schema) {
  std::vector<JsonValue> fitting;
  const auto check = [&](const JsonValue& value) {
    const absl::StatusOr<bool> fits = checker_.Fits(value, schema);
    if (!fits.ok()) Fail(fits.status());
    if (fits.ok() && *fits) fitting.push_back(value);
  };
  const SchemaView& list = *FindLiterals(schema);
  if (list.const_value.has_value()) {
    check(*list.const_value);
  } else {
    for (const JsonValue value : list.enum_values->children()) check(value);
  }
  if (options_.strictness == Strictness::kRelax && !fitting.empty()) CheckSupported(schema);
  return fitting;
}

}  // namespace maskd
