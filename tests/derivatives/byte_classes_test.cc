// Byte classes by what a grammar can tell apart. The letters here are none that JSON text may treat
// apart by itself, as hexadecimal digits and escapes.
#include "grammar_core/derivatives/byte_classes.h"

#include "gtest/gtest.h"

#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

GrammarIr SetsOf(const char* first, const char* second) {
  IrBuilder b{Limits()};
  const RuleId start = b.DeclareRule("start", "");
  b.DefineRule(start, b.Concat({b.AnyByteOf(first), b.AnyByteOf(second)}));
  return *std::move(b).Build(start);
}

TEST(ByteClassesTest, BytesOfTheSameSetsAreOneClass) {
  const ByteClasses classes(SetsOf("ghi", "ijk"));
  EXPECT_EQ(classes.Of('g'), classes.Of('h'));
  EXPECT_EQ(classes.Of('j'), classes.Of('k'));
  EXPECT_NE(classes.Of('g'), classes.Of('i'));
  EXPECT_NE(classes.Of('i'), classes.Of('j'));
  EXPECT_NE(classes.Of('g'), classes.Of('z'));
}

TEST(ByteClassesTest, EachClassHasASampleOfItsOwn) {
  const ByteClasses classes(SetsOf("ghi", "ijk"));
  for (int i = 0; i < classes.count(); ++i) EXPECT_EQ(classes.Of(classes.Sample(i)), i);
  for (int byte = 0; byte < 256; ++byte) EXPECT_LT(classes.Of(byte), classes.count());
}

}  // namespace
}  // namespace maskd
