// Who takes all places that it can have leaves some for others.
#include "service/callers/open_calls.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace maskd::service {
namespace {

using testing::HasSubstr;

// Takes what `owner` can have.
int TakeAll(OpenCalls* calls, const std::string& owner, std::vector<OpenCalls::Place>* places) {
  for (int taken = 0;; ++taken) {
    absl::StatusOr<OpenCalls::Place> place = calls->Take(owner);
    if (!place.ok()) return taken;
    places->push_back(*std::move(place));
  }
}

TEST(OpenCallsTest, OneCallerAloneHasEightNinths) {
  OpenCalls calls(90);
  std::vector<OpenCalls::Place> places;
  EXPECT_EQ(TakeAll(&calls, "uid:1", &places), 80);
  EXPECT_EQ(calls.fullest().open, 80);
  EXPECT_EQ(calls.fullest().most, 80);
  const auto refused = calls.Take("uid:1");
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(refused.status().message(), HasSubstr("80 calls of this caller already"));
}

TEST(OpenCallsTest, OneMoreCallerHasRoomWhileThereIsAPlace) {
  OpenCalls calls(1280);
  std::vector<OpenCalls::Place> places;
  int last = 1280;
  for (int caller = 0; caller < 40; ++caller) {
    const int taken = TakeAll(&calls, absl::StrCat("uid:", caller), &places);
    EXPECT_LE(taken, last) << "nobody has more for coming later";
    if (places.size() < 1280) EXPECT_GE(taken, 1) << caller;
    last = taken;
  }
  EXPECT_LE(places.size(), 1280U);
}

TEST(OpenCallsTest, WhatIsGivenBackIsThereAgain) {
  OpenCalls calls(9);
  std::vector<OpenCalls::Place> places;
  EXPECT_EQ(TakeAll(&calls, "uid:1", &places), 8);
  EXPECT_TRUE(calls.Take("uid:2").ok());
  places.pop_back();
  EXPECT_EQ(TakeAll(&calls, "uid:1", &places), 1);
  places.clear();
  EXPECT_EQ(calls.fullest().open, 0);
  EXPECT_EQ(TakeAll(&calls, "uid:2", &places), 8);
}

TEST(OpenCallsTest, TheFullTableSaysSo) {
  OpenCalls calls(1);
  const auto place = calls.Take("uid:1");
  ASSERT_TRUE(place.ok());
  EXPECT_THAT(calls.Take("uid:2").status().message(), HasSubstr("there are 1 calls already"));
}

}  // namespace
}  // namespace maskd::service
