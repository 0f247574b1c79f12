// Every promise of matcher.h, on small grammars and a vocabulary with the awkward tokens.
#include "grammar_core/matcher/matcher.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/compile/pipeline.h"
#include "tests/base/night.h"
#include "tests/matcher/test_vocabulary.h"
#include "tests/oracle/prefix_oracle.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;

std::shared_ptr<const CompiledGrammar> Compiled(const std::string& kind, const std::string& text,
                                                WhiteSpace white_space = WhiteSpace::kFlexible) {
  GrammarSource source = {kind, text, {}};
  source.options.white_space = white_space;
  Budget budget = Budget::Unlimited();
  return *CompileGrammar(source, TokenizerSpace::Create(TestVocabulary()), Limits(), budget);
}

constexpr char kObject[] =
    R"({"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"string","maxLength":3},)"
    R"("c":{"type":"array","items":{"type":"integer"}}},"required":["b"]})";

void TakeText(Matcher* matcher, absl::string_view text) {
  for (const char byte : text)
    ASSERT_TRUE(matcher->Accept(static_cast<unsigned char>(byte)).ok()) << text;
}

TokenMask MaskOf(Matcher* matcher) { return **matcher->Mask(); }

std::vector<TokenId> AllowedBy(const TokenMask& mask) {
  std::vector<TokenId> ids;
  for (TokenId id = 0; id < mask.vocab_size(); ++id)
    if (mask.Allows(id)) ids.push_back(id);
  return ids;
}

// A uniformly chosen token of the mask; the stop id only where nothing else is left.
TokenId AnyToken(const TokenMask& mask, Random* random) {
  std::vector<TokenId> ids = AllowedBy(mask);
  if (ids.size() > 1) ids.erase(std::remove(ids.begin(), ids.end(), kEnd), ids.end());
  return ids[(*random)() % ids.size()];
}

TEST(MatcherTest, TakesExactlyWhatTheMaskAllows) {
  const auto grammar = Compiled("json_schema", kObject);
  for (const char* text : {"", "{", "{\"", "{\"b\":", "{\"b\":\"\\", "{\"b\":\"\\u00",
                           "{\"b\":\"xyz\"", "{\"b\":\"\"}"}) {
    Matcher matcher(grammar);
    TakeText(&matcher, text);
    const TokenMask mask = MaskOf(&matcher);
    EXPECT_FALSE(mask.empty());
    for (TokenId id = 0; id < kVocabSize; ++id) {
      Matcher tried = matcher.Fork();
      EXPECT_EQ(tried.Accept(id).ok(), mask.Allows(id)) << text << " then " << id;
    }
  }
}

struct RefusedCase {
  const char* name;
  TokenId token;
  absl::StatusCode code;
};

class RefusedTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedTest, LeavesTheMatcherAsItWas) {
  Matcher matcher(Compiled("json_schema", kObject));
  TakeText(&matcher, "{\"a");
  const TokenMask before = MaskOf(&matcher);
  const absl::Status refused = matcher.Accept(GetParam().token);
  EXPECT_EQ(refused.code(), GetParam().code) << refused;
  EXPECT_EQ(MaskOf(&matcher), before);
  EXPECT_EQ(matcher.token_count(), 3);
  TakeText(&matcher, "\":true,\"b\":\"\"}");
  EXPECT_TRUE(matcher.may_end());
}

INSTANTIATE_TEST_SUITE_P(
    Tokens, RefusedTest,
    testing::ValuesIn(std::vector<RefusedCase>{
        {"MinusOne", -1, absl::StatusCode::kOutOfRange},
        {"LeastInteger", std::numeric_limits<TokenId>::min(), absl::StatusCode::kOutOfRange},
        {"OnePast", kVocabSize, absl::StatusCode::kOutOfRange},
        {"GreatestInteger", std::numeric_limits<TokenId>::max(), absl::StatusCode::kOutOfRange},
        {"FirstByteFits", kOpenName + 2, absl::StatusCode::kInvalidArgument},
        {"ControlCharacter", '\n', absl::StatusCode::kInvalidArgument},
        {"Gap", kGap, absl::StatusCode::kInvalidArgument},
        {"Special", kOther, absl::StatusCode::kInvalidArgument},
        {"StopTooEarly", kEnd, absl::StatusCode::kInvalidArgument},
    }),
    [](const auto& test) { return test.param.name; });

TEST(MatcherTest, ARefusalNamesTheToken) {
  Matcher matcher(Compiled("choice", R"(["no"])"));
  const absl::Status refused = matcher.Accept(kTrue);
  EXPECT_NE(refused.message().find("\"true\""), absl::string_view::npos) << refused;
}

