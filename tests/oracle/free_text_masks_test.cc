// Masks of free text before tags (mask_routes/free_text.h) against the prefix oracle: for random
// states every token of a vocabulary is allowed exactly if the oracle can read its bytes. Then the
// same walks of every family's answers over real vocabularies, with the route and without it.
//
// The vocabulary of the first part holds what is hard: parts of the texts that do not come, with
// what may stand before and behind them, characters cut in two, bytes that no text begins with.
#include <algorithm>
#include <iostream>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/compile/pipeline.h"
#include "grammar_core/frontend/chat/family.h"
#include "grammar_core/mask_routes/mask_routes.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/loader.h"
#include "tests/oracle/prefix_oracle.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;

// A tag for each begin; the begin itself is the trigger.
std::string Tags(const std::vector<std::string>& begins, absl::string_view more = "") {
  std::vector<std::string> tags;
  std::vector<std::string> triggers;
  for (const std::string& begin : begins) {
    triggers.push_back(absl::StrCat("\"", begin, "\""));
    tags.push_back(absl::StrCat(R"({"type":"tag","begin":")", begin,
                                R"(","content":{"type":"regex","pattern":"[0-9]*"},"end":"!"})"));
  }
  return absl::StrCat(R"({"type":"structural_tag","format":{"type":"triggered_tags","triggers":[)",
                      absl::StrJoin(triggers, ","), R"(],"tags":[)", absl::StrJoin(tags, ","), "]",
                      more, "}}");
}

std::string Sequence(const std::vector<std::string>& elements) {
  return absl::StrCat(R"({"type":"structural_tag","format":{"type":"sequence","elements":[)",
                      absl::StrJoin(elements, ","), "]}}");
}

struct Case {
  std::string name;
  std::string kind;
  std::string source;
};

const std::vector<Case>& Cases() {
  static const auto* const cases = new std::vector<Case>{
      {"OneTrigger", "structural_tag", Tags({"<call>"})},
      {"TriggersOfOneStem", "structural_tag", Tags({"<call>", "<cask>", "<c/"})},
      {"UnlikeTriggers", "structural_tag", Tags({"<call>", "[do]", "abc", "{"})},
      {"TriggersThatMeet", "structural_tag", Tags({"aab", "abc", "bca"})},
      {"TriggerWithinATrigger", "structural_tag", Tags({"<call>", "all"})},
      {"OneCharacter", "structural_tag", Tags({"<"})},
      {"BeyondAscii", "structural_tag", Tags({"<é>", "<｜call｜>"})},
      {"EndsBeyondAscii", "structural_tag", Tags({"<é", "a｜"})},
      {"Repeats", "structural_tag", Tags({"aaa", "<<c"})},
      {"AndExcludes", "structural_tag", Tags({"<call>"}, R"(,"excludes":["</x>","ab"])")},
      {"StopsAfterTheFirst", "structural_tag", Tags({"<call>"}, R"(,"stop_after_first":true)")},
      {"AtLeastOne", "structural_tag", Tags({"<call>"}, R"(,"at_least_one":true)")},
      {"ExcludesAlone", "structural_tag",
       Sequence({R"({"type":"any_text","excludes":["<call>","ab"]})"})},
      {"TextBeforeAText", "structural_tag",
       Sequence({R"({"type":"any_text"})", R"({"type":"const_string","value":"<call>"})"})},
      {"AnEndOfTwoLetters", "structural_tag",
       R"({"type":"structural_tag","format":{"type":"tag","begin":"a","content":)"
       R"({"type":"any_text"},"end":["bb","</x>"]}})"},
      {"Dispatch", "ebnf",
       "root ::= TagDispatch((\"<call>\", r), (\"ab\", r), loop_after_dispatch=true, "
       "excludes=(\"</x>\",))\nr ::= [0-9]* \"!\"\n"}};
  return *cases;
}

