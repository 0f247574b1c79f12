// Each member's nodes and rules are made again where SchemaCompiler would have come to them: values
// in their place while the object is made, rules from a queue behind it. A copy of a node in normal
// form is that node, and a node that is there already is found. So numbers come out the same too.
//
// A rule stands for all schemas that say the same, wherever they stand. So where two members have
// rules in them that may be equal the whole is read; equal members are one from the start.
//
// Invariant  what a member's nodes are made of has been copied before them, as it was made before.
// Cost       a look at each key of the text, and a copy of each node of the members.
#include "grammar_core/frontend/json_schema/member_schemas.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/json_schema/rules/layout.h"
#include "grammar_core/frontend/json_schema/rules/schema_beginning.h"
#include "grammar_core/frontend/json_schema/rules/schema_compiler.h"
#include "grammar_core/ir/facts/closed_nodes.h"
#include "grammar_core/ir/facts/rule_hashes.h"
#include "grammar_core/ir/passes/ir_copier.h"

namespace maskd {
namespace {

// Members at most: each is kept by itself, with some 4 KiB.
constexpr std::uint32_t kMostMembers = 64;
// Units of work of an object that is put together.
constexpr std::int64_t kObjectUnits = 8;
constexpr absl::string_view kAnyValue = SchemaCompiler::kAnyValue;

// What the text says of the object itself.
struct ObjectText {
  JsonValue properties;
  absl::flat_hash_set<absl::string_view> required = {};
  bool is_open = false;  // to members that are not declared
};

// Whether nothing in `root` refers to, names or describes a schema from elsewhere.
bool StandsAlone(const JsonValue& root) {
  for (JsonId id = root.id(); id < root.subtree_end(); ++id)
    if (absl::StartsWith(root.at(id).key(), "$")) return false;
  return true;
}

// Whether schemas in `root` are put together of others: the whole may tell two such apart that are
// written alike.
bool IsPutTogether(const JsonValue& root) {
  for (JsonId id = root.id(); id < root.subtree_end(); ++id) {
    const absl::string_view key = root.at(id).key();
    if (key == "allOf" || key == "anyOf" || key == "oneOf" || key == "not" || key == "if")
      return true;
  }
  return false;
}

std::optional<ObjectText> ReadText(const JsonValue& root, const GrammarOptions& options) {
  if (!root.is_object() || root.FindText("type") != "object" || !StandsAlone(root))
    return std::nullopt;
  const std::optional<JsonValue> properties = root.Find("properties");
  if (!properties.has_value() || !properties->is_object() || properties->size() == 0 ||
      properties->size() > kMostMembers) {
    return std::nullopt;
  }
  ObjectText text = {.properties = *properties, .is_open = options.additional_properties};
  for (const JsonValue member : properties->children())
    if (!member.is_object()) return std::nullopt;
  for (const JsonValue keyword : root.children()) {
    if (keyword.key() == "type" || keyword.key() == "properties") continue;
    if (keyword.key() == "additionalProperties" && keyword.type() == JsonType::kFalse) {
      text.is_open = false;
    } else if (keyword.key() == "required" && keyword.is_array()) {
      for (const JsonValue name : keyword.children()) {
        const bool is_member = name.is_string() && properties->Find(name.text()).has_value();
        if (!is_member || !text.required.insert(name.text()).second) return std::nullopt;
      }
    } else {
      return std::nullopt;
    }
  }
  return text;
}

bool IsOfOptions(const Diagnostic& bound) { return absl::StartsWith(bound.place, "options."); }

// Whether any other schema may have it as a member.
bool MayBeMember(const KnownSchema& schema) {
  const ReadResult& read = schema.read;
  return schema.has_value && read.warnings.empty() && read.faults.empty() &&
         read.ir.distinct.empty() && schema.steps.ends.size() == read.ir.rules.size() &&
         schema.rule_hashes.size() == (schema.steps.is_in_place ? 0 : read.ir.rules.size()) &&
         (!schema.steps.is_in_place || read.ir.rules.size() == 1);
}

class Joiner {
 public:
  Joiner(const ObjectText& text, const GrammarOptions& options, const SchemaBeginning& beginning,
         Budget& budget)
      : text_(text),
        options_(options),
        beginning_(beginning),
        budget_(budget),
        common_(static_cast<NodeId>(beginning.builder.ir().nodes.size())),
        b_(beginning.builder),
        hashes_(beginning.hashes) {}