TEST(MatcherTest, StopIsAllowedWhereTheTextMayEnd) {
  Matcher matcher(Compiled("choice", R"(["ab","abc"])"));
  for (const char byte : std::string("ab")) {
    EXPECT_FALSE(matcher.may_end());
    EXPECT_FALSE(MaskOf(&matcher).Allows(kEnd));
    TakeText(&matcher, absl::string_view(&byte, 1));
  }
  EXPECT_TRUE(matcher.may_end());
  EXPECT_EQ(AllowedBy(MaskOf(&matcher)), (std::vector<TokenId>{'c', kEnd}));
  TakeText(&matcher, "c");
  EXPECT_EQ(AllowedBy(MaskOf(&matcher)), std::vector<TokenId>{kEnd});
}

TEST(MatcherTest, OwnStopIdsTakeThePlaceOfTheVocabularys) {
  // A special token and an ordinary one, which then is a stop and no text.
  Matcher matcher(Compiled("choice", R"(["xy","xyz"])"), {kOther, 'z'});
  EXPECT_EQ(AllowedBy(MaskOf(&matcher)), std::vector<TokenId>{'x'});
  EXPECT_FALSE(matcher.Accept(kOther).ok());
  TakeText(&matcher, "xy");
  EXPECT_EQ(AllowedBy(MaskOf(&matcher)), (std::vector<TokenId>{'z', kOther}));
  EXPECT_FALSE(matcher.Accept(kEnd).ok());
  for (const TokenId stop : {static_cast<TokenId>('z'), kOther}) {
    Matcher ended = matcher.Fork();
    EXPECT_TRUE(ended.Accept(stop).ok());
    EXPECT_TRUE(ended.finished());
  }
}

TEST(MatcherTest, MasksAreStoredUnlessOwnStopIdsChangeThem) {
  const auto grammar = Compiled("choice", R"(["ab","abc"])");
  Matcher plain(grammar);
  Matcher own(grammar, {kOther});
  EXPECT_EQ(plain.Mask()->get(), own.Mask()->get());
  EXPECT_NE((*plain.Mask())->serial(), 0);
  TakeText(&plain, "ab");
  TakeText(&own, "ab");
  EXPECT_EQ(plain.Mask()->get(), plain.Fork().Mask()->get());
  const MaskRef changed = *own.Mask();
  EXPECT_NE(changed.get(), plain.Mask()->get());
  EXPECT_EQ(changed->serial(), 0);
  own = Matcher(grammar);
  EXPECT_TRUE(changed->Allows(kOther)) << "it outlives the matcher";
}

// Masks are shared by keys, in which a count beyond the reach of one token is any such count.
TEST(MatcherTest, AfterGrammarsOfOtherCountsAGrammarHasItsOwnMasks) {
  const int reach = TestVocabulary()->max_token_bytes();
  for (int count = 1; count <= reach + 3; ++count) {
    std::vector<std::string> schemas;
    for (const char* body : {"^[ab]*$$", "^[ab]{0,$0}$$", "^[ab]{$0,}$$", "^[ab]{$0,$1}$$"}) {
      const std::string pattern = absl::Substitute(body, count, count + 1);
      // No letter may be a b where the count leaves only room for two.
      schemas.push_back(absl::Substitute(
          R"({"type":"string","pattern":"$0","allOf":[{"pattern":"a{$1}|b{$2}"}]})", pattern, count,
          count + 1));
      schemas.push_back(absl::Substitute(
          R"({"type":"string","pattern":"^[ab]{0,$1}$$","not":{"pattern":"$0"}})", pattern, count));
    }
    for (int order = 0; order < 2; ++order) {
      const auto shared = TokenizerSpace::Create(TestVocabulary());
      for (const std::string& schema : schemas) {
        SCOPED_TRACE(schema);
        Budget budget = Budget::Unlimited();
        const GrammarSource source = {"json_schema", schema, {}};
        const auto grammar = CompileGrammar(source, shared, Limits(), budget);
        if (!grammar.ok()) continue;  // no text is left
        Matcher matcher(*grammar);
        Matcher alone(Compiled("json_schema", schema));
        for (const char byte : {'"', 'a', 'a'}) {
          if (!matcher.Accept(static_cast<unsigned char>(byte)).ok()) break;
          TakeText(&alone, {&byte, 1});
          EXPECT_EQ(AllowedBy(MaskOf(&matcher)), AllowedBy(MaskOf(&alone))) << byte;
        }
      }
      std::reverse(schemas.begin(), schemas.end());
    }
  }
}

