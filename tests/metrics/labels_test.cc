#include "metrics/labels.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace maskd::metrics {
namespace {

// gRPC's codes, as they are written.
std::set<std::string> CodeNames() {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(absl::StatusCode::kUnauthenticated); ++code)
    names.insert(absl::StatusCodeToString(static_cast<absl::StatusCode>(code)));
  return names;
}

TEST(LabelsTest, EveryCodeIsOneOfGrpcs) {
  const std::set<std::string> names = CodeNames();
  for (const char* const code : kCompileCodes) EXPECT_TRUE(names.contains(code)) << code;
  for (const Refusal& refusal : kRefusals) EXPECT_TRUE(names.contains(refusal.code));
}

TEST(LabelsTest, CallsMayEndWithEveryCodeButOk) {
  std::set<std::string> names = CodeNames();
  names.erase("OK");
  EXPECT_EQ(std::set<std::string>(kErrorCodes.begin(), kErrorCodes.end()), names);
}

TEST(LabelsTest, NothingIsListedTwice) {
  EXPECT_EQ(std::set<std::string>(kCompileCodes.begin(), kCompileCodes.end()).size(),
            kCompileCodes.size());
  EXPECT_EQ(std::set<std::string>(kRowReasons.begin(), kRowReasons.end()).size(),
            kRowReasons.size());
  std::set<std::pair<std::string, std::string>> refusals;
  for (const Refusal& refusal : kRefusals)
    EXPECT_TRUE(refusals.emplace(refusal.code, refusal.reason).second) << refusal.reason;
}

TEST(LabelsTest, WhatIsInNoListHasASeries) {
  EXPECT_TRUE(std::ranges::any_of(
      kRowReasons, [](const char* reason) { return std::string(reason) == kOther; }));
}

}  // namespace
}  // namespace maskd::metrics
