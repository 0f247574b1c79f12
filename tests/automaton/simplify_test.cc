// What the store makes of terms, in two columns: what was asked for, and the term that it is.
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/terms/term_printer.h"
#include "grammar_core/terms/term_store.h"
#include "tests/automaton/character_terms.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

// What makes a term of either level, to be printed.
class Make {
 public:
  template <typename MakeTerm>
  Make(MakeTerm make)
      : print_([make](TermStore& store) { return PrintTerm(store, make(store)); }) {}
  std::string operator()(TermStore& store) const { return print_(store); }

 private:
  std::function<std::string(TermStore& store)> print_;
};

struct Row {
  std::string name;
  Make make;
  std::string is;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

// Bytes a, b, c and what may be made of them.
TermId A(TermStore& s) { return s.Byte('a'); }
TermId B(TermStore& s) { return s.Byte('b'); }
TermId C(TermStore& s) { return s.Byte('c'); }
TermId Bytes(TermStore& s, const std::string& text) {
  TermId all = kEmptyTerm;
  for (auto c = text.rbegin(); c != text.rend(); ++c)
    all = s.Cat(s.Byte(static_cast<unsigned char>(*c)), all);
  return all;
}

// Letters up to three times, no letter, and letters two to five times.
CharTerm Few(TermStore& s) { return s.Repeat(s.CharSet(1), 0, 3); }
CharTerm NoLetter(TermStore& s) { return s.Not(s.CharSet(1)); }
CharTerm Some(TermStore& s) { return s.Repeat(s.CharSet(1), 2, 5); }
TermId Utf8(TermStore& s, CharTerm characters) { return s.Encode(characters, {Spelling::kUtf8}); }
TermId Json(TermStore& s, CharTerm text) { return s.Encode(text, {Spelling::kJsonString}); }

class SimplifyTest : public testing::TestWithParam<Row> {
 protected:
  CharacterTerms terms_ = Terms();

