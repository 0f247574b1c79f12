// Of a grammar of rules: which parts of its text speak behind a text, and how far each goes.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "reasons/notation_span.h"
#include "reasons/source_reason.h"

namespace maskd::reasons {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char kOrder[] =
    "root ::= item (\", \" item)*\n"
    "item ::= [0-9]+ \" \" (\"tea\" | \"cake\")\n";

std::string TextAt(const std::string& source, std::size_t at) {
  return NotationText(source, SpanOfNotation(source, at));
}

TEST(NotationSpanTest, APartGoesToItsEnd) {
  EXPECT_EQ(TextAt(R"(root ::= "a\"b" c)", 9), R"("a\"b")");
  EXPECT_EQ(TextAt(R"(root ::= [^\]"] c)", 9), R"([^\]"])");
  EXPECT_EQ(TextAt("start: /a\\/b/i", 7), "/a\\/b/");
  EXPECT_EQ(TextAt("root ::= <[7]>", 9), "<[7]>");
  EXPECT_EQ(TextAt("root ::= item-2 x", 9), "item-2");
  EXPECT_EQ(TextAt("root ::= . x", 9), ".");
}

TEST(NotationSpanTest, APartWithoutAnEndIsOneByte) {
  EXPECT_EQ(TextAt("root ::= \"a\nb\"", 9), "\"");
  EXPECT_EQ(TextAt("root ::= \"", 9), "\"");
}

TEST(NotationSpanTest, ALongPartIsCutBetweenCharacters) {
  const std::string source = "\"" + std::string(kMostNotation - 2, 'a') + "\xC3\xA9\"";
  EXPECT_EQ(TextAt(source, 0), "\"" + std::string(kMostNotation - 2, 'a') + "...");
}

TEST(NotationSpanTest, LinesAndColumnsCountFromOne) {
  const SourceSpan span = SpanOfNotation(kOrder, std::string(kOrder).find("[0-9]"));
  EXPECT_EQ(span.line, 2);
  EXPECT_EQ(span.column, 10);
  EXPECT_EQ(span.end - span.begin, 5U);
}

std::vector<std::string> SaidBehind(const Source& source, const std::string& taken) {
  std::vector<std::string> said;
  for (const PlacedRule& rule : source.ReasonBehind(taken).rules)
    said.push_back(rule.place + ": " + rule.says);
  return said;
}

TEST(NotationReasonTest, NamesTheRuleAndItsPart) {
  for (const char* const kind : {"gbnf", "ebnf"}) {
    const Source source(kind, kOrder);
    EXPECT_EQ(source.ReasonBehind("12 ").where, "in the rule item");
    EXPECT_THAT(SaidBehind(source, "12 "), ElementsAre("item: \"tea\"", "item: \"cake\""));
    EXPECT_EQ(source.ReasonBehind("12 tea").rules[0].span.line, 1);
  }
}

TEST(NotationReasonTest, OfLarkTheTerminalsAndWhatIsIgnored) {
  const Source source("lark", "start: \"a\" NUMBER\nNUMBER: /[0-9]+/\n%ignore \" \"\n");
  EXPECT_EQ(source.ReasonBehind("a").where, "in the rule NUMBER");
  EXPECT_THAT(SaidBehind(source, "a"), ElementsAre("NUMBER: /[0-9]+/", "%ignore: \" \""));
}

TEST(NotationReasonTest, NothingIsSaidOfKindsWithoutASourceAndOfTextsThatTheGrammarDoesNotHave) {
  EXPECT_THAT(SaidBehind(Source("json_object", ""), ""), IsEmpty());
  EXPECT_THAT(SaidBehind(Source("gbnf", "root ::= ("), ""), IsEmpty());
  EXPECT_THAT(SaidBehind(Source("gbnf", kOrder), "x"), IsEmpty());
}

}  // namespace
}  // namespace maskd::reasons