std::shared_ptr<const Vocabulary> HardVocabulary() {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  std::set<std::string> words;
  for (const absl::string_view text : {"<call>", "<cask>1", "</x>", "[do]", "aabca", "abc!", "aaab",
                                       "<<c", "<｜call｜>", "<é>0!", "a｜b", "x{5!", "bb"}) {
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
      for (std::size_t size = 2; begin + size <= text.size(); ++size) {
        const std::string part(text.substr(begin, size));
        for (const absl::string_view before : {"", "a", "<", "\xA9"})
          for (const absl::string_view behind : {"", "7", "b!", "!<", "\xC3", "\xEF\xBD", "\xFF"})
            words.insert(absl::StrCat(before, part, behind));
      }
    }
  }
  for (const std::string& word : words) tokens.push_back({word});
  tokens.push_back({"<end>", true});
  const auto end = static_cast<TokenId>(tokens.size() - 1);
  return *Vocabulary::Create("hard", std::move(tokens), {end});
}

TokenMask OracleMask(const Vocabulary& vocabulary, PrefixOracle::State state,
                     PrefixOracle* oracle) {
  TokenMask mask(vocabulary.size());
  for (TokenId id = 0; id < vocabulary.size(); ++id)
    if (!vocabulary.IsSpecial(id) &&
        oracle->StepText(state, vocabulary.TokenBytes(id)) != PrefixOracle::kDead)
      mask.Allow(id);
  if (oracle->MayEnd(state))
    for (const TokenId id : vocabulary.stop_ids()) mask.Allow(id);
  return mask;
}

std::string Differences(const Vocabulary& vocabulary, const TokenMask& mask,
                        const TokenMask& expected) {
  std::string text;
  int count = 0;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (mask.Allows(id) == expected.Allows(id) || ++count > 8) continue;
    absl::StrAppend(&text, "\n  token ", id, " \"", absl::CHexEscape(vocabulary.TokenBytes(id)),
                    "\" is ", mask.Allows(id) ? "allowed" : "refused");
  }
  return absl::StrCat(count, " tokens differ", text);
}

TokenId AnyOf(const TokenMask& mask, Random* random) {
  std::vector<TokenId> allowed;
  mask.VisitAllowed([&](TokenId id) { allowed.push_back(id); });
  return allowed[(*random)() % allowed.size()];
}

class FreeTextMasksTest : public testing::TestWithParam<Case> {};

TEST_P(FreeTextMasksTest, AreTheOracles) {
  static const auto* const vocabulary = new std::shared_ptr<const Vocabulary>(HardVocabulary());
  const Vocabulary& tokens = **vocabulary;
  const GrammarSource source = {GetParam().kind, GetParam().source, {}};
  Budget budget = Budget::Unlimited();
  const auto read = ReduceGrammar(source, Limits(), budget);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(PrefixOracle::WhyNot(read->ir), "");
  PrefixOracle oracle(read->ir);
  const auto grammar =
      CompileGrammar(source, TokenizerSpace::Create(*vocabulary), Limits(), budget);
  ASSERT_TRUE(grammar.ok()) << grammar.status();
  Random random(7);
  std::set<PrefixOracle::State> met;
  for (int walk = 0; walk < 60; ++walk) {
    Matcher matcher(*grammar);
    PrefixOracle::State state = oracle.start();
    std::string text;
    for (int step = 0; step < 12; ++step) {
      const absl::StatusOr<MaskRef> mask = matcher.Mask();
      ASSERT_TRUE(mask.ok()) << mask.status();
      if (met.insert(state).second) {
        const TokenMask expected = OracleMask(tokens, state, &oracle);
        ASSERT_TRUE(expected == **mask) << "behind \"" << absl::CHexEscape(text)
                                        << "\": " << Differences(tokens, **mask, expected);
      }
      const TokenId token = AnyOf(**mask, &random);
      ASSERT_TRUE(matcher.Accept(token).ok());
      if (tokens.IsSpecial(token)) break;
      state = oracle.StepText(state, tokens.TokenBytes(token));
      absl::StrAppend(&text, tokens.TokenBytes(token));
    }
  }
  std::cout << met.size() << " states\n";
}

