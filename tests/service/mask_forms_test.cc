// Masks in the forms that a stream may use: each reads back as the mask it was, and takes the
// shortest form.
#include "service/mask_forms.h"

#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/service/form_reader.h"

namespace maskd::service {
namespace {

using Kind = MaskForm::Kind;

constexpr int kVocabulary = 3000;

// A grammar that lives as long as the test wants; nobody looks into it.
cache::GrammarPtr MakeGrammar() { return {std::make_shared<int>(0), nullptr}; }

MaskRef Kept(const TokenMask& mask) { return {MaskRef(), &mask}; }

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
  for (TokenId id = 0; id < kVocabulary; ++id) {
    if (allowed(random)) mask.Allow(id);
  }
  mask.Allow(0);
  return mask;
}

// The first form of `mask` on a stream that has said `before`.
MaskForm SayAfter(const FormTerms& terms, const std::vector<const TokenMask*>& before,
                  const TokenMask& mask) {
  MaskForms forms(terms);
  const cache::GrammarPtr grammar = MakeGrammar();
  for (const TokenMask* each : before) forms.Say(Kept(*each), grammar);
  return forms.Say(Kept(mask), grammar);
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
  EXPECT_EQ(SayAfter(test.terms, {}, test.mask).kind, test.kind);
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
  const TokenMask mask = RandomMask(seeded, 0.5);
  MaskForms forms(kAll);
  const cache::GrammarPtr grammar = MakeGrammar();
  const MaskForm first = forms.Say(Kept(mask), grammar);
  ASSERT_TRUE(first.put.has_value());
  const MaskForm second = forms.Say(Kept(mask), grammar);
  EXPECT_EQ(second.kind, Kind::kSameAs);
  EXPECT_EQ(second.slot, *first.put);
  EXPECT_FALSE(second.put.has_value());
}

TEST(MaskForms, ShortListsStayOutOfTheDictionary) {
  const TokenMask mask = MaskOf({1, 2});
  MaskForms forms(kAll);
  const cache::GrammarPtr grammar = MakeGrammar();
  EXPECT_FALSE(forms.Say(Kept(mask), grammar).put.has_value());
  EXPECT_EQ(forms.Say(Kept(mask), grammar).kind, Kind::kAllowedIds);
}

TEST(MaskForms, AMaskNearAnotherIsADelta) {
  const TokenMask base = RandomMask(seeded, 0.5);
  TokenMask near = base;
  near.Allows(2000) ? near.Forbid(2000) : near.Allow(2000);
  const MaskForm form = SayAfter(kAll, {&base}, near);
  ASSERT_EQ(form.kind, Kind::kDelta);
  EXPECT_EQ(form.delta->word_indices, std::vector<std::uint32_t>{2000 / 32});
  EXPECT_TRUE(form.put.has_value());
  FormTerms no_delta = kAll;
  no_delta.delta = false;
  EXPECT_EQ(SayAfter(no_delta, {&base}, near).kind, Kind::kDense);
}

TEST(MaskForms, AMaskMadeForOneCallIsKnownByItsWords) {
  const TokenMask mask = RandomMask(seeded, 0.5);
  MaskForms forms(kAll);
  const cache::GrammarPtr grammar = MakeGrammar();
  EXPECT_EQ(forms.Say(std::make_shared<const TokenMask>(mask), grammar).kind, Kind::kDense);
  EXPECT_EQ(forms.Say(std::make_shared<const TokenMask>(mask), grammar).kind, Kind::kSameAs);
}

// A grammar's end frees its masks: what stands at their addresses then is another mask.
TEST(MaskForms, AnAddressMeansNothingOnceItsGrammarIsGone) {
  TokenMask at_one_address = RandomMask(seeded, 0.5);
  MaskForms forms(kAll);
  forms.Say(Kept(at_one_address), MakeGrammar());
  at_one_address = RandomMask(seeded, 0.5);
  const MaskForm form = forms.Say(Kept(at_one_address), MakeGrammar());
  EXPECT_EQ(form.kind, Kind::kDense);
  EXPECT_TRUE(form.put.has_value());
}

TEST(MaskForms, ALargeMaskOutlivesSmallOnes) {
  FormTerms terms = kAll;
  terms.delta = false;
  terms.dictionary_size = 2;
  const TokenMask large = RandomMask(seeded, 0.5);
  const TokenMask small_masks[] = {MaskOf({1, 300, 500, 700, 900, 1100}),
                                   MaskOf({2, 301, 501, 701, 901, 1101}),
                                   MaskOf({3, 302, 502, 702, 902, 1102})};
  EXPECT_EQ(
      SayAfter(terms, {&large, &small_masks[0], &small_masks[1], &small_masks[2]}, large).kind,
      Kind::kSameAs);
}

// Every set of forms, small and large dictionaries, masks that come again, are near one another, go
// with their grammars and are made for one call.
class EveryTermsTest : public testing::TestWithParam<int> {};

TEST_P(EveryTermsTest, ReadsBackAsTheMaskItWas) {
  std::mt19937_64 random(GetParam());
  const auto offered = [&random] { return random() % 4 != 0; };
  FormTerms terms{offered(), offered(), offered(), offered(), static_cast<int>(random() % 9)};
  if (!terms.same_as && !terms.delta) terms.dictionary_size = 0;
  MaskForms forms(terms);
  FormReader reader(terms.dictionary_size);
  std::vector<TokenMask> masks;
  for (const double density : {0.0, 0.002, 0.01, 0.3, 0.5, 0.98, 0.999, 1.0}) {
    masks.push_back(RandomMask(random, density));
    masks.push_back(masks.back());
    masks.back().Forbid(static_cast<TokenId>(1 + random() % (kVocabulary - 1)));
  }
  cache::GrammarPtr grammar = MakeGrammar();
  for (int i = 0; i < 400; ++i) {
    TokenMask& mask = masks[random() % masks.size()];
    if (random() % 50 == 0) {
      grammar = MakeGrammar();
      mask = RandomMask(random, 0.5);
    }
    const bool own = random() % 4 == 0;
    const MaskForm form =
        forms.Say(own ? std::make_shared<const TokenMask>(mask) : Kept(mask), grammar);
    ASSERT_EQ(reader.Read(form, mask), mask) << "mask " << i;
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
