// Conjunctions into rules, by a queue.
//
// A value is a conjunction of claims; equal conjunctions are one rule (nodes_, by Key()). That
// makes recursive schemas finite. A scalar is put in its place, anything else is declared and
// queued. A body has its choices reduced first; those about objects become clauses of one object
// where they can, the others are branched on, one choice at a time, each branch a conjunction of
// its own.
//
// Invariant  a rule is declared before its body is made and defined once.
// Cost       one merge and one proof pass for each conjunction; schema_sets bounds how many there
//            are, and the budget how much they hold together.
#include "grammar_core/frontend/json_schema/rules/schema_compiler.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/rules/schema_beginning.h"

namespace maskd {
namespace {

using K = Keyword;
using Kind = Claim::Kind;

// Reasons for unsatisfiable rules that are kept; after these a rule's place must do.
constexpr std::size_t kMaxFaults = 1000;
// Units of work of one set of schemas that is put together.
constexpr std::int64_t kTaskUnits = 8;
// A set of claims costs a further unit for each so many of them: it is kept, with a key.
constexpr std::size_t kUsualClaims = 16;
constexpr std::int64_t kKeptClaimsAUnit = 2;
// Choices within choices of a string's language.
constexpr int kMaxStringDepth = 64;

absl::Status NoTypeLeft(const MergedSchema& schema) {
  std::optional<JsonValue> last;
  for (const SchemaView* view : schema.locals) {
    if (view->is_false) return InvalidAt(view->at.Pointer(), "the schema false matches nothing");
    if (view->type.has_value()) last = view->type;
  }
  return InvalidAt(last.value_or(schema.at).Pointer(),
                   "no type is left of those that the schemas here allow");
}

bool IsBranching(const Claim& choice) {
  return choice.kind == Kind::kKeyword && !choice.negated && choice.keyword != K::kIf;
}

// Whether the claim is merged into a range of numbers of members.
bool IsCount(const Claim& claim) {
  return claim.keyword == K::kMinProperties || claim.keyword == K::kMaxProperties;
}

bool IsWatched(const Claim& choice) { return choice.watchers != 0; }

// Whether a schema says only which members there must be.
bool IsAboutPresence(const SchemaView& view) {
  const auto is = [](const SchemaView::Assertion& own) {
    return own.keyword == K::kType || own.keyword == K::kRequired;
  };
  return view.parts.size() == 1 && view.parts.front().kind == SchemaPart::Kind::kLocal &&
         view.facets.empty() && std::all_of(view.assertions.begin(), view.assertions.end(), is);
}

}  // namespace

SchemaCompiler::SchemaCompiler(const SchemaSet& schemas, const GrammarOptions& options,
                               SchemaValues values, const Limits& limits, Budget& budget,
                               const SchemaReading& reading)
    : schemas_(schemas),
      options_(options),
      values_(values),
      steps_(reading.steps),
      budget_(budget),
      builder_(reading.beginning != nullptr ? IrBuilder(reading.beginning->builder)
                                            : IrBuilder(limits)),
      max_sets_(limits.schema_sets + static_cast<std::int64_t>(schemas.size())),
      strings_(limits, budget, builder_),
      logic_(schemas, budget),
      checker_(logic_, limits, budget, strings_,
               [this](const JsonValue& at, const absl::Status& status) { Refuse(at, status); }),
      contradiction_(logic_, checker_, budget),
      formula_(logic_),
      choices_(logic_, contradiction_, budget),
      context_{
          .options = options,
          .builder = builder_,
          .strings = strings_,
          .logic = logic_,
          .checker = checker_,
          .contradiction = contradiction_,
          .choices = choices_,
          .refuse = [this](const JsonValue& at, const absl::Status& status) { Refuse(at, status); },
          .value = [this](const std::vector<Claim>& claims) { return Value(claims); },
          .string_language =
              [this](const Claim& claim) { return StringLanguage(logic_.Expand({claim}), 0); },
          .layout = reading.beginning != nullptr ? Layout(reading.beginning->layout, builder_)
                                                 : Layout(options, builder_),
          .number = reading.beginning != nullptr ? reading.beginning->number
                                                 : AnyNumberRule(options, builder_)} {}

// The root first, then rules in the order in which they were named. Errors are kept by Fail() and
// end the loop, as rules are made within callbacks that return nodes.
absl::StatusOr<ReadResult> SchemaCompiler::Compile() && {
  assert(queue_.empty() && nodes_.empty());
  const Conjunction root = logic_.Expand({SchemaHolds(schemas_.root().id())});
  const RuleId start = Declare(root, "");
  if (steps_ != nullptr) {
    steps_->first = static_cast<NodeId>(builder_.ir().nodes.size());
    steps_->is_in_place = IsPutInPlace(root, Merge(logic_, root));
  }
  while (!queue_.empty() && error_.ok() && builder_.status().ok()) {
    const Task task = std::move(queue_.front());
    queue_.pop_front();
    place_ = task.place;
    Spend(kTaskUnits + static_cast<std::int64_t>(task.all.own.size()));
    Define(task.rule, Body(task));
    if (steps_ != nullptr) {
      // Rules that are made otherwise, such as those of arrays' states, have no end. Then there are
      // fewer ends than rules, and nobody puts the schema into another one.
      assert(task.rule >= steps_->ends.size() && "rules are made in the order of their numbers");
      steps_->ends.push_back({static_cast<NodeId>(builder_.ir().nodes.size()),
                              static_cast<RuleId>(builder_.ir().rules.size())});
    }
  }
  if (steps_ != nullptr) steps_->sets = static_cast<std::int64_t>(nodes_.size());
  if (!error_.ok()) return error_;
  if (!builder_.status().ok()) return builder_.status();
  absl::StatusOr<GrammarIr> ir = std::move(builder_).Build(start);
  if (!ir.ok()) return ir.status();
  result_.ir = *std::move(ir);
  NoteBounds();
  return std::move(result_);
}

// Where the grammar has fewer texts than the schema has values, the caller is told.
void SchemaCompiler::NoteBounds() {
  const auto note = [&](absl::string_view place, std::string message) {
    AddWarning({std::string(place), std::move(message)}, &result_.bounds);
  };
  const bool exact = options_.indent.has_value() ||
                     (options_.item_separator.has_value() && options_.key_separator.has_value());
  if (options_.white_space == WhiteSpace::kFlexible && !exact) {
    note("options.max_whitespace",
         absl::StrCat("white space: at most ", options_.max_whitespace, " characters in a row"));
  }
  note("options.max_number_digits",
       absl::StrCat("numbers: at most ", options_.max_number_digits,
                    " digits before and behind the point; in an exponent at most ",
                    NumberSpec::kDefaultExponentDigits, ", or of a number under a keyword ",
                    NumberSpec::kConstrainedExponentDigits, " and what the keyword's value needs"));
  for (const auto& [place, name] : strings_.bounded_formats())
    note(place, absl::StrCat("format ", name, ": leaves out strings that docs/grammars.md names"));
  for (const DistinctSpec& array : result_.ir.distinct)
    note(array.place, absl::StrCat(array.keyword, ": leaves out objects that have a name twice"));
}

// What the logic could not pay has a place nearer by.
void SchemaCompiler::Spend(std::int64_t units) {
  Fail(logic_.status());
  Fail(budget_.Spend(units));
}

// The budget does not know where it was spent.
void SchemaCompiler::Fail(const absl::Status& status) {
  if (!error_.ok()) return;
  const bool placed = !absl::IsResourceExhausted(status) || !ErrorPlace(status).empty();
  error_ = placed ? status : ErrorAt(status.code(), place_, ErrorReason(status), status.message());
}

std::string SchemaCompiler::PlaceOf(const Claim& claim) const {
  return claim.kind == Kind::kTypes ? ""
                                    : logic_.at(claim).PointerWithin(ClaimLogic::kMaxPlaceBytes);
}

NodeId SchemaCompiler::Value(const std::vector<Claim>& claims) {
  return NodeFor(logic_.Expand(claims),
                 [&] { return claims.empty() ? std::string() : PlaceOf(claims.front()); });
}

RuleId SchemaCompiler::Declare(const Conjunction& all, const std::string& place) {
  const RuleId rule =
      builder_.DeclareRule(all.empty() ? std::string(kAnyValue) : absl::StrCat("#", place), place);
  nodes_.emplace(all.Key(), builder_.Call(rule));
  queue_.push_back({rule, all, place});
  return rule;
}

bool SchemaCompiler::IsPutInPlace(const Conjunction& all, const MergedSchema& schema) {
  const bool scalar = (schema.types & (kArrayType | kObjectType)) == 0;
  return all.choices.empty() && (scalar || schema.has_listed_values());
}

// What holds no other value is put in its place; all else is a rule, which may be recursive.
NodeId SchemaCompiler::NodeFor(const Conjunction& all, absl::FunctionRef<std::string()> place) {
  const std::string key = all.Key();
  const auto known = nodes_.find(key);
  if (known != nodes_.end()) return known->second;
  const auto sets = static_cast<std::int64_t>(nodes_.size()) + 1;
  if (sets > max_sets_) Fail(LimitExceeded(place(), "schema_sets", max_sets_, sets));
  const std::size_t claims = all.own.size() + all.atoms.size() + all.choices.size();
  const std::size_t many = claims - std::min(claims, kUsualClaims);
  Spend(kTaskUnits + static_cast<std::int64_t>(many) / kKeptClaimsAUnit);
  if (IsPutInPlace(all, Merge(logic_, all))) {
    const absl::StatusOr<NodeId> body = LocalBody(all, {});
    if (body.ok() && values_ == SchemaValues::kInline)
      return nodes_.emplace(key, *body).first->second;
    const std::string at = place();
    const RuleId rule = builder_.DeclareRule("#" + at, at);
    Define(rule, body);
    return nodes_.emplace(key, builder_.Call(rule)).first->second;
  }
  return builder_.Call(Declare(all, place()));
}

// An INVALID_ARGUMENT is why the rule matches nothing, and of interest only if the start does. What
// was made behind a limit is not all, so that error comes first.
void SchemaCompiler::Define(RuleId rule, const absl::StatusOr<NodeId>& body) {
  Fail(logic_.status());
  builder_.DefineRule(rule, body.ok() ? *body : builder_.Nothing());
  if (body.ok()) return;
  if (absl::IsInvalidArgument(body.status())) {
    if (result_.faults.size() < kMaxFaults) result_.faults.emplace(rule, body.status());
  } else {
    Fail(body.status());
  }
}

// Reducing first may leave a conjunction that is known already.
absl::StatusOr<NodeId> SchemaCompiler::Body(const Task& task) {
  if (task.all.choices.empty()) return LocalBody(task.all, {});
  const Conjunction reduced = choices_.Reduce(task.all);
  if (reduced.is_false && !task.all.is_false) {
    return InvalidAt(schemas_.root().at(reduced.false_at).Pointer(),
                     "no branch fits the schemas beside it");
  }
  if (reduced.choices.empty()) return NodeFor(reduced, [&] { return task.place; });
  return ChoiceBody(reduced, task.place);
}

// Listed values are filtered, not branched on. Choices about members become clauses, for which the
// objects are first split from the other types. What is left is branched on.
absl::StatusOr<NodeId> SchemaCompiler::ChoiceBody(const Conjunction& all,
                                                  const std::string& place) {
  assert(!all.choices.empty());
  const MergedSchema schema = Merge(logic_, all);
  const bool watched = std::any_of(all.choices.begin(), all.choices.end(), IsWatched);
  if (schema.has_listed_values() && !watched) return Literals(schema, all);
  const auto is_formula = [&](const Claim& choice) {
    return !IsWatched(choice) && (!IsBranching(choice) || AsksForPresence(choice));
  };
  const bool formulas = std::any_of(all.choices.begin(), all.choices.end(), is_formula);
  const bool mixed = (schema.types & kObjectType) != 0 && schema.types != kObjectType;
  if (formulas && mixed) {
    Conjunction objects = all;
    Conjunction rest = all;
    objects.types &= kObjectType;
    rest.types &= ~kObjectType;
    const auto here = [&] { return place; };
    return builder_.Alt({NodeFor(objects, here), NodeFor(rest, here)});
  }
  Clauses clauses;
  Conjunction branching = all;
  if (schema.types == kObjectType) {
    std::erase_if(branching.choices, [&](const Claim& choice) {
      if (!is_formula(choice)) return false;
      const std::optional<Clauses> said = formula_.Of(choice);
      if (said.has_value()) clauses.insert(clauses.end(), said->begin(), said->end());
      return said.has_value();
    });
  }
  if (branching.choices.empty()) return LocalBody(branching, clauses);
  const auto next = std::find(all.choices.begin(), all.choices.end(), branching.choices.front());
  assert(next != all.choices.end());
  return Branches(all, static_cast<std::size_t>(next - all.choices.begin()));
}

bool SchemaCompiler::AsksForPresence(const Claim& choice) const {
  const JsonValue branches = logic_.at(choice);
  bool presence = true;
  for (const JsonValue branch : branches.children())
    presence = presence && IsAboutPresence(schemas_.view(branch.id()));
  return presence;
}

// Branches that list their values are put together: a hundred thousand of them are one set.
absl::StatusOr<NodeId> SchemaCompiler::Branches(const Conjunction& all, std::size_t choice) {
  assert(choice < all.choices.size());
  Conjunction rest = all;
  rest.choices.erase(rest.choices.begin() + static_cast<std::ptrdiff_t>(choice));
  const Claim opened = all.choices[choice];
  std::vector<NodeId> branches;
  std::map<NumberSpelling, std::vector<JsonValue>> values;
  for (const std::vector<Claim>& way : choices_.AlternativesOf(opened)) {
    const auto units = static_cast<std::int64_t>(1 + way.size() + rest.own.size());
    if (absl::Status status = budget_.Spend(units); !status.ok()) return status;
    if (!error_.ok()) return error_;
    const Conjunction with = logic_.Expand(way, rest);
    const MergedSchema schema = Merge(logic_, with);
    // A branch of other types than the claims beside the choice leave is gone at once.
    if (schema.types == kNoType) continue;
    if (with.choices.empty() && schema.has_listed_values()) {
      std::vector<JsonValue>& spelled = values[SpellingOf(schema, context_.options)];
      for (const JsonValue& value : FittingValues(schema, with)) spelled.push_back(value);
    } else {
      branches.push_back(
          NodeFor(with, [&] { return PlaceOf(way.empty() ? opened : way.front()); }));
    }
  }
  for (const auto& [spelling, spelled] : values)
    if (!spelled.empty()) branches.push_back(LiteralRule(spelled, spelling, context_));
  if (branches.empty())
    return InvalidAt(logic_.at(opened).Pointer(), "no branch fits the schemas beside it");
  return builder_.Alt(std::move(branches));
}

// No choice is left: the conjunction is one merged schema.
absl::StatusOr<NodeId> SchemaCompiler::LocalBody(const Conjunction& all, const Clauses& clauses) {
  MergedSchema schema = Merge(logic_, all);
  if (all.is_false)
    return InvalidAt(schemas_.root().at(all.false_at).Pointer(), "this excludes every value");
  if (schema.types == kNoType) return NoTypeLeft(schema);
  if (schema.has_listed_values() && clauses.empty()) return Literals(schema, all);
  CheckSupported(schema);
  return Types(schema, clauses);
}

void SchemaCompiler::CheckSupported(const MergedSchema& schema) {
  for (const Claim& atom : schema.atoms) {
    if (atom.kind != Kind::kSchema) continue;
    const JsonValue at = logic_.at(atom);
    Refuse(at, UnsupportedAt(at.Pointer(), "not", "of a schema with unevaluated keywords"));
  }
}

void SchemaCompiler::Refuse(const JsonValue& at, const absl::Status& status) {
  if (options_.strictness == Strictness::kRefuse || !absl::IsUnimplemented(status))
    Fail(status);
  else if (dropped_.insert(at.id()).second)
    AddWarning({at.Pointer(), "not supported, dropped"}, &result_.warnings);
}

// A type without a value drops out. Its reason is reported if no type is left.
absl::StatusOr<NodeId> SchemaCompiler::Types(const MergedSchema& schema, const Clauses& clauses) {
  std::vector<NodeId> alternatives;
  absl::Status fault;
  const auto add = [&](const absl::StatusOr<NodeId>& made) {
    if (made.ok())
      alternatives.push_back(*made);
    else if (fault.ok() || !absl::IsInvalidArgument(made.status()))
      fault = made.status();
  };
  const auto add_word = [&](TypeSet type, JsonType value, absl::string_view word) {
    if ((schema.types & type) != 0 && !schema.Excludes(value)) add(builder_.Bytes(word));
  };
  add_word(kNullType, JsonType::kNull, "null");
  add_word(kBooleanType, JsonType::kTrue, "true");
  add_word(kBooleanType, JsonType::kFalse, "false");
  if (schema.types & kNumberType) add(NumberRule(schema, context_));
  if (schema.types & kStringType) add(StringRule(schema, context_));
  if (schema.types & kArrayType) add(ArrayRule(schema, context_));
  if (schema.types & kObjectType) add(Object(schema, clauses));
  if (!fault.ok() && !absl::IsInvalidArgument(fault)) return fault;
  if (alternatives.empty() && fault.ok())
    return InvalidAt(schema.at.Pointer(), "every value of the types left is excluded");
  if (alternatives.empty()) return fault;
  return builder_.Alt(std::move(alternatives));
}

// Claims about which members there are, or must be wrong somewhere, join the clauses.
absl::StatusOr<NodeId> SchemaCompiler::Object(const MergedSchema& schema, const Clauses& clauses) {
  Clauses all = clauses;
  std::vector<Claim> claims = schema.atoms;
  for (std::size_t i = 0; i < schema.own.size(); ++i) {
    for (const JsonValue& keyword : schema.locals[i]->dependent_required) {
      const Clauses said = formula_.Dependencies(schema.own[i], keyword);
      all.insert(all.end(), said.begin(), said.end());
    }
  }
  for (const Claim& claim : claims) {
    if (claim.kind == Kind::kSchema || IsCount(claim)) continue;
    const std::optional<Clauses> said = formula_.Of(claim);
    if (!said.has_value()) {
      return LimitExceeded(logic_.at(claim).Pointer(), "clauses of one object", kMaxClauses,
                           kMaxClauses + 1);
    }
    all.insert(all.end(), said->begin(), said->end());
  }
  const auto conditions =
      std::count_if(all.begin(), all.end(), [](const Clause& clause) { return clause.size() > 1; });
  if (conditions > static_cast<std::ptrdiff_t>(kMaxConditions)) {
    return LimitExceeded(schema.at.Pointer(), "conditions of one object", kMaxConditions,
                         conditions);
  }
  return ObjectRule(schema, all, context_);
}

absl::StatusOr<NodeId> SchemaCompiler::Literals(const MergedSchema& schema,
                                                const Conjunction& all) {
  const std::vector<JsonValue> values = FittingValues(schema, all);
  if (!values.empty()) return LiteralRule(values, SpellingOf(schema, context_.options), context_);
  const std::vector<JsonValue> listed = schema.ListedValues();
  assert(!listed.empty());
  const JsonValue at = listed.size() == 1 ? listed.front() : *listed.front().parent();
  return InvalidAt(at.Pointer(), "no value of it fits the schemas beside it");
}

std::vector<JsonValue> SchemaCompiler::FittingValues(const MergedSchema& schema,
                                                     const Conjunction& all) {
  std::vector<JsonValue> fitting;
  for (const JsonValue& value : schema.ListedValues()) {
    const absl::StatusOr<bool> fits = checker_.Fits(value, all, schema);
    if (!fits.ok()) Fail(fits.status());
    if (fits.ok() && *fits) fitting.push_back(value);
  }
  return fitting;
}

// As Body(), for names: a node of characters, and no rule, since a name is matched in one piece.
absl::StatusOr<NodeId> SchemaCompiler::StringLanguage(const Conjunction& all, int depth) {
  assert(depth >= 0 && depth <= kMaxStringDepth);
  Conjunction strings = choices_.Reduce(all);
  strings.types &= kStringType;
  const MergedSchema schema = Merge(logic_, strings);
  if (schema.types == kNoType) return builder_.Nothing();
  if (depth == kMaxStringDepth) {
    return LimitExceeded(schema.at.Pointer(), "choices within choices", kMaxStringDepth,
                         kMaxStringDepth + 1);
  }
  if (schema.has_listed_values()) {
    std::vector<std::string> texts;
    for (const JsonValue& value : FittingValues(schema, strings)) texts.emplace_back(value.text());
    return builder_.TextSet(texts);
  }
  if (strings.choices.empty()) {
    CheckSupported(schema);
    const absl::StatusOr<NodeId> characters = StringCharacters(schema, context_);
    return absl::IsInvalidArgument(characters.status()) ? builder_.Nothing() : characters;
  }
  const Claim opened = strings.choices.back();
  strings.choices.pop_back();
  std::vector<NodeId> branches;
  for (const std::vector<Claim>& way : choices_.AlternativesOf(opened)) {
    if (absl::Status status = budget_.Spend(); !status.ok()) return status;
    const absl::StatusOr<NodeId> branch = StringLanguage(logic_.Expand(way, strings), depth + 1);
    if (!branch.ok()) return branch;
    branches.push_back(*branch);
  }
  return builder_.Alt(std::move(branches));
}

}  // namespace maskd
