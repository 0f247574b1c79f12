// Steps that are long to answer: each kind of them was once a stall of every other stream.
//
// Steps follow each other without a pause, so the server always has one of them at work. What the
// program itself does between two of them is kept small: texts of tokens are made before they are
// timed where they may repeat.
#include "bench/heavy_streams.h"

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

#include "bench/samples.h"
#include "bench/step_rows.h"

namespace maskd::bench {
namespace {

using client::Client;
using client::MaskStream;
using client::RowId;
using client::RowResult;
using client::StepResult;

constexpr absl::Duration kTimeout = absl::Seconds(120);
constexpr int kBytes = 256;
constexpr TokenId kThreeBytes = 1 << 14;  // ids from here on take three bytes on the wire

// A stream and what is needed to write tokens of its vocabulary.
class Heavy {
 public:
  static absl::StatusOr<Heavy> Open(const HeavyOptions& options) {
    Heavy heavy(options);
    auto client = Client::Connect(
        {.address = options.address, .connect_timeout = kTimeout, .call_timeout = kTimeout});
    if (!client.ok()) return client.status();
    heavy.client_ = *std::move(client);
    auto tokens = heavy.client_->ListTokens(options.tokenizer);
    if (!tokens.ok()) return tokens.status();
    heavy.ReadTokens(*tokens);
    auto stream =
        heavy.client_->OpenStream({.tokenizer = options.tokenizer,
                                   .logits_width = static_cast<std::uint32_t>(tokens->size()),
                                   .awake = absl::ZeroDuration()});
    if (!stream.ok()) return stream.status();
    heavy.stream_ = *std::move(stream);
    return heavy;
  }

  absl::StatusOr<std::string> Compile(const std::string& kind, const std::string& source) {
    v1::CompileRequest request;
    request.set_tokenizer(options_.tokenizer);
    request.mutable_grammar()->set_kind(kind);
    request.mutable_grammar()->set_source(source);
    auto compiled = client_->Compile(request);
    if (!compiled.ok()) return compiled.status();
    return compiled->grammar_id();
  }

  // One byte a token.
  void Write(absl::string_view text, std::vector<TokenId>* tokens) const {
    for (const char byte : text) tokens->push_back(of_byte_[static_cast<unsigned char>(byte)]);
  }
  [[nodiscard]] const std::vector<TokenId>& words() const { return words_; }

  // The step's answer, whose rows are looked at; timed with `counts`.
  absl::Status Run(client::Step& step, bool counts) {
    const auto start = Clock::now();
    if (absl::Status sent = stream_->Submit(step).status(); !sent.ok()) return sent;
    const std::size_t bytes = step.message().ByteSizeLong();
    if (absl::Status got = stream_->Collect(kTimeout, result_); !got.ok()) return got;
    if (counts) {
      work_.micros.push_back(MicrosSince(start));
      ++work_.steps;
      work_.bytes += static_cast<std::int64_t>(bytes);
    }
    for (const RowResult& row : result_.rows()) Note(row);
    return absl::OkStatus();
  }

  [[nodiscard]] const StepResult& result() const { return result_; }
  [[nodiscard]] bool IsOver() const { return absl::Now() >= end_; }
  void AddTokens(std::int64_t count) { work_.tokens += count; }

  absl::StatusOr<HeavyWork> End() {
    if (absl::Status closed = stream_->Close(kTimeout); !closed.ok()) return closed;
    return std::move(work_);
  }

 private:
  explicit Heavy(const HeavyOptions& options)
      : options_(options), end_(absl::Now() + options.time), of_byte_(kBytes, 0) {}

  void ReadTokens(const std::vector<v1::Token>& tokens) {
    const auto is_letter = [](char byte) { return byte >= 'a' && byte <= 'z'; };
    for (std::size_t id = 0; id < tokens.size(); ++id) {
      const std::string& bytes = tokens[id].text();
      if (bytes.size() == 1)
        of_byte_[static_cast<unsigned char>(bytes[0])] = static_cast<TokenId>(id);
      if (static_cast<TokenId>(id) >= kThreeBytes && !bytes.empty() &&
          std::ranges::all_of(bytes, is_letter))
        words_.push_back(static_cast<TokenId>(id));
    }
  }

  void Note(const RowResult& row) {
    if (row.error.ok()) return;
    ++work_.failed;
    if (work_.fault.empty()) work_.fault = std::string(row.error.message());
  }

