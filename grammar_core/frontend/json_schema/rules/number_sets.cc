// An interval is narrowed facet by facet and cut at the numbers that are ruled out; divisors are
// kept as they come. Whether anything is left is asked once, of the language of what was collected.
//
// Cost  a sort of the numbers that are ruled out, one NumberLanguage, and for each divisor a look
//       at those before it, taken from the budget.
#include "grammar_core/frontend/json_schema/rules/number_sets.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/base/error.h"
#include "grammar_core/base/sort_unique.h"
#include "grammar_core/frontend/json_schema/logic/number_facets.h"
#include "grammar_core/ir/number/number_language.h"

namespace maskd {
namespace {

using K = Keyword;

const Decimal& One() {
  static const auto* const one = new Decimal(ReadDecimal("1"));
  return *one;
}

// One end of the interval under construction, and the keyword that set it.
struct End {
  Decimal value;
  bool open;
  JsonValue at;
};

std::string Named(const JsonValue& keyword) {
  return absl::StrCat(keyword.key(), " ", keyword.Compact());
}

// Collects what the facets ask for, one by one.
class NumberCollector {
 public:
  explicit NumberCollector(RuleContext& context)
      : context_(context), spec_(AllNumbers(context.options)) {}

  void Take(const Facet& facet) {
    switch (facet.keyword) {
      case K::kMinimum:
      case K::kExclusiveMinimum:
      case K::kMaximum:
      case K::kExclusiveMaximum:
        return TakeBound(facet);
      case K::kMultipleOf:
        if (!context_.logic.Take(spec_.multiple_of.size() + spec_.not_multiple_of.size(),
                                 facet.at.id())) {
          return;
        }
        if (!TakeDivisor(ReadDecimal(facet.at.text()), facet.negated))
          return context_.refuse(facet.at, RefusedDivisor(facet.at));
        break;
      case K::kType:
        plain_ = true;
        break;
      case K::kConst:
      case K::kEnum:
        for (Decimal& number : NumbersIn(facet)) excluded_.push_back(std::move(number));
        break;
      default:
        return;
    }
    places_.push_back(facet.at);
  }

  // Canonical spelling writes an integer without a fraction, though 1.0 is one.
  void LeaveFractionsOut() { plain_ = true; }

  // There are never too many units, but they may be finer than the divisors allow.
  bool TakeDivisor(const Decimal& divisor, bool negated) {
    std::vector<Decimal>& divisors = negated ? spec_.not_multiple_of : spec_.multiple_of;
    divisors.push_back(divisor);
    const bool fits = NumberDivisors::Create(spec_).has_value();
    if (!fits) divisors.pop_back();
    return fits;
  }

  // Types alone leave some numbers, so there is a place where none are left.
  absl::StatusOr<NumberSpec> Finish() && {
    if (absl::Status status = CheckEnds(); !status.ok()) return status;
    spec_.intervals = Intervals();
    if (plain_) spec_.fraction_digits = spec_.exponent_digits = 0;
    if (!NumberLanguage::Create(spec_)->IsEmpty()) return std::move(spec_);
    std::vector<std::string> others;
    for (std::size_t i = 0; i + 1 < places_.size(); ++i) others.push_back(Named(places_[i]));
    return InvalidAt(places_.back().Pointer(),
                     absl::StrCat("no number satisfies ", places_.back().Compact(),
                                  others.empty() ? "" : " beside ", absl::StrJoin(others, ", ")));
  }

 private:
  // Not to be over is to be at most, and so on.
  void TakeBound(const Facet& facet) {
    const bool lower = facet.keyword == K::kMinimum || facet.keyword == K::kExclusiveMinimum;
    const bool open =
        facet.keyword == K::kExclusiveMinimum || facet.keyword == K::kExclusiveMaximum;
    const End end = {ReadDecimal(facet.at.text()), open != facet.negated, facet.at};
    std::optional<End>& known = lower != facet.negated ? min_ : max_;
    const bool narrows = !known.has_value() || (lower != facet.negated ? end.value > known->value
                                                                       : end.value < known->value);
    if (narrows || (end.value == known->value && end.open)) known = end;
    places_.push_back(facet.at);
    MakeRoomFor(end.value, &spec_);
  }

