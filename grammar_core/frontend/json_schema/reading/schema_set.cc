// All schemas that the root reaches, by a worklist; then one search for cycles.
//
// Two schemas are joined by an edge when both speak of the same instance: $ref, allOf, anyOf,
// oneOf, not, if. A cycle of such edges has no meaning: it asks whether a value is valid if it is
// valid. So it is refused here, and everything later may take schemas apart without a look for it.
// A cycle through a part of the instance, as in a tree, is fine.
//
// Invariant  index_ finds the view of each schema; every part names a schema in the set. Schemas
//            without a keyword that are written alike share a view, which has some 900 bytes where
//            `{},` has three; the others have one each.
// Cost       linear in schemas and references, each of which may lead to all dynamic anchors of its
//            name; taken from the budget.
// Source     JSON Schema Core 2020-12, section 9.4.1 (no infinite recursion).
#include "grammar_core/frontend/json_schema/reading/schema_set.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/read_result.h"

namespace maskd {
namespace {

// Units of work of one schema: it is read, compared with the others and looked through for cycles.
constexpr std::int64_t kSchemaUnits = 4;
// Steps along references, and looks at anchors, for a unit.
constexpr std::int64_t kStepsAUnit = 8;

// The budget does not know where it was spent.
absl::Status PlacedAt(const JsonValue& schema, const absl::Status& error) {
  if (!absl::IsResourceExhausted(error)) return error;
  return ErrorAt(error.code(), schema.Pointer(), ErrorReason(error), error.message());
}

}  // namespace

absl::StatusOr<SchemaSet> SchemaSet::Load(SchemaResources resources, const Dialect& dialect,
                                          Formats formats, Budget& budget) {
  SchemaSet set(std::move(resources), dialect, formats);
  std::vector<JsonValue> queue = {set.root()};
  // First come, first read: the first error is the one that stands highest.
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const JsonValue schema = queue[next];
    if (absl::Status status = budget.Spend(kSchemaUnits); !status.ok())
      return PlacedAt(schema, status);
    if (absl::Status status = set.LoadOne(schema, &queue); !status.ok()) return status;
    if (next + 1 < queue.size()) continue;
    if (absl::Status status = set.QueueDynamicTargets(&queue, budget); !status.ok()) return status;
  }
  if (absl::Status status = set.CheckCycles(budget); !status.ok()) return status;
  if (!set.is_dynamic()) set.equal_ = EqualSchemas(set.views_, set.resources_);
  return set;
}

// Documents read since may have more schemas that a dynamic reference may lead to.
absl::Status SchemaSet::QueueDynamicTargets(std::vector<JsonValue>* queue, Budget& budget) const {
  for (const std::string& name : dynamic_names_) {
    const auto looked_at = static_cast<std::int64_t>(resources_.size());
    if (absl::Status status = budget.Spend(1 + looked_at / kStepsAUnit); !status.ok())
      return status;
    for (const JsonValue& target : resources_.DynamicTargets(name))
      if (!index_.contains(target.id())) queue->push_back(target);
  }
  return absl::OkStatus();
}

bool SchemaSet::ShareBareView(const JsonValue& schema) {
  if (!IsBareSchema(schema)) return false;
  const auto next = static_cast<std::uint32_t>(views_.size());
  const auto [bare, is_new] = bare_views_.try_emplace(schema.type(), next);
  if (is_new) return false;
  index_[schema.id()] = bare->second;
  // The first in the document stands for the others, as among all schemas that are equal.
  SchemaView& view = views_[bare->second];
  if (schema.id() > view.at.id()) return true;
  view.at = schema;
  for (SchemaPart& part : view.parts) part.id = schema.id();
  return true;
}

// Reads one schema, unless it is known, and queues the schemas that it leads to.
absl::Status SchemaSet::LoadOne(const JsonValue& schema, std::vector<JsonValue>* queue) {
  const auto next = static_cast<std::uint32_t>(views_.size());
  if (!index_.try_emplace(schema.id(), next).second) return absl::OkStatus();
  if (ShareBareView(schema)) return absl::OkStatus();
  absl::StatusOr<SchemaView> view = ReadSchemaView(schema, resources_.DialectOf(schema), formats_);
  if (!view.ok()) return view.status();
  queue->insert(queue->end(), view->subschemas.begin(), view->subschemas.end());
  if (absl::Status status = ResolveRefsOf(&*view, queue); !status.ok()) return status;
  if (notes_ > kMaxWarnings) view->notes = {};
  notes_ += view->notes.size();
  views_.push_back(*std::move(view));
  return absl::OkStatus();
}

