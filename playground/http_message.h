// A request and its answer, and how HTTP/1.1 writes them (RFC 9112).
//
// Threads  plain values, pure functions.
#ifndef MASKD_PLAYGROUND_HTTP_MESSAGE_H_
#define MASKD_PLAYGROUND_HTTP_MESSAGE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace maskd::playground {

// What a handler is given: checked by request_guard.h, its body complete.
struct HttpRequest {
  std::string method;
  std::string path;  // without query
  std::string body = {};
};

// What a handler gives; the headers around it are the server's.
struct HttpResponse {
  int status = 200;
  std::string type = "application/json; charset=utf-8";
  std::string body = {};
};

// What stands before the body.
struct HttpHead {
  std::string method;
  std::string path;  // without query
  std::string host;
  std::string origin;
  std::string content_type;
  // Nothing where it is not said, or where the body comes in chunks.
  std::optional<std::size_t> content_length;
};

// What ends a head.
inline constexpr absl::string_view kEndOfHead = "\r\n\r\n";

// Reads a head, its end left out. Nothing where it is no request of HTTP/1, says a header twice
// that is read here, or a length that is no number.
std::optional<HttpHead> ReadHead(absl::string_view head);

// The answer's bytes, with the headers that each has: a content security policy that allows this
// server's own files and nothing inline, and the end of the connection.
std::string WriteResponse(const HttpResponse& response);

}  // namespace maskd::playground

#endif  // MASKD_PLAYGROUND_HTTP_MESSAGE_H_
