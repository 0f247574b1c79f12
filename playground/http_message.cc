#include "playground/http_message.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace maskd::playground {
namespace {

constexpr absl::string_view kHeaders =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cache-Control: no-store\r\n"
    "Connection: close\r\n";

absl::string_view Phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 413:
      return "Content Too Large";
    case 429:
      return "Too Many Requests";
    default:
      return status < 500 ? "Bad Request" : "Server Error";
  }
}

// The value of a header, where `line` is that header.
std::optional<absl::string_view> ValueOf(absl::string_view line, absl::string_view name) {
  const std::size_t colon = line.find(':');
  if (colon == absl::string_view::npos || !absl::EqualsIgnoreCase(line.substr(0, colon), name))
    return std::nullopt;
  return absl::StripAsciiWhitespace(line.substr(colon + 1));
}

// What the lines say of one header. Nothing where they say it twice: of two readers one would take
// the first and one the last.
std::optional<std::string> OnlyValueOf(const std::vector<absl::string_view>& lines,
                                       absl::string_view name) {
  std::optional<std::string> found;
  for (const absl::string_view line : lines) {
    const auto value = ValueOf(line, name);
    if (!value.has_value()) continue;
    if (found.has_value()) return std::nullopt;
    found = std::string(*value);
  }
  return found.value_or("");
}

bool ReadFirstLine(absl::string_view line, HttpHead* head) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  if (words.size() != 3 || !absl::StartsWith(words[2], "HTTP/1.")) return false;
  head->method = std::string(words[0]);
  head->path = std::string(words[1].substr(0, words[1].find('?')));
  return absl::StartsWith(head->path, "/");
}

bool ReadLength(const std::string& text, HttpHead* head) {
  std::uint32_t length = 0;
  if (text.empty()) return true;
  if (!absl::ascii_isdigit(static_cast<unsigned char>(text[0])) || !absl::SimpleAtoi(text, &length))
    return false;
  head->content_length = length;
  return true;
}

}  // namespace

std::optional<HttpHead> ReadHead(absl::string_view head) {
  const std::vector<absl::string_view> lines = absl::StrSplit(head, "\r\n");
  HttpHead read;
  if (!ReadFirstLine(lines.front(), &read)) return std::nullopt;
  auto host = OnlyValueOf(lines, "Host");
  auto origin = OnlyValueOf(lines, "Origin");
  auto type = OnlyValueOf(lines, "Content-Type");
  const auto length = OnlyValueOf(lines, "Content-Length");
  const auto coding = OnlyValueOf(lines, "Transfer-Encoding");
  if (!host || !origin || !type || !length || !coding || !ReadLength(*length, &read))
    return std::nullopt;
  if (!coding->empty()) read.content_length = std::nullopt;
  read.host = *std::move(host);
  read.origin = *std::move(origin);
  read.content_type = *std::move(type);
  return read;
}

std::string WriteResponse(const HttpResponse& response) {
  return absl::StrCat("HTTP/1.1 ", response.status, " ", Phrase(response.status),
                      "\r\nContent-Type: ", response.type,
                      "\r\nContent-Length: ", response.body.size(), "\r\n", kHeaders, "\r\n",
                      response.body);
}

}  // namespace maskd::playground
