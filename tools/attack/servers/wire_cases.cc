// A table from the name of an operation to the method that does it below the RPC library.
// Connections that an operation opens stay, so that the next one meets a server that is under this
// load.
//
// Invariant  no operation waits for the server longer than its patience.
// Bounds     as many calls on a connection as the server allows; kUnbounded where it says nothing.
#include "tools/attack/servers/wire_cases.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include <sys/resource.h>

#include "maskd/v1/compile_service.pb.h"
#include "maskd/v1/mask_service.pb.h"
#include "tools/attack/servers/conversation.h"
#include "tools/attack/targets/socket_address.h"
#include "tools/attack/targets/unary_calls.h"

namespace maskd::attack {
namespace {

constexpr char kCompile[] = "/maskd.v1.CompileService/Compile";
constexpr char kListTokens[] = "/maskd.v1.TokenizerService/ListTokens";
constexpr std::uint32_t kWindow = 65'535;
constexpr absl::Duration kPatience = absl::Seconds(30);

// Groups of a field that no message has, each within the one before.
std::string NestedGroups(std::int64_t depth) {
  constexpr char kStart = '\x7B';  // field 15, group
  constexpr char kEnd = '\x7C';
  const auto count = static_cast<std::size_t>(depth);
  return std::string(count, kStart) + std::string(count, kEnd);
}

std::string EnumOf(std::int64_t value) {
  v1::CompileRequest request;
  request.mutable_grammar()->set_kind("json");
  request.mutable_grammar()->mutable_options()->set_white_space(static_cast<v1::WhiteSpace>(value));
  return request.SerializeAsString();
}

std::string LongSource(std::int64_t bytes) {
  v1::CompileRequest request;
  request.mutable_grammar()->set_kind("regex");
  request.mutable_grammar()->set_source(std::string(static_cast<std::size_t>(bytes), 'a'));
  return request.SerializeAsString();
}

// Lets this program have as many descriptors as the system allows it.
void RaiseDescriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

const std::map<std::string, WireCases::Handler>& WireCases::Handlers() {
  static const auto* const handlers = new std::map<std::string, Handler>{
      {"raw_message", &WireCases::RawMessage},
      {"raw_frame", &WireCases::RawFrame},
      {"metadata", &WireCases::Metadata},
      {"h2_rapid_reset", &WireCases::RapidReset},
      {"h2_ping_flood", &WireCases::PingFlood},
      {"h2_zero_window", &WireCases::ZeroWindow},
      {"tcp_connect_silent", &WireCases::ConnectSilent},
      {"plaintext_to_tls", &WireCases::Tls},
      {"tls_client", &WireCases::Tls},
  };
  return *handlers;
}

Outcome WireCases::Run(const Json& step) {
  const auto handler = Handlers().find(step.at("op"));
  return handler == Handlers().end() ? Outcome::Unknown() : (this->*handler->second)(step);
}

void WireCases::CloseConnections() {
  connections_.clear();
  silent_.clear();
}

RawHttp2* WireCases::Connect(std::uint32_t window) {
  auto made = std::make_unique<RawHttp2>(server_.address, window);
  const auto has_settings = [](const RawHttp2::Seen& seen) { return seen.has_settings; };
  if (made->is_closed() || !made->Take(has_settings, kPatience)) return nullptr;
  connections_.push_back(std::move(made));
  return connections_.back().get();
}

Outcome WireCases::OpenCalls(const std::string& method, std::int64_t count) {
  RaiseDescriptors();
  constexpr std::int64_t kUnbounded = 1000;
  std::int64_t refused = 0;
  for (std::int64_t left = count; left > 0;) {
    RawHttp2* const connection = Connect(kWindow);
    if (connection == nullptr) return absl::ResourceExhaustedError("no further connection");
    const std::int64_t most = connection->seen().max_calls;
    const std::int64_t here = std::min(left, most < 0 ? kUnbounded : most);
    for (std::int64_t i = 0; i < here; ++i) connection->Open(method);
    left -= here;
    connection->TakePending();
  }
  absl::SleepFor(absl::Milliseconds(200));
  for (const std::unique_ptr<RawHttp2>& connection : connections_) {
    connection->TakePending();
    refused += connection->seen().ended() + (connection->is_closed() ? 1 : 0);
  }
  Outcome outcome;
  outcome.is_queued = refused == 0;
  if (refused > 0) outcome.status = absl::ResourceExhaustedError("calls were refused");
  return outcome;
}

// A row that claims to have taken so many tokens, in a packed list of one byte each.
Outcome WireCases::OpenWithTokens(std::int64_t count) const {
  Conversation stream(server_.address);
  v1::Hello hello;
  hello.set_tokenizer(server_.tokenizer);
  hello.set_logits_width(static_cast<std::uint32_t>(vocab_size_));
  if (const auto welcome = stream.Greet(hello); !welcome.ok()) return welcome.status();
  v1::Step step;
  step.set_step(1);
  step.set_wait_for_compile_ms(10'000);
  v1::OpenRow& open = *step.add_open();
  open.set_row(1);
  open.mutable_grammar()->set_kind("regex");
  open.mutable_grammar()->set_source("[a-z]*");
  open.mutable_tokens()->Resize(static_cast<int>(count), 'a');
  const absl::StatusOr<v1::StepReply> reply = stream.Run(step);
  if (!reply.ok()) return reply.status();
  if (reply->rows_size() == 0 || !reply->rows(0).has_error()) return absl::OkStatus();
  const v1::RowError& error = reply->rows(0).error();
  Outcome outcome(absl::Status(static_cast<absl::StatusCode>(error.code()), error.message()));
  outcome.is_of_a_row = true;
  return outcome;
}

Outcome WireCases::RawMessage(const Json& step) {
  if (step.contains("repeated_varints")) return OpenWithTokens(step["repeated_varints"]);
  std::string request;
  if (step.contains("bytes"))
    request = LongSource(step["bytes"]);
  else if (step.contains("nested_groups"))
    request = NestedGroups(step["nested_groups"]);
  else if (step.contains("enum_value"))
    request = EnumOf(step["enum_value"]);
  else
    return Outcome::Unknown();
  return Call(server_.address, {.method = kCompile, .request = std::move(request)});
}

// The caller's side ends with the bytes that it has: no more of the message can come.
Outcome WireCases::RawFrame(const Json& step) {
  RawHttp2* const connection = Connect(kWindow);
  if (connection == nullptr) return absl::UnavailableError("no connection");
  const std::uint32_t call = connection->Open(kCompile);
  const auto declared = step.at("declared").get<std::uint32_t>();
  const std::string bytes(step.at("sent").get<std::size_t>(), 'a');
  connection->Send(call, GrpcHeader(declared) + bytes, /*last=*/true, kPatience);
  Outcome outcome;
  outcome.is_closed = connection->Take(
      [call](const RawHttp2::Seen& seen) {
        const auto found = seen.calls.find(call);
        return found != seen.calls.end() && found->second;
      },
      kPatience);
  outcome.is_closed = outcome.is_closed || connection->is_closed();
  return outcome;
}

Outcome WireCases::Metadata(const Json& step) {
  v1::CompileRequest request;
  request.mutable_grammar()->set_kind("json");
  return Call(server_.address, {.method = kCompile,
                                .request = request.SerializeAsString(),
                                .metadata_bytes = step.at("bytes")});
}

Outcome WireCases::RapidReset(const Json& step) {
  RawHttp2* connection = Connect(kWindow);
  const absl::Time end = absl::Now() + absl::Seconds(step.at("seconds").get<std::int64_t>());
  for (std::int64_t left = step.at("streams"); left > 0 && absl::Now() < end; --left) {
    if (connection == nullptr) break;  // nobody is let in any more
    if (!connection->Reset(connection->Open(kCompile))) connection = Connect(kWindow);
    if (connection != nullptr && left % 100 == 0) connection->TakePending();
  }
  return {};
}

Outcome WireCases::PingFlood(const Json& step) {
  RawHttp2* const connection = Connect(kWindow);
  if (connection == nullptr) return absl::UnavailableError("no connection");
  std::int64_t left = step.at("frames");
  while (left > 0 && connection->Ping())
    if (--left % 100 == 0) connection->TakePending();
  return left > 0 || connection->seen().go_away ? Outcome()
                                                : Outcome::Fault("the connection was not closed");
}

Outcome WireCases::ZeroWindow(const Json& step) {
  RawHttp2* connection = nullptr;
  std::int64_t here = 0;
  for (std::int64_t left = step.at("streams"); left > 0; --left) {
    const bool is_full =
        connection == nullptr || connection->is_closed() ||
        (connection->seen().max_calls >= 0 && here == connection->seen().max_calls);
    if (is_full) {
      connection = Connect(/*window=*/0);
      here = 0;
    }
    if (connection == nullptr) return absl::UnavailableError("no connection");
    ++here;
    connection->Send(connection->Open(kListTokens), GrpcFrame(""), /*last=*/true, kPatience);
    connection->TakePending();
  }
  absl::SleepFor(absl::Seconds(1));
  return {};
}

Outcome WireCases::ConnectSilent(const Json& step) {
  RaiseDescriptors();
  for (std::int64_t left = step.at("n"); left > 0; --left) {
    absl::StatusOr<ring::UniqueFd> fd = ConnectSocket(server_.address);
    if (!fd.ok()) break;  // nobody is let in any more
    silent_.push_back(*std::move(fd));
  }
  return {};
}

Outcome WireCases::Tls(const Json& /*step*/) { return Outcome::Absent("TLS"); }

}  // namespace maskd::attack