TEST(MatcherTest, AMaskOutlivesItsGrammar) {
  MaskRef mask;
  std::vector<TokenId> allowed;
  {
    const auto grammar = Compiled("choice", R"(["ab","abc"])");
    mask = *Matcher(grammar).Mask();
    allowed = AllowedBy(*mask);
  }
  EXPECT_TRUE(mask->Allows('a'));
  EXPECT_EQ(AllowedBy(*mask), allowed);
}

TEST(MatcherTest, ALimitHurtsOneCallAndNotTheGrammar) {
  Limits limits;
  limits.step_work = 100;
  Budget budget = Budget::Unlimited();
  const auto grammar = *CompileGrammar({"json_schema", kObject, {}},
                                       TokenizerSpace::Create(TestVocabulary()), limits, budget);
  Matcher limited(grammar);
  Matcher free(Compiled("json_schema", kObject));
  int refused = 0;
  int made = 0;
  // Single bytes cost too little to meet the limit, masks do or do not.
  for (const char byte : std::string("{\"b\":\"xyz\",\"c\":[1,23]}")) {
    const absl::StatusOr<MaskRef> mask = limited.Mask();
    if (mask.ok()) {
      ++made;
      EXPECT_EQ(**mask, MaskOf(&free));
    } else {
      ++refused;
      EXPECT_EQ(mask.status().code(), absl::StatusCode::kResourceExhausted);
    }
    TakeText(&limited, absl::string_view(&byte, 1));
    TakeText(&free, absl::string_view(&byte, 1));
  }
  EXPECT_TRUE(limited.may_end());
  EXPECT_GT(refused, 0);
  EXPECT_GT(made, 0);
}

TEST(MatcherTest, AfterTheEndTokensCountAndChangeNothing) {
  Matcher matcher(Compiled("choice", R"(["a"])"));
  TakeText(&matcher, "a");
  ASSERT_TRUE(matcher.Accept(kEnd).ok());
  EXPECT_TRUE(matcher.finished());
  EXPECT_FALSE(matcher.may_end());
  for (const TokenId token : {TokenId{'x'}, kEnd, kOther, TokenId{-1}})
    EXPECT_TRUE(matcher.Accept(token).ok());
  EXPECT_EQ(matcher.token_count(), 6);
  EXPECT_EQ(*matcher.Mask(), nullptr);
  EXPECT_EQ(*matcher.ForcedBytes(8), "");
  EXPECT_EQ(*matcher.ShortestCompletion(8), "");
  EXPECT_EQ(matcher.MatchText("a")->matched_bytes, 0);
  ASSERT_TRUE(matcher.Rollback(4).ok());
  EXPECT_TRUE(matcher.finished());
  ASSERT_TRUE(matcher.Rollback(1).ok());
  EXPECT_FALSE(matcher.finished());
  EXPECT_EQ(AllowedBy(MaskOf(&matcher)), std::vector<TokenId>{kEnd});
}

TEST(MatcherTest, RollbackOfEveryCountIsAFreshReplay) {
  const auto grammar = Compiled("json_schema", kObject);
  Matcher full(grammar);
  std::vector<TokenId> tokens;
  for (const char byte : std::string("{\"b\":\"x\"}")) tokens.push_back(byte);
  // The end, and tokens behind it.
  tokens.insert(tokens.end(), {kEnd, 'z', kEnd});
  for (const TokenId token : tokens) ASSERT_TRUE(full.Accept(token).ok());
  const int count = static_cast<int>(tokens.size());
  for (int back = 0; back <= count; ++back) {
    Matcher rolled = full.Fork();
    ASSERT_TRUE(rolled.Rollback(back).ok());
    Matcher fresh(grammar);
    for (int i = 0; i < count - back; ++i) ASSERT_TRUE(fresh.Accept(tokens[i]).ok());
    EXPECT_EQ(rolled.token_count(), fresh.token_count());
    ASSERT_EQ(rolled.finished(), fresh.finished()) << back;
    EXPECT_EQ(rolled.may_end(), fresh.may_end());
    if (!fresh.finished()) EXPECT_EQ(MaskOf(&rolled), MaskOf(&fresh)) << back;
    // It goes on from there as if nothing had been.
    for (int i = count - back; i < count; ++i) EXPECT_TRUE(rolled.Accept(tokens[i]).ok());
  }
}