  // Whether all can be put together.
  bool Read(std::int64_t max_sets, ReadMember read) {
    std::int64_t sets = 2;  // of the object and of any value
    for (const JsonValue member : text_.properties.children()) {
      absl::StatusOr<SchemaRef> known = read(member.source());
      if (!known.ok()) return false;
      const auto same = std::ranges::find(parts_, *known, &Part::known);
      if (same != parts_.end()) {
        if (IsPutTogether(member)) return false;
        members_.push_back(&*same);
        continue;
      }
      sets += (*known)->steps.sets;
      members_.push_back(&parts_.emplace_back(*std::move(known), member, &b_));
      if (!Check(*members_.back()) || sets > max_sets) return false;
    }
    if (!text_.is_open) return true;
    absl::StatusOr<SchemaRef> known = read("true");
    if (!known.ok() || !MayBeMember(**known)) return false;
    any_ = &parts_.emplace_back(*std::move(known), text_.properties, &b_);
    return true;
  }

  std::optional<KnownSchema> Make() && {
    const auto units = kObjectUnits + static_cast<std::int64_t>(members_.size());
    if (!budget_.Spend(units).ok()) return std::nullopt;
    for (Part& part : parts_)
      for (NodeId node = 0; node < common_; ++node) part.copier.SetCopy(node, node);
    const RuleId start = b_.DeclareRule("#", "");
    rule_hashes_.push_back({});
    b_.Call(start);
    const std::optional<NodeId> object = MakeObject();
    if (!object.has_value()) return std::nullopt;
    b_.DefineRule(start, b_.Alt({*object}));
    while (!queue_.empty()) {
      const auto [part, rule, is_new] = queue_.front();
      queue_.pop_front();
      if (!CopySteps(part, rule)) return std::nullopt;
      if (!is_new) continue;
      const NodeId body = part->copier.CopyOf(part->ir().rules[rule].body);
      b_.DefineRule(part->copier.RuleOf(rule), body);
    }
    absl::StatusOr<GrammarIr> ir = std::move(b_).Build(start);
    if (!ir.ok()) return std::nullopt;
    ReadResult result;
    result.ir = *std::move(ir);
    AddBounds(&result);
    return KnownSchema(std::move(result), std::move(hashes_), std::move(rule_hashes_));
  }

 private:
  // A member's schema, and where it is for the first time.
  struct Part {
    Part(SchemaRef schema, const JsonValue& first, IrBuilder* to)
        : known(std::move(schema)), place(first.Pointer()), copier(known->read.ir, to) {}
    [[nodiscard]] const GrammarIr& ir() const { return known->read.ir; }

    SchemaRef known;
    std::string place;
    IrCopier copier;
    bool is_made = false;  // its node, or the rule that it is
  };
  struct Task {
    Part* part;
    RuleId rule;
    bool is_new;  // else it was defined before
  };

  // Whether nothing in `part` would be one with what is in another one, or be told elsewhere.
  bool Check(const Part& part) {
    if (!MayBeMember(*part.known)) return false;
    const std::size_t before = part.place.size();
    for (RuleId rule = 0; rule < part.known->rule_hashes.size(); ++rule) {
      const auto& [name, place, body] = part.ir().rules[rule];
      if (before + place.size() > ClaimLogic::kMaxPlaceBytes) return false;
      if (name == kAnyValue) {
        if (rule == 0 || !place.empty()) return false;
      } else if (!rules_.insert(part.known->rule_hashes[rule]).second) {
        return false;
      }
    }
    return std::ranges::all_of(part.known->read.bounds, [&](const Diagnostic& bound) {
      return IsOfOptions(bound) || bounds_.insert(bound.message).second;
    });
  }

  std::optional<NodeId> MakeObject() {
    ObjectSpec spec;
    auto member = text_.properties.children().begin();
    for (Part* const part : members_) {
      const std::optional<NodeId> value = ValueOf(part);
      if (!value.has_value()) return std::nullopt;
      const absl::string_view name = (*member).key();
      spec.members.push_back({.name = std::string(name),
                              .value = b_.Alt({*value}),
                              .required = text_.required.contains(name)});
      ++member;
    }
    const NodeId names = b_.Repeat(b_.AnyChar(), 0, kUnbounded);
    if (text_.is_open) {
      Declare(any_, 0, "");
      spec.others.push_back({.name = names, .value = CallRoot(any_)});
    }
    Layout(beginning_.layout, b_).Apply(&spec);
    spec.any_order = options_.property_order == PropertyOrder::kAny;
    return b_.Object(std::move(spec));
  }

