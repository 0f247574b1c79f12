// A small HTTP server for one page and its JSON calls: civetweb with the playground's guards.
//
// Bounds    kThreads requests at once, kMostBody bytes each; a connection that stays silent for
//           ten seconds is closed.
// Security  request_guard.h decides who is answered. Every answer carries a content security policy
//           that allows this server's own files and nothing inline.
// Threads   the handler is called on kThreads threads at once.
#ifndef MASKD_TOOLS_PLAYGROUND_HTTP_SERVER_H_
#define MASKD_TOOLS_PLAYGROUND_HTTP_SERVER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

struct mg_connection;
struct mg_context;

namespace maskd::playground {

struct HttpRequest {
  std::string method;
  std::string path;  // without query
  std::string body = {};
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json; charset=utf-8";
  std::string body = {};
};

class HttpServer {
 public:
  static constexpr int kThreads = 8;
  // A source of 4 MiB, escaped, and its text.
  static constexpr std::size_t kMostBody = 10 << 20;

  using Handler = std::function<HttpResponse(const HttpRequest& request)>;

  // Listens at `address`, host:port; port 0 takes a free one. `names` are allowed in the Host
  // header beside addresses. Errors: UNAVAILABLE with the address.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const std::string& address,
                                                           std::vector<std::string> names,
                                                           Handler handler);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] int port() const { return port_; }

 private:
  HttpServer(std::vector<std::string> names, Handler handler);
  static int Begin(mg_connection* connection);
  [[nodiscard]] HttpResponse Answer(mg_connection* connection) const;

  const std::vector<std::string> names_;
  const Handler handler_;
  int port_ = 0;
  mg_context* context_ = nullptr;
};

}  // namespace maskd::playground

#endif  // MASKD_TOOLS_PLAYGROUND_HTTP_SERVER_H_
