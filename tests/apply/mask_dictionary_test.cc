#include "client/apply/mask_dictionary.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "client/apply/applier.h"
#include "tests/apply/appliers.h"
#include "tests/apply/logits_fixture.h"

namespace maskd::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kVocab = 100;

class MaskDictionaryTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto applier = MakeNamedApplier(GetParam());
    if (absl::IsUnimplemented(applier.status()))
      GTEST_SKIP() << "NOT TESTED HERE: " << applier.status().message();
    ASSERT_TRUE(applier.ok()) << applier.status();
    applier_ = *std::move(applier);
    auto dictionary = applier_->MakeDictionary(kVocab, 3);
    ASSERT_TRUE(dictionary.ok()) << dictionary.status();
    dictionary_ = *std::move(dictionary);
  }

  absl::Status Apply(const MaskRow& row, LogitsPlane& plane) {
    const std::vector<MaskRow> rows = {row};
    return applier_->Apply({.vocab_size = kVocab, .rows = rows, .dictionary = dictionary_.get()},
                           plane.view());
  }

  std::shared_ptr<Applier> applier_;
  std::unique_ptr<MaskDictionary> dictionary_;
};

TEST_P(MaskDictionaryTest, SlotsAreEmptyUntilSet) {
  EXPECT_THAT(dictionary_->Find(0), IsEmpty());
  LogitsPlane plane(LogitsType::kFloat32, 1, kVocab);
  const absl::Status status = Apply(MaskRow::Same(0, 0), plane);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "masks.rows[0].slot: the dictionary has no mask in slot 0");
}

TEST_P(MaskDictionaryTest, ASlotThatIsSetAgainHasTheNewMask) {
  for (const std::int64_t token : {4, 99}) {
    ASSERT_TRUE(dictionary_->Set(2, MaskOf(kVocab, {token})).ok());
    LogitsPlane plane(LogitsType::kFloat32, 1, kVocab);
    ASSERT_EQ(Apply(MaskRow::Same(0, 2), plane), absl::OkStatus());
    EXPECT_THAT(plane.Finite(0), ElementsAre(token));
  }
}

TEST_P(MaskDictionaryTest, SlotsOutsideAreRefused) {
  const auto words = MaskOf(kVocab, {1});
  for (const std::int64_t slot : {-1, 3}) {
    EXPECT_EQ(dictionary_->Set(slot, words).code(), absl::StatusCode::kOutOfRange);
    LogitsPlane plane(LogitsType::kFloat32, 1, kVocab);
    EXPECT_EQ(Apply(MaskRow::Same(0, slot), plane).code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_P(MaskDictionaryTest, WordsOfAnotherVocabularyAreRefused) {
  const absl::Status status = dictionary_->Set(0, MaskOf(kVocab + 32, {1}));
  EXPECT_EQ(status.message(), "words: are 5, a vocabulary of 100 needs 4");
  EXPECT_THAT(dictionary_->Find(0), IsEmpty());
}

TEST_P(MaskDictionaryTest, OfAnotherVocabularyOrApplierIsRefused) {
  LogitsPlane plane(LogitsType::kFloat32, 1, 200);
  const auto before = plane.bytes();
  const MaskRows other_vocabulary{.vocab_size = 200, .dictionary = dictionary_.get()};
  EXPECT_EQ(applier_->Apply(other_vocabulary, plane.view()).message(),
            "masks.dictionary: is of a vocabulary of 100 tokens, not 200");
  const auto other = MakeCpuApplier();
  ASSERT_TRUE(other.ok());
  const MaskRows other_applier{.vocab_size = kVocab, .dictionary = dictionary_.get()};
  EXPECT_EQ((*other)->Apply(other_applier, plane.view()).message(),
            "masks.dictionary: was made by another applier");
  EXPECT_EQ(plane.bytes(), before);
}

TEST_P(MaskDictionaryTest, SizesThatCannotBeAreRefused) {
  EXPECT_EQ(applier_->MakeDictionary(0, 1).status().message(), "vocab_size: 0 is not positive");
  EXPECT_EQ(applier_->MakeDictionary(1, -1).status().message(), "slot_count: -1 is negative");
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(absl::IsInvalidArgument(applier_->MakeDictionary(kHuge, 1).status()));
  for (const std::int64_t slots : {kHuge, kHuge / 4, kHuge / 16}) {
    const absl::Status status = applier_->MakeDictionary(kVocab, slots).status();
    EXPECT_TRUE(absl::IsResourceExhausted(status)) << slots << ": " << status;
    EXPECT_EQ(status.message().substr(0, 12), "slot_count: ") << status;
  }
}

INSTANTIATE_TEST_SUITE_P(Appliers, MaskDictionaryTest, testing::ValuesIn(ApplierNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace maskd::client