  HeavyOptions options_;
  absl::Time end_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<MaskStream> stream_;
  StepResult result_;
  HeavyWork work_;
  std::vector<TokenId> of_byte_;
  std::vector<TokenId> words_;
};

// With further keywords, of which each begins with a comma.
std::string ArrayOfStrings(absl::string_view more = "") {
  return absl::StrCat(R"({"type":"array","items":{"type":"string"})", more, "}");
}

bool AreCompiled(const StepResult& result) {
  return std::ranges::none_of(
      result.rows(), [](const RowResult& row) { return row.state == v1::ROW_STATE_COMPILING; });
}

constexpr absl::string_view kDistinctStrings =
    R"({"type":"array","uniqueItems":true,"items":{"type":"string"}})";

// So many tokens of an array of strings that differ: ["<salt>a0","<salt>a1",...
std::vector<TokenId> Strings(const Heavy& heavy, const std::string& salt, int count) {
  std::vector<TokenId> tokens;
  heavy.Write("[", &tokens);
  for (int i = 0; std::ssize(tokens) < count; ++i)
    heavy.Write(absl::StrCat("\"", salt, "a", i, "\","), &tokens);
  tokens.resize(static_cast<std::size_t>(count));
  return tokens;
}

// Rows near their end, whose grammars are taken by turns.
class NearEnd {
 public:
  NearEnd(std::vector<std::string> grammars, int rows) : grammars_(std::move(grammars)) {
    for (int row = 0; row < rows; ++row) Begin(static_cast<RowId>(row));
  }

  client::Step& step() { return step_; }
  void Begin(RowId row) {
    std::uniform_int_distribution<std::uint32_t> left(10, 40);
    step_.Open(row, grammars_[row % grammars_.size()], {.remaining_tokens = left(random_)});
  }
  // What comes after an answer: an allowed token for each row. A row without one is opened again.
  int Answer(const StepResult& result) {
    int taken = 0;
    step_.Clear();
    for (const RowResult& row : result.rows()) {
      const bool goes_on = row.error.ok() && row.has_mask();
      const TokenId token = goes_on ? RandomAllowed(row.masks.front().words(), random_) : -1;
      if (token >= 0 && row.state == v1::ROW_STATE_ACTIVE) {
        step_.Take(row.row, {&token, 1});
        ++taken;
      } else {
        step_.Close(row.row);
        Begin(row.row);
      }
    }
    return taken;
  }

