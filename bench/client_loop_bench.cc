// The loop of bench/client_loop.py in C++: what a step of a client costs, whatever its masks are.
//
//   client_loop_bench ADDRESS LOGITS_WIDTH ROWS STEPS grpc|memory [PAUSE_US [WARM_UP [apart]]]
//
// How steps travel, a pause between two of them, and steps before those that count. Each row writes
// [a-z]* with one token a step. Prints the p50, the p99 and the longest of the times from where a
// step's message begins to the end of Collect(), in microseconds.
//
// apart   the time that the calling thread stood ready and had no processor is taken off, as the
//         kernel counts it (schedstat): this shares one with other clients, and stands for a client
//         that has a machine for itself.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include <fcntl.h>
#include <unistd.h>

#include "bench/samples.h"
#include "client/cpp/client.h"

namespace maskd::bench {
namespace {

constexpr absl::Duration kTimeout = absl::Seconds(30);

struct Loop {
  std::string address;
  std::uint32_t width = 0;
  int rows = 0;
  int steps = 0;
  bool shared_memory = false;
  int pause_us = 0;
  int warm_up = 200;
  bool is_apart = false;
};

// What the calling thread has waited for a processor so far.
class Waited {
 public:
  Waited() : file_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
  Waited(const Waited&) = delete;
  Waited& operator=(const Waited&) = delete;
  ~Waited() {
    if (file_ >= 0) close(file_);
  }
  [[nodiscard]] bool ok() const { return file_ >= 0; }

  // The second of three numbers, in nanoseconds.
  [[nodiscard]] double Micros() const {
    constexpr double kNanosAMicro = 1e3;
    std::array<char, 128> text{};
    if (pread(file_, text.data(), text.size() - 1, 0) <= 0) return 0;
    char* second = nullptr;
    std::strtoull(text.data(), &second, 10);
    return static_cast<double>(std::strtoull(second, nullptr, 10)) / kNanosAMicro;
  }

 private:
  const int file_;
};

absl::Status OpenRows(client::MaskStream& stream, const std::string& grammar_id, int rows) {
  client::Step step;
  for (int row = 0; row < rows; ++row) step.Open(static_cast<client::RowId>(row), grammar_id);
  if (absl::Status sent = stream.Submit(step).status(); !sent.ok()) return sent;
  client::StepResult result;
  return stream.Collect(kTimeout, result);
}

absl::StatusOr<std::vector<double>> TimeSteps(client::MaskStream& stream, const Loop& loop,
                                              std::int32_t token) {
  const Waited waited;
  if (loop.is_apart && !waited.ok()) return absl::UnavailableError("the kernel counts no waits");
  std::vector<double> micros;
  client::Step step;
  client::StepResult result;
  for (int i = 0; i < loop.warm_up + loop.steps; ++i) {
    const double before = loop.is_apart ? waited.Micros() : 0;
    const auto start = Clock::now();
    step.Clear();
    for (int row = 0; row < loop.rows; ++row)
      step.Take(static_cast<client::RowId>(row), std::span(&token, 1));
    if (absl::Status sent = stream.Submit(step).status(); !sent.ok()) return sent;
    if (absl::Status got = stream.Collect(kTimeout, result); !got.ok()) return got;
    const double took = MicrosSince(start);
    const double own = loop.is_apart ? waited.Micros() - before : 0;
    if (i >= loop.warm_up) micros.push_back(took - own);
    if (loop.pause_us > 0) absl::SleepFor(absl::Microseconds(loop.pause_us));
  }
  return micros;
}

// The id of a token that is the letter `a`, of the embedded vocabulary and of none else here.
constexpr std::int32_t kLetterA = 'a';

absl::StatusOr<std::vector<double>> Run(const Loop& loop) {
  auto client =
      client::Client::Connect({.address = loop.address, .connect_timeout = absl::Seconds(10)});
  if (!client.ok()) return client.status();
  v1::CompileRequest request;
  request.mutable_grammar()->set_kind("regex");
  request.mutable_grammar()->set_source("[a-z]*");
  const auto compiled = (*client)->Compile(request);
  if (!compiled.ok()) return compiled.status();
  auto stream =
      (*client)->OpenStream({.logits_width = loop.width, .shared_memory = loop.shared_memory});
  if (!stream.ok()) return stream.status();
  if ((*stream)->uses_shared_memory() != loop.shared_memory)
    return absl::UnavailableError("the server shares no memory");
  absl::Status opened = OpenRows(**stream, compiled->grammar_id(), loop.rows);
  if (!opened.ok()) return opened;
  auto micros = TimeSteps(**stream, loop, kLetterA);
  absl::Status closed = (*stream)->Close(kTimeout);
  return closed.ok() ? std::move(micros) : closed;
}

int Main(std::span<char*> arguments) {
  Loop loop;
  const absl::string_view transport = arguments.size() < 6 ? "" : arguments[5];
  const bool pauses = arguments.size() >= 7;
  const bool warms_up = arguments.size() >= 8;
  loop.is_apart = arguments.size() == 9 && absl::string_view(arguments[8]) == "apart";
  if (arguments.size() < 6 || arguments.size() > (loop.is_apart ? 9 : 8) ||
      !absl::SimpleAtoi(arguments[2], &loop.width) || !absl::SimpleAtoi(arguments[3], &loop.rows) ||
      !absl::SimpleAtoi(arguments[4], &loop.steps) ||
      (transport != "grpc" && transport != "memory") ||
      (pauses && !absl::SimpleAtoi(arguments[6], &loop.pause_us)) ||
      (warms_up && !absl::SimpleAtoi(arguments[7], &loop.warm_up))) {
    std::fputs(
        "usage: client_loop_bench ADDRESS LOGITS_WIDTH ROWS STEPS grpc|memory [PAUSE_US "
        "[WARM_UP [apart]]]\n",
        stderr);
    return 2;
  }
  loop.address = arguments[1];
  loop.shared_memory = transport == "memory";
  const auto micros = Run(loop);
  if (!micros.ok()) {
    std::fprintf(stderr, "%s\n", std::string(micros.status().message()).c_str());
    return 1;
  }
  std::printf("%.1f %.1f %.1f\n", Percentile(*micros, 50), Percentile(*micros, 99),
              Percentile(*micros, 100));
  return 0;
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  return maskd::bench::Main({argv, static_cast<std::size_t>(argc)});
}
