#include "tools/cli/flags.h"

#include <array>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tools/cli/command.h"

namespace maskd::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

absl::StatusOr<Flags> Parse(const std::vector<std::string>& words) {
  return Flags::Parse({{"file", "FILE", "a file"},
                       {"count", "COUNT", "how many", "7"},
                       {"quiet", "", "say nothing"}},
                      words);
}

TEST(Flags, BothFormsOfAValueAndArguments) {
  const auto flags = Parse({"--file=a=b", "x", "--count", "3", "--quiet", "-", "--", "--y"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->Get("file"), "a=b");
  EXPECT_EQ(flags->Get("count"), "3");
  EXPECT_TRUE(flags->Has("quiet"));
  EXPECT_THAT(flags->arguments(), ElementsAre("x", "-", "--y"));
}

TEST(Flags, WhatIsNotGivenHasItsDefault) {
  const auto flags = Parse({});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->Get("count"), "7");
  EXPECT_EQ(flags->Get("file"), "");
  EXPECT_FALSE(flags->Has("count"));
  EXPECT_FALSE(flags->Has("quiet"));
}

struct WrongCase {
  std::string name;
  std::vector<std::string> words;
  std::string message;
};

class WrongFlagsTest : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongFlagsTest, TheMessageStartsWithTheFlag) {
  EXPECT_EQ(Parse(GetParam().words).status(), absl::InvalidArgumentError(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Words, WrongFlagsTest,
    testing::ValuesIn(std::vector<WrongCase>{
        {"Misspelled", {"--fil=a"}, "--fil: there is no such flag; is --file meant?"},
        {"Unknown", {"--colour"}, "--colour: there is no such flag; --help lists them"},
        {"OneDash", {"-file=a"}, "-file=a: a flag begins with two dashes; --help lists the flags"},
        {"AFlagForAValue",
         {"--file", "--quiet"},
         "--file: needs a value, FILE; if that is --quiet, say "
         "--file=--quiet"},
        {"Twice", {"--file=a", "--file", "b"}, "--file: is given twice"},
        {"NoValue", {"--file"}, "--file: needs a value, FILE"},
        {"ValueOfASwitch", {"--quiet=1"}, "--quiet: takes no value"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(Flags, AValueMayLookLikeAFlagBehindAnEqualsSign) {
  const auto flags = Parse({"--file=--quiet", "--count", "-3"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->Get("file"), "--quiet");
  EXPECT_EQ(flags->Get("count"), "-3");
}

TEST(Flags, TheNearestWordHasFewWrongLetters) {
  constexpr std::array<absl::string_view, 3> kNames = {"check", "compile", "top"};
  EXPECT_EQ(Nearest("chek", kNames), "check");
  EXPECT_EQ(Nearest("comiple", kNames), "compile");
  EXPECT_EQ(Nearest("stop", kNames), "top");
  EXPECT_EQ(Nearest("cook", kNames), "");
  EXPECT_EQ(Nearest("", kNames), "");
  EXPECT_EQ(Nearest("top", {}), "");
}

TEST(Flags, NoCommandHasTwoFlagsOfOneName) {
  for (const Command* command : AllCommands()) {
    std::set<absl::string_view> names;
    for (const Flag& flag : command->flags())
      EXPECT_TRUE(names.insert(flag.name).second) << command->name << " --" << flag.name;
  }
}

TEST(Flags, NumbersAreReadAndBounded) {
  const auto flags = Parse({"--count=12", "--file=x"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(*flags->GetNumber("count", 0, 12), 12);
  EXPECT_EQ(flags->GetNumber("count", 0, 11).status(),
            absl::InvalidArgumentError("--count: \"12\" is not a number from 0 to 11"));
  EXPECT_FALSE(flags->GetNumber("file", 0, 11).ok());
}

TEST(Flags, ChoicesAreOneOfTheirNames) {
  constexpr std::array<absl::string_view, 2> kNames = {"red", "blue"};
  const auto flags = Parse({"--file=blue", "--count=green"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(*flags->GetChoice("file", kNames), 1);
  EXPECT_EQ(flags->GetChoice("count", kNames).status(),
            absl::InvalidArgumentError("--count: \"green\" is not one of red, blue"));
}

TEST(Flags, HelpNamesEachFlagItsShapeAndItsDefault) {
  const std::vector<Flag> flags = {{"count", "COUNT", "how many", "7"},
                                   {"quiet", "", "say nothing"}};
  EXPECT_EQ(FlagHelp(flags),
            "  --count=COUNT\n        how many [7]\n  --quiet\n        say nothing\n");
}

}  // namespace
}  // namespace maskd::cli
