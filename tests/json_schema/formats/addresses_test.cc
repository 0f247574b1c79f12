// Patterns of addresses against the readers of the C library, which RFC 4291 describes too.
#include "grammar_core/frontend/json_schema/formats/addresses.h"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "re2/re2.h"
#include <arpa/inet.h>

namespace maskd {
namespace {

bool IsAddress(int family, const std::string& text) {
  std::array<unsigned char, 16> address;
  return inet_pton(family, text.c_str(), address.data()) == 1;
}

// Groups that are written, an IPv4 address counting as two.
int WrittenGroups(const std::string& text) {
  int groups = 0;
  for (const absl::string_view group : absl::StrSplit(text, ':', absl::SkipEmpty()))
    groups += absl::StrContains(group, '.') ? 2 : 1;
  return groups;
}

// Pieces of addresses, right and wrong ones, joined by `sign` in all ways up to `most` of them.
std::vector<std::string> AllOf(const std::vector<std::string>& pieces, char sign, int most) {
  std::vector<std::string> all = {""};
  std::vector<std::string> last = {""};
  for (int count = 1; count <= most; ++count) {
    std::vector<std::string> next;
    for (const std::string& text : last)
      for (const std::string& piece : pieces)
        next.push_back(count == 1 ? piece : absl::StrCat(text, std::string(1, sign), piece));
    all.insert(all.end(), next.begin(), next.end());
    last = std::move(next);
  }
  return all;
}

TEST(Ipv4PatternTest, IsWhatTheCLibraryReads) {
  const RE2 pattern(Ipv4Pattern());
  ASSERT_TRUE(pattern.ok()) << pattern.error();
  int addresses = 0;
  for (const std::string& text : AllOf({"0", "7", "255", "256", "01", "", "99"}, '.', 5)) {
    EXPECT_EQ(RE2::FullMatch(text, pattern), IsAddress(AF_INET, text)) << text;
    addresses += IsAddress(AF_INET, text) ? 1 : 0;
  }
  EXPECT_EQ(addresses, 4 * 4 * 4 * 4);
}

TEST(Ipv4PatternTest, HasEachNumberOnceInEachPlace) {
  const RE2 pattern(Ipv4Pattern());
  for (int number = 0; number < 1'000; ++number) {
    for (const char* form : {"$0.0.0.0", "1.$0.1.1", "9.9.$0.9", "255.255.255.$0"}) {
      const std::string text = absl::Substitute(form, number);
      EXPECT_EQ(RE2::FullMatch(text, pattern), number < 256) << text;
    }
  }
}

class Ipv6PatternTest : public testing::TestWithParam<int> {
 protected:
  // What the C library reads, but for a "::" that stands for too few groups.
  static void ExpectAsTheLibrary(const std::vector<std::string>& texts) {
    const RE2 pattern(Ipv6Pattern(GetParam()));
    ASSERT_TRUE(pattern.ok()) << pattern.error();
    int addresses = 0;
    for (const std::string& text : texts) {
      const bool enough = !absl::StrContains(text, "::") || WrittenGroups(text) <= 8 - GetParam();
      const bool wanted = IsAddress(AF_INET6, text) && enough;
      EXPECT_EQ(RE2::FullMatch(text, pattern), wanted) << text;
      addresses += wanted ? 1 : 0;
    }
    EXPECT_GT(addresses, 20);
  }
};

// Every way to put up to nine groups around one "::", or none, or two.
TEST_P(Ipv6PatternTest, IsWhatTheCLibraryReads) {
  std::vector<std::string> texts;
  for (const char* last : {"1", "1.2.3.4", "12345", "g", "1.2.3"}) {
    for (std::size_t before = 0; before <= 9; ++before) {
      const std::string left = absl::StrJoin(std::vector<std::string>(before, "aB0f"), ":");
      for (std::size_t after = 0; after <= 9; ++after) {
        std::vector<std::string> groups(after, "0");
        if (after > 0) groups.back() = last;
        const std::string right = absl::StrJoin(groups, ":");
        for (const char* between : {"::", ":", ":::", ""})
          texts.push_back(absl::StrCat(left, between, right));
        texts.push_back(absl::StrCat(left, "::", right, "::"));
      }
    }
  }
  ExpectAsTheLibrary(texts);
}

TEST_P(Ipv6PatternTest, IsWhatTheCLibraryReadsOfTextsAtRandom) {
  std::mt19937_64 random(6);
  std::vector<std::string> texts;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::string> groups;
    for (std::size_t count = random() % 10; count > 0; --count)
      groups.push_back(std::array{"", "1", "fF", "0000", "1.2.3.4"}[random() % 20 % 5]);
    texts.push_back(absl::StrJoin(groups, ":"));
  }
  ExpectAsTheLibrary(texts);
}

TEST_P(Ipv6PatternTest, HasNoZones) {
  const RE2 pattern(Ipv6Pattern(GetParam()));
  for (const char* text : {"fe80::1%eth0", "fe80::1%251", "::/64", "[::1]", " ::1", "::1\n"})
    EXPECT_FALSE(RE2::FullMatch(text, pattern)) << text;
}

INSTANTIATE_TEST_SUITE_P(LeastZeros, Ipv6PatternTest, testing::Values(1, 2));

}  // namespace
}  // namespace maskd
