// A table from the name of an operation to the method that says it in this server's messages. What
// is not in it goes to the cases of the wire. What the runner does for itself (schemas, waits) is
// taken off the case's time.
//
// Invariant  a case begins without streams and ends without any, so none sees another's rows.
// Cost       one step for each operation of a row.
#include "tools/attack/servers/server_cases.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "client/cpp/base/wire_status.h"
#include "client/cpp/connect/channel.h"
#include "tools/attack/targets/unary_calls.h"

namespace maskd::attack {
namespace {

constexpr std::uint32_t kWaitMs = 10'000;
constexpr std::chrono::seconds kIdleSlack{2};

// The lowest token whose bit of a dense mask is `set`.
std::int32_t FirstToken(const v1::Position& position, std::int64_t vocab_size, bool set) {
  for (std::int32_t token = 0; token < vocab_size; ++token) {
    const auto byte =
        static_cast<unsigned char>(position.dense()[static_cast<std::size_t>(token) / 8]);
    if ((((byte >> (token % 8)) & 1U) != 0) == set) return token;
  }
  return -1;
}

bool IsPlain(const std::string& name) {
  return std::ranges::all_of(name, [](unsigned char c) { return absl::ascii_isalnum(c); });
}

}  // namespace

ServerCases::ServerCases(ServerAccess server, const ServiceTarget* target, Times times)
    : server_(std::move(server)),
      target_(target),
      times_(times),
      wire_(server_, target->tokens().size) {}

const std::map<std::string, ServerCases::Handler>& ServerCases::Handlers() {
  static const auto* const handlers = new std::map<std::string, Handler>{
      {"hello", &ServerCases::Hello},
      {"hello2", &ServerCases::SecondHello},
      {"open", &ServerCases::Open},
      {"open_many", &ServerCases::OpenMany},
      {"step", &ServerCases::MoveRow},
      {"batch_step", &ServerCases::BatchStep},
      {"rollback", &ServerCases::Rollback},
      {"close", &ServerCases::Close},
      {"stream", &ServerCases::Streams},
      {"half_close", &ServerCases::HalfClose},
      {"read_all", &ServerCases::ReadAll},
      {"reset_connection", &ServerCases::ResetConnection},
      {"idle", &ServerCases::Idle},
      {"as", &ServerCases::As},
      {"compile", &ServerCases::CompileOne},
      {"compile_many", &ServerCases::CompileManyOf},
      {"health", &ServerCases::Health},
      {"metric", &ServerCases::Metric},
      {"sessions", &ServerCases::Sessions},
      {"memory_below", &ServerCases::MemoryBelow},
      {"metrics_bytes_below", &ServerCases::MetricsBytesBelow},
      {"logs", &ServerCases::Logs},
      {"compile_workers_busy", &ServerCases::CompileWorkersBusy},
  };
  return *handlers;
}

void ServerCases::Unclocked(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  idle_ms_ += took.count();
}

void ServerCases::Begin(const AttackCase& attack) {
  schemas_.BeginCase();
  tokenizer_ = server_.tokenizer;
  rows_.clear();
  opened_.clear();
  last_step_ = base_ = 0;
  last_id_.clear();
  rows_before_ = Figure("maskd_rows_open").value_or(0);
  const bool counts_compiles =
      std::any_of(attack.steps.begin(), attack.steps.end(),
                  [](const Json& step) { return step.at("op") == "metric"; });
  if (counts_compiles) begun_before_ = BegunWhenQuiet();
  std::error_code error;
  const auto size = std::filesystem::file_size(server_.log_path, error);
  log_before_ = error ? 0 : static_cast<std::int64_t>(size);
}

void ServerCases::End() {
  stream_ = nullptr;
  more_streams_.clear();
  wire_.CloseConnections();
}

void ServerCases::Run(const AttackCase& attack, CaseResult* result) {
  idle_ms_ = 0;
  Unclocked([&] { Begin(attack); });
  for (const Json& step : attack.steps) {
    const Outcome outcome = RunOne(step);
    if (!outcome.is_known) result->missing_operations.push_back(step.at("op"));
    if (!outcome.absent.empty()) result->absent = outcome.absent;
    if (!outcome.is_known || !outcome.absent.empty()) break;
    const std::string fault = JudgeOutcome(outcome, step, attack.codes);
    if (!fault.empty())
      result->faults.push_back(absl::StrCat(step.at("op").get<std::string>(), ": ", fault));
  }
  Unclocked([&] { End(); });
  result->idle_ms = idle_ms_;
}

Outcome ServerCases::RunOne(const Json& step) {
  const std::string op = step.at("op");
  const auto handler = Handlers().find(op);
  if (handler == Handlers().end()) return wire_.Run(step);
  Outcome outcome = (this->*handler->second)(step);
  if (absl::IsUnimplemented(outcome.status) && schemas_.TakeUnknown()) return Outcome::Unknown();
  return outcome;
}

v1::Hello ServerCases::PlainHello() const {
  v1::Hello hello;
  hello.set_tokenizer(tokenizer_);
  hello.set_logits_width(static_cast<std::uint32_t>(target_->tokens().size));
  return hello;
}

absl::StatusOr<Conversation*> ServerCases::Stream() {
  if (stream_ != nullptr) return stream_.get();
  stream_ = std::make_unique<Conversation>(server_.address);
  const absl::StatusOr<v1::Welcome> welcome = stream_->Greet(PlainHello());
  if (!welcome.ok()) return welcome.status();
  return stream_.get();
}

absl::StatusOr<v1::Grammar> ServerCases::GrammarOf(const Json& step) {
  absl::StatusOr<std::string> source;
  Unclocked([&] { source = schemas_.Text(step.at("schema")); });
  if (!source.ok()) return source.status();
  v1::Grammar grammar;
  grammar.set_kind("json_schema");
  grammar.set_source(*std::move(source));
  return grammar;
}

std::uint64_t ServerCases::RowOf(const std::string& session) {
  return rows_.try_emplace(session, rows_.size() + 1).first->second;
}

Outcome ServerCases::RunRow(v1::Step step, std::uint64_t number, std::uint64_t row) {
  const absl::StatusOr<Conversation*> stream = Stream();
  if (!stream.ok()) return stream.status();
  step.set_step(number);
  last_step_ = std::max(last_step_, number);
  const absl::StatusOr<v1::StepReply> reply = (*stream)->Run(step);
  if (!reply.ok()) return reply.status();
  last_reply_.Clear();
  Outcome outcome;
  for (const v1::RowReply& each : reply->rows()) {
    if (each.row() != row) continue;
    if (last_reply_.row() == 0) last_reply_ = each;
    if (!each.has_error()) continue;
    outcome.status = client::FromWire(each.error());
    outcome.is_of_a_row = true;
  }
  return outcome;
}

Outcome ServerCases::RunNext(const v1::Step& step, std::uint64_t row) {
  Outcome outcome = RunRow(step, last_step_ + 1, row);
  ++base_;
  return outcome;
}

Outcome ServerCases::Hello(const Json& step) {
  v1::Hello hello = PlainHello();
  hello.set_logits_width(static_cast<std::uint32_t>(
      target_->tokens().size + step.value("vocab_size_delta", std::int64_t{0})));
  if (step.contains("vocab_hash")) hello.set_tokenizer_hash(std::string(64, '0'));
  stream_ = std::make_unique<Conversation>(server_.address);
  return stream_->Greet(hello).status();
}

Outcome ServerCases::SecondHello(const Json& /*step*/) {
  const auto tokenizers = target_->client().ListTokenizers();
  if (!tokenizers.ok()) return tokenizers.status();
  const auto other = std::ranges::find_if(*tokenizers, [&](const v1::Tokenizer& each) {
    return each.name() != tokenizers->front().name() && each.name() != tokenizer_;
  });
  if (other == tokenizers->end()) return Outcome::Absent("a second tokenizer");
  tokenizer_ = other->name();
  v1::Hello hello = PlainHello();
  hello.set_logits_width(static_cast<std::uint32_t>(other->vocab_size()));
  stream_ = std::make_unique<Conversation>(server_.address);
  return stream_->Greet(hello).status();
}

void ServerCases::SayName(const std::string& name) {
  v1::Hello hello = PlainHello();
  hello.set_tokenizer(name);
  Conversation(server_.address).Greet(hello).status().IgnoreError();
  v1::CompileRequest request;
  request.set_tokenizer(tokenizer_);
  request.mutable_grammar()->set_kind(name);
  v1::CompileResponse response;
  Compile(server_.address, request, {}, &response).IgnoreError();
}

Outcome ServerCases::Open(const Json& step) {
  const std::string session = step.at("session");
  if (!IsPlain(session)) SayName(session);
  v1::Step opening;
  opening.set_wait_for_compile_ms(kWaitMs);
  v1::OpenRow& open = *opening.add_open();
  open.set_row(RowOf(session));
  if (step.contains("grammar_key")) {
    open.set_grammar_id(step["grammar_key"].get<std::string>());
  } else {
    absl::StatusOr<v1::Grammar> grammar = GrammarOf(step);
    if (!grammar.ok()) return grammar.status();
    *open.mutable_grammar() = *std::move(grammar);
  }
  return RunNext(opening, open.row());
}

absl::Status ServerCases::OpenRows(Conversation* stream, const v1::Grammar& grammar,
                                   std::int64_t count) {
  v1::Step opening;
  opening.set_step(1);
  opening.set_wait_for_compile_ms(kWaitMs);
  for (std::int64_t i = 0; i < count; ++i) {
    v1::OpenRow& open = *opening.add_open();
    open.set_row(static_cast<std::uint64_t>(i) + 1);
    *open.mutable_grammar() = grammar;
  }
  const absl::StatusOr<v1::StepReply> reply = stream->Run(opening);
  if (!reply.ok()) return reply.status();
  opened_.assign(reply->rows().begin(), reply->rows().end());
  for (const v1::RowReply& row : opened_)
    if (row.has_error()) return client::FromWire(row.error());
  return std::ssize(opened_) == count ? absl::OkStatus()
                                      : absl::InternalError("rows without an answer");
}

Outcome ServerCases::OpenMany(const Json& step) {
  const absl::StatusOr<v1::Grammar> grammar = GrammarOf(step);
  if (!grammar.ok()) return grammar.status();
  if (step.value("random_tenants", false) || step.value("random_ids", false)) {
    constexpr int kNames = 200;
    for (int i = 0; i < kNames; ++i) SayName(schemas_.FreshName());
  }
  for (std::int64_t left = step.at("n"); left > 0;) {
    auto stream = std::make_unique<Conversation>(server_.address);
    const absl::StatusOr<v1::Welcome> welcome = stream->Greet(PlainHello());
    if (!welcome.ok()) return welcome.status();
    const auto count = std::min<std::int64_t>(left, welcome->limits().max_rows());
    if (absl::Status opened = OpenRows(stream.get(), *grammar, count); !opened.ok()) return opened;
    left -= count;
    if (stream_ != nullptr) more_streams_.push_back(std::move(stream_));
    stream_ = std::move(stream);
    last_step_ = base_ = 1;
  }
  return {};
}

// Asks before the handshake where the step's number is none that a session has.
Outcome ServerCases::MoveRow(const Json& step) {
  const auto seq = step.at("seq").get<std::uint64_t>();
  v1::Step moving;
  v1::RowUpdate& move = *moving.add_rows();
  move.set_row(RowOf(step.at("session")));
  if (step.contains("token")) {
    const auto token = step["token"].get<std::int64_t>();
    move.add_tokens(static_cast<std::int32_t>(token));
  }
  for (std::int64_t i = 0; i < step.value("draft_tokens", std::int64_t{0}); ++i)
    move.mutable_drafts()->add_tokens(0);
  if (seq == 0) {
    Conversation unasked(server_.address);
    moving.set_step(1);
    return unasked.Run(moving).status();
  }
  const v1::RowReply before = last_reply_;
  Outcome outcome = RunRow(moving, base_ + seq, move.row());
  const bool is_same = before.SerializeAsString() == last_reply_.SerializeAsString();
  if (step.value("want", Json()) == "SAME_MASK" && !is_same)
    return Outcome::Fault("another reply than before");
  return outcome;
}

Outcome ServerCases::BatchStep(const Json& step) {
  v1::Step moving;
  const auto names = step.at("rows").get<std::vector<std::string>>();
  const auto bad = step.value("bad_token_row", std::int64_t{-1});
  const bool is_all = names == std::vector<std::string>{"*"};
  if (names.empty() || (is_all && opened_.empty())) return Outcome::Fault("there are no rows");
  if (!is_all) {
    for (const std::string& name : names) moving.add_rows()->set_row(RowOf(name));
    return RunNext(moving, moving.rows(0).row());
  }
  const std::int64_t vocab_size = target_->tokens().size;
  for (std::int64_t i = 0; i < std::ssize(opened_); ++i) {
    const v1::RowReply& row = opened_[static_cast<std::size_t>(i)];
    moving.add_rows()->set_row(row.row());
    moving.mutable_rows()->rbegin()->add_tokens(
        FirstToken(row.positions(0), vocab_size, /*set=*/i != bad));
  }
  moving.set_step(++last_step_);
  ++base_;
  const absl::StatusOr<v1::StepReply> reply = stream_->Run(moving);
  if (!reply.ok()) return reply.status();
  if (reply->rows_size() != moving.rows_size()) return Outcome::Fault("a row without an answer");
  const v1::RowReply& good = reply->rows(bad == 0 ? 1 : 0);
  for (int i = 0; i < reply->rows_size(); ++i) {
    const v1::RowReply& row = reply->rows(i);
    if (row.state() != v1::ROW_STATE_ACTIVE) return Outcome::Fault("a row has failed");
    if (row.has_error() != (i == bad)) return Outcome::Fault("the error is of another row");
    const bool is_as_others = row.positions(0).dense() == good.positions(0).dense();
    if (i != bad && !is_as_others) return Outcome::Fault("another row has another mask");
  }
  return {};
}

Outcome ServerCases::Rollback(const Json& step) {
  v1::Step moving;
  v1::RowUpdate& move = *moving.add_rows();
  move.set_row(RowOf(step.at("session")));
  const auto count = step.at("n").get<std::int64_t>();
  if (count < 0 || count > std::numeric_limits<std::uint32_t>::max()) {
    Outcome refused(absl::OutOfRangeError("no uint32"));
    refused.is_of_a_row = true;
    return refused;
  }
  move.set_rollback(static_cast<std::uint32_t>(count));
  return RunNext(moving, move.row());
}

Outcome ServerCases::Close(const Json& step) {
  v1::Step closing;
  closing.add_close(RowOf(step.at("session")));
  return RunNext(closing, closing.close(0));
}

Outcome ServerCases::Streams(const Json& step) {
  return wire_.OpenCalls("/maskd.v1.MaskService/Decode", step.at("n"));
}

Outcome ServerCases::HalfClose(const Json& /*step*/) {
  if (stream_ != nullptr) stream_->EndSending();
  return {};
}

Outcome ServerCases::ReadAll(const Json& /*step*/) {
  return stream_ == nullptr ? absl::OkStatus() : stream_->ReadToEnd();
}

Outcome ServerCases::ResetConnection(const Json& /*step*/) {
  stream_ = nullptr;
  last_step_ = base_ = 0;
  return {};
}

// In place of what the case says: so long as the server lets it be.
Outcome ServerCases::Idle(const Json& /*step*/) {
  if (server_.idle_s == 0) return Outcome::Absent("an end of what is idle (--idle_s)");
  Unclocked(
      [&] { std::this_thread::sleep_for(std::chrono::seconds(server_.idle_s) + kIdleSlack); });
  return {};
}

Outcome ServerCases::As(const Json& /*step*/) { return Outcome::Absent("tenants"); }

}  // namespace maskd::attack
