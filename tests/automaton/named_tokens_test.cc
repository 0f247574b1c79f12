// Tokens that a grammar names: each mask bit against a step by that token, and the languages by
// table.
#include "grammar_core/derivatives/named_tokens.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/ir/ir_builder.h"
#include "grammar_core/mask/token_index.h"
#include "grammar_core/rows/masked_automaton.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

constexpr TokenId kAb = 2;
constexpr TokenId kCall = 4;
constexpr TokenId kOther = 5;
constexpr TokenId kEnd = 6;

std::shared_ptr<const Vocabulary> TestVocabulary() {
  std::vector<Vocabulary::Token> tokens = {
      {"a"}, {"b"}, {"ab"}, {"\""}, {"<call>", true}, {"<other>", true}, {"<end>", true}};
  return *Vocabulary::Create("test", std::move(tokens), {kEnd});
}

TokenSpec Named(const char* name) { return {.names = {name}, .place = "1:2"}; }

class NamedTokensTest : public testing::Test {
 protected:
  absl::Status Build(NodeId body) {
    const RuleId start = builder_.DeclareRule("start", "");
    builder_.DefineRule(start, body);
    ir_ = *std::move(builder_).Build(start);
    auto automaton = MaskedAutomaton::Create(ir_, &masks_, Limits(), budget_);
    if (!automaton.ok()) return automaton.status();
    automaton_ = *std::move(automaton);
    return absl::OkStatus();
  }

  // Takes the tokens; at each state the mask must say what each single step says.
  bool Accepts(const std::vector<TokenId>& tokens) {
    TermId state = automaton_->start();
    for (const TokenId token : tokens) {
      CheckMask(state);
      std::size_t taken = 0;
      state = automaton_->StepToken(state, token, &taken, work_);
      if (state == kNothingTerm) return false;
    }
    CheckMask(state);
    return automaton_->MayEnd(state);
  }

  void CheckMask(TermId state) {
    const MaskRef mask = automaton_->TextMask(state, work_);
    for (TokenId id = 0; id < index_.vocabulary().size(); ++id) {
      std::size_t taken = 0;
      const bool takes = automaton_->StepToken(state, id, &taken, work_) != kNothingTerm;
      EXPECT_EQ(mask->Allows(id), takes) << id;
    }
  }

  IrBuilder builder_{Limits()};
  GrammarIr ir_;
  TokenIndex index_{TestVocabulary()};
  MaskStore masks_{&index_, 1 << 20};
  Budget budget_ = Budget::Unlimited();
  Work work_{budget_};
  std::unique_ptr<MaskedAutomaton> automaton_;
};

TEST_F(NamedTokensTest, ASpecialTokenStandsWhereItIsNamed) {
  ASSERT_TRUE(Build(builder_.Concat({builder_.Repeat(builder_.Bytes("a"), 0, kUnbounded),
                                     builder_.Tokens(Named("<call>")), builder_.Bytes("b")}))
                  .ok());
  EXPECT_TRUE(Accepts({0, 0, kCall, 1}));
  EXPECT_TRUE(Accepts({kCall, 1}));
  EXPECT_FALSE(Accepts({0, kCall}));
  EXPECT_FALSE(Accepts({0, kOther, 1}));
  EXPECT_FALSE(Accepts({0, 1}));
}

TEST_F(NamedTokensTest, BothWaysOfATokenGoOn) {
  const NodeId by_id = builder_.Tokens({.ids = {{kAb, kAb}}});
  ASSERT_TRUE(
      Build(builder_.Alt({builder_.Concat({by_id, builder_.Bytes("a")}), builder_.Bytes("abb")}))
          .ok());
  EXPECT_TRUE(Accepts({kAb, 0}));
  EXPECT_TRUE(Accepts({kAb, 1}));
  EXPECT_TRUE(Accepts({0, 1, 1}));
  EXPECT_FALSE(Accepts({0, 1, 0}));  // "ab" in two tokens is not the token
}

TEST_F(NamedTokensTest, AComplementHoldsNoStopToken) {
  ASSERT_TRUE(
      Build(builder_.Repeat(builder_.Tokens({.ids = {{0, kCall}}, .negated = true}), 0, 2)).ok());
  EXPECT_TRUE(Accepts({kOther, kOther}));
  EXPECT_FALSE(Accepts({kEnd}));
  EXPECT_FALSE(Accepts({kCall}));
  EXPECT_FALSE(Accepts({kOther, kOther, kOther}));
}

TEST_F(NamedTokensTest, InsideARepeatAndACall) {
  const RuleId rule = builder_.DeclareRule("turn", "");
  builder_.DefineRule(rule, builder_.Concat({builder_.Optional(builder_.Bytes("b")),
                                             builder_.Tokens(Named("<other>"))}));
  ASSERT_TRUE(Build(builder_.Repeat(builder_.Call(rule), 1, kUnbounded)).ok());
  EXPECT_TRUE(Accepts({kOther, 1, kOther}));
  EXPECT_FALSE(Accepts({kOther, 1}));
}

TEST_F(NamedTokensTest, UnknownNamesAreErrorsAtTheirPlace) {
  const absl::Status status = Build(builder_.Tokens(Named("<nowhere>")));
  EXPECT_EQ(status.message(), "1:2: the vocabulary test has no special token \"<nowhere>\"");
  EXPECT_EQ(ErrorPlace(status), "1:2");
}

TEST_F(NamedTokensTest, IdsOutOfRangeAreErrors) {
  const absl::Status status = Build(builder_.Tokens({.ids = {{5, 7}}, .place = "3:1"}));
  EXPECT_EQ(status.message(), "3:1: token ids 5 to 7 are not in [0, 7)");
}

TEST_F(NamedTokensTest, ASetOfNoTokenIsAnError) {
  const absl::Status status =
      Build(builder_.Tokens({.ids = {{0, 5}}, .negated = true, .place = "3:1"}));
  EXPECT_EQ(status.message(), "3:1: the set holds no token of the vocabulary");
}

}  // namespace
}  // namespace maskd
