// Structural tags over a vocabulary that has the markers as tokens: a special one, an added one and
// one that only looks like a word. Texts are lists of tokens; at each of them every bit of the mask
// is held against taking that token.
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/closing.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/marker_table.h"
#include "tests/frontend/tag_texts.h"

namespace maskd {
namespace {

constexpr TokenId kChannel = 256;  // special
constexpr TokenId kStop = 257;     // special, ends a text
constexpr TokenId kCall = 258;     // added, as are the next four
constexpr TokenId kCallEnd = 259;
constexpr TokenId kThinkEnd = 260;
constexpr TokenId kSpaces = 261;
constexpr TokenId kDsml = 262;
constexpr TokenId kLower = 263;  // a word of the model

std::shared_ptr<const Vocabulary> TestVocabulary(bool with_less_than = true) {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  if (!with_less_than) tokens['<'].bytes.clear();
  tokens.insert(tokens.end(), {{"<|channel|>", true},
                               {"<|call|>", true},
                               {"<tool_call>"},
                               {"</tool_call>"},
                               {"</think>"},
                               {"    "},
                               {"\xef\xbd\x9c"
                                "DSML\xef\xbd\x9c"},
                               {"hello"}});
  EncodingRules rules;
  rules.atoms = {kChannel, kCall, kCallEnd, kThinkEnd, kSpaces, kDsml};
  return *Vocabulary::Create("markers", std::move(tokens), {kStop}, std::move(rules));
}

const std::shared_ptr<TokenizerSpace>& Space() {
  static const auto* const space =
      new std::shared_ptr<TokenizerSpace>(TokenizerSpace::Create(TestVocabulary()));
  return *space;
}

absl::StatusOr<std::shared_ptr<const CompiledGrammar>> Compile(
    const std::string& format, const std::shared_ptr<TokenizerSpace>& space = Space()) {
  Budget budget = Budget::Unlimited();
  return CompileGrammar({"structural_tag", Whole(format)}, space, Limits(), budget);
}

std::vector<TokenId> operator+(std::vector<TokenId> tokens, const char* text) {
  for (const char* byte = text; *byte != '\0'; ++byte)
    tokens.push_back(static_cast<unsigned char>(*byte));
  return tokens;
}
std::vector<TokenId> operator+(std::vector<TokenId> tokens, TokenId token) {
  tokens.push_back(token);
  return tokens;
}
const std::vector<TokenId> kNone;

// Whether the mask of each step and the step itself say the same of every token.
void CheckMask(const Matcher& row, const TokenMask& mask) {
  for (TokenId id = 0; id < mask.vocab_size(); ++id) {
    Matcher next = row.Fork();
    EXPECT_EQ(mask.Allows(id), next.Accept(id).ok()) << id;
  }
}

bool Accepts(const std::shared_ptr<const CompiledGrammar>& grammar,
             const std::vector<TokenId>& tokens) {
  Matcher row(grammar);
  for (const TokenId token : tokens) {
    const absl::StatusOr<MaskRef> mask = row.Mask();
    EXPECT_TRUE(mask.ok()) << mask.status();
    CheckMask(row, **mask);
    if (!row.Accept(token).ok()) return false;
  }
  return row.may_end();
}

struct MarkerCase {
  const char* name;
  std::string format;
  std::vector<std::vector<TokenId>> accepts;
  std::vector<std::vector<TokenId>> rejects;
};

class TagMarkersTest : public testing::TestWithParam<MarkerCase> {};

TEST_P(TagMarkersTest, MeansTheTokens) {
  const auto grammar = Compile(GetParam().format);
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  for (std::size_t i = 0; i < GetParam().accepts.size(); ++i)
    EXPECT_TRUE(Accepts(*grammar, GetParam().accepts[i])) << "accepts " << i;
  for (std::size_t i = 0; i < GetParam().rejects.size(); ++i)
    EXPECT_FALSE(Accepts(*grammar, GetParam().rejects[i])) << "rejects " << i;
}

std::string Calls(const char* trigger, const char* more = "") {
  return absl::StrCat(
      R"({"type":"triggered_tags","triggers":[")", trigger, R"("],"tags":[)",
      Tag(R"("<tool_call>\nf ")", Schema(R"({"type":"string"})"), R"("\n</tool_call>")"), "]", more,
      "}");
}

std::vector<MarkerCase> Cases() {
  const std::vector<TokenId> call = kNone + kCall + "\nf \"";
  return {
      {"ASpecialMarker",
       Tag(R"("<|channel|>a")", Const("k"), R"("<|call|>")"),
       {kNone + kChannel + "ak" + kStop},
       {kNone + "<|channel|>ak" + kStop, kNone + kChannel + "ak<|call|>", kNone + kChannel + "ak"}},
      {"Triggered",
       Calls("<tool_call>"),
       {kNone, kNone + "hi", call + "x\"\n" + kCallEnd, call + "</tool_call>\"\n" + kCallEnd,
        kNone + "<tool_call> is text" + kLower + kSpaces,
        call + "a\"\n" + kCallEnd + "b" + kCall + "\nf \"" + kSpaces + "\"\n" + kCallEnd},
       {kNone + kCall, kNone + kCall + "x", kNone + kCallEnd, call + kCall + "\"\n" + kCallEnd,
        call + kCallEnd, call + "x\"\n</tool_call>", call + "x\"" + kCallEnd}},
      {"ATriggerThatEndsInAMarker",
       Calls("<tool_"),
       {kNone + "<tool_ <tool_call>", call + "x\"\n" + kCallEnd},
       {kNone + kCall}},
      {"AtLeastOne",
       Calls("<tool_call>", R"(,"at_least_one":true,"stop_after_first":true)"),
       {call + "x\"\n" + kCallEnd},
       {kNone, kNone + "a", kNone + "<tool_call>\nf \"x\"\n</tool_call>"}},
      {"FreeTextInATag",
       Tag(R"("")", kAny, R"("</think>\n\n")"),
       {kNone + "x" + kThinkEnd + "\n\n", kNone + "</think>\n\n" + kThinkEnd + "\n\n",
        kNone + kCall + kThinkEnd + "\n\n"},
       {kNone + kThinkEnd + "x" + kThinkEnd + "\n\n", kNone + "a</think>\n\n"}},
      {"ExcludesLeaveOutBothSpellings",
       R"({"type":"any_text","excludes":["</think>"]})",
       {kNone + "</thin", kNone + kCall},
       {kNone + kThinkEnd, kNone + "</think>"}},
      {"ATokenThatIsNamed",
       Tag(R"("<")", kAny, R"({"type":"token","token":"</think>"})"),
       {kNone + "<a" + kThinkEnd, kNone + "<</think>" + kThinkEnd},
       {kNone + "<a</think>", kNone + "<" + kThinkEnd + kThinkEnd}},
      {"Separated",
       Separated(R"("<tool_call>")"),
       {kNone + "<a>1</a>" + kCall + "<b>x<tool_call></b>"},
       {kNone + "<a>1</a><tool_call><a>1</a>", kNone + "<b>" + kCall + "</b>"}},
      {"DispatchOfAMarker",
       Dispatch(absl::StrCat(R"([["<tool_call>",)", Const("k"), R"(],["ab",)", Const("1"), "]]")),
       {kNone + "x" + kCall + "k<tool_call>ab1", kNone + "ab1" + kCall + "k"},
       {kNone + kCall + "x", kNone + "abx", kNone + kCall}},
      {"AStyle",
       Schema(R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],
                  "additionalProperties":false})",
              R"(,"style":"deepseek_xml")"),
       {kNone + "<" + kDsml + "parameter name=\"a\" string=\"true\">x</DSML>y</" + kDsml +
        "parameter>"},
       {kNone + "<" + kDsml + "parameter name=\"a\" string=\"true\">" + kDsml + "</" + kDsml +
            "parameter>",
        kNone + "<\xef\xbd\x9c"
                "DSML"}},
      {"MarkersThatAreNotSpelledAreText",
       std::string(kAny),
       {kNone + kCall + kThinkEnd + kDsml, kNone + "<tool_call>"},
       {kNone + kChannel}},
      {"AnAddedRunOfSpacesIsNoMarker",
       Tag(R"("    ")", kAny, R"("<")"),
       {kNone + kSpaces + kSpaces + "<", kNone + "    " + kSpaces + "<"},
       {}},
  };
}

