// Decode steps as an engine sees them: over a Unix socket, through the client library, masks back.
//
//   step_rpc_bench --rows 1,8,64,256 --tokenizer llama3=build/vocab/llama3.tiktoken,preset=llama3
//       --cases ../shared/maskbench/open.jsonl.gz
//
// step     from Submit() to the end of Collect(): the step's message, the socket twice, the
//          server's matchers and masks, the reply's parse; with --copy the masks' copy into dense
//          rows too.
// empty    a step of no row on the same stream, after the others: the round trip alone.
// wait     with --forward_us: how long Collect() waits for its reply after a pause of so long since
//          Submit(); and how long the rest of it takes, the handing over.
// cpu      processor time of all threads, a step. The client's is taken from Submit() to Collect();
//          the server is a process of its own and its own program, --server.
// Rows     --cases: row i follows document i % --documents; one that ends begins anew in its next
//          step. The first --warmup steps are not counted: enough of them and every mask is known.
//          Without: random texts of the schemas of a folder.
// Load     --compiles_per_second: grammars that the server has not seen, sent meanwhile; the rate
//          that was reached is printed, and what a compile took its caller.
// Beside   --beside: another stream, of one row that follows a regex at random; its own step's time
//          is printed too. --forward_us is its pause between two steps as well.
// Way      --transport: grpc, memory (shared with the server), or both, one after the other.
// Peers    --documents_out writes the documents and --figures_out the figures, as JSON, for
//          bench/peers/steps.py.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include <nlohmann/json.hpp>

#include "bench/samples.h"
#include "bench/server_process.h"
#include "bench/step_loads.h"
#include "bench/step_rows.h"
#include "client/cpp/client.h"
#include "client/cpp/steps/mask_plane.h"
#include "service/config/config.h"

ABSL_FLAG(std::vector<std::string>, rows, (std::vector<std::string>{"1", "8", "64"}),
          "Batch sizes, separated by commas.");
ABSL_FLAG(std::string, server, MASKD_BINARY, "The server's program.");
ABSL_FLAG(std::string, tokenizer, "", "As maskd's --tokenizer; empty for the embedded bytes.");
ABSL_FLAG(std::string, schemas, "examples/schemas", "Folder of the JSON Schemas, without --cases.");
ABSL_FLAG(std::string, cases, "", "MaskBench cases, for rows of whole documents.");
ABSL_FLAG(int, documents, 64, "Documents of them.");
ABSL_FLAG(bool, short_forms, true, "Whether masks come in the short row forms.");
ABSL_FLAG(std::string, copy, "none",
          "What becomes of a step's masks: none; rows: each is copied into a row of words; plane: "
          "rows of words are kept from step to step.");
ABSL_FLAG(int, drafts, 0, "Draft tokens of each row and step; needs --cases.");
ABSL_FLAG(int, forward_us, 0, "Microseconds between a step's Submit() and its Collect().");
ABSL_FLAG(bool, read_ahead, false, "Whether replies are read between Submit() and Collect().");
ABSL_FLAG(std::vector<std::string>, transport, (std::vector<std::string>{"grpc"}),
          "How steps travel: grpc, memory, or both, separated by commas.");
ABSL_FLAG(absl::Duration, awake, absl::Microseconds(200),
          "How long Collect() looks for its reply.");
ABSL_FLAG(int, compiles_per_second, 0, "New grammars compiled meanwhile.");
ABSL_FLAG(std::string, beside, "", "A regex that a stream of its own follows meanwhile.");
ABSL_FLAG(std::vector<std::string>, server_flags, {}, "More of the server, separated by commas.");
ABSL_FLAG(std::string, documents_out, "", "File for the rows' schemas and tokens.");
ABSL_FLAG(std::string, figures_out, "", "File for the figures.");
ABSL_FLAG(int, steps, 2000, "Timed steps of each batch size.");
ABSL_FLAG(int, warmup, 500, "Steps before those, not timed.");

namespace maskd::bench {
namespace {

using client::Client;
using client::MaskStream;
using client::RowResult;
using client::Step;
using client::StepResult;

constexpr absl::Duration kTimeout = absl::Seconds(30);

// What one batch size gave, in microseconds.
struct Samples {
  std::vector<double> step;
  std::vector<double> wait;
  std::vector<double> hand_over;
  std::vector<double> empty;
  std::vector<double> beside;
  std::vector<double> compiles;
  double client_cpu = 0;  // of all steps
  double server_cpu = 0;
  double compiles_per_second = 0;  // those reached
};

// The engine's side of one batch.
class Batch {
 public:
  Batch(MaskStream* stream, StepRows* rows, const std::vector<std::string>* grammars, int row_count)
      : stream_(stream),
        rows_(rows),
        grammars_(grammars),
        plane_(static_cast<std::size_t>(row_count) * stream->welcome().mask_words()),
        mask_plane_(Buffer()) {
    for (int row = 0; row < row_count; ++row) Open(row);
  }