  std::optional<NodeId> ValueOf(Part* part) {
    const bool is_first = !std::exchange(part->is_made, true);
    if (part->known->steps.is_in_place) {
      if (is_first && !CopySteps(part, 0)) return std::nullopt;
      return part->copier.CopyOf(part->ir().rules[0].body);
    }
    if (is_first) Declare(part, 0, part->place);
    return CallRoot(part);
  }

  // The call of a part's first rule, which stands behind the beginning there.
  NodeId CallRoot(Part* part) {
    const NodeId call = b_.Call(part->copier.RuleOf(0));
    part->copier.SetCopy(common_, call);
    return call;
  }

  // There is one rule for any value. Where a part has another, its nodes are found when its turn
  // comes: what comes behind in the part may be made of them.
  void Declare(Part* part, RuleId rule, absl::string_view around) {
    const auto& [name, place, body] = part->ir().rules[rule];
    const bool is_any = name == kAnyValue;
    const bool is_new = !is_any || !any_value_.has_value();
    if (is_new) {
      const std::string there = is_any ? "" : absl::StrCat(around, place);
      const std::string its_name = is_any ? name : "#" + there;
      part->copier.SetRule(rule, b_.DeclareRule(its_name, there));
      const bool is_exact = part->ir().rules.size() <= kMostExactRules;
      rule_hashes_.push_back(is_exact ? MixBytes(part->known->rule_hashes[rule], its_name)
                                      : Hash128{});
      if (is_any) any_value_ = part->copier.RuleOf(rule);
    } else {
      part->copier.SetRule(rule, *any_value_);
    }
    queue_.push_back({part, rule, is_new});
  }

  // Makes what was made for `rule` of `part`. False where there is no room or work for it.
  bool CopySteps(Part* part, RuleId rule) {
    const auto& [known, place, copier, is_made] = *part;
    const SchemaSteps& steps = known->steps;
    const SchemaSteps::End begin =
        rule == 0 ? SchemaSteps::End{steps.first, 1} : steps.ends[rule - 1];
    assert(steps.first == common_ + 1 && "the beginning, and the call of the root");
    for (RuleId inner = begin.rules; inner < steps.ends[rule].rules; ++inner)
      Declare(part, inner, place);
    for (NodeId node = begin.nodes; node < steps.ends[rule].nodes; ++node) {
      if (!part->copier.Copy(node, budget_).ok()) return false;
      const NodeId copy = part->copier.CopyOf(node);
      if (copy >= hashes_.size()) hashes_.resize(copy + 1);
      hashes_[copy] = known->hashes[node];
    }
    return true;
  }

  void AddBounds(ReadResult* result) const {
    std::map<std::string, std::string> of_members;
    for (const Part& part : parts_) {
      for (const auto& [place, message] : part.known->read.bounds)
        if (!IsOfOptions({place, message}))
          of_members.emplace(absl::StrCat(part.place, place), message);
    }
    for (const Diagnostic& bound : parts_.front().known->read.bounds)
      if (IsOfOptions(bound)) AddWarning(bound, &result->bounds);
    for (const auto& [place, message] : of_members) AddWarning({place, message}, &result->bounds);
  }

  const ObjectText& text_;
  const GrammarOptions& options_;
  const SchemaBeginning& beginning_;
  Budget& budget_;
  const NodeId common_;  // nodes of the beginning
  IrBuilder b_;
  std::deque<Part> parts_;
  std::vector<Part*> members_;
  Part* any_ = nullptr;
  std::optional<RuleId> any_value_;
  std::deque<Task> queue_;
  std::vector<Hash128> hashes_;
  std::vector<Hash128> rule_hashes_;
  // Of rules, and messages of bounds, of all parts so far.
  absl::flat_hash_set<Hash128> rules_;
  absl::flat_hash_set<std::string> bounds_;
};

}  // namespace

std::optional<KnownSchema> JoinMembers(const JsonValue& root, const GrammarOptions& options,
                                       const SchemaBeginning& beginning, const Limits& limits,
                                       Budget& budget, ReadMember read) {
  const std::optional<ObjectText> text = ReadText(root, options);
  if (!text.has_value()) return std::nullopt;
  Joiner joiner(*text, options, beginning, budget);
  if (!joiner.Read(limits.schema_sets, read)) return std::nullopt;
  return std::move(joiner).Make();
}

}  // namespace maskd
