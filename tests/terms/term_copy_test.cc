// Copies of states against the same states made in the other automaton.
#include "grammar_core/terms/term_copy.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "gtest/gtest.h"

#include "grammar_core/terms/term_printer.h"
#include "tests/frontend/reading.h"
#include "tests/rooms/engine_parts.h"

namespace maskd {
namespace {

struct Row {
  const char* name;
  const char* kind;
  const char* grammar;
  std::vector<const char*> texts;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

// Without the places of states in tables of numbers and objects, which each store fills as it goes.
std::string Printed(const TermStore& store, TermId term) {
  const std::string text = PrintTerm(store, term);
  std::string printed;
  bool in_place = false;
  for (const char byte : text) {
    in_place = byte == '@' || (in_place && absl::ascii_isdigit(static_cast<unsigned char>(byte)));
    if (!in_place) printed += byte;
  }
  return printed;
}

class TermCopyTest : public testing::TestWithParam<Row> {
 protected:
  TermCopy Copier() {
    return TermCopy({&from_.store, &from_.objects, &from_.numbers},
                    {&to_.store, &to_.objects, &to_.numbers});
  }

  const GrammarIr ir_ = ReadForTest(GetParam().kind, GetParam().grammar)->ir;
  EngineParts from_{ir_};
  EngineParts to_{ir_};
};

TEST_P(TermCopyTest, ACopyMeansWhatItsStateDoes) {
  TermCopy copy = Copier();
  for (const char* text : GetParam().texts) {
    const TermId there = from_.Behind(text);
    ASSERT_NE(there, kNothingTerm) << text;
    const TermId here = copy.Of(there);
    EXPECT_EQ(Printed(to_.store, here), Printed(from_.store, there)) << text;
    EXPECT_EQ(to_.store.term(here).min_bytes, from_.store.term(there).min_bytes) << text;
    EXPECT_EQ(to_.store.term(here).nullable, from_.store.term(there).nullable) << text;
  }
}

// Terms are kept once, so a copy is the very state that the other automaton would have made.
TEST_P(TermCopyTest, ACopyIsTheStateThatIsMadeThere) {
  TermCopy copy = Copier();
  for (const char* text : GetParam().texts)
    EXPECT_EQ(copy.Of(from_.Behind(text)), to_.Behind(text));
}

TEST_P(TermCopyTest, NothingIsCopiedTwice) {
  TermCopy copy = Copier();
  for (const char* text : GetParam().texts) copy.Of(from_.Behind(text));
  const std::uint32_t size = to_.store.size();
  for (const char* text : GetParam().texts) copy.Of(from_.Behind(text));
  EXPECT_EQ(to_.store.size(), size);
  EXPECT_EQ(copy.Of(TermId(kNothingTerm)), TermId(kNothingTerm));
  EXPECT_EQ(copy.Of(TermId(kEmptyTerm)), TermId(kEmptyTerm));
}

INSTANTIATE_TEST_SUITE_P(
    Grammars, TermCopyTest,
    testing::ValuesIn(std::vector<Row>{
        {"Regex", "regex", "(ab|cd)*[0-9]{2,40}é", {"", "ab", "abc", "abcd1", "12\xc3"}},
        {"Object",
         "json_schema",
         R"({"type":"object","properties":{"a":{"type":"integer","multipleOf":7},)"
         R"("b":{"type":"array","items":{"enum":["x","yy"]}}},"required":["b"]})",
         {"{", "{\"a", "{\"a\":12", "{\"b\":[\"x\",\"y", "{\"b\":[],\"c\":[[{\"d\":\"\\u00"}},
        {"Conditions",
         "json_schema",
         R"({"type":"string","pattern":"a+b","allOf":[{"not":{"pattern":"c$"}}],"maxLength":9})",
         {"\"", "\"aa", "\"ab\xc3"}},
    }),
    [](const auto& info) { return info.param.name; });

// No recursion: a spine may have any number of cells.
TEST(TermCopyDeepTest, ADeepStack) {
  const GrammarIr ir = ReadForTest("lark", "start: \"(\" start \")\" | \"x\"\n")->ir;
  EngineParts from(ir);
  EngineParts to(ir);
  const TermId deep = from.Behind(std::string(5'000, '('));
  TermCopy copy({&from.store, &from.objects, &from.numbers}, {&to.store, &to.objects, &to.numbers});
  EXPECT_EQ(to.store.term(copy.Of(deep)).cells(), from.store.term(deep).cells());
}

}  // namespace
}  // namespace maskd
