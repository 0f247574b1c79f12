// Rules of so many tokens, against every sequence of a few tokens judged by what the bound says:
// where the rule has that many at a token's end and may end there, it goes on no further.
#include <cstddef>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "re2/re2.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"

namespace maskd {
namespace {

using Tokens = std::vector<TokenId>;

constexpr int kLongest = 4;
constexpr const char* kWords[] = {"x",  "xa", "a",   "ab",    "b",   "!",
                                  "b!", "a!", "bab", "[\n 0", "\n]", "\n]!"};
constexpr int kWordCount = std::size(kWords);
constexpr TokenId kEnd = kWordCount;

std::shared_ptr<TokenizerSpace> Words() {
  std::vector<Vocabulary::Token> tokens;
  for (const char* word : kWords) tokens.push_back({word});
  tokens.push_back({"<end>", true});
  return TokenizerSpace::Create(*Vocabulary::Create("words", std::move(tokens), {kEnd}));
}

// `before`, then a rule of `text` of at most `tokens` tokens, then `behind`: patterns.
struct LimitedRule {
  const char* name;
  const char* before;
  const char* text;
  const char* behind;
  const char* json = nullptr;  // `text` is any number of this schema's values, indented by 1
};

GrammarOptions OptionsOf(const LimitedRule& rule) {
  GrammarOptions options;
  if (rule.json != nullptr) options.indent = 1;
  return options;
}

std::string Source(const LimitedRule& rule, int tokens) {
  if (rule.json != nullptr) {
    return absl::StrCat("start: /", rule.before, "/ v /", rule.behind, "/\nv[max_tokens=", tokens,
                        "]: j*\nj: %json ", rule.json);
  }
  return absl::StrCat("root ::= Regex(\"", rule.before, "\") v Regex(\"", rule.behind,
                      "\")\nv[max_tokens=", tokens, "] ::= Regex(\"", rule.text, "\")");
}

class Judge {
 public:
  Judge(const LimitedRule& rule, int tokens)
      : before_(rule.before), text_(rule.text), behind_(rule.behind), tokens_(tokens) {}

  // Whether one way to part the text has a rule that ends in time.
  bool Takes(const Tokens& tokens) {
    std::string text;
    std::vector<std::size_t> ends;
    for (const TokenId id : tokens) {
      text += kWords[id];
      ends.push_back(text.size());
    }
    for (std::size_t begin = 0; begin <= text.size(); ++begin) {
      for (std::size_t end = begin; end <= text.size(); ++end) {
        if (Matches(before_, text, 0, begin) && Matches(text_, text, begin, end) &&
            Matches(behind_, text, end, text.size()) && EndsInTime(text, ends, begin, end)) {
          return true;
        }
      }
    }
    return false;
  }

 private:
  static bool Matches(const RE2& pattern, const std::string& text, std::size_t begin,
                      std::size_t end) {
    return RE2::FullMatch(text.substr(begin, end - begin), pattern);
  }

  bool EndsInTime(const std::string& text, const std::vector<std::size_t>& ends, std::size_t begin,
                  std::size_t end) {
    int held = 0;  // tokens with a part of the rule's text
    for (const std::size_t at : ends) {
      if (at <= begin) continue;
      if (at >= end) return true;
      if (++held >= tokens_ && Matches(text_, text, begin, at)) return false;
    }
    return true;
  }

  const RE2 before_;
  const RE2 text_;
  const RE2 behind_;
  const int tokens_;
};

// All sequences that the masks lead to, up to their ends.
void Follow(const Matcher& at, Tokens* tokens, std::set<Tokens>* found) {
  const MaskRef mask = *at.Mask();
  ASSERT_FALSE(mask->empty());
  if (mask->Allows(kEnd)) found->insert(*tokens);
  if (tokens->size() == kLongest) return;
  for (TokenId id = 0; id < kWordCount; ++id) {
    Matcher next = at.Fork();
    const bool taken = next.Accept(id).ok();
    ASSERT_EQ(taken, mask->Allows(id));
    if (!taken) continue;
    tokens->push_back(id);
    Follow(next, tokens, found);
    tokens->pop_back();
    ASSERT_TRUE(next.Rollback(1).ok());
    ASSERT_EQ(*next.Mask(), mask);
  }
}

void Enumerate(Judge* judge, Tokens* tokens, std::set<Tokens>* wanted) {
  if (judge->Takes(*tokens)) wanted->insert(*tokens);
  if (tokens->size() == kLongest) return;
  for (TokenId id = 0; id < kWordCount; ++id) {
    tokens->push_back(id);
    Enumerate(judge, tokens, wanted);
    tokens->pop_back();
  }
}

class LimitedRuleTest : public testing::TestWithParam<LimitedRule> {
 protected:
  static absl::StatusOr<std::shared_ptr<const CompiledGrammar>> Compile(const LimitedRule& rule,
                                                                        int tokens) {
    static const auto* const space = new std::shared_ptr<TokenizerSpace>(Words());
    Budget budget{Budget::Bounds()};
    const char* const kind = rule.json == nullptr ? "ebnf" : "lark";
    return CompileGrammar({kind, Source(rule, tokens), OptionsOf(rule)}, *space, Limits(), budget);
  }
};

TEST_P(LimitedRuleTest, HoldsWhatItsBoundSays) {
  for (int tokens = 1; tokens <= 3; ++tokens) {
    const auto grammar = Compile(GetParam(), tokens);
    ASSERT_TRUE(grammar.ok()) << grammar.status();
    std::set<Tokens> found;
    std::set<Tokens> wanted;
    Tokens none;
    Follow(Matcher(*grammar), &none, &found);
    Judge judge(GetParam(), tokens);
    Enumerate(&judge, &none, &wanted);
    EXPECT_EQ(found, wanted) << tokens;
    EXPECT_FALSE(wanted.empty());
    // A text is as good as the best way to cut it.
    for (const Tokens& way : wanted) {
      std::string text;
      for (const TokenId id : way) text += kWords[id];
      const auto match = Matcher(*grammar).MatchText(text);
      ASSERT_TRUE(match.ok()) << match.status();
      EXPECT_EQ(match->matched_bytes, static_cast<int>(text.size())) << text;
      EXPECT_TRUE(match->may_end) << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, LimitedRuleTest,
                         testing::ValuesIn(std::vector<LimitedRule>{
                             {"AnyText", "x", "[ab]*", "!"},
                             {"AtLeastOne", "x", "[ab]+", "!?"},
                             {"AtTheStart", "", "[abx]*", "!*"},
                             {"InPairs", "x?", "(ab)*", "b?!"},
                             {"NotBeforeThree", "x", "[ab]{3,}", "!"},
                             {"TextGoesOnAlike", "", "a*", "[ab]*!?"},
                             {"Ambiguous", "[xa]*", "[ab]*", "[b!]*"},
                             {"OneOfTwo", "x", "(a|bab)", "!"},
                             {"IndentedJson", "x?", "(\\[\\n 0\\n\\])*", "!?", R"({"const":[0]})"},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
