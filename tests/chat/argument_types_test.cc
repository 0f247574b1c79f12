#include "grammar_core/frontend/chat/argument_types.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace maskd {
namespace {

using Within = ArgumentTypes::Within;

absl::StatusOr<ArgumentTypes> ReadTypes(absl::string_view schema,
                                        JsonSpelling spelling = JsonSpelling::kCanonical,
                                        Within within = Within::kJson) {
  Budget budget = Budget::Unlimited();
  GrammarSource source = {"chat", "{}"};
  source.options.spelling = spelling;
  return ArgumentTypes::Read(std::string(schema), within, source, Limits(), budget);
}

const ArgumentType& TypeOf(const ArgumentTypes& types, absl::string_view name) {
  return types.At(types.MemberOf(ArgumentTypes::kRoot, name));
}

// Of the argument `v` with this schema.
ArgumentType TypeOfV(absl::string_view schema) {
  const auto types = ReadTypes(absl::StrCat(R"({"type":"object","properties":{"v":)", schema,
                                            R"(},"additionalProperties":false})"));
  EXPECT_TRUE(types.ok()) << types.status();
  return types.ok() ? TypeOf(*types, "v") : ArgumentType();
}

struct TypeCase {
  const char* name;
  const char* schema;
  const char* json;  // letters: number, boolean, null (0), array, object
  bool text;
  bool endless = false;
  bool fractions = false;
  std::vector<std::string> listed = {};
};

class ArgumentTypeTest : public testing::TestWithParam<TypeCase> {};

TEST_P(ArgumentTypeTest, IsThatOfItsValues) {
  const ArgumentType type = TypeOfV(GetParam().schema);
  std::string json;
  for (const auto& [letter, value] : {std::pair{'s', ValueType::kString},
                                      {'n', ValueType::kNumber},
                                      {'b', ValueType::kBoolean},
                                      {'0', ValueType::kNull},
                                      {'a', ValueType::kArray},
                                      {'o', ValueType::kObject}})
    if (type.json.test(static_cast<std::size_t>(value))) json.push_back(letter);
  EXPECT_EQ(json, GetParam().json);
  EXPECT_EQ(type.text, GetParam().text);
  EXPECT_EQ(type.endless, GetParam().endless);
  EXPECT_EQ(type.fractions, GetParam().fractions);
  EXPECT_EQ(type.listed.size(), GetParam().listed.size());
  for (const std::string& text : GetParam().listed) EXPECT_TRUE(type.listed.contains(text)) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, ArgumentTypeTest,
    testing::ValuesIn(std::vector<TypeCase>{
        {"Any", "true", "nb0ao", true, true, true},
        {"None", "false", "", false},
        {"Text", R"({"type":"string"})", "", true, true},
        {"LongText", R"({"type":"string","minLength":2})", "", true, true},
        {"ShortText", R"({"type":"string","maxLength":2})", "", true, false},
        {"ListedTexts", R"({"enum":["a","b"]})", "", true, false, false, {"a", "b"}},
        {"ListedAndEmpty", R"({"enum":["a","","b"]})", "", true, false, false, {"a", "b", ""}},
        {"ListedWords", R"({"enum":["yes","no"]})", "", true, false, false, {"yes", "no"}},
        {"OneText", R"({"const":"a"})", "", true, false, false, {"a"}},
        {"EmptyText", R"({"const":""})", "", true, false, false, {""}},
        {"Integer", R"({"type":"integer"})", "n", false},
        {"BoundedInteger", R"({"type":"integer","minimum":1,"maximum":300})", "n", false},
        {"Number", R"({"type":"number"})", "n", false, false, true},
        {"BoundedNumber", R"({"type":"number","minimum":1})", "n", false, false, true},
        {"ListedIntegers", R"({"enum":[1,20,-3]})", "n", false},
        {"ListedNumbers", R"({"enum":[1,1.5]})", "n", false, false, true},
        {"OneInteger", R"({"const":7})", "n", false},
        {"OneNumber", R"({"const":0.5})", "n", false, false, true},
        {"Words", R"({"enum":[true,null]})", "b0", false},
        {"MixedList",
         R"({"enum":["a",1,true,null,[1],{"a":1}]})",
         "nb0ao",
         true,
         false,
         false,
         {"a"}},
        {"TextOrInteger", R"({"type":["string","integer"]})", "n", true, true},
        {"TextOrListedInteger", R"({"anyOf":[{"type":"string"},{"enum":[1,2]}]})", "n", true, true},
        {"TwoTexts",
         R"({"anyOf":[{"const":"a"},{"type":"string","pattern":"^x{3}$"}]})",
         "",
         true,
         false,
         false,
         {"a"}},
        {"Ref", R"({"$ref":"#/properties/v/not/not","not":{"not":{"type":["null","array"]}}})",
         "0a", false},
        {"AllOf", R"({"allOf":[{"type":["string","object"]},{"not":{"type":"object"}}]})", "", true,
         true},
        {"Nullable", R"({"anyOf":[{"type":"object"},{"type":"null"}]})", "0o", false},
        {"NotText", R"({"not":{"type":"string"}})", "nb0ao", false, false, true},
    }),
    [](const auto& test) { return test.param.name; });

struct JsonCase {
  const char* name;
  const char* schema;
  std::vector<std::string> json;
  std::vector<std::string> no_json;
};

class IsJsonTest : public testing::TestWithParam<JsonCase> {};

TEST_P(IsJsonTest, TellsValuesFromTexts) {
  const ArgumentType type = TypeOfV(GetParam().schema);
  for (const std::string& text : GetParam().json) EXPECT_TRUE(type.IsJson(text)) << text;
  for (const std::string& text : GetParam().no_json) EXPECT_FALSE(type.IsJson(text)) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Texts, IsJsonTest,
    testing::ValuesIn(std::vector<JsonCase>{
        {"TextOrInteger",
         R"({"type":["string","integer"]})",
         {"1", " -2\n", "0"},
         {"1.0", "1e2", "true", "\"1\"", "01", "", " ", "[1]", "1 2"}},
        {"TextOrNumber", R"({"type":["string","number"]})", {"1", "1.5", "1e2"}, {"null", "1."}},
        {"TextOrListedIntegers",
         R"({"anyOf":[{"type":"string"},{"enum":[1,2]}]})",
         {"1", "2"},
         {"1.5", "1e0", "true"}},
        {"TextOrListedNumbers",
         R"({"anyOf":[{"type":"string"},{"enum":[1,2.5]}]})",
         {"1", "2.5"},
         {"null"}},
        {"TextOrBoolean", R"({"type":["string","boolean"]})", {"true", " false"}, {"True", "1"}},
        {"TextOrNull", R"({"type":["string","null"]})", {"null"}, {"None", "nul", "\"null\""}},
        {"TextOrArray", R"({"type":["string","array"]})", {"[]", "[1, {}]"}, {"[", "{}", "[1,]"}},
        {"TextOrObject", R"({"type":["string","object"]})", {"{}", "{\"a\": 1}"}, {"{a: 1}", "[]"}},
        {"Text", R"({"type":"string"})", {}, {"1", "null", "{}", "\"a\""}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(ArgumentTypes, OneThatIsNotNamedHasTheTypeOfAllOthers) {
  const auto types = ReadTypes(R"({"type":"object","properties":{"a":{"type":"null"}},
    "patternProperties":{"^n":{"type":"integer"}},"additionalProperties":{"type":"boolean"}})");
  ASSERT_TRUE(types.ok()) << types.status();
  EXPECT_TRUE(TypeOf(*types, "a").IsJson("null"));
  EXPECT_FALSE(TypeOf(*types, "a").IsJson("true"));
  for (const char* name : {"n", "b", ""}) {
    EXPECT_TRUE(TypeOf(*types, name).IsJson("true")) << name;
    EXPECT_TRUE(TypeOf(*types, name).IsJson("1")) << name;
    EXPECT_FALSE(TypeOf(*types, name).IsJson("null")) << name;
  }
}

TEST(ArgumentTypes, AreTheUnionOverAllObjects) {
  const auto types = ReadTypes(R"({"anyOf":[
    {"type":"object","properties":{"a":{"type":"null"}},"required":["a"],
     "additionalProperties":false},
    {"type":"object","properties":{"a":{"type":"string"}},"required":["a"],
     "additionalProperties":false},
    {"type":"object","properties":{"b":{"const":1}},"required":["b"],
     "additionalProperties":{"type":"boolean"}}]})");
  ASSERT_TRUE(types.ok()) << types.status();
  EXPECT_TRUE(TypeOf(*types, "a").text);
  EXPECT_TRUE(TypeOf(*types, "a").IsJson("null"));
  EXPECT_TRUE(TypeOf(*types, "a").IsJson("true"));
  EXPECT_TRUE(TypeOf(*types, "b").IsJson("1"));
  EXPECT_FALSE(TypeOf(*types, "b").IsJson("null"));
}

TEST(ArgumentTypes, AnIntegerMayHaveAFractionWhereAnySpellingIsTaken) {
  constexpr absl::string_view kInteger = R"({"properties":{"v":{"type":"integer"}}})";
  EXPECT_TRUE(TypeOf(*ReadTypes(kInteger, JsonSpelling::kAny), "v").IsJson("1.0"));
  EXPECT_FALSE(TypeOf(*ReadTypes(kInteger), "v").IsJson("1.0"));
}

TEST(ArgumentTypes, OfNoObjectThereIsNone) {
  const auto types = ReadTypes(R"({"type":"string"})");
  ASSERT_TRUE(types.ok()) << types.status();
  EXPECT_FALSE(TypeOf(*types, "a").text);
  EXPECT_TRUE(TypeOf(*types, "a").json.none());
}

TEST(ArgumentTypes, ErrorsAreThoseOfTheSchema) {
  EXPECT_EQ(ReadTypes(R"({"type":"strin"})").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(ReadTypes("{").ok());
}

TEST(ArgumentTypes, OfANameThatNotAllObjectsDeclareTheOthersCountToo) {
  const auto types = ReadTypes(R"({"anyOf":[
    {"type":"object","properties":{"a":{"enum":["b",1.5]},"k":{"const":1}},"required":["k"]},
    {"type":"object","properties":{"k":{"const":2}},"required":["k"],
     "additionalProperties":{"type":["boolean","null"]}}]})");
  ASSERT_TRUE(types.ok()) << types.status();
  const ArgumentType& a = TypeOf(*types, "a");
  EXPECT_TRUE(a.text);
  EXPECT_FALSE(a.endless);
  EXPECT_TRUE(a.listed.contains("b"));
  for (const char* text : {"1.5", "null", "true"}) EXPECT_TRUE(a.IsJson(text)) << text;
  for (const char* text : {"{}", "[]"}) EXPECT_FALSE(a.IsJson(text)) << text;
}

TEST(ArgumentTypes, WhatIsWithinHasTypesWhereItIsElements) {
  constexpr absl::string_view kSchema = R"({"type":"object","properties":{
    "list":{"type":"array","prefixItems":[{"type":"boolean"}],"items":{"type":["integer","null"]}},
    "either":{"anyOf":[{"type":"array","items":{"type":"string"}},
                       {"type":"object","properties":{"x":{"type":"null"}},
                        "additionalProperties":false}]}}})";
  const auto types = ReadTypes(kSchema, JsonSpelling::kCanonical, Within::kElements);
  ASSERT_TRUE(types.ok()) << types.status();
  const ArgumentType& items = types->At(TypeOf(*types, "list").items);
  for (const char* text : {"true", "7", "null"}) EXPECT_TRUE(items.IsJson(text)) << text;
  EXPECT_FALSE(items.text);
  const ArgumentTypes::Number either = types->MemberOf(ArgumentTypes::kRoot, "either");
  EXPECT_TRUE(types->At(types->At(either).items).endless);
  EXPECT_TRUE(types->At(types->MemberOf(either, "x")).IsJson("null"));
  EXPECT_EQ(types->MemberOf(either, "y"), ArgumentType::kNothing);
  const auto as_json = ReadTypes(kSchema);
  ASSERT_TRUE(as_json.ok()) << as_json.status();
  EXPECT_EQ(TypeOf(*as_json, "list").items, ArgumentType::kNothing);
  EXPECT_TRUE(TypeOf(*as_json, "either").members.empty());
}

