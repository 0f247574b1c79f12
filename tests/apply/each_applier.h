// A test that holds for every applier and every type of logits.
#ifndef MASKD_TESTS_APPLY_EACH_APPLIER_H_
#define MASKD_TESTS_APPLY_EACH_APPLIER_H_

#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "gtest/gtest.h"

#include "tests/apply/appliers.h"

namespace maskd::client {

// Skipped, loudly, where this machine does not have the applier. Instantiated with
// EachApplierAndType() and CaseName.
class EachApplierTest : public testing::TestWithParam<std::tuple<std::string, LogitsType>> {
 protected:
  void SetUp() override {
    auto applier = MakeNamedApplier(std::get<0>(GetParam()));
    if (absl::IsUnimplemented(applier.status()))
      GTEST_SKIP() << "NOT TESTED HERE: " << applier.status().message();
    ASSERT_TRUE(applier.ok()) << applier.status();
    applier_ = *std::move(applier);
  }

  [[nodiscard]] static LogitsType type() { return std::get<1>(GetParam()); }

  std::shared_ptr<Applier> applier_;
};

inline auto EachApplierAndType() {
  return testing::Combine(testing::ValuesIn(ApplierNames()), testing::ValuesIn(kLogitsTypes));
}

inline std::string CaseName(const testing::TestParamInfo<EachApplierTest::ParamType>& info) {
  return std::get<0>(info.param) + TypeName(std::get<1>(info.param));
}

}  // namespace maskd::client

#endif  // MASKD_TESTS_APPLY_EACH_APPLIER_H_
