// What a run of the attack set reads beside its cases, and what it prints of their payloads.
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tools/attack/attack_run.h"

namespace maskd::attack {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string WriteFile(const std::string& name, const std::string& text) {
  const std::string path = absl::StrCat(testing::TempDir(), name);
  std::ofstream(path) << text;
  return path;
}

TEST(AttackRun, KnownFaultsHaveAReason) {
  const auto known = ReadKnown(WriteFile("known.txt", "# a remark\n\nx it is so\ny because\n"));
  ASSERT_TRUE(known.ok()) << known.status();
  EXPECT_THAT(*known, ElementsAre(Pair("x", "it is so"), Pair("y", "because")));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadKnown(WriteFile("known.txt", "x\n")).status()));
  EXPECT_TRUE(absl::IsNotFound(ReadKnown("/nowhere/at/all").status()));
}

// The digests are those that sha256sum gives for "aaa" and for a newline, between no texts.
TEST(AttackRun, PayloadsAreToldByTheirDigests) {
  const std::string file = WriteFile(
      "payloads.jsonl",
      R"({"id": "x", "kind": "k", "format": "regex", "recipe": {"repeat": "a", "n": 3}, "expected": "ok", "budget": {"ms": 1, "mib": 1}})"
      "\n"
      R"({"id": "s", "kind": "k", "format": "service", "steps": [], "expected": "ok", "budget": {"ms": 1, "mib": 1}})"
      "\n");
  testing::internal::CaptureStdout();
  const absl::Status printed = PrintPayloads({.files = {file}});
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "x 3 9834876dcfb05cb167a5c24953eba58c4ac89b1adf57f28f2f9d09af107ee8f0 "
            "01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b\n");
  EXPECT_TRUE(printed.ok()) << printed;
}

TEST(AttackRun, OfAWrongFileNothingIsRun) {
  const std::string file = WriteFile("wrong.jsonl", "{}\n");
  EXPECT_THAT(std::string(PrintPayloads({.files = {file}}).message()), HasSubstr("wrong.jsonl:1"));
  EXPECT_FALSE(AttackLibrary("", "", {.files = {file}}).ok());
  EXPECT_FALSE(AttackServer({.address = "unix:/nowhere/at/all"}, {.files = {file}}).ok());
}

}  // namespace
}  // namespace maskd::attack
