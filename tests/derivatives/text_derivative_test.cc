// Whole texts against the prefix oracle and against steps by their bytes, and what they spare.
#include "grammar_core/derivatives/text_derivative.h"

#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/frontend/reading.h"
#include "tests/oracle/prefix_oracle.h"
#include "tests/rooms/engine_parts.h"

namespace maskd {
namespace {

constexpr char kRecord[] =
    R"({"type":"object","properties":{"id":{"type":"integer","multipleOf":5},"idle":{},)"
    R"("tags":{"type":"array","items":{"enum":["aé","ab\"c"]},"maxItems":2},)"
    R"("short":{"type":"string","maxLength":4},"same":{"type":"string","pattern":"^(ab)*$"}},)"
    R"("required":["id","tags"],"additionalProperties":{"type":"string","maxLength":3}})";
constexpr char kClosed[] =
    R"({"type":"object","properties":{"name":{"const":"a text"},"nature":{"type":"boolean"},)"
    R"("nested":{"type":"array","items":{"enum":[null,{"a":1}]}}},)"
    R"("additionalProperties":false})";

struct Parts : EngineParts {
  using EngineParts::EngineParts;
  TextDerivative texts{&store, &objects, &bytes, &classes};
};

// A text of up to six bytes that the oracle takes, and perhaps one more that it may not.
std::string NextText(PrefixOracle* oracle, PrefixOracle::State at, std::mt19937_64* random) {
  std::string text;
  for (std::size_t length = 1 + (*random)() % 6; text.size() < length;) {
    std::string alive;
    for (int byte = 0; byte < 256; ++byte)
      if (oracle->Step(at, static_cast<unsigned char>(byte)) != PrefixOracle::kDead)
        alive += static_cast<char>(byte);
    if (alive.empty()) break;
    text += alive[(*random)() % alive.size()];
    at = oracle->Step(at, static_cast<unsigned char>(text.back()));
  }
  if ((*random)() % 3 == 0) text += "\"x: e,"[(*random)() % 6];
  return text;
}

class TextDerivativeTest : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(TextDerivativeTest, TakesWhatTheOracleDoes) {
  const GrammarIr ir = IrForTest(GetParam().first, GetParam().second);
  Parts parts(ir);
  PrefixOracle oracle(ir);
  std::mt19937_64 random(11);
  int texts = 0;
  for (int row = 0; row < 60; ++row) {
    TermId at = parts.start();
    PrefixOracle::State expected = oracle.start();
    std::string taken_so_far;
    for (int step = 0; step < 12; ++step, ++texts) {
      const std::string text = NextText(&oracle, expected, &random);
      std::size_t fits = 0;
      PrefixOracle::State behind = expected;
      for (; fits < text.size(); ++fits) {
        const auto next = oracle.Step(behind, static_cast<unsigned char>(text[fits]));
        if (next == PrefixOracle::kDead) break;
        behind = next;
      }
      std::size_t taken = 0;
      const TermId next = parts.texts.Behind(at, text, &taken, parts.work);
      ASSERT_EQ(taken, fits) << taken_so_far << " and " << text;
      ASSERT_EQ(next == kNothingTerm, fits < text.size()) << taken_so_far << " and " << text;
      if (next == kNothingTerm) break;
      ASSERT_EQ(parts.store.term(next).nullable, oracle.MayEnd(behind)) << taken_so_far << text;
      // What bytes lead to from there is what the oracle says, so the two do not drift apart.
      for (int byte = 0; byte < 256; ++byte) {
        const TermId one = parts.bytes.Step(next, parts.classes.Of(byte), parts.work);
        const auto by_byte = oracle.Step(behind, static_cast<unsigned char>(byte));
        ASSERT_EQ(one != kNothingTerm, by_byte != PrefixOracle::kDead) << taken_so_far << text;
      }
      at = next;
      expected = behind;
      taken_so_far += text;
    }
  }
  EXPECT_TRUE(parts.work.ok());
  EXPECT_GT(texts, 80);
}

INSTANTIATE_TEST_SUITE_P(
    Grammars, TextDerivativeTest,
    testing::Values(std::pair("json_schema", kRecord), std::pair("json_schema", kClosed),
                    std::pair("json", ""), std::pair("regex", "(a|b[c-e]{2,5})*(é|\\d+\\.)"),
                    std::pair("ebnf", "root ::= x x | x\nx ::= \"ab\" x \"c\" | \"abab\" | \"\""),
                    std::pair("ebnf", "root ::= [ab]{0,6} (\"c\" | \"d\") [ab]{2,5} \"ab\" [0-9]*"),
                    std::pair("regex", "[ab]{0,9}(c|[de]f)[ab]{1,4}(b|c)[ab]{3,}x?")));

TEST(TextDerivativeTest, MakesNoStatesWithinATextOfANameOrOfBytes) {
  const GrammarIr ir = IrForTest("json_schema", kClosed);
  Parts parts(ir);
  const TermId in_names = parts.Behind("{\"");
  const auto made_by = [&](auto step) {
    const std::uint32_t before = parts.store.size();
    step();
    return parts.store.size() - before;
  };
  std::size_t taken = 0;
  EXPECT_LE(made_by([&] { parts.texts.Behind(in_names, "natu", &taken, parts.work); }), 3);
  EXPECT_EQ(taken, 4);
  const TermId in_text = parts.Behind("{\"nature\": t");
  EXPECT_LE(made_by([&] { parts.texts.Behind(in_text, "rue", &taken, parts.work); }), 2);
  EXPECT_EQ(taken, 3);
}

TEST(TextDerivativeTest, ARowThatMayNotNestDeeperFails) {
  const GrammarIr ir = IrForTest("json", "");
  Limits limits;
  limits.row_cells = 12;
  EngineParts parts(ir, limits);
  TextDerivative texts(&parts.store, &parts.objects, &parts.bytes, &parts.classes);
  std::size_t taken = 0;
  EXPECT_EQ(texts.Behind(parts.start(), std::string(20, '['), &taken, parts.work), kFailedTerm);
  EXPECT_THAT(parts.work.error().message(), testing::HasSubstr("row_cells"));
}

}  // namespace
}  // namespace maskd
