// Masks in the forms that a stream may use: each reads back as the mask it was, and takes the
// shortest form.
#include "service/sequences/mask_forms.h"

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/service/sequences/form_reader.h"

namespace maskd::service {
namespace {

using Kind = MaskForm::Kind;

constexpr int kVocabulary = 3000;

TokenMask MaskOf(const std::vector<TokenId>& allowed) {
  TokenMask mask(kVocabulary);
  for (const TokenId id : allowed) mask.Allow(id);
  return mask;
}

TokenMask AllBut(const std::vector<TokenId>& forbidden) {
  TokenMask mask(kVocabulary);
  for (TokenId id = 0; id < kVocabulary; ++id) mask.Allow(id);
  for (const TokenId id : forbidden) mask.Forbid(id);
  return mask;
}

TokenMask RandomMask(std::mt19937_64& random, double density) {
  TokenMask mask(kVocabulary);
  std::bernoulli_distribution allowed(density);
  for (TokenId id = 0; id < kVocabulary; ++id)
    if (allowed(random)) mask.Allow(id);
  mask.Allow(0);
  return mask;
}

// The first form of `mask` on a stream that has said `before`.
MaskForm SayAfter(const FormTerms& terms, const std::vector<MaskRef>& before, const MaskRef& mask) {
  MaskForms forms(terms);
  for (const MaskRef& each : before) forms.Say(each);
  return forms.Say(mask);
}

struct ShortestCase {
  std::string name;
  FormTerms terms;
  TokenMask mask;
  Kind kind;
};

constexpr FormTerms kAll = {true, true, true, true, 8};

class ShortestFormTest : public testing::TestWithParam<ShortestCase> {};

TEST_P(ShortestFormTest, IsChosen) {
  const ShortestCase& test = GetParam();
  EXPECT_EQ(SayAfter(test.terms, {}, StoreMask(test.mask)).kind, test.kind);
}

std::mt19937_64 seeded(5);  // NOLINT(cert-msc51-cpp): the same masks in every run

INSTANTIATE_TEST_SUITE_P(
    FirstSight, ShortestFormTest,
    testing::ValuesIn(std::vector<ShortestCase>{
        {"OneToken", kAll, MaskOf({2999}), Kind::kAllowedIds},
        {"AllButOne", kAll, AllBut({7}), Kind::kForbiddenIds},
        {"AllTokens", kAll, AllBut({}), Kind::kForbiddenIds},
        {"HalfOfThem", kAll, RandomMask(seeded, 0.5), Kind::kDense},
        {"ListsNotOffered", {true, false, false, true, 8}, MaskOf({1}), Kind::kDense},
        {"OnlyForbiddenOffered", {false, false, true, false, 0}, MaskOf({1}), Kind::kDense},
        {"NothingOffered", {}, AllBut({7}), Kind::kDense},
    }),
    [](const auto& test) { return test.param.name; });

TEST(MaskForms, ASecondSightIsSameAs) {
  const MaskRef mask = StoreMask(RandomMask(seeded, 0.5));
  MaskForms forms(kAll);
  const MaskForm first = forms.Say(mask);
  ASSERT_TRUE(first.put.has_value());
  const MaskForm second = forms.Say(mask);
  EXPECT_EQ(second.kind, Kind::kSameAs);
  EXPECT_EQ(second.slot, *first.put);
  EXPECT_FALSE(second.put.has_value());
}

TEST(MaskForms, ShortListsStayOutOfTheDictionary) {
  const MaskRef mask = StoreMask(MaskOf({1, 2}));
  MaskForms forms(kAll);
  EXPECT_FALSE(forms.Say(mask).put.has_value());
  EXPECT_EQ(forms.Say(mask).kind, Kind::kAllowedIds);
}

TEST(MaskForms, AMaskNearAnotherIsADelta) {
  TokenMask mask = RandomMask(seeded, 0.5);
  const MaskRef base = StoreMask(mask);
  mask.Allows(2000) ? mask.Forbid(2000) : mask.Allow(2000);
  const MaskRef near = StoreMask(std::move(mask));
  const MaskForm form = SayAfter(kAll, {base}, near);
  ASSERT_EQ(form.kind, Kind::kDelta);
  EXPECT_EQ(form.delta->word_indices, std::vector<std::uint32_t>{2000 / 32});
  EXPECT_TRUE(form.put.has_value());
  FormTerms no_delta = kAll;
  no_delta.delta = false;
  EXPECT_EQ(SayAfter(no_delta, {base}, near).kind, Kind::kDense);
}

TEST(MaskForms, AMaskMadeForOneCallIsKnownByItsWords) {
  const TokenMask mask = RandomMask(seeded, 0.5);
  MaskForms forms(kAll);
  EXPECT_EQ(forms.Say(std::make_shared<const TokenMask>(mask)).kind, Kind::kDense);
  EXPECT_EQ(forms.Say(std::make_shared<const TokenMask>(mask)).kind, Kind::kSameAs);
}

// A mask may be dropped and made again while the client has it.
TEST(MaskForms, AMaskMadeAgainIsKnownByItsWords) {
  const TokenMask mask = RandomMask(seeded, 0.5);
  MaskForms forms(kAll);
  const MaskForm first = forms.Say(StoreMask(mask));
  ASSERT_TRUE(first.put.has_value());
  const MaskForm again = forms.Say(StoreMask(mask));
  EXPECT_EQ(again.kind, Kind::kSameAs);
  EXPECT_EQ(again.slot, *first.put);
}

// Equal masks of two numbers, said in turn, share a slot, and lose it together.
TEST(MaskForms, EqualMasksShareASlot) {
  FormTerms terms = kAll;
  terms.dictionary_size = 1;
  terms.delta = false;
  const TokenMask mask = RandomMask(seeded, 0.5);
  const MaskRef one = StoreMask(mask);
  const MaskRef other = StoreMask(mask);
  ASSERT_NE(one->serial(), other->serial());
  MaskForms forms(terms);
  EXPECT_TRUE(forms.Say(one).put.has_value());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(forms.Say(other).kind, Kind::kSameAs);
    EXPECT_EQ(forms.Say(one).kind, Kind::kSameAs);
  }
  EXPECT_TRUE(forms.Say(StoreMask(RandomMask(seeded, 0.5))).put.has_value());
  EXPECT_EQ(forms.Say(other).kind, Kind::kDense);
  EXPECT_EQ(forms.Say(one).kind, Kind::kSameAs);
}

// More masks are said than are remembered: all are forgotten, and what is said stays right.
TEST(MaskForms, ForgottenMasksAreKnownByTheirWords) {
  FormTerms terms = kAll;
  terms.dictionary_size = 4;
  MaskForms forms(terms);
  const MaskRef kept = StoreMask(RandomMask(seeded, 0.5));
  const MaskForm first = forms.Say(kept);
  ASSERT_TRUE(first.put.has_value());
  for (int i = 0; i < 17'000; ++i) forms.Say(StoreMask(MaskOf({1})));
  const MaskForm again = forms.Say(kept);
  EXPECT_EQ(again.kind, Kind::kSameAs);
  EXPECT_EQ(again.slot, *first.put);
}

// What stands at the address of a mask that is gone is another mask.
TEST(MaskForms, AnAddressMeansNothing) {
  MaskForms forms(kAll);
  for (int i = 0; i < 8; ++i) {
    const MaskForm form = forms.Say(StoreMask(RandomMask(seeded, 0.5)));
    EXPECT_EQ(form.kind, Kind::kDense);
    EXPECT_TRUE(form.put.has_value());
  }
}

TEST(MaskForms, ALargeMaskOutlivesSmallOnes) {
  FormTerms terms = kAll;
  terms.delta = false;
  terms.dictionary_size = 2;
  std::vector<MaskRef> said = {StoreMask(RandomMask(seeded, 0.5))};
  for (const TokenId first : {1, 2, 3}) {
    said.push_back(StoreMask(
        MaskOf({first, first + 299, first + 499, first + 699, first + 899, first + 1099})));
  }
  EXPECT_EQ(SayAfter(terms, said, said.front()).kind, Kind::kSameAs);
}

// Every set of forms, small and large dictionaries, masks that come again, are near one another,
// are replaced and are made for one call.
class EveryTermsTest : public testing::TestWithParam<int> {};

TEST_P(EveryTermsTest, ReadsBackAsTheMaskItWas) {
  std::mt19937_64 random(GetParam());
  const auto offered = [&random] { return random() % 4 != 0; };
  FormTerms terms{offered(), offered(), offered(), offered(), static_cast<int>(random() % 9)};
  if (!terms.same_as && !terms.delta) terms.dictionary_size = 0;
  MaskForms forms(terms);
  FormReader reader(terms.dictionary_size);
  std::vector<MaskRef> masks;
  for (const double density : {0.0, 0.002, 0.01, 0.3, 0.5, 0.98, 0.999, 1.0}) {
    TokenMask mask = RandomMask(random, density);
    masks.push_back(StoreMask(mask));
    mask.Forbid(static_cast<TokenId>(1 + random() % (kVocabulary - 1)));
    masks.push_back(StoreMask(std::move(mask)));
  }
  for (int i = 0; i < 400; ++i) {
    MaskRef& mask = masks[random() % masks.size()];
    if (random() % 50 == 0) mask = StoreMask(RandomMask(random, 0.5));
    const bool own = random() % 4 == 0;
    const MaskForm form = forms.Say(own ? std::make_shared<const TokenMask>(*mask) : mask);
    ASSERT_EQ(reader.Read(form, *mask), *mask) << "mask " << i;
    ASSERT_TRUE(form.kind != Kind::kSameAs || terms.same_as);
    ASSERT_TRUE(form.kind != Kind::kDelta || terms.delta);
    ASSERT_TRUE(form.kind != Kind::kAllowedIds || terms.allowed_ids);
    ASSERT_TRUE(form.kind != Kind::kForbiddenIds || terms.forbidden_ids);
    ASSERT_TRUE(!form.put.has_value() || *form.put < terms.dictionary_size);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, EveryTermsTest, testing::Range(1, 101));

}  // namespace
}  // namespace maskd::service
