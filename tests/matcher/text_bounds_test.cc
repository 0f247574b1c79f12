// Prefixes against all texts of a small language, one by one.
#include "grammar_core/matcher/text_bounds.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

#include "grammar_core/base/utf8.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/rows/row_states.h"
#include "tests/matcher/test_vocabulary.h"

namespace maskd {
namespace {

std::shared_ptr<const CompiledGrammar> Compiled(const std::string& kind, const std::string& text) {
  GrammarOptions options;
  options.max_characters = 20;
  Budget budget = Budget::Unlimited();
  auto grammar = CompileGrammar({kind, text, options}, TokenizerSpace::Create(TestVocabulary()),
                                Limits(), budget);
  EXPECT_TRUE(grammar.ok()) << grammar.status();
  return *grammar;
}

struct Case {
  const char* name;
  const char* pattern;
  // All its texts.
  std::vector<std::string> texts;
};

class PrefixWithinTest : public testing::TestWithParam<Case> {};

TEST_P(PrefixWithinTest, IsTheLongestThatCanBeCompleted) {
  const TokenStepper stepper(Compiled("regex", GetParam().pattern), {});
  Budget budget = Budget::Unlimited();
  Work work(budget);
  const std::vector<std::string>& texts = GetParam().texts;
  const auto shortest =
      std::ranges::min(texts, {}, [](const std::string& text) { return CharactersIn(text); });
  for (const std::string& text : texts) {
    for (auto most = static_cast<int>(CharactersIn(shortest)); most <= 8; ++most) {
      std::size_t bytes = 0;
      for (std::size_t size = 0; size <= text.size(); ++size) {
        const bool fits = std::ranges::any_of(texts, [&](const std::string& other) {
          return absl::StartsWith(other, text.substr(0, size)) &&
                 static_cast<int>(CharactersIn(other)) <= most;
        });
        if (fits) bytes = size;
      }
      const auto prefix = PrefixWithin(stepper, stepper.states().start(), text, most, work);
      ASSERT_TRUE(prefix.ok()) << prefix.status();
      EXPECT_EQ(prefix->bytes, bytes) << text << " within " << most;
      EXPECT_EQ(prefix->may_end, std::ranges::count(texts, text.substr(0, bytes)) > 0)
          << text << " within " << most;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, PrefixWithinTest,
    testing::ValuesIn(std::vector<Case>{
        {"OneText", "abc", {"abc"}},
        {"AnyNumber", "a{0,5}", {"", "a", "aa", "aaa", "aaaa", "aaaaa"}},
        {"AnEndThatIsLong", "a{1,3}(bcd)?", {"a", "aa", "aaa", "abcd", "aabcd", "aaabcd"}},
        {"LongCharacters",
         "(\xc3\xa9|\xe2\x82\xac){1,2}x",
         {"\xc3\xa9x", "\xe2\x82\xacx", "\xc3\xa9\xc3\xa9x", "\xc3\xa9\xe2\x82\xacx",
          "\xe2\x82\xac\xc3\xa9x", "\xe2\x82\xac\xe2\x82\xacx"}},
        {"Branches", "ab|abcdef|b(x|yz)", {"ab", "abcdef", "bx", "byz"}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(PrefixWithin, ANamedTokenOnTheWayIsNotSupported) {
  const TokenStepper stepper(Compiled("lark", "start: \"a\" <other> \"b\""), {});
  Budget budget = Budget::Unlimited();
  Work work(budget);
  const RowStateId start = stepper.states().start();
  EXPECT_EQ(PrefixWithin(stepper, start, "a<other>b", 20, work).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(PrefixWithin, SaysWhatEndsTheWork) {
  const TokenStepper stepper(Compiled("regex", "[a-c]*x"), {});
  Budget budget(Budget::Bounds{.work = 0});
  Work work(budget);
  const RowStateId start = stepper.states().start();
  EXPECT_EQ(PrefixWithin(stepper, start, "abcabcx", 20, work).status().code(),
            absl::StatusCode::kResourceExhausted);
}

struct TokensCase {
  const char* name;
  const char* text;
  // The bytes of the first tokens: of none, of one, and so on.
  std::vector<std::size_t> bytes;
};

class PrefixOfTokensTest : public testing::TestWithParam<TokensCase> {};

TEST_P(PrefixOfTokensTest, IsThatOfTheFewestTokens) {
  const TokenIndex index(TestVocabulary());
  for (std::size_t count = 0; count < GetParam().bytes.size() + 3; ++count) {
    const std::size_t known = std::min(count, GetParam().bytes.size() - 1);
    EXPECT_EQ(PrefixOfTokens(index, GetParam().text, static_cast<int>(count)),
              GetParam().bytes[known])
        << count;
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, PrefixOfTokensTest,
                         testing::ValuesIn(std::vector<TokensCase>{
                             {"Empty", "", {0}},
                             {"OneToken", "true", {0, 4}},
                             {"BytesAlone", "xyz", {0, 1, 2, 3}},
                             {"LongestFirst", "abcab", {0, 3, 5}},
                             {"AcrossABorder", "abc\"a", {0, 3, 5}},
                             {"Punctuation", "ab\",\"abc\"}", {0, 2, 5, 8, 10}},
                             {"InTheMiddle", "xabca\"", {0, 1, 4, 6}},
                             {"APartOfACharacter", "\xc3\xa9\xa9", {0, 2, 3}},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
