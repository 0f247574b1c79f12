// Unary calls go to one server after another, the one that answered last first. Each gets an equal
// share of the time that is left, so a silent one costs its share and no more. One template makes a
// call of each kind, to a stub or to an engine in this process.
//
// Invariant  only an error that another server may not have leads to the next one.
// Cost       with servers that answer: one call, and no look at the others.
// Threads    any; answered_last_ is a hint, whichever thread writes it.
#include "client/cpp/client.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "grpcpp/client_context.h"

#include "client/cpp/base/errors.h"
#include "client/cpp/base/steady_time.h"
#include "client/cpp/base/wire_status.h"
#include "client/cpp/calls/local_engine.h"
#include "client/cpp/connect/channel.h"
#include "client/cpp/connect/refusal.h"
#include "client/cpp/connect/security.h"
#include "client/cpp/connect/socket_path.h"
#include "maskd/v1/compile_service.grpc.pb.h"
#include "maskd/v1/tokenizer_service.grpc.pb.h"

namespace maskd::client {

// A server, or an engine of this process.
struct Client::Connection {
  // Errors: that of the engine; those of CheckSecurity().
  static absl::StatusOr<std::unique_ptr<const Connection>> Make(const std::string& address,
                                                                int max_message_bytes) {
    auto made = std::make_unique<Connection>();
    made->address = address;
    if (IsLocal(address)) {
      auto engine = FindLocalEngine(address);
      if (!engine.ok()) return engine.status();
      made->local = *std::move(engine);
    } else {
      if (!SocketPathOf(address).has_value()) {
        if (absl::Status checked = CheckSecurity(); !checked.ok()) return checked;
      }
      made->Use(MakeChannel(address, max_message_bytes));
    }
    return made;
  }

  void Use(std::shared_ptr<grpc::Channel> made) {
    channel = std::move(made);
    compile = v1::CompileService::NewStub(channel);
    tokenizers = v1::TokenizerService::NewStub(channel);
  }

  [[nodiscard]] grpc_connectivity_state State() const {
    return local != nullptr ? GRPC_CHANNEL_READY : channel->GetState(/*try_to_connect=*/true);
  }

  // Why it is not reachable; empty where gRPC cannot tell at once.
  [[nodiscard]] std::string Trouble() const {
    constexpr absl::Duration kAtOnce = absl::Milliseconds(100);
    grpc::ClientContext context;
    context.set_deadline((SteadyTime::Now() + kAtOnce).ForGrpc());
    v1::ListTokenizersResponse ignored;
    const grpc::Status status = tokenizers->ListTokenizers(&context, {}, &ignored);
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE) return "";
    const std::string said = status.error_message();
    constexpr char kBefore[] = "last error: ";
    const std::size_t last = said.rfind(kBefore);
    return last == std::string::npos ? said : said.substr(last + sizeof(kBefore) - 1);
  }

  // The same where it is the answer for good; empty where the server may be there in a moment.
  [[nodiscard]] std::string Refusal() const {
    std::string trouble = Trouble();
    return IsRefusal(trouble) ? trouble : "";
  }

  std::string address;
  std::shared_ptr<LocalEngine> local;
  std::shared_ptr<grpc::Channel> channel;  // this and the rest without an engine
  std::unique_ptr<v1::CompileService::Stub> compile;
  std::unique_ptr<v1::TokenizerService::Stub> tokenizers;
};

namespace {

// How long a server that says nothing is waited for where the caller has not said.
constexpr absl::Duration kSilence = absl::Seconds(5);
// How long each of several servers is looked at in turn.
constexpr absl::Duration kLook = absl::Milliseconds(2);

// Whether another server may do what this one did not.
bool IsWorthAnother(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         ErrorRetryAfter(status).has_value();
}

}  // namespace

Client::Client(ClientOptions options) : options_(std::move(options)) {}

