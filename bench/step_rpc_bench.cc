// One decode step as an engine sees it: over a Unix socket, through the client library, masks back.
//
//   step_rpc_bench --rows 1,8,64 --tokenizer llama3=build/vocab/llama3.tiktoken,preset=llama3
//
// What is timed  from Submit() to the end of Collect(): the step's message, the socket twice, the
//          server's matchers and masks, the reply's parse. Server and client share this process and
//          its cores, but no memory: every byte goes over the socket.
// Rows     row i follows schema i % count of --schemas and takes an allowed token at random; the
//          schemas are compiled before, and a row that ends opens again in its next step.
// Floors   taken in turn with each step: a step of no row (the round trip alone) and a memcpy of
//          the dense masks' bytes, which a short form need not move. wire_bench counts the wire's.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include <stdlib.h>
#include <unistd.h>

#include "client/cpp/client.h"
#include "service/config.h"
#include "service/server.h"

ABSL_FLAG(std::vector<std::string>, rows, (std::vector<std::string>{"1", "8", "64"}),
          "Batch sizes, separated by commas.");
ABSL_FLAG(std::string, tokenizer, "", "As maskd's --tokenizer; empty for the embedded bytes.");
ABSL_FLAG(std::string, schemas, "examples/schemas", "Folder of the JSON Schemas.");
ABSL_FLAG(bool, short_forms, true, "Whether masks come in the short row forms.");
ABSL_FLAG(int, steps, 2000, "Timed steps of each batch size.");
ABSL_FLAG(int, warmup, 200, "Steps before those, not timed.");

namespace maskd {
namespace {

using client::Client;
using client::MaskStream;
using client::RowResult;
using client::Step;
using client::StepResult;
using client::TokenId;
using Clock = std::chrono::steady_clock;

constexpr absl::Duration kTimeout = absl::Seconds(30);
constexpr int kBitsPerWord = 32;

double MicrosSince(Clock::time_point start) {
  const std::chrono::duration<double, std::micro> elapsed = Clock::now() - start;
  return elapsed.count();
}

// The value that `percent` of the samples do not exceed.
double Percentile(std::vector<double> samples, int percent) {
  const std::size_t at = (samples.size() - 1) * static_cast<std::size_t>(percent) / 100;
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(at),
                   samples.end());
  return samples[at];
}

// What one batch size gave, in microseconds and bytes, one sample a step.
struct Samples {
  std::vector<double> step;
  std::vector<double> empty;
  std::vector<double> copy;
  std::int64_t mask_bytes = 0;
  std::int64_t mask_count = 0;
};

// A server in this process, on a socket in a folder of its own.
class LocalServer {
 public:
  static absl::StatusOr<std::unique_ptr<LocalServer>> Start(const std::string& tokenizer) {
    std::string folder = "/tmp/maskd-bench-XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) {
      return absl::UnavailableError(absl::StrCat(folder, ": cannot be made"));
    }
    auto local = std::unique_ptr<LocalServer>(new LocalServer(folder));
    service::Config config;
    config.listen = {local->address()};
    config.metrics_listen = "";
    if (!tokenizer.empty()) {
      absl::StatusOr<VocabularySource> source = service::ParseTokenizerFlag(tokenizer);
      if (!source.ok()) {
        return source.status();
      }
      config.tokenizers.push_back(*std::move(source));
    }
    auto server = service::Server::Start(config);
    if (!server.ok()) {
      return server.status();
    }
    local->server_ = *std::move(server);
    return local;
  }

