// Progress of an object against sets of names written so far.
#include "grammar_core/terms/object_progress.h"

#include <optional>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

class ObjectProgressTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kMembers = 3;  // a and c are required, b is not

  void Make(bool any_order, bool others) {
    IrBuilder b{Limits()};
    const RuleId rule = b.DeclareRule("start", "1:1");
    ObjectSpec spec;
    spec.members = {
        {"a", b.Bytes("1"), true}, {"b", b.Bytes("22"), false}, {"c", b.Bytes("333"), true}};
    if (others) spec.others.push_back({b.Repeat(b.AnyChar(), 0, kUnbounded), b.Bytes("0")});
    spec.space = b.Empty();
    spec.any_order = any_order;
    b.DefineRule(rule, b.Object(spec));
    ir_ = *std::move(b).Build(rule);
    facts_.emplace(*GrammarFacts::Create(ir_, Limits(), budget_));
    progress_.emplace(*facts_, 0, Limits().emptiness_states, &held_bytes_);
  }

  // Behind member `member`, whose only value it is.
  std::uint32_t Write(std::uint32_t at, std::uint32_t member) {
    const auto written = progress_->Write(at, member, work_);
    EXPECT_EQ(written.size(), 1);
    return written.empty() ? at : written[0].progress;
  }

  // Goes through all orders; `written` and `last` say what is behind.
  void Walk(bool any_order, std::uint32_t at, std::vector<bool> written, int last, int* states) {
    ++*states;
    EXPECT_EQ(progress_->MayClose(at), written[0] && written[2]);
    for (std::uint32_t member = 0; member < kMembers; ++member) {
      bool may = !written[member];
      // In declared order nothing that was passed over comes later, so nothing required may be.
      if (!any_order) may = std::cmp_greater(member, last) && (member == 0 || written[0]);
      ASSERT_EQ(progress_->MayWrite(at, member, work_), may) << member;
      if (!may) continue;
      std::vector<bool> more = written;
      more[member] = true;
      Walk(any_order, Write(at, member), more, static_cast<int>(member), states);
    }
  }

  Budget budget_ = Budget::Unlimited();
  Work work_{budget_};
  GrammarIr ir_;
  std::optional<GrammarFacts> facts_;
  std::int64_t held_bytes_ = 0;
  std::optional<ObjectProgress> progress_;
};

TEST_F(ObjectProgressTest, DeclaredOrder) {
  Make(false, false);
  int states = 0;
  Walk(false, progress_->start(), {false, false, false}, -1, &states);
  EXPECT_EQ(states, 5);  // none, a, ab, abc, ac
}

TEST_F(ObjectProgressTest, AnyOrder) {
  Make(true, false);
  int states = 0;
  Walk(true, progress_->start(), {false, false, false}, -1, &states);
  EXPECT_EQ(states, 1 + 3 + 6 + 6);
  EXPECT_GT(held_bytes_, 0) << "what is interned is counted";
}

// Which names are behind counts, not how they came.
TEST_F(ObjectProgressTest, EqualSetsAreOneNumber) {
  Make(true, false);
  EXPECT_EQ(Write(Write(progress_->start(), 0), 1), Write(Write(progress_->start(), 1), 0));
  EXPECT_NE(Write(progress_->start(), 0), Write(progress_->start(), 1));
}

TEST_F(ObjectProgressTest, OthersMayComeAgainAndAgain) {
  Make(true, true);
  EXPECT_TRUE(progress_->MayWriteOthers(progress_->start(), 0, work_));
  const std::uint32_t once = progress_->WriteOthers(progress_->start(), 0);
  EXPECT_TRUE(progress_->MayWriteOthers(once, 0, work_));
  EXPECT_FALSE(progress_->MayClose(once));
  EXPECT_TRUE(progress_->MayClose(Write(Write(once, 0), 2)));
}

TEST_F(ObjectProgressTest, NothingMayComeBehindTheLastMember) {
  Make(false, false);
  const std::uint32_t a = Write(progress_->start(), 0);
  EXPECT_TRUE(progress_->MayWriteAny(a, work_));
  EXPECT_FALSE(progress_->MayWriteAny(Write(a, 2), work_));
}

// "a":1, and "c":333, with their commas; the brace is the end's.
TEST_F(ObjectProgressTest, BoundsAreBytesOfWhatMustStillCome) {
  Make(false, false);
  EXPECT_EQ(progress_->RequiredBytes(progress_->start(), 0), 6 + 8);
  const std::uint32_t a = Write(progress_->start(), 0);
  EXPECT_EQ(progress_->RequiredBytes(a, 0), 8);
  EXPECT_EQ(progress_->RequiredBytes(Write(a, 2), 0), 0);
  EXPECT_EQ(progress_->EndBytes(0), 1);
}

TEST_F(ObjectProgressTest, AnotherAutomatonsIsAdoptedByWhatItMeans) {
  Make(true, false);
  const std::uint32_t there = Write(Write(progress_->start(), 1), 0);
  std::int64_t held = 0;
  ObjectProgress other(*facts_, 0, Limits().emptiness_states, &held);
  const std::uint32_t here = other.Adopt(*progress_, there);
  EXPECT_TRUE(other.Key(here) == progress_->Key(there));
  EXPECT_FALSE(other.MayWrite(here, 0, work_));
  EXPECT_FALSE(other.MayWrite(here, 1, work_));
  EXPECT_TRUE(other.MayWrite(here, 2, work_));
}

}  // namespace
}  // namespace maskd
