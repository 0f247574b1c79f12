// What a stream's rows take beside what is counted for them, by jemalloc's own count.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "grammar_core/base/heap.h"
#include "maskd/v1/mask_service.pb.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_store.h"
#include "service/sequences/row_counts.h"
#include "service/streams/stream_host.h"
#include "service/streams/stream_terms.h"
#include "service/wire/step_exchange.h"

// jemalloc's, where the program has it.
extern "C" [[gnu::weak]] int mallctl(const char* name, void* old, std::size_t* old_size,
                                     void* value, std::size_t size);

namespace maskd::service {
namespace {

// Without what this thread has freed and jemalloc keeps for it, which it counts as allocated: how
// much that is depends on what ran before.
std::int64_t AllocatedBytes() {
  mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  return ReadHeap()->allocated;
}

// One more than fill a hash table of 4,096 slots: what is kept in its slots lies twice.
constexpr int kRows = 3'585;
constexpr int kVocabulary = 257;

class RowMemoryTest : public testing::Test {
 protected:
  RowMemoryTest()
      : tokenizers_(std::move(*TokenizerStore::Load({}, 1 << 20))),
        grammars_(NothingAhead(), nullptr) {
    host_.grammars = &grammars_;
    host_.limits.max_rows = kRows;
  }

  static Config NothingAhead() {
    Config config;
    config.warm_up_ms = 0;
    config.look_ahead_masks = 0;
    return config;
  }

  std::unique_ptr<StepExchange> OpenStream() {
    Hello hello;
    hello.logits_width = kVocabulary;
    const auto terms = AgreeOnTerms(hello, tokenizers_, host_.limits);
    EXPECT_TRUE(terms.ok()) << terms.status();
    return std::make_unique<StepExchange>(host_, *terms);
  }

  void Run(StepExchange& stream, v1::DecodeRequest& request) {
    request.mutable_step()->set_step(++step_);
    ASSERT_TRUE(stream.Begin(request.SerializeAsString()).ok());
    const auto reply = stream.Finish([] { return false; });
    ASSERT_TRUE(reply.ok()) << reply.status();
    v1::DecodeResponse response;
    ASSERT_TRUE(response.ParseFromArray(reply->data(), static_cast<int>(reply->size())));
    for (const v1::RowReply& row : response.step().rows())
      ASSERT_FALSE(row.has_error()) << row.error().message();
    stream.LookAhead();
  }

  static void AddRow(int id, v1::DecodeRequest* request) {
    v1::OpenRow& open = *request->mutable_step()->add_open();
    open.set_row(static_cast<std::uint64_t>(id));
    open.mutable_grammar()->set_kind("choice");
    open.mutable_grammar()->set_source(R"(["yes","no"])");
  }

  TokenizerStorePtr tokenizers_;
  GrammarStore grammars_;
  StreamHost host_;
  std::uint64_t step_ = 0;
};

TEST_F(RowMemoryTest, RowsTakeLittleMoreThanIsCounted) {
  if (!ReadHeap().has_value()) GTEST_SKIP() << "NOT TESTED: needs jemalloc";
  const std::unique_ptr<StepExchange> stream = OpenStream();
  v1::DecodeRequest first;
  first.mutable_step()->set_wait_for_compile_ms(10'000);
  AddRow(0, &first);
  Run(*stream, first);
  const std::int64_t counted_before = LiveRowBytes();
  const std::int64_t held_before = AllocatedBytes();
  {
    v1::DecodeRequest others;
    others.mutable_step()->set_wait_for_compile_ms(10'000);
    for (int id = 1; id < kRows; ++id) AddRow(id, &others);
    Run(*stream, others);
  }
  {
    // A step without rows: what the last one took for its answers is in use no more.
    v1::DecodeRequest empty;
    Run(*stream, empty);
  }
  const std::int64_t counted = LiveRowBytes() - counted_before;
  const std::int64_t held = AllocatedBytes() - held_before;
  EXPECT_GT(counted, kRows * std::int64_t{256});
  EXPECT_LE(held, counted * 5 / 4)
      << held / kRows << " bytes a row, " << counted / kRows << " counted";
}

}  // namespace
}  // namespace maskd::service
