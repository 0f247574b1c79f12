// Texts against every way to cut them, token by token.
#include "grammar_core/matcher/text_cuts.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"

namespace maskd {
namespace {

const std::vector<std::string> kWords = {"a", "ab", "b", "ba", "x", "xa", "abx"};

std::shared_ptr<const CompiledGrammar> Compiled(const std::string& kind, const std::string& text) {
  std::vector<Vocabulary::Token> tokens;
  for (const std::string& word : kWords) tokens.push_back({word});
  tokens.push_back({"<t>", true});
  tokens.push_back({"<end>", true});
  const auto end = static_cast<TokenId>(tokens.size()) - 1;
  const auto space = TokenizerSpace::Create(*Vocabulary::Create("test", std::move(tokens), {end}));
  Budget budget = Budget::Unlimited();
  auto grammar = CompileGrammar({kind, text, {}}, space, Limits(), budget);
  EXPECT_TRUE(grammar.ok()) << grammar.status();
  return *grammar;
}

// The best of all cuts, each taken by a matcher of its own.
struct Best {
  std::size_t whole_tokens = 0;  // the bytes of them
  bool may_end = false;
};
void TryCuts(const Matcher& matcher, absl::string_view text, std::size_t at, Best* best) {
  best->whole_tokens = std::max(best->whole_tokens, at);
  if (at == text.size()) best->may_end = best->may_end || matcher.may_end();
  const Vocabulary& vocabulary = matcher.grammar().tokenizer().vocabulary();
  for (TokenId id = 0; id + 1 < vocabulary.size(); ++id) {
    const absl::string_view bytes = vocabulary.TokenBytes(id);
    if (!absl::StartsWith(text.substr(at), bytes)) continue;
    Matcher next = matcher.Fork();
    if (next.Accept(id).ok()) TryCuts(next, text, at + bytes.size(), best);
  }
}

std::vector<std::string> AllTexts(const std::vector<std::string>& letters, std::size_t count) {
  std::vector<std::string> texts = {""};
  std::size_t first = 0;
  for (std::size_t round = 0; round < count; ++round) {
    const std::size_t end = texts.size();
    for (std::size_t i = first; i < end; ++i)
      for (const std::string& letter : letters) texts.push_back(texts[i] + letter);
    first = end;
  }
  return texts;
}

struct Case {
  const char* name;
  const char* kind;
  const char* grammar;
};

class TextCutsTest : public testing::TestWithParam<Case> {};

TEST_P(TextCutsTest, IsTheBestOfAllCuts) {
  const auto grammar = Compiled(GetParam().kind, GetParam().grammar);
  const Matcher matcher(grammar);
  const TokenStepper stepper(grammar, {});
  Budget budget = Budget::Unlimited();
  Work work(budget);
  int ended = 0;
  for (const std::string& text : AllTexts({"a", "b", "x", "<t>"}, 5)) {
    Best best;
    TryCuts(matcher, text, 0, &best);
    const TextCut cut = CutText(stepper, stepper.states().start(), text, work);
    EXPECT_EQ(cut.may_end, best.may_end) << text;
    EXPECT_GE(cut.taken_bytes, best.whole_tokens) << text;
    // No token is longer, and a part of one may be taken beside the whole ones.
    EXPECT_LE(cut.taken_bytes, std::min(text.size(), best.whole_tokens + 2)) << text;
    ended += best.may_end ? 1 : 0;
  }
  EXPECT_TRUE(work.ok());
  EXPECT_GT(ended, 0);
}

INSTANTIATE_TEST_SUITE_P(Grammars, TextCutsTest,
                         testing::ValuesIn(std::vector<Case>{
                             {"NothingCounted", "regex", "(ab|ba)*x?"},
                             {"Counted", "ebnf",
                              "root ::= v\nv[max_tokens=2] ::= Regex(\"[abx]*\")"},
                             {"CountedBeforeMore", "ebnf",
                              "root ::= v \"x\" \"a\"*\nv[max_tokens=2] ::= Regex(\"[ab]*\")"},
                             {"CountedTwice", "ebnf",
                              "root ::= v \"x\" w\nv[max_tokens=1] ::= Regex(\"[ab]*\")\n"
                              "w[max_tokens=1] ::= Regex(\"[ab]*\")"},
                             {"Named", "lark", "start: (\"a\" | \"b\" <t>)* \"x\"?"},
                         }),
                         [](const auto& test) { return test.param.name; });

TEST(TextCuts, SaysWhatEndsTheWork) {
  const TokenStepper stepper(Compiled("regex", "[abx]*"), {});
  Budget budget(Budget::Bounds{.work = 0});
  Work work(budget);
  CutText(stepper, stepper.states().start(), "abxabxabxabx", work);
  EXPECT_EQ(work.error().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
