// `maskctl bench` without its clock: how many steps and masks a run has, and what it refuses.
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "tools/cli/bench/step_bench.h"
#include "tools/cli/connection.h"

namespace maskd::cli {
namespace {

class StepBenchTest : public testing::Test {
 protected:
  StepBenchTest() {
    const std::vector<std::string> words = {"--local"};
    connection_ = *Connection::Open(*Flags::Parse(WithConnectionFlags({}), words));
    stream_ = *connection_->client().OpenStream({.logits_width = 257});
  }
  std::string IdOf(const std::string& kind, const std::string& source) {
    v1::CompileRequest request;
    request.mutable_grammar()->set_kind(kind);
    request.mutable_grammar()->set_source(source);
    return connection_->client().Compile(request)->grammar_id();
  }

  std::unique_ptr<Connection> connection_;
  std::unique_ptr<client::MaskStream> stream_;
};

// The first step opens all rows and is not counted. Rows that end are replaced at once, so each
// step has a mask for each row.
TEST_F(StepBenchTest, EachStepHasAMaskForEachRow) {
  StepBench bench(*stream_, {IdOf("choice", R"(["a","bc"])"), IdOf("regex", "[0-9]{3}")}, 1);
  for (const int rows : {1, 5}) {
    const absl::Status status = bench.Run(rows, 40);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(bench.step_us().size(), 40U);
    EXPECT_EQ(bench.mask_count(), 40 * rows);
  }
}

TEST_F(StepBenchTest, ARowHasSoManyTokensAtMost) {
  StepBench bench(*stream_, {IdOf("regex", "a*")}, 1);
  ASSERT_TRUE(bench.Run(1, 3 * StepBench::kMaxTokens).ok());
  EXPECT_EQ(bench.mask_count(), 3 * StepBench::kMaxTokens);
}

TEST_F(StepBenchTest, ARowThatFailsEndsTheRun) {
  StepBench bench(*stream_, {std::string(64, '0')}, 1);
  EXPECT_TRUE(absl::IsNotFound(bench.Run(1, 1)));
}

}  // namespace
}  // namespace maskd::cli
