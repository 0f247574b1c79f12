// Steps against the prefix oracle, and what is kept of one.
#include "grammar_core/derivatives/byte_derivative.h"

#include <random>
#include <string>

#include "gtest/gtest.h"

#include "tests/frontend/reading.h"
#include "tests/oracle/prefix_oracle.h"
#include "tests/rooms/engine_parts.h"

namespace maskd {
namespace {

constexpr char kRecord[] =
    R"({"type":"object","properties":{"id":{"type":"integer","multipleOf":5},)"
    R"("tags":{"type":"array","items":{"enum":["aé","b\"c"]},"maxItems":2}},)"
    R"("additionalProperties":{"type":"string","maxLength":3}})";

// Behind each of many random texts every byte is tried.
void ExpectStepsOfOracle(const GrammarIr& ir, int* steps) {
  EngineParts parts(ir);
  PrefixOracle oracle(ir);
  std::mt19937_64 random(7);
  for (int text = 0; text < 20; ++text) {
    TermId at = parts.start();
    PrefixOracle::State expected = oracle.start();
    std::string taken;
    for (int length = 0; length < 60; ++length) {
      std::string alive;
      for (int byte = 0; byte < 256; ++byte) {
        const TermId next = parts.bytes.Step(at, parts.classes.Of(byte), parts.work);
        const auto behind = oracle.Step(expected, static_cast<unsigned char>(byte));
        ASSERT_EQ(next != kNothingTerm, behind != PrefixOracle::kDead) << taken << " " << byte;
        if (next != kNothingTerm) alive += static_cast<char>(byte);
      }
      ASSERT_EQ(parts.store.term(at).nullable, oracle.MayEnd(expected)) << taken;
      if (alive.empty()) break;
      const char byte = alive[random() % alive.size()];
      taken += byte;
      at = parts.bytes.Step(at, parts.ClassOf(byte), parts.work);
      expected = oracle.Step(expected, static_cast<unsigned char>(byte));
      ++*steps;
    }
  }
}

TEST(ByteDerivativeTest, StepsAreThoseOfTheOracle) {
  int steps = 0;
  ExpectStepsOfOracle(IrForTest("json_schema", kRecord), &steps);
  ExpectStepsOfOracle(IrForTest("regex", "(a|b[c-e]{2,5})*(é|\\d+\\.)"), &steps);
  EXPECT_GT(steps, 400);
}

TEST(ByteDerivativeTest, AStepIsKnownOnceItIsMade) {
  const GrammarIr ir = IrForTest("regex", "[g-j]+x");
  EngineParts parts(ir);
  const TermId start = parts.start();
  EXPECT_EQ(parts.bytes.Known(start, parts.ClassOf('g')), kUnknownTerm);
  const TermId next = parts.bytes.Step(start, parts.ClassOf('g'), parts.work);
  EXPECT_EQ(parts.bytes.Known(start, parts.ClassOf('g')), next);
  EXPECT_EQ(parts.bytes.Known(start, parts.ClassOf('h')), next) << "of one class";
}

TEST(ByteDerivativeTest, AStepThatFailsIsNotKept) {
  const GrammarIr ir = IrForTest("json_schema", kRecord);
  EngineParts parts(ir);
  Budget spent(Budget::Bounds{.work = 0});
  Work work(spent);
  const int byte_class = parts.ClassOf('{');
  EXPECT_EQ(parts.bytes.Step(parts.start(), byte_class, work), kFailedTerm);
  EXPECT_FALSE(work.ok());
  EXPECT_EQ(parts.bytes.Known(parts.start(), byte_class), kUnknownTerm);
  EXPECT_NE(parts.bytes.Step(parts.start(), byte_class, parts.work), kNothingTerm);
}

TEST(ByteDerivativeTest, TermsBeyondTheLimitFailAStep) {
  const GrammarIr ir = IrForTest("regex", "(a|b)*a(a|b){12}");  // a state for each set of places
  Limits limits;
  limits.terms = 200;
  EngineParts parts(ir, limits);
  std::mt19937_64 random(3);
  TermId at = parts.start();
  for (int i = 0; i < 1000 && at != kFailedTerm; ++i)
    at = parts.bytes.Step(at, parts.ClassOf(random() % 2 == 0 ? 'a' : 'b'), parts.work);
  EXPECT_EQ(at, kFailedTerm);
  EXPECT_TRUE(IsAutomatonFull(parts.work.error())) << parts.work.error();
}

// States that rows bring along are not the grammar's.
TEST(ByteDerivativeTest, WhatIsAdoptedTakesNoRoom) {
  const GrammarIr ir = IrForTest("json_schema", kRecord);
  Limits limits;
  limits.terms = 100'000;
  EngineParts parts(ir, limits);
  const double before = parts.bytes.room();
  const ByteDerivative::Size size = parts.bytes.size();
  ASSERT_NE(parts.Behind(R"({"id":15,"tags":["aé","b)"), kNothingTerm);
  const double after = parts.bytes.room();
  EXPECT_LT(after, before);
  parts.bytes.NoteAdopted(size);
  EXPECT_GT(parts.bytes.room(), after);
  EXPECT_GT(parts.bytes.adopted().terms, 0);
}

}  // namespace
}  // namespace maskd