TEST(ArgumentTypes, ASchemaWithinItselfIsATypeWithinItself) {
  const auto types = ReadTypes(R"({"type":"object","properties":{"v":{"$ref":"#/$defs/t"}},
    "$defs":{"t":{"type":"object","additionalProperties":false,"properties":{
      "name":{"type":"string"},"under":{"type":"array","items":{"$ref":"#/$defs/t"}}}}}})",
                               JsonSpelling::kCanonical, Within::kElements);
  ASSERT_TRUE(types.ok()) << types.status();
  const ArgumentTypes::Number tree = types->MemberOf(ArgumentTypes::kRoot, "v");
  EXPECT_EQ(types->At(types->MemberOf(tree, "under")).items, tree);
}

TEST(ArgumentTypes, TypesOfManyObjectsTakeTheBudget) {
  std::string ways;
  for (int i = 0; i < 400; ++i)
    absl::StrAppend(&ways, i == 0 ? "" : ",", R"({"type":"object","properties":{"k":{"const":)", i,
                    R"(},"m)", i, R"(":{}},"required":["k"]})");
  Budget budget({.work = 50'000});
  const auto types =
      ArgumentTypes::Read(absl::StrCat(R"({"anyOf":[)", ways, "]}"), Within::kElements,
                          GrammarSource{"chat", "{}"}, Limits(), budget);
  EXPECT_EQ(types.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST(WithoutSpace, LeavesOutWhiteSpaceOfJson) {
  EXPECT_EQ(WithoutSpace(" \t\r\na b\n "), "a b");
  EXPECT_EQ(WithoutSpace("\n \t"), "");
  EXPECT_EQ(WithoutSpace(""), "");
  EXPECT_EQ(WithoutSpace("\v\xc2\xa0"), "\v\xc2\xa0");
}

}  // namespace
}  // namespace maskd