TEST(MatcherTest, RollbackPastTheStartIsRefusedAndChangesNothing) {
  Matcher matcher(Compiled("json_schema", kObject));
  TakeText(&matcher, "{ ");
  const TokenMask before = MaskOf(&matcher);
  for (const int count : {-1, 3, std::numeric_limits<int>::max()})
    EXPECT_EQ(matcher.Rollback(count).code(), absl::StatusCode::kOutOfRange) << count;
  EXPECT_EQ(matcher.token_count(), 2);
  EXPECT_EQ(MaskOf(&matcher), before);
}

TEST(MatcherTest, AForkAndItsOriginalDoNotMeet) {
  Matcher original(Compiled("json_schema", kObject));
  TakeText(&original, "{\"");
  const TokenMask before = MaskOf(&original);
  Matcher fork = original.Fork();
  TakeText(&fork, "b\":\"\"}");
  ASSERT_TRUE(fork.Accept(kEnd).ok());
  EXPECT_EQ(MaskOf(&original), before);
  EXPECT_EQ(original.token_count(), 2);
  TakeText(&original, "a\":");
  EXPECT_TRUE(fork.finished());
  ASSERT_TRUE(fork.Rollback(fork.token_count() - 2).ok());
  EXPECT_EQ(MaskOf(&fork), before);
}

struct ForcedCase {
  const char* name;
  const char* schema;
  const char* text;
  const char* forced;
};

class ForcedTest : public testing::TestWithParam<ForcedCase> {};

TEST_P(ForcedTest, BytesThatMustCome) {
  Matcher matcher(Compiled("json_schema", GetParam().schema, WhiteSpace::kCompact));
  TakeText(&matcher, GetParam().text);
  EXPECT_EQ(*matcher.ForcedBytes(100), GetParam().forced);
  EXPECT_EQ(*matcher.ForcedBytes(1), std::string(GetParam().forced).substr(0, 1));
  EXPECT_EQ(*matcher.ForcedBytes(0), "");
}

constexpr char kConsts[] =
    R"({"type":"object","properties":{"x":{"const":true},"y":{"type":"null"}},)"
    R"("required":["x","y"],"additionalProperties":false})";

INSTANTIATE_TEST_SUITE_P(Places, ForcedTest,
                         testing::ValuesIn(std::vector<ForcedCase>{
                             {"UpToANameWithItsSpellings", kConsts, "", "{\""},
                             {"FromTheNameOn", kConsts, "{\"x", "\":true,\""},
                             {"ToTheEnd", kConsts, "{\"x\":true,\"y", "\":null}"},
                             {"AtTheEnd", kConsts, "{\"x\":true,\"y\":null}", ""},
                             {"AChoice", R"({"type":"boolean"})", "", ""},
                             {"WhereTheTextMayEnd", R"({"enum":[1,12]})", "1", ""},
                             {"EscapeOfOneCharacter", R"({"enum":["ab"]})", "\"\\u", "0061"},
                             {"BytesOfOneCharacter", R"({"enum":["\u20ac"]})", "\"\xe2",
                              "\x82\xac\""},
                         }),
                         [](const auto& test) { return test.param.name; });

// Length of the shortest text from `start`, by breadth first over the oracle's states.
int ShortestByOracle(PrefixOracle* oracle, PrefixOracle::State start) {
  std::deque<std::pair<PrefixOracle::State, int>> queue = {{start, 0}};
  std::set<PrefixOracle::State> met = {start};
  while (!queue.empty()) {
    const auto [state, length] = queue.front();
    queue.pop_front();
    if (oracle->MayEnd(state)) return length;
    for (int byte = 0; byte < 256; ++byte) {
      const PrefixOracle::State next = oracle->Step(state, static_cast<unsigned char>(byte));
      if (next != PrefixOracle::kDead && met.insert(next).second)
        queue.push_back({next, length + 1});
    }
  }
  return -1;
}

class ShortestCompletionTest : public testing::TestWithParam<const char*> {};