 private:
  const std::vector<std::string> grammars_;
  std::mt19937_64 random_{7};
  client::Step step_;
};

}  // namespace

absl::StatusOr<HeavyWork> WalkNearEnd(const HeavyOptions& options,
                                      const std::vector<std::string>& schemas, int rows) {
  auto heavy = Heavy::Open(options);
  if (!heavy.ok()) return heavy.status();
  std::vector<std::string> grammars;
  for (const std::string& schema : schemas) {
    auto compiled = heavy->Compile("json_schema", schema);
    if (compiled.ok()) grammars.push_back(*compiled);  // a random schema may have no text
  }
  if (grammars.empty()) return absl::NotFoundError("no schema compiles");
  NearEnd walk(std::move(grammars), rows);
  while (!heavy->IsOver()) {
    if (absl::Status ran = heavy->Run(walk.step(), true); !ran.ok()) return ran;
    heavy->AddTokens(walk.Answer(heavy->result()));
  }
  return heavy->End();
}

absl::StatusOr<HeavyWork> SendDrafts(const HeavyOptions& options, int rows, int drafts) {
  auto heavy = Heavy::Open(options);
  if (!heavy.ok()) return heavy.status();
  const auto grammar = heavy->Compile("json_schema", std::string(kDistinctStrings));
  if (!grammar.ok()) return grammar.status();
  client::Step step;
  for (int row = 0; row < rows; ++row) step.Open(static_cast<RowId>(row), *grammar);
  if (absl::Status ran = heavy->Run(step, false); !ran.ok()) return ran;
  for (int number = 0; !heavy->IsOver(); ++number) {
    step.Clear();
    for (int row = 0; row < rows; ++row) {
      const std::string salt = absl::StrCat(absl::Hex(row), "x", absl::Hex(number), "x");
      step.Draft(static_cast<RowId>(row), Strings(*heavy, salt, drafts));
    }
    if (absl::Status ran = heavy->Run(step, true); !ran.ok()) return ran;
    heavy->AddTokens(std::int64_t{rows} * drafts);
  }
  return heavy->End();
}

absl::StatusOr<HeavyWork> SendWords(const HeavyOptions& options, int rows, int words) {
  constexpr int kStepsOfARow = 100;  // a row holds a bounded number of tokens
  auto heavy = Heavy::Open(options);
  if (!heavy.ok()) return heavy.status();
  const auto grammar = heavy->Compile("regex", "[a-z]*");
  if (!grammar.ok()) return grammar.status();
  if (std::ssize(heavy->words()) < words) return absl::NotFoundError("words of three bytes");
  const std::span<const TokenId> taken(heavy->words().data(), static_cast<std::size_t>(words));
  client::Step step;
  for (int number = 0; !heavy->IsOver(); ++number) {
    const bool begins = number % kStepsOfARow == 0;
    step.Clear();
    for (int row = 0; row < rows; ++row) {
      const auto id = static_cast<RowId>(row);
      if (begins && number > 0) step.Close(id);
      if (begins) step.Open(id, *grammar);
      step.Take(id, taken);
    }
    if (absl::Status ran = heavy->Run(step, true); !ran.ok()) return ran;
    heavy->AddTokens(std::int64_t{rows} * words);
  }
  return heavy->End();
}

absl::StatusOr<HeavyWork> Replay(const HeavyOptions& options, int rows, int tokens) {
  auto heavy = Heavy::Open(options);
  if (!heavy.ok()) return heavy.status();
  const auto grammar = heavy->Compile("json_schema", ArrayOfStrings());
  if (!grammar.ok()) return grammar.status();
  const std::vector<TokenId> text = Strings(*heavy, "", tokens);
  client::Step step;
  for (bool begun = false; !heavy->IsOver(); begun = true) {
    step.Clear();
    for (int row = 0; row < rows; ++row) {
      const auto id = static_cast<RowId>(row);
      if (begun) step.Close(id);
      step.Open(id, *grammar, {.tokens = text});
    }
    if (absl::Status ran = heavy->Run(step, true); !ran.ok()) return ran;
    heavy->AddTokens(std::int64_t{rows} * tokens);
  }
  return heavy->End();
}

absl::StatusOr<HeavyWork> TakeSnapshots(const HeavyOptions& options, int rows, int tokens) {
  auto heavy = Heavy::Open(options);
  if (!heavy.ok()) return heavy.status();
  const auto grammar = heavy->Compile("json_schema", ArrayOfStrings());
  if (!grammar.ok()) return grammar.status();
  const std::vector<TokenId> text = Strings(*heavy, "", tokens);
  client::Step step;
  for (int row = 0; row < rows; ++row)
    step.Open(static_cast<RowId>(row), *grammar, {.tokens = text});
  if (absl::Status ran = heavy->Run(step, false); !ran.ok()) return ran;
  step.Clear();
  for (int row = 0; row < rows; ++row) step.Snapshot(static_cast<RowId>(row));
  while (!heavy->IsOver()) {
    if (absl::Status ran = heavy->Run(step, true); !ran.ok()) return ran;
    heavy->AddTokens(std::int64_t{rows} * tokens);
  }
  return heavy->End();
}

absl::StatusOr<HeavyWork> OpenNewTexts(const HeavyOptions& options, int rows, int tokens) {
  auto heavy = Heavy::Open(options);
  if (!heavy.ok()) return heavy.status();
  const std::vector<TokenId> text = Strings(*heavy, "", tokens);
  v1::Grammar grammar;
  grammar.set_kind("json_schema");
  client::Step step;
  for (int number = 0; !heavy->IsOver(); ++number) {
    step.Clear();
    for (int row = 0; row < rows; ++row) {
      const auto id = static_cast<RowId>(row);
      const int most = 1'000'000 + number * rows + row;
      grammar.set_source(ArrayOfStrings(absl::StrCat(R"(,"maxItems":)", most)));
      if (number > 0) step.Close(id);
      step.Open(id, grammar, {.tokens = text});
    }
    if (absl::Status ran = heavy->Run(step, true); !ran.ok()) return ran;
    // Grammars compile meanwhile; the rows take their texts in the step behind that.
    while (!AreCompiled(heavy->result()) && !heavy->IsOver()) {
      absl::SleepFor(absl::Milliseconds(1));
      step.Clear();
      for (int row = 0; row < rows; ++row) step.Take(static_cast<RowId>(row), {});
      if (absl::Status ran = heavy->Run(step, true); !ran.ok()) return ran;
    }
    heavy->AddTokens(std::int64_t{rows} * tokens);
  }
  return heavy->End();
}

}  // namespace maskd::bench
