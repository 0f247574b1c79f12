// The names of an object's members: declared ones, and classes of others.
//
// A name that some schema mentions is declared and looked at by itself. All other names fall into
// classes by which patterns and propertyNames they match: a class is an intersection of the tests
// and complements of tests, less the declared names. Classes that two patterns' ends exclude are
// left out before the intersection is built. Where there is neither a test nor a propertyNames, the
// one class is all texts, of which the engine takes the declared names out (grammar_ir.h).
//
// Invariant  no two classes overlap. They and the declared names are together all names that every
//            propertyNames of the object allows.
// Cost       two to the number of tests, within kMaxSelections; tests are compared with one
//            another, taken from the budget.
// Source     JSON Schema Core 2020-12, section 10.3.2.
#include "grammar_core/frontend/json_schema/rules/object_names.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/json_schema/logic/pattern_ends.h"

namespace maskd {
namespace {

using K = Keyword;
using Kind = Claim::Kind;

// Sets of patterns and propertyNames at most that a name of one object may match.
constexpr std::int64_t kMaxSelections = 256;
// Names at most that a pattern leaves for them to be declared where members must be counted.
constexpr std::size_t kMaxCountedNames = 256;
// Patterns that are compared for one step of ClaimLogic::Take().
constexpr std::size_t kPatternsAStep = 4;

}  // namespace

// Which tests a name passes: every choice of them, without patterns that no name matches together.
// Ends as soon as there are too many.
std::vector<std::vector<bool>> ObjectNames::Selections() const {
  std::vector<PatternEnds> ends;
  std::vector<std::vector<bool>> selections = {{}};
  for (const Test& test : tests_) {
    ends.push_back(test.pattern.has_value() ? EndsOf(test.pattern->key()) : PatternEnds());
    std::vector<std::vector<bool>> longer;
    for (const std::vector<bool>& before : selections) {
      bool may_pass = true;
      for (std::size_t i = 0; i < before.size(); ++i)
        if (before[i] && AreDisjoint(ends[i], ends.back())) may_pass = false;
      for (const bool passes : {true, false}) {
        if (passes && !may_pass) continue;
        longer.push_back(before);
        longer.back().push_back(passes);
      }
    }
    selections = std::move(longer);
    if (static_cast<std::int64_t>(selections.size()) > kMaxSelections) break;
  }
  return selections;
}

ObjectNames::ObjectNames(const MergedSchema& schema, const ObjectConditions& conditions,
                         RuleContext& context)
    : schema_(schema), conditions_(conditions), context_(context) {}

// Declares names, then collects the tests. The first error is kept and the rest is read all the
// same, so that names are declared in one order whatever fails.
absl::Status ObjectNames::Read() {
  DeclareAll();
  absl::Status status;
  const auto keep = [&](absl::Status next) {
    if (status.ok()) status = std::move(next);
  };
  for (std::size_t i = 0; i < schema_.own.size(); ++i) {
    const SchemaView& view = *schema_.locals[i];
    if (view.pattern_properties.has_value()) keep(AddPatterns(*view.pattern_properties));
    if (!view.property_names.has_value()) continue;
    keep(AddBaseLanguage(PartHolds(schema_.own[i], view.property_names->id())));
  }
  for (const Claim& fact : conditions_.facts()) {
    if (fact.keyword == K::kPropertyNames) keep(AddBaseLanguage(PartHolds(fact, fact.at)));
    keep(AddPatternsOf(fact));
  }
  for (const Claim& event : conditions_.events()) {
    if (event.keyword == K::kPropertyNames) keep(AddNamesTest(PartHolds(event, event.at)));
    keep(AddPatternsOf(event));
  }
  const auto selections = static_cast<std::int64_t>(Selections().size());
  if (selections > kMaxSelections) {
    keep(LimitExceeded(schema_.at.Pointer(), "sets of patterns that a name matches", kMaxSelections,
                       selections));
  }
  return status;
}

// The patterns beside the keyword that `literal` is about.
absl::Status ObjectNames::AddPatternsOf(const Claim& literal) {
  const JsonValue at = schema_.at.at(literal.at);
  if (literal.keyword == K::kPatternProperties) return AddPatterns(*at.parent());
  if (literal.keyword == K::kUnevaluatedProperties) {
    for (const JsonId by : context_.logic.EvaluatorsOf(at)) {
      const SchemaView& view = context_.logic.schemas().view(by);
      if (!view.pattern_properties.has_value()) continue;
      if (absl::Status status = AddPatterns(*view.pattern_properties); !status.ok()) return status;
    }
  }
  if (literal.keyword != K::kAdditionalProperties) return absl::OkStatus();
  const std::optional<JsonValue> patterns = at.parent()->Find("patternProperties");
  return patterns.has_value() ? AddPatterns(*patterns) : absl::OkStatus();
}

void ObjectNames::Declare(const JsonValue& at, absl::string_view text, bool in_properties,
                          bool required) {
  const auto [known, added] = index_.try_emplace(text, declared_.size());
  if (added) declared_.push_back({at, text});
  DeclaredName& name = declared_[known->second];
  name.in_properties |= in_properties;
  name.required |= required;
}

// The order of the members in the grammar, where the options ask for an order.
void ObjectNames::DeclareAll() {
  for (const SchemaView* view : schema_.locals) {
    if (!view->properties.has_value()) continue;
    for (const JsonValue member : view->properties->children())
      Declare(member, member.key(), true, false);
  }
  for (const JsonValue at : schema_.RequiredNames()) Declare(at, NameAt(at), false, true);
  for (const Claim& fact : conditions_.facts()) DeclareOf(fact, true);
  for (const Claim& event : conditions_.events()) DeclareOf(event, false);
}

// A literal about one name declares it. A fact also says whether the member must be there.
void ObjectNames::DeclareOf(const Claim& literal, bool is_fact) {
  const JsonValue at = schema_.at.at(literal.at);
  if (literal.kind == Kind::kHas) {
    Declare(at, NameAt(at), false, is_fact && !literal.negated);
  } else if (literal.kind == Kind::kElement && literal.keyword != K::kPatternProperties) {
    Declare(at, at.key(), false, is_fact && literal.negated);
  } else if (literal.kind == Kind::kKeyword && literal.keyword == K::kConst) {
    for (const JsonValue member : at.children()) Declare(member, member.key(), false, false);
  } else if (literal.kind == Kind::kKeyword && literal.keyword == K::kAdditionalProperties) {
    // A name that this schema declares is none of its additional ones.
    DeclareAllOf(at.parent()->Find("properties"));
  } else if (literal.kind == Kind::kKeyword && literal.keyword == K::kUnevaluatedProperties) {
    for (const JsonId by : context_.logic.EvaluatorsOf(at))
      DeclareAllOf(context_.logic.schemas().view(by).properties);
  }
}

// The names that a `properties` has.
void ObjectNames::DeclareAllOf(const std::optional<JsonValue>& properties) {
  if (!properties.has_value()) return;
  for (const JsonValue member : properties->children()) Declare(member, member.key(), false, false);
}

absl::Status ObjectNames::AddPatterns(const JsonValue& keyword) {
  for (const JsonValue pattern : keyword.children()) {
    const auto same = [&](const Test& test) {
      return test.pattern.has_value() && test.pattern->key() == pattern.key();
    };
    if (!context_.logic.Take(1 + tests_.size() / kPatternsAStep, pattern.id()))
      return context_.logic.status();
    if (std::any_of(tests_.begin(), tests_.end(), same)) continue;
    const absl::StatusOr<NodeId> language =
        context_.strings.Language({K::kPatternProperties, pattern});
    if (!language.ok()) return language.status();
    tests_.push_back({pattern, {}, *language, AreToldApart(*language, pattern)});
  }
  return absl::OkStatus();
}

// Where some members must come, no name may come twice: names that are listed are declared.
bool ObjectNames::AreToldApart(NodeId language, const JsonValue& at) {
  const bool counted = schema_.member_count.min > 1 || conditions_.NeedsSomeOther();
  return counted && DeclareListed(language, at, kMaxCountedNames);
}

absl::Status ObjectNames::AddNamesTest(const Claim& property_names) {
  const absl::StatusOr<NodeId> language = context_.string_language(property_names);
  if (!language.ok()) return language.status();
  const bool listed = AreToldApart(*language, schema_.at.at(property_names.at));
  tests_.push_back({std::nullopt, property_names, *language, listed});
  return absl::OkStatus();
}

absl::Status ObjectNames::AddBaseLanguage(const Claim& property_names) {
  const absl::StatusOr<NodeId> language = context_.string_language(property_names);
  if (!language.ok()) return language.status();
  base_.push_back(*language);
  property_names_.push_back(property_names);
  // Where all names are listed, there are no others.
  no_others_ |= DeclareListed(*language, schema_.at.at(property_names.at), kUnbounded);
  return absl::OkStatus();
}

// Declares the names of `language` if it is a list of no more than `most`.
bool ObjectNames::DeclareListed(NodeId language, const JsonValue& at, std::size_t most) {
  const std::optional<std::vector<std::string>> texts = context_.builder.ListedTexts(language);
  if (!texts.has_value() || texts->size() > most) return false;
  for (const std::string& text : *texts) Declare(at, texts_.emplace_back(text), false, false);
  return true;
}

ObjectNames::Name ObjectNames::Declared(const DeclaredName& declared) const {
  Name name;
  name.member = context_.checker.NameOf(declared.text);
  name.satisfies = [this, text = declared.text](const Claim& property_names) {
    const absl::StatusOr<bool> fits = context_.checker.StringFits(text, property_names);
    return !fits.ok() || *fits;
  };
  for (const Claim& claim : property_names_)
    if (!name.satisfies(claim)) name.forbidden = true;
  for (const Test& test : tests_)
    name.matches_some |= test.pattern.has_value() && name.member.matches(*test.pattern);
  return name;
}

// One class for each selection of tests, unless all names of a test are declared ones.
absl::Status ObjectNames::VisitOthers(const Visit& visit) const {
  if (no_others_) return absl::OkStatus();
  // The names that are none of the declared ones, once they are asked for.
  std::optional<NodeId> undeclared;
  for (const std::vector<bool>& signs : Selections()) {
    bool listed = false;
    for (std::size_t i = 0; i < tests_.size(); ++i) listed |= signs[i] && tests_[i].listed;
    if (listed) continue;
    const NodeId language = LanguageOf(signs, &undeclared);
    if (language != context_.builder.Nothing()) visit(Other(signs), language);
  }
  return context_.builder.status();
}

// A class behaves like a name that passes exactly the tests in `signs`.
ObjectNames::Name ObjectNames::Other(const std::vector<bool>& signs) const {
  assert(signs.size() == tests_.size());
  Name name;
  name.member.matches = [this, signs](const JsonValue& pattern) {
    for (std::size_t i = 0; i < tests_.size(); ++i) {
      const std::optional<JsonValue>& test = tests_[i].pattern;
      if (test.has_value() && test->key() == pattern.key()) return static_cast<bool>(signs[i]);
    }
    return false;
  };
  name.satisfies = [this, signs](const Claim& property_names) {
    for (std::size_t i = 0; i < tests_.size(); ++i) {
      const bool is_test = !tests_[i].pattern.has_value();
      if (is_test && tests_[i].property_names == property_names) return static_cast<bool>(signs[i]);
    }
    return true;
  };
  for (std::size_t i = 0; i < tests_.size(); ++i)
    name.matches_some |= tests_[i].pattern.has_value() && signs[i];
  return name;
}

NodeId ObjectNames::LanguageOf(const std::vector<bool>& signs,
                               std::optional<NodeId>* undeclared) const {
  assert(signs.size() == tests_.size());
  IrBuilder& b = context_.builder;
  std::vector<NodeId> languages = base_;
  for (std::size_t i = 0; i < tests_.size(); ++i)
    languages.push_back(signs[i] ? tests_[i].language : b.Not(tests_[i].language));
  if (languages.empty()) return b.Repeat(b.AnyChar(), 0, kUnbounded);
  // Taken out here already, so that what is left may be found to be empty.
  if (!declared_.empty() && !undeclared->has_value()) *undeclared = Undeclared();
  if (!declared_.empty()) languages.push_back(**undeclared);
  return b.And(std::move(languages));
}

NodeId ObjectNames::Undeclared() const {
  std::vector<std::string> declared;
  for (const DeclaredName& name : declared_) declared.emplace_back(name.text);
  return context_.builder.Not(context_.builder.TextSet(declared));
}

}  // namespace maskd
