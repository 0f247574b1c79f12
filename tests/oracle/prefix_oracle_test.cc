// The oracle itself: spellings one by one, and grammars whose prefixes are known by hand or by the
// slow recogniser of whole texts.
#include "tests/oracle/prefix_oracle.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/ir/ir_builder.h"
#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"
#include "tests/oracle/spelled_characters.h"

namespace maskd {
namespace {

TEST(SpelledCharactersTest, EveryCharacterAsUtf8AndItsPrefixes) {
  for (std::uint32_t code_point = 0; code_point <= kMaxCodePoint; code_point += 7) {
    if (code_point >= 0xD800 && code_point <= 0xDFFF) continue;
    std::string bytes;
    AppendUtf8(code_point, &bytes);
    ASSERT_EQ(SpelledCharacter(bytes, Spelling::kUtf8), code_point);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::string prefix = bytes.substr(0, size);
      ASSERT_TRUE(CharactersBeginning(prefix, Spelling::kUtf8).Contains(code_point)) << code_point;
      ASSERT_FALSE(SpelledCharacter(prefix, Spelling::kUtf8).has_value());
    }
  }
}

struct SpellingCase {
  const char* name;
  const char* bytes;
  bool possible;
  int character;  // -1: not whole
};

class JsonSpellingTest : public testing::TestWithParam<SpellingCase> {};

TEST_P(JsonSpellingTest, AsRfc8259Says) {
  const SpellingCase& c = GetParam();
  EXPECT_EQ(!CharactersBeginning(c.bytes, Spelling::kJsonString).empty(), c.possible);
  const auto character = SpelledCharacter(c.bytes, Spelling::kJsonString);
  EXPECT_EQ(character.has_value() ? static_cast<int>(*character) : -1, c.character);
}

INSTANTIATE_TEST_SUITE_P(Bytes, JsonSpellingTest,
                         testing::ValuesIn(std::vector<SpellingCase>{
                             {"Letter", "a", true, 'a'},
                             {"Quote", "\"", false, -1},
                             {"Control", "\x1f", false, -1},
                             {"Delete", "\x7f", true, 0x7F},
                             {"Backslash", "\\", true, -1},
                             {"EscapedSlash", "\\/", true, '/'},
                             {"EscapedLetterThatHasNone", "\\a", false, -1},
                             {"PartOfDigits", "\\u00e", true, -1},
                             {"MixedCaseDigits", "\\u00Ee", true, 0xEE},
                             {"NoDigit", "\\u00g", false, -1},
                             {"LowHalfAlone", "\\udc00", false, -1},
                             {"LowHalfBegun", "\\ud", true, -1},
                             {"LowHalfCertain", "\\udc", false, -1},
                             {"HighHalf", "\\uD83D", true, -1},
                             {"HighHalfAndLetter", "\\uD83Da", false, -1},
                             {"HighHalfAndOtherEscape", "\\uD83D\\n", false, -1},
                             {"HighHalfAndHighHalf", "\\uD83D\\uD8", false, -1},
                             {"HalfAPair", "\\uD83D\\uD", true, -1},
                             {"Pair", "\\uD83D\\uDE00", true, 0x1F600},
                             {"OverlongSlash", "\xc0\xaf", false, -1},
                             {"SurrogateInUtf8", "\xed\xa0", false, -1},
                             {"PastTheLast", "\xf4\x90", false, -1},
                         }),
                         [](const auto& test) { return test.param.name; });

struct PrefixCase {
  const char* name;
  const char* schema;
  const char* text;
  bool possible;
  bool may_end;
  PropertyOrder order = PropertyOrder::kDeclared;
  std::optional<std::int32_t> indent = std::nullopt;
};

class PrefixOracleTest : public testing::TestWithParam<PrefixCase> {};

TEST_P(PrefixOracleTest, Prefix) {
  const PrefixCase& c = GetParam();
  GrammarOptions options;
  options.property_order = c.order;
  options.indent = c.indent;
  const auto read = ReadForTest("json_schema", c.schema, options);
  ASSERT_TRUE(read.ok()) << read.status();
  PrefixOracle oracle(read->ir);
  const PrefixOracle::State state = oracle.StepText(oracle.start(), c.text);
  EXPECT_EQ(state != PrefixOracle::kDead, c.possible);
  EXPECT_EQ(oracle.MayEnd(state), c.may_end);
  EXPECT_EQ(IrRecognizer(read->ir).Accepts(c.text), c.may_end);
}

constexpr char kPair[] =
    R"({"type":"object","properties":{"a":{"const":1},"b":{"const":2}},"required":["b"]})";
constexpr char kClosed[] = R"({"type":"object","properties":{"a":{"const":1},"b":{"const":2}},)"
                           R"("additionalProperties":false})";
constexpr PropertyOrder kAny = PropertyOrder::kAny;

INSTANTIATE_TEST_SUITE_P(
    Schemas, PrefixOracleTest,
    testing::ValuesIn(std::vector<PrefixCase>{
        {"Nothing", kPair, "", true, false},
        {"Whole", kPair, R"({"a":1,"b":2})", true, true},
        {"OptionalLeftOut", kPair, R"({"b": 2})", true, true},
        {"RequiredSkipped", kPair, R"({"c)", false, false},
        {"RequiredMissing", kPair, R"({"a":1})", false, false},
        {"WrongOrder", kPair, R"({"b":2,"a")", false, false},
        {"WrongOrderButALongerName", kPair, R"({"b":2,"a)", true, false},
        {"AnyOrder", kPair, R"({"b":2,"a":1})", true, true, kAny},
        {"AnyOrderTwice", kPair, R"({"b":2,"b")", false, false, kAny},
        {"Others", kPair, R"({"b":2,"x":[null]})", true, true},
        {"EscapedDeclaredName", kPair, R"({"\u0062":2})", true, true},
        {"EscapedDeclaredNameAsOther", kPair, R"({"b":2,"\u0061")", false, false},
        {"CommaThatNothingFollows", kClosed, R"({"a":1,"b":2,)", false, false},
        {"CommaInClosed", kClosed, R"({"a":1,)", true, false},
        {"NoOtherName", kClosed, R"({"c)", false, false},
        {"SpaceAtItsEnds", kClosed, "{ } ", false, false},
        {"Lines", kPair, "{\n \"a\": 1,\n \"b\": 2,\n \"c\": [\n  [],\n  {}\n ]\n}", true, true,
         PropertyOrder::kDeclared, 1},
        {"LinesBegun", kPair, "{\n  \"b\": 2,\n  \"c\": [\n    {\n     ", true, false, kAny, 2},
        {"LinesTooFarIn", kPair, "{\n  \"b\": 2,\n  \"c\": [\n     ", false, false, kAny, 2},
        {"LinesMissing", kPair, R"({"b")", false, false, kAny, 0},
        {"TooLong", R"({"type":"string","maxLength":2})",
         R"("ab)"
         "c",
         false, false},
        {"PairIsOne", R"({"type":"string","maxLength":1})", R"("\uD83D\uDE00")", true, true},
        {"EnumBegun", R"({"enum":["ab","\u00e9"]})", "\"\xc3", true, false},
        {"EnumLost", R"({"enum":["ab","\u00e9"]})", "\"\xc4", false, false},
        {"EnumEscapeLost", R"({"enum":["ab","\u00e9"]})", R"("\uD)", false, false},
    }),
    [](const auto& test) { return test.param.name; });

