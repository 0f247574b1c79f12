// What a vocabulary refuses, what its hash depends on, and what it finds.
#include "grammar_core/tokenizer/vocabulary.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/tokenizer/loader.h"

namespace maskd {
namespace {

using Tokens = std::vector<Vocabulary::Token>;

std::shared_ptr<const Vocabulary> Make(Tokens tokens, std::vector<TokenId> stop_ids) {
  auto made = Vocabulary::Create("test", std::move(tokens), std::move(stop_ids));
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

TEST(VocabularyTest, KeepsBytesKindsAndOrder) {
  const auto vocabulary =
      Make({{"a", false}, {"", false}, {"<e>", true}, {"xyz", false}, {"<b>", true}}, {4, 2, 4});
  EXPECT_EQ(vocabulary->name(), "test");
  EXPECT_EQ(vocabulary->size(), 5);
  EXPECT_EQ(vocabulary->TokenBytes(3), "xyz");
  EXPECT_EQ(vocabulary->TokenBytes(1), "");
  EXPECT_TRUE(vocabulary->IsSpecial(2));
  EXPECT_FALSE(vocabulary->IsSpecial(3));
  EXPECT_THAT(vocabulary->stop_ids(), testing::ElementsAre(2, 4));
  EXPECT_THAT(vocabulary->special_ids(), testing::ElementsAre(2, 4));
}

TEST(VocabularyTest, FindsSpecialTokensAlone) {
  const auto vocabulary = Make({{"a", false}, {"<e>", true}}, {1});
  EXPECT_EQ(vocabulary->FindSpecial("<e>"), 1);
  EXPECT_EQ(vocabulary->FindSpecial("a"), -1);
  EXPECT_EQ(vocabulary->FindSpecial(""), -1);
}

TEST(VocabularyTest, TheLongestTokenIsAnOrdinaryOne) {
  EXPECT_EQ(Make({{"abc", false}, {"<longer>", true}}, {1})->max_token_bytes(), 3);
}

TEST(VocabularyTest, TheLimitsThemselvesAreAllowed) {
  EXPECT_EQ(Make({{std::string(Vocabulary::kMaxTokenBytes, 'a'), false}}, {})->max_token_bytes(),
            Vocabulary::kMaxTokenBytes);
  EXPECT_EQ(Make(Tokens(Vocabulary::kMaxTokens), {})->size(), Vocabulary::kMaxTokens);
}

TEST(VocabularyTest, OneTokenMoreThanTheLimitIsRefused) {
  const auto made = Vocabulary::Create("test", Tokens(Vocabulary::kMaxTokens + 1), {});
  EXPECT_EQ(made.status().message(), "2097153 tokens are more than 2097152");
}

struct RefusedCase {
  std::string name;
  Tokens tokens;
  std::vector<TokenId> stop_ids;
  std::string message;
};

class RefusedTest : public testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedTest, SaysWhichToken) {
  const auto made = Vocabulary::Create("test", GetParam().tokens, GetParam().stop_ids);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(made.status().message(), GetParam().message);
  EXPECT_EQ(ErrorReason(made.status()), "INVALID_TOKENIZER");
}

INSTANTIATE_TEST_SUITE_P(
    Create, RefusedTest,
    testing::ValuesIn(std::vector<RefusedCase>{
        {"NoToken", {}, {}, "a vocabulary has at least one token"},
        {"LongToken",
         {{"a", false}, {std::string(4097, 'a'), false}},
         {},
         "token 1: 4097 bytes are more than 4096"},
        {"SpecialWithoutSpelling",
         {{"a", false}, {"", true}},
         {},
         "token 1: a special token has a spelling"},
        {"SpecialsSpelledAlike",
         {{"<e>", true}, {"<e>", true}},
         {},
         "token 1: the special token 0 is spelled the same"},
        {"NegativeStop", {{"<e>", true}}, {-1}, "stop id -1: not below 1"},
        {"StopOnePast", {{"<e>", true}}, {1}, "stop id 1: not below 1"},
        {"OrdinaryStop", {{"a", false}}, {0}, "stop id 0: not a special token"},
    }),
    [](const auto& test) { return test.param.name; });

// Each differs from {"ab", "c", special "<e>"} with stop 2 in one respect.
struct HashCase {
  std::string name;
  Tokens tokens;
  std::vector<TokenId> stop_ids;
};

class OtherHashTest : public testing::TestWithParam<HashCase> {};

TEST_P(OtherHashTest, IsAnother) {
  const auto base = Make({{"ab", false}, {"c", false}, {"<e>", true}}, {2});
  EXPECT_NE(Make(GetParam().tokens, GetParam().stop_ids)->hash(), base->hash());
}

INSTANTIATE_TEST_SUITE_P(
    Hash, OtherHashTest,
    testing::ValuesIn(std::vector<HashCase>{
        {"BytesMoved", {{"a", false}, {"bc", false}, {"<e>", true}}, {2}},
        {"OrderSwapped", {{"c", false}, {"ab", false}, {"<e>", true}}, {2}},
        {"GapAdded", {{"ab", false}, {"c", false}, {"<e>", true}, {"", false}}, {2}},
        {"KindChanged", {{"ab", false}, {"c", true}, {"<e>", true}}, {2}},
        {"StopDropped", {{"ab", false}, {"c", false}, {"<e>", true}}, {}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(VocabularyTest, TheHashDoesNotDependOnTheNameOrTheOrderOfStops) {
  const Tokens tokens = {{"a", false}, {"<e>", true}, {"<f>", true}};
  const auto one = Vocabulary::Create("one", tokens, {1, 2});
  const auto other = Vocabulary::Create("other", tokens, {2, 1, 2});
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ((*one)->hash(), (*other)->hash());
}

// The hash is part of every grammar's id, on disk and on the wire: it may change only with
// kHashFormat. This one was made with printf and sha256sum from the form in vocabulary.cc.
TEST(VocabularyTest, TheHashIsTheDocumentedOne) {
  EXPECT_EQ(Make({{"a", false}, {"<e>", true}}, {1})->hash(),
            "d7f9d13be47361d43ea2a680dee818f20ff0570ec989a17cbecc4b5eb6ec4c51");
}

TEST(EmbeddedByteVocabularyTest, HasTheBytesAndAnEnd) {
  const auto vocabulary = EmbeddedByteVocabulary();
  ASSERT_EQ(vocabulary->size(), 257);
  for (TokenId id = 0; id < 256; ++id) {
    EXPECT_EQ(vocabulary->TokenBytes(id), std::string(1, static_cast<char>(id)));
    EXPECT_FALSE(vocabulary->IsSpecial(id));
  }
  EXPECT_EQ(vocabulary->FindSpecial("<|end|>"), 256);
  EXPECT_THAT(vocabulary->stop_ids(), testing::ElementsAre(256));
  EXPECT_EQ(vocabulary->max_token_bytes(), 1);
}

}  // namespace
}  // namespace maskd