// The parts of references have the ids of the references till here.
absl::Status SchemaSet::ResolveRefsOf(SchemaView* view, std::vector<JsonValue>* queue) {
  for (const std::optional<JsonValue>& ref : {view->ref, view->dynamic_ref}) {
    if (!ref.has_value()) continue;
    const absl::StatusOr<JsonValue> target = resources_.Resolve(*ref);
    if (!target.ok()) return target.status();
    queue->push_back(*target);
    const bool dynamic = ref->key() != "$ref";
    const auto name = dynamic ? resources_.DynamicName(*ref, *target) : std::nullopt;
    if (name.has_value()) {
      view->dynamic_name = *name;
      dynamic_names_.insert(*name);
    }
    for (SchemaPart& part : view->parts) {
      if (part.id != ref->id()) continue;
      part.id = target->id();
      if (name.has_value()) part.kind = SchemaPart::Kind::kDynamic;
    }
  }
  return absl::OkStatus();
}

void SchemaSet::AddNotes(std::vector<Diagnostic>* warnings) const {
  for (const SchemaView& view : views_) {
    for (const SchemaView::Note& note : view.notes) {
      if (warnings->size() > kMaxWarnings) return;
      AddWarning({note.at.Pointer(), note.message}, warnings);
    }
  }
}

// The schemas that speak of the same instance as `id`. $dynamicRef may lead to any of its targets.
std::vector<JsonId> SchemaSet::SameInstance(JsonId id, std::int64_t* steps) const {
  std::vector<JsonId> next;
  for (const SchemaPart& part : view(id).parts) {
    if (part.kind == SchemaPart::Kind::kLocal) continue;
    if (part.kind == SchemaPart::Kind::kDynamic) {
      *steps += static_cast<std::int64_t>(resources_.size());
      for (const JsonValue& target : resources_.DynamicTargets(view(id).dynamic_name))
        next.push_back(target.id());
    }
    const JsonValue at = root().at(part.id);
    if (part.keyword == Keyword::kAnyOf || part.keyword == Keyword::kOneOf) {
      for (const JsonValue branch : at.children()) next.push_back(branch.id());
      continue;
    }
    next.push_back(part.id);
    if (part.keyword != Keyword::kIf) continue;
    for (const char* follows : {"then", "else"}) {
      const std::optional<JsonValue> branch = at.parent()->Find(follows);
      if (branch.has_value()) next.push_back(branch->id());
    }
  }
  return next;
}

// Depth-first search with its own stack; an edge to an open schema closes a cycle.
absl::Status SchemaSet::CheckCycles(Budget& budget) const {
  enum Mark : char { kNew, kOpen, kDone };
  absl::flat_hash_map<JsonId, Mark> marks;
  std::int64_t steps = 0;  // that are not paid yet
  std::vector<std::pair<JsonId, std::vector<JsonId>>> stack;
  const auto open = [&](JsonId id) {
    marks[id] = kOpen;
    stack.emplace_back(id, SameInstance(id, &steps));
    steps += static_cast<std::int64_t>(stack.back().second.size());
  };
  for (const SchemaView& view : views_) {
    if (marks[view.at.id()] == kNew) open(view.at.id());
    while (!stack.empty()) {
      std::vector<JsonId>& next = stack.back().second;
      if (absl::Status status = budget.Spend(steps / kStepsAUnit); !status.ok()) return status;
      steps %= kStepsAUnit;
      if (next.empty()) {
        marks[stack.back().first] = kDone;
        stack.pop_back();
        continue;
      }
      const JsonId id = next.back();
      next.pop_back();
      if (marks[id] == kOpen) {
        std::vector<JsonId> cycle;
        for (std::size_t i = stack.size(); i-- > 0 && (cycle.empty() || cycle.back() != id);)
          cycle.push_back(stack[i].first);
        return CycleError(cycle);
      }
      if (marks[id] == kNew) open(id);
    }
  }
  return absl::OkStatus();
}

// Only a reference can lead back, so one of the cycle's schemas has one.
absl::Status SchemaSet::CycleError(const std::vector<JsonId>& cycle) const {
  const auto has_ref = [&](JsonId id) {
    return view(id).ref.has_value() || view(id).dynamic_ref.has_value();
  };
  const SchemaView& at = view(*std::find_if(cycle.begin(), cycle.end(), has_ref));
  const JsonValue ref = at.ref.has_value() ? *at.ref : *at.dynamic_ref;
  return InvalidAt(ref.Pointer(), absl::StrCat("\"", ref.text(),
                                               "\" leads back to itself without a part of "
                                               "the instance in between"));
}

}  // namespace maskd
