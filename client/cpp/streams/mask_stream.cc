// Opening settles how steps travel: the hello goes over gRPC, and where the welcome offers shared
// memory the steps go through that instead. After it all ways are one StepCall, and Submit() and
// Collect() know no other.
//
// Invariant  in_flight holds the numbers of the steps without a reply, in order; a reply must have
//            the first of them.
// Cost       one message each way; the result's memory is swapped in and used again.
// Threads    one at a time; with read_ahead a thread reads between the calls, and a Submit() stops
//            it first.
#include "client/cpp/streams/mask_stream.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/support/proto_buffer_reader.h"

#include "client/cpp/base/errors.h"
#include "client/cpp/base/steady_time.h"
#include "client/cpp/base/wire_status.h"
#include "client/cpp/calls/decode_call.h"
#include "client/cpp/calls/local_engine.h"
#include "client/cpp/calls/memory_call.h"
#include "client/cpp/calls/read_ahead.h"
#include "client/cpp/calls/step_call.h"
#include "client/cpp/connect/channel.h"
#include "client/cpp/connect/security.h"
#include "client/cpp/connect/socket_path.h"
#include "client/cpp/steps/reply_reader.h"

namespace maskd::client {
namespace {

constexpr std::uint32_t kProtocolVersion = 1;

void OfferForms(std::uint32_t dictionary_size, v1::Hello& hello) {
  for (const v1::RowForm form : {v1::ROW_FORM_SAME_AS, v1::ROW_FORM_ALLOWED_IDS,
                                 v1::ROW_FORM_FORBIDDEN_IDS, v1::ROW_FORM_DELTA}) {
    hello.add_row_forms(form);
  }
  hello.set_dictionary_size(dictionary_size);
}

v1::DecodeRequest MakeHello(const StreamOptions& options) {
  v1::DecodeRequest request;
  v1::Hello& hello = *request.mutable_hello();
  hello.set_protocol_version(kProtocolVersion);
  hello.set_tokenizer(options.tokenizer);
  hello.set_tokenizer_hash(options.tokenizer_hash);
  hello.set_logits_width(options.logits_width);
  hello.set_want_temperature(options.want_temperature);
  hello.set_want_bias(options.want_bias);
  hello.set_shared_memory(options.shared_memory);
  if (options.short_forms) OfferForms(options.dictionary_size, hello);
  return request;
}

// A mask is made as large as the welcome says: so it must be what was asked for.
absl::Status CheckWelcome(const v1::Hello& hello, const v1::Welcome& welcome) {
  const std::int64_t width = hello.logits_width();
  const std::int64_t size = welcome.tokenizer().vocab_size();
  if (size >= 0 && size <= width && welcome.mask_words() == (width + 31) / 32 &&
      welcome.dictionary_size() <= hello.dictionary_size()) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat("the server's welcome is not for ", width, " logits and ",
                                          hello.dictionary_size(), " masks: ", size, " tokens, ",
                                          welcome.mask_words(), " words, ",
                                          welcome.dictionary_size(), " masks"));
}

// Starts the call and says hello.
absl::Status SayHello(const v1::DecodeRequest& hello, SteadyTime deadline, DecodeCall& call) {
  if (absl::Status status = call.Start(deadline); !status.ok()) return status;
  return call.Write(hello, hello.ByteSizeLong(), deadline);
}

// The server's answer to the hello.
absl::StatusOr<v1::Welcome> ReadWelcome(const v1::DecodeRequest& hello, SteadyTime deadline,
                                        DecodeCall& call) {
  grpc::ByteBuffer bytes;
  absl::Status status = call.Read(bytes, deadline, SteadyTime::LongAgo());
  if (!status.ok()) return status;
  v1::DecodeResponse response;
  grpc::ProtoBufferReader reader(&bytes);
  if (!response.ParseFromZeroCopyStream(&reader) || !response.has_welcome())
    return absl::InternalError("the server's first message is not a welcome");
  if (absl::Status checked = CheckWelcome(hello.hello(), response.welcome()); !checked.ok())
    return checked;
  return std::move(*response.mutable_welcome());
}

// What `open` gives. A thread that the system does not give is an error like any other.
template <typename Open>
absl::StatusOr<std::unique_ptr<MaskStream>> OrNoThread(const Open& open) {
  try {
    return open();
  } catch (const std::system_error& error) {
    return absl::ResourceExhaustedError(absl::StrCat("the system has no thread: ", error.what()));
  }
}

}  // namespace

struct MaskStream::State {
  // Begins to connect.
  absl::Status Begin(const std::string& server, int max_message_bytes) {
    address = server;
    if (!SocketPathOf(address).has_value())
      if (absl::Status checked = CheckSecurity(); !checked.ok()) return checked;
    decode = std::make_unique<DecodeCall>(MakeChannel(address, max_message_bytes),
                                          /*sees_pings=*/true);
    return absl::OkStatus();
  }

