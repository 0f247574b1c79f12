// A U-label is a row of elements: a starter or a vowel with its marks, at most one of each group
// and in the order of the groups. So a set of character classes says normal form, combining order
// and the context rules of joiners. Lengths in Punycode are no regular set; a bound of characters
// stands for them, below which every label is short enough.
//
// Invariant  every text of the set is a valid name; some long valid ones are left out.
// Cost       a fixed number of nodes, whatever the schema.
// Source     RFC 5890 to 5893 (IDNA 2008, its Bidi rule), RFC 3492 (Punycode); idna_tables.cc.
#include "grammar_core/frontend/json_schema/formats/idn_names.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "grammar_core/frontend/json_schema/formats/idna_tables.h"

namespace maskd {
namespace {

// Labels of a name with U-labels at most: none has more than 60 octets as an A-label, so that a
// name has no more than 253.
constexpr std::uint32_t kMaxLabels = 4;

// Characters of a label at most, so that Punycode (RFC 3492) makes no more than 56 digits of those
// beyond ASCII, or of fewer of them and one character for each other and a hyphen. A difference
// takes 3, 4, 5, 6 digits only if it is at least 36, 1261, 44136, 1543501, whatever the bias; and
// the sum of all is less than the width of the range times one more than the label's characters:
// 0x32400 for all that a label may hold, 0x680 up to U+06FF.
constexpr std::uint32_t kMostAny = 11;
constexpr std::uint32_t kMostLow = 14;
constexpr std::uint32_t kLowEnd = 0x6FF;
constexpr std::uint32_t kMostAscii = 60;

CharSet Idna(IdnaSet set) {
  const absl::Span<const CharRange> ranges = IdnaRanges(set);
  return CharSet(std::vector<CharRange>(ranges.begin(), ranges.end()));
}

CharSet MarkGroup(int group) {
  return Idna(static_cast<IdnaSet>(static_cast<int>(IdnaSet::kMarks) + group));
}

CharSet Without(const CharSet& set, const CharSet& less) {
  return set.Intersect(less.Complement());
}

// Labels by their direction. An element is a starter or vowel and its marks, at most one of each
// group.
class Labels {
 public:
  Labels(Composition composition, FormatMaker& maker)
      : composition_(composition),
        maker_(maker),
        b_(maker.builder()),
        hyphen_(b_.Optional(b_.Text("-"))) {}

  // Without characters from right to left. U+30FB stands in a label with kana or Han: here, in one
  // that begins with them, or with it.
  NodeId LeftToRight() {
    MakeMarks(CharSet::All());
    AddJoiners();
    const CharSet kana = Idna(IdnaSet::kKanaAndHan);
    const NodeId any = FirstElement(CharSet::All());
    const NodeId more = b_.Alt({any, b_.Concat({b_.Text("-"), any}), Vowel()});
    const NodeId dot = b_.Chars(CharSet::One(0x30FB));
    return b_.Alt({b_.Concat({FirstElement(kana.Complement()), Any(more)}),
                   b_.Concat({Any(dot), FirstElement(kana), Any(b_.Alt({more, dot}))})});
  }

  // With such characters; digits are of one kind.
  NodeId RightToLeft() {
    MakeMarks(Idna(IdnaSet::kNonspacingMarks));
    const CharSet plain = Idna(IdnaSet::kRtlStarters);
    const CharSet composing = Idna(IdnaSet::kRtlComposingStarters);
    const NodeId geresh = b_.Concat(
        {b_.Chars(plain.Intersect(Idna(IdnaSet::kHebrew))), b_.Chars(CharSet({{0x5F3, 0x5F4}}))});
    const NodeId element = b_.Alt({Element(plain, composing), geresh, Joined(plain, composing)});
    std::vector<NodeId> ways;
    for (const absl::string_view digits : {R"([0-9\u{6F0}-\u{6F9}])", R"([\u{660}-\u{669}])"}) {
      const NodeId next = b_.Alt({element, maker_.Regex(digits)});
      ways.push_back(b_.Concat({element, Any(b_.Concat({hyphen_, next}))}));
    }
    return b_.Alt(std::move(ways));
  }

 private:
  NodeId Any(NodeId node) { return b_.Repeat(node, 0, kUnbounded); }

  CharSet Starters() { return Idna(IdnaSet::kStarters).Union(CharSet({{0x6F0, 0x6F9}})); }
  CharSet Composing() { return Idna(IdnaSet::kComposingStarters); }

  void MakeMarks(const CharSet& of) {
    const CharSet composing =
        composition_ == Composition::kNfc ? Idna(IdnaSet::kComposingMarks) : CharSet();
    std::vector<NodeId> all;
    std::vector<NodeId> some;
    for (int group = 0; group < kMarkGroups; ++group) {
      const CharSet marks = MarkGroup(group).Intersect(of);
      all.push_back(b_.Optional(b_.Chars(marks)));
      some.push_back(b_.Optional(b_.Chars(Without(marks, composing))));
    }
    marks_ = b_.Concat(all);
    marks_of_composing_ = b_.Concat(some);
  }