INSTANTIATE_TEST_SUITE_P(Formats, FreeTextMasksTest, testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

struct RealVocabulary {
  std::string name;
  std::string file;  // in build/vocab
  std::vector<std::string> stops = {};
};

// Walks that are the same twice, as long as the masks are.
class FamilyMasksTest : public testing::TestWithParam<RealVocabulary> {
 protected:
  void SetUp() override {
    VocabularySource source;
    source.name = GetParam().name;
    source.path = absl::StrCat(MASKD_SOURCE_DIR, "/build/vocab/", GetParam().file);
    source.stop_tokens = GetParam().stops;
    auto vocabulary = LoadVocabulary(source);
    if (!vocabulary.ok()) GTEST_SKIP() << "NOT TESTED: " << vocabulary.status();
    with_ = TokenizerSpace::Create(*vocabulary);
    without_ = TokenizerSpace::Create(*std::move(vocabulary));
  }
  ~FamilyMasksTest() override { MaskRouteSwitch::AllOn(); }

  static std::string Request(absl::string_view family, absl::string_view choice,
                             absl::string_view reasoning) {
    return absl::StrCat(
        R"({"family":")", family, R"(","reasoning":")", reasoning,
        R"(","request":{"tool_choice":")", choice,
        R"(","tools":[{"type":"function","function":{"name":"tool_a","parameters":{"type":)",
        R"("object","properties":{"path":{"type":"string"},"n":{"type":"integer"},)",
        R"("mode":{"enum":["r","w"]}},"required":["path"],"additionalProperties":false}}},)",
        R"({"type":"function","function":{"name":"tool_b","parameters":{"type":"object"}}}]}})");
  }

  // All masks of some walks; none where the family writes no reasoning.
  static std::vector<MaskRef> Walk(const std::string& request,
                                   const std::shared_ptr<TokenizerSpace>& space) {
    Budget budget = Budget::Unlimited();
    const auto grammar = CompileGrammar({"chat", request, {}}, space, Limits(), budget);
    std::vector<MaskRef> masks;
    if (!grammar.ok()) {
      EXPECT_TRUE(absl::StartsWith(grammar.status().message(), "/reasoning")) << grammar.status();
      return masks;
    }
    Random random(11);
    for (int walk = 0; walk < 2; ++walk) {
      Matcher matcher(*grammar);
      for (int step = 0; step < 20 && !matcher.finished(); ++step) {
        const absl::StatusOr<MaskRef> mask = matcher.Mask();
        if (!mask.ok()) break;
        masks.push_back(*mask);
        if (!matcher.Accept(AnyOf(**mask, &random)).ok()) break;
      }
    }
    return masks;
  }

  std::shared_ptr<TokenizerSpace> with_;
  std::shared_ptr<TokenizerSpace> without_;
};

TEST_P(FamilyMasksTest, AreTheSameWithoutTheRoute) {
  std::size_t compared = 0;
  for (const EmbeddedJson& file : ChatFamilyFiles()) {
    const absl::string_view family(file.uri);
    for (const std::string& request :
         {Request(family, "auto", "off"), Request(family, "auto", "auto"),
          Request(family, "required", "off")}) {
      const std::vector<MaskRef> with = Walk(request, with_);
      MaskRouteSwitch::Off(MaskRoute::kFreeText);
      const std::vector<MaskRef> without = Walk(request, without_);
      MaskRouteSwitch::AllOn();
      ASSERT_EQ(with.size(), without.size()) << request;
      for (std::size_t i = 0; i < with.size(); ++i, ++compared) {
        ASSERT_TRUE(*with[i] == *without[i])
            << request << ", mask " << i << ": "
            << Differences(with_->vocabulary(), *with[i], *without[i]);
      }
    }
  }
  EXPECT_GT(compared, 1000U);
  std::cout << compared << " masks\n";
}

INSTANTIATE_TEST_SUITE_P(
    Vocabularies, FamilyMasksTest,
    testing::Values(RealVocabulary{"Qwen3", "qwen3/tokenizer.json", {"<|im_end|>"}},
                    RealVocabulary{"GptOss", "gpt_oss/tokenizer.json", {"<|return|>", "<|call|>"}},
                    RealVocabulary{"Llama3", "llama3.tiktoken"},
                    RealVocabulary{"DeepSeek", "deepseek/tokenizer.json"},
                    RealVocabulary{"Tekken", "tekken/tekken.json"},
                    RealVocabulary{"Gemma4", "gguf/gemma-4.gguf"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
