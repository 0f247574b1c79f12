// Texts without strings, and up to one, against a search in every short text.
#include "grammar_core/frontend/notation/free_text.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

#include "tests/notation/node_texts.h"

namespace maskd {
namespace {

struct StringsCase {
  std::string name;
  std::vector<std::string> strings;
  std::string end;
};
class FreeTextTest : public testing::TestWithParam<StringsCase> {
 protected:
  // Where the first of the strings to end ends; npos: none is there.
  static std::size_t FirstEnd(const std::string& text) {
    std::size_t first = std::string::npos;
    for (const std::string& string : GetParam().strings)
      if (const std::size_t at = text.find(string); at != std::string::npos)
        first = std::min(first, at + string.size());
    return first;
  }

  const std::vector<std::string> candidates_ = LetterTexts("ab<", 5);
  Limits limits_;
  IrBuilder builder_{limits_};
};

TEST_P(FreeTextTest, HasNoneOfTheStrings) {
  std::set<std::string> expected;
  for (const std::string& text : candidates_)
    if (FirstEnd(text) == std::string::npos) expected.insert(text);
  const NodeId node = TextWithout(builder_.TextSet(GetParam().strings), builder_);
  EXPECT_EQ(TextsOfNode(builder_, node, candidates_), expected);
}

TEST_P(FreeTextTest, EndsWithTheFirst) {
  std::set<std::string> expected;
  for (const std::string& text : candidates_)
    if (absl::EndsWith(text, GetParam().end) && FirstEnd(text) >= text.size())
      expected.insert(text);
  const NodeId node = TextUpTo(GetParam().end, builder_.TextSet(GetParam().strings), builder_);
  EXPECT_EQ(TextsOfNode(builder_, node, candidates_), expected);
}

INSTANTIATE_TEST_SUITE_P(Strings, FreeTextTest,
                         testing::ValuesIn(std::vector<StringsCase>{
                             {"OneLetter", {"a"}, "a"},
                             {"OneString", {"<a"}, "<a"},
                             {"Overlapping", {"aba"}, "aba"},
                             {"OneInAnother", {"<a<", "a"}, "<a<"},
                             {"OneIsTheOthersBegin", {"<", "<a"}, "<a"},
                             {"OneIsTheOthersEnd", {"b<a", "a"}, "b<a"},
                             {"EndOfNoString", {"aa", "<"}, "b"},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd
