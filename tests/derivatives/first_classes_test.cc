// First classes against the steps themselves: what a state takes is among them.
#include "grammar_core/derivatives/first_classes.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "tests/frontend/reading.h"
#include "tests/rooms/engine_parts.h"

namespace maskd {
namespace {

struct Row {
  const char* name;
  const char* kind;
  const char* grammar;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class FirstClassesTest : public testing::TestWithParam<Row> {
 protected:
  const GrammarIr ir_ = ReadForTest(GetParam().kind, GetParam().grammar)->ir;
  EngineParts parts_{ir_};
  FirstClasses first_{&parts_.store, &parts_.lowering, &parts_.classes};
};

TEST_P(FirstClassesTest, HaveEveryByteThatIsTaken) {
  std::mt19937_64 random(11);
  int left_out = 0;
  for (int text = 0; text < 30; ++text) {
    TermId at = parts_.start();
    for (int length = 0; length < 40; ++length) {
      const FirstClasses::Set first = first_.Of(at);
      std::vector<int> taken;
      for (int byte_class = 0; byte_class < parts_.classes.count(); ++byte_class) {
        const TermId next = parts_.bytes.Step(at, byte_class, parts_.work);
        if (next != kNothingTerm) taken.push_back(byte_class);
        EXPECT_TRUE(first[byte_class] || next == kNothingTerm)
            << static_cast<int>(parts_.classes.Sample(byte_class));
        if (!first[byte_class]) ++left_out;
      }
      if (taken.empty()) break;
      at = parts_.bytes.Step(at, taken[random() % taken.size()], parts_.work);
    }
  }
  EXPECT_GT(left_out, 0) << "a set of all classes would tell nothing";
}

INSTANTIATE_TEST_SUITE_P(
    Grammars, FirstClassesTest,
    testing::ValuesIn(std::vector<Row>{
        {"Words", "json_schema", R"({"type":"array","items":{"enum":[null,true,"a",12]}})"},
        {"Object", "json_schema",
         R"({"type":"object","properties":{"a":{"type":"number"},"b":{"const":null}},)"
         R"("required":["b"],"additionalProperties":false})"},
        {"Strings", "json_schema",
         R"({"type":"array","items":{"type":"string","pattern":"^[a-f]+$","maxLength":4}})"},
        {"AnyJson", "json", ""},
    }),
    [](const auto& info) { return info.param.name; });

TEST(FirstClassesExactTest, OfALiteralIsItsNextByte) {
  const GrammarIr ir = ReadForTest("json_schema", R"({"const":null})")->ir;
  EngineParts parts(ir);
  FirstClasses first(&parts.store, &parts.lowering, &parts.classes);
  FirstClasses::Set u;
  u.set(static_cast<std::size_t>(parts.ClassOf('u')));
  EXPECT_EQ(first.Of(parts.Behind("n")), u);
}

// Inside of a string most bytes are taken, and the set is not worth asking for.
TEST(FirstClassesExactTest, AStringTakesMost) {
  const GrammarIr ir = ReadForTest("json_schema", R"({"type":"string"})")->ir;
  EngineParts parts(ir);
  const FirstClasses first(&parts.store, &parts.lowering, &parts.classes);
  EXPECT_TRUE(first.TakesMost(parts.Behind("\"a")));
  EXPECT_FALSE(first.TakesMost(parts.Behind("\"\\")));
}

}  // namespace
}  // namespace maskd