Client::~Client() = default;

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(const ClientOptions& options) {
  std::unique_ptr<Client> client(new Client(options));
  if (options.inside != nullptr) {
    client->ConnectInside();
    return client;
  }
  std::vector<std::string> addresses = {options.address};
  addresses.insert(addresses.end(), options.more_addresses.begin(), options.more_addresses.end());
  for (const std::string& address : addresses) {
    if (address.empty()) return absl::InvalidArgumentError("address: is empty");
    auto made = Connection::Make(address, options.max_message_bytes);
    if (!made.ok()) return made.status();
    client->servers_.push_back(*std::move(made));
  }
  if (absl::Status there = client->AwaitServer(); !there.ok()) return there;
  return client;
}

void Client::ConnectInside() {
  auto made = std::make_unique<Connection>();
  made->Use(options_.inside());
  servers_.push_back(std::move(made));
}

absl::Status Client::AwaitServer() const {
  const absl::Duration patience = options_.connect_timeout.value_or(kSilence);
  const SteadyTime deadline = SteadyTime::Now() + patience;
  std::vector<grpc_connectivity_state> states(servers_.size());
  std::vector<std::string> refusals(servers_.size());
  do {
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      states[i] = servers_[i]->State();
      if (states[i] == GRPC_CHANNEL_READY) {
        answered_last_ = i;
        return absl::OkStatus();
      }
      const bool is_to_be_told = !options_.connect_timeout.has_value() && refusals[i].empty();
      if (is_to_be_told && states[i] == GRPC_CHANNEL_TRANSIENT_FAILURE)
        refusals[i] = servers_[i]->Refusal();
    }
    if (std::ranges::count(refusals, "") == 0) return NoServer("", refusals);
    // Whoever waits for a change drives the connection: by itself gRPC looks every 5 s. From the
    // state that was seen: one that came since is a change.
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      const SteadyTime until = servers_.size() == 1 ? deadline : SteadyTime::Now() + kLook;
      servers_[i]->channel->WaitForStateChange(states[i], until.ForGrpc());
    }
  } while (SteadyTime::Now() < deadline);
  std::vector<std::string> troubles;
  for (const auto& server : servers_)
    if (std::string trouble = server->Trouble(); !trouble.empty()) troubles.push_back(trouble);
  return NoServer(absl::StrCat(" within ", absl::FormatDuration(patience)), troubles);
}

absl::Status Client::NoServer(absl::string_view within,
                              const std::vector<std::string>& troubles) const {
  const auto address = [](std::string* text, const auto& server) { *text += server->address; };
  return absl::UnavailableError(
      absl::StrCat("no server at ", absl::StrJoin(servers_, ", ", address), within,
                   troubles.empty() ? "" : ": ", absl::StrJoin(troubles, "; ")));
}

absl::Status Client::AskServers(
    SteadyTime deadline,
    absl::FunctionRef<absl::Status(const Connection& server, SteadyTime deadline)> ask) const {
  const std::size_t count = servers_.size();
  const std::size_t first = answered_last_;
  absl::Status status;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = (first + i) % count;
    const SteadyTime now = SteadyTime::Now();
    status = ask(*servers_[index], now + (deadline - now) / static_cast<std::int64_t>(count - i));
    if (!IsWorthAnother(status)) {
      answered_last_ = index;
      break;
    }
  }
  return status;
}

SteadyTime Client::Deadline() const { return SteadyTime::Now() + options_.call_timeout; }

template <typename Local, typename Stub, typename Remote, typename Request, typename Response>
absl::Status Client::Call(SteadyTime deadline, Local local, Stub stub, Remote remote,
                          const Request& request, Response* response) const {
  return Retry(options_.retry, deadline, [&] {
    return AskServers(deadline, [&](const Connection& server, SteadyTime until) {
      if (server.local != nullptr) return ((*server.local).*local)(request, until, response);
      grpc::ClientContext context;
      context.set_deadline(until.ForGrpc());
      return FromWire(((*(server.*stub)).*remote)(&context, request, response));
    });
  });
}

