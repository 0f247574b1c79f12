// Objects as one node of IR: members, others, and conditions between them.
//
// The engine reads members in any order and keeps marks; a condition is a clause over marks that
// must be true at the closing brace. So each member is written in several ways, by which marks its
// value leaves: one way for each outcome of the tests that conditions ask about. If a member would
// have too many ways, the object is split into cases by the member that most conditions look at.
//
// Invariant  a mark that helps some condition is left by exactly the values that fail its test. One
//            that can only harm may be left by others as well: the way without it lets these values
//            in.
// Cost       two to the number of tests of a member, within kMaxWays; each look of a name at an
//            event or a fact is taken from the budget.
// Source     JSON Schema Core 2020-12, sections 10.2.2.4 and 10.3.2; Validation, section 6.5.
#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/rules/object_names.h"
#include "grammar_core/frontend/json_schema/rules/rules.h"

namespace maskd {
namespace {

using K = Keyword;
using Kind = Claim::Kind;

// Ways to write one member at most: each schema that conditions ask about may double them, so there
// are no more than these for so many of them.
constexpr std::int64_t kMaxWays = 1'024;
constexpr std::size_t kFewTests = 10;
// Where there are more, ways to write another member that are looked at one by one at most, and how
// often in one object.
constexpr std::size_t kMaxCases = 64;
constexpr int kMaxCaseDepth = 2;

// Whether the option forbids the names that no schema here declares.
bool IsClosedByOption(const MergedSchema& schema, const GrammarOptions& options) {
  const auto says = [](const SchemaView* view) { return view->additional_properties.has_value(); };
  const auto closes = [](const SchemaView* view) { return view->closes_by_default(); };
  const auto& locals = schema.locals;
  return !options.additional_properties && std::none_of(locals.begin(), locals.end(), says) &&
         std::any_of(locals.begin(), locals.end(), closes);
}

// One object: Read() collects names, Make() writes the members, the others and the conditions.
class ObjectMaker {
 public:
  ObjectMaker(const MergedSchema& schema, const ObjectConditions& conditions, RuleContext& context)
      : schema_(schema),
        conditions_(conditions),
        context_(context),
        names_(schema, conditions, context),
        closed_by_option_(IsClosedByOption(schema, context.options)) {}

  // Nothing below may be called if this fails.
  absl::Status Read() { return names_.Read(); }

  [[nodiscard]] bool HasTooManyWays() const {
    const std::vector<DeclaredName>& names = names_.declared();
    return conditions_.events().size() > kFewTests &&
           std::any_of(names.begin(), names.end(), [&](const DeclaredName& declared) {
             const ObjectNames::Name name = names_.Declared(declared);
             return !WaysOf(name, ClaimsOf(name)).ok();
           });
  }

  // What may be true of the member that most conditions look at, of those that can be written in
  // few ways: each of these ways, and that it is not there. None where there is no such member.
  [[nodiscard]] std::vector<Clauses> Cases() const {
    std::vector<Clauses> cases;
    std::size_t most = 0;
    for (const DeclaredName& declared : names_.declared()) {
      const ObjectNames::Name name = names_.Declared(declared);
      const std::vector<ObjectSpec::Mark> decided = DecidedBy(name);
      if (decided.size() <= most) continue;
      const absl::StatusOr<std::vector<Way>> ways = WaysOf(name, ClaimsOf(name));
      if (!ways.ok() || ways->size() > kMaxCases) continue;
      most = decided.size();
      cases.clear();
      for (const Way& way : *ways) cases.push_back(CaseOf(decided, &way));
      if (!declared.required) cases.push_back(CaseOf(decided, nullptr));
    }
    return cases;
  }

  absl::StatusOr<NodeId> Make() {
    for (const DeclaredName& name : names_.declared())
      if (absl::Status status = AddMember(name); !status.ok()) return status;
    if (absl::Status status = AddOthers(); !status.ok()) return status;
    spec_.conditions = conditions_.Conditions();
    AddCounts();
    context_.layout.Apply(&spec_);
    spec_.any_order = context_.options.property_order == PropertyOrder::kAny;
    // Where two undeclared members are needed, two of the same name are not what is asked for.
    const std::optional<JsonValue> why =
        NeededOthers() > 1 ? schema_.member_count.min_at : undone_by_repetition_;
    const NodeId object = context_.builder.Object(std::move(spec_));
    if (!why.has_value()) return object;
    return context_.builder.Distinct(object, {}, {why->Pointer(), std::string(why->key())});
  }

