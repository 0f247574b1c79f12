// A look-ahead is an intersection with all that may come behind it. So a sequence with one in it is
// joined from its end: the rest is known first, and each part in front of it is extended by the
// rest. Look-behinds are the same from the begin.
//
// Invariant  a part is plain once nothing in it looks around; plain parts are joined by
//            ContextAlgebra alone.
// Cost       a part is read once for each rest that it meets, within limits.look_around_parts.
#include "grammar_core/frontend/regex/look_around.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>
#include <memory>
#include <utility>

#include "grammar_core/ir/ir_views.h"

namespace maskd {
namespace {

using Kind = LookingPart::Kind;

constexpr std::array kNeighbours = {Neighbour::kNone, Neighbour::kWord, Neighbour::kOther};

Side Opposite(Side side) { return side == Side::kAhead ? Side::kBehind : Side::kAhead; }

// The texts of a node that is a choice of at most kMaxKnownTexts; else none.
constexpr std::size_t kMaxKnownTexts = 16;
std::vector<std::u32string> KnownTexts(const IrBuilder& builder, NodeId node) {
  const IrNode& n = builder.node(node);
  const GrammarIr& ir = builder.ir();
  std::vector<std::u32string> texts;
  if (n.kind == IrKind::kText) texts = {TextOf(ir, n)};
  if (n.kind == IrKind::kTextSet) texts = TextSetOf(ir, n);
  if (texts.size() > kMaxKnownTexts) return {};
  return texts;
}

// What `node` is a choice of, an optional part being one of it and of nothing.
std::vector<NodeId> ChoicesOf(const IrBuilder& builder, NodeId node, NodeId empty) {
  std::vector<NodeId> choices;
  std::vector<NodeId> open = {node};
  while (!open.empty()) {
    const NodeId next = open.back();
    open.pop_back();
    const IrNode& n = builder.node(next);
    const bool optional = n.kind == IrKind::kRepeat && AsRepeat(n).min == 0 && AsRepeat(n).max == 1;
    if (optional) choices.push_back(empty);
    if (optional || n.kind == IrKind::kAlt) {
      const auto first = builder.ir().children.begin() + n.first_child;
      open.insert(open.end(), first, first + n.child_count);
    } else {
      choices.push_back(next);
    }
  }
  return choices;
}

// Whether a text of `node` begins with `text`, by the text that all of them begin with; nothing
// where that does not tell.
std::optional<bool> BeginsByText(const IrBuilder& builder, NodeId node,
                                 const std::u32string& text) {
  const GrammarIr& ir = builder.ir();
  const IrNode* n = &builder.node(node);
  bool whole = true;
  if (n->kind == IrKind::kConcat) {
    whole = false;
    n = &builder.node(ir.children[n->first_child]);
  }
  if (n->kind == IrKind::kEmpty) return false;
  if (n->kind != IrKind::kText) return std::nullopt;
  const std::u32string& begin = TextOf(ir, *n);
  if (begin.size() >= text.size()) return begin.compare(0, text.size(), text) == 0;
  if (whole || text.compare(0, begin.size(), begin) != 0) return false;
  return std::nullopt;
}

}  // namespace

LookAround::LookAround(IrBuilder* builder, ContextAlgebra* algebra, const PatternCursor* cursor,
                       const Limits& limits, Budget* budget)
    : builder_(builder),
      algebra_(algebra),
      cursor_(cursor),
      limits_(limits),
      budget_(budget),
      facts_(builder, budget),
      anything_(algebra->Anything()) {}

absl::Status LookAround::Step(const PatternPart& part) {
  if (!part.plain()) last_at_ = part.looking->at;
  if (absl::Status status = budget_->Spend(); !status.ok()) return status;
  if (!builder_->status().ok()) return builder_->status();
  if (++steps_ <= limits_.look_around_parts) return absl::OkStatus();
  return cursor_->Limit(last_at_, "look_around_parts", limits_.look_around_parts, steps_);
}

bool LookAround::IsAnything(const ContextLanguage& language) const {
  return language.plain() && language.Whole() == anything_.Whole();
}

Widths LookAround::WidthsOf(const ContextLanguage& language) {
  std::optional<Widths> all;
  for (const Neighbour before : kNeighbours) {
    for (const Neighbour after : kNeighbours) {
      const NodeId node = language.In(before, after).node;
      if (node == builder_->Nothing()) continue;
      const Widths here = facts_.WidthsOf(node);
      all = all.has_value() ? all->Or(here) : here;
    }
  }
  return all.value_or(Widths{0, 0});
}

Widths LookAround::WidthsOf(const PatternPart& part) {
  return part.plain() ? WidthsOf(part.language) : part.looking->widths;
}

PatternPart LookAround::Composite(Kind kind, std::vector<PatternPart> parts) {
  auto made = std::make_unique<LookingPart>(LookingPart{.kind = kind, .at = 0});
  bool placed = false;
  for (const PatternPart& part : parts) {
    if (part.plain()) continue;
    made->looks_ahead = made->looks_ahead || part.looking->looks_ahead;
    made->looks_behind = made->looks_behind || part.looking->looks_behind;
    if (!std::exchange(placed, true)) made->at = part.looking->at;
  }
  made->parts = std::move(parts);
  return {algebra_->Empty(), std::move(made)};
}

std::vector<PatternPart> LookAround::RunsJoined(std::vector<PatternPart> parts) {
  std::vector<PatternPart> joined;
  std::vector<ContextLanguage> run;
  const auto end_run = [&] {
    if (!run.empty()) joined.push_back({algebra_->Sequence(std::exchange(run, {}))});
  };
  for (PatternPart& part : parts) {
    if (part.plain()) {
      run.push_back(std::move(part.language));
    } else {
      end_run();
      joined.push_back(std::move(part));
    }
  }
  end_run();
  return joined;
}

PatternPart LookAround::Sequence(std::vector<PatternPart> parts) {
  parts = RunsJoined(std::move(parts));
  if (parts.size() > 1) {
    NarrowToOneSide(Side::kAhead, &parts);
    NarrowToOneSide(Side::kBehind, &parts);
    parts = RunsJoined(std::move(parts));
  }
  if (parts.empty()) return {algebra_->Empty()};
  if (parts.size() == 1) return std::move(parts.front());
  Widths widths = {0, 0};
  for (const PatternPart& part : parts) widths = widths.Then(WidthsOf(part));
  PatternPart made = Composite(Kind::kSequence, std::move(parts));
  made.looking->widths = widths;
  return made;
}

// The look's own place is dropped: neighbours that look, too, are at the same place.
void LookAround::NarrowToOneSide(Side side, std::vector<PatternPart>* parts) {
  assert(!parts->empty() && "narrowing to the other side may leave one");
  if (side == Side::kAhead) std::reverse(parts->begin(), parts->end());
  std::vector<PatternPart> kept;
  std::optional<std::size_t> beside;  // the plain part that looks at this place see
  for (PatternPart& part : *parts) {
    if (part.is_look() && part.looking->looks(side) && beside.has_value() &&
        WidthsOf(kept[*beside]).min >= part.looking->reach) {
      kept[*beside].language = algebra_->Intersection(kept[*beside].language, part.language);
      continue;
    }
    if (part.plain())
      beside = kept.size();
    else if (!part.is_look())
      beside.reset();
    kept.push_back(std::move(part));
  }
  if (side == Side::kAhead) std::reverse(kept.begin(), kept.end());
  *parts = std::move(kept);
}

PatternPart LookAround::Alternatives(std::vector<PatternPart> parts) {
  assert(!parts.empty());
  std::vector<ContextLanguage> plain;
  std::vector<PatternPart> kept;
  for (PatternPart& part : parts)
    if (part.plain())
      plain.push_back(std::move(part.language));
    else
      kept.push_back(std::move(part));
  if (!plain.empty()) kept.push_back({algebra_->Alternatives(plain)});
  if (kept.size() == 1) return std::move(kept.front());
  Widths widths = WidthsOf(kept.front());
  for (const PatternPart& part : kept) widths = widths.Or(WidthsOf(part));
  PatternPart made = Composite(Kind::kAlternatives, std::move(kept));
  made.looking->widths = widths;
  return made;
}

std::optional<PatternPart> LookAround::Repeat(PatternPart part, std::uint32_t min,
                                              std::uint32_t max, std::size_t at) {
  assert(min <= max);
  if (part.plain()) {
    std::optional<ContextLanguage> repeated = algebra_->Repeat(std::move(part.language), min, max);
    if (!repeated.has_value()) return std::nullopt;
    return PatternPart{*std::move(repeated)};
  }
  if (max == 0) return PatternPart{algebra_->Empty()};
  if (min == 1 && max == 1) return part;
  const Widths widths = WidthsOf(part);
  // All rounds are at the same place.
  if (widths.max == 0) return min == 0 ? PatternPart{algebra_->Empty()} : std::move(part);
  CharSet characters;
  if (widths == Widths{1, 1}) characters = CharactersOf(part);
  std::vector<PatternPart> parts;
  parts.push_back(std::move(part));
  PatternPart made = Composite(Kind::kRepeat, std::move(parts));
  made.looking->at = at;
  made.looking->min = min;
  made.looking->max = max;
  made.looking->widths = widths.Times(min, max);
  made.looking->characters = std::move(characters);
  return made;
}

absl::StatusOr<PatternPart> LookAround::Look(Side side, bool negated, const PatternPart& body,
                                             std::size_t at) {
  absl::StatusOr<ContextLanguage> seen = Extended(side, body, anything_);
  if (!seen.ok()) return seen.status();
  if (negated) seen = algebra_->Complement(*seen);
  if (IsAnything(*seen)) return PatternPart{algebra_->Empty()};
  auto look = std::make_unique<LookingPart>(LookingPart{.kind = Kind::kLook, .at = at});
  (side == Side::kAhead ? look->looks_ahead : look->looks_behind) = true;
  if (body.plain() && body.language.plain()) {
    look->reach = WidthsOf(body).max;
    if (negated) look->excluded = KnownTexts(*builder_, body.language.Whole().node);
  }
  return PatternPart{*std::move(seen), std::move(look)};
}

ContextLanguage LookAround::Joined(Side side, const ContextLanguage& part,
                                   const ContextLanguage& rest) {
  return side == Side::kAhead ? ContextAlgebra::AtTextEnd(algebra_->Pair(part, rest))
                              : ContextAlgebra::AtTextBegin(algebra_->Pair(rest, part));
}

absl::StatusOr<ContextLanguage> LookAround::Extended(Side side, const PatternPart& part,
                                                     ContextLanguage rest) {
  if (absl::Status status = Step(part); !status.ok()) return status;
  if (part.plain()) return Joined(side, part.language, rest);
  const LookingPart& looking = *part.looking;
  if (looking.looks(Opposite(side))) {
    return cursor_->Unsupported(looking.at, side == Side::kAhead
                                                ? "look-behind in a look-ahead"
                                                : "look-ahead in or before a look-behind");
  }
  switch (looking.kind) {
    case Kind::kLook:
      return algebra_->Intersection(rest, part.language);
    case Kind::kSequence:
      for (std::size_t i = 0; i < looking.parts.size(); ++i) {
        const std::size_t nearest = side == Side::kAhead ? looking.parts.size() - 1 - i : i;
        absl::StatusOr<ContextLanguage> longer =
            Extended(side, looking.parts[nearest], std::move(rest));
        if (!longer.ok()) return longer.status();
        rest = *std::move(longer);
      }
      return rest;
    case Kind::kAlternatives:
      return ExtendedByAny(side, looking, rest);
    case Kind::kRepeat:
      return ExtendedByRounds(side, looking, std::move(rest));
  }
  return rest;
}

absl::StatusOr<ContextLanguage> LookAround::ExtendedByAny(Side side, const LookingPart& part,
                                                          const ContextLanguage& rest) {
  std::vector<ContextLanguage> ways;
  for (const PatternPart& alternative : part.parts) {
    absl::StatusOr<ContextLanguage> way = Extended(side, alternative, rest);
    if (!way.ok()) return way.status();
    ways.push_back(*std::move(way));
  }
  return algebra_->Alternatives(ways);
}

absl::StatusOr<ContextLanguage> LookAround::ExtendedByRounds(Side side, const LookingPart& part,
                                                             ContextLanguage rest) {
  if (!part.characters.empty() && part.characters.Intersect(NearestOf(side, rest)).empty())
    return ExtendedByCharacters(side, part, rest);
  if (side == Side::kAhead) {
    std::optional<ContextLanguage> all = ExtendedByOthers(part, rest);
    if (all.has_value()) return *std::move(all);
  }
  // In front of anything, rounds over the least are no more than that.
  const std::uint32_t max = IsAnything(rest) ? part.min : part.max;
  if (max == kUnbounded) return cursor_->Unsupported(part.at, "endless repetition of look-around");
  ContextLanguage all = rest;
  for (std::uint32_t round = max; round > 0; --round) {
    absl::StatusOr<ContextLanguage> more = Extended(side, part.parts.front(), std::move(all));
    if (!more.ok()) return more.status();
    all = round > part.min ? algebra_->Alternatives({rest, *more}) : *std::move(more);
  }
  return all;
}

// The rounds end where the first other character stands, or the text. So the text is some of the
// characters and `rest`, and from none of the characters before that on may it be other than a
// round and anything behind it.
absl::StatusOr<ContextLanguage> LookAround::ExtendedByCharacters(Side side, const LookingPart& part,
                                                                 const ContextLanguage& rest) {
  assert(!part.characters.empty());
  const absl::StatusOr<ContextLanguage> round = Extended(side, part.parts.front(), anything_);
  if (!round.ok()) return round.status();
  const ContextLanguage character = algebra_->Chars(part.characters);
  const ContextLanguage before = *algebra_->Repeat(character, 0, kUnbounded);
  const ContextLanguage fault =
      algebra_->Intersection(Joined(side, character, anything_), algebra_->Complement(*round));
  const ContextLanguage rounds = *algebra_->Repeat(character, part.min, part.max);
  return algebra_->Intersection(Joined(side, rounds, rest),
                                algebra_->Complement(Joined(side, before, fault)));
}

std::optional<bool> LookAround::BeginsWith(const ContextLanguage& rest,
                                           const std::u32string& text) {
  assert(!text.empty() && rest.plain());
  std::optional<bool> all;
  for (const NodeId choice : ChoicesOf(*builder_, rest.Whole().node, builder_->Empty())) {
    const bool cannot = !facts_.CharsAt(TextEdge::kFirst, choice).Contains(text.front());
    const std::optional<bool> begins =
        cannot ? std::optional<bool>(false) : BeginsByText(*builder_, choice, text);
    if (!begins.has_value() || (all.has_value() && all != begins)) return std::nullopt;
    all = begins;
  }
  return all;
}

ContextLanguage LookAround::TextOf(const std::u32string& text) {
  std::vector<ContextLanguage> characters;
  for (const char32_t c : text) characters.push_back(algebra_->Chars(CharSet::One(c)));
  return algebra_->Sequence(characters);
}

// Then the rounds are characters that hold none of the texts and end with no beginning of one that
// `rest` would complete.
std::optional<ContextLanguage> LookAround::ExtendedByOthers(const LookingPart& part,
                                                            const ContextLanguage& rest) {
  const PatternPart& body = part.parts.front();
  assert(part.kind == Kind::kRepeat && part.parts.size() == 1);
  if (!rest.plain() || body.plain() || body.looking->kind != Kind::kSequence) return std::nullopt;
  const std::vector<PatternPart>& parts = body.looking->parts;
  const ContextLanguage& character = parts.back().language;
  if (!parts.back().plain() || !character.plain() || WidthsOf(parts.back()) != Widths{1, 1})
    return std::nullopt;
  ContextLanguage rounds = *algebra_->Repeat(character, part.min, part.max);
  const auto exclude = [&](const std::vector<ContextLanguage>& sequence) {
    rounds = algebra_->Intersection(rounds, algebra_->Complement(algebra_->Sequence(sequence)));
  };
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (!parts[i].is_look() || parts[i].looking->excluded.empty()) return std::nullopt;
    for (const std::u32string& text : parts[i].looking->excluded) {
      exclude({anything_, TextOf(text), anything_});
      for (std::size_t cut = 1; cut < text.size(); ++cut) {
        const std::optional<bool> completed = BeginsWith(rest, text.substr(cut));
        if (!completed.has_value()) return std::nullopt;
        if (*completed) exclude({anything_, TextOf(text.substr(0, cut))});
      }
    }
  }
  return algebra_->Pair(rounds, rest);
}

CharSet LookAround::NearestOf(Side side, const ContextLanguage& rest) {
  const TextEdge edge = side == Side::kAhead ? TextEdge::kFirst : TextEdge::kLast;
  CharSet all;
  for (const Neighbour near : kNeighbours) {
    const Language& here =
        side == Side::kAhead ? rest.In(near, Neighbour::kNone) : rest.In(Neighbour::kNone, near);
    all = all.Union(facts_.CharsAt(edge, here.node));
  }
  return all;
}

// The characters of a part that takes one.
CharSet LookAround::CharactersOf(const PatternPart& part) {
  CharSet all;
  if (part.plain()) {
    for (const Neighbour before : kNeighbours)
      for (const Neighbour after : kNeighbours)
        all = all.Union(facts_.CharsAt(TextEdge::kFirst, part.language.In(before, after).node));
    return all;
  }
  if (part.looking->kind == Kind::kRepeat) return part.looking->characters;
  for (const PatternPart& inner : part.looking->parts) all = all.Union(CharactersOf(inner));
  return all;
}

}  // namespace maskd
