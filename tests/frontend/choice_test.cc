// Choices are exactly the listed texts, and lists that are none are refused at their place.
#include "grammar_core/frontend/choice/choice.h"

#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/frontend/ir_recognizer.h"
#include "tests/frontend/reading.h"

namespace maskd {
namespace {

using testing::HasSubstr;

TEST(ChoiceTest, TakesExactlyTheListed) {
  const auto read = ReadForTest("choice", R"(["yes", "no", "", "\u00e9\ud83d\ude00", "a\"b"])");
  ASSERT_TRUE(read.ok()) << read.status();
  IrRecognizer recognizer(read->ir);
  for (const char* text : {"yes", "no", "", "é😀", "a\"b"})
    EXPECT_TRUE(recognizer.Accepts(text)) << text;
  for (const char* text : {"ye", "yesno", " no", "é", "a\\\"b", "\"yes\""})
    EXPECT_FALSE(recognizer.Accepts(text)) << text;
  EXPECT_TRUE(read->warnings.empty());
}

// Lists in which one text begins another, and the same text stands in two spellings.
TEST(ChoiceTest, RandomListsAreTheirTexts) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100; ++i) {
    std::set<std::string> listed;
    std::vector<std::string> spelled;
    for (std::size_t count = 1 + random() % 5; count > 0; --count) {
      std::string text;
      std::string spelling;
      for (std::size_t size = random() % 4; size > 0; --size) {
        text.push_back(random() % 2 == 0 ? 'a' : 'b');
        absl::StrAppend(&spelling, random() % 3 == 0 ? text.back() == 'a' ? "\\u0061" : "\\u0062"
                                                     : text.substr(text.size() - 1));
      }
      listed.insert(text);
      spelled.push_back(absl::StrCat("\"", spelling, "\""));
    }
    const auto read = ReadForTest("choice", absl::StrCat("[", absl::StrJoin(spelled, ","), "]"));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->warnings.size(), spelled.size() - listed.size());
    IrRecognizer recognizer(read->ir);
    std::vector<std::string> texts = {""};
    for (std::size_t at = 0; at < texts.size(); ++at) {
      EXPECT_EQ(recognizer.Accepts(texts[at]), listed.contains(texts[at])) << texts[at];
      if (texts[at].size() == 4) continue;
      for (const char letter : {'a', 'b'}) texts.push_back(texts[at] + letter);
    }
  }
}

TEST(ChoiceTest, TwinIsAWarning) {
  const auto read = ReadForTest("choice", R"(["a", "b", "a"])");
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->warnings.size(), 1u);
  EXPECT_EQ(read->warnings[0].place, "/2");
}

TEST(ChoiceTest, HundredThousandAreOneNode) {
  std::string list = "[\"c0\"";
  for (int i = 1; i < 100'000; ++i) absl::StrAppend(&list, ",\"c", i, "\"");
  const auto read = ReadForTest("choice", list + "]");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->ir.text_sets.size(), 1u);
  EXPECT_EQ(read->ir.text_sets[0].size(), 100'000u);
  EXPECT_LE(read->ir.nodes.size(), 4u);
}

struct ErrorCase {
  const char* name;
  std::string text;
  const char* place;
  const char* message;
};

class ChoiceErrorTest : public testing::TestWithParam<ErrorCase> {};

TEST_P(ChoiceErrorTest, IsInvalid) {
  const absl::Status status = ReadForTest("choice", GetParam().text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorPlace(status), GetParam().place);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(Broken, ChoiceErrorTest,
                         testing::ValuesIn(std::vector<ErrorCase>{
                             {"EmptyList", "[]", "", "the list of choices is empty"},
                             {"NotAList", "{\"a\": 1}", "", "a JSON list of strings"},
                             {"String", "\"a\"", "", "a JSON list of strings"},
                             {"Number", "[\"a\", 1]", "/1", "a choice must be a string"},
                             {"Null", "[null]", "/0", "a choice must be a string"},
                             {"NoText", "", "1:1", "the text is empty"},
                             {"NotUtf8", "[\"\xC3\x28\"]", "1:3", "not valid UTF-8"},
                             {"LoneSurrogate", R"(["a", "\udc00"])", "1:8", "surrogate"},
                             {"Unclosed", "[\"a\"", "1:5", "',' or ']' is expected"},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
