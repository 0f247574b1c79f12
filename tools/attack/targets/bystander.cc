#include "tools/attack/targets/bystander.h"

#include <chrono>
#include <utility>

#include "tools/attack/targets/row_stream.h"

namespace maskd::attack {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr client::RowId kRow = 1;
constexpr absl::Duration kPatience = absl::Seconds(120);
constexpr std::chrono::milliseconds kPause{5};
constexpr char kSchema[] = R"({"type":"array","items":{"type":"integer"}})";

// A token that the row's first mask allows.
client::TokenId FirstAllowed(const MaskWords& mask) {
  client::TokenId token = 0;
  while (token < std::ssize(mask) * 32 && !Allows(mask, token)) ++token;
  return token;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Bystander>> Bystander::Start(const ServerAccess& server) {
  std::unique_ptr<Bystander> bystander(new Bystander(server));
  if (absl::Status opened = bystander->Open(); !opened.ok()) return opened;
  bystander->thread_ = std::thread([self = bystander.get()] { self->Run(); });
  return bystander;
}

Bystander::~Bystander() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

absl::Status Bystander::Open() {
  auto client = client::Client::Connect({.address = server_.address});
  if (!client.ok()) return client.status();
  client_ = *std::move(client);
  const auto tokenizer = client_->GetTokenizer(server_.tokenizer);
  if (!tokenizer.ok()) return tokenizer.status();
  auto stream =
      client_->OpenStream({.tokenizer = server_.tokenizer,
                           .logits_width = static_cast<std::uint32_t>(tokenizer->vocab_size())});
  if (!stream.ok()) return stream.status();
  stream_ = *std::move(stream);
  v1::Grammar grammar;
  grammar.set_kind("json_schema");
  grammar.set_source(kSchema);
  client::Step step;
  step.Open(kRow, grammar).WaitForCompile(absl::Seconds(10));
  client::StepResult result;
  absl::Status status = stream_->Submit(step).status();
  if (status.ok()) status = stream_->Collect(kPatience, result);
  if (!status.ok()) return status;
  const client::RowResult* const answer = result.Find(kRow);
  if (answer == nullptr || answer->masks.empty()) return absl::InternalError("no first mask");
  const client::TokenId token = FirstAllowed(WordsOf(answer->masks.front()));
  step.Clear();
  step.Take(kRow, {&token, 1});
  status = stream_->Submit(step).status();
  if (status.ok()) status = stream_->Collect(kPatience, result);
  return status;
}

// Asks for the mask where the row stands: it is there already.
absl::Status Bystander::Step() {
  client::Step step;
  step.Take(kRow, {});
  client::StepResult result;
  absl::Status status = stream_->Submit(step).status();
  if (status.ok()) status = stream_->Collect(kPatience, result);
  if (!status.ok()) return status;
  const client::RowResult* const answer = result.Find(kRow);
  if (answer == nullptr || answer->masks.empty()) return absl::InternalError("no mask");
  MaskWords mask = WordsOf(answer->masks.front());
  if (mask_.empty()) mask_ = mask;
  return mask == mask_ ? answer->error : absl::InternalError("another mask than before");
}

void Bystander::Run() {
  while (!stop_) {
    const auto begin = SteadyClock::now();
    absl::Status status = stream_ == nullptr ? Open() : Step();
    const std::chrono::duration<double, std::milli> took = SteadyClock::now() - begin;
    if (!status.ok()) stream_ = nullptr;
    {
      const MutexLock lock(&mutex_);
      times_.push_back(took.count());
      if (!status.ok()) fault_ = status.ToString();
    }
    std::this_thread::sleep_for(kPause);
  }
}

std::vector<double> Bystander::TakeTimes() {
  const MutexLock lock(&mutex_);
  return std::exchange(times_, {});
}

std::string Bystander::TakeFault() {
  const MutexLock lock(&mutex_);
  return std::exchange(fault_, {});
}

}  // namespace maskd::attack
