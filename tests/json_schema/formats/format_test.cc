// Formats against the examples of their specifications, and what the header says of their pairs.
#include "grammar_core/frontend/json_schema/formats/format.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

#include "tests/json_schema/formats/format_texts.h"

namespace maskd {
namespace {

// Strings that a specification shows as its own; those between that `make` may leave out, and those
// that are none.
struct FormatCase {
  const char* name;
  const char* format;
  std::vector<std::string> examples;
  std::vector<std::string> left_out;
  std::vector<std::string> others;
};

class EachFormatTest : public testing::TestWithParam<FormatCase> {};

TEST_P(EachFormatTest, HasItsSpecificationsExamples) {
  const Format* format = FindFormat(GetParam().format);
  ASSERT_NE(format, nullptr);
  EXPECT_EQ(format->name, GetParam().format);
  FormatTexts texts(format->make);
  for (const std::string& text : GetParam().examples) EXPECT_TRUE(texts.Has(text)) << text;
  for (const std::string& text : GetParam().left_out) EXPECT_FALSE(texts.Has(text)) << text;
  for (const std::string& text : GetParam().others) EXPECT_FALSE(texts.Has(text)) << text;
}

// What may be of the format is within it; without it nothing is left out.
TEST_P(EachFormatTest, TheWiderSetHasThemAll) {
  const Format* format = FindFormat(GetParam().format);
  ASSERT_NE(format, nullptr);
  EXPECT_TRUE(format->make_most != nullptr || GetParam().left_out.empty());
  if (format->make_most == nullptr) return;
  FormatTexts most(format->make_most);
  for (const std::string& text : GetParam().examples) EXPECT_TRUE(most.Has(text)) << text;
  for (const std::string& text : GetParam().left_out) EXPECT_TRUE(most.Has(text)) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Formats, EachFormatTest,
    testing::ValuesIn(std::vector<FormatCase>{
        {"Date", "date", {"1985-04-12", "2004-02-29"}, {"0000-02-29"}, {"2001-02-29", "85-04-12"}},
        {"Time", "time", {"23:20:50.52Z", "16:39:57-08:00"}, {"00:00:60+00:01"}, {"7:00:00Z"}},
        {"DateTime",
         "date-time",
         {"1985-04-12T23:20:50.52Z", "1996-12-19T16:39:57-08:00", "1990-12-31T23:59:60Z",
          "1990-12-31T15:59:60-08:00", "1937-01-01T12:00:27.87+00:20"},
         {"1990-12-31T23:58:60-00:01"},
         {"1985-04-12T23:20:50.52", "1985-04-12"}},
        {"Duration",
         "duration",
         {"P4DT12H30M5S", "PT0S", "P0D", "P1M", "PT1M", "PT36H", "P1DT12H", "P2W"},
         {},
         {"4DT12H", "P1", "PT", "P2D1Y", "P1D2H", "P1WT1H"}},
        {"Email",
         "email",
         {"Smith@bar.com", "\"Joe.\\Blow\"@foo", "a+b@foo", "a@[123.255.37.2]",
          "a@[IPv6:2001:db8::1]"},
         {"a@" + std::string(64, 'x'), "a@[tag:x]"},
         {"a@b@c", "Fred Bloggs@foo", "a.@foo"}},
        {"IdnEmail",
         "idn-email",
         {"Smith@bar.com", "\u7528\u6237@\u4F8B\u5B50.com", "J\u00F5e@foo"},
         {"a@" + std::string(64, 'x')},
         {"\u7528\u6237", "@foo", "a@"}},
        {"Hostname", "hostname", {"www.example.com", "3com.com", "A"}, {"xn--nxasmq6b"}, {"a b"}},
        {"IdnHostname",
         "idn-hostname",
         {"www.example.com", "b\u00FCcher.example", "\u03B2\u03CC\u03BB\u03BF\u03C2"},
         {"xn--bcher-kva"},
         {"b\u00FCcher..example", "\u2665", "B\u00DCCHER"}},
        {"Ipv4", "ipv4", {"127.0.0.1"}, {}, {"127.1", "1.2.3.4.5"}},
        {"Ipv6",
         "ipv6",
         {"ABCD:EF01:2345:6789:ABCD:EF01:2345:6789", "2001:DB8:0:0:8:800:200C:417A",
          "2001:DB8::8:800:200C:417A", "FF01::101", "::1", "::", "::13.1.68.3",
          "::FFFF:129.144.52.38"},
         {},
         {"127.0.0.1", "fe80::1%eth0"}},
        {"Uri",
         "uri",
         {"ftp://ftp.is.co.za/rfc/rfc1808.txt", "http://www.ietf.org/rfc/rfc2396.txt",
          "ldap://[2001:db8::7]/c=GB?objectClass?one", "mailto:John.Doe@example.com",
          "news:comp.infosystems.www.servers.unix", "tel:+1-816-555-1212",
          "telnet://192.0.2.16:80/", "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
          "foo://example.com:8042/over/there?name=ferret#nose"},
         {},
         {"/over/there", "http://a b", "http://r\u00E9sum\u00E9.example.org"}},
        {"UriReference",
         "uri-reference",
         {"g:h", "g", "./g", "//g", "?y", "g#s", ";x", "", "../../g"},
         {},
         {"g^h", "\u00E9"}},
        {"Iri",
         "iri",
         {"http://r\u00E9sum\u00E9.example.org", "http://example.org/ros\u00E9"},
         {},
         {"ros\u00E9", "a:\uFFFE"}},
        {"IriReference", "iri-reference", {"ros\u00E9", "#ros\u00E9", ""}, {}, {"a\u0020b", "\\"}},
        {"UriTemplate",
         "uri-template",
         {"http://example.com/~{username}/", "http://example.com/dictionary/{term:1}/{term}",
          "http://example.com/search{?q,lang}", "{+path}/here", "{#x,hello,y}", "{;list*}",
          "X{.var:3}"},
         {"{=a}", "{!a}", "{@a}", "{|a}", "{,a}"},
         {"{", "{a", "a}", "{a:0}", "{a-b}"}},
        {"JsonPointer",
         "json-pointer",
         {"", "/foo", "/foo/0", "/", "/a~1b", "/c%d", "/e^f", "/g|h", "/i\\j", "/k\"l", "/ ",
          "/m~0n"},
         {},
         {"foo", "#/foo", "/a~", "/a~2"}},
        {"RelativeJsonPointer",
         "relative-json-pointer",
         {"0", "1/0", "2/highly/nested/objects", "0#", "1#"},
         {"0-1", "0+1/a", "0-1#"},
         {"/a", "00", "-1", "#"}},
        {"Regex",
         "regex",
         {"^[a-z]+$", "(a|b)*?", "\\d{2,3}"},
         {"(.)\\1", "[c-d]"},
         {"(", "[z-a]"}},
        {"Uuid",
         "uuid",
         {"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
         {},
         {"urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "f81d4fae-7dec-11d0-a765-00a0c91e6bf"}},
    }),
    [](const auto& test) { return std::string(test.param.name); });

// Validation 2020-12, section 7.3, has 19 names.
TEST(FindFormatTest, OtherNamesHaveNone) {
  for (const char* name : {"", "color", "Date", "date ", "datetime", "ip-address", "phone", "uri_"})
    EXPECT_EQ(FindFormat(name), nullptr) << name;
}

bool IsLeap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

TEST(DateTest, HasTheDaysOfTheCalendar) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  FormatTexts dates(&MakeDate);
  FormatTexts most(&MakeMostDates);
  for (const int year : {1, 100, 400, 1900, 2000, 2023, 2024, 2100, 9999, 0}) {
    for (int month = 0; month <= 13; ++month) {
      const bool is_month = month >= 1 && month <= 12;
      const int days = is_month ? kDays[month - 1] + (month == 2 && IsLeap(year) ? 1 : 0) : 0;
      for (int day = 0; day <= 32; ++day) {
        const std::string text = absl::StrFormat("%04d-%02d-%02d", year, month, day);
        const bool is_day = day >= 1 && day <= days;
        EXPECT_EQ(dates.Has(text), is_day && year > 0) << text;
        EXPECT_EQ(most.Has(text), is_day) << text;
      }
    }
  }
}

// Second 60 stands at 23:59 UTC; with offsets of other than quarters of an hour it is left out.
TEST(TimeTest, LeapSecondsAreAtTheEndOfADay) {
  FormatTexts times(&MakeTime);
  FormatTexts most(&MakeMostTimes);
  int taken = 0;
  for (int offset = -23 * 60 - 45; offset <= 23 * 60 + 45; offset += 15) {
    const int behind = offset < 0 ? -offset : offset;
    const int local = (24 * 60 + 23 * 60 + 59 + offset) % (24 * 60);
    for (const int minute : {local, (local + 1) % (24 * 60), (local + 60) % (24 * 60), 1439}) {
      const std::string text = absl::StrFormat("%02d:%02d:60%c%02d:%02d", minute / 60, minute % 60,
                                               offset < 0 ? '-' : '+', behind / 60, behind % 60);
      EXPECT_EQ(times.Has(text), minute == local) << text;
      EXPECT_TRUE(most.Has(text)) << text;
      taken += minute == local ? 1 : 0;
    }
  }
  EXPECT_GE(taken, 191);
}

TEST(MakeMostTest, HasEveryString) {
  FormatTexts most(&MakeMost);
  for (const char* text : {"", "a", "\n", "\"\\", "\u00E9\u20AC\U0001F600"})
    EXPECT_TRUE(most.Has(text)) << text;
  EXPECT_FALSE(most.Has("\xFF")) << "no character";
}

class FormatMakerTest : public testing::Test {
 protected:
  const Limits limits_;
  Budget budget_ = Budget::Unlimited();
  IrBuilder b_{limits_};
  FormatMaker maker_{limits_, budget_, b_};
};

TEST_F(FormatMakerTest, APatternIsOfTheWholeString) {
  FormatTexts texts([](FormatMaker& maker) { return maker.Regex("a|bc"); });
  for (const char* text : {"a", "bc"}) EXPECT_TRUE(texts.Has(text)) << text;
  for (const char* text : {"", "ab", "xa", "bca"}) EXPECT_FALSE(texts.Has(text)) << text;
}

TEST_F(FormatMakerTest, NodesAreTheBuildersOwn) {
  EXPECT_EQ(&maker_.builder(), &b_);
  EXPECT_EQ(maker_.Regex("ab"), b_.Text("ab"));
  EXPECT_TRUE(maker_.status().ok());
}

TEST_F(FormatMakerTest, TheFirstErrorIsKept) {
  EXPECT_EQ(maker_.Regex("("), b_.Nothing());
  EXPECT_EQ(maker_.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string first(maker_.status().message());
  EXPECT_EQ(maker_.Regex(R"((a)\1)"), b_.Nothing());
  EXPECT_EQ(maker_.Regex("a"), b_.Text("a")) << "later ones are made nevertheless";
  EXPECT_EQ(maker_.status().message(), first);
}

TEST_F(FormatMakerTest, ALimitThatIsMetIsAnError) {
  Limits shallow;
  shallow.source_depth = 2;
  FormatMaker maker(shallow, budget_, b_);
  maker.Regex("(((a)))");
  EXPECT_EQ(maker.status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace maskd