  // One step and what its masks make of the next; `samples` null for warm-up.
  absl::Status Turn(Samples* samples) {
    if (absl::Status run = Exchange(next_, samples); !run.ok()) return run;
    return Advance();
  }

  absl::Status TurnEmpty(Samples* samples) {
    Step empty;
    const auto start = Clock::now();
    if (absl::Status sent = stream_->Submit(empty).status(); !sent.ok()) return sent;
    absl::Status collected = stream_->Collect(kTimeout, result_);
    samples->empty.push_back(MicrosSince(start));
    return collected;
  }

 private:
  void Open(int row) {
    rows_->Start(row);
    next_.Open(static_cast<client::RowId>(row), (*grammars_)[rows_->SchemaOf(row)]);
  }

  absl::Status Exchange(Step& step, Samples* samples) {
    const double cpu = ClockMicros(CLOCK_PROCESS_CPUTIME_ID);
    const auto start = Clock::now();
    if (absl::Status sent = stream_->Submit(step).status(); !sent.ok()) return sent;
    if (const int forward = absl::GetFlag(FLAGS_forward_us); forward > 0)
      std::this_thread::sleep_until(start + std::chrono::microseconds(forward));
    const auto wait = Clock::now();
    absl::Status collected = stream_->Collect(kTimeout, result_);
    const double collect_us = MicrosSince(wait);
    if (collected.ok() && absl::GetFlag(FLAGS_copy) != "none") collected = CopyMasks();
    if (samples != nullptr) {
      samples->step.push_back(MicrosSince(start));
      samples->wait.push_back(absl::ToDoubleMicroseconds(stream_->waited()));
      samples->hand_over.push_back(collect_us - samples->wait.back());
      samples->client_cpu += ClockMicros(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    }
    return collected;
  }

  absl::Status CopyMasks() {
    order_.clear();
    for (const RowResult& row : result_.rows())
      if (!row.masks.empty()) order_.push_back(row.row);
    std::ranges::sort(order_);  // as an engine has its rows, whichever were opened now
    if (absl::GetFlag(FLAGS_copy) == "plane") return mask_plane_.Write(result_, order_);
    return result_.CopyMasks(order_, Buffer());
  }

  client::MaskBuffer Buffer() {
    const std::int64_t words = stream_->welcome().mask_words();
    return {plane_.data(), static_cast<std::int64_t>(plane_.size()) / words, words};
  }

  // Writes the next step from the masks of this one.
  absl::Status Advance() {
    next_.Clear();
    const int drafts = absl::GetFlag(FLAGS_drafts);
    for (const RowResult& row : result_.rows()) {
      if (!row.error.ok()) return row.error;
      const int id = static_cast<int>(row.row);
      const auto mask = [&row] { return row.masks.front().words(); };
      const auto tokens =
          row.has_mask() ? rows_->Next(id, mask, 1 + drafts) : std::span<const TokenId>();
      if (tokens.empty()) {
        next_.Close(row.row);
        Open(id);
        continue;
      }
      next_.Take(row.row, tokens.first(1));
      if (drafts > 0) next_.Draft(row.row, tokens.subspan(1));
    }
    return absl::OkStatus();
  }

  MaskStream* const stream_;
  StepRows* const rows_;
  const std::vector<std::string>* const grammars_;
  Step next_;
  StepResult result_;
  std::vector<client::RowId> order_;
  std::vector<std::int32_t> plane_;
  client::MaskPlane mask_plane_;
};

// What does not change from batch size to batch size.
struct Setup {
  std::unique_ptr<StepRows> rows;
  std::unique_ptr<ServerProcess> server;
  std::unique_ptr<Client> client;
  std::vector<std::string> grammars;
  std::uint32_t width = 0;
};

absl::StatusOr<Samples> Measure(const Setup& setup, bool shared_memory, int row_count) {
  const auto stream = setup.client->OpenStream({.logits_width = setup.width,
                                                .short_forms = absl::GetFlag(FLAGS_short_forms),
                                                .read_ahead = absl::GetFlag(FLAGS_read_ahead),
                                                .shared_memory = shared_memory,
                                                .awake = absl::GetFlag(FLAGS_awake)});
  if (!stream.ok()) return stream.status();
  if ((*stream)->uses_shared_memory() != shared_memory)
    return absl::UnavailableError("--transport: the server lends no memory");
  Batch batch(stream->get(), setup.rows.get(), &setup.grammars, row_count);
  for (int i = 0; i < absl::GetFlag(FLAGS_warmup); ++i)
    if (absl::Status turn = batch.Turn(nullptr); !turn.ok()) return turn;
  Samples samples;
  CompileLoad load(setup.client.get(), &setup.rows->schemas(),
                   absl::GetFlag(FLAGS_compiles_per_second));
  std::unique_ptr<StreamLoad> beside;
  if (const std::string regex = absl::GetFlag(FLAGS_beside); !regex.empty()) {
    auto started = StreamLoad::Start({.server = setup.server->address(),
                                      .regex = regex,
                                      .width = setup.width,
                                      .pause_us = absl::GetFlag(FLAGS_forward_us)});
    if (!started.ok()) return started.status();
    beside = *std::move(started);
  }
  const int steps = absl::GetFlag(FLAGS_steps);
  const double cpu = setup.server->CpuMicros();
  const auto begin = Clock::now();
  for (int i = 0; i < steps; ++i)
    if (absl::Status turn = batch.Turn(&samples); !turn.ok()) return turn;
  const double seconds = MicrosSince(begin) / 1e6;
  samples.server_cpu = setup.server->CpuMicros() - cpu;
  samples.compiles = load.Stop();
  samples.compiles_per_second = static_cast<double>(samples.compiles.size()) / seconds;
  for (int i = 0; i < steps; ++i)
    if (absl::Status turn = batch.TurnEmpty(&samples); !turn.ok()) return turn;
  if (beside != nullptr) {
    auto besides = beside->Stop();
    if (!besides.ok()) return besides.status();
    samples.beside = *std::move(besides);
  }
  const absl::Status closed = (*stream)->Close(kTimeout);
  return closed.ok() ? absl::StatusOr<Samples>(std::move(samples)) : closed;
}

// The figures of one batch size by name, in the order in which they are printed.
std::vector<std::pair<std::string, double>> FiguresOf(const Samples& samples) {
  const double steps = absl::GetFlag(FLAGS_steps);
  std::vector<std::pair<std::string, double>> figures = {
      {"step p50", Percentile(samples.step, 50)},   {"step p99", Percentile(samples.step, 99)},
      {"empty p50", Percentile(samples.empty, 50)}, {"empty p99", Percentile(samples.empty, 99)},
      {"client cpu", samples.client_cpu / steps},   {"server cpu", samples.server_cpu / steps}};
  if (absl::GetFlag(FLAGS_forward_us) > 0) {
    figures.emplace_back("wait p50", Percentile(samples.wait, 50));
    figures.emplace_back("wait p99", Percentile(samples.wait, 99));
    figures.emplace_back("hand p50", Percentile(samples.hand_over, 50));
    figures.emplace_back("hand p99", Percentile(samples.hand_over, 99));
  }
  if (!absl::GetFlag(FLAGS_beside).empty()) {
    figures.emplace_back("beside p50", Percentile(samples.beside, 50));
    figures.emplace_back("beside p99", Percentile(samples.beside, 99));
  }
  if (absl::GetFlag(FLAGS_compiles_per_second) > 0) {
    figures.emplace_back("compiles/s", samples.compiles_per_second);
    figures.emplace_back("compile50", Percentile(samples.compiles, 50));
    figures.emplace_back("compile99", Percentile(samples.compiles, 99));
  }
  return figures;
}

void Print(const std::string& transport, int row_count, const Samples& samples) {
  std::printf("%-6s %5d", transport.c_str(), row_count);
  for (const auto& [name, value] : FiguresOf(samples)) std::printf(" %10.1f", value);
  std::printf("\n");
}

void PrintHead(const Setup& setup) {
  std::printf("%zu schemas, %d tokens wide, %d steps; microseconds\n", setup.grammars.size(),
              static_cast<int>(setup.width), absl::GetFlag(FLAGS_steps));
  std::printf("%-6s %5s", "way", "rows");
  for (const auto& [name, value] : FiguresOf({})) std::printf(" %10s", name.c_str());
  std::printf("\n");
}

// Adds what one batch size gave to the file of the figures, a line of JSON.
void WriteFigures(const std::string& transport, int row_count, const Samples& samples) {
  if (absl::GetFlag(FLAGS_figures_out).empty()) return;
  nlohmann::json line = {{"rows", row_count}, {"transport", transport}};
  for (const auto& [name, value] : FiguresOf(samples)) line[name] = value;
  std::ofstream(absl::GetFlag(FLAGS_figures_out), std::ios::app) << line.dump() << "\n";
}

void WriteDocuments(const StepRows& rows) {
  if (absl::GetFlag(FLAGS_documents_out).empty()) return;
  std::ofstream out(absl::GetFlag(FLAGS_documents_out));
  for (std::size_t i = 0; i < rows.schemas().size(); ++i) {
    const std::span<const TokenId> text = rows.TextOf(i);
    const nlohmann::json line = {{"schema", rows.schemas()[i]},
                                 {"tokens", std::vector<TokenId>(text.begin(), text.end())}};
    out << line.dump() << "\n";
  }
}

absl::StatusOr<std::vector<int>> RowCounts() {
  std::vector<int> counts;
  for (const std::string& text : absl::GetFlag(FLAGS_rows)) {
    int count = 0;
    if (!absl::SimpleAtoi(text, &count) || count < 1)
      return absl::InvalidArgumentError(absl::StrCat("--rows: \"", text, "\" is no batch size"));
    counts.push_back(count);
  }
  return counts;
}

absl::StatusOr<std::unique_ptr<StepRows>> MakeRows() {
  const std::string cases = absl::GetFlag(FLAGS_cases);
  if (cases.empty()) return RandomRows(absl::GetFlag(FLAGS_schemas));
  auto tokenizer = service::ParseTokenizerFlag(absl::GetFlag(FLAGS_tokenizer));
  if (!tokenizer.ok()) return tokenizer.status();
  return DocumentRows(cases, *tokenizer, absl::GetFlag(FLAGS_documents));
}

absl::Status CompileAll(Setup* setup) {
  for (const std::string& schema : setup->rows->schemas()) {
    const auto compiled = setup->client->Compile(CompileRequestOf(schema));
    if (!compiled.ok()) return compiled.status();
    setup->grammars.push_back(compiled->grammar_id());
  }
  return absl::OkStatus();
}

absl::StatusOr<Setup> SetUp() {
  Setup setup;
  auto rows = MakeRows();
  if (!rows.ok()) return rows.status();
  setup.rows = *std::move(rows);
  std::vector<std::string> arguments = absl::GetFlag(FLAGS_server_flags);
  if (const std::string tokenizer = absl::GetFlag(FLAGS_tokenizer); !tokenizer.empty())
    arguments.push_back(absl::StrCat("--tokenizer=", tokenizer));
  auto server = ServerProcess::Start(absl::GetFlag(FLAGS_server), arguments);
  if (!server.ok()) return server.status();
  setup.server = *std::move(server);
  auto client =
      Client::Connect({.address = setup.server->address(), .connect_timeout = absl::Seconds(60)});
  if (!client.ok()) return client.status();
  setup.client = *std::move(client);
  const auto tokenizer = setup.client->GetTokenizer("");
  if (!tokenizer.ok()) return tokenizer.status();
  setup.width = static_cast<std::uint32_t>(tokenizer->vocab_size());
  if (absl::Status compiled = CompileAll(&setup); !compiled.ok()) return compiled;
  return setup;
}

absl::Status Run() {
  const absl::StatusOr<std::vector<int>> row_counts = RowCounts();
  if (!row_counts.ok()) return row_counts.status();
  for (const std::string& transport : absl::GetFlag(FLAGS_transport)) {
    if (transport == "grpc" || transport == "memory") continue;
    return absl::InvalidArgumentError(absl::StrCat("--transport: \"", transport, "\" is no way"));
  }
  if (const std::string copy = absl::GetFlag(FLAGS_copy);
      copy != "none" && copy != "rows" && copy != "plane") {
    return absl::InvalidArgumentError(absl::StrCat("--copy: \"", copy, "\" is no way"));
  }
  if (absl::GetFlag(FLAGS_steps) < 1)
    return absl::InvalidArgumentError("--steps: at least one is needed");
  const absl::StatusOr<Setup> setup = SetUp();
  if (!setup.ok()) return setup.status();
  WriteDocuments(*setup->rows);
  PrintHead(*setup);
  for (const int row_count : *row_counts) {
    for (const std::string& transport : absl::GetFlag(FLAGS_transport)) {
      const auto samples = Measure(*setup, transport == "memory", row_count);
      if (!samples.ok()) return samples.status();
      Print(transport, row_count, *samples);
      WriteFigures(transport, row_count, *samples);
      std::fflush(stdout);
    }
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Times decode steps over a Unix socket.");
  absl::ParseCommandLine(argc, argv);
  // As the server does: Debian's Abseil looks for deadlocks at each lock otherwise.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const absl::Status status = maskd::bench::Run();
  if (!status.ok()) std::fprintf(stderr, "step_rpc_bench: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
