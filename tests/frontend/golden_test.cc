// The IR that each front end makes, printed, against tests/golden/FRONT_END/CASE.ir.
//
// After a wanted change: frontend_golden_test --update_goldens, then review the diff.
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "tests/frontend/golden_cases.h"
#include "tests/frontend/reading.h"
#include "tests/frontend/update_goldens.h"

namespace maskd {
namespace {

class GoldenTest : public testing::TestWithParam<GoldenCase> {};

TEST_P(GoldenTest, PrintsAsBefore) {
  const GoldenCase& golden = GetParam();
  const auto read = ReadForTest(golden.kind, golden.source, golden.options);
  ASSERT_TRUE(read.ok()) << read.status();
  const std::string printed = PrintIr(read->ir);
  const std::string path = golden.PathOf("ir");
  if (update_goldens) std::ofstream(path) << printed;
  std::ifstream file(path);
  ASSERT_TRUE(file.good()) << path;
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(printed, expected) << path;
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenTest, testing::ValuesIn(GoldenCases()), [](const auto& test) {
  return absl::StrCat(test.param.kind, "_", test.param.name);
});

}  // namespace
}  // namespace maskd

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--update_goldens") maskd::update_goldens = true;
  return RUN_ALL_TESTS();
}
