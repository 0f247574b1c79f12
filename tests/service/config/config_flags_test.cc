#include "service/config/config_flags.h"

#include <cstdint>
#include <regex>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/base/duration_value.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;

const Flag& FlagOf(absl::string_view name) {
  for (const Flag& flag : AllFlags())
    if (flag.name == name) return flag;
  ADD_FAILURE() << "there is no flag " << name;
  return AllFlags().front();
}

absl::Status Set(absl::string_view name, absl::string_view value, Config* config) {
  return FlagOf(name).set(value, config);
}

// What a flag that is no number sets is told here by what it changes of these.
std::string Shown(const Config& config) {
  std::string shown =
      absl::StrCat(config.max_connections, ",", config.max_peer_connections, ",",
                   config.compile_threads, ",", config.warm_up_ms, ",", config.look_ahead_masks,
                   ",", config.heap_mib, ",", config.compile_queue, ",", config.stream_threads);
  absl::StrAppend(&shown, ";", config.mask_threads, ",", config.max_streams, ",",
                  config.max_peer_streams, ",", config.hello_ms, ",", config.idle_ms, ",",
                  config.shared_memory, ",", config.awake_us, ",", config.max_rows, ",",
                  config.max_row_tokens, ",", config.max_message_bytes);
  absl::StrAppend(&shown, ";", config.max_reply_bytes, ",", config.max_receiving_bytes, ",",
                  config.max_unread_reply_bytes, ",", config.max_wait_for_compile_ms, ",",
                  config.limits.source_bytes, ",", config.limits.compile_work, ",",
                  config.limits.grammar_bytes, ",", config.drain_ms, ",", config.stall_ms);
  absl::StrAppend(&shown, ";", config.audit, ",", config.cpu_kernels, ",", config.metrics_listen,
                  ",", config.listen.size() == 1 ? config.listen[0] : "many");
  return shown;
}

// The default stands in [] behind the help, and again in config.h.
TEST(ConfigFlagsTest, TheHelpSaysTheDefaultThatHolds) {
  // Those whose default is said in words.
  const std::regex in_words("nowhere|none|.* .*");
  const std::regex at_the_end(R"(.*\[([^\[\]]*)\]$)");
  int compared = 0;
  for (const Flag& flag : AllFlags()) {
    const std::string help(flag.help);
    std::smatch found;
    if (!std::regex_match(help, found, at_the_end)) continue;
    const std::string said = found[1];
    if (std::regex_match(said, in_words)) continue;
    Config config;
    const absl::Status set = flag.set(said, &config);
    EXPECT_TRUE(set.ok()) << flag.name << ": " << set;
    EXPECT_EQ(Shown(config), Shown(Config())) << flag.name << " is not " << said;
    ++compared;
  }
  EXPECT_GT(compared, 25);
}

// Else the test above would compare nothing: each of them changes what is shown.
TEST(ConfigFlagsTest, AnotherValueIsAnotherConfig) {
  int changed = 0;
  for (const Flag& flag : AllFlags()) {
    Config config;
    for (const char* value : {"777", "65537", "2000000", "true", "false", "portable"})
      if (flag.set(value, &config).ok() && Shown(config) != Shown(Config())) {
        ++changed;
        break;
      }
  }
  EXPECT_GT(changed, 25);
}

TEST(ConfigFlagsTest, EachNameStandsOnceAndNoneIsRetired) {
  std::set<std::string> names;
  for (const Flag& flag : AllFlags()) {
    EXPECT_TRUE(names.insert(std::string(flag.name)).second) << flag.name;
    EXPECT_TRUE(std::regex_match(std::string(flag.name), std::regex("[a-z][a-z0-9_]*")))
        << flag.name;
    EXPECT_FALSE(flag.help.empty()) << flag.name;
  }
  for (const RetiredFlag& flag : RetiredFlags())
    EXPECT_TRUE(names.insert(std::string(flag.name)).second) << flag.name;
}

