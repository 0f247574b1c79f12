// date, time, date-time and duration: RFC 3339, section 5.6 and appendix A.
//
// The year 0000 is left out: ISO 8601, which RFC 3339 profiles, has it by mutual agreement only. A
// leap second is second 60 and stands at 23:59 UTC, whatever the offset. There have been some since
// 1972, and since then every zone has had an offset of whole quarters of an hour: those are taken
// with second 60, and not the 1,344 others.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "grammar_core/frontend/json_schema/formats/format.h"

namespace maskd {
namespace {

// Minutes between the offsets with which second 60 is taken.
constexpr int kOffsetStep = 15;

// A month and a day of it that every year has.
constexpr absl::string_view kMonthDay = R"((?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|)"
                                        R"((?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31))";
constexpr absl::string_view kLeapYear =
    R"((?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00))";

std::string DateIn(absl::string_view years) {
  return absl::StrCat(years, "-", kMonthDay, "|", kLeapYear, "-02-29");
}

std::string TimeWith(absl::string_view seconds) {
  return absl::StrCat(R"((?:[01]\d|2[0-3]):[0-5]\d:)", seconds, R"((?:\.\d+)?)",
                      R"((?:[Zz]|[+\-](?:[01]\d|2[0-3]):[0-5]\d))");
}

constexpr int kHour = 60;
constexpr int kDay = 24 * kHour;

std::string ClockTime(int minute) {
  return absl::StrFormat("%02d:%02d", minute / kHour, minute % kHour);
}

// What may follow second 60 at a local time: an offset that takes it to 23:59 UTC.
NodeId LeapOffsets(int minute, IrBuilder& b) {
  const int ahead = (minute + 1) % kDay;
  const int behind = (kDay - ahead) % kDay;
  std::vector<std::string> offsets = {absl::StrCat("+", ClockTime(ahead)),
                                      absl::StrCat("-", ClockTime(behind))};
  if (ahead == 0) offsets.insert(offsets.end(), {"Z", "z"});
  return b.TextSet(offsets);
}

// Times with a leap second. Each digit of the hour is written once before all that it may lead to:
// a choice of 96 would be merged pair by pair.
NodeId LeapTimes(FormatMaker& maker) {
  IrBuilder& b = maker.builder();
  const NodeId second = maker.Regex(R"(:60(?:\.\d+)?)");
  std::vector<NodeId> tens;
  for (int ten = 0; ten < kDay; ten += 10 * kHour) {
    std::vector<NodeId> hours;
    for (int hour = ten; hour < std::min(ten + 10 * kHour, kDay); hour += kHour) {
      std::vector<NodeId> minutes;
      for (int minute = hour + kOffsetStep - 1; minute < hour + kHour; minute += kOffsetStep) {
        minutes.push_back(b.Concat(
            {b.Text(absl::StrFormat("%02d", minute % kHour)), second, LeapOffsets(minute, b)}));
      }
      hours.push_back(
          b.Concat({b.Text(absl::StrCat((hour - ten) / kHour, ":")), b.Alt(std::move(minutes))}));
    }
    tens.push_back(b.Concat({b.Text(absl::StrCat(ten / kHour / 10)), b.Alt(std::move(hours))}));
  }
  return b.Alt(std::move(tens));
}

NodeId DateTime(NodeId date, NodeId time, FormatMaker& maker) {
  return maker.builder().Concat({date, maker.Regex("[Tt]"), time});
}

}  // namespace

NodeId MakeDate(FormatMaker& maker) {
  return maker.Regex(DateIn(R"((?:[1-9]\d{3}|0[1-9]\d{2}|00[1-9]\d|000[1-9]))"));
}

NodeId MakeMostDates(FormatMaker& maker) {
  return maker.Regex(absl::StrCat(DateIn(R"(\d{4})"), "|0000-02-29"));
}

NodeId MakeTime(FormatMaker& maker) {
  return maker.builder().Alt({maker.Regex(TimeWith(R"([0-5]\d)")), LeapTimes(maker)});
}

NodeId MakeMostTimes(FormatMaker& maker) { return maker.Regex(TimeWith(R"((?:[0-5]\d|60))")); }

NodeId MakeDateTime(FormatMaker& maker) {
  return DateTime(MakeDate(maker), MakeTime(maker), maker);
}

NodeId MakeMostDateTimes(FormatMaker& maker) {
  return DateTime(MakeMostDates(maker), MakeMostTimes(maker), maker);
}

NodeId MakeDuration(FormatMaker& maker) {
  const std::string minutes = R"(\d+M(?:\d+S)?)";
  const std::string time = absl::StrCat(R"(T(?:\d+H(?:)", minutes, ")?|", minutes, R"(|\d+S))");
  const std::string months = R"(\d+M(?:\d+D)?)";
  const std::string date = absl::StrCat(R"((?:\d+D|)", months, R"(|\d+Y(?:)", months, ")?)");
  return maker.Regex(absl::StrCat("P(?:", date, "(?:", time, ")?|", time, R"(|\d+W))"));
}

}  // namespace maskd
