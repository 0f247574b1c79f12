// Literals of both forms, held against the schema's validator by a writer of a few lines.
#include "grammar_core/frontend/structural_tag/argument_style.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/structural_tag/style_schemas.h"

namespace maskd {
namespace {

// How a value is spelled; a writer of calls picks one way of each.
struct Spell {
  const char* name;
  const char* style;  // as JSON
  char quote;         // of Python's strings and names within
  bool has_json_words;
};

std::string Word(const JsonValue& value, bool as_json) {
  if (as_json) return value.Compact();
  if (value.is_bool()) return value.type() == JsonType::kTrue ? "True" : "False";
  return "None";
}

std::string Literal(const JsonValue& value, const Spell& spell, const std::string& quote) {
  const std::string mark = quote.empty() ? std::string(1, spell.quote) : quote;
  if (value.is_number()) return value.Compact();
  if (value.is_string()) return absl::StrCat(mark, value.text(), mark);
  if (!value.is_array() && !value.is_object()) return Word(value, spell.has_json_words);
  std::string all;
  for (const JsonValue child : value.children()) {
    if (!all.empty()) absl::StrAppend(&all, ",");
    const std::string name_mark = quote.empty() ? mark : "";
    if (value.is_object()) absl::StrAppend(&all, name_mark, child.key(), name_mark, ":");
    absl::StrAppend(&all, Literal(child, spell, quote));
  }
  return value.is_array() ? absl::StrCat("[", all, "]") : absl::StrCat("{", all, "}");
}

struct LiteralsCase {
  std::string name;
  Spell spell;
  StyleSchema schema;
};

std::vector<LiteralsCase> LiteralsCases() {
  std::vector<LiteralsCase> cases;
  for (const Spell& spell :
       {Spell{"Double", R"("python")", '"', false}, Spell{"Single", R"("python")", '\'', true},
        Spell{"Quote", R"({"quote":"<q>"})", ' ', true}, Spell{"Gemma", R"("gemma")", ' ', true}})
    for (const StyleSchema& schema : StyleSchemas())
      cases.push_back({absl::StrCat(spell.name, "_", schema.name), spell, schema});
  return cases;
}

class LiteralsTest : public testing::TestWithParam<LiteralsCase> {
 protected:
  void Expect(const std::vector<std::string>& excludes, PropertyOrder order) const {
    const auto style =
        *ReadWrittenStyle(JsonDocument::Parse(GetParam().spell.style, Limits())->root());
    const ArgumentStyle& literals = *style->literals();
    const auto write = [&](const JsonValue& object) -> std::optional<std::string> {
      const std::string text = Literal(*object.Nth(0), GetParam().spell, literals.quote);
      // Some strings of the list are JSON with quotes in them, which would have to be escaped.
      if (object.Nth(0)->is_string() && absl::StrContains(object.Nth(0)->text(), '"'))
        return std::nullopt;
      const std::string members = absl::StrCat("v", std::string(1, literals.name_end), text);
      return literals.has_outer_braces ? absl::StrCat("{", members, "}") : members;
    };
    ExpectWrites({style, excludes, order}, GetParam().schema, write);
  }
};

TEST_P(LiteralsTest, AreTheValuesOfTheSchema) {
  Expect({}, PropertyOrder::kDeclared);
  Expect({}, PropertyOrder::kAny);
}

TEST_P(LiteralsTest, HoldNoExcludedText) {
  for (const char* excluded : {"a", "l", "1", "b", "v"})
    Expect({excluded}, PropertyOrder::kDeclared);
}

INSTANTIATE_TEST_SUITE_P(Styles, LiteralsTest, testing::ValuesIn(LiteralsCases()),
                         [](const auto& test) { return test.param.name; });

TEST(ArgumentStyle, IsFoundByName) {
  ASSERT_NE(FindArgumentStyle("python"), nullptr);
  EXPECT_TRUE(FindArgumentStyle("python")->is_python());
  EXPECT_EQ(FindArgumentStyle("python")->name_end, '=');
  EXPECT_EQ(FindArgumentStyle("json"), nullptr);
  EXPECT_EQ(FindArgumentStyle("qwen_xml"), nullptr);
}

// As xgrammar 0.2.9 takes them, whose style it is.
TEST(ArgumentStyle, AFreeObjectHasBracesAndWhiteSpaceAround) {
  TagParts parts;
  const JsonValue schema = parts.Value(R"({"type": "object", "required": ["a-b"],
      "properties": {"a-b": {"type": "integer"}, "s": {"enum": ["x", null]}}})");
  const auto written = parts.embedded.Schema(schema, InStyle(FindWrittenStyle("gemma")));
  ASSERT_TRUE(written.ok()) << written.status();
  const GrammarIr ir = parts.GrammarOf(*written);
  const auto has = [&](const std::string& text) { return IrRecognizer(ir).Accepts(text); };
  for (const char* text :
       {"{a-b:1}", "{ a-b : 1 }", "{a-b:1,s:<|\"|>x<|\"|>}", "{a-b:1 ,\n s: null}"})
    EXPECT_TRUE(has(text)) << text;
  for (const char* text :
       {"a-b:1", "{}", "{a-b:1,}", "{\"a-b\":1}", "{a-b:1,s:x}", "{a-b:1,s:None}"})
    EXPECT_FALSE(has(text)) << text;
  // Names that no schema declares are words.
  EXPECT_TRUE(has("{a-b:1,_1:{x:2}}"));
  for (const char* text : {"{a-b:1,c-d:2}", "{a-b:1,1c:2}", "{a-b:1,<|\"|>c<|\"|>:2}"})
    EXPECT_FALSE(has(text)) << text;
}

TEST(ArgumentStyle, IsSaidByItsQuote) {
  const auto document = *JsonDocument::Parse(R"({"quote":"<|\"|>"})", Limits());
  const absl::StatusOr<ArgumentStyle> style = ReadArgumentStyle(document.root());
  ASSERT_TRUE(style.ok()) << style.status();
  EXPECT_EQ(style->quote, "<|\"|>");
  EXPECT_FALSE(style->is_python());
  EXPECT_EQ(style->name_end, ':');
  EXPECT_TRUE(style->has_python_words);
  EXPECT_EQ(style->other_names, ArgumentStyle::Names::kPlain);
  const auto narrow =
      *JsonDocument::Parse(R"({"quote":"q","words":"json","names":"word"})", Limits());
  const absl::StatusOr<ArgumentStyle> both = ReadArgumentStyle(narrow.root());
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_FALSE(both->has_python_words);
  EXPECT_EQ(both->names, ArgumentStyle::Names::kWord);
  EXPECT_EQ(both->other_names, ArgumentStyle::Names::kWord);
}

TEST(ArgumentStyle, IsRefusedAtItsMember) {
  const auto place = [](absl::string_view json) {
    const auto document = *JsonDocument::Parse(json, Limits());
    return ErrorPlace(ReadArgumentStyle(document.root()).status());
  };
  EXPECT_EQ(place(R"({"quote":""})"), "/quote");
  EXPECT_EQ(place(R"({"quote":1})"), "/quote");
  EXPECT_EQ(place(R"({"quote":"q","pad":" "})"), "/pad");
  EXPECT_EQ(place(R"({})"), "/quote");
  EXPECT_EQ(place(R"({"quote":"q","words":"python"})"), "/words");
  EXPECT_EQ(place(R"({"quote":"q","names":1})"), "/names");
}

}  // namespace
}  // namespace maskd