  // Says hello and reads the welcome; after DEADLINE_EXCEEDED it may go on where it was.
  absl::Status Greet(const StreamOptions& options, SteadyTime until) {
    const v1::DecodeRequest hello = MakeHello(options);
    if (!has_said_hello)
      if (absl::Status said = SayHello(hello, until, *decode); !said.ok()) return said;
    has_said_hello = true;
    absl::StatusOr<v1::Welcome> read = ReadWelcome(hello, until, *decode);
    if (read.ok()) welcome = *std::move(read);
    return read.status();
  }

  // Agrees on how the steps travel, once welcome.
  absl::Status Settle(int max_message_bytes, SteadyTime deadline) {
    if (welcome.has_shared_memory()) {
      auto memory = FetchMemory(address, welcome.shared_memory(), deadline);
      welcome.clear_shared_memory();  // the token is spent
      if (memory.ok()) {
        uses_shared_memory = true;
        call = std::make_unique<MemoryCall>(std::move(decode), *std::move(memory),
                                            static_cast<std::size_t>(max_message_bytes));
        return absl::OkStatus();
      }
      if (!absl::IsUnavailable(memory.status())) return memory.status();
    }
    call = std::move(decode);
    return absl::OkStatus();
  }

  absl::Status OpenInside(std::shared_ptr<grpc::Channel> channel, const StreamOptions& options) {
    decode = std::make_unique<DecodeCall>(std::move(channel), /*sees_pings=*/false);
    absl::Status greeted = Greet(options, SteadyTime::Now() + options.open_timeout);
    call = std::move(decode);
    return greeted;
  }

  absl::Status OpenLocal(const std::string& engine_address, const StreamOptions& options) {
    const auto engine = FindLocalEngine(engine_address);
    if (!engine.ok()) return engine.status();
    const v1::DecodeRequest hello = MakeHello(options);
    auto opened = (*engine)->OpenCall(hello, &welcome);
    if (!opened.ok()) return opened.status();
    call = *std::move(opened);
    is_local = true;
    return CheckWelcome(hello.hello(), welcome);
  }

  // What the system says of a broken connection, such as "Broken pipe", with the server's address.
  [[nodiscard]] absl::Status Named(absl::Status status) const {
    if (!absl::IsUnavailable(status) || address.empty() || !ErrorReason(status).empty())
      return status;
    return WithDetailsOf(status,
                         absl::UnavailableError(absl::StrCat(address, ": ", status.message())));
  }

  // The next message, into `message`.
  absl::Status Read(SteadyTime deadline) {
    if (ahead.has_value() && ahead->IsThere()) return ahead->Take(message, deadline).status();
    const SteadyTime begin = SteadyTime::Now();
    if (ahead.has_value()) {
      const absl::StatusOr<bool> taken = ahead->Take(message, deadline);
      waited += SteadyTime::Now() - begin;
      if (!taken.ok() || *taken) return taken.status();
    }
    grpc::ByteBuffer bytes;
    absl::Status read = call->Read(bytes, deadline, begin + awake);
    waited += SteadyTime::Now() - begin;
    return read.ok() ? reader->Read(bytes, message) : read;
  }

  std::string address;                 // empty for servers and engines of this process
  std::unique_ptr<DecodeCall> decode;  // until welcome
  bool has_said_hello = false;
  std::unique_ptr<StepCall> call;  // once welcome
  bool uses_shared_memory = false;
  bool is_local = false;
  v1::Welcome welcome;
  std::optional<ReplyReader> reader;  // once welcome
  std::optional<ReadAhead> ahead;     // after those that it uses
  absl::Duration awake;
  absl::Duration write_timeout;
  absl::Duration waited;  // by the last Collect()
  ServerMessage message;  // the last one
  std::uint64_t next_step = 1;
  std::deque<std::uint64_t> in_flight;
  std::optional<v1::GoAway> go_away;
};

MaskStream::MaskStream(std::unique_ptr<State> state) : state_(std::move(state)) {}

MaskStream::~MaskStream() = default;

MaskStream::Opening::Opening(std::string address, int max_message_bytes, StreamOptions options)
    : address_(std::move(address)),
      max_message_bytes_(max_message_bytes),
      options_(std::move(options)),
      deadline_(SteadyTime::Now() + options_.open_timeout) {}

MaskStream::Opening::~Opening() = default;

absl::Status MaskStream::Opening::Go(SteadyTime until) {
  if (state_ == nullptr) {
    state_ = std::make_unique<State>();
    if (IsLocal(address_)) return state_->OpenLocal(address_, options_);
    if (absl::Status begun = state_->Begin(address_, max_message_bytes_); !begun.ok()) return begun;
  }
  if (absl::Status greeted = state_->Greet(options_, std::min(until, deadline_)); !greeted.ok())
    return greeted;
  return state_->Settle(max_message_bytes_, deadline_);
}

