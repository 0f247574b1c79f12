// Of a pattern: which of its parts may come next, and where they stand.
//
// The oracle is RE2. A part is put into the pattern with a sign beside it that nothing else takes;
// the part may come next behind a text exactly if some text goes on with that sign. Texts are all
// short ones. RE2 has no look-around: of that the expectations are written by hand.
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <re2/re2.h>

#include "grammar_core/frontend/places/pattern_places.h"
#include "grammar_core/frontend/places/place_network.h"
#include "grammar_core/frontend/places/rule_places.h"
#include "grammar_core/frontend/regex/pattern_syntax.h"
#include "reasons/reason.h"
#include "reasons/source_reason.h"
#include "tests/reasons/begins_one_of.h"

namespace maskd::reasons {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kSign[] = "~";

// All texts of these characters up to a length, the empty one first.
std::vector<std::string> Texts(const std::string& characters, std::size_t length) {
  std::vector<std::string> texts = {""};
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (const char c : characters)
      if (texts[i].size() < length) texts.push_back(texts[i] + c);
  return texts;
}

bool SomeGoesOn(const RE2& pattern, const std::string& begin,
                const std::vector<std::string>& ends) {
  for (const std::string& end : ends)
    if (RE2::FullMatch(begin + end, pattern)) return true;
  return false;
}

// The characters, classes and escapes of a pattern, as bytes of it.
std::vector<std::pair<std::size_t, std::size_t>> PartsOf(const std::string& pattern) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  const std::optional<PatternSyntax> syntax = ReadPatternSyntax(pattern);
  if (!syntax.has_value()) return parts;
  for (const PatternSyntax::Part& part : syntax->parts)
    if (part.kind == PatternSyntax::Kind::kCharacters) parts.emplace_back(part.begin, part.end);
  return parts;
}

class PatternOracleTest : public testing::TestWithParam<const char*> {};

TEST_P(PatternOracleTest, APartIsNamedExactlyIfItMayComeNext) {
  const std::string pattern = GetParam();
  const auto network = ReadPlaces({.kind = "regex", .text = pattern});
  ASSERT_NE(network, nullptr);
  ASSERT_TRUE(network->exact());
  const RE2 whole(pattern);
  ASSERT_TRUE(whole.ok());
  const std::vector<std::string> ends = Texts("ab0", 5);
  std::vector<std::pair<std::size_t, std::unique_ptr<RE2>>> signed_parts;
  for (const auto& [begin, end] : PartsOf(pattern)) {
    signed_parts.emplace_back(
        begin, std::make_unique<RE2>(absl::StrCat(pattern.substr(0, begin),
                                                  "(?:", pattern.substr(begin, end - begin), "|",
                                                  kSign, ")", pattern.substr(end))));
  }
  int beginnings = 0;
  for (const std::string& taken : Texts("ab0", 4)) {
    if (!SomeGoesOn(whole, taken, ends)) continue;
    ++beginnings;
    std::set<std::size_t> expected;
    for (const auto& [at, with_sign] : signed_parts)
      if (SomeGoesOn(*with_sign, taken + kSign, ends)) expected.insert(at);
    const auto behind = network->Behind(taken);
    ASSERT_TRUE(behind.has_value());
    std::set<std::size_t> named;
    for (const NextPart& part : *behind) named.insert(part.at);
    EXPECT_EQ(named, expected) << pattern << " behind \"" << taken << "\"";
  }
  EXPECT_GT(beginnings, 0);
}

INSTANTIATE_TEST_SUITE_P(Patterns, PatternOracleTest,
                         testing::Values("ab0", "a|b", "[ab]0", "ab|a0", "(?:ab|a0)b", "a*b", "a+b",
                                         "a?b?0", "a{2}b", "a{1,3}b", "a{2,}b", "(?:ab){2}0",
                                         "(?:a{2}|b){2}0", "(?:a{1,2}b){1,2}0", "(a|(b|0a))*b",
                                         "(?:a?b?)*0", "(?:){2}a", "a|", "(a*)*b", "((a|b){2}){2}",
                                         "\\d[ab]", "[b0]a", "(?i)Ab", "a(?:b|)0", "a{0}b",
                                         "(?:a|ab)(?:0|b0)", "^ab$", "^a|^b", "a$|ab"));