INSTANTIATE_TEST_SUITE_P(Formats, TagMarkersTest, testing::ValuesIn(Cases()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(TagMarkerErrorsTest, AnExcludedMarkerCannotBeEntered) {
  const auto grammar = Compile(Calls("<tool_call>", R"(,"excludes":["<tool_call>"])"));
  EXPECT_EQ(grammar.status().message(),
            "/format/tags/0/begin: cannot be entered: \"<tool_call>\" in it is excluded");
}

TEST(TagMarkerErrorsTest, ATextThatNoTokensSpellCannotBeEntered) {
  const auto space = TokenizerSpace::Create(TestVocabulary(false));
  EXPECT_TRUE(Compile(Calls("<tool_call>"), space).ok());
  const auto grammar = Compile(Tag(R"("<nowhere>")", Const("k"), R"("")"), space);
  EXPECT_EQ(grammar.status().message(),
            "/format/begin: the vocabulary markers has no tokens for \"<nowhere>\"");
}

TEST(TagMarkerErrorsTest, APatternIsTextAndIsWarnedOf) {
  const auto grammar = Compile(R"({"type":"regex","pattern":"<\\|channel\\|>a"})");
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  ASSERT_EQ((*grammar)->warnings().size(), 1U);
  EXPECT_EQ((*grammar)->warnings()[0].place, "/format/pattern");
  EXPECT_TRUE(Accepts(*grammar, kNone + "<|channel|>a"));
}

TEST(TagMarkerTextsTest, AMarkerStandsForItsSpelling) {
  const auto grammar = Compile(Calls("<tool_call>"));
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  const std::string text = "ok <tool_call>\nf \"</tool_call>\"\n</tool_call>";
  const auto match = Matcher(*grammar).MatchText(text);
  ASSERT_TRUE(match.ok()) << match.status();
  EXPECT_EQ(match->matched_bytes, static_cast<int>(text.size()));
  EXPECT_TRUE(match->may_end);
}

TEST(TagMarkerTextsTest, TheMarkersAreTold) {
  const auto grammar = Compile(Calls("<tool_call>"));
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  std::vector<std::string> told;
  for (const Diagnostic& bound : (*grammar)->bounds())
    if (absl::StrContains(bound.message, "text nowhere")) told.push_back(bound.message);
  EXPECT_EQ(told,
            (std::vector<std::string>{"\"<tool_call>\" is the token 258, and text nowhere",
                                      "\"</tool_call>\" is the token 259, and text nowhere"}));
}

TEST(TagMarkerClosingTest, ATextIsCompletedByMarkers) {
  const auto grammar = Compile(Calls("<tool_call>"));
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  Matcher row(*grammar);
  for (const TokenId token : kNone + kCall + "\nf \"x") ASSERT_TRUE(row.Accept(token).ok());
  const absl::StatusOr<std::vector<TokenId>> fewest = row.FewestTokens(8);
  ASSERT_TRUE(fewest.ok()) << fewest.status();
  EXPECT_EQ(*fewest, kNone + "\"\n" + kCallEnd);
}

// With so many tokens left every way leads to a complete text.
TEST(TagMarkerClosingTest, ARowIsClosedInTime) {
  const auto grammar = Compile(Calls("<tool_call>", R"(,"at_least_one":true)"));
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same walks each time
  for (int walk = 0; walk < 40; ++walk) {
    Matcher row(*grammar);
    ClosingMasks closing;
    int left = 14 + walk % 9;
    while (!row.finished()) {
      ASSERT_GT(left, 0) << "walk " << walk;
      const absl::StatusOr<MaskRef> whole = row.Mask();
      ASSERT_TRUE(whole.ok()) << whole.status();
      const MaskRef mask = closing.Narrow(row.stepper(), row.place(), *whole, left);
      std::vector<TokenId> allowed;
      mask->VisitAllowed([&](TokenId id) { allowed.push_back(id); });
      ASSERT_FALSE(allowed.empty());
      ASSERT_TRUE(row.Accept(allowed[random() % allowed.size()]).ok());
      --left;
    }
  }
}

TEST(TagMarkerClosingTest, ABoundOfAllTokensIsHeldToWhatIsNeeded) {
  const auto with = [](int most) {
    GrammarOptions options;
    options.max_tokens = most;
    Budget budget = Budget::Unlimited();
    const std::string format = Tag(R"("<tool_call>")", Const("abc"), R"("</tool_call>")");
    return CompileGrammar({"structural_tag", Whole(format), options}, Space(), Limits(), budget)
        .status();
  };
  EXPECT_TRUE(with(5).ok()) << with(5);
  EXPECT_EQ(with(4).message(), "options.max_tokens: no text of this grammar has at most 4 tokens");
}

TEST(MarkerTableTest, CutsAtTheLongestMarkerFromTheLeft) {
  std::vector<Vocabulary::Token> tokens = {{"a"}, {"<x>"}, {"<x><y>"}, {"<z>", true}, {"|b c|"}};
  EncodingRules rules;
  rules.atoms = {1, 2, 4};
  const auto vocabulary = *Vocabulary::Create("test", std::move(tokens), {3}, std::move(rules));
  const MarkerTable table(vocabulary);
  std::vector<std::string> pieces;
  for (const MarkerTable::Piece& piece : table.Cut("a<x><x><y>|b c|<z>"))
    pieces.push_back(absl::StrCat(piece.marker, ":", piece.text));
  EXPECT_EQ(pieces, (std::vector<std::string>{"-1:a", "1:<x>", "2:<x><y>", "-1:|b c|", "3:<z>"}));
  EXPECT_TRUE(table.CanSpell("aa"));
  EXPECT_FALSE(table.CanSpell("ab"));
}

}  // namespace
}  // namespace maskd
