// Which strings each format leaves, beside other keywords too, and when it is asserted at all.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json/json_document.h"
#include "tests/frontend/texts_case.h"

namespace maskd {
namespace {

// Strings of a format and others, not as JSON.
struct FormatCase {
  const char* name;
  const char* format;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
};

class FormatTest : public testing::TestWithParam<FormatCase> {};

TEST_P(FormatTest, TakesExactlyThese) {
  const FormatCase& wanted = GetParam();
  const auto read =
      ReadForTest("json_schema", absl::StrCat(R"({"format":")", wanted.format, "\"}"));
  ASSERT_TRUE(read.ok()) << read.status();
  IrRecognizer recognizer(read->ir);
  const auto accepts = [&](const std::string& text) {
    std::string json;
    AppendJsonString(text, &json);
    return recognizer.Accepts(json);
  };
  for (const std::string& text : wanted.accepts) EXPECT_TRUE(accepts(text)) << text;
  for (const std::string& text : wanted.rejects) EXPECT_FALSE(accepts(text)) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Formats, FormatTest,
    testing::ValuesIn(std::vector<FormatCase>{
        {"Date",
         "date",
         {"2024-02-29", "2000-02-29", "2023-02-28", "9999-12-31", "0001-01-01", "2023-11-30"},
         {"2023-02-29", "1900-02-29", "0000-01-01", "2023-11-31", "2023-00-10", "2023-1-01"}},
        {"Time",
         "time",
         {"00:00:00Z", "23:59:59.9+23:59", "12:00:00z", "12:00:00-00:00"},
         {"24:00:00Z", "12:60:00Z", "12:00:00", "12:00:00.Z", "12:00:00+24:00", "12:00Z"}},
        {"LeapSecondsBehind",
         "time",
         {"23:59:60-00:00", "00:14:60-23:45", "15:59:60-08:00", "20:29:60.5-03:30"},
         {"23:59:60-00:01", "15:59:60-07:00", "20:29:60-03:29", "15:58:60-08:00"}},
        {"LeapSecondsAhead",
         "time",
         {"23:59:60Z", "23:59:60+00:00", "00:14:60+00:15", "05:29:60+05:30", "23:44:60+23:45",
          "00:59:60+01:00", "09:59:60.25+10:00"},
         {"23:58:60Z", "00:00:60+00:00", "05:29:60+05:29", "05:30:60+05:30", "23:59:60+01:00",
          "01:59:60+01:00", "02:09:60+01:10"}},
        {"DateTime",
         "date-time",
         {"1985-04-12T23:20:50.52Z", "1996-12-19t16:39:57-08:00", "1990-12-31T23:59:60Z"},
         {"1985-04-12 23:20:50Z", "1985-04-12", "1985-02-30T00:00:00Z", "1985-04-12T23:20:50"}},
        {"Duration",
         "duration",
         {"P1Y2M3DT4H5M6S", "P2W", "PT0S", "P1M2D", "PT5M"},
         {"P", "PT", "P1Y2D", "P1W2D", "PT1H2S", "P1DT", "P1.5D"}},
        {"Email",
         "email",
         {"a@b", "a.b+c@x-y.z", "\"a b\\\"\"@x", "a@[1.2.3.4]", "a@[ipv6:2001:db8::1]"},
         {"a", "@b", "a@", "a..b@c", "a@-b", "a@b_c", "a@[1.2.3]", "a@[IPv6:1:2:3:4:5:6:7::]",
          "a@[x:y]", "\xC3\xA4@b"}},
        {"Hostname",
         "hostname",
         {"a", "a-b.c", "xn-a", "x", "xn", "xna--b", "ab--c", std::string(63, 'x')},
         {"", "a.", "a..b", "-a", "a-", "xn-", "a_b", std::string(64, 'x'), "xn--a--", "\xC3\xA4"}},
        {"IdnHostname",
         "idn-hostname",
         {"a.b", "\xEC\x8B\xA4\xEB\xA1\x80.\xED\x85\x8C\xEC\x8A\xA4\xED\x8A\xB8",  // 실례.테스트
          "www.\xD7\x90\xD7\x91",
          "\xC3\xA9\xE3\x80\x82"
          "a",
          "l\xC2\xB7l", "\xE3\x83\xBB\xE3\x81\x81",
          "\xE0\xA4\x95\xE0\xA5\x8D\xE2\x80\x8D\xE0\xA4\xB7", "\xD8\xA8\xD9\xA0",
          std::string(63, 'a')},
         {"", ".", "a.", "\xC3\xA9.", "\xC8\x9F\xCC\xA3", "e\xCC\x81", "\xCC\x81", "\xC3\x89",
          "-\xC3\xA9", "\xC3\xA9-",
          "l\xC2\xB7"
          "a",
          "\xE3\x83\xBB", "0\xD7\x90", "0.\xD7\x90", "a\xD7\x90", "\xD8\xA8\xD9\xA0\xDB\xB0",
          "\xE2\x80\x8D\xE0\xA4\xB7", "xn--9t4b11yi5a", std::string(64, 'a')}},
        {"IdnEmail",
         "idn-email",
         {"a@b", "\xC3\xA9@\xC3\xA9", "\"\xC3\xA9\"@a", "a@cafe\xCC\x81.b", "a@[1.2.3.4]"},
         {"a",
          "a\xEF\xBC\xA0"
          "b",
          "a@", "a@\xE3\x80\x82", "a@-\xC3\xA9", "\xC3\xA9 @b"}},
        {"Ipv4", "ipv4", {"0.0.0.0", "255.249.199.99"}, {"256.0.0.0", "01.0.0.0", "1.2.3"}},
        {"Ipv6",
         "ipv6",
         {"::", "1::", "::8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1::8", "1:2:3:4:5:6:7:8",
          "::1.2.3.4", "1:2:3:4:5::1.2.3.4", "1:2:3:4:5:6:1.2.3.4"},
         {"", ":", ":::", "1:2:3:4:5:6:7:8::", "1::2::3", "1:2:3:4:5:6::1.2.3.4",
          "g::", "12345::"}},
        {"Uri",
         "uri",
         {"a:", "http://h:1/p?q#f", "a:b/c", "a:/b", "http://[::1]:80", "http://u:p@h",
          "http://[v1.a:b]/"},
         {"", "//h", "a", "1:a", "a:b c", "a:%4", "http://[::g]", "a:#b#c", "a://b:c",
          "a:\xC3\xA4"}},
        {"UriReference",
         "uri-reference",
         {"", "a/b:c", "//h", "?q", "#f", "/", "../x", "a:b"},
         {"1:a", "\\", "a b", "%"}},
        {"Iri",
         "iri",
         {"a:\xC3\xA4", "a://\xC3\xA4/?\xEE\x80\x80"},
         {"a:\xEE\x80\x80", "\xC3\xA4"}},
        {"IriReference", "iri-reference", {"\xC3\xA4", ""}, {"\xC3\xA4 ", "<"}},
        {"UriTemplate",
         "uri-template",
         {"", "/{a}/{?b,c*,d:12}", "{+a.b}", "{%41}"},
         {"{", "}", "{}", "{a b}", "{=a}", "{a:0}", "{.}", " "}},
        {"JsonPointer", "json-pointer", {"", "/", "/a~0~1/"}, {"a", "/~", "/~2"}},
        {"Regex",
         "regex",
         {"", "a|b|", "(?:a+?|[^])*$", "^[a-z-]{2,10}", "[-a]", "[+-9]", "[\\w-]", "[]", "a{2}",
          "\\.\\-\\/", "[\\u0000-\\u001F]", "[\\x00-\\x7f]", "(?<=a+)b", "\\cA",
          "((((((((a))))))))", "x{99,100}", "[\xC3\x80-\xE2\x82\xAC]"},
         {"(",        ")",        "a**",  "*",   "[z-a]", "x{2,1}",
          "x{20,19}", "[\\w-a]",  "\\a",  "\\",  "(?i)a", "(?P<n>a)",
          "\\1",      "a{",       "]",    "^*",  "[",     "[\\x10-\\x0f]",
          "[^-b-a]",  "[a-\x1f]", "(?=a", "\\c1"}},
        {"RegexGroups",
         "regex",
         {"(?<name>x)", "(?<n>a)\\k<n>", "(a)|(?<n_1>b)(c)", "(?<a>.)(\\w)\\k<a>+"},
         {"(?<n>a)(?<n>b)", "\\k<n>", "(?<n>a)\\k<m>", "(?<1>a)", "(?<n>"}},
        {"RelativeJsonPointer",
         "relative-json-pointer",
         {"0", "10#", "1/a"},
         {"", "01", "1#/a", "-1", "1a", "0+1"}},
        {"Uuid",
         "uuid",
         {"2EB8AA08-aa98-11ea-b4aa-73b441d16380"},
         {"2eb8aa08aa9811eab4aa73b441d16380", "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}"}},
    }),
    [](const auto& test) { return std::string(test.param.name); });

GrammarOptions Use(Formats formats) {
  GrammarOptions options;
  options.formats = formats;
  return options;
}

class FormatsBesideOthersTest : public testing::TestWithParam<TextsCase> {};

TEST_P(FormatsBesideOthersTest, TakesExactlyThese) { ExpectTexts(GetParam()); }

constexpr const char* k2020Date =
    R"({"$schema":"https://json-schema.org/draft/2020-12/schema","format":"date"})";
constexpr const char* k7Date =
    R"({"$schema":"http://json-schema.org/draft-07/schema#","format":"date"})";

INSTANTIATE_TEST_SUITE_P(
    Cases, FormatsBesideOthersTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"OtherTypesPass", R"({"format":"date"})", {"1", "null", "{}"}, {R"("")"}},
        {"EscapesAreCharacters",
         R"({"format":"ipv4"})",
         {R"("1\u002e2.3.\u0034")"},
         {R"("1\\u002e2.3.4")"}},
        {"WithPattern",
         R"({"format":"date","pattern":"^2024-"})",
         {R"("2024-02-29")"},
         {R"("2023-01-01")", R"("2024-02-30")"}},
        {"WithLength",
         R"({"format":"hostname","minLength":3,"maxLength":4})",
         {R"("a.b")", R"("abcd")"},
         {R"("ab")", R"("a.bcd")", R"("ab.")"}},
        {"BehindALongCount",
         R"({"type":"string","format":"regex","minLength":20})",
         {R"("^[a-z]+(\\.[a-z]+){2,5}$")"},
         {R"("a+")", R"("((((((((((((((((((((")"}},
        {"FiltersEnum",
         R"({"enum":["2023-02-29","2024-02-29",7],"format":"date"})",
         {R"("2024-02-29")", "7"},
         {R"("2023-02-29")"}},
        {"Negated",
         R"({"type":"string","not":{"format":"ipv4"}})",
         {R"("1.2.3")", R"("")"},
         {R"("1.2.3.4")"}},
        {"NegatedWhereNotAllAreTaken",
         R"({"type":"string","not":{"format":"hostname"}})",
         {R"("a_b")"},
         {R"("a")", R"("xn--qmbc")"}},
        {"OneOf",
         R"({"oneOf":[{"format":"ipv4"},{"format":"ipv6"}],"type":"string"})",
         {R"("1.2.3.4")", R"("::")"},
         {R"("a")"}},
        {"UnknownNameIsAnAnnotation", R"({"format":"color"})", {R"("x")"}, {}},
        {"AnnotationIn2020", k2020Date, {R"("x")"}, {}},
        {"AssertedIn2020", k2020Date, {R"("2024-01-01")"}, {R"("x")"}, Use(Formats::kAsserted)},
        {"AssertedInDraft7", k7Date, {R"("2024-01-01")"}, {R"("x")"}},
        {"AnnotationInDraft7", k7Date, {R"("x")"}, {}, Use(Formats::kAnnotations)},
    }),
    TextsCaseName);

TEST(JsonSchemaFormatsTest, StringsThatAreNotDecidedAreRefused) {
  const auto read = ReadForTest("json_schema", R"({"enum":["a","xn--qmbc"],"format":"hostname"})");
  EXPECT_EQ(read.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ErrorPlace(read.status()), "/format");
}

}  // namespace
}  // namespace maskd
