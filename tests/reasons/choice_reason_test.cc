// Of a list of choices: which go on behind a text, and with what. The oracle of the random lists is
// a comparison of each.
#include "reasons/choice_reason.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "reasons/schema_rules.h"
#include "reasons/source_reason.h"

namespace maskd::reasons {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct ChoiceCase {
  std::string name;
  std::string choices;
  std::string taken;
  std::vector<std::string> said;
};

class ChoiceReasonTest : public testing::TestWithParam<ChoiceCase> {};

TEST_P(ChoiceReasonTest, NamesTheChoicesThatGoOn) {
  std::vector<std::string> said;
  for (const PlacedRule& rule :
       Source("choice", GetParam().choices).ReasonBehind(GetParam().taken).rules)
    said.push_back(absl::StrCat(rule.place, " ", rule.says));
  EXPECT_THAT(said, testing::ElementsAreArray(GetParam().said));
}

constexpr char kColours[] = R"(["red", "rose", "blue", "re"])";

INSTANTIATE_TEST_SUITE_P(
    Texts, ChoiceReasonTest,
    testing::ValuesIn(std::vector<ChoiceCase>{
        {"Begin",
         kColours,
         "",
         {R"(/0 "red" goes on with "red")", R"(/1 "rose" goes on with "rose")",
          R"(/2 "blue" goes on with "blue")", R"(/3 "re" goes on with "re")"}},
        {"Two",
         kColours,
         "r",
         {R"(/0 "red" goes on with "ed")", R"(/1 "rose" goes on with "ose")",
          R"(/3 "re" goes on with "e")"}},
        {"One", kColours, "ro", {R"(/1 "rose" goes on with "se")"}},
        {"Ends", kColours, "re", {R"(/0 "red" goes on with "d")", R"(/3 "re" ends here)"}},
        {"Whole", kColours, "blue", {R"(/2 "blue" ends here)"}},
        {"None", kColours, "x", {}},
        {"TooLong", kColours, "redd", {}},
        {"Empty", R"(["", "a"])", "", {R"(/0 "" ends here)", R"(/1 "a" goes on with "a")"}},
        {"Escapes",
         R"(["a\"b", "a\u00e9"])",
         "a",
         {R"(/0 "a"b" goes on with ""b")", "/1 \"a\xC3\xA9\" goes on with \"\xC3\xA9\""}},
        {"Equal",
         R"(["a", "a"])",
         "",
         {R"(/0 "a" goes on with "a")", R"(/1 "a" goes on with "a")"}},
        {"NoList", R"({"a": 1})", "", {}},
        {"NoJson", "[", "", {}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ChoiceReasonTest, ThousandsAreCounted) {
  nlohmann::ordered_json choices;
  for (int i = 0; i < 10'000; ++i) choices.push_back(absl::StrCat("item number ", i));
  const Reason reason = Source("choice", choices.dump()).ReasonBehind("item number 9");
  EXPECT_EQ(reason.rules.size(), kMostRules);
  EXPECT_EQ(reason.left_out, 1111 - kMostRules);
  EXPECT_EQ(reason.where, "where 1111 of 10000 choices go on");
  EXPECT_EQ(reason.rules.front().place, "/9");
  EXPECT_EQ(FirstPlace(reason), "/9");
}

TEST(ChoiceReasonTest, RandomListsHaveThoseThatBeginSo) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    nlohmann::ordered_json choices = nlohmann::ordered_json::array();
    for (int i = 0; i < 12; ++i) {
      std::string text(random() % 5, 'a');
      for (char& c : text) c = static_cast<char>('a' + random() % 2);
      choices.push_back(text);
    }
    const std::string taken = choices[random() % 12].get<std::string>().substr(0, random() % 4);
    std::vector<std::string> expected;
    for (int i = 0; i < 12; ++i)
      if (absl::StartsWith(choices[i].get<std::string>(), taken))
        expected.push_back(absl::StrCat("/", i));
    std::vector<std::string> named;
    for (const PlacedRule& rule : Source("choice", choices.dump()).ReasonBehind(taken).rules)
      named.push_back(rule.place);
    EXPECT_EQ(named, expected) << choices.dump() << " behind " << taken;
  }
}

}  // namespace
}  // namespace maskd::reasons