// As the page and maskctl show them.
std::vector<std::string> Said(const std::string& pattern, const std::string& taken,
                              const IsViable& viable = nullptr) {
  std::vector<std::string> said;
  const Source source("regex", pattern);
  for (const PlacedRule& rule : source.ReasonBehind(taken, viable).rules)
    said.push_back(absl::StrCat(rule.place, " ", rule.says));
  return said;
}

TEST(PatternReasonTest, NamesThePartAndItsColumn) {
  EXPECT_THAT(Said("ab[0-9]+c", "ab"), ElementsAre("1:3 [0-9]"));
  EXPECT_THAT(Said("ab[0-9]+c", "ab1"), ElementsAre("1:3 [0-9]", "1:9 c"));
  EXPECT_THAT(Said("\xC3\xA9\\d", "\xC3\xA9"), ElementsAre("1:3 \\d"));
  EXPECT_THAT(Said("abc", "abc"), IsEmpty());
  EXPECT_THAT(Said("abc", "x"), IsEmpty());
  EXPECT_THAT(Said("a(", "a"), IsEmpty());
}

TEST(PatternReasonTest, TheFirstPlaceIsLineAndColumn) {
  EXPECT_EQ(FirstPlace(Source("regex", "ab[0-9]").ReasonBehind("ab")), "1:3");
  EXPECT_EQ(FirstPlace(Source("regex", "ab").ReasonBehind("ab")), "");
}

TEST(PatternReasonTest, ALookAheadThatHoldsAPartIsNamedBesideIt) {
  const char* const pattern = "(?!ab)a[a-c]";
  const IsViable viable = BeginsOneOf({"aa", "ac"});
  EXPECT_THAT(Said(pattern, "a", viable), ElementsAre("1:1 (?!ab)", "1:8 [a-c]"));
  EXPECT_THAT(Said(pattern, "", viable), ElementsAre("1:7 a"));
}

TEST(PatternReasonTest, APartThatALookAroundRulesOutIsNotNamed) {
  const IsViable viable = BeginsOneOf({"ab", "0b"});
  EXPECT_THAT(Said("(?:(?=ab)a[bc]|0b|a0)", "a", BeginsOneOf({"ab", "0b"})),
              ElementsAre("1:4 (?=ab)", "1:11 [bc]"));
  // The first b is ruled out, too. But b may follow, and which way it takes is not known.
  EXPECT_THAT(Said("\\w(?<=a)b|0(?<=b)0|0b", "0", viable),
              ElementsAre("1:3 (?<=a)", "1:9 b", "1:12 (?<=b)", "1:21 b"));
}

TEST(PatternReasonTest, AWordBoundaryLeavesOnlyWhatMayFollow) {
  EXPECT_THAT(Said("-\\b.", "-", BeginsOneOf({"-a", "-_"})), ElementsAre("1:4 ."));
  EXPECT_THAT(Said("a\\b(b|-)", "a", BeginsOneOf({"a-"})), ElementsAre("1:7 -"));
}

TEST(PatternReasonTest, LongCountsAreApproximated) {
  const auto network = ReadPlaces({.kind = "regex", .text = "a{1,5000}b"});
  ASSERT_NE(network, nullptr);
  EXPECT_FALSE(network->exact());
  EXPECT_THAT(Said("a{1,5000}b", "aa"), ElementsAre("1:1 a", "1:10 b"));
}

TEST(PatternReasonTest, HostilePatternsEnd) {
  const std::string counts = "((a{1,99}){1,99}){1,99}b";
  EXPECT_THAT(Said(counts, "aa"), ElementsAre("1:3 a", absl::StrCat("1:", counts.size(), " b")));
  Said("(((a*)*)*)*b", std::string(1000, 'a'));
  Said("(a|a)*(a|a)*(a|a)*b", std::string(5000, 'a'));
  EXPECT_THAT(Said(std::string(kMostPatternBytes + 1, 'a'), "a"), IsEmpty());
}

}  // namespace
}  // namespace maskd::reasons
