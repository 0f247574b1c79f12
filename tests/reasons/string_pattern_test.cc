// Which parts of a JSON Schema's pattern may come next in a string, and where they stand.
//
// The oracle is RE2, as in pattern_reason_test.cc: a part is put into the pattern with a sign
// beside it that nothing else takes. Around a match any text may stand that has no such sign.
#include "reasons/string_pattern.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <re2/re2.h>

#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/places/pattern_places.h"
#include "grammar_core/frontend/regex/pattern_syntax.h"
#include "reasons/reason.h"
#include "reasons/source_reason.h"
#include "reasons/viable_parts.h"
#include "tests/reasons/begins_one_of.h"

namespace maskd::reasons {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// All texts of these characters up to a length, the empty one first.
std::vector<std::string> Texts(const std::string& characters, std::size_t length) {
  std::vector<std::string> texts = {""};
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (const char c : characters)
      if (texts[i].size() < length) texts.push_back(texts[i] + c);
  return texts;
}

// A pattern somewhere in a text, with a sign in the place of some of its bytes.
std::unique_ptr<RE2> Searched(const std::string& pattern, const std::string& behind = "[^~]*") {
  return std::make_unique<RE2>(absl::StrCat("(?s:[^~]*)(?:", pattern, ")(?s:", behind, ")"));
}

bool SomeGoesOn(const RE2& pattern, const std::string& begin,
                const std::vector<std::string>& ends) {
  for (const std::string& end : ends)
    if (RE2::FullMatch(begin + end, pattern)) return true;
  return false;
}

// What RE2 says of a pattern.
class Oracle {
 public:
  explicit Oracle(const std::string& pattern)
      : whole_(Searched(pattern)), matched_(Searched(pattern, "[^~]*~")) {
    const std::optional<PatternSyntax> syntax = ReadPatternSyntax(pattern);
    if (!syntax.has_value()) return;
    for (const PatternSyntax::Part& part : syntax->parts) {
      if (part.kind != PatternSyntax::Kind::kCharacters) continue;
      const std::string text = pattern.substr(part.begin, part.end - part.begin);
      signed_.emplace_back(part.begin,
                           Searched(absl::StrCat(pattern.substr(0, part.begin), "(?:", text, "|~)",
                                                 pattern.substr(part.end))));
    }
  }

  // Whether there is a match, whatever follows.
  [[nodiscard]] bool Matches(const std::string& taken) const {
    return RE2::FullMatch(taken + "~", *matched_);
  }
  [[nodiscard]] bool MayEnd(const std::string& taken) const {
    return RE2::FullMatch(taken, *whole_);
  }
  // The bytes at which parts begin that may come next.
  [[nodiscard]] std::set<std::size_t> PartsBehind(const std::string& taken) const {
    std::set<std::size_t> parts;
    for (const auto& [at, with_sign] : signed_)
      if (SomeGoesOn(*with_sign, taken + "~", ends_)) parts.insert(at);
    return parts;
  }

