// A part that looks at its neighbours has a language for each pair of their kinds, nine in all. Two
// parts are joined by cases: whether each is empty, and of which kind the characters are that meet.
// Cases that give the same are not told apart.
//
// Invariant  `first` and `last` of a language hold each kind that a text of it can begin or end
//            with.
// Cost       nine languages a part at most; a pair is joined once for each kind of character
//            between them.
#include "grammar_core/frontend/regex/context_language.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "grammar_core/frontend/regex/char_classes.h"

namespace maskd {
namespace {

constexpr std::array kNeighbours = {Neighbour::kNone, Neighbour::kWord, Neighbour::kOther};
constexpr std::array kCharacters = {Neighbour::kWord, Neighbour::kOther};

constexpr std::uint8_t Bit(Neighbour kind) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(kind));
}
constexpr std::uint8_t kAnyKind = Bit(Neighbour::kWord) | Bit(Neighbour::kOther);

std::uint8_t KindsOf(const CharSet& chars) {
  const bool word = !chars.Intersect(WordChars()).empty();
  const bool other = !chars.Intersect(WordChars().Complement()).empty();
  return static_cast<std::uint8_t>((word ? Bit(Neighbour::kWord) : 0) |
                                   (other ? Bit(Neighbour::kOther) : 0));
}

// A table by a function of the two neighbours.
template <typename F>
ContextLanguage Tabulated(const F& in) {
  ContextLanguage::Table table;
  std::size_t i = 0;
  for (const Neighbour before : kNeighbours)
    for (const Neighbour after : kNeighbours) table[i++] = in(before, after);
  return ContextLanguage(table);
}

// Whether `x`, standing before `y`, is the same whatever of `y` comes after it.
bool SameBefore(const ContextLanguage& x, Neighbour before, Neighbour after) {
  const Language& here = x.In(before, after);
  return x.In(before, Neighbour::kWord) == here && x.In(before, Neighbour::kOther) == here;
}

bool SameAfter(const ContextLanguage& y, Neighbour before, Neighbour after) {
  const Language& here = y.In(before, after);
  return y.In(Neighbour::kWord, after) == here && y.In(Neighbour::kOther, after) == here;
}

}  // namespace

ContextLanguage::ContextLanguage(const Table& table) : everywhere_(table.front()) {
  const bool same = std::all_of(table.begin(), table.end(),
                                [&](const Language& in) { return in == table.front(); });
  if (!same) table_ = std::make_shared<const Table>(table);
}

bool ContextLanguage::DependsOnWords() const {
  return std::any_of(kNeighbours.begin(), kNeighbours.end(), [this](Neighbour n) {
    return !(In(Neighbour::kWord, n) == In(Neighbour::kOther, n)) ||
           !(In(n, Neighbour::kWord) == In(n, Neighbour::kOther));
  });
}

ContextAlgebra::ContextAlgebra(IrBuilder* builder)
    : builder_(builder),
      word_(builder->Chars(WordChars())),
      other_(builder->Chars(WordChars().Complement())),
      anything_(builder->Repeat(builder->AnyChar(), 0, kUnbounded)) {}

Language ContextAlgebra::NothingLanguage() const { return {builder_->Nothing(), false, 0, 0}; }

Language ContextAlgebra::EmptyLanguage() const { return {builder_->Empty(), true, 0, 0}; }

ContextLanguage ContextAlgebra::Empty() const { return ContextLanguage(EmptyLanguage()); }

ContextLanguage ContextAlgebra::Chars(const CharSet& chars) {
  const std::uint8_t kinds = KindsOf(chars);
  return ContextLanguage(Language{builder_->Chars(chars), false, kinds, kinds});
}

ContextLanguage ContextAlgebra::TextBegin() const {
  return Tabulated([&](Neighbour before, Neighbour) {
    return before == Neighbour::kNone ? EmptyLanguage() : NothingLanguage();
  });
}

ContextLanguage ContextAlgebra::TextEnd() const {
  return Tabulated([&](Neighbour, Neighbour after) {
    return after == Neighbour::kNone ? EmptyLanguage() : NothingLanguage();
  });
}

ContextLanguage ContextAlgebra::WordBoundary(bool negated) const {
  return Tabulated([&](Neighbour before, Neighbour after) {
    const bool boundary = (before == Neighbour::kWord) != (after == Neighbour::kWord);
    return boundary != negated ? EmptyLanguage() : NothingLanguage();
  });
}

ContextLanguage ContextAlgebra::Anything() {
  return ContextLanguage(Language{anything_, true, kAnyKind, kAnyKind});
}

Language ContextAlgebra::Join(const std::vector<Language>& parts) {
  Language all = EmptyLanguage();
  std::vector<NodeId> nodes;
  nodes.reserve(parts.size());
  for (const Language& part : parts) {
    nodes.push_back(part.node);
    if (all.nullable) all.first |= part.first;
    all.last = part.nullable ? static_cast<std::uint8_t>(all.last | part.last) : part.last;
    all.nullable = all.nullable && part.nullable;
  }
  all.node = builder_->Concat(nodes);
  return all.node == builder_->Nothing() ? NothingLanguage() : all;
}

