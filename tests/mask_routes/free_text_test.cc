#include "grammar_core/mask_routes/free_text.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "grammar_core/frontend/structural_tag/text_dispatch.h"
#include "tests/automaton/character_terms.h"

namespace maskd {
namespace {

class FreeTextTest : public testing::Test {
 protected:
  // The texts without `held` that do not end with `last`, behind `read`.
  std::optional<AbsentTexts> Behind(const std::u32string& read,
                                    const std::vector<std::string>& held,
                                    const std::vector<std::string>& last = {}) {
    IrBuilder b{Limits()};
    const NodeId node = FreeText(held, b, last);
    terms_ = std::make_unique<CharacterTerms>(b, node);
    CharTerm term = terms_->Lower(node);
    for (const char32_t c : read) term = terms_->derivative()->Behind(term, c, terms_->work());
    return AbsentTextsOf(*terms_->store(), term);
  }

  // Sorted.
  [[nodiscard]] std::vector<std::string> Texts(const std::vector<CharTerm>& terms) const {
    std::vector<std::string> texts;
    for (const CharTerm term : terms)
      VisitTexts(*terms_->store(), term, [&](absl::string_view text) { texts.emplace_back(text); });
    std::ranges::sort(texts);
    return texts;
  }

  std::unique_ptr<CharacterTerms> terms_;
};

using Strings = std::vector<std::string>;

TEST_F(FreeTextTest, HasWhatIsHeldAndWhatHasBegun) {
  const auto text = Behind(U"x<c", {"<call>", "<cat>", "cd"});
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(Texts(text->held), (Strings{"<call>", "<cat>", "cd"}));
  EXPECT_EQ(Texts(text->begun), (Strings{"all>", "at>", "d"}));
  EXPECT_TRUE(text->may_end);
}

TEST_F(FreeTextTest, OfAnyTextHasNothing) {
  const auto text = Behind(U"x", {});
  ASSERT_TRUE(text.has_value());
  EXPECT_TRUE(text->held.empty() && text->begun.empty());
}

TEST_F(FreeTextTest, SaysWhetherItMayEndAnywhere) {
  const auto text = Behind(U"a", {"<x>"}, {"`"});
  ASSERT_TRUE(text.has_value());
  EXPECT_FALSE(text->may_end);
}

TEST_F(FreeTextTest, IsNoneWhereATextEndsBeyondAscii) {
  EXPECT_FALSE(Behind(U"", {"<x>", "a\xc3\xa9"}).has_value());
}

TEST_F(FreeTextTest, TellsWhereTheFirstTextEnds) {
  const auto text = Behind(U"<", {"<x>", "ab"});
  ASSERT_TRUE(text.has_value());
  const TermStore& store = *terms_->store();
  EXPECT_EQ(FirstEnd(store, *text, "x>ab"), 2U);
  EXPECT_EQ(FirstEnd(store, *text, "yab<x>"), 3U);
  EXPECT_GE(FirstEnd(store, *text, "yax>"), 4U);
}

}  // namespace
}  // namespace maskd