 private:
  // Some values of a member, by what is claimed of them, and the events that such a value is.
  struct Way {
    std::vector<Claim> claims;
    std::vector<ObjectSpec::Mark> marks;
  };

  // The events that a member of this name alone brings about. None where it cannot be said which
  // values do not.
  [[nodiscard]] std::vector<ObjectSpec::Mark> DecidedBy(const ObjectNames::Name& name) const {
    std::vector<ObjectSpec::Mark> decided;
    if (!context_.logic.Take(conditions_.events().size(), schema_.at.id())) return decided;
    for (ObjectSpec::Mark mark = 0; mark < conditions_.events().size(); ++mark) {
      const Claim& event = conditions_.events()[mark];
      const Effect effect = EffectOf(name, event);
      if (!effect.test.has_value()) continue;
      if (!IsDeniable(*effect.test)) return {};
      if (event.kind == Kind::kElement && event.keyword != K::kPatternProperties)
        decided.push_back(mark);
    }
    return decided;
  }

  // That the member of the events `decided` is written in this way, or that it is not there.
  [[nodiscard]] Clauses CaseOf(const std::vector<ObjectSpec::Mark>& decided, const Way* way) const {
    const JsonValue name = schema_.at.at(conditions_.events()[decided.front()].at);
    Clauses clauses = {{context_.logic.HasMember(name, way == nullptr)}};
    for (const ObjectSpec::Mark mark : decided) {
      const Claim& event = conditions_.events()[mark];
      const bool left = way != nullptr &&
                        std::find(way->marks.begin(), way->marks.end(), mark) != way->marks.end();
      clauses.push_back({left ? event : event.Negated()});
    }
    return clauses;
  }

  absl::Status AddMember(const DeclaredName& declared) {
    const ObjectNames::Name name = names_.Declared(declared);
    std::vector<Claim> claims = ClaimsOf(name);
    if (closed_by_option_ && !declared.in_properties && !name.matches_some)
      claims.push_back(NoValue());
    if (declared.required && !declared.in_properties && context_.contradiction.In(claims)) {
      return InvalidAt(declared.at.Pointer(),
                       absl::StrCat("\"", declared.text,
                                    "\" is required, but neither declared nor allowed as an "
                                    "additional property"));
    }
    const absl::StatusOr<std::vector<Way>> ways = WaysOf(name, std::move(claims));
    if (!ways.ok()) return ways.status();
    ObjectSpec::Member& member = spec_.members.emplace_back();
    member.name = std::string(declared.text);
    member.required = declared.required;
    std::vector<NodeId> values;
    for (const Way& way : *ways) {
      values.push_back(context_.value(way.claims));
      if (ways->size() > 1 || !way.marks.empty()) member.ways.push_back({values.back(), way.marks});
    }
    member.value = context_.builder.Alt(std::move(values));
    return absl::OkStatus();
  }

  // What is claimed of a member whatever else the object holds.
  std::vector<Claim> ClaimsOf(const ObjectNames::Name& name) const {
    std::vector<Claim> claims = schema_.MemberClaims(name.member);
    if (name.forbidden) claims.push_back(NoValue());
    if (!context_.logic.Take(conditions_.facts().size(), schema_.at.id())) return claims;
    for (const Claim& fact : conditions_.facts()) {
      const Effect effect = EffectOf(name, EventOf(fact));
      if (fact == EventOf(fact)) {
        if (effect.test.has_value()) claims.push_back(effect.test->Negated());
      } else if (effect.always) {
        claims.push_back(NoValue());
      } else if (effect.test.has_value()) {
        claims.push_back(*effect.test);
      }
    }
    return claims;
  }

  // How a member brings an event about: always, or by a value that fails the test; or never.
  struct Effect {
    bool always = false;
    std::optional<Claim> test;
  };
  Effect EffectOf(const ObjectNames::Name& name, const Claim& event) const {
    const JsonValue at = schema_.at.at(event.at);
    const std::optional<absl::string_view>& text = name.member.text;
    const bool is_named = text.has_value() && *text == NameAt(at);
    switch (event.keyword) {
      case K::kPropertyNames:
        return {!name.satisfies(PartHolds(event, event.at)), std::nullopt};
      case K::kPatternProperties:
        if (!name.member.matches(at)) return {};
        return {false, context_.logic.First(PartHolds(event, event.at))};
      case K::kAdditionalProperties: {
        const SchemaView& view = context_.logic.schemas().view(at.parent()->id());
        if (view.MemberSchemas(event.keyword, name.member).empty()) return {};
        return {false, context_.logic.First(PartHolds(event, event.at))};
      }
      case K::kUnevaluatedProperties: {
        const SchemaSet& schemas = context_.logic.schemas();
        const std::vector<JsonId>& evaluators = context_.logic.EvaluatorsOf(at);
        const SchemaView& watcher = schemas.view(at.parent()->id());
        const bool evaluated = std::any_of(evaluators.begin(), evaluators.end(), [&](JsonId by) {
          return EvaluatesMember(schemas.view(by), watcher, name.member);
        });
        if (evaluated) return {};
        return {false, context_.logic.First(PartHolds(event, event.at))};
      }
      default:
        break;
    }
    if (event.kind == Kind::kHas) return {is_named, std::nullopt};
    if (event.kind == Kind::kKeyword) return {!text.has_value() || !at.Find(*text).has_value(), {}};
    if (!is_named) return {};
    Claim test = PartHolds(event, event.at);
    if (event.keyword == K::kConst) test.kind = Kind::kValue;
    return {false, context_.logic.First(test)};
  }