std::optional<absl::StatusOr<std::unique_ptr<MaskStream>>> MaskStream::Opening::Await(
    SteadyTime until) {
  auto opened = OrNoThread([&]() -> absl::StatusOr<std::unique_ptr<MaskStream>> {
    absl::Status gone = Go(until);
    if (options_.shared_memory && absl::IsUnimplemented(gone)) {
      // A server from before there was any.
      options_.shared_memory = false;
      state_.reset();
      gone = Go(until);
    }
    if (!gone.ok()) return gone;
    return Of(std::move(state_), options_);
  });
  const SteadyTime now = SteadyTime::Now();
  const bool is_early =
      absl::IsDeadlineExceeded(opened.status()) && now >= until && now < deadline_;
  return is_early ? std::nullopt : std::optional(std::move(opened));
}

absl::StatusOr<std::unique_ptr<MaskStream>> MaskStream::Open(const std::string& address,
                                                             int max_message_bytes,
                                                             const StreamOptions& options) {
  return *Opening(address, max_message_bytes, options).Await(SteadyTime::Never());
}

absl::StatusOr<std::unique_ptr<MaskStream>> MaskStream::OpenInside(
    std::shared_ptr<grpc::Channel> channel, const StreamOptions& options) {
  return OrNoThread([&]() -> absl::StatusOr<std::unique_ptr<MaskStream>> {
    auto state = std::make_unique<State>();
    StreamOptions without = options;
    without.shared_memory = false;
    absl::Status opened = state->OpenInside(std::move(channel), without);
    if (!opened.ok()) return opened;
    return Of(std::move(state), options);
  });
}

std::unique_ptr<MaskStream> MaskStream::Of(std::unique_ptr<State> state,
                                           const StreamOptions& options) {
  state->next_step = options.first_step;
  state->awake = options.awake;
  state->write_timeout = options.write_timeout;
  state->reader.emplace(state->welcome);
  if (options.read_ahead && !state->is_local)
    state->ahead.emplace(state->call.get(), &*state->reader);
  return std::unique_ptr<MaskStream>(new MaskStream(std::move(state)));
}

const v1::Welcome& MaskStream::welcome() const { return state_->welcome; }

bool MaskStream::uses_shared_memory() const { return state_->uses_shared_memory; }

const char* MaskStream::transport() const {
  if (state_->is_local) return "local";
  return state_->uses_shared_memory ? "shared_memory" : "grpc";
}

absl::StatusOr<std::size_t> MaskStream::NumberStep(const v1::Welcome& welcome, std::uint64_t number,
                                                   Step& step) {
  step.message_.mutable_step()->set_step(number);
  const std::size_t bytes = step.message_.ByteSizeLong();
  const std::uint64_t limit = welcome.limits().max_step_bytes();
  if (limit == 0 || bytes <= limit) return bytes;
  return absl::ResourceExhaustedError(
      absl::StrCat("step: limit max_step_bytes is ", limit, ", ", bytes, " needed"));
}

void MaskStream::NumberFrom(std::uint64_t first_step) { state_->next_step = first_step; }

absl::StatusOr<std::uint64_t> MaskStream::Submit(Step& step) {
  if (in_flight() >= kMaxInFlight) {
    return absl::FailedPreconditionError(
        absl::StrCat(kMaxInFlight, " steps are in flight: collect first"));
  }
  const auto bytes = NumberStep(state_->welcome, state_->next_step, step);
  if (!bytes.ok()) return bytes.status();
  if (state_->ahead.has_value()) state_->ahead->End();
  absl::Status status =
      state_->call->Write(step.message_, *bytes, SteadyTime::Now() + state_->write_timeout);
  if (!status.ok()) return state_->Named(std::move(status));
  if (state_->ahead.has_value()) state_->ahead->Begin();
  state_->in_flight.push_back(state_->next_step);
  return state_->next_step++;
}

absl::Status MaskStream::Collect(absl::Duration timeout, StepResult& result) {
  if (state_->in_flight.empty()) return absl::FailedPreconditionError("no step is in flight");
  const SteadyTime deadline = SteadyTime::Now() + timeout;
  state_->waited = absl::ZeroDuration();
  ServerMessage& message = state_->message;
  std::swap(message.result, result);  // whose memory is used again
  absl::Status read;
  do {
    read = state_->Read(deadline);
    if (read.ok() && message.go_away.has_value()) state_->go_away = message.go_away;
  } while (read.ok() && message.go_away.has_value());
  std::swap(message.result, result);
  if (!read.ok()) return state_->Named(std::move(read));
  const std::uint64_t expected = state_->in_flight.front();
  if (!message.has_step || result.step() != expected) {
    return absl::InternalError(
        absl::StrCat("the reply to step ", expected, " was due, not ", result.step()));
  }
  state_->in_flight.pop_front();
  return absl::OkStatus();
}

absl::Duration MaskStream::waited() const { return state_->waited; }

int MaskStream::in_flight() const { return static_cast<int>(state_->in_flight.size()); }

const std::optional<v1::GoAway>& MaskStream::go_away() const { return state_->go_away; }

absl::Status MaskStream::Close(absl::Duration timeout) {
  state_->in_flight.clear();
  state_->ahead.reset();
  return state_->Named(state_->call->Finish(SteadyTime::Now() + timeout));
}

}  // namespace maskd::client