TEST_P(ShortestCompletionTest, IsAsShortAsBreadthFirstFinds) {
  const auto grammar = Compiled("json_schema", GetParam(), WhiteSpace::kCompact);
  Budget budget = Budget::Unlimited();
  const auto read = ReduceGrammar(grammar->source(), Limits(), budget);
  ASSERT_TRUE(read.ok());
  PrefixOracle oracle(read->ir);
  Random random(11);
  for (int steps = 0; steps < 20; steps += ByNight(3, 1)) {
    Matcher matcher(grammar);
    PrefixOracle::State state = oracle.start();
    for (int i = 0; i < steps; ++i) {
      const TokenId token = AnyToken(MaskOf(&matcher), &random);
      if (token == kEnd) break;
      ASSERT_TRUE(matcher.Accept(token).ok());
      state = oracle.StepText(state, grammar->tokenizer().vocabulary().TokenBytes(token));
    }
    const std::string rest = *matcher.ShortestCompletion(100);
    EXPECT_EQ(static_cast<int>(rest.size()), ShortestByOracle(&oracle, state)) << rest;
    EXPECT_TRUE(oracle.MayEnd(oracle.StepText(state, rest))) << rest;
    TakeText(&matcher, rest);
    EXPECT_TRUE(matcher.may_end());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, ShortestCompletionTest,
    testing::Values(R"({"type":"boolean"})", R"({"enum":["long","\u20ac","xyz"]})",
                    R"({"type":"string","minLength":3,"maxLength":5})",
                    R"({"type":"array","items":{"type":"null"},"minItems":2,"maxItems":3})",
                    R"({"type":"object","properties":{"a":{"const":1},"b":{"const":2}},)"
                    R"("required":["b"],"additionalProperties":false})",
                    R"({"anyOf":[{"const":123},{"type":"array","items":{"$ref":"#"}}]})"));

TEST(MatcherTest, CompletionLongerThanAskedIsALimit) {
  Matcher matcher(Compiled("choice", R"(["abcdef"])"));
  EXPECT_EQ(*matcher.ShortestCompletion(6), "abcdef");
  EXPECT_EQ(matcher.ShortestCompletion(5).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(matcher.token_count(), 0);
}

struct MatchCase {
  const char* name;
  const char* text;
  int matched_bytes;
  bool may_end;
};

class MatchTextTest : public testing::TestWithParam<MatchCase> {};

TEST_P(MatchTextTest, FromHere) {
  Matcher matcher(Compiled("json_schema", R"({"type":"array","items":{"enum":["ab","a"]}})"));
  TakeText(&matcher, "[");
  const TokenMask before = MaskOf(&matcher);
  const auto match = matcher.MatchText(GetParam().text);
  ASSERT_TRUE(match.ok());
  EXPECT_EQ(match->matched_bytes, GetParam().matched_bytes);
  EXPECT_EQ(match->may_end, GetParam().may_end);
  EXPECT_EQ(MaskOf(&matcher), before);
  EXPECT_EQ(matcher.token_count(), 1);
}

INSTANTIATE_TEST_SUITE_P(Texts, MatchTextTest,
                         testing::ValuesIn(std::vector<MatchCase>{
                             {"Empty", "", 0, false},
                             {"Whole", "\"ab\", \"a\"]", 10, true},
                             {"Part", "\"a", 2, false},
                             {"StopsInAToken", "\"abc\"]", 3, false},
                             {"StopsAtOnce", "1", 0, false},
                             {"MoreThanWhole", "]]", 1, true},
                         }),
                         [](const auto& test) { return test.param.name; });

// What a walk saw: each mask's words, each token taken.
struct Trace {
  std::vector<TokenMask> masks;
  std::vector<TokenId> tokens;
  bool operator==(const Trace&) const = default;
};

Trace WalkOf(const std::shared_ptr<const CompiledGrammar>& grammar, std::uint64_t seed) {
  Random random(seed);
  Trace trace;
  Matcher matcher(grammar);
  for (int i = 0; i < 80 && !matcher.finished(); ++i) {
    trace.masks.push_back(MaskOf(&matcher));
    trace.tokens.push_back(AnyToken(trace.masks.back(), &random));
    EXPECT_TRUE(matcher.Accept(trace.tokens.back()).ok());
    if (i % 7 == 6) EXPECT_TRUE(matcher.Rollback(3).ok());
  }
  return trace;
}

TEST(MatcherTest, ManyThreadsOnOneGrammarSeeWhatOneThreadSees) {
  constexpr int kThreads = 16;
  constexpr int kWalks = 8;
  const auto shared = Compiled("json_schema", kObject);
  std::vector<std::vector<Trace>> seen(kThreads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&shared, &mine = seen[thread], thread] {
      // Half of the walks are the same in all threads: they meet at the same new states.
      for (int walk = 0; walk < kWalks; ++walk)
        mine.push_back(WalkOf(shared, walk % 2 == 0 ? walk : thread * kWalks + walk));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto alone = Compiled("json_schema", kObject);
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int walk = 0; walk < kWalks; ++walk) {
      const Trace expected = WalkOf(alone, walk % 2 == 0 ? walk : thread * kWalks + walk);
      EXPECT_TRUE(seen[thread][walk] == expected) << thread << " " << walk;
    }
  }
}

}  // namespace
}  // namespace maskd