  // A joiner stands behind a virama. Not from right to left: there a label must not end with one.
  void AddJoiners() {
    const CharSet nuktas = Without(MarkGroup(kViramas - 1), Idna(IdnaSet::kComposingMarks));
    const NodeId joiner = b_.Concat({b_.Optional(b_.Chars(nuktas)), b_.Chars(MarkGroup(kViramas)),
                                     b_.Chars(CharSet({{0x200C, 0x200D}}))});
    marks_ = b_.Alt({marks_, joiner});
    marks_of_composing_ = b_.Alt({marks_of_composing_, joiner});
  }

  NodeId Element(const CharSet& plain, const CharSet& composing) {
    return b_.Alt({b_.Concat({b_.Chars(plain), marks_}),
                   b_.Concat({b_.Chars(composing), marks_of_composing_})});
  }

  // That begins with a character of `of`.
  NodeId FirstElement(const CharSet& of) {
    const CharSet greek = Idna(IdnaSet::kGreek);
    std::vector<NodeId> ways = {WithJoiningVowels(Starters().Intersect(of)),
                                Element(CharSet(), Composing().Intersect(of))};
    // U+00B7 between two l, U+0375 before Greek.
    if (of.Contains('l')) {
      ways.push_back(b_.Concat(
          {b_.Repeat(b_.Text("l\xC2\xB7"), 1, kUnbounded), Element(CharSet(), CharSet::One('l'))}));
      ways.push_back(b_.Concat({b_.Text("\xCD\xB5"), Element(Starters().Intersect(greek),
                                                             Composing().Intersect(greek))}));
    }
    return b_.Alt(std::move(ways));
  }

  NodeId Vowel() {
    return b_.Alt({WithJoiningVowels(Idna(IdnaSet::kVowels)),
                   Element(CharSet(), Idna(IdnaSet::kComposingVowels))});
  }

  NodeId WithJoiningVowels(const CharSet& set) {
    const NodeId vowel = b_.Concat({b_.Chars(Idna(IdnaSet::kJoiningVowels)), marks_});
    return b_.Concat({b_.Chars(set), marks_, Any(vowel)});
  }

  // U+200C between letters that would join.
  NodeId Joined(const CharSet& plain, const CharSet& composing) {
    const CharSet dual = Idna(IdnaSet::kDualJoining);
    const CharSet right = dual.Union(Idna(IdnaSet::kRightJoining));
    const NodeId non_joiner = b_.Chars(CharSet::One(0x200C));
    const NodeId before = Transparent(plain.Intersect(dual), composing.Intersect(dual));
    const NodeId after = Element(plain.Intersect(right), composing.Intersect(right));
    return b_.Concat({b_.Repeat(b_.Concat({before, non_joiner}), 1, kUnbounded), after});
  }

  // An element of which the marks are transparent: here those that compose with nothing.
  NodeId Transparent(const CharSet& plain, const CharSet& composing) {
    const CharSet through =
        Without(Idna(IdnaSet::kTransparent).Intersect(Idna(IdnaSet::kNonspacingMarks)),
                Idna(IdnaSet::kComposingMarks));
    std::vector<NodeId> element = {b_.Chars(plain.Union(composing))};
    for (int group = 0; group < kMarkGroups; ++group)
      element.push_back(b_.Optional(b_.Chars(MarkGroup(group).Intersect(through))));
    return b_.Concat(element);
  }

  const Composition composition_;
  FormatMaker& maker_;
  IrBuilder& b_;
  const NodeId hyphen_;
  NodeId marks_ = 0;
  NodeId marks_of_composing_ = 0;
};

// What is short enough for Punycode.
NodeId ShortEnough(IrBuilder& b) {
  return b.Alt({b.Repeat(b.AnyChar(), 1, kMostAny),
                b.Repeat(b.Chars(CharSet({{0, kLowEnd}})), 1, kMostLow),
                b.Repeat(b.Chars(CharSet({{0, 0x7F}})), 1, kMostAscii)});
}

}  // namespace

// In a name with a label from right to left every label keeps the rule of RFC 5893; those that
// begin with a letter of ASCII do.
NodeId IdnNames(NodeId dot, Composition composition, FormatMaker& maker) {
  IrBuilder& b = maker.builder();
  const auto names = [&](NodeId label, absl::string_view ascii) {
    const NodeId any = b.And({b.Alt({label, maker.Regex(ascii)}), ShortEnough(b)});
    return b.Concat({any, b.Repeat(b.Concat({dot, any}), 0, kMaxLabels - 1)});
  };
  Labels labels(composition, maker);
  return b.Alt({names(labels.LeftToRight(), "[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*"),
                names(labels.RightToLeft(), "[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*")});
}

}  // namespace maskd
