// Which strings pattern, together with what stands beside it, leaves.
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "tests/frontend/texts_case.h"

namespace maskd {
namespace {

class JsonSchemaStringsTest : public testing::TestWithParam<TextsCase> {};

TEST_P(JsonSchemaStringsTest, TakesExactlyThese) { ExpectTexts(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Patterns, JsonSchemaStringsTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"Searches", R"({"type":"string","pattern":"b+"})", {R"("abc")", R"("b")"}, {R"("ac")"}},
        {"Anchored",
         R"({"type":"string","pattern":"^[a-z]{2}$"})",
         {R"("ab")", R"("\u0061b")"},
         {R"("abc")", R"("a")", R"("a\n")", R"("ab\n")"}},
        {"OtherTypesPass", R"({"pattern":"^a$"})", {"1", "null", R"("a")"}, {R"("b")"}},
        {"EscapesAreCharacters",
         R"({"type":"string","pattern":"^\\n\"$"})",
         {R"("\n\"")", R"("\u000a\u0022")"},
         {R"("n\"")", R"("\\n\"")"}},
        {"AstralIsOneCharacter",
         R"({"type":"string","pattern":"^.$"})",
         {"\"😀\"", R"("\ud83d\ude00")"},
         {"\"😀😀\"", R"("")"}},
        {"WithLengths",
         R"({"type":"string","pattern":"^(ab)*$","minLength":3,"maxLength":5})",
         {R"("abab")"},
         {R"("ab")", R"("ababab")", R"("aba")"}},
        {"SeveralByAllOf",
         R"({"type":"string","allOf":[{"pattern":"a"},{"pattern":"b"},{"pattern":"^.{2}$"}]})",
         {R"("ab")", R"("ba")"},
         {R"("aa")", R"("abc")"}},
        {"SamePatternTwice",
         R"({"type":"string","allOf":[{"pattern":"^a+$"},{"pattern":"^a+$"}]})",
         {R"("aa")"},
         {R"("ab")"}},
        {"BesideRef",
         R"({"$ref":"#/$defs/w","pattern":"x","$defs":{"w":{"type":"string","pattern":"^[a-z]+$"}}})",
         {R"("axb")"},
         {R"("ab")", R"("X x")"}},
        {"AnyOfPatterns",
         R"({"type":"string","anyOf":[{"pattern":"^a"},{"pattern":"z$"}]})",
         {R"("ab")", R"("yz")"},
         {R"("yy")"}},
        {"EmptyPattern", R"({"type":"string","pattern":""})", {R"("")", R"("a")"}, {"1"}},
        {"DeadBranchIsCut",
         R"({"anyOf":[{"type":"string","pattern":"$a"},{"type":"null"}]})",
         {"null"},
         {R"("a")"}},
    }),
    TextsCaseName);

INSTANTIATE_TEST_SUITE_P(
    KnownStrings, JsonSchemaStringsTest,
    testing::ValuesIn(std::vector<TextsCase>{
        {"EnumUnderPattern",
         R"({"enum":["apple","pear","fig",7],"pattern":"p"})",
         {R"("apple")", R"("pear")", "7"},
         {R"("fig")"}},
        {"ConstInMember",
         R"({"enum":[{"k":"ab"},{"k":"b"}],"properties":{"k":{"pattern":"^a"}}})",
         {R"({"k":"ab"})"},
         {R"({"k":"b"})"}},
        {"EnumUnderPatterns",
         R"({"enum":["ab","a","b"],"allOf":[{"pattern":"a"},{"pattern":"b$"}]})",
         {R"("ab")"},
         {R"("a")", R"("b")"}},
    }),
    TextsCaseName);

}  // namespace
}  // namespace maskd