Language ContextAlgebra::Union(const std::vector<Language>& parts) {
  Language all = NothingLanguage();
  std::vector<NodeId> nodes;
  nodes.reserve(parts.size());
  for (const Language& part : parts) {
    nodes.push_back(part.node);
    all.first |= part.first;
    all.last |= part.last;
    all.nullable = all.nullable || part.nullable;
  }
  all.node = builder_->Alt(std::move(nodes));
  return all;
}

Language ContextAlgebra::Power(const Language& part, std::uint32_t min, std::uint32_t max) {
  assert(min <= max);
  const NodeId node = builder_->Repeat(part.node, min, max);
  if (node == builder_->Nothing()) return NothingLanguage();
  if (node == builder_->Empty()) return EmptyLanguage();
  return {node, min == 0 || part.nullable, part.first, part.last};
}

Language ContextAlgebra::Both(const Language& x, const Language& y) {
  const NodeId node = builder_->And({x.node, y.node});
  if (node == builder_->Nothing()) return NothingLanguage();
  return {node, x.nullable && y.nullable, static_cast<std::uint8_t>(x.first & y.first),
          static_cast<std::uint8_t>(x.last & y.last)};
}

Language ContextAlgebra::BeginningWith(std::uint8_t kinds, const Language& language) {
  assert((kinds & ~kAnyKind) == 0 && kinds != 0);
  if ((language.first & kinds) == 0) return NothingLanguage();
  if (!language.nullable && (language.first & ~kinds) == 0) return language;
  const NodeId lead = kinds == kAnyKind                ? builder_->AnyChar()
                      : kinds == Bit(Neighbour::kWord) ? word_
                                                       : other_;
  const NodeId node = builder_->And({language.node, builder_->Concat({lead, anything_})});
  return {node, false, static_cast<std::uint8_t>(language.first & kinds), language.last};
}

Language ContextAlgebra::EndingWith(std::uint8_t kinds, const Language& language) {
  if ((language.last & kinds) == 0) return NothingLanguage();
  if (!language.nullable && (language.last & ~kinds) == 0) return language;
  assert(kinds == Bit(Neighbour::kWord) || kinds == Bit(Neighbour::kOther));
  const NodeId tail = kinds == Bit(Neighbour::kWord) ? word_ : other_;
  const NodeId node = builder_->And({language.node, builder_->Concat({anything_, tail})});
  return {node, false, language.first, static_cast<std::uint8_t>(language.last & kinds)};
}

Language ContextAlgebra::NonEmpty(const Language& language) {
  return BeginningWith(kAnyKind, language);
}

ContextLanguage ContextAlgebra::Sequence(const std::vector<ContextLanguage>& parts) {
  ContextLanguage all = Empty();
  std::vector<Language> run;
  const auto end_run = [&] {
    if (!run.empty()) all = Pair(all, ContextLanguage(Join(std::exchange(run, {}))));
  };
  for (const ContextLanguage& part : parts) {
    if (part.plain()) {
      run.push_back(part.In(Neighbour::kNone, Neighbour::kNone));
    } else {
      end_run();
      all = Pair(all, part);
    }
  }
  end_run();
  return all;
}

ContextLanguage ContextAlgebra::Pair(const ContextLanguage& x, const ContextLanguage& y) {
  if (x.plain() && y.plain()) {
    return ContextLanguage(
        Join({x.In(Neighbour::kNone, Neighbour::kNone), y.In(Neighbour::kNone, Neighbour::kNone)}));
  }
  return Tabulated([&](Neighbour before, Neighbour after) { return PairIn(x, y, before, after); });
}

Language ContextAlgebra::PairIn(const ContextLanguage& x, const ContextLanguage& y,
                                Neighbour before, Neighbour after) {
  const Language& x_here = x.In(before, after);
  const Language& y_here = y.In(before, after);
  const bool x_same = SameBefore(x, before, after);
  const bool y_same = SameAfter(y, before, after);
  if (x_same && y_same) return Join({x_here, y_here});
  std::vector<Language> ways;
  if (x_same) {
    // What is empty leaves y's neighbour as it was.
    if (x_here.nullable) ways.push_back(y_here);
    const bool y_word_same = y.In(Neighbour::kWord, after) == y.In(Neighbour::kOther, after);
    if (y_word_same) ways.push_back(Join({NonEmpty(x_here), y.In(Neighbour::kOther, after)}));
    for (const Neighbour last : kCharacters)
      if (!y_word_same) ways.push_back(Join({EndingWith(Bit(last), x_here), y.In(last, after)}));
  } else if (y_same) {
    if (y_here.nullable) ways.push_back(x_here);
    const bool x_word_same = x.In(before, Neighbour::kWord) == x.In(before, Neighbour::kOther);
    if (x_word_same) ways.push_back(Join({x.In(before, Neighbour::kOther), NonEmpty(y_here)}));
    for (const Neighbour first : kCharacters)
      if (!x_word_same)
        ways.push_back(Join({x.In(before, first), BeginningWith(Bit(first), y_here)}));
  } else {
    if (x_here.nullable && y_here.nullable) ways.push_back(EmptyLanguage());
    for (const Neighbour kind : kCharacters) {
      if (x.In(before, kind).nullable) ways.push_back(BeginningWith(Bit(kind), y_here));
      if (y.In(kind, after).nullable) ways.push_back(EndingWith(Bit(kind), x_here));
      for (const Neighbour first : kCharacters) {
        ways.push_back(Join({EndingWith(Bit(kind), x.In(before, first)),
                             BeginningWith(Bit(first), y.In(kind, after))}));
      }
    }
  }
  return Union(ways);
}