  // The ways to write a member, told apart by the events that conditions are about.
  absl::StatusOr<std::vector<Way>> WaysOf(const ObjectNames::Name& name,
                                          std::vector<Claim> claims) const {
    std::vector<Way> ways = {{std::move(claims), {}}};
    if (!context_.logic.Take(conditions_.events().size(), schema_.at.id()))
      return context_.logic.status();
    // Each test once, with the events that its failure is.
    std::vector<std::pair<Claim, std::vector<ObjectSpec::Mark>>> tests;
    for (ObjectSpec::Mark mark = 0; mark < conditions_.events().size(); ++mark) {
      const Effect effect = EffectOf(name, conditions_.events()[mark]);
      if (effect.always) ways.front().marks.push_back(mark);
      if (!effect.test.has_value()) continue;
      const auto known = std::find_if(tests.begin(), tests.end(),
                                      [&](const auto& test) { return test.first == *effect.test; });
      if (known == tests.end())
        tests.push_back({*effect.test, {mark}});
      else
        known->second.push_back(mark);
    }
    for (const auto& [test, marks] : tests) {
      ways = Split(ways, test, marks);
      const auto count = static_cast<std::int64_t>(ways.size());
      if (count > kMaxWays) {
        return LimitExceeded(schema_.at.at(test.at).Pointer(), "ways to write a member", kMaxWays,
                             count);
      }
    }
    return ways;
  }

  // Each way becomes two: the test holds, or it fails and leaves `marks`.
  std::vector<Way> Split(const std::vector<Way>& ways, const Claim& test,
                         const std::vector<ObjectSpec::Mark>& marks) const {
    const bool harmful = std::all_of(marks.begin(), marks.end(), [&](ObjectSpec::Mark mark) {
      return conditions_.OnlyHarms(mark);
    });
    std::vector<Way> split;
    for (const Way& way : ways) {
      Way holds = way;
      Way fails = way;
      context_.logic.AddOnce(test, &holds.claims);
      context_.logic.AddOnce(test.Negated(), &fails.claims);
      fails.marks.insert(fails.marks.end(), marks.begin(), marks.end());
      const bool may_fail = !context_.contradiction.In(fails.claims);
      // Where a mark can do no good, it may be left by values that need not leave it as well.
      if (may_fail && harmful && !IsDeniable(test)) fails.claims = way.claims;
      if (!context_.contradiction.In(holds.claims)) split.push_back(std::move(holds));
      if (may_fail) split.push_back(std::move(fails));
    }
    return split;
  }

  bool IsDeniable(const Claim& test) const {
    return test.kind != Kind::kSchema || context_.logic.IsDeniable(test.at);
  }

  absl::Status AddOthers() {
    absl::Status status;
    const absl::Status visited =
        names_.VisitOthers([&](const ObjectNames::Name& name, NodeId language) {
          if (closed_by_option_ && !name.matches_some) return;
          const absl::StatusOr<std::vector<Way>> ways = WaysOf(name, ClaimsOf(name));
          if (!ways.ok()) status = ways.status();
          if (!status.ok()) return;
          std::vector<Way> possible = *ways;
          // Nothing is worth a rule of its own.
          std::erase_if(possible,
                        [&](const Way& way) { return context_.contradiction.In(way.claims); });
          NoteUndoable(possible);
          for (const Way& way : possible)
            AddOther({language, context_.value(way.claims), way.marks});
        });
    return visited.ok() ? status : visited;
  }