absl::StatusOr<v1::CompileResponse> Client::Compile(const v1::CompileRequest& request) const {
  v1::CompileResponse response;
  absl::Status status = Call(Deadline(), &LocalEngine::Compile, &Connection::compile,
                             &v1::CompileService::Stub::Compile, request, &response);
  if (!status.ok()) return status;
  return response;
}

absl::StatusOr<v1::CheckResponse> Client::Check(const v1::CheckRequest& request) const {
  v1::CheckResponse response;
  absl::Status status = Call(Deadline(), &LocalEngine::Check, &Connection::compile,
                             &v1::CompileService::Stub::Check, request, &response);
  if (!status.ok()) return status;
  return response;
}

absl::StatusOr<v1::ExplainResponse> Client::Explain(const v1::ExplainRequest& request) const {
  v1::ExplainResponse response;
  absl::Status status = Call(Deadline(), &LocalEngine::Explain, &Connection::compile,
                             &v1::CompileService::Stub::Explain, request, &response);
  if (!status.ok()) return status;
  return response;
}

absl::StatusOr<std::vector<v1::Tokenizer>> Client::ListTokenizers() const {
  const SteadyTime deadline = Deadline();
  std::vector<v1::Tokenizer> all;
  v1::ListTokenizersRequest request;
  do {
    v1::ListTokenizersResponse page;
    absl::Status status = Call(deadline, &LocalEngine::ListTokenizers, &Connection::tokenizers,
                               &v1::TokenizerService::Stub::ListTokenizers, request, &page);
    if (!status.ok()) return status;
    all.insert(all.end(), page.tokenizers().begin(), page.tokenizers().end());
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return all;
}

absl::StatusOr<v1::Tokenizer> Client::GetTokenizer(absl::string_view name) const {
  v1::GetTokenizerRequest request;
  request.set_name(std::string(name));
  v1::GetTokenizerResponse response;
  absl::Status status = Call(Deadline(), &LocalEngine::GetTokenizer, &Connection::tokenizers,
                             &v1::TokenizerService::Stub::GetTokenizer, request, &response);
  if (!status.ok()) return status;
  return std::move(*response.mutable_tokenizer());
}

absl::StatusOr<std::vector<v1::Token>> Client::ListTokens(absl::string_view tokenizer) const {
  const SteadyTime deadline = Deadline();
  std::vector<v1::Token> all;
  v1::ListTokensRequest request;
  request.set_tokenizer(std::string(tokenizer));
  for (;;) {
    v1::ListTokensResponse page;
    absl::Status status = Call(deadline, &LocalEngine::ListTokens, &Connection::tokenizers,
                               &v1::TokenizerService::Stub::ListTokens, request, &page);
    if (!status.ok()) return status;
    all.insert(all.end(), page.tokens().begin(), page.tokens().end());
    if (!page.has_next_id()) return all;
    // A page without tokens would lead to itself.
    if (page.tokens().empty() || page.next_id() != static_cast<int>(all.size()))
      return absl::InternalError("the server's pages of tokens do not follow each other");
    request.set_first_id(page.next_id());
  }
}

absl::StatusOr<std::unique_ptr<MaskStream>> Client::OpenStream(const StreamOptions& options) const {
  std::unique_ptr<MaskStream> stream;
  absl::Status status = AskServers(
      SteadyTime::Now() + options.open_timeout,
      [&](const Connection& server, SteadyTime until) -> absl::Status {
        StreamOptions here = options;
        here.open_timeout = until - SteadyTime::Now();
        auto opened = options_.inside != nullptr
                          ? MaskStream::OpenInside(options_.inside(), here)
                          : MaskStream::Open(server.address, options_.max_message_bytes, here);
        if (opened.ok()) stream = *std::move(opened);
        return opened.status();
      });
  if (!status.ok()) return status;
  return stream;
}

}  // namespace maskd::client
