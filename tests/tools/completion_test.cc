#include "tools/cli/completion.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maskd::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CompletionTest, EachScriptHasEveryCommandAndFlag) {
  for (const absl::string_view shell : kShells) {
    const std::string script = CompletionScript(shell, AllCommands());
    for (const Command* command : AllCommands()) {
      EXPECT_THAT(script, HasSubstr(std::string(command->name))) << shell;
      for (const Flag& flag : command->flags()) {
        const std::string spelling = absl::StrCat(shell == "fish" ? "-l " : "--", flag.name);
        EXPECT_THAT(script, HasSubstr(spelling)) << shell << " " << command->name;
      }
    }
  }
  EXPECT_EQ(CompletionScript("tcsh", AllCommands()), "");
}

TEST(CompletionTest, AShapeThatListsValuesIsAChoice) {
  EXPECT_THAT(ValuesOf({"clock", "wall|cpu|none", ""}), ElementsAre("wall", "cpu", "none"));
  EXPECT_THAT(ValuesOf({"limit", "COUNT", ""}), IsEmpty());
  EXPECT_TRUE(TakesFile({"tls_ca", "PATH", ""}));
  EXPECT_FALSE(TakesFile({"clock", "wall|cpu|none", ""}));
}

TEST(CompletionTest, WhatShellsGiveAMeaningIsText) {
  static constexpr auto kTricky = [] {
    return std::vector<Flag>{{"odd", "PATH", "it's [a] b:c \\ d\n        e"}};
  };
  static constexpr Command kOdd = {"odd", "", "what's odd", "", kTricky, nullptr};
  static constexpr const Command* kOdds[] = {&kOdd};
  EXPECT_THAT(CompletionScript("zsh", kOdds),
              HasSubstr(R"('--odd=[it'\''s \[a\] b\:c \\ d e]:PATH:_files')"));
  EXPECT_THAT(CompletionScript("fish", kOdds),
              HasSubstr(R"(-l odd -r -F -d 'it\'s [a] b:c \\ d e')"));
}

}  // namespace
}  // namespace maskd::cli
