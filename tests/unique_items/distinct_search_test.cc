// Dead ends by hand: the ways are those of the row before any of them is dropped.
#include "grammar_core/unique_items/distinct_search.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/unique_items/row_step.h"
#include "tests/rooms/small_grammar.h"

namespace maskd {
namespace {

struct Row {
  const char* name;
  const char* items;  // their schema
  const char* text;
  bool can_end;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class DistinctSearchTest : public testing::TestWithParam<Row> {};

// Whether any way to read `text` can be ended.
bool CanEnd(const std::string& items, const std::string& text) {
  SmallGrammar grammar("json_schema",
                       R"({"type":"array","uniqueItems":true,"items":)" + items + "}");
  RowMemory row(&grammar.automaton());
  const auto lock = row.Lock();
  RowMemory::Ways ways = {{grammar.automaton().start(), {}}};
  for (const char byte : text) {
    RowMemory::Ways next;
    for (const RowMemory::Way& way : ways)
      row.StepWay(way, static_cast<unsigned char>(byte), &next, grammar.work());
    ways = next;
  }
  EXPECT_FALSE(ways.empty()) << text;
  return std::ranges::any_of(ways, [&](const RowMemory::Way& way) {
    return DistinctSearch(&row).CanEnd(way, grammar.work());
  });
}

TEST_P(DistinctSearchTest, Is) {
  EXPECT_EQ(CanEnd(GetParam().items, GetParam().text), GetParam().can_end);
}

// By a pattern: values that are listed need no search, the automaton has each of them once.
constexpr char kThree[] = R"({"type":"string","pattern":"^(aa|ab|b)$"})";

INSTANTIATE_TEST_SUITE_P(
    Ways, DistinctSearchTest,
    testing::ValuesIn(std::vector<Row>{
        {"OneIsLeft", kThree, "[\"aa\",\"a", true},
        {"NoneIsLeft", kThree, "[\"aa\",\"ab\",\"a", false},
        {"AnotherBeginning", kThree, "[\"aa\",\"ab\",\"", true},
        {"AnyString", R"({"type":"string"})", "[\"a\",\"a", true},
        {"StringsOfOneLetter", R"({"type":"string","maxLength":1,"pattern":"^[abc]$"})",
         "[\"a\",\"b\",\"a", false},
        {"TheThirdLetter", R"({"type":"string","maxLength":1,"pattern":"^[abc]$"})",
         "[\"a\",\"b\",\"", true},
        {"AnObjectByItsLastMember",
         R"({"type":"object","properties":{"k":{"enum":[1,2]}},"required":["k"],)"
         R"("additionalProperties":false})",
         "[{\"k\":1},{\"k\":", true},
        {"AnObjectWhoseValueIsWritten",
         R"({"type":"object","properties":{"k":{"enum":[1,2,3]}},"required":["k"],)"
         R"("additionalProperties":false})",
         "[{\"k\":1},{\"k\":2},{\"k\":2", false},
    }),
    [](const auto& info) { return info.param.name; });

// A search that may not visit enough states says so, and decides nothing.
TEST(DistinctSearchBoundTest, ASpentBudgetIsAnError) {
  SmallGrammar grammar(
      "json_schema", std::string(R"({"type":"array","uniqueItems":true,"items":)") + kThree + "}");
  RowMemory row(&grammar.automaton());
  const auto lock = row.Lock();
  RowMemory::State state = RowMemory::Of(grammar.automaton().start());
  for (const char byte : std::string("[\"aa\",\"a"))
    state = TakeByte(&row, state, static_cast<unsigned char>(byte), grammar.work());
  ASSERT_TRUE(RowMemory::IsOwn(state));
  const auto at = row.InItemString(state);
  ASSERT_TRUE(at.has_value());
  Budget spent(Budget::Bounds{.work = 0});
  Work work(spent);
  DistinctSearch(&row).CanEnd({at->term, {at->array}}, work);
  EXPECT_FALSE(work.ok());
}

}  // namespace
}  // namespace maskd