 private:
  const std::vector<std::string> ends_ = Texts("ab0", 4);
  std::unique_ptr<RE2> whole_;
  std::unique_ptr<RE2> matched_;
  std::vector<std::pair<std::size_t, std::unique_ptr<RE2>>> signed_;
};

class StringPatternOracleTest : public testing::TestWithParam<const char*> {};

TEST_P(StringPatternOracleTest, APartIsNamedExactlyIfItMayComeNext) {
  const Oracle oracle(GetParam());
  int with_parts = 0;
  for (const std::string& taken : Texts("ab0", 4)) {
    const IsViable nobody = nullptr;
    ViableParts viable(taken, nobody);
    const PatternSays says = WhatPatternSays(GetParam(), {.text = taken}, viable);
    std::set<std::size_t> named;
    for (const NextPart& part : says.parts) named.insert(part.at);
    const std::set<std::size_t> expected =
        oracle.Matches(taken) ? std::set<std::size_t>() : oracle.PartsBehind(taken);
    EXPECT_EQ(named, expected) << GetParam() << " behind \"" << taken << "\"";
    with_parts += expected.empty() ? 0 : 1;
    const bool ends = !oracle.Matches(taken) && expected.empty() && oracle.MayEnd(taken);
    EXPECT_EQ(says.what, !expected.empty() ? PatternSays::What::kParts
                         : ends            ? PatternSays::What::kWhole
                                           : PatternSays::What::kNothing)
        << GetParam() << " behind \"" << taken << "\"";
  }
  EXPECT_GT(with_parts, 0);
}

INSTANTIATE_TEST_SUITE_P(Patterns, StringPatternOracleTest,
                         testing::Values("ab0", "^ab0$", "^ab", "ab$", "a|b0", "^(?:a|b)0$",
                                         "[ab]0", "^[ab]{2}0$", "^a*b$", "a+b", "^a?b?0$", "a{2}b",
                                         "^a{1,3}b$", "^(?:ab){2}$", "(ab|a0)b",
                                         "^(?:a{1,2}b){1,2}0$", "^(a|(b|0a))*b$", "^\\d[ab]$",
                                         "(?i)^Ab$", "^a(?:b|)0$", "^a|b$", "^(?:a|ab)(?:0|b0)$",
                                         "a$|ab", "(?:^a|0)b", "b0$|^0", "^[ab0]b", "a[b0]$",
                                         "^$|^a", "(?:a|^)b", "0(?:$|a)b?"));

// As the page and maskctl show them.
std::vector<std::string> Said(const std::string& schema, const std::string& taken,
                              const IsViable& viable = nullptr) {
  std::vector<std::string> said;
  const Source source("json_schema", schema);
  for (const PlacedRule& rule : source.ReasonBehind(taken, viable).rules) {
    said.push_back(absl::StrCat(rule.place, " ", rule.says, " = ",
                                schema.substr(rule.span.begin, rule.span.end - rule.span.begin)));
  }
  return said;
}

TEST(StringPatternTest, APartHasThePlaceOfItsPatternAndItsOwn) {
  const std::string schema = R"({"properties":{"n":{"pattern":"^a[0-9]{2}$","maxLength":3}}})";
  EXPECT_THAT(Said(schema, R"({"n":"a)"),
              ElementsAre("/properties/n/pattern [0-9], at 1:3 in it = [0-9]",
                          "/properties/n/maxLength maxLength: 3 = 3"));
  EXPECT_THAT(Said(schema, R"({"n":"a12)"),
              ElementsAre("/properties/n/pattern pattern: \"^a[0-9]{2}$\" = \"^a[0-9]{2}$\"",
                          "/properties/n/maxLength maxLength: 3 = 3"));
}

TEST(StringPatternTest, BytesAreThoseOfTheSource) {
  EXPECT_THAT(Said(R"({"pattern":"^\u0061\\d\u00e9$"})", "\"a"),
              ElementsAre(R"(/pattern \d, at 1:3 in it = \\d)"));
  EXPECT_THAT(Said(R"({"pattern":"^\u0061\\d\u00e9$"})", "\"a1"),
              ElementsAre("/pattern \xC3\xA9, at 1:5 in it = \\u00e9"));
}

TEST(StringPatternTest, EscapesOfTheTextAreRead) {
  const std::string schema = R"({"pattern":"^a\n\"\uD83D\uDE00b$"})";
  EXPECT_THAT(Said(schema, R"("\u0061)"), ElementsAre("/pattern \n, at 1:3 in it = \\n"));
  EXPECT_THAT(Said(schema, R"("a\n)"), ElementsAre("/pattern \", at 2:1 in it = \\\""));
  EXPECT_THAT(Said(schema, R"("a\n\"\uD83D\uDe00)"), ElementsAre("/pattern b, at 2:6 in it = b"));
  // What is cut says nothing yet.
  for (const char* const cut : {"", "\\", "\\u", "\\uD83", "\\uD83D", "\\uD83D\\", "\\uD83D\\uDE0",
                                "\xF0", "\xF0\x9F\x98"}) {
    EXPECT_THAT(Said(schema, absl::StrCat(R"("a\n\")", cut)),
                ElementsAre("/pattern \xF0\x9F\x98\x80, at 2:2 in it = \\uD83D\\uDE00"))
        << cut;
  }
}

TEST(StringPatternTest, OfBytesThatAreNoTextNothingIsFollowed) {
  for (const char* const bytes : {"\x9F",
                                  "\xF0\x9F"
                                  "ab\x9F",
                                  "\xFF", "\\uD83Dx", "\\x"}) {
    EXPECT_THAT(Said(R"({"pattern":"^a$"})", absl::StrCat("\"", bytes)),
                ElementsAre(R"(/pattern pattern: "^a$" = "^a$")"))
        << bytes;
  }
}

TEST(StringPatternTest, APatternThatMatchesOrWasLeftIsNotNamed) {
  EXPECT_THAT(Said(R"({"pattern":"b","maxLength":2})", "\"ab"),
              ElementsAre("/maxLength maxLength: 2 = 2"));
  EXPECT_THAT(Said(R"({"anyOf":[{"pattern":"^ab$"},{"pattern":"^b0$"}]})", "\"b"),
              ElementsAre("/anyOf/1/pattern 0, at 1:3 in it = 0"));
}

