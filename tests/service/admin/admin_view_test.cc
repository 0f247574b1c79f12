#include "service/admin/admin_view.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/base/log.h"
#include "service/grammars/tokenizer_store.h"

namespace maskd::service {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::Not;
using testing::SizeIs;

memory::Accountant::Options WithLimit(std::int64_t bytes) {
  memory::Accountant::Options options;
  options.limit_bytes = bytes;
  return options;
}

class AdminViewTest : public testing::Test {
 protected:
  AdminViewTest() {
    SilenceLog();
    tokenizers_ = std::make_unique<TokenizerShelf>(*TokenizerStore::Load({}, 1 << 20));
    config_.warm_up_ms = 0;
    StoreMachinery machinery;
    machinery.compiles = StoreMachinery::Compiles::kWhenTaken;
    grammars_ = std::make_unique<GrammarStore>(config_, nullptr, std::move(machinery));
  }

  AdminView View() {
    return AdminView({.streams = &streams_,
                      .grammars = grammars_.get(),
                      .tokenizers = tokenizers_.get(),
                      .accountant = &accountant_,
                      .limits = [] { return std::vector<LimitInUse>{{"max_streams", 1, 2}}; }});
  }

  // A grammar of the words "a0" to "aN-1".
  cache::GrammarPtr Compile(int words) {
    std::string text = "[\"a0\"";
    for (int i = 1; i < words; ++i) absl::StrAppend(&text, ",\"a", i, "\"");
    GrammarTarget target;
    target.source = GrammarSource{"choice", text + "]", {}};
    auto request = grammars_->Get(target, tokenizers_->now()->all().front());
    EXPECT_TRUE(request.ok()) << request.status();
    if (const auto compile = grammars_->TakeCompile()) compile();
    return *request->ticket.result();
  }

  Config config_;
  StreamRegistry streams_{{.in_all = 10'000, .of_a_peer = 10'000}};
  std::unique_ptr<TokenizerShelf> tokenizers_;
  std::unique_ptr<GrammarStore> grammars_;
  memory::Accountant accountant_{WithLimit(std::int64_t{1} << 40)};
};

TEST_F(AdminViewTest, AStreamIsThereWithWhatItHasDone) {
  const Clock::TimePoint begin = Clock::Steady()->Now();
  const auto figures = std::make_shared<StreamFigures>(StreamFigures::Who{"token:x", "red"}, begin);
  auto stream = streams_.Add("uid:7", [](StreamRegistry::Notice) {}, figures);
  ASSERT_TRUE(stream.ok());
  const auto look = [&] { return View().ListStreams(StreamOrder::kAge, {.size = 9}).Take().at(0); };
  EXPECT_FALSE(look().has_place);
  EXPECT_FALSE(look().values.transport.has_value()) << "no step has come";
  ASSERT_TRUE(stream->TakePlace().ok());
  figures->StepBegan(metrics::Transport::kGrpc, begin);
  EXPECT_TRUE(look().in_step.has_value());
  EXPECT_EQ(look().idle, Clock::Duration::zero());
  figures->StepDone(begin + milliseconds(3), milliseconds(2), 10, 200);
  figures->SetRows({1, 2, 3, 4, 5}, 77);
  const ListedStream seen = look();
  EXPECT_TRUE(seen.has_place);
  EXPECT_EQ(seen.peer, "uid:7");
  EXPECT_EQ(seen.who.identity, "token:x");
  EXPECT_EQ(seen.who.tenant, "red");
  EXPECT_EQ(seen.values.transport, metrics::Transport::kGrpc);
  EXPECT_EQ(seen.values.steps, 1);
  EXPECT_EQ(seen.values.step_time, milliseconds(2));
  EXPECT_EQ(seen.values.received_bytes, 10);
  EXPECT_EQ(seen.values.sent_bytes, 200);
  EXPECT_EQ(seen.values.tokens, 77);
  EXPECT_THAT(seen.values.rows, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_FALSE(seen.in_step.has_value());
}

TEST_F(AdminViewTest, ManyStreamsAreWalkedInPartsAndEachIsSeenOnce) {
  constexpr int kMany = 3 * static_cast<int>(AdminView::kAtOnce) / 2 + 1;
  std::vector<StreamRegistry::Registration> streams;
  std::vector<std::shared_ptr<StreamFigures>> figures;
  for (int i = 0; i < kMany; ++i) {
    figures.push_back(std::make_shared<StreamFigures>(StreamFigures::Who{absl::StrCat(i), "all"},
                                                      Clock::Steady()->Now()));
    figures.back()->SetRows({i, 0, 0, 0, 0}, 0);
    streams.push_back(*streams_.Add("a", [](StreamRegistry::Notice) {}, figures.back()));
  }
  AdminPage<ListedStream> page = View().ListStreams(StreamOrder::kRows, {.size = 500});
  EXPECT_EQ(page.total(), kMany);
  const std::vector<ListedStream> all = page.Take();
  ASSERT_THAT(all, SizeIs(kMany));
  for (int i = 0; i < kMany; ++i) EXPECT_EQ(all[i].who.identity, absl::StrCat(kMany - 1 - i));
}

TEST_F(AdminViewTest, AGrammarIsThereWithItsUsers) {
  const cache::GrammarPtr grammar = Compile(2);
  Compile(2);  // a hit
  const cache::RowOfGrammar row(grammars_->live().UsageOf(grammar));
  const cache::RowOfGrammar fork = row;
  const auto all = View().ListGrammars(GrammarOrder::kHits, {.size = 10}).Take();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].grammar->id(), grammar->id());
  EXPECT_EQ(all[0].usage->hits, 1);
  EXPECT_EQ(all[0].usage->rows, 2);
}

TEST_F(AdminViewTest, AGrammarThatTheCacheHasDroppedIsSeenWhileSomebodyUsesIt) {
  cache::GrammarPtr grammar = Compile(2);
  grammars_->Shrink(1 << 30);
  Compile(3);
  grammars_->Shrink(1 << 30);
  EXPECT_EQ(View().ListGrammars(GrammarOrder::kMemory, {.size = 10}).total(), 2);
  grammar = nullptr;
  EXPECT_EQ(View().ListGrammars(GrammarOrder::kMemory, {.size = 10}).total(), 1);
}

TEST_F(AdminViewTest, TheGrammarsWithTheMostMemoryComeFirst) {
  Compile(2);
  const std::string large = Compile(2000)->id();
  Compile(3);
  const auto all = View().ListGrammars(GrammarOrder::kMemory, {.size = 2}).Take();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].grammar->id(), large);
}

TEST_F(AdminViewTest, MemoryHasItsPartsAndItsMark) {
  const MemoryInUse memory = View().memory();
  EXPECT_EQ(memory.limit_bytes, std::int64_t{1} << 40);
  EXPECT_FALSE(memory.mark.has_value());
  EXPECT_THAT(memory.parts, Not(testing::IsEmpty()));
  EXPECT_EQ(memory.parts.front().first, "grammars");
  memory::Accountant full(WithLimit(1));
  full.Tick();
  EXPECT_EQ(full.passed(), memory::Mark::kHigh);
}

}  // namespace
}  // namespace maskd::service
