#include "grammar_core/frontend/json_schema/schema_set.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/ref_resolver.h"
#include "grammar_core/frontend/read_result.h"

namespace maskd {

absl::StatusOr<SchemaSet> SchemaSet::Load(const JsonValue& root, const Dialect& dialect,
                                          Budget& budget) {
  SchemaSet set(root, dialect);
  std::vector<JsonValue> queue = {root};
  // First come, first read: the first error is the one that stands highest.
  for (std::size_t next = 0; next < queue.size(); ++next) {
    if (absl::Status status = budget.Spend(); !status.ok()) return status;
    const JsonValue schema = queue[next];
    if (absl::Status status = set.LoadOne(schema, &queue); !status.ok()) return status;
  }
  if (absl::Status status = set.CheckCycles(); !status.ok()) return status;
  return set;
}

absl::Status SchemaSet::LoadOne(const JsonValue& schema, std::vector<JsonValue>* queue) {
  if (!index_.try_emplace(schema.id(), views_.size()).second) return absl::OkStatus();
  absl::StatusOr<SchemaView> view = ReadSchemaView(schema, dialect_);
  if (!view.ok()) return view.status();
  queue->insert(queue->end(), view->subschemas.begin(), view->subschemas.end());
  if (absl::Status status = ResolveRefOf(&*view, queue); !status.ok()) return status;
  views_.push_back(*std::move(view));
  return absl::OkStatus();
}

absl::Status SchemaSet::ResolveRefOf(SchemaView* view, std::vector<JsonValue>* queue) const {
  if (!view->ref.has_value()) return absl::OkStatus();
  const absl::StatusOr<JsonValue> target = ResolveRef(root_, *view->ref, dialect_);
  if (!target.ok()) return target.status();
  for (SchemaPart& part : view->parts) {
    if (part.id == view->ref->id()) part.id = target->id();
  }
  queue->push_back(*target);
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

Conjunction SchemaSet::Expand(const std::vector<JsonId>& schemas, Conjunction known) const {
  absl::flat_hash_set<JsonId> locals(known.locals.begin(), known.locals.end());
  absl::flat_hash_set<JsonId> lists(known.any_of.begin(), known.any_of.end());
  absl::flat_hash_set<JsonId> seen;
  std::vector<SchemaPart> stack;
  const auto push = [&](auto first, auto last) { stack.insert(stack.end(), first, last); };
  for (auto id = schemas.rbegin(); id != schemas.rend(); ++id) {
    stack.push_back({SchemaPart::Kind::kSchema, *id});
  }
  while (!stack.empty()) {
    const SchemaPart part = stack.back();
    stack.pop_back();
    if (part.kind == SchemaPart::Kind::kLocal) {
      if (locals.insert(part.id).second) known.locals.push_back(part.id);
    } else if (part.kind == SchemaPart::Kind::kAnyOf) {
      if (lists.insert(part.id).second) known.any_of.push_back(part.id);
    } else if (seen.insert(part.id).second) {
      const std::vector<SchemaPart>& parts = view(part.id).parts;
      push(parts.rbegin(), parts.rend());
    }
  }
  return known;
}

std::vector<JsonId> SchemaSet::SameInstance(JsonId id) const {
  std::vector<JsonId> next;
  for (const SchemaPart& part : view(id).parts) {
    if (part.kind == SchemaPart::Kind::kSchema) next.push_back(part.id);
    if (part.kind != SchemaPart::Kind::kAnyOf) continue;
    for (const JsonValue branch : root_.at(part.id).children()) next.push_back(branch.id());
  }
  return next;
}

// Depth-first search with its own stack; an edge to an open schema closes a cycle.
absl::Status SchemaSet::CheckCycles() const {
  enum Mark : char { kNew, kOpen, kDone };
  absl::flat_hash_map<JsonId, Mark> marks;
  std::vector<std::pair<JsonId, std::vector<JsonId>>> stack;
  const auto open = [&](JsonId id) {
    marks[id] = kOpen;
    stack.emplace_back(id, SameInstance(id));
  };
  for (const SchemaView& view : views_) {
    if (marks[view.at.id()] == kNew) open(view.at.id());
    while (!stack.empty()) {
      std::vector<JsonId>& next = stack.back().second;
      if (next.empty()) {
        marks[stack.back().first] = kDone;
        stack.pop_back();
        continue;
      }
      const JsonId id = next.back();
      next.pop_back();
      if (marks[id] == kOpen) {
        std::vector<JsonId> cycle;
        for (std::size_t i = stack.size(); i-- > 0 && (cycle.empty() || cycle.back() != id);) {
          cycle.push_back(stack[i].first);
        }
        return CycleError(cycle);
      }
      if (marks[id] == kNew) open(id);
    }
  }
  return absl::OkStatus();
}

// Only a reference can lead back, so one of the cycle's schemas has one.
absl::Status SchemaSet::CycleError(const std::vector<JsonId>& cycle) const {
  const auto has_ref = [&](JsonId id) { return view(id).ref.has_value(); };
  const SchemaView& at = view(*std::find_if(cycle.begin(), cycle.end(), has_ref));
  return InvalidAt(at.ref->Pointer(), absl::StrCat("\"", at.ref->text(),
                                                   "\" leads back to itself without a part of "
                                                   "the instance in between"));
}

}  // namespace maskd