TEST(StringPatternTest, EachPatternThatHoldsIsFollowed) {
  EXPECT_THAT(
      Said(R"({"pattern":"^a","allOf":[{"$ref":"#/$defs/b"}],"$defs":{"b":{"pattern":"b$"}}})",
           "\""),
      ElementsAre("/pattern a, at 1:2 in it = a", "/$defs/b/pattern b, at 1:1 in it = b"));
}

TEST(StringPatternTest, NamesOfPatternPropertiesAreFollowed) {
  const std::string schema =
      R"({"patternProperties":{"^x[0-9]$":true,"^y~z$":true},"additionalProperties":false})";
  EXPECT_THAT(Said(schema, R"({"x)"),
              ElementsAre("/patternProperties/^x[0-9]$ [0-9], at 1:3 in it = [0-9]",
                          "/additionalProperties additionalProperties: false = false"));
  EXPECT_THAT(Said(schema, R"({"y)"),
              ElementsAre("/patternProperties/^y~0z$ ~, at 1:3 in it = ~",
                          "/additionalProperties additionalProperties: false = false"));
  EXPECT_THAT(Said(schema, R"({"x1)"),
              ElementsAre("/patternProperties patternProperties: ^x[0-9]$, ^y~z$ = "
                          R"({"^x[0-9]$":true,"^y~z$":true})",
                          "/additionalProperties additionalProperties: false = false"));
}

TEST(StringPatternTest, ThePatternOfPropertyNamesIsFollowed) {
  EXPECT_THAT(Said(R"({"propertyNames":{"pattern":"^x[0-9]$","maxLength":2}})", R"({"x)"),
              ElementsAre("/propertyNames/pattern [0-9], at 1:3 in it = [0-9]",
                          "/propertyNames/maxLength maxLength: 2 = 2"));
  EXPECT_THAT(Said(R"({"propertyNames":{"$ref":"#/$defs/n"},"$defs":{"n":{"pattern":"^x[0-9]$"}}})",
                   R"({"x)"),
              ElementsAre("/$defs/n/pattern [0-9], at 1:3 in it = [0-9]"));
  EXPECT_THAT(Said(R"({"propertyNames":{"pattern":"^x"}})", "{"),
              ElementsAre(R"(/propertyNames propertyNames: {"pattern":"^x"} = {"pattern":"^x"})"));
}

TEST(StringPatternTest, ALookAheadThatHoldsAPartIsNamedBesideIt) {
  EXPECT_THAT(Said(R"({"pattern":"^(?!a\")a[\"b]$"})", "\"a", BeginsOneOf({"\"ab\""})),
              ElementsAre("/pattern (?!a\"), at 1:2 in it = (?!a\\\")",
                          "/pattern [\"b], at 1:9 in it = [\\\"b]"));
  // Nobody can say.
  EXPECT_THAT(Said(R"({"pattern":"^(?!ab)a[bc]$"})", "\"a"),
              ElementsAre("/pattern [bc], at 1:9 in it = [bc]"));
}

TEST(StringPatternTest, APatternThatCannotBeFollowedIsNamedWhole) {
  const std::string longer(kMostPatternBytes + 1, 'a');
  const auto said = Said(absl::StrCat(R"({"pattern":")", longer, "\"}"), "\"a");
  ASSERT_EQ(said.size(), 1);
  EXPECT_THAT(said[0], testing::StartsWith("/pattern pattern: \"aaa"));
}

TEST(StringPatternTest, ManyPatternsAreBounded) {
  nlohmann::ordered_json schema = {{"additionalProperties", false}};
  for (std::size_t i = 0; i <= kMostPatterns; ++i)
    schema["patternProperties"][absl::StrCat("^x", i, "$")] = true;
  const auto said = Said(schema.dump(), R"({"x)");
  ASSERT_EQ(said.size(), 2);
  EXPECT_THAT(said[0], testing::StartsWith("/patternProperties patternProperties: "));
}

TEST(StringPatternTest, OutsideOfAStringNoPatternIsFollowed) {
  EXPECT_THAT(Said(R"({"pattern":"^a$"})", ""), IsEmpty());
  EXPECT_THAT(Said(R"({"pattern":"^a$"})", "\"a\""), IsEmpty());
}

}  // namespace
}  // namespace maskd::reasons