  ~LocalServer() {
    if (server_ != nullptr) {
      server_->Drain();
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  [[nodiscard]] std::string address() const { return absl::StrCat("unix:", folder_, "/s"); }

 private:
  explicit LocalServer(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;
  std::unique_ptr<service::Server> server_;
};

// Compiles every schema of `folder`, in order of name, and gives the grammars' ids.
absl::StatusOr<std::vector<std::string>> CompileSchemas(const Client& client,
                                                        const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") {
      paths.push_back(entry.path());
    }
  }
  if (paths.empty()) {
    return absl::NotFoundError(absl::StrCat("--schemas: no .json in ", folder));
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> ids;
  for (const std::filesystem::path& path : paths) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    v1::CompileRequest request;
    request.mutable_grammar()->set_kind("json_schema");
    request.mutable_grammar()->set_source(text.str());
    const absl::StatusOr<v1::CompileResponse> compiled = client.Compile(request);
    if (!compiled.ok()) {
      return absl::Status(compiled.status().code(),
                          absl::StrCat(path.string(), ": ", compiled.status().message()));
    }
    ids.push_back(compiled->grammar_id());
  }
  return ids;
}

// The first allowed token at or after a random place, going round.
TokenId RandomAllowed(std::span<const std::int32_t> words, std::mt19937_64& random) {
  const std::size_t size = words.size() * kBitsPerWord;
  const std::size_t start = random() % size;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t token = (start + i) % size;
    const auto word = static_cast<std::uint32_t>(words[token / kBitsPerWord]);
    if ((word >> (token % kBitsPerWord) & 1U) != 0) {
      return static_cast<TokenId>(token);
    }
  }
  return -1;  // the server never answers such a mask
}

// The engine's side of one batch.
class Batch {
 public:
  Batch(MaskStream* stream, const std::vector<std::string>* grammars, int row_count)
      : stream_(stream), grammars_(grammars), row_count_(row_count) {
    for (int row = 0; row < row_count_; ++row) {
      Open(row);
    }
  }

  // One real step, one empty one, one copy; `samples` null for warm-up.
  absl::Status Turn(Samples* samples) {
    double step_us = 0;
    if (absl::Status run = Exchange(next_, &step_us); !run.ok()) {
      return run;
    }
    const absl::StatusOr<std::int64_t> bytes = Advance(samples);
    if (!bytes.ok()) {
      return bytes.status();
    }
    const double copy_us = TimeCopy(static_cast<std::size_t>(*bytes));
    double empty_us = 0;
    Step empty;
    if (absl::Status run = Exchange(empty, &empty_us); !run.ok()) {
      return run;
    }
    if (samples != nullptr) {
      samples->step.push_back(step_us);
      samples->copy.push_back(copy_us);
      samples->empty.push_back(empty_us);
    }
    return absl::OkStatus();
  }

 private:
  void Open(int row) {
    const std::size_t grammar = static_cast<std::size_t>(row) % grammars_->size();
    next_.Open(static_cast<client::RowId>(row), (*grammars_)[grammar]);
  }

  absl::Status Exchange(Step& step, double* us) {
    const Clock::time_point start = Clock::now();
    const absl::StatusOr<std::uint64_t> number = stream_->Submit(step);
    if (!number.ok()) {
      return number.status();
    }
    absl::Status collected = stream_->Collect(kTimeout, result_);
    *us = MicrosSince(start);
    return collected;
  }

  // Writes the next step from the masks of this one; gives their bytes.
  absl::StatusOr<std::int64_t> Advance(Samples* samples) {
    std::int64_t bytes = 0;
    next_.Clear();
    for (const RowResult& row : result_.rows()) {
      if (!row.error.ok()) {
        return row.error;
      }
      if (!row.has_mask()) {
        next_.Close(row.row);
        Open(static_cast<int>(row.row));
        continue;
      }
      const std::span<const std::int32_t> words = row.masks.front().words();
      bytes += static_cast<std::int64_t>(words.size_bytes());
      const TokenId token = RandomAllowed(words, random_);
      next_.Take(row.row, {&token, 1});
      if (samples != nullptr) {
        ++samples->mask_count;
      }
    }
    if (samples != nullptr) {
      samples->mask_bytes += bytes;
    }
    return bytes;
  }

  double TimeCopy(std::size_t bytes) {
    from_.resize(bytes, 1);
    to_.resize(bytes);
    const Clock::time_point start = Clock::now();
    std::memcpy(to_.data(), from_.data(), bytes);
    asm volatile("" : : "r"(to_.data()) : "memory");  // the copy must not be dropped
    return MicrosSince(start);
  }

