#include "bench/step_loads.h"

#include <chrono>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "bench/samples.h"
#include "bench/step_rows.h"

namespace maskd::bench {
namespace {

using client::Client;
using client::MaskStream;

constexpr absl::Duration kTimeout = absl::Seconds(30);
// Tokens of a text: then the row begins anew, and goes other ways.
constexpr int kMaxTokens = 2000;

}  // namespace

v1::CompileRequest CompileRequestOf(const std::string& schema) {
  v1::CompileRequest request;
  request.mutable_grammar()->set_kind("json_schema");
  request.mutable_grammar()->set_source(schema);
  return request;
}

CompileLoad::CompileLoad(const Client* client, const std::vector<std::string>* schemas,
                         int per_second) {
  if (per_second > 0) thread_ = std::thread([=, this] { Run(*client, *schemas, per_second); });
}

CompileLoad::~CompileLoad() { Stop(); }

std::vector<double> CompileLoad::Stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  return std::move(compiles_);
}

void CompileLoad::Run(const Client& client, const std::vector<std::string>& schemas,
                      int per_second) {
  static std::atomic<int> serial = 0;  // of all loads: what was compiled is known
  const auto period = std::chrono::microseconds(1'000'000 / per_second);
  auto next = Clock::now();
  for (int i = 0; !stop_; ++i) {
    std::string schema = schemas[static_cast<std::size_t>(i) % schemas.size()];
    const std::size_t brace = schema.find('{');
    if (brace == std::string::npos || schema.find('"') == std::string::npos) continue;
    schema.insert(brace + 1, absl::StrCat("\"x-load-", serial++, "\":0,"));
    const auto start = Clock::now();
    if (client.Compile(CompileRequestOf(schema)).ok()) compiles_.push_back(MicrosSince(start));
    std::this_thread::sleep_until(next += period);
  }
}

absl::StatusOr<std::unique_ptr<StreamLoad>> StreamLoad::Start(const Options& options) {
  auto client = Client::Connect({.address = options.server, .connect_timeout = absl::Seconds(10)});
  if (!client.ok()) return client.status();
  v1::CompileRequest request;
  request.mutable_grammar()->set_kind("regex");
  request.mutable_grammar()->set_source(options.regex);
  const auto compiled = (*client)->Compile(request);
  if (!compiled.ok()) return compiled.status();
  auto stream =
      (*client)->OpenStream({.logits_width = options.width, .awake = absl::ZeroDuration()});
  if (!stream.ok()) return stream.status();
  return std::unique_ptr<StreamLoad>(
      new StreamLoad(options, *std::move(client), *std::move(stream), compiled->grammar_id()));
}

StreamLoad::StreamLoad(Options options, std::unique_ptr<Client> client,
                       std::unique_ptr<MaskStream> stream, std::string grammar)
    : options_(std::move(options)),
      client_(std::move(client)),
      stream_(std::move(stream)),
      grammar_(std::move(grammar)),
      thread_([this] { status_ = Run(); }) {}

StreamLoad::~StreamLoad() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<std::vector<double>> StreamLoad::Stop() {
  stop_ = true;
  thread_.join();
  if (!status_.ok()) return status_;
  return std::move(steps_);
}

absl::Status StreamLoad::Run() {
  std::mt19937_64 random(7);
  client::Step next;
  client::StepResult result;
  client::RowId row = 0;
  next.Open(row, grammar_);
  for (int taken = 0; !stop_;) {
    const auto start = Clock::now();
    if (absl::Status sent = stream_->Submit(next).status(); !sent.ok()) return sent;
    if (absl::Status got = stream_->Collect(kTimeout, result); !got.ok()) return got;
    steps_.push_back(MicrosSince(start));
    next.Clear();
    const client::RowResult& answer = result.rows().front();
    if (!answer.error.ok()) return answer.error;
    const TokenId token =
        answer.has_mask() ? RandomAllowed(answer.masks.front().words(), random) : -1;
    if (token >= 0 && ++taken < kMaxTokens) {
      next.Take(row, {&token, 1});
    } else {
      next.Close(row);
      next.Open(++row, grammar_);
      taken = 0;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(options_.pause_us));
  }
  return stream_->Close(kTimeout);
}

}  // namespace maskd::bench