// After an error a Config is as it was, whichever flag it is.
TEST(ConfigFlagsTest, ANumberThatIsNoneChangesNothing) {
  int refused = 0;
  for (const Flag& flag : AllFlags()) {
    for (const char* value : {"-1", "9223372036854775808", "0x10", "1e3", "7 7", "\xff"}) {
      Config config;
      if (flag.set(value, &config).ok()) continue;
      ++refused;
      EXPECT_EQ(Shown(config), Shown(Config())) << flag.name << " = " << value;
    }
  }
  EXPECT_GT(refused, 100);
}

struct TimeCase {
  const char* flag;
  const char* value;
  const char* says;
};

// What is refused is never among the examples of what would do.
TEST(ConfigFlagsTest, AWrongTimeIsToldWhichUnitAndRange) {
  for (const TimeCase& one :
       {TimeCase{"hello_ms", "20us",
                 "not a whole number of ms from 1 to 3600000, such as 500 or 5s"},
        TimeCase{"hello_ms", "2h", "not a whole number of ms from 1 to 3600000, such as 500 or 5s"},
        TimeCase{"awake_us", "2s",
                 "not a whole number of us from 0 to 1000000, such as 500 or 5ms"},
        TimeCase{"stall_ms", "soon", "not a whole number of ms from 100 to 3600000"}}) {
    Config config;
    const absl::Status set = Set(one.flag, one.value, &config);
    EXPECT_TRUE(absl::IsInvalidArgument(set)) << one.flag;
    EXPECT_THAT(std::string(set.message()), HasSubstr(one.says)) << one.flag;
  }
}

// Each example of such an error is a value that the flag takes.
TEST(ConfigFlagsTest, ExamplesOfAnErrorAreTaken) {
  const std::regex example("whole number.*such as ([0-9a-z]+) or ([0-9a-z]+)");
  int tried = 0;
  for (const Flag& flag : AllFlags()) {
    Config config;
    const absl::Status set = flag.set("no time", &config);
    const std::string message(set.message());
    std::smatch found;
    if (!std::regex_search(message, found, example)) continue;
    for (const std::string& value : {found[1].str(), found[2].str()})
      EXPECT_TRUE(flag.set(value, &config).ok()) << flag.name << " " << value;
    ++tried;
  }
  EXPECT_EQ(tried, 7);
}

struct DurationCase {
  const char* text;
  std::int64_t unit_us;
  std::int64_t value;  // -1: none
};

TEST(DurationValueTest, ReadsNumbersAndUnits) {
  for (const DurationCase& one :
       {DurationCase{"0", 1, 0},
        {"7", 1, 7},
        {"7", 1000, 7},  // of the flag's own unit
        {"7us", 1, 7},
        {"1500us", 1, 1500},
        {"1500us", 1000, -1},  // no whole number, and not rounded
        {"2000us", 1000, 2},
        {"0us", 1000, 0},
        {"3ms", 1, 3000},
        {"2s", 1000, 2000},
        {"2min", 1000, 120'000},
        {"1h", 1, 3'600'000'000},
        {"9223372036854775807", 1, 9'223'372'036'854'775'807},
        {"9223372036854775808", 1, -1},
        {"2562047788h", 1000, 9'223'372'036'800'000},
        {"2562047789h", 1000, -1},  // more microseconds than there are numbers
        {"9223372036854775807us", 1000, -1},
        {"", 1, -1},
        {"s", 1, -1},
        {"-1", 1, -1},
        {"+1", 1, -1},
        {" 1", 1, -1},
        {"1 s", 1, -1},
        {"1S", 1, -1},
        {"1.5s", 1, -1},
        {"1s2ms", 1, -1},
        {"1d", 1, -1}}) {
    EXPECT_EQ(ParseDuration(one.text, one.unit_us).value_or(-1), one.value)
        << one.text << " in units of " << one.unit_us << " us";
  }
}

}  // namespace
}  // namespace maskd::service
