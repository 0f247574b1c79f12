// Which tokens of a row leave it room, where there are more than can be looked at one by one. What
// is right is told by counting: all numbers, words and runs of white space are tokens, and what
// ends a text behind them is bytes.
#include <cctype>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/closing.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/rows/row_states.h"

namespace maskd {
namespace {

std::shared_ptr<TokenizerSpace> SpaceOfManyTokens() {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  for (int number = 10; number < 1000; ++number) tokens.push_back({std::to_string(number)});
  for (char first = 'a'; first <= 'z'; ++first)
    for (char second = 'a'; second <= 'z'; ++second)
      tokens.push_back({std::string({first, second})});
  for (std::size_t size = 2; size <= 40; ++size)
    for (const char space : {' ', '\n', '\t'}) tokens.push_back({std::string(size, space)});
  const auto end = static_cast<TokenId>(tokens.size());
  tokens.push_back({"<end>", true});
  return TokenizerSpace::Create(*Vocabulary::Create("many", std::move(tokens), {end}));
}

struct Case {
  const char* name;
  const char* schema;
  const char* begun;
  // The fewest tokens behind `token`, the stop id among them; 0 where the case does not tell.
  int (*few)(const std::string& token);
};

bool IsSpaces(const std::string& token) {
  return absl::StripAsciiWhitespace(token).empty() && !token.empty();
}
bool IsLetters(const std::string& token) {
  for (const char c : token)
    if (!absl::ascii_islower(static_cast<unsigned char>(c))) return false;
  return !token.empty();
}
bool IsDigits(const std::string& token) {
  for (const char c : token)
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
  return !token.empty();
}

const Case kCases[] = {
    // A third number, `,0]` and the end; 1 and 2 need a digit more.
    {"NumbersOfAnArray",
     R"({"type":"array","uniqueItems":true,"minItems":4,"items":{"type":"integer"}})", "[1,2,",
     [](const std::string& token) {
       if (IsSpaces(token)) return 5;
       if (!IsDigits(token)) return 0;
       return token == "1" || token == "2" ? 5 : 4;
     }},
    // Whatever stands in the string, `","!"]` and the end.
    {"WordsOfAnArray",
     R"({"type":"array","uniqueItems":true,"minItems":3,"items":{"type":"string"}})", R"(["","a)",
     [](const std::string& token) { return IsLetters(token) ? 7 : 0; }},
    // `":1,"a":1}` and the end, by any letter but that of the name before.
    {"NamesOfAMap",
     R"({"type":"object","minProperties":3,"additionalProperties":{"const":1},)"
     R"("propertyNames":{"pattern":"^[a-z]{1,40}$"}})",
     R"({"b":1,")",
     [](const std::string& token) {
       if (!IsLetters(token)) return 0;
       return token == "b" ? 11 + 1 : 11;
     }},
};

class ClosingFitsTest : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Rows, ClosingFitsTest, testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

TEST_P(ClosingFitsTest, AllTokensFitThatLeaveRoomForTheRest) {
  Budget budget = Budget::Unlimited();
  const auto grammar =
      CompileGrammar({"json_schema", GetParam().schema, {}}, SpaceOfManyTokens(), Limits(), budget);
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  Matcher matcher(*grammar);
  for (const char* byte = GetParam().begun; *byte != '\0'; ++byte)
    ASSERT_TRUE(matcher.Accept(static_cast<unsigned char>(*byte)).ok()) << byte;
  ASSERT_TRUE(RowStates::IsOwn(matcher.place()));
  const TokenMask mask = **matcher.Mask();
  const Vocabulary& vocabulary = (*grammar)->tokenizer().vocabulary();
  int told = 0;
  for (int left = 4; left <= 70; ++left) {
    ClosingMasks closing;
    const TokenMask narrowed =
        *closing.Narrow(matcher.stepper(), matcher.place(), *matcher.Mask(), left);
    mask.VisitAllowed([&](TokenId id) {
      const std::string token(vocabulary.TokenBytes(id));
      const int few = GetParam().few(token);
      if (few == 0) return;
      ++told;
      // Where nothing fits, nothing is taken away.
      if (narrowed == mask) return;
      EXPECT_EQ(narrowed.Allows(id), few < left) << "'" << token << "' with " << left << " left";
    });
    if (left > 20) EXPECT_TRUE(narrowed == mask) << left;
  }
  EXPECT_GT(told, 100);
}

}  // namespace
}  // namespace maskd
