#include "grammar_core/terms/term.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/terms/encoding.h"

namespace maskd {
namespace {

void ExpectPacks(const PartialChar& partial) {
  const PartialChar back = PartialChar::Unpack(partial.Pack());
  EXPECT_EQ(back.spelling, partial.spelling);
  EXPECT_EQ(back.phase, partial.phase);
  EXPECT_EQ(back.value, partial.value);
}

TEST(PartialCharTest, EveryFieldIsKeptByPacking) {
  for (const Spelling spelling : {Spelling::kUtf8, Spelling::kJsonString, Spelling::kCanonicalJson})
    for (const CharPhase phase :
         {CharPhase::kStart, CharPhase::kUtf8, CharPhase::kEscape, CharPhase::kHex,
          CharPhase::kLowBackslash, CharPhase::kLowU, CharPhase::kLowHex})
      for (const std::uint32_t value : {0U, 1U, 0x5555555U, (1U << 27) - 1})
        ExpectPacks({spelling, phase, value});
}

TEST(PartialCharTest, DifferentPlacesPackDifferently) {
  EXPECT_NE((PartialChar{Spelling::kUtf8, CharPhase::kUtf8, 1}.Pack()),
            (PartialChar{Spelling::kJsonString, CharPhase::kUtf8, 1}.Pack()));
  EXPECT_NE((PartialChar{Spelling::kUtf8, CharPhase::kHex, 1}.Pack()),
            (PartialChar{Spelling::kUtf8, CharPhase::kUtf8, 1}.Pack()));
}

// The values of each phase fit, at their largest: what is packed in the middle of a spelling goes
// on as what was not.
TEST(PartialCharTest, PackedInTheMiddleACharacterIsTheSame) {
  struct Row {
    std::string spelled;
    std::uint32_t character;
  };
  for (const Row& row : std::vector<Row>{{"\xF4\x8F\xBF\xBF", 0x10FFFF},
                                         {"\xF0\x90\x80\x80", 0x10000},
                                         {"\\uFFFF", 0xFFFF},
                                         {"\\udbff\\udfff", 0x10FFFF},
                                         {"\\ud83d\\uDE00", 0x1F600},
                                         {"\\n", '\n'}}) {
    SCOPED_TRACE(row.spelled);
    PartialChar at = {Spelling::kJsonString};
    for (std::size_t i = 0; i < row.spelled.size(); ++i) {
      const CharStep step = StepChar(at, static_cast<unsigned char>(row.spelled[i]));
      if (i + 1 == row.spelled.size()) {
        ASSERT_EQ(step.result, CharStep::Result::kCharacter);
        EXPECT_EQ(step.character, row.character);
      } else {
        ASSERT_EQ(step.result, CharStep::Result::kPartial) << i;
        ExpectPacks(step.partial);
        at = PartialChar::Unpack(step.partial.Pack());
      }
    }
  }
}

}  // namespace
}  // namespace maskd