 private:
  static CharacterTerms Terms() {
    IrBuilder b{Limits()};
    const NodeId any = b.Chars(CharSet({{0, kMaxCodePoint}}));
    const NodeId letters = b.Chars(CharSet({{'a', 'z'}}));
    return CharacterTerms(b, b.Concat({letters, b.Repeat(any, 0, kUnbounded)}));
  }
};

TEST_P(SimplifyTest, Is) {
  TermStore& store = *terms_.store();
  EXPECT_EQ(GetParam().make(store), GetParam().is);
}

const std::vector<Row>& Rows() {
  static const auto* const rows = new std::vector<Row>{
      // What is nothing, and what is empty.
      {"CatWithNothing", [](TermStore& s) { return s.Cat(A(s), kNothingTerm); }, "nothing"},
      {"NothingBefore", [](TermStore& s) { return s.Cat(kNothingTerm, A(s)); }, "nothing"},
      {"CatWithEmpty", [](TermStore& s) { return s.Cat(kEmptyTerm, A(s)); }, "b[a]"},
      {"AltOfNone", [](TermStore& s) { return s.Alt(std::vector<TermId>{}); }, "nothing"},
      {"AltWithNothing", [](TermStore& s) { return s.Alt(A(s), kNothingTerm); }, "b[a]"},
      {"RepeatNever", [](TermStore& s) { return s.Repeat(A(s), 0, 0); }, "empty"},
      {"RepeatOnce", [](TermStore& s) { return s.Repeat(A(s), 1, 1); }, "b[a]"},
      {"RepeatNothing", [](TermStore& s) { return s.Repeat(TermId(kNothingTerm), 1, 3); },
       "nothing"},
      {"MaybeNothing", [](TermStore& s) { return s.Repeat(TermId(kNothingTerm), 0, 3); }, "empty"},
      {"RepeatEmpty", [](TermStore& s) { return s.Repeat(TermId(kEmptyTerm), 2, kUnbounded); },
       "empty"},
      // Choices.
      {"AltOfEqual", [](TermStore& s) { return s.Alt(A(s), A(s)); }, "b[a]"},
      // Sets of bytes are united by the IR's builder, not here.
      {"AltOfBytes", [](TermStore& s) { return s.Alt({A(s), B(s), C(s)}); },
       "(b[a] | b[b] | b[c])"},
      {"AltOfAlts", [](TermStore& s) { return s.Alt(s.Alt(Bytes(s, "ab"), Bytes(s, "ba")), C(s)); },
       "(b[a] . b[b] | b[b] . b[a] | b[c])"},
      {"HeadsAreShared", [](TermStore& s) { return s.Alt(Bytes(s, "ab"), Bytes(s, "ac")); },
       "b[a] . (b[b] | b[c])"},
      {"TailsAreShared", [](TermStore& s) { return s.Alt(Bytes(s, "ac"), Bytes(s, "bc")); },
       "(b[a] | b[b]) . b[c]"},
      // Spines.
      {"CatsAreOneSpine", [](TermStore& s) { return s.Cat(Bytes(s, "ab"), Bytes(s, "ca")); },
       "b[a] . b[b] . b[c] . b[a]"},
      {"AlternativesStandAtTheHead",
       [](TermStore& s) { return s.Cat(s.Alt(kEmptyTerm, A(s)), Bytes(s, "b")); },
       "(b[a] | empty) . b[b]"},
      // Powers.
      {"RepeatsJoin",
       [](TermStore& s) { return s.Cat(s.Repeat(A(s), 1, 2), s.Repeat(A(s), 0, 3)); }, "b[a]{1,5}"},
      {"OneMoreJoins", [](TermStore& s) { return s.Cat(A(s), s.Repeat(A(s), 0, kUnbounded)); },
       "b[a]+"},
      {"RangesUnite",
       [](TermStore& s) { return s.Alt(s.Repeat(A(s), 1, 2), s.Repeat(A(s), 2, 4)); }, "b[a]{1,4}"},
      {"AfterOneOfSome",
       [](TermStore& s) { return s.AfterOne<TermId>(s.term(s.Repeat(A(s), 2, 4))); }, "b[a]{1,3}"},
      {"AfterOneOfAny",
       [](TermStore& s) { return s.AfterOne<TermId>(s.term(s.Repeat(A(s), 0, kUnbounded))); },
       "b[a]*"},
      // Complements and intersections, of characters.
      {"NotNot", [](TermStore& s) { return s.Not(s.Not(s.CharSet(1))); }, "[a-z]"},
      {"AndOfEqual", [](TermStore& s) { return s.And({s.CharSet(1), s.CharSet(1)}); }, "[a-z]"},
      {"AndWithNothing", [](TermStore& s) { return s.And({s.CharSet(1), kNothingTerm}); },
       "nothing"},
      {"AndWithItsComplement",
       [](TermStore& s) { return s.And({s.CharSet(1), s.Not(s.CharSet(1))}); }, "nothing"},
      {"AndKeepsAllText",
       [](TermStore& s) { return s.And({s.CharSet(1), s.Repeat(s.CharSet(0), 0, kUnbounded)}); },
       "([\\u{0}-\\u{d7ff}\\u{e000}-\\u{10ffff}]* & [a-z])"},
      // FactorTails and FactorHeads.
      {"ATailAlone", [](TermStore& s) { return s.Alt(B(s), Bytes(s, "ab")); },
       "(b[a] | empty) . b[b]"},
      {"AHeadAlone", [](TermStore& s) { return s.Alt(A(s), Bytes(s, "ab")); },
       "b[a] . (b[b] | empty)"},
      {"HeadsOfTwoCells", [](TermStore& s) { return s.Alt(Bytes(s, "aba"), Bytes(s, "abc")); },
       "b[a] . b[b] . (b[a] | b[c])"},
      {"HeadAndTail", [](TermStore& s) { return s.Alt(Bytes(s, "aac"), Bytes(s, "abc")); },
       "b[a] . (b[a] | b[b]) . b[c]"},
      // JoinPowers.
      {"CallsJoin", [](TermStore& s) { return s.Cat(s.Call(0), s.Call(0)); }, "rule \"start\"{2}"},
      {"AnOptionJoins",
       [](TermStore& s) { return s.Cat(s.Alt(kEmptyTerm, A(s)), s.Repeat(A(s), 0, 3)); },
       "b[a]{0,4}"},
      {"RepeatsJoinBeforeATail",
       [](TermStore& s) { return s.Cat(s.Repeat(A(s), 1, 2), s.Cat(s.Repeat(A(s), 0, 3), B(s))); },
       "b[a]{1,5} . b[b]"},
      // UnitePowers.
      {"EmptyIsAPower", [](TermStore& s) { return s.Alt(kEmptyTerm, s.Repeat(A(s), 1, 3)); },
       "b[a]{0,3}"},
      {"OneIsAPower", [](TermStore& s) { return s.Alt(A(s), s.Repeat(A(s), 2, 3)); }, "b[a]{1,3}"},
      // Absorb: x | x & y.
      {"AbsorbsABoth", [](TermStore& s) { return s.Alt(Few(s), s.And({Few(s), NoLetter(s)})); },
       "[a-z]{0,3}"},
      {"AbsorbsALongerBoth",
       [](TermStore& s) {
         return s.Alt(s.And({Few(s), NoLetter(s)}), s.And({Few(s), NoLetter(s), s.Not(Some(s))}));
       },
       "(![a-z] & [a-z]{0,3})"},
      // ShareParts: x & y | x & z.
      {"SharesWhatBothHave",
       [](TermStore& s) {
         return s.Alt(s.And({Few(s), NoLetter(s)}), s.And({Some(s), NoLetter(s)}));
       },
       "(![a-z] & [a-z]{0,5})"},
      // JoinEncoded.
      {"TextsOfPatternsAreOneText",
       [](TermStore& s) {
         return s.Alt(Utf8(s, s.And({Few(s), NoLetter(s)})),
                      Utf8(s, s.And({Some(s), NoLetter(s)})));
       },
       "utf8((![a-z] & [a-z]{0,5}))"},
      // Trivial cases of And, Not and Encode.
      {"AndOfNone", [](TermStore& s) { return s.And({}); }, "!nothing"},
      {"AndWithEveryText", [](TermStore& s) { return s.And({s.CharSet(1), s.Not(kNothingTerm)}); },
       "[a-z]"},
      {"AndIsFlat",
       [](TermStore& s) { return s.And({Few(s), s.And({NoLetter(s), s.Not(Some(s))})}); },
       "(![a-z] & ![a-z]{2,5} & [a-z]{0,3})"},
      {"AndWithEmptyAsOneOfIts", [](TermStore& s) { return s.And({kEmptyTerm, Few(s)}); }, "empty"},
      {"AndWithEmptyButNeverIs", [](TermStore& s) { return s.And({kEmptyTerm, Some(s)}); },
       "nothing"},
      {"AndWithNoneOfAChoice",
       [](TermStore& s) { return s.And({Few(s), s.Not(s.Alt(Few(s), NoLetter(s)))}); }, "nothing"},
      {"NotOfEveryText", [](TermStore& s) { return s.Not(s.Repeat(s.CharSet(0), 0, kUnbounded)); },
       "nothing"},
      {"EncodeOfNothing", [](TermStore& s) { return Utf8(s, kNothingTerm); }, "nothing"},
      {"EncodeOfEmpty", [](TermStore& s) { return Utf8(s, kEmptyTerm); }, "empty"},
      // What must stay as it is.
      {"StaysTwoOfTheSame", [](TermStore& s) { return s.Cat(A(s), A(s)); }, "b[a] . b[a]"},
      {"StaysRepeatsOfOthers",
       [](TermStore& s) { return s.Cat(s.Repeat(A(s), 1, 2), s.Repeat(B(s), 1, 2)); },
       "b[a]{1,2} . b[b]{1,2}"},
      {"StaysRangesApart",
       [](TermStore& s) { return s.Alt(s.Repeat(A(s), 1, 2), s.Repeat(A(s), 4, 5)); },
       "(b[a]{1,2} | b[a]{4,5})"},
      {"StaysEmptyAndTwo", [](TermStore& s) { return s.Alt(kEmptyTerm, s.Repeat(A(s), 2, 3)); },
       "(b[a]{2,3} | empty)"},
      {"StaysTextOfOnePattern",
       [](TermStore& s) { return s.Alt(Utf8(s, Few(s)), Utf8(s, s.And({Some(s), NoLetter(s)}))); },
       "(utf8((![a-z] & [a-z]{2,5})) | utf8([a-z]{0,3}))"},
      {"StaysOtherSpelling",
       [](TermStore& s) {
         return s.Alt(Utf8(s, s.And({Few(s), NoLetter(s)})),
                      Json(s, s.And({Some(s), NoLetter(s)})));
       },
       "(json((![a-z] & [a-z]{2,5})) | utf8((![a-z] & [a-z]{0,3})))"},
  };
  return *rows;
}

INSTANTIATE_TEST_SUITE_P(Terms, SimplifyTest, testing::ValuesIn(Rows()),
                         [](const auto& info) { return info.param.name; });

// What the other columns cannot show: parts of terms that are cut short, and what is no term.
TEST(PrintTerm, SaysWhatIsNoTerm) {
  IrBuilder b{Limits()};
  CharacterTerms terms(b, b.Chars(CharSet({{'a', 'z'}})));
  EXPECT_EQ(PrintTerm(*terms.store(), TermId(kUnknownTerm)), "unknown");
  EXPECT_EQ(PrintTerm(*terms.store(), TermId(kFailedTerm)), "failed");
  EXPECT_EQ(PrintTerm(*terms.store(), TermId(1'000'000)), "no term of this store: 1000000");
}

TEST(PrintTerm, CutsWhatIsLong) {
  IrBuilder b{Limits()};
  CharacterTerms terms(b, b.Chars(CharSet({{'a', 'z'}})));
  TermStore& store = *terms.store();
  const std::string text =
      PrintTerm(store, Bytes(store, absl::StrCat(std::string(1000, 'a'), "b")));
  EXPECT_LT(text.size(), 6000);
}

TEST(PrintTerm, ShowsStringsAndWhatIsLeftOfTexts) {
  IrBuilder b{Limits()};
  const NodeId text = b.Text("hello");
  CharacterTerms terms(b, b.Concat({text, b.Chars(CharSet({{'a', 'z'}}))}));
  TermStore& store = *terms.store();
  const CharTerm rest = store.Text(0, 3);
  EXPECT_EQ(PrintTerm(store, rest), "\"lo\"");
  EXPECT_EQ(PrintTerm(store, store.Encode(rest, {Spelling::kJsonString})), "json(\"lo\")");
  EXPECT_EQ(PrintTerm(store, store.Encode(rest, {Spelling::kUtf8, CharPhase::kUtf8, 5})),
            "utf8@utf8(\"lo\")");
  EXPECT_EQ(PrintTerm(store, store.Call(0)), "rule \"start\"");
}

}  // namespace
}  // namespace maskd
