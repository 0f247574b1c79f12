#include "grammar_core/terms/term_check.h"

#include "gtest/gtest.h"

#include "tests/automaton/character_terms.h"
#include "tests/rooms/shown_terms.h"

namespace maskd {
namespace {

class TermCheckTest : public testing::Test {
 protected:
  static CharacterTerms Terms() {
    IrBuilder b{Limits()};
    return CharacterTerms(b, b.AnyChar());
  }
  CharacterTerms terms_ = Terms();
};

TEST_F(TermCheckTest, AFailureNamesThePlaceTheConditionAndTheTerm) {
  const TermId term = terms_.store()->Byte('q');
  EXPECT_DEATH(FailTermCheck("some_file.cc", 42, "kind == kCat", *terms_.store(), AnyTerm(term)),
               "some_file\\.cc:42.*kind == kCat(.|\n)*b\\[q\\]");
}

TEST_F(TermCheckTest, AConditionThatHoldsCostsNothingButIsTrue) {
  int asked = 0;
  const auto holds = [&] { return ++asked > 0; };
  MASKD_DCHECK_TERM(*terms_.store(), TermId(kEmptyTerm), holds());
  EXPECT_EQ(asked, MASKD_TERM_CHECKS) << "where NDEBUG is set nothing is evaluated";
}

TEST_F(TermCheckTest, ItIsOnWhereAssertIs) {
#ifdef NDEBUG
  MASKD_DCHECK_TERM(*terms_.store(), kEmptyTerm, false);
#else
  EXPECT_DEATH(MASKD_DCHECK_TERM(*terms_.store(), kEmptyTerm, false), "empty");
#endif
}

}  // namespace
}  // namespace maskd