  // Ends that exclude one another are told apart from other ways to leave no number: the error then
  // names the two keywords and not all of them.
  [[nodiscard]] absl::Status CheckEnds() const {
    if (!min_.has_value() || !max_.has_value()) return absl::OkStatus();
    if (max_->value < min_->value) {
      return InvalidAt(max_->at.Pointer(),
                       absl::StrCat(max_->at.text(), " is less than ", Named(min_->at)));
    }
    if (max_->value == min_->value && (max_->open || min_->open)) {
      return InvalidAt(max_->at.Pointer(), absl::StrCat("nothing lies between ", Named(min_->at),
                                                        " and ", Named(max_->at)));
    }
    return absl::OkStatus();
  }

  // The interval between the ends, without the numbers that are excluded.
  std::vector<NumberInterval> Intervals() {
    NumberInterval rest;
    if (min_.has_value()) rest = {min_->value, std::nullopt, min_->open, false};
    SortUnique(&excluded_);
    std::vector<NumberInterval> intervals;
    for (Decimal& number : excluded_) {
      if (rest.min.has_value() && number < *rest.min) continue;
      if (max_.has_value() && number > max_->value) break;
      rest.max = number;
      rest.max_open = true;
      if (rest.min != rest.max) intervals.push_back(rest);
      rest = {std::move(number), std::nullopt, true, false};
    }
    if (max_.has_value()) {
      rest.max = max_->value;
      rest.max_open = max_->open;
    }
    if (!rest.min.has_value() || rest.min != rest.max || !(rest.min_open || rest.max_open))
      intervals.push_back(std::move(rest));
    return intervals;
  }

  RuleContext& context_;
  NumberSpec spec_;
  bool plain_ = false;  // neither fraction nor exponent
  std::optional<End> min_;
  std::optional<End> max_;
  std::vector<Decimal> excluded_;
  std::vector<JsonValue> places_;
};

}  // namespace

// Digits are bounded, since a text of digits without end would never have to close.
NumberSpec AllNumbers(const GrammarOptions& options) {
  NumberSpec spec;
  spec.integer_digits = static_cast<std::uint32_t>(options.max_number_digits);
  spec.fraction_digits = spec.integer_digits;
  return spec;
}

bool IsInteger(const MergedSchema& schema) { return (schema.types & kNumberType) == kIntegerType; }

// Plain digits write every number. What serializers write with an exponent is tried in addition.
NodeId WrittenNumbers(NumberSpec spec, RuleContext& context) {
  if (context.options.spelling == JsonSpelling::kAny)
    return context.builder.Number(std::move(spec));
  NumberSpec plain = spec;
  plain.exponent_digits = 0;
  plain.notation = NumberNotation::kPlain;
  if (spec.exponent_digits == 0) return context.builder.Number(std::move(plain));
  spec.integer_digits = 1;
  spec.notation = NumberNotation::kScientific;
  std::vector<NodeId> ways;
  for (NumberSpec* const way : {&plain, &spec}) {
    if (NumberLanguage::Create(*way)->IsEmpty()) continue;
    ways.push_back(context.builder.Number(std::move(*way)));
  }
  return context.builder.Alt(std::move(ways));
}

absl::StatusOr<NumberSpec> NumbersOf(const MergedSchema& schema, RuleContext& context) {
  NumberCollector collector(context);
  const TypeSet types = schema.types & kNumberType;
  if (types != kNumberType) collector.TakeDivisor(One(), types == kFractionType);
  if (context.options.spelling == JsonSpelling::kCanonical && IsInteger(schema))
    collector.LeaveFractionsOut();
  for (const Facet& facet : schema.facets) collector.Take(facet);
  return std::move(collector).Finish();
}

}  // namespace maskd
