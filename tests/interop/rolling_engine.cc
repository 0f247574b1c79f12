// An engine of rolling_restart.py over the C++ client, as README.md ("Rolling restart") says it.
//
//   rolling_engine ADDRESSES LOGITS_WIDTH SEED PAUSE_MS KIND SOURCE [KIND SOURCE]...
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "client/cpp/failover/failover_stream.h"

namespace maskd::client {
namespace {

constexpr std::size_t kRows = 4;
constexpr int kLongest = 48;
constexpr int kReportEvery = 20;
constexpr std::uint64_t kEnd = 256;
constexpr absl::Duration kTimeout = absl::Minutes(1);

class Engine {
 public:
  Engine(std::uint32_t width, std::uint64_t seed, std::vector<v1::Grammar> grammars)
      : width_(width), digest_(seed), grammars_(std::move(grammars)) {}

  // Until a step fails, or nobody reads what it prints.
  absl::Status Run(FailoverStream& stream, absl::Duration pause) {
    for (const RowId row : order_) Open(row);
    for (int steps = 1;; ++steps) {
      if (absl::Status answered = Answer(stream); !answered.ok()) return answered;
      step_.Clear();
      for (std::size_t i = 0; i < kRows; ++i) Move(i);
      if (steps % kReportEvery == 0) {
        std::printf("%d %d %016llx\n", steps, stream.moves(),
                    static_cast<unsigned long long>(digest_));
        if (std::fflush(stdout) != 0) return absl::OkStatus();
      }
      absl::SleepFor(pause);
    }
  }

 private:
  [[nodiscard]] std::size_t words() const { return (width_ + 31) / 32; }

  void Open(RowId row) {
    step_.Open(row, grammars_[row % grammars_.size()]).WaitForCompile(kTimeout / 2);
  }

  // Fills the masks by a step that goes well.
  absl::Status Answer(FailoverStream& stream) {
    absl::Status done = stream.Submit(step_).status();
    if (done.ok()) done = stream.Collect(kTimeout, result_);
    for (const RowResult& row : result_.rows())
      if (done.ok() && !row.error.ok()) done = row.error;
    if (!done.ok()) return done;
    return result_.CopyMasks(order_, {.words = masks_.data(),
                                      .row_count = kRows,
                                      .row_words = static_cast<std::int64_t>(words())});
  }

  // Gives a row the token that its mask and all masks before it lead to.
  void Move(std::size_t i) {
    const auto mask = std::span(masks_).subspan(i * words(), words());
    for (const std::int32_t word : mask)
      digest_ = (digest_ ^ static_cast<std::uint32_t>(word)) * 1'099'511'628'211;
    std::uint64_t token = (digest_ >> 33) % width_;
    while ((static_cast<std::uint32_t>(mask[token / 32]) >> (token % 32) & 1) == 0)
      token = (token + 1) % width_;
    if (token != kEnd && ++lengths_[i] < kLongest) {
      const auto id = static_cast<TokenId>(token);
      step_.Take(order_[i], std::span(&id, 1));
      return;
    }
    step_.Close(order_[i]);
    order_[i] += kRows + 1;
    lengths_[i] = 0;
    Open(order_[i]);
  }

  const std::uint32_t width_;
  std::uint64_t digest_;
  const std::vector<v1::Grammar> grammars_;
  std::array<RowId, kRows> order_ = {0, 1, 2, 3};
  std::array<int, kRows> lengths_ = {};
  std::vector<std::int32_t> masks_ = std::vector<std::int32_t>(kRows * words());
  Step step_;
  StepResult result_;
};

absl::Status Run(std::span<char*> arguments) {
  FailoverStream::Options options;
  std::uint64_t seed = 0;
  int pause_ms = 0;
  if (arguments.size() < 7 || !absl::SimpleAtoi(arguments[2], &options.stream.logits_width) ||
      !absl::SimpleAtoi(arguments[3], &seed) || !absl::SimpleAtoi(arguments[4], &pause_ms))
    return absl::InvalidArgumentError(
        "usage: rolling_engine ADDRESSES LOGITS_WIDTH SEED PAUSE_MS KIND SOURCE...");
  options.addresses = absl::StrSplit(arguments[1], ',');
  std::vector<v1::Grammar> grammars;
  for (std::size_t i = 5; i + 1 < arguments.size(); i += 2) {
    v1::Grammar& grammar = grammars.emplace_back();
    grammar.set_kind(arguments[i]);
    grammar.set_source(arguments[i + 1]);
  }
  const auto stream = FailoverStream::Open(options);
  if (!stream.ok()) return stream.status();
  Engine engine(options.stream.logits_width, seed, std::move(grammars));
  return engine.Run(**stream, absl::Milliseconds(pause_ms));
}

}  // namespace
}  // namespace maskd::client

int main(int argc, char** argv) {
  const absl::Status done = maskd::client::Run({argv, static_cast<std::size_t>(argc)});
  if (!done.ok()) std::fprintf(stderr, "%s\n", done.ToString().c_str());
  return done.ok() ? 0 : 1;
}
