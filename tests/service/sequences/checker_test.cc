// What a check says of a text where the vocabulary has markers as tokens.
#include "service/sequences/checker.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "grammar_core/base/budget.h"
#include "grammar_core/compile/compiler.h"
#include "service/grammars/tokenizer_store.h"
#include "service/sequences/rule_place.h"

namespace maskd::service {
namespace {

constexpr TokenId kCall = 256;  // an added token, that no text of an answer may hold
constexpr TokenId kEndMarker = 257;

std::shared_ptr<TokenizerSpace> Space() {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  tokens.push_back({"<|tool_call>"});
  tokens.push_back({"<end>", true});
  EncodingRules rules;
  rules.atoms = {kCall, kEndMarker};
  return TokenizerSpace::Create(
      *Vocabulary::Create("markers", std::move(tokens), {kEndMarker}, std::move(rules)));
}

class CheckerTest : public testing::Test {
 protected:
  cache::GrammarPtr Compile(const std::string& format) {
    Budget budget{Budget::Bounds()};
    auto grammar = CompileGrammar(
        {"structural_tag", R"({"type":"structural_tag","format":)" + format + "}", {}},
        tokenizer_.space(), Limits(), budget);
    EXPECT_TRUE(grammar.ok()) << grammar.status();
    return *std::move(grammar);
  }
  CheckOutcome Check(const std::string& format, const std::string& text) {
    auto outcome = CheckText(Compile(format), tokenizer_, text);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return outcome.ok() ? *std::move(outcome) : CheckOutcome();
  }

  LoadedTokenizer tokenizer_{{}, Space()};
};

// The marker's own token is refused in free text; its spelling in other tokens is data.
TEST_F(CheckerTest, WhatIsRefusedBehindAMarkerInFreeTextIsNoError) {
  const std::string format = R"({"type":"any_text","excludes":["<|tool_call>call:"]})";
  EXPECT_TRUE(Check(format, "a<|tool_call>b").accepted);
  const CheckOutcome refused = Check(format, "a<|tool_call>call:");
  EXPECT_FALSE(refused.accepted);
  EXPECT_EQ(refused.byte_offset, 17);
  EXPECT_EQ(refused.allowed, nullptr) << "tokens of the text do not lead there";
  EXPECT_EQ(refused.refused, ":");
}

TEST_F(CheckerTest, APlaceBehindAMarkerIsThatOfItsSpelling) {
  const std::string format = R"({"type":"tag","begin":"<|tool_call>","end":"",
      "content":{"type":"json_schema","json_schema":{"type":"object"}}})";
  EXPECT_EQ(Check(format, "<|tool_call>[").rule.place, "/format/content/json_schema/type");
  EXPECT_EQ(Check(format, "x").rule.place, "/format/begin");
  EXPECT_EQ(RulePlaceBehind(Compile(format), "<|tool_call>{}").place, "");
}

// The bytes are those of the part, the place that of the text which holds it.
TEST_F(CheckerTest, APartOfAPatternHasItsBytesOfTheSource) {
  const std::string format =
      R"({"type":"tag","begin":"<a>","end":"","content":{"type":"json_schema","json_schema":)"
      R"({"type":"object","properties":{"n":{"pattern":"^a\\d$"}}}}})";
  const std::shared_ptr<const CompiledGrammar> grammar = Compile(format);
  const CheckOutcome refused = Check(format, R"(<a>{"n":"ax)");
  EXPECT_EQ(refused.rule.place, "/format/content/json_schema/properties/n/pattern");
  const std::string& source = grammar->source().text;
  EXPECT_EQ(source.substr(refused.rule.begin, refused.rule.end - refused.rule.begin), R"(\\d)");
}

}  // namespace
}  // namespace maskd::service
