#include "client/cpp/client.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "grpcpp/client_context.h"

#include "client/cpp/channel.h"
#include "client/cpp/security.h"
#include "client/cpp/wire_status.h"
#include "maskd/v1/compile_service.grpc.pb.h"
#include "maskd/v1/tokenizer_service.grpc.pb.h"

namespace maskd::client {

struct Client::Connection {
  explicit Connection(std::shared_ptr<grpc::Channel> to)
      : channel(std::move(to)), compile(channel), tokenizers(channel) {}

  std::shared_ptr<grpc::Channel> channel;
  v1::CompileService::Stub compile;
  v1::TokenizerService::Stub tokenizers;
};

namespace {

// One unary call with its retries.
template <typename Stub, typename Request, typename Response>
absl::StatusOr<Response> Call(Stub& stub,
                              grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                           Response*),
                              const Request& request, const ClientOptions& options) {
  const absl::Time deadline = absl::Now() + options.call_timeout;
  Response response;
  absl::Status status = Retry(options.retry, deadline, [&] {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(deadline));
    return FromWire((stub.*method)(&context, request, &response));
  });
  if (!status.ok()) return status;
  return response;
}

}  // namespace

Client::Client(ClientOptions options)
    : options_(std::move(options)),
      connection_(
          std::make_unique<Connection>(MakeChannel(options_.address, options_.max_message_bytes))) {
}

Client::~Client() = default;

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(const ClientOptions& options) {
  if (options.address.empty()) return absl::InvalidArgumentError("address: is empty");
  if (!SocketPathOf(options.address).has_value()) {
    if (absl::Status checked = CheckSecurity(); !checked.ok()) return checked;
  }
  std::unique_ptr<Client> client(new Client(options));
  const absl::Time deadline = absl::Now() + options.connect_timeout;
  if (!client->connection_->channel->WaitForConnected(absl::ToChronoTime(deadline))) {
    return absl::UnavailableError(absl::StrCat("no server at ", options.address, " within ",
                                               absl::FormatDuration(options.connect_timeout)));
  }
  return client;
}

absl::StatusOr<v1::CompileResponse> Client::Compile(const v1::CompileRequest& request) const {
  return Call(connection_->compile, &v1::CompileService::Stub::Compile, request, options_);
}

absl::StatusOr<v1::CheckResponse> Client::Check(const v1::CheckRequest& request) const {
  return Call(connection_->compile, &v1::CompileService::Stub::Check, request, options_);
}

absl::StatusOr<v1::ExplainResponse> Client::Explain(const v1::ExplainRequest& request) const {
  return Call(connection_->compile, &v1::CompileService::Stub::Explain, request, options_);
}

absl::StatusOr<std::vector<v1::Tokenizer>> Client::ListTokenizers() const {
  std::vector<v1::Tokenizer> all;
  v1::ListTokenizersRequest request;
  do {
    auto page = Call(connection_->tokenizers, &v1::TokenizerService::Stub::ListTokenizers, request,
                     options_);
    if (!page.ok()) return page.status();
    all.insert(all.end(), page->tokenizers().begin(), page->tokenizers().end());
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return all;
}

absl::StatusOr<v1::Tokenizer> Client::GetTokenizer(absl::string_view name) const {
  v1::GetTokenizerRequest request;
  request.set_name(std::string(name));
  auto response =
      Call(connection_->tokenizers, &v1::TokenizerService::Stub::GetTokenizer, request, options_);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_tokenizer());
}

absl::StatusOr<std::vector<v1::Token>> Client::ListTokens(absl::string_view tokenizer) const {
  std::vector<v1::Token> all;
  v1::ListTokensRequest request;
  request.set_tokenizer(std::string(tokenizer));
  for (;;) {
    auto page =
        Call(connection_->tokenizers, &v1::TokenizerService::Stub::ListTokens, request, options_);
    if (!page.ok()) return page.status();
    all.insert(all.end(), page->tokens().begin(), page->tokens().end());
    if (!page->has_next_id()) return all;
    if (page->next_id() != static_cast<int>(all.size())) {
      return absl::InternalError("the server's pages of tokens do not follow each other");
    }
    request.set_first_id(page->next_id());
  }
}

absl::StatusOr<std::unique_ptr<MaskStream>> Client::OpenStream(const StreamOptions& options) const {
  return MaskStream::Open(options_.address, options_.max_message_bytes, options);
}

}  // namespace maskd::client