  // A name that is written twice has two values, and readers differ in which is the member's. So
  // a condition must not hold by a mark that another value of the same name does not leave.
  void NoteUndoable(const std::vector<Way>& ways) {
    for (const Way& way : ways) {
      for (const ObjectSpec::Mark mark : way.marks) {
        if (!context_.logic.TakeFor(ways.size() * way.marks.size(), schema_.at.id())) return;
        const auto leaves = [&](const Way& other) {
          return std::find(other.marks.begin(), other.marks.end(), mark) != other.marks.end();
        };
        if (conditions_.OnlyHarms(mark) || std::all_of(ways.begin(), ways.end(), leaves)) continue;
        const Claim& event = conditions_.events()[mark];
        const JsonValue at = schema_.at.at(event.at);
        undone_by_repetition_ = event.keyword == K::kPatternProperties ? *at.parent() : at;
      }
    }
  }

  // Classes that differ in nothing but their names are one.
  void AddOther(ObjectSpec::Others added) {
    for (ObjectSpec::Others& others : spec_.others) {
      if (others.value != added.value || others.marks != added.marks) continue;
      others.name = context_.builder.Alt({others.name, added.name});
      return;
    }
    spec_.others.push_back(std::move(added));
  }

  [[nodiscard]] std::uint32_t RequiredMembers() const {
    return static_cast<std::uint32_t>(
        std::count_if(spec_.members.begin(), spec_.members.end(),
                      [](const ObjectSpec::Member& member) { return member.required; }));
  }

  // A minimum that the required members reach anyway is not written.
  void AddCounts() {
    const CountRange& count = schema_.member_count;
    if (count.min > RequiredMembers()) spec_.min_members = count.min;
    spec_.max_members = count.max;
  }

  // Undeclared members that the count may need.
  [[nodiscard]] std::uint32_t NeededOthers() const {
    if (spec_.others.empty() || spec_.min_members == 0) return 0;
    assert(spec_.min_members >= RequiredMembers());
    return spec_.min_members - RequiredMembers();
  }

  const MergedSchema& schema_;
  const ObjectConditions& conditions_;
  RuleContext& context_;
  ObjectNames names_;
  const bool closed_by_option_;
  // A keyword that a second value of an undeclared name might undo.
  std::optional<JsonValue> undone_by_repetition_;
  ObjectSpec spec_;
};

// The objects of which all of `clauses` is true.
absl::StatusOr<NodeId> ObjectOf(const MergedSchema& schema, const Clauses& clauses, int depth,
                                RuleContext& context);

// The objects of one of `cases`.
absl::StatusOr<NodeId> ObjectByCases(const MergedSchema& schema, const Clauses& clauses,
                                     const std::vector<Clauses>& cases, int depth,
                                     RuleContext& context) {
  assert(!cases.empty());
  std::vector<NodeId> objects;
  absl::Status fault;
  for (const Clauses& added : cases) {
    Clauses all = clauses;
    all.insert(all.end(), added.begin(), added.end());
    const absl::StatusOr<NodeId> object = ObjectOf(schema, all, depth + 1, context);
    if (object.ok())
      objects.push_back(*object);
    else if (absl::IsInvalidArgument(object.status()))
      fault = object.status();
    else
      return object;
  }
  if (objects.empty()) return fault;
  return context.builder.Alt(std::move(objects));
}

absl::StatusOr<NodeId> ObjectOf(const MergedSchema& schema, const Clauses& clauses, int depth,
                                RuleContext& context) {
  const ObjectConditions conditions(clauses);
  if (conditions.is_false())
    return InvalidAt(schema.at.Pointer(), "the conditions on its members exclude one another");
  ObjectMaker maker(schema, conditions, context);
  if (absl::Status status = maker.Read(); !status.ok()) return status;
  if (depth < kMaxCaseDepth && maker.HasTooManyWays()) {
    const std::vector<Clauses> cases = maker.Cases();
    if (!cases.empty()) return ObjectByCases(schema, clauses, cases, depth, context);
  }
  return maker.Make();
}

}  // namespace

absl::StatusOr<NodeId> ObjectRule(const MergedSchema& schema, const Clauses& clauses,
                                  RuleContext& context) {
  const CountRange& count = schema.member_count;
  if (count.empty()) {
    assert(count.max_at.has_value());
    return InvalidAt(count.max_at->Pointer(),
                     absl::StrCat(count.max, " is less than minProperties ", count.min));
  }
  // Members that must be there settle most conditions.
  Clauses all = clauses;
  if (!clauses.empty())
    for (const JsonValue& name : schema.RequiredNames())
      all.push_back({context.logic.HasMember(name, false)});
  return ObjectOf(schema, all, 0, context);
}

}  // namespace maskd
