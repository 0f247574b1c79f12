#include "tools/playground/http_server.h"

#include <array>
#include <new>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include <civetweb.h>

#include "tools/playground/request_guard.h"

namespace maskd::playground {
namespace {

constexpr int kHandled = 200;

constexpr absl::string_view kHeaders =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cache-Control: no-store\r\n";

HttpResponse Refused(int status, absl::string_view why) {
  return {status, "text/plain; charset=utf-8", absl::StrCat(why, "\n")};
}

std::string Header(mg_connection* connection, const char* name) {
  const char* const value = mg_get_header(connection, name);
  return value == nullptr ? "" : value;
}

// The body, of as many bytes as its head says. False where the connection ends before.
bool ReadBody(mg_connection* connection, std::size_t length, std::string* body) {
  std::array<char, 1 << 16> part;
  while (body->size() < length) {
    const std::size_t wanted = std::min(part.size(), length - body->size());
    const int count = mg_read(connection, part.data(), wanted);
    if (count <= 0) return false;
    body->append(part.data(), static_cast<std::size_t>(count));
  }
  return true;
}

void Send(mg_connection* connection, const HttpResponse& response) {
  const std::string head = absl::StrCat(
      "HTTP/1.1 ", response.status, " ", mg_get_response_code_text(connection, response.status),
      "\r\nContent-Type: ", response.type, "\r\nContent-Length: ", response.body.size(), "\r\n",
      kHeaders, response.status >= 400 ? "Connection: close\r\n\r\n" : "\r\n", response.body);
  mg_write(connection, head.data(), head.size());
}

}  // namespace

HttpServer::HttpServer(std::vector<std::string> names, Handler handler)
    : names_(std::move(names)), handler_(std::move(handler)) {
  mg_init_library(0);
}

HttpServer::~HttpServer() {
  if (context_ != nullptr) mg_stop(context_);
  mg_exit_library();
}

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const std::string& address,
                                                              std::vector<std::string> names,
                                                              Handler handler) {
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(names), std::move(handler)));
  const std::string threads = absl::StrCat(kThreads);
  const std::array options = {"listening_ports",
                              address.c_str(),
                              "num_threads",
                              threads.c_str(),
                              "tcp_nodelay",
                              "1",
                              "enable_keep_alive",
                              "yes",
                              "keep_alive_timeout_ms",
                              "10000",
                              "request_timeout_ms",
                              "10000",
                              "enable_directory_listing",
                              "no",
                              static_cast<const char*>(nullptr)};
  mg_callbacks callbacks = {};
  callbacks.begin_request = &HttpServer::Begin;
  callbacks.log_message = [](const mg_connection*, const char*) { return 1; };  // not logged
  server->context_ = mg_start(&callbacks, server.get(), const_cast<const char**>(options.data()));
  std::array<mg_server_port, 1> ports = {};
  if (server->context_ == nullptr || mg_get_server_ports(server->context_, 1, ports.data()) < 1)
    return absl::UnavailableError(absl::StrCat("cannot listen at ", address));
  server->port_ = ports.front().port;
  return server;
}

int HttpServer::Begin(mg_connection* connection) {
  const auto* const server =
      static_cast<const HttpServer*>(mg_get_request_info(connection)->user_data);
  HttpResponse response;
  try {
    response = server->Answer(connection);
  } catch (const std::bad_alloc&) {
    response = Refused(503, "out of memory");
  }
  Send(connection, response);
  return kHandled;
}

HttpResponse HttpServer::Answer(mg_connection* connection) const {
  const mg_request_info& info = *mg_get_request_info(connection);
  const std::string host = Header(connection, "Host");
  if (!HostIsAllowed(host, names_))
    return Refused(403, "the Host header is no name of this server; see --host");
  if (!OriginIsAllowed(Header(connection, "Origin"), host))
    return Refused(403, "another site's page may not ask");
  HttpRequest request = {info.request_method, info.local_uri};
  if (request.method == "GET") return handler_(request);
  if (request.method != "POST") return Refused(405, "GET and POST alone");
  if (!IsJson(Header(connection, "Content-Type"))) return Refused(415, "the body must be JSON");
  if (info.content_length < 0) return Refused(411, "the length must be given");
  if (static_cast<std::size_t>(info.content_length) > kMostBody)
    return Refused(413, absl::StrCat("the body is larger than ", kMostBody, " bytes"));
  if (!ReadBody(connection, static_cast<std::size_t>(info.content_length), &request.body))
    return Refused(400, "the body ended early");
  return handler_(request);
}

}  // namespace maskd::playground
