// Numbers as terms against arithmetic on digit strings.
#include "grammar_core/terms/number_terms.h"

#include <random>
#include <string>

#include "gtest/gtest.h"

#include "tests/frontend/number_judge.h"
#include "tests/frontend/reading.h"
#include "tests/rooms/engine_parts.h"

namespace maskd {
namespace {

GrammarIr IrOf(absl::string_view schema) {
  auto grammar = ReadForTest("json_schema", schema);
  EXPECT_TRUE(grammar.ok()) << grammar.status();
  EXPECT_EQ(grammar->ir.numbers.size(), 1) << schema;
  return std::move(grammar->ir);
}

// What `text` leads to from the start of the grammar's one number; kNothingTerm where it is none.
TermId BehindText(EngineParts* parts, absl::string_view text) {
  TermId at = parts->numbers.Start(0);
  for (const char byte : text) {
    const Term& term = parts->store.term(at);
    if (term.kind != TermKind::kNumber) return kNothingTerm;
    const auto [number, state] = AsNumber(term);
    at = parts->numbers.Step(number, state, static_cast<unsigned char>(byte));
  }
  return at;
}

TEST(NumberTermsTest, ATextIsWholeWhereItsNumberIsOneOfTheValues) {
  std::mt19937_64 random(4);
  const std::string letters = "-0123456789.eE+";
  int whole = 0;
  int dead = 0;
  for (const char* schema :
       {R"({"type":"number","minimum":-3,"maximum":120,"multipleOf":0.5})",
        R"({"type":"integer","exclusiveMinimum":9})", R"({"type":"number","not":{"multipleOf":3}})",
        R"({"type":"integer","multipleOf":7,"maximum":1000})"}) {
    const GrammarIr ir = IrOf(schema);
    EngineParts parts(ir);
    for (int i = 0; i < 3000; ++i) {
      std::string text;
      for (std::size_t length = 1 + random() % 5; length > 0; --length)
        text += letters[random() % letters.size()];
      const TermId at = BehindText(&parts, text);
      const bool is_whole = at != kNothingTerm && parts.store.term(at).nullable;
      ASSERT_EQ(is_whole, IsNumberOf(ir.numbers[0], text)) << schema << " " << text;
      if (at == kNothingTerm) {
        ASSERT_FALSE(CanBecomeNumberOf(ir.numbers[0], text)) << schema << " " << text;
        ++dead;
      }
      whole += is_whole ? 1 : 0;
    }
  }
  EXPECT_GT(whole, 100);
  EXPECT_GT(dead, 300);
}

// States are shared, whatever digits led there.
TEST(NumberTermsTest, DigitsThatLeaveTheSameAreOneTerm) {
  const GrammarIr ir = IrOf(R"({"type":"integer","multipleOf":7})");
  EngineParts parts(ir);
  EXPECT_EQ(BehindText(&parts, "8"), BehindText(&parts, "1"));
  EXPECT_NE(BehindText(&parts, "9"), BehindText(&parts, "1"));
}

TEST(NumberTermsTest, AStateOfAnotherAutomatonIsAdoptedOnce) {
  const GrammarIr ir = IrOf(R"({"type":"integer","multipleOf":7})");
  EngineParts from(ir);
  EngineParts to(ir);
  const TermId there = BehindText(&from, "123");
  const auto [number, state] = AsNumber(from.store.term(there));
  const std::uint32_t adopted = to.numbers.Adopt(from.numbers, number, state);
  EXPECT_EQ(to.numbers.Adopt(from.numbers, number, state), adopted);
  const TermId here = BehindText(&to, "123");
  EXPECT_EQ(AsNumber(to.store.term(here)).state, adopted);
  EXPECT_TRUE(to.store.KeyOf(here) == from.store.KeyOf(there));
}

TEST(NumberTermsTest, StatesAreCounted) {
  const GrammarIr ir = IrOf(R"({"type":"integer","multipleOf":97})");
  EngineParts parts(ir);
  BehindText(&parts, "1");
  const std::int64_t few = parts.numbers.held_bytes();
  for (int i = 100; i < 400; ++i) BehindText(&parts, std::to_string(i));
  EXPECT_GT(parts.numbers.held_bytes(), few);
}

}  // namespace
}  // namespace maskd
