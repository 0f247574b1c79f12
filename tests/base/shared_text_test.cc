#include "grammar_core/base/shared_text.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "gtest/gtest.h"

namespace maskd {
namespace {

TEST(SharedTextTest, ACopyIsTheSameText) {
  EXPECT_TRUE(SharedText().is_null());
  const SharedText text("a text");
  const SharedText copy = text;
  EXPECT_FALSE(text.is_null());
  EXPECT_EQ(copy.text(), "a text");
  EXPECT_EQ(copy.text().data(), text.text().data());
}

TEST(SharedTextTest, EqualTextsAreEqualWhoeverHasThem) {
  const SharedText one("equal");
  const SharedText other("equal");
  EXPECT_TRUE(one.hashed() == other.hashed());
  EXPECT_TRUE(one.hashed() == HashedText("equal"));
  EXPECT_FALSE(one.hashed() == HashedText("unlike"));
  EXPECT_FALSE(one.hashed() == HashedText("equal", one.hashed().hash + 1));
  // Texts of one hash are told apart.
  EXPECT_FALSE(HashedText("a", 1) == HashedText("b", 1));
  const SharedText known(std::string("k"), 7);
  EXPECT_EQ(known.hashed().hash, 7U);
  const absl::flat_hash_set<HashedText> set = {one.hashed(), HashedText("unlike")};
  EXPECT_TRUE(set.contains(other.hashed()));
}

}  // namespace
}  // namespace maskd
