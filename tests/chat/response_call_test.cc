// What the field "tool_calls" of a response template says of a call.
#include "grammar_core/frontend/chat/response_call.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

using Texts = std::vector<std::string>;

constexpr char kJsonCall[] =
    R"({"open": "<call>", "close": "</call>", "repeats": true, "content": "json",
        "transform": {"type": "function", "function": "{content}"}})";
constexpr char kNamedCall[] =
    R"({"open_pattern": "<f=(?P<name>[^>]+)>", "close": "</f>", "repeats": true,
        "content": "json",
        "transform": {"function": {"name": "{name}", "arguments": "{content}"}}})";
constexpr char kList[] =
    R"({"open": "[CALLS]", "close": "[END]", "transform_each": true, "content": "json",
        "transform": {"function": {"name": "{name}", "arguments": "{parameters}"}}})";

absl::StatusOr<ResponseCalls> Read(const std::string& text, const Texts& turn_ends = {},
                                   const std::optional<std::string>& space = "",
                                   const std::string& behind_arguments = "") {
  const auto document = JsonDocument::Parse(text, Limits());
  EXPECT_TRUE(document.ok()) << document.status();
  return ReadResponseCalls(document->root(), turn_ends, {space, behind_arguments});
}

TEST(ResponseCall, AnAnchorIsATextOrAPatternOrNothing) {
  const auto document = JsonDocument::Parse(
      R"({"open": "<a>", "close_pattern": "</a>\\s*", "two": ["x", "y"], "bad_pattern": "["})",
      Limits());
  ASSERT_TRUE(document.ok());
  const auto open = ReadResponseAnchor(document->root(), "open");
  ASSERT_TRUE(open.ok()) << open.status();
  EXPECT_EQ(open->texts, Texts{"<a>"});
  EXPECT_EQ(open->place, "/open");
  const auto close = ReadResponseAnchor(document->root(), "close");
  ASSERT_TRUE(close.ok()) << close.status();
  EXPECT_EQ(close->pieces.size(), 2U);
  EXPECT_EQ(close->place, "/close_pattern");
  EXPECT_EQ(ReadResponseAnchor(document->root(), "two")->texts, (Texts{"x", "y"}));
  EXPECT_TRUE(ReadResponseAnchor(document->root(), "none")->empty());
  EXPECT_EQ(ErrorPlace(ReadResponseAnchor(document->root(), "bad").status()), "/bad_pattern");
}

TEST(ResponseCall, ACallOfOneObjectIsWrittenByItsMembers) {
  const auto calls = Read(kJsonCall);
  ASSERT_TRUE(calls.ok()) << calls.status();
  EXPECT_TRUE(calls->parallel);
  EXPECT_EQ(calls->call,
            (Texts{R"("<call>{\"name\": \"")", R"({"name": "json"})", R"("\", \"arguments\": ")",
                   R"({"arguments": "json"})", R"("}</call>")"}));
}

TEST(ResponseCall, ANameBeforeTheArgumentsIsRaw) {
  const auto calls = Read(kNamedCall);
  ASSERT_TRUE(calls.ok()) << calls.status();
  EXPECT_EQ(calls->call, (Texts{R"("<f=")", R"({"name": "raw"})", R"(">")",
                                R"({"arguments": "json"})", R"("</f>")"}));
}

// One that some tools' names have more characters than.
TEST(ResponseCall, ANameIsOfTheCharactersThatItsCaptureHas) {
  const auto call = [](const std::string& body) {
    std::string text = kNamedCall;
    text.replace(text.find("[^>]+"), 5, body);
    const auto calls = Read(text);
    return calls.ok() ? calls->call[1] : calls.status().ToString();
  };
  EXPECT_EQ(call(R"(\\w+)"), R"({"name": "word"})");
  EXPECT_EQ(call("[^>:]+"), R"({"name": "word"})");
  EXPECT_EQ(call(R"(\\S+?)"), R"({"name": "raw"})");
}

TEST(ResponseCall, WhatStandsBehindElementsIsSaid) {
  constexpr char kElements[] =
      R"({"open_pattern": "<f=(?P<name>[^>]+)>", "close": "</f>", "repeats": true,
          "content": "xml-inline",
          "content_args": {"tag_pattern": "<(?P<key>[^>]+)>(?P<value>.*?)</>"},
          "transform": {"function": {"name": "{name}", "arguments": "{content}"}}})";
  const auto calls = Read(kElements, {}, "", "<!>");
  ASSERT_TRUE(calls.ok()) << calls.status();
  EXPECT_EQ(calls->call.back(), R"("<!></f>")");
  EXPECT_EQ(Read(kElements)->call.back(), R"("</f>")");
  EXPECT_TRUE(absl::IsInvalidArgument(Read(kNamedCall, {}, "", "<!>").status()));
}

TEST(ResponseCall, AListStandsBetweenItsTexts) {
  const auto calls = Read(kList);
  ASSERT_TRUE(calls.ok()) << calls.status();
  EXPECT_TRUE(calls->parallel);
  EXPECT_EQ(calls->begin, "[CALLS][");
  EXPECT_EQ(calls->end,
            "]"
            "[END]");
  EXPECT_EQ(calls->separator, ", ");
}

// What ends a turn ends no call.
TEST(ResponseCall, WhatEndsATurnIsWrittenByNoCall) {
  const auto calls = Read(kNamedCall, {"</f>"});
  if (calls.ok()) EXPECT_EQ(calls->call.back(), R"({"arguments": "json"})");
}

// Around JSON the parser passes over white space, and nobody says which is written.
TEST(ResponseCall, WhiteSpaceThatIsPassedOverMustBeSaid) {
  const auto unsaid = Read(kJsonCall, {}, std::nullopt);
  EXPECT_TRUE(absl::IsUnimplemented(unsaid.status())) << unsaid.status();
  EXPECT_EQ(ErrorPlace(unsaid.status()), "/content");
  const auto said = Read(kJsonCall, {}, "\n");
  ASSERT_TRUE(said.ok()) << said.status();
  EXPECT_EQ(said->call.front(), R"("<call>\n{\"name\": \"")");
}

TEST(ResponseCall, WhatIsNoCallIsRefusedAtItsPlace) {
  EXPECT_EQ(ErrorPlace(Read(R"({"open": "<a>"})").status()), "/close");
  EXPECT_EQ(ErrorPlace(Read(R"({"open": "<a>", "close": "b", "repeats": true, "content": "yaml",
      "transform": {"function": "{content}"}})")
                           .status()),
            "/content");
  // A list has texts, and a capture without a name is no call's name.
  EXPECT_EQ(ErrorPlace(Read(R"({"open": ["<a>", 7], "close": "b", "repeats": true})").status()),
            "/open/1");
  EXPECT_EQ(ErrorPlace(Read(R"_({"open": "<a>", "close_pattern": "(?P<>x+)", "repeats": true,
      "content": "json", "transform": {"function": "{content}"}})_")
                           .status()),
            "/close_pattern");
  // A name that takes what stands behind it is read as more than the name.
  const auto greedy = Read(
      R"({"open_pattern": "<f=(?P<name>.+)>", "close": "</f>", "repeats": true, "content": "json",
          "transform": {"function": {"name": "{name}", "arguments": "{content}"}}})");
  EXPECT_EQ(ErrorPlace(greedy.status()), "/open_pattern");
}

}  // namespace
}  // namespace maskd