ContextLanguage ContextAlgebra::Alternatives(const std::vector<ContextLanguage>& parts) {
  const auto in = [&](Neighbour before, Neighbour after) {
    std::vector<Language> languages;
    languages.reserve(parts.size());
    for (const ContextLanguage& part : parts) languages.push_back(part.In(before, after));
    return Union(languages);
  };
  const bool plain = std::all_of(parts.begin(), parts.end(),
                                 [](const ContextLanguage& part) { return part.plain(); });
  return plain ? ContextLanguage(in(Neighbour::kNone, Neighbour::kNone)) : Tabulated(in);
}

std::optional<ContextLanguage> ContextAlgebra::Repeat(ContextLanguage part, std::uint32_t min,
                                                      std::uint32_t max) {
  assert(min <= max);
  if (max == 0) return Empty();
  if (min == 1 && max == 1) return part;
  if (part.plain())
    return ContextLanguage(Power(part.In(Neighbour::kNone, Neighbour::kNone), min, max));
  if (max > 1 && part.DependsOnWords()) return std::nullopt;
  return Tabulated(
      [&](Neighbour before, Neighbour after) { return RepeatIn(part, min, max, before, after); });
}

ContextLanguage ContextAlgebra::Intersection(const ContextLanguage& x, const ContextLanguage& y) {
  if (x.plain() && y.plain()) {
    return ContextLanguage(
        Both(x.In(Neighbour::kNone, Neighbour::kNone), y.In(Neighbour::kNone, Neighbour::kNone)));
  }
  return Tabulated([&](Neighbour before, Neighbour after) {
    return Both(x.In(before, after), y.In(before, after));
  });
}

ContextLanguage ContextAlgebra::Complement(const ContextLanguage& part) {
  return Tabulated([&](Neighbour before, Neighbour after) {
    const Language& in = part.In(before, after);
    const NodeId node = builder_->Not(in.node);
    if (node == builder_->Nothing()) return NothingLanguage();
    return Language{node, !in.nullable, kAnyKind, kAnyKind};
  });
}

ContextLanguage ContextAlgebra::AtTextEnd(const ContextLanguage& part) {
  if (part.plain()) return part;
  return Tabulated([&](Neighbour before, Neighbour) { return part.In(before, Neighbour::kNone); });
}

ContextLanguage ContextAlgebra::AtTextBegin(const ContextLanguage& part) {
  if (part.plain()) return part;
  return Tabulated([&](Neighbour, Neighbour after) { return part.In(Neighbour::kNone, after); });
}

// By the number of rounds that are not empty: none, one, or more. Rounds over the minimum may be
// empty, all at one place where the empty string matches: before, between or after the others. Only
// the first round that is not empty has the text's begin beside it, only the last one its end.
Language ContextAlgebra::RepeatIn(const ContextLanguage& part, std::uint32_t min, std::uint32_t max,
                                  Neighbour before, Neighbour after) {
  assert(max > 1 || min == 0);
  constexpr Neighbour kInside = Neighbour::kOther;
  const Language& only = part.In(before, after);
  const Language& first = part.In(before, kInside);
  const Language& middle = part.In(kInside, kInside);
  const Language& last = part.In(kInside, after);
  std::vector<Language> ways;
  if (min == 0 || only.nullable) ways.push_back(EmptyLanguage());
  if (min <= 1 || first.nullable || last.nullable) ways.push_back(NonEmpty(only));
  const bool some_empty = first.nullable || middle.nullable || last.nullable;
  const std::uint32_t rounds = some_empty ? 2 : std::max<std::uint32_t>(min, 2);
  if (max >= rounds) {
    const std::uint32_t more = max == kUnbounded ? kUnbounded : max - 2;
    ways.push_back(
        Join({NonEmpty(first), Power(NonEmpty(middle), rounds - 2, more), NonEmpty(last)}));
  }
  return Union(ways);
}

}  // namespace maskd
