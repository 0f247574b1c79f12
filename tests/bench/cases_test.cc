#include "bench/cases.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bench/samples.h"
#include "tests/base/test_folder.h"

namespace maskd::bench {
namespace {

using testing::ElementsAre;

std::string WriteCases(const TestFolder& folder, const std::vector<std::string>& ids) {
  std::string lines;
  for (const std::string& id : ids) {
    absl::StrAppend(
        &lines, R"({"id": ")", id,
        R"(", "schema": "true", "tests": [{"valid": false, "text": "x", "tokens": [87]}]})", "\n");
  }
  return folder.Write("cases.jsonl", lines);
}

std::vector<std::string> Ids(const std::string& path, const Selection& selection) {
  const auto cases = ReadCases(path, selection);
  EXPECT_TRUE(cases.ok()) << cases.status();
  std::vector<std::string> ids;
  for (const Case& one : *cases) ids.push_back(one.id);
  return ids;
}

TEST(ReadCases, ReadsEveryField) {
  const TestFolder folder;
  const auto cases = ReadCases(WriteCases(folder, {"a"}), {});
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_EQ(cases->size(), 1);
  const Case& one = cases->front();
  EXPECT_EQ(one.schema, "true");
  ASSERT_EQ(one.tests.size(), 1);
  EXPECT_FALSE(one.tests[0].valid);
  EXPECT_EQ(one.tests[0].text, "x");
  EXPECT_THAT(one.tests[0].tokens, ElementsAre(87));
}

// SHA-256: c 2e7d..., b 3e23..., a ca97...
TEST(ReadCases, SamplesBySmallestDigestInTheFilesOrder) {
  const TestFolder folder;
  const std::string path = WriteCases(folder, {"a", "b", "c"});
  EXPECT_THAT(Ids(path, {.sample = 1}), ElementsAre("c"));
  EXPECT_THAT(Ids(path, {.sample = 2}), ElementsAre("b", "c"));
  EXPECT_THAT(Ids(path, {.sample = 9}), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Ids(path, {.id_part = "b"}), ElementsAre("b"));
}

TEST(ReadCases, SaysWhatIsMissing) {
  EXPECT_TRUE(absl::IsNotFound(ReadCases("/nonexistent", {}).status()));
  const TestFolder folder;
  const std::string path = folder.Write("bad.jsonl", "{}\n");
  const absl::Status status = ReadCases(path, {}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), testing::StartsWith("line 1: "));
}

TEST(Percentile, IsASampleThatSoManyDoNotExceed) {
  const std::vector<double> samples = {5, 1, 4, 2, 3};
  EXPECT_EQ(Percentile(samples, 0), 1);
  EXPECT_EQ(Percentile(samples, 50), 3);
  EXPECT_EQ(Percentile(samples, 100), 5);
  EXPECT_EQ(Percentile({}, 50), 0);
}

}  // namespace
}  // namespace maskd::bench
