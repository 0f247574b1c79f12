// const and enum as IR: each value in every spelling that the options allow.
//
// Values of one kind become one node (a set of texts, a set of numbers), so an enum of 100,000
// strings is one node and not a choice of 100,000. Arrays and objects are built from the leaves up,
// without recursion: children stand behind their parent in the document.
//
// Source  JSON Schema Validation 2020-12, sections 6.1.2 and 6.1.3.
#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "grammar_core/base/error.h"
#include "grammar_core/base/sort_unique.h"
#include "grammar_core/frontend/json_schema/rules/number_sets.h"
#include "grammar_core/ir/number/number_language.h"

namespace maskd {
namespace {

NodeId Quoted(NodeId characters, RuleContext& context) {
  IrBuilder& b = context.builder;
  return b.Concat({b.Bytes("\""), b.Encode(context.layout.spelling(), characters), b.Bytes("\"")});
}

bool IsCanonical(const RuleContext& context) {
  return context.options.spelling == JsonSpelling::kCanonical;
}

// In canonical spelling what the schema has in digits is written in digits.
NumberSpelling SpellingOf(const JsonValue& number, NumberSpelling spelling,
                          const RuleContext& context) {
  const bool digits = number.text().find_first_of(".eE") == absl::string_view::npos;
  return digits && IsCanonical(context) ? NumberSpelling::kPlain : spelling;
}

// What spells exactly these numbers.
NumberSpec SpecOf(std::vector<Decimal> values, NumberSpelling spelling, RuleContext& context) {
  NumberSpec spec = AllNumbers(context.options);
  SortUnique(&values);
  spec.intervals.clear();
  for (Decimal& value : values) {
    MakeRoomFor(value, &spec);
    spec.intervals.push_back({.min = value, .max = value});
  }
  if (spelling == NumberSpelling::kPlain) spec.fraction_digits = spec.exponent_digits = 0;
  if (spelling == NumberSpelling::kAny && IsCanonical(context)) {
    // What has no exponent in it is as long as this.
    spec.integer_digits = std::max<std::uint32_t>(spec.integer_digits, 16);
    spec.fraction_digits += 4;
  }
  return spec;
}

bool HasSpelling(const Decimal& value, NumberSpelling spelling, RuleContext& context) {
  constexpr std::int64_t kSurely = 300;  // by its exponent
  if (spelling == NumberSpelling::kAny && std::abs(value.magnitude()) < kSurely) return true;
  return !NumberLanguage::Create(SpecOf({value}, spelling, context))->IsEmpty();
}

// Exactly these numbers, in any order. One that takes more digits than there may be is refused.
NodeId OneOfNumbers(const std::vector<JsonValue>& values, NumberSpelling spelling,
                    RuleContext& context) {
  std::vector<Decimal> spelled;
  for (const JsonValue& value : values) {
    Decimal number = ReadDecimal(value.text());
    if (HasSpelling(number, spelling, context)) {
      spelled.push_back(std::move(number));
    } else {
      context.refuse(value, UnsupportedAt(value.Pointer(), "the number",
                                          "it takes more digits than a number may have"));
    }
  }
  if (spelled.empty()) return context.builder.Nothing();
  return WrittenNumbers(SpecOf(std::move(spelled), spelling, context), context);
}

NodeId OneOfTexts(const std::vector<std::string>& texts, IrBuilder& b) {
  assert(!texts.empty());
  if (texts.size() == 1) return b.Bytes(texts.front());
  return b.Encode(Spelling::kUtf8, b.TextSet(texts));
}

class LiteralMaker {
 public:
  explicit LiteralMaker(RuleContext& context) : context_(context), b_(context.builder) {}

  // Children stand behind their parent in the document, so they are made when it is reached from
  // the back.
  NodeId Make(const JsonValue& value) {
    std::vector<NodeId> made(value.subtree_end() - value.id());
    for (JsonId id = value.subtree_end(); id-- > value.id();) {
      const JsonValue part = value.at(id);
      std::vector<NodeId> children;
      for (const JsonValue child : part.children())
        children.push_back(made[child.id() - value.id()]);
      made[id - value.id()] = MakeOne(part, children);
    }
    return made.front();
  }

 private:
  NodeId MakeOne(const JsonValue& value, const std::vector<NodeId>& children) {
    assert(children.size() == value.size());
    if (value.is_string()) return Quoted(b_.Text(value.text()), context_);
    if (value.is_array()) return Listed('[', children);
    if (value.is_number()) {
      const NumberSpelling spelling = SpellingOf(value, NumberSpelling::kAny, context_);
      return OneOfNumbers({value}, spelling, context_);
    }
    if (!value.is_object()) return b_.Bytes(value.Compact());
    if (context_.options.property_order == PropertyOrder::kAny) return FreeOrder(value, children);
    return Listed('{', Members(value, children));
  }

  std::vector<NodeId> Members(const JsonValue& object, const std::vector<NodeId>& values) {
    assert(object.is_object() && values.size() == object.size());
    std::vector<NodeId> members;
    for (const JsonValue member : object.children()) {
      const NodeId name = Quoted(b_.Text(member.key()), context_);
      members.push_back(context_.layout.Member(name, values[members.size()]));
    }
    return members;
  }

  NodeId Listed(char open, const std::vector<NodeId>& elements) {
    std::vector<NodeId> parts;
    for (const NodeId element : elements) context_.layout.Append(element, &parts);
    return context_.layout.Container(open, parts, elements.empty());
  }

  // With members in any order, an object's value is an object node with required members.
  NodeId FreeOrder(const JsonValue& object, const std::vector<NodeId>& values) {
    ObjectSpec spec;
    for (const JsonValue member : object.children())
      spec.members.push_back({std::string(member.key()), values[spec.members.size()], true});
    context_.layout.Apply(&spec);
    spec.any_order = true;
    return b_.Object(std::move(spec));
  }

  RuleContext& context_;
  IrBuilder& b_;
};

}  // namespace

NumberSpelling SpellingOf(const MergedSchema& schema, const GrammarOptions& options) {
  if (options.spelling == JsonSpelling::kCanonical && IsInteger(schema))
    return NumberSpelling::kPlain;
  const bool plain =
      std::any_of(schema.facets.begin(), schema.facets.end(),
                  [](const Facet& facet) { return facet.keyword == Keyword::kType; });
  return plain ? NumberSpelling::kPlain : NumberSpelling::kAny;
}

// Strings are one set, and so are numbers and the other scalars: a set of 100,000 is one node.
NodeId LiteralRule(const std::vector<JsonValue>& values, NumberSpelling spelling,
                   RuleContext& context) {
  IrBuilder& b = context.builder;
  std::vector<std::string> strings;
  std::map<NumberSpelling, std::vector<JsonValue>> numbers;
  std::vector<std::string> scalars;
  std::vector<NodeId> alternatives;
  for (const JsonValue& value : values)
    if (value.is_string())
      strings.emplace_back(value.text());
    else if (value.is_array() || value.is_object())
      alternatives.push_back(LiteralMaker(context).Make(value));
    else if (value.is_number())
      numbers[SpellingOf(value, spelling, context)].push_back(value);
    else
      scalars.push_back(value.Compact());
  if (!strings.empty()) alternatives.push_back(Quoted(b.TextSet(strings), context));
  for (const auto& [written, listed] : numbers)
    alternatives.push_back(OneOfNumbers(listed, written, context));
  if (!scalars.empty()) alternatives.push_back(OneOfTexts(scalars, b));
  return b.Alt(std::move(alternatives));
}

}  // namespace maskd