  MaskStream* const stream_;
  const std::vector<std::string>* const grammars_;
  const int row_count_;
  std::mt19937_64 random_{1};
  Step next_;
  StepResult result_;
  std::vector<char> from_;
  std::vector<char> to_;
};

absl::StatusOr<Samples> Measure(const Client& client, const std::vector<std::string>& grammars,
                                int row_count, std::uint32_t width) {
  const auto stream =
      client.OpenStream({.logits_width = width, .short_forms = absl::GetFlag(FLAGS_short_forms)});
  if (!stream.ok()) {
    return stream.status();
  }
  Batch batch(stream->get(), &grammars, row_count);
  Samples samples;
  const int warmup = absl::GetFlag(FLAGS_warmup);
  for (int i = 0; i < warmup + absl::GetFlag(FLAGS_steps); ++i) {
    if (absl::Status turn = batch.Turn(i < warmup ? nullptr : &samples); !turn.ok()) {
      return turn;
    }
  }
  const absl::Status closed = (*stream)->Close(kTimeout);
  return closed.ok() ? absl::StatusOr<Samples>(std::move(samples)) : closed;
}

void Print(int row_count, const Samples& samples) {
  const std::int64_t masks = std::max<std::int64_t>(samples.mask_count, 1);
  std::printf("%5d %10lld %10.1f %10.1f %10.1f %10.1f %10.2f %10.2f\n", row_count,
              static_cast<long long>(samples.mask_bytes / masks), Percentile(samples.step, 50),
              Percentile(samples.step, 99), Percentile(samples.empty, 50),
              Percentile(samples.empty, 99), Percentile(samples.copy, 50),
              Percentile(samples.copy, 99));
}

absl::StatusOr<std::vector<int>> RowCounts() {
  std::vector<int> counts;
  for (const std::string& text : absl::GetFlag(FLAGS_rows)) {
    int count = 0;
    if (!absl::SimpleAtoi(text, &count) || count < 1) {
      return absl::InvalidArgumentError(absl::StrCat("--rows: \"", text, "\" is no batch size"));
    }
    counts.push_back(count);
  }
  return counts;
}

absl::Status Run() {
  const absl::StatusOr<std::vector<int>> row_counts = RowCounts();
  if (!row_counts.ok()) {
    return row_counts.status();
  }
  if (absl::GetFlag(FLAGS_steps) < 1) {
    return absl::InvalidArgumentError("--steps: at least one is needed");
  }
  const auto server = LocalServer::Start(absl::GetFlag(FLAGS_tokenizer));
  if (!server.ok()) {
    return server.status();
  }
  const auto client = Client::Connect({.address = (*server)->address()});
  if (!client.ok()) {
    return client.status();
  }
  const auto tokenizer = (*client)->GetTokenizer("");
  if (!tokenizer.ok()) {
    return tokenizer.status();
  }
  const auto grammars = CompileSchemas(**client, absl::GetFlag(FLAGS_schemas));
  if (!grammars.ok()) {
    return grammars.status();
  }
  std::printf("tokenizer %s, %d tokens, %zu schemas, %d steps; microseconds a step\n",
              tokenizer->name().c_str(), static_cast<int>(tokenizer->vocab_size()),
              grammars->size(), absl::GetFlag(FLAGS_steps));
  std::printf("%5s %10s %10s %10s %10s %10s %10s %10s\n", "rows", "bytes/row", "step p50",
              "step p99", "empty p50", "empty p99", "memcpy p50", "memcpy p99");
  for (const int row_count : *row_counts) {
    const auto samples = Measure(**client, *grammars, row_count,
                                 static_cast<std::uint32_t>(tokenizer->vocab_size()));
    if (!samples.ok()) {
      return samples.status();
    }
    Print(row_count, *samples);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace maskd

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Times decode steps over a Unix socket.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = maskd::Run();
  if (!status.ok()) {
    std::fprintf(stderr, "step_rpc_bench: %s\n", status.ToString().c_str());
  }
  return status.ok() ? 0 : 1;
}
