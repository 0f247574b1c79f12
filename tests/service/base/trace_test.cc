#include "service/base/trace.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "service/base/log.h"

namespace maskd::service {
namespace {

constexpr char kTraceId[] = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr char kSpanId[] = "00f067aa0ba902b7";

struct TraceCase {
  const char* name;
  std::string text;
  bool is_taken;
};

class TraceParentTest : public testing::TestWithParam<TraceCase> {};

TEST_P(TraceParentTest, IsReadOrIgnored) {
  const Trace trace = ReadTraceParent(GetParam().text);
  EXPECT_EQ(trace.trace_id, GetParam().is_taken ? kTraceId : "");
  EXPECT_EQ(trace.span_id, GetParam().is_taken ? kSpanId : "");
}

std::string Parent(const std::string& version, const std::string& rest = "-01") {
  return version + "-" + kTraceId + "-" + kSpanId + rest;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, TraceParentTest,
    testing::ValuesIn(std::vector<TraceCase>{
        {"Plain", Parent("00"), true},
        {"NotSampled", Parent("00", "-00"), true},
        {"ALaterVersion", Parent("01"), true},
        {"ALaterVersionWithMore", Parent("cc", "-01-what-the-future-will-be-like"), true},
        {"Empty", "", false},
        {"MoreThanThisVersionHas", Parent("00", "-01-more"), false},
        {"ALaterVersionWithoutADash", Parent("cc", "-01.more"), false},
        {"NoVersion", Parent("ff"), false},
        {"UpperCaseVersion", Parent("0A"), false},
        {"UpperCaseTrace", std::string("00-4BF92F3577B34DA6A3CE929D0E0E4736-") + kSpanId + "-01",
         false},
        {"NoTrace", std::string("00-00000000000000000000000000000000-") + kSpanId + "-01", false},
        {"NoSpan", std::string("00-") + kTraceId + "-0000000000000000-01", false},
        {"NoFlags", Parent("00", ""), false},
        {"OddFlags", Parent("00", "-0x"), false},
        {"ShortTrace", std::string("00-4bf92f3577b34da6-") + kSpanId + "-01", false},
        {"OtherDashes", Parent("00", "_01"), false},
        {"ALineOfItsOwn", std::string("00-4bf92f3577b34da6a3ce929d0e0e473\n-") + kSpanId + "-01",
         false},
        {"Spaces", " " + Parent("00"), false},
        {"Long", Parent("cc", "-01-" + std::string(100'000, 'a')), false},
    }),
    [](const auto& test) { return std::string(test.param.name); });

TEST(TraceTest, ALineEndsWithItsTrace) {
  EXPECT_EQ(FormatEvent("compiled", {{"code", "OK"}}, {kTraceId, kSpanId}),
            std::string("compiled code=OK trace_id=") + kTraceId + " span_id=" + kSpanId);
  EXPECT_EQ(FormatEvent("compiled", {{"code", "OK"}}, {}), "compiled code=OK");
}

}  // namespace
}  // namespace maskd::service