struct LogicalCase {
  const char* name;
  const char* text;
  bool possible;
  bool may_end;
};

// Quoted: two or three characters, the first an a, the last a z, but not "az".
class LogicalPrefixTest : public testing::TestWithParam<LogicalCase> {};

TEST_P(LogicalPrefixTest, Prefix) {
  IrBuilder b{Limits()};
  const NodeId any = b.Repeat(b.AnyChar(), 0, kUnbounded);
  const NodeId characters = b.And({b.Repeat(b.AnyChar(), 2, 3), b.Concat({b.Text("a"), any}),
                                   b.Concat({any, b.Text("z")}), b.Not(b.Text("az"))});
  const RuleId rule = b.DeclareRule("r", "");
  b.DefineRule(
      rule, b.Concat({b.Bytes("\""), b.Encode(Spelling::kJsonString, characters), b.Bytes("\"")}));
  const absl::StatusOr<GrammarIr> ir = std::move(b).Build(rule);
  ASSERT_TRUE(ir.ok());
  PrefixOracle oracle(*ir);
  const PrefixOracle::State state = oracle.StepText(oracle.start(), GetParam().text);
  EXPECT_EQ(state != PrefixOracle::kDead, GetParam().possible);
  EXPECT_EQ(oracle.MayEnd(state), GetParam().may_end);
  EXPECT_EQ(IrRecognizer(*ir).Accepts(GetParam().text), GetParam().may_end);
}

INSTANTIATE_TEST_SUITE_P(Texts, LogicalPrefixTest,
                         testing::ValuesIn(std::vector<LogicalCase>{
                             {"FirstPart", R"("a)", true, false},
                             {"FirstPartLost", R"("b)", false, false},
                             {"Escaped", R"("\u0061)", true, false},
                             {"EscapeBegun", R"("a\)", true, false},
                             {"LastOfThree", R"("abz)", true, false},
                             {"LastOfThreeLost", R"("abb)", false, false},
                             {"Excluded", R"("az")", false, false},
                             {"ExcludedGoesOn", R"("azz)", true, false},
                             {"Whole", R"("azz")", true, true},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
