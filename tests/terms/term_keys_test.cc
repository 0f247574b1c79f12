// Keys of terms against what they are made of, whether a term keeps its key or not.
#include "grammar_core/terms/term_keys.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/terms/term_copy.h"
#include "grammar_core/terms/term_lists.h"
#include "grammar_core/terms/term_views.h"
#include "tests/frontend/reading.h"
#include "tests/rooms/engine_parts.h"

namespace maskd {
namespace {

TEST(TermKeysTest, EachTermHasTheKeyThatItKept) {
  std::mt19937 random(3);
  TermKeys keys;
  std::vector<std::optional<Hash96>> expected;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    expected.emplace_back();
    if (random() % 3 != 0) expected.back() = Mix(Hash128{}, i);
    if (expected.back().has_value())
      keys.Append(*expected.back());
    else
      keys.AppendWithout();
  }
  for (std::uint32_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(keys.Has(i), expected[i].has_value()) << i;
    if (expected[i].has_value()) ASSERT_TRUE(keys.At(i) == *expected[i]) << i;
  }
}

TEST(TermListsTest, EqualListsHaveOneNumber) {
  std::mt19937 random(5);
  TermLists lists;
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<AnyTerm> list(random() % 40);
    std::vector<std::uint32_t> numbers;
    for (AnyTerm& term : list) {
      term = AnyTerm(static_cast<std::uint32_t>(random() % (1 + list.size())));
      numbers.push_back(term.value());
    }
    const std::uint32_t number = lists.Keep(list);
    ASSERT_EQ(known.try_emplace(numbers, number).first->second, number);
    ASSERT_TRUE(std::ranges::equal(lists[number], list));
  }
  for (const auto& [list, number] : known)
    ASSERT_TRUE(std::ranges::equal(lists[number], list, {}, [](AnyTerm id) { return id.value(); }));
}

Hash128 SeedOf(TermKind kind) { return Mix(Hash128{}, static_cast<std::uint64_t>(kind)); }

// One step from the keys of its parts, which is what a term's key means; true for other kinds.
bool IsMadeOfItsParts(const TermStore& store, AnyTerm id) {
  const Term& term = store.term(id);
  const Hash96 key = store.KeyOf(id);
  if (term.kind == TermKind::kCat) {
    const auto [head, tail] = AsCat<AnyTerm>(term);
    return key == Hash96(Mix(Mix(SeedOf(term.kind), store.KeyOf(head)), store.KeyOf(tail)));
  }
  if (term.kind == TermKind::kRepeat) {
    const auto [body, min, max] = AsRepeat<AnyTerm>(term);
    const Hash128 of_body = Mix(SeedOf(term.kind), store.KeyOf(body));
    return key == Hash96(Mix(Mix(of_body, store.ClampCount(min)), store.ClampCount(max)));
  }
  if (term.kind == TermKind::kEncode && !IsOfNames(term)) {
    const auto [characters, partial, object, progress] = AsEncode(term);
    return key == Hash96(Mix(Mix(SeedOf(term.kind), store.KeyOf(characters)), partial.Pack()));
  }
  return true;
}

struct Row {
  const char* name;
  const char* kind;
  std::string grammar;
  std::string text;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class MadeKeysTest : public testing::TestWithParam<Row> {};

TEST_P(MadeKeysTest, AreThoseOfTheParts) {
  const GrammarIr ir = ReadForTest(GetParam().kind, GetParam().grammar)->ir;
  EngineParts parts(ir);
  ASSERT_NE(parts.Behind(GetParam().text), kNothingTerm);
  for (std::uint32_t i = 2; i < parts.store.size(); ++i)
    ASSERT_TRUE(IsMadeOfItsParts(parts.store, AnyTerm(i))) << i;
}

// Masks are shared by key, so another automaton's copy and its own state must have the same one.
TEST_P(MadeKeysTest, AreTheSameInEveryStore) {
  const GrammarIr ir = ReadForTest(GetParam().kind, GetParam().grammar)->ir;
  EngineParts from(ir);
  EngineParts to(ir);
  TermCopy copy({&from.store, &from.objects, &from.numbers}, {&to.store, &to.objects, &to.numbers});
  const TermId there = from.Behind(GetParam().text);
  const TermId here = copy.Of(there);
  EXPECT_TRUE(to.store.KeyOf(here) == from.store.KeyOf(there));
  for (std::uint32_t i = 2; i < to.store.size(); ++i)
    ASSERT_TRUE(IsMadeOfItsParts(to.store, AnyTerm(i))) << i;
}

INSTANTIATE_TEST_SUITE_P(
    Grammars, MadeKeysTest,
    testing::ValuesIn(std::vector<Row>{
        {"DeepStack", "lark", "start: \"(\" start \")\" | \"x\"\n", std::string(2'000, '(')},
        {"Regex", "regex", "((ab){2,9}|c[d-f]{3})*(x|y{2})+([0-9]{2,40}é)?", "ababcdefxyy12"},
        {"Object", "json_schema",
         R"({"properties":{"a":{"type":"integer","multipleOf":7},"b":{"items":{"maxLength":5}}}})",
         R"({"a":14,"b":["x",[{"y":{"é":")"},
        {"Conditions", "json_schema",
         R"({"type":"string","pattern":"(a+b){2,}","allOf":[{"not":{"pattern":"c$"}}],)"
         R"("maxLength":9})",
         "\"aabab"},
    }),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace maskd
