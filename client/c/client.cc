// The C library's client: connections, and unary calls by their names. Requests and replies are
// protobuf's JSON, so that a new option of the protos needs no new function here.
//
// Invariant  no exception and no C++ type crosses to the caller; each failure is a maskd_status.
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "google/protobuf/util/json_util.h"

#include "client/c/handles.h"
#include "client/c/json.h"
#include "local/local_engines.h"

namespace maskd::client {

absl::Status FromJson(const char* json, google::protobuf::Message& message, const char* name) {
  if (absl::Status status = NotNull(json, name); !status.ok()) return status;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &message);
  if (status.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", std::string(status.message())));
}

std::string ToJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string json;
  // Fails for Any of a type that is not linked, which no message of ours has.
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  return status.ok() ? json : "{}";
}

namespace {

absl::Status Connect(std::span<const char* const> addresses, const char* name,
                     std::int64_t timeout_ms, maskd_client** client) {
  if (absl::Status status = NotNull(client, "client"); !status.ok()) return status;
  ClientOptions options;
  if (timeout_ms > 0) options.connect_timeout = absl::Milliseconds(timeout_ms);
  for (const char* const address : addresses) {
    if (absl::Status status = NotNull(address, name); !status.ok()) return status;
    options.more_addresses.emplace_back(address);
  }
  if (!addresses.empty()) {
    options.address = options.more_addresses.front();
    options.more_addresses.erase(options.more_addresses.begin());
  }
  local::Enable();
  auto made = Client::Connect(options);
  if (!made.ok()) return made.status();
  *client = new maskd_client{*std::move(made)};
  return absl::OkStatus();
}

absl::Status ConnectAny(const char* const* addresses, std::int64_t count, std::int64_t timeout_ms,
                        maskd_client** client) {
  std::span<const char* const> given;
  absl::Status status = ReadSpan(addresses, count, "addresses", given);
  return status.ok() ? Connect(given, "addresses", timeout_ms, client) : status;
}

absl::StatusOr<v1::GetTokenizerResponse> GetTokenizer(const Client& client,
                                                      const v1::GetTokenizerRequest& request) {
  auto tokenizer = client.GetTokenizer(request.name());
  if (!tokenizer.ok()) return tokenizer.status();
  v1::GetTokenizerResponse response;
  *response.mutable_tokenizer() = *std::move(tokenizer);
  return response;
}

absl::StatusOr<v1::ListTokenizersResponse> ListTokenizers(
    const Client& client, const v1::ListTokenizersRequest& /*request*/) {
  auto tokenizers = client.ListTokenizers();
  if (!tokenizers.ok()) return tokenizers.status();
  v1::ListTokenizersResponse response;
  for (v1::Tokenizer& each : *tokenizers) *response.add_tokenizers() = std::move(each);
  return response;
}

template <typename Request, typename Call>
absl::StatusOr<std::string> CallWith(const char* request_json, const Call& call) {
  Request request;
  if (absl::Status status = FromJson(request_json, request, "request_json"); !status.ok())
    return status;
  const auto response = call(request);
  if (!response.ok()) return response.status();
  return ToJson(*response);
}

absl::StatusOr<std::string> CallNamed(const Client& client, const std::string& method,
                                      const char* json) {
  if (method == "Compile") {
    return CallWith<v1::CompileRequest>(json,
                                        [&](auto& request) { return client.Compile(request); });
  }
  if (method == "Check")
    return CallWith<v1::CheckRequest>(json, [&](auto& request) { return client.Check(request); });
  if (method == "Explain") {
    return CallWith<v1::ExplainRequest>(json,
                                        [&](auto& request) { return client.Explain(request); });
  }
  if (method == "GetTokenizer") {
    return CallWith<v1::GetTokenizerRequest>(
        json, [&](auto& request) { return GetTokenizer(client, request); });
  }
  if (method == "ListTokenizers") {
    return CallWith<v1::ListTokenizersRequest>(
        json, [&](auto& request) { return ListTokenizers(client, request); });
  }
  return absl::InvalidArgumentError(
      absl::StrCat("method: \"", method,
                   "\" is not one of Compile, Check, Explain, GetTokenizer, ListTokenizers"));
}

absl::Status Call(const maskd_client* client, const char* method, const char* request_json,
                  char** reply_json) {
  if (absl::Status status = NotNull(client, "client"); !status.ok()) return status;
  if (absl::Status status = NotNull(method, "method"); !status.ok()) return status;
  if (absl::Status status = NotNull(reply_json, "reply_json"); !status.ok()) return status;
  const absl::StatusOr<std::string> reply = CallNamed(*client->client, method, request_json);
  if (!reply.ok()) return reply.status();
  *reply_json = strdup(reply->c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace maskd::client

using maskd::client::ToC;

extern "C" {

maskd_status* maskd_client_connect(const char* address, int64_t timeout_ms, maskd_client** client) {
  return ToC(maskd::client::Connect({&address, 1}, "address", timeout_ms, client));
}

maskd_status* maskd_client_connect_any(const char* const* addresses, int64_t address_count,
                                       int64_t timeout_ms, maskd_client** client) {
  return ToC(maskd::client::ConnectAny(addresses, address_count, timeout_ms, client));
}

void maskd_client_free(maskd_client* client) { delete client; }

maskd_status* maskd_client_call(const maskd_client* client, const char* method,
                                const char* request_json, char** reply_json) {
  return ToC(maskd::client::Call(client, method, request_json, reply_json));
}

void maskd_string_free(char* string) { std::free(string); }

}  // extern "C"
