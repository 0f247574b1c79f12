// Where brackets end. Oracle: the reader, which reads what is within them.
#include "grammar_core/frontend/json/bracket_end.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/frontend/json/json_document.h"

namespace maskd::json_internal {
namespace {

// The brackets within one another, at most.
std::int64_t DepthOf(const JsonValue& root) {
  std::int64_t deepest = 0;
  for (JsonId id = root.id(); id < root.subtree_end(); ++id) {
    if (root.at(id).source().empty()) continue;
    std::int64_t depth = 1;
    for (auto around = root.at(id).parent(); around.has_value(); around = around->parent()) ++depth;
    deepest = std::max(deepest, depth);
  }
  return deepest;
}

TEST(BracketEndTest, IsThatOfTheValue) {
  std::mt19937 random(11);
  const std::vector<std::string> pieces = {"{}", "[]",   "\"a\"",   R"("\"")",    R"("\\")",
                                           "1",  "true", R"("}]")", R"("{\\\"[")"};
  const auto pick = [&](std::size_t count) { return random() % count; };
  for (int round = 0; round < 3000; ++round) {
    std::string text = pieces[pick(2)];
    for (std::size_t steps = pick(40); steps > 0; --steps) {
      const std::string& piece = pieces[pick(pieces.size())];
      const std::string space(pick(3) == 0 ? pick(9) : 0, ' ');
      switch (pick(3)) {
        case 0:
          text = absl::StrCat("[", text, ",", space, piece, "]");
          break;
        case 1:
          text = absl::StrCat("{", space, R"("k\\":)", text, R"(,"\"}":)", piece, "}");
          break;
        default:
          text = absl::StrCat("[", piece, space, ",", text, "]");
          break;
      }
    }
    const auto document = JsonDocument::Parse(text, {.source_depth = 100});
    ASSERT_TRUE(document.ok()) << text;
    for (const char* behind : {"", "}", R"(,"x":{"y":"z"}})", "\\\"{[[\"]]}"}) {
      const auto end = FindBracketEnd(absl::StrCat(text, behind));
      ASSERT_TRUE(end.has_value()) << text;
      EXPECT_EQ(end->bytes, text.size()) << text;
      EXPECT_EQ(end->depth, DepthOf(document->root())) << text;
    }
    EXPECT_FALSE(FindBracketEnd(text.substr(0, text.size() - 1)).has_value()) << text;
  }
}

TEST(BracketEndTest, BackslashesReachIntoTheNextBlock) {
  // The quote behind an odd number of them, at every place of a block of 64 bytes.
  for (std::size_t before = 0; before < 140; ++before) {
    for (std::size_t backslashes = 0; backslashes < 6; ++backslashes) {
      const std::string text =
          absl::StrCat(R"({"k":")", std::string(before, 'x'), std::string(backslashes, '\\'),
                       backslashes % 2 == 0 ? "" : "\"", R"(}","l":"}"})");
      const auto end = FindBracketEnd(absl::StrCat(text, "}"));
      ASSERT_TRUE(end.has_value()) << text;
      EXPECT_EQ(end->bytes, text.size()) << text;
    }
  }
}

// What was known, by the text that stands for it.
SharedText Standing(absl::string_view object) {
  return object == R"({"a":[{}]})" ? SharedText("known") : SharedText();
}

TEST(KnownObjectsTest, AreUnreadAtTheirPlacesAlone) {
  const std::vector<std::vector<absl::string_view>> paths = {{"l", "", "p"}};
  const KnownObjects known = {paths, Standing};
  const auto read = [&](absl::string_view text, std::int64_t depth = 10) {
    return JsonDocument::ParseAround(known, text, {.source_depth = depth});
  };
  const std::string text = R"({"p":{"a":[{}]},"l":[{"q":1,"p":{"a":[{}]},"r":2},{"p":{"a":[]}},)"
                           R"([{"a":[{}]}],{"x":{"p":{"a":[{}]}}}]})";
  const auto document = read(text);
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_TRUE(document->has_unread());
  const JsonValue list = *document->root().Find("l");
  const JsonValue unread = *list.Nth(0)->Find("p");
  ASSERT_TRUE(unread.is_unread());
  EXPECT_EQ(unread.known().text(), "known");
  EXPECT_EQ(unread.Pointer(), "/l/0/p");
  EXPECT_EQ(unread.key(), "p");
  EXPECT_FALSE(unread.is_object() || unread.is_string());
  EXPECT_EQ(unread.size(), 0U);
  EXPECT_FALSE(unread.Find("a").has_value());
  EXPECT_EQ(list.Nth(0)->Find("r")->text(), "2");
  EXPECT_TRUE(document->root().Find("p")->is_object());
  EXPECT_TRUE(list.Nth(1)->Find("p")->is_object()) << "another text";
  EXPECT_TRUE(list.Nth(2)->Nth(0)->is_object());
  EXPECT_TRUE(list.Nth(3)->Find("x")->Find("p")->is_object());
  const auto whole = JsonDocument::Parse(text, {});
  EXPECT_FALSE(whole->has_unread());
  EXPECT_TRUE(read(R"({"l":[{"\u0070":{"a":[{}]}}]})")->has_unread()) << "a key is what it means";
}

TEST(KnownObjectsTest, ErrorsAreThoseOfTheWholeText) {
  const std::vector<std::vector<absl::string_view>> paths = {{"l", "", "p"}};
  const KnownObjects known = {paths, Standing};
  for (const char* text :
       {R"({"l":[{"p":{"a":[{}]},"p":1}]})", R"({"l":[{"p":{"a":[{}]}}]]})",
        R"({"l":[{"p":{"a":[{}]}}]} x)", R"({"l":[{"p":{"a":[{}]}x}]})",
        R"({"l":[{"p":{"a":[{}]}, "q":"\ud800"}]})", R"({"l":[{"p":{"a":[{}]})"}) {
    for (const std::int64_t depth : {1, 2, 3, 4, 5, 6, 7, 100}) {
      const Limits limits = {.source_depth = depth};
      const absl::Status status = JsonDocument::ParseAround(known, text, limits).status();
      EXPECT_FALSE(status.ok()) << text;
      EXPECT_EQ(status, JsonDocument::Parse(text, limits).status()) << text << " " << depth;
    }
  }
  for (const std::int64_t depth : {3, 4, 5, 6, 7}) {
    const Limits limits = {.source_depth = depth};
    constexpr absl::string_view kText = R"({"l":[{"p":{"a":[{}]}}]})";
    EXPECT_EQ(JsonDocument::ParseAround(known, kText, limits).status(),
              JsonDocument::Parse(kText, limits).status())
        << depth;
  }
}

}  // namespace
}  // namespace maskd::json_internal
