// What of a grammar's text may come next behind a text of it.
//
// By hand where each part is named, and against the shared vectors. Other projects judged their
// texts: behind each beginning of a text that a grammar has, some part must be named.
#include "grammar_core/frontend/places/rule_places.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "grammar_core/frontend/places/place_network.h"
#include "tests/frontend/shared_vectors.h"

namespace maskd {
namespace {

using testing::ElementsAre;

// Each as "RULE: the source from there on, to the end of the line".
std::vector<std::string> PartsBehind(const std::string& kind, const std::string& source,
                                     const std::string& taken) {
  const auto network = ReadPlaces({.kind = kind, .text = source});
  if (network == nullptr) return {"no network"};
  const auto parts = network->Behind(taken);
  if (!parts.has_value()) return {"not known"};
  std::vector<std::string> shown;
  for (const NextPart& part : *parts)
    shown.push_back(part.rule + ": " +
                    source.substr(part.at, source.find('\n', part.at) - part.at));
  return shown;
}

struct PartsCase {
  std::string name;
  std::string kind;
  std::string source;
  std::string taken;
  std::vector<std::string> parts;
};

class RulePlacesTest : public testing::TestWithParam<PartsCase> {};

TEST_P(RulePlacesTest, NamesWhatMayComeNext) {
  EXPECT_THAT(PartsBehind(GetParam().kind, GetParam().source, GetParam().taken),
              testing::ElementsAreArray(GetParam().parts));
}

constexpr char kOrder[] =
    "root ::= \"order \" item (\", \" item)* \".\"\n"
    "item ::= [0-9]+ \" \" name\n"
    "name ::= \"tea\" | \"cake\"\n";

INSTANTIATE_TEST_SUITE_P(
    Texts, RulePlacesTest,
    testing::ValuesIn(std::vector<PartsCase>{
        {"Begin", "gbnf", kOrder, "", {"root: \"order \" item (\", \" item)* \".\""}},
        {"WithinALiteral", "gbnf", kOrder, "ord", {"root: \"order \" item (\", \" item)* \".\""}},
        {"Class", "gbnf", kOrder, "order ", {"item: [0-9]+ \" \" name"}},
        {"ClassOrLiteral",
         "ebnf",
         kOrder,
         "order 1",
         {"item: [0-9]+ \" \" name", "item: \" \" name"}},
        {"Choice", "gbnf", kOrder, "order 1 ", {"name: \"tea\" | \"cake\"", "name: \"cake\""}},
        {"BehindARule",
         "gbnf",
         kOrder,
         "order 1 tea",
         {"root: \", \" item)* \".\"", "root: \".\""}},
        {"End", "gbnf", kOrder, "order 1 tea.", {}},
        {"Refused", "gbnf", kOrder, "order x", {}},
        {"LeftRecursion", "gbnf", "root ::= root \"a\" | \"b\"\n", "baa", {"root: \"a\" | \"b\""}},
        {"EmptyRules",
         "gbnf",
         "root ::= e e \"x\"\ne ::= \"y\"?\n",
         "",
         {"root: \"x\"", "e: \"y\"?"}},
        {"CutCharacter",
         "gbnf",
         "root ::= \"\xC3\xA9\" \"x\"\n",
         "\xC3",
         {"root: \"\xC3\xA9\" \"x\""}},
        {"BeyondAscii", "gbnf", "root ::= \"\xC3\xA9\" \"x\"\n", "\xC3\xA9", {"root: \"x\""}},
        {"LarkTerminals",
         "lark",
         "start: WORD \",\" NUMBER\nWORD: /[a-z]+/\nNUMBER: /[0-9]+/\n",
         "ab",
         {"start: \",\" NUMBER", "WORD: /[a-z]+/"}},
        {"LarkIgnored",
         "lark",
         "start: \"a\" \"b\"\n%ignore \" \"\n",
         "a ",
         {"start: \"b\"", "%ignore: \" \""}},
        {"CountsAreFollowed", "gbnf", "root ::= \"a\"{2} \"b\"\n", "aa", {"root: \"b\""}},
        {"CountsInCounts",
         "gbnf",
         "root ::= (\"a\"{2} \"b\"){2} \"c\"\n",
         "aabaab",
         {"root: \"c\""}},
        {"OtherKind", "choice", R"(["a"])", "", {"no network"}},
        {"NoGrammar", "gbnf", "root ::= (", "", {"no network"}},
    }),
    [](const auto& test) { return test.param.name; });

TEST(RulePlacesTest, ATextThatTakesTooMuchHasNoAnswer) {
  const std::string text(PlaceNetwork::kMostItems, 'a');
  EXPECT_THAT(PartsBehind("gbnf", "root ::= root root | \"a\"\n", text), ElementsAre("not known"));
}

TEST(RulePlacesTest, SomePartIsNamedBehindEachBeginningOfATextThatTheGrammarHas) {
  const auto vectors = SharedLines("vectors/grammar-open.jsonl");
  if (vectors.empty()) GTEST_SKIP() << "SKIPPED: shared/vectors is not there (MASKD_SHARED_DIR)";
  int beginnings = 0;
  for (const auto& vector : vectors) {
    const auto network = ReadPlaces(
        {.kind = vector["kind"].get<std::string>(), .text = vector["grammar"].get<std::string>()});
    if (network == nullptr) continue;
    SCOPED_TRACE(vector["id"].get<std::string>());
    for (const auto& accepted : vector["accepts"]) {
      const auto text = accepted.get<std::string>();
      for (std::size_t size = 0; size < text.size(); ++size, ++beginnings) {
        const auto parts = network->Behind(text.substr(0, size));
        if (!parts.has_value()) break;
        EXPECT_FALSE(parts->empty()) << text.substr(0, size);
      }
    }
  }
  EXPECT_GT(beginnings, 500);
}

TEST(RulePlacesTest, ATextIsTakenIfTheGrammarHasIt) {
  const auto vectors = SharedLines("vectors/grammar-open.jsonl");
  if (vectors.empty()) GTEST_SKIP() << "SKIPPED: shared/vectors is not there (MASKD_SHARED_DIR)";
  int taken = 0;
  int refused = 0;
  for (const auto& vector : vectors) {
    const auto network = ReadPlaces(
        {.kind = vector["kind"].get<std::string>(), .text = vector["grammar"].get<std::string>()});
    if (network == nullptr) continue;
    SCOPED_TRACE(vector["id"].get<std::string>());
    for (const auto& text : vector["accepts"]) {
      EXPECT_TRUE(network->Takes(text.get<std::string>()).value_or(true)) << text;
      ++taken;
    }
    // A JSON value is any, whatever its schema.
    const auto kind = vector["kind"].get<std::string>();
    if (!network->exact() || (kind != "regex" && kind != "gbnf" && kind != "ebnf")) continue;
    for (const auto& text : vector["rejects"]) {
      EXPECT_FALSE(network->Takes(text.get<std::string>()).value_or(false)) << text;
      ++refused;
    }
  }
  EXPECT_GT(taken, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace maskd
