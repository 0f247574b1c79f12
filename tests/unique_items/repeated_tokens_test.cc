// The tokens that a row may not take, against taking every token of the mask by itself.
#include "grammar_core/unique_items/repeated_tokens.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/unique_items/row_step.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

const std::vector<std::string> kWords = {"ab",
                                         "a\"",
                                         "b\"",
                                         "\"a",
                                         "\"ab\"",
                                         "\",\"",
                                         "a\",\"",
                                         "a\",\"b",
                                         "b\",\"a",
                                         "b\",\"b",
                                         "a\",\"a\",",
                                         "\",\"a\",\"",
                                         "\"]",
                                         ",\"a\"",
                                         "[\"a\"",
                                         "[\"a\",\"a\"",
                                         "1,1",
                                         "1,2",
                                         "2,",
                                         "12,1",
                                         "\\u0061",
                                         "\",\"\\u0061\"",
                                         std::string(280, 'a')};

struct Row {
  const char* name;
  const char* items;
  std::vector<const char*> texts;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

// kNothingTerm where a byte is refused.
RowMemory::State Behind(RowMemory* row, RowMemory::State state, absl::string_view bytes,
                        SmallGrammar* grammar) {
  for (const char byte : bytes)
    if (state != kNothingTerm)
      state = TakeByte(row, state, static_cast<unsigned char>(byte), grammar->work());
  return state;
}

class RepeatedTokensTest : public testing::TestWithParam<Row> {};

TEST_P(RepeatedTokensTest, AreThoseThatNoStepTakes) {
  SmallGrammar grammar(
      "json_schema",
      std::string(R"({"type":"array","uniqueItems":true,"items":)") + GetParam().items + "}",
      kWords);
  RowMemory row(&grammar.automaton());
  const Vocabulary& vocabulary = grammar.index().vocabulary();
  std::size_t repeated = 0;
  for (const char* text : GetParam().texts) {
    const RowMemory::State state =
        Behind(&row, RowMemory::Of(grammar.automaton().start()), text, &grammar);
    ASSERT_NE(state, kNothingTerm) << text;
    const MaskRef mask = grammar.automaton().TextMask(row.Shared(state), grammar.work());
    std::set<std::string> expected;
    mask->VisitAllowed([&](TokenId id) {
      // States are made for one token alone, as in the search.
      const RowMemory::Scratch scratch(&row);
      const absl::string_view bytes = vocabulary.TokenBytes(id);
      if (Behind(&row, state, bytes, &grammar) == kNothingTerm) expected.emplace(bytes);
    });
    std::set<std::string> found;
    for (const TokenId id : FindRepeated(*grammar.automaton().tables().item_tokens, &row, state,
                                         *mask, grammar.work()))
      found.emplace(vocabulary.TokenBytes(id));
    ASSERT_TRUE(grammar.work().ok());
    EXPECT_EQ(found, expected) << text;
    repeated += found.size();
  }
  EXPECT_GT(repeated, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Items, RepeatedTokensTest,
    testing::ValuesIn(std::vector<Row>{
        {"Strings",
         R"({"type":"string"})",
         {"", "[", "[\"", "[\"a\",", "[\"a\",\"", "[\"a\",\"b", "[\"b\",\"a", "[\"ab\",\"a",
          "[\"a\",\"b\"", "[\"aa\",\"\\u0061"}},
        {"Numbers", R"({"type":"integer"})", {"[", "[1", "[2,1", "[12,1", "[1,12"}},
        {"Few",
         R"({"type":"string","pattern":"^[ab]{1,2}$"})",
         {"[\"", "[\"a\",\"", "[\"b\",\"a", "[\"a\",\"b\","}},
        {"Arrays",
         R"({"type":"array","items":{"type":"string"},"maxItems":1})",
         {"[", "[[\"a\"],[", "[[\"a\"],[\"", "[[],[\"a\"],["}},
        {"Either",
         R"({"anyOf":[{"type":"string","maxLength":2},{"type":"array","uniqueItems":true,)"
         R"("items":{"type":"string"}}]})",
         {"[", "[\"a\",", "[\"a\",[\"a\",\"", "[[\"a\"],[\"a"}},
    }),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace maskd
