// What a Decode stream is sent, drawn from the input: messages, each behind two bytes of length,
// the first a Hello. After an error that ends a stream the rest goes to a new one.
//
// Promises   a step is read from its bytes as it is from its message, or refused with the same
//            error; a step is answered by a reply that can be read, has its number and is within
//            the stream's bound; neither a row's error nor the stream's is a server's.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/stubs/logging.h"

#include "maskd/v1/mask_service.pb.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_store.h"
#include "service/streams/stream_host.h"
#include "service/streams/stream_terms.h"
#include "service/wire/request_reader.h"
#include "service/wire/step_exchange.h"
#include "service/wire/step_reader.h"
#include "tests/fuzz/fuzz_checks.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/service/wire/step_text.h"

namespace maskd::fuzz {
namespace {

using service::StepExchange;

constexpr std::size_t kLengthBytes = 2;

service::StreamLimits Bounds() {
  service::StreamLimits limits;
  limits.max_rows = 32;
  limits.max_named_rows = 64;
  limits.max_row_tokens = 256;
  limits.max_step_bytes = 1 << 16;
  limits.max_reply_bytes = 1 << 16;
  limits.max_draft_tokens = 16;
  limits.max_wait_ms = 1000;
  limits.max_dictionary_bytes = 1 << 12;
  return limits;
}

// What all streams share, as in a server.
struct World {
  service::TokenizerStorePtr tokenizers;
  std::unique_ptr<service::GrammarStore> grammars;
  service::StreamHost host;

  // Ends with the process: what lives on has addresses that LeakSanitizer does not see
  // (base/stable_vector.h).
  static World& Get() {
    static World world;
    return world;
  }

 private:
  World() {
    google::protobuf::SetLogHandler(nullptr);
    tokenizers = std::move(*service::TokenizerStore::Load({}, 1 << 20));
    service::Config config;
    config.limits = SmallLimits();
    config.compile_threads = 1;
    config.cache_bytes = 16 << 20;
    config.warm_up_ms = 0;
    grammars = std::make_unique<service::GrammarStore>(config, nullptr);
    host.limits = Bounds();
    host.grammars = grammars.get();
  }
};

void RequireOfACaller(absl::StatusCode code, const std::string& text) {
  Require(code != absl::StatusCode::kInternal && code != absl::StatusCode::kUnknown &&
              code != absl::StatusCode::kOk,
          "an error is its caller's", text);
}

void CheckReaders(absl::string_view bytes) {
  service::StepRequest by_bytes;
  by_bytes.moves.resize(2);
  by_bytes.moves[0].has_drafts = true;
  by_bytes.closes = {9};
  const absl::Status read =
      service::ReadStep(bytes, static_cast<std::size_t>(Bounds().max_named_rows), &by_bytes);
  if (absl::IsResourceExhausted(read)) return;  // no message of it is made
  v1::DecodeRequest request;
  if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Require(absl::IsInvalidArgument(read), "what is no message is refused",
                   service::Describe(read));
  }
  service::StepRequest by_message;
  const absl::Status message_read = service::ReadStep(request, &by_message);
  const std::string ours = service::Outcome(read, by_bytes);
  const std::string theirs = service::Outcome(message_read, by_message);
  Require(ours == theirs, "both readers agree", ours + "\n" + theirs);
}

void CheckReply(absl::string_view bytes, std::uint64_t number) {
  // The masks are within the bound; numbers and errors of rows come on top.
  constexpr std::size_t kBeside = 1 << 18;
  Require(bytes.size() <= static_cast<std::size_t>(Bounds().max_reply_bytes) + kBeside,
          "a reply is within its bound");
  v1::DecodeResponse response;
  Require(
      response.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) && response.has_step(),
      "a reply can be read");
  Require(response.step().step() == number, "a reply has its step's number");
  for (const v1::RowReply& row : response.step().rows())
    if (row.has_error())
      RequireOfACaller(static_cast<absl::StatusCode>(row.error().code()), row.error().message());
}

service::Hello PlainHello() {
  service::Hello hello;
  hello.logits_width = 257;
  return hello;
}

std::unique_ptr<StepExchange> OpenStream(absl::string_view hello) {
  World& world = World::Get();
  v1::DecodeRequest request;
  (void)request.ParseFromArray(hello.data(), static_cast<int>(hello.size()));
  auto read = service::ReadHello(request);
  if (!read.ok()) RequireOfACaller(read.status().code(), service::Describe(read.status()));
  if (!read.ok()) read = PlainHello();
  auto terms = service::AgreeOnTerms(*read, world.tokenizers, world.host.limits);
  if (!terms.ok()) {
    RequireOfACaller(terms.status().code(), service::Describe(terms.status()));
    terms = service::AgreeOnTerms(PlainHello(), world.tokenizers, world.host.limits);
  }
  Require(terms.ok(), "a plain hello is right");
  return std::make_unique<StepExchange>(world.host, *terms);
}

// Whether the stream goes on.
bool Step(StepExchange& stream, absl::string_view bytes) {
  absl::Status status = stream.Begin(bytes);
  if (status.ok()) {
    const auto reply = stream.Finish([] { return false; });
    status = reply.status();
    v1::DecodeRequest request;
    if (reply.ok() && request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      CheckReply(*reply, request.step().step());
  }
  if (status.ok()) stream.LookAhead();
  if (!status.ok()) RequireOfACaller(status.code(), service::Describe(status));
  return status.ok();
}

// The next message; all that is left where its length says more.
absl::string_view Next(absl::string_view* input) {
  if (input->size() < kLengthBytes) return std::exchange(*input, {});
  const std::size_t length =
      static_cast<std::uint8_t>((*input)[0]) | static_cast<std::uint8_t>((*input)[1]) << 8;
  input->remove_prefix(kLengthBytes);
  const absl::string_view message = input->substr(0, length);
  input->remove_prefix(message.size());
  return message;
}

void CheckStream(absl::string_view input) {
  const absl::string_view hello = Next(&input);
  std::unique_ptr<StepExchange> stream = OpenStream(hello);
  while (!input.empty()) {
    const absl::string_view message = Next(&input);
    CheckReaders(message);
    if (!Step(*stream, message)) stream = OpenStream(hello);
  }
}

void RunSteps(absl::string_view /*name*/, absl::string_view input) { CheckStream(input); }

}  // namespace

MASKD_FUZZ_TARGETS(RunSteps, "steps");

}  // namespace maskd::fuzz
