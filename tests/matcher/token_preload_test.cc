// What is preloaded stays as it was: no state, transition or mask is made, whatever the tokens.
#include "grammar_core/matcher/token_preload.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/automaton/automaton_size.h"
#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/rows/masked_automaton.h"
#include "grammar_core/tokenizer/loader.h"

namespace maskd {
namespace {

std::shared_ptr<const CompiledGrammar> Compiled(const std::string& schema) {
  Budget budget = Budget::Unlimited();
  return *CompileGrammar({"json_schema", schema, {}},
                         TokenizerSpace::Create(EmbeddedByteVocabulary()), Limits(), budget);
}

struct PreloadCase {
  const char* name;
  const char* schema;
  std::vector<TokenId> tokens;
};

class TokenPreloadTest : public testing::TestWithParam<PreloadCase> {};

TEST_P(TokenPreloadTest, MakesNothing) {
  const auto grammar = Compiled(GetParam().schema);
  for (const bool known : {false, true}) {
    const Matcher matcher(grammar);
    if (known) {  // some of the way
      Matcher walked = matcher.Fork();
      for (const TokenId token : GetParam().tokens) {
        if (!walked.Accept(token).ok()) break;
        EXPECT_TRUE(walked.Mask().ok());
      }
    }
    const std::int64_t terms = AutomatonSize(*grammar->automaton()).terms();
    const std::int64_t masks = grammar->automaton()->mask_count();
    TokenPreload preload;
    for (int row = 0; row < 20; ++row)
      preload.Add(matcher.stepper(), matcher.place(), GetParam().tokens);
    preload.Run();
    preload.Run();  // nothing is left
    EXPECT_EQ(AutomatonSize(*grammar->automaton()).terms(), terms);
    EXPECT_EQ(grammar->automaton()->mask_count(), masks);
    EXPECT_EQ(matcher.token_count(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Tokens, TokenPreloadTest,
                         testing::ValuesIn(std::vector<PreloadCase>{
                             {"None", R"({"type":"integer"})", {}},
                             {"Taken", R"({"type":"integer"})", {'1', '2', '3'}},
                             {"RefusedOnTheWay", R"({"type":"integer"})", {'1', 'x', '3'}},
                             {"OutOfRange", R"({"type":"integer"})", {'1', -1, 1 << 20}},
                             {"AStopId", R"({"type":"integer"})", {'1', 256}},
                             {"ItemsThatDiffer",
                              R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})",
                              {'[', '"', 'a', '"'}},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
