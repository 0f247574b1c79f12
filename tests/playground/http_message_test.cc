#include "playground/http_message.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maskd::playground {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ReadHeadTest, ReadsWhatTheGuardAsksFor) {
  const auto head = ReadHead(
      "POST /api/place?x=1 HTTP/1.1\r\nhost: localhost:8417\r\nORIGIN:http://localhost:8417\r\n"
      "Content-Type: application/json \r\nContent-Length: 12");
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->method, "POST");
  EXPECT_EQ(head->path, "/api/place");
  EXPECT_EQ(head->host, "localhost:8417");
  EXPECT_EQ(head->origin, "http://localhost:8417");
  EXPECT_EQ(head->content_type, "application/json");
  EXPECT_EQ(head->content_length, 12U);
}

TEST(ReadHeadTest, ABodyInChunksHasNoLength) {
  const auto head = ReadHead("POST / HTTP/1.1\r\nContent-Length: 12\r\nTransfer-Encoding: chunked");
  ASSERT_TRUE(head.has_value());
  EXPECT_FALSE(head->content_length.has_value());
}

class BadHeadTest : public testing::TestWithParam<std::string> {};

TEST_P(BadHeadTest, IsNone) { EXPECT_FALSE(ReadHead(GetParam()).has_value()); }

INSTANTIATE_TEST_SUITE_P(Heads, BadHeadTest,
                         testing::ValuesIn(std::vector<std::string>{
                             "",
                             "GET /",
                             "GET / HTTP/2",
                             "GET / HTTP/1.1 more",
                             "GET http://elsewhere/ HTTP/1.1",
                             "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example",
                             "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2",
                             "POST / HTTP/1.1\r\nContent-Length: -1",
                             "POST / HTTP/1.1\r\nContent-Length: +1",
                             "POST / HTTP/1.1\r\nContent-Length: 99999999999",
                             "POST / HTTP/1.1\r\nContent-Length: 1x",
                         }));

TEST(WriteResponseTest, HasItsLengthAndAStrictPolicy) {
  const std::string text = WriteResponse({.status = 404, .type = "text/plain", .body = "no\n"});
  EXPECT_THAT(text, StartsWith("HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\nContent-Length: 3\r\n"));
  EXPECT_THAT(text,
              HasSubstr("\r\nContent-Security-Policy: default-src 'none'; script-src 'self'"));
  EXPECT_THAT(text, EndsWith("\r\nConnection: close\r\n\r\nno\n"));
}

}  // namespace
}  // namespace maskd::playground
