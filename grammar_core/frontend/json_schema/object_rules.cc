#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/rules.h"

namespace maskd {
namespace {

// The names that `properties` or `required` of any of the schemas know, in their order: declared
// ones first.
class MemberNames {
 public:
  struct Name {
    JsonValue at;
    absl::string_view text;
    bool declared;
    bool required;
  };

  explicit MemberNames(const MergedSchema& schema) {
    for (const SchemaView* view : schema.locals) {
      if (!view->properties.has_value()) continue;
      for (const JsonValue member : view->properties->children()) {
        Add({member, member.key(), true, false});
      }
    }
    for (const SchemaView* view : schema.locals) {
      if (!view->required.has_value()) continue;
      for (const JsonValue name : view->required->children()) {
        Add({name, name.text(), false, true});
      }
    }
  }

  [[nodiscard]] const std::vector<Name>& names() const { return names_; }

 private:
  void Add(const Name& name) {
    const auto [it, added] = index_.try_emplace(name.text, names_.size());
    if (added) {
      names_.push_back(name);
    } else {
      names_[it->second].required |= name.required;
    }
  }

  std::vector<Name> names_;
  absl::flat_hash_map<absl::string_view, std::size_t> index_;
};

// Whether names that no schema declares are forbidden, be it by a schema or by the option.
bool IsClosed(const MergedSchema& schema, const GrammarOptions& options) {
  const auto& locals = schema.locals;
  const auto is_false = [](const SchemaView* view) {
    return view->additional_properties.has_value() &&
           view->additional_properties->type() == JsonType::kFalse;
  };
  const auto says = [](const SchemaView* view) { return view->additional_properties.has_value(); };
  if (std::any_of(locals.begin(), locals.end(), is_false)) return true;
  if (options.additional_properties || std::any_of(locals.begin(), locals.end(), says)) {
    return false;
  }
  return std::any_of(locals.begin(), locals.end(),
                     [](const SchemaView* view) { return view->closes_by_default(); });
}

}  // namespace

absl::StatusOr<NodeId> ObjectRule(const MergedSchema& schema, RuleContext& context) {
  IrBuilder& b = context.builder;
  const bool closed = IsClosed(schema, context.options);
  ObjectSpec spec;
  const MemberNames members(schema);
  for (const MemberNames::Name& name : members.names()) {
    if (closed && !name.declared) {
      return InvalidAt(name.at.Pointer(), absl::StrCat("\"", name.text,
                                                       "\" is required, but neither declared nor "
                                                       "allowed as an additional property"));
    }
    const NodeId value = context.value(schema.MemberSchemas(name.text));
    spec.members.push_back({std::string(name.text), value, name.required});
  }
  if (!closed) {
    const NodeId any_name = b.Repeat(b.AnyChar(), 0, kUnbounded);
    spec.others.push_back({any_name, context.value(schema.OtherMemberSchemas())});
  }
  spec.space = context.space;
  spec.any_order = context.options.property_order == PropertyOrder::kAny;
  return b.Object(std::move(spec));
}

}  // namespace maskd
