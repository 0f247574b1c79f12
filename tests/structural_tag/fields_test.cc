#include "grammar_core/frontend/structural_tag/fields.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

JsonDocument Parse(absl::string_view json) { return *JsonDocument::Parse(json, Limits()); }

// {"o": {...}}, so that places have more than one step.
class FieldsTest : public testing::Test {
 protected:
  JsonDocument document_ = Parse(R"({"o":{"text":"x","empty":"","list":[1],"none":[],"null":null,
    "yes":true,"no":false,"zero":0,"most":4294967294,"over":4294967295,"far":1e30,"half":1.5,
    "minus":-1,"whole":2.0,"texts":["a","b"],"with_empty":["a",""],"mixed":["a",1],
    "tokens":["<a>",3,"<b>",3]}})");
  JsonValue object_ = *document_.root().Find("o");
};

std::string PlaceOf(const absl::Status& status) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return ErrorPlace(status);
}

TEST_F(FieldsTest, AnErrorStandsAtAMemberThatMayBeMissing) {
  EXPECT_EQ(PlaceOf(InvalidMember(object_, "text", "is odd")), "/o/text");
  EXPECT_EQ(PlaceOf(InvalidMember(object_, "nowhere", "is odd")), "/o/nowhere");
}

TEST_F(FieldsTest, KeysAreKnownOrListed) {
  const JsonDocument two = Parse(R"({"a":1,"b~/":2})");
  EXPECT_TRUE(CheckKeys(two.root(), {"a", "b~/", "c"}).ok());
  const absl::Status unknown = CheckKeys(two.root(), {"a", "c"});
  EXPECT_EQ(PlaceOf(unknown), "/b~0~1");
  EXPECT_NE(unknown.message().find("known are a, c"), absl::string_view::npos);
  EXPECT_EQ(PlaceOf(CheckKeys(*object_.Find("list"), {"a"})), "/o/list");
  EXPECT_EQ(PlaceOf(CheckKeys(*object_.Find("text"), {"a"})), "/o/text");
}

TEST_F(FieldsTest, RequiredMembersHaveTheirType) {
  EXPECT_EQ(RequiredMember(object_, "null")->type(), JsonType::kNull);
  EXPECT_EQ(PlaceOf(RequiredMember(object_, "nowhere").status()), "/o/nowhere");
  EXPECT_EQ(*RequiredText(object_, "text"), "x");
  EXPECT_EQ(*RequiredText(object_, "empty"), "");
  EXPECT_EQ(PlaceOf(RequiredText(object_, "zero").status()), "/o/zero");
  EXPECT_EQ(PlaceOf(RequiredText(object_, "nowhere").status()), "/o/nowhere");
  EXPECT_EQ(RequiredList(object_, "list")->size(), 1U);
  EXPECT_EQ(PlaceOf(RequiredList(object_, "none").status()), "/o/none");
  EXPECT_EQ(PlaceOf(RequiredList(object_, "text").status()), "/o/text");
  EXPECT_EQ(PlaceOf(RequiredList(object_, "nowhere").status()), "/o/nowhere");
}

TEST_F(FieldsTest, AFlagIsFalseWhereThereIsNone) {
  EXPECT_TRUE(*FlagOf(object_, "yes"));
  EXPECT_FALSE(*FlagOf(object_, "no"));
  EXPECT_FALSE(*FlagOf(object_, "nowhere"));
  for (const char* key : {"null", "zero", "text"})
    EXPECT_EQ(PlaceOf(FlagOf(object_, key).status()), absl::StrCat("/o/", key));
}

TEST_F(FieldsTest, ACountIsWholeAndBounded) {
  EXPECT_EQ(*CountOf(object_, "zero"), 0U);
  EXPECT_EQ(*CountOf(object_, "whole"), 2U);
  EXPECT_EQ(*CountOf(object_, "most"), 4294967294U);
  EXPECT_EQ(*CountOf(object_, "null"), std::nullopt);
  EXPECT_EQ(*CountOf(object_, "nowhere"), std::nullopt);
  for (const char* key : {"over", "far", "half", "minus", "text", "yes", "list"})
    EXPECT_EQ(PlaceOf(CountOf(object_, key).status()), absl::StrCat("/o/", key));
}

TEST_F(FieldsTest, TextsAreNotEmpty) {
  EXPECT_EQ(*TextsOf(object_, "texts"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(TextsOf(object_, "none")->empty());
  EXPECT_TRUE(TextsOf(object_, "nowhere")->empty());
  EXPECT_EQ(PlaceOf(TextsOf(object_, "with_empty").status()), "/o/with_empty/1");
  EXPECT_EQ(PlaceOf(TextsOf(object_, "mixed").status()), "/o/mixed/1");
  EXPECT_EQ(PlaceOf(TextsOf(object_, "text").status()), "/o/text");
}

TEST_F(FieldsTest, ATokenIsAnIdOrAText) {
  const TokenSpec named = *ReadToken(*object_.Find("text"));
  EXPECT_EQ(named, (TokenSpec{.names = {"x"}, .place = "/o/text", .any_name = true}));
  const TokenSpec numbered = *ReadToken(*object_.Find("whole"));
  EXPECT_EQ(numbered, (TokenSpec{.ids = {{2, 2}}, .place = "/o/whole", .any_name = true}));
  for (const char* key : {"empty", "half", "minus", "yes", "null", "list"})
    EXPECT_EQ(PlaceOf(ReadToken(*object_.Find(key)).status()), absl::StrCat("/o/", key));
}

TEST_F(FieldsTest, ATokenFormatSaysItsType) {
  const JsonDocument good = Parse(R"({"type":"token","token":"<a>"})");
  EXPECT_EQ(ReadTokenFormat(good.root())->names, std::vector<std::string>{"<a>"});
  EXPECT_EQ(ReadTokenFormat(good.root())->place, "/token");
  EXPECT_EQ(PlaceOf(ReadTokenFormat(Parse(R"({"token":1})").root()).status()), "/type");
  EXPECT_EQ(PlaceOf(ReadTokenFormat(Parse(R"({"type":"tag"})").root()).status()), "/type");
  EXPECT_EQ(PlaceOf(ReadTokenFormat(Parse(R"({"type":"token"})").root()).status()), "/token");
  EXPECT_EQ(PlaceOf(ReadTokenFormat(Parse(R"({"type":"token","token":1,"x":1})").root()).status()),
            "/x");
}

TEST_F(FieldsTest, TokensAreTheUnionOfAList) {
  const TokenSpec all = *TokensOf(object_, "tokens");
  EXPECT_EQ(all.names, (std::vector<std::string>{"<a>", "<b>"}));
  ASSERT_EQ(all.ids.size(), 2U);
  EXPECT_EQ(all.ids[0], (std::pair<std::uint32_t, std::uint32_t>{3, 3}));
  EXPECT_EQ(all.place, "/o/tokens");
  EXPECT_FALSE(all.negated);
  EXPECT_TRUE(TokensOf(object_, "nowhere")->names.empty());
  EXPECT_EQ(PlaceOf(TokensOf(object_, "with_empty").status()), "/o/with_empty/1");
  EXPECT_EQ(PlaceOf(TokensOf(object_, "text").status()), "/o/text");
  TokenSpec sum = {.names = {"<z>"}};
  AddTokens(all, &sum);
  EXPECT_EQ(sum.names, (std::vector<std::string>{"<z>", "<a>", "<b>"}));
  EXPECT_EQ(sum.ids, all.ids);
}

}  // namespace
}  // namespace maskd
