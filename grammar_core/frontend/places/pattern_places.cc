// Every part of the pattern is a rule of the network, and every character of it a part that is
// named.
#include "grammar_core/frontend/places/pattern_places.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/regex/char_classes.h"
#include "grammar_core/frontend/regex/regex.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

using Kind = PatternSyntax::Kind;
using Way = PlaceNetwork::Way;

constexpr std::int64_t kMostWork = 300'000;

Way WayOf(Kind kind) {
  switch (kind) {
    case Kind::kTextBegin:
      return Way::kTextBegin;
    case Kind::kTextEnd:
      return Way::kTextEnd;
    case Kind::kBoundary:
      return Way::kBoundary;
    default:
      assert(kind == Kind::kNoBoundary && "the other parts are no conditions");
      return Way::kNoBoundary;
  }
}

}  // namespace

std::optional<PatternSyntax> ReadPatternSyntax(absl::string_view pattern) {
  if (pattern.size() > kMostPatternBytes) return std::nullopt;
  const Limits limits;
  Budget budget({.work = kMostWork});
  IrBuilder builder(limits);
  PatternSyntaxMaker maker;
  const auto read = ReadRegex(pattern, {.syntax = &maker}, limits, budget, builder);
  if (!read.ok()) return std::nullopt;
  return std::move(maker).Finish();
}

PlaceNetwork::RuleNo AddPattern(const PatternSyntax& syntax, const std::string& pointer,
                                bool at_begin, PlaceNetwork& network) {
  assert(!syntax.parts.empty() && "the last part is the whole pattern");
  std::vector<PlaceNetwork::RuleNo> rules;
  for (const PatternSyntax::Part& part : syntax.parts) {
    const PlaceNetwork::RuleNo rule = network.NewRule();
    const auto rule_of = [&](std::uint32_t id) {
      assert(id < rules.size() && "what a part holds stands before it");
      return rules[id];
    };
    std::vector<PlaceNetwork::RuleNo> parts;
    for (const std::uint32_t id : part.parts) parts.push_back(rule_of(id));
    rules.push_back(rule);
    switch (part.kind) {
      case Kind::kCharacters:
        network.SetPart(rule, {.pointer = pointer, .at = part.begin, .end = part.end});
        network.AddCharacters(rule, part.characters);
        break;
      case Kind::kSequence:
        network.AddChain(rule, parts);
        break;
      case Kind::kAlternatives:
        for (const PlaceNetwork::RuleNo each : parts) network.AddChain(rule, {each});
        break;
      case Kind::kRepeat:
        network.AddRepeat(rule, parts[0], part.min, part.max);
        break;
      case Kind::kLook:
        network.Approximate();
        network.AddCondition(rule, Way::kFree);
        break;
      default:
        // What stands around a pattern within another grammar is not known.
        if (!at_begin || part.kind == Kind::kBoundary || part.kind == Kind::kNoBoundary)
          network.Approximate();
        network.TellApart(WordChars());
        network.AddCondition(rule, at_begin ? WayOf(part.kind) : Way::kFree);
        break;
    }
  }
  return rules.back();
}

PlaceNetwork SearchNetwork(const PatternSyntax& syntax) {
  PlaceNetwork network;
  const PlaceNetwork::RuleNo before = network.NewRule();
  network.AddAnyText(before);
  const PlaceNetwork::RuleNo pattern = AddPattern(syntax, "", /*at_begin=*/true, network);
  const PlaceNetwork::RuleNo behind = network.NewRule();
  network.AddAnyText(behind);
  network.SetPart(behind, {.what = NextPart::What::kMarker});
  const PlaceNetwork::RuleNo whole = network.NewRule();
  network.AddChain(whole, {before, pattern, behind});
  network.SetStart(whole);
  return network;
}

std::vector<std::pair<std::size_t, std::size_t>> LookAroundsOf(const PatternSyntax& syntax) {
  std::vector<std::pair<std::size_t, std::size_t>> looks;
  for (const PatternSyntax::Part& part : syntax.parts)
    if (part.kind == Kind::kLook) looks.emplace_back(part.begin, part.end);
  // In the order of their ends: those that one holds stand before it.
  std::vector<std::pair<std::size_t, std::size_t>> outermost;
  for (auto look = looks.rbegin(); look != looks.rend(); ++look)
    if (outermost.empty() || look->second <= outermost.back().first) outermost.push_back(*look);
  std::ranges::reverse(outermost);
  return outermost;
}

}  // namespace maskd
