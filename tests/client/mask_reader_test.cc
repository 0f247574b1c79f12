// Masks in every row form, read from the messages that any server may send.
#include "client/cpp/masks/mask_reader.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace maskd::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kWords = 3;
constexpr int kVocabulary = 70;

v1::Welcome MakeWelcome() {
  v1::Welcome welcome;
  welcome.set_mask_words(kWords);
  welcome.mutable_tokenizer()->set_vocab_size(kVocabulary);
  welcome.set_dictionary_size(2);
  return welcome;
}

class MaskReaderTest : public testing::Test {
 protected:
  MaskReaderTest() : reader_(MakeWelcome()) { storage_.pool = std::make_unique<WordPool>(kWords); }

  absl::StatusOr<MaskView> Read(const std::function<void(v1::Position&)>& fill) {
    v1::Position position;
    fill(position);
    return ReadBytes(position.SerializeAsString());
  }

  absl::StatusOr<MaskView> ReadBytes(const std::string& bytes) {
    WireInput in(bytes);
    return reader_.Read(in, storage_);
  }

  MaskStorage storage_;
  MaskReader reader_;
};

TEST_F(MaskReaderTest, FullHasNothing) {
  const auto mask = Read([](v1::Position& position) { position.set_full(true); });
  ASSERT_TRUE(mask.ok());
  EXPECT_TRUE(mask->full());
  EXPECT_TRUE(mask->words().empty());
}

TEST_F(MaskReaderTest, AllowedIds) {
  const auto mask = Read([](v1::Position& position) {
    for (const int id : {0, 33, 69}) position.mutable_allowed_ids()->add_ids(id);
  });
  ASSERT_TRUE(mask.ok()) << mask.status();
  EXPECT_EQ(mask->form(), MaskView::Form::kAllowedIds);
  EXPECT_THAT(mask->ids(), ElementsAre(0, 33, 69));
  EXPECT_THAT(mask->words(), ElementsAre(1, 2, 32));
}

TEST_F(MaskReaderTest, ForbiddenIdsEndAtTheVocabulary) {
  const auto mask = Read([](v1::Position& position) {
    for (const int id : {0, 69}) position.mutable_forbidden_ids()->add_ids(id);
  });
  ASSERT_TRUE(mask.ok()) << mask.status();
  EXPECT_THAT(mask->ids(), ElementsAre(0, 69));
  EXPECT_THAT(mask->words(), ElementsAre(-2, -1, 31));
}

TEST_F(MaskReaderTest, SameAsAndDeltaNameTheDictionary) {
  const std::int32_t words[] = {5, 6, 7};
  ASSERT_TRUE(Read([&words](v1::Position& position) {
                position.set_dense(words, sizeof(words));
                position.set_dictionary_slot(1);
              }).ok());
  const auto delta = Read([](v1::Position& position) {
    position.mutable_delta()->set_base(1);
    position.mutable_delta()->add_word_indices(2);
    position.mutable_delta()->add_words(9);
    position.set_dictionary_slot(1);
  });
  ASSERT_TRUE(delta.ok()) << delta.status();
  EXPECT_THAT(delta->words(), ElementsAre(5, 6, 9));
  const auto same = Read([](v1::Position& position) { position.set_same_as(1); });
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_THAT(same->words(), ElementsAre(5, 6, 9)) << "the slot holds the later mask";
}

TEST_F(MaskReaderTest, AMaskOfTheDictionaryKeepsItsIds) {
  ASSERT_TRUE(Read([](v1::Position& position) {
                position.mutable_allowed_ids()->add_ids(3);
                position.set_dictionary_slot(0);
              }).ok());
  const auto same = Read([](v1::Position& position) { position.set_same_as(0); });
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(same->form(), MaskView::Form::kAllowedIds);
  EXPECT_THAT(same->ids(), ElementsAre(3));
  EXPECT_THAT(same->words(), ElementsAre(8, 0, 0));
}

TEST_F(MaskReaderTest, AShownMaskOutlivesItsSlot) {
  const auto put = [](int id) {
    return [id](v1::Position& position) {
      position.mutable_allowed_ids()->add_ids(id);
      position.set_dictionary_slot(0);
    };
  };
  ASSERT_TRUE(Read(put(3)).ok());
  const auto same = Read([](v1::Position& position) { position.set_same_as(0); });
  ASSERT_TRUE(Read(put(4)).ok());
  EXPECT_THAT(same->words(), ElementsAre(8, 0, 0));
}

struct BrokenCase {
  std::string name;
  std::function<void(v1::Position&)> fill;
  std::string message;
};

class BrokenPositionTest : public MaskReaderTest, public testing::WithParamInterface<BrokenCase> {};

TEST_P(BrokenPositionTest, IsInternal) {
  const auto mask = Read(GetParam().fill);
  EXPECT_TRUE(absl::IsInternal(mask.status())) << mask.status();
  EXPECT_THAT(std::string(mask.status().message()), HasSubstr(GetParam().message));
}

void FillIds(v1::Position& position, const std::vector<int>& ids) {
  for (const int id : ids) position.mutable_allowed_ids()->add_ids(id);
}

INSTANTIATE_TEST_SUITE_P(
    Positions, BrokenPositionTest,
    testing::ValuesIn(std::vector<BrokenCase>{
        {"NoForm", [](v1::Position&) {}, "row form 0"},
        {"DenseTooShort", [](v1::Position& p) { p.set_dense("abcd"); }, "a mask of 4 bytes"},
        {"IdsDescend", [](v1::Position& p) { FillIds(p, {4, 3}); }, "id 3"},
        {"IdTwice", [](v1::Position& p) { FillIds(p, {4, 4}); }, "id 4"},
        {"IdNegative", [](v1::Position& p) { FillIds(p, {-1}); }, "id -1"},
        {"IdPastTheVocabulary", [](v1::Position& p) { FillIds(p, {70}); }, "id 70"},
        {"SlotWithoutAMask", [](v1::Position& p) { p.set_same_as(1); }, "slot 1"},
        {"SlotPastTheDictionary", [](v1::Position& p) { p.set_same_as(2); }, "slot 2"},
        {"DeltaOfNoMask", [](v1::Position& p) { p.mutable_delta(); }, "slot 0"},
        {"PutPastTheDictionary",
         [](v1::Position& p) {
           FillIds(p, {1});
           p.set_dictionary_slot(2);
         },
         "slot 2"},
        {"PutOfNoMask",
         [](v1::Position& p) {
           p.set_full(true);
           p.set_dictionary_slot(0);
         },
         "what is no mask"},
    }),
    [](const auto& test) { return test.param.name; });

struct BrokenDelta {
  std::string name;
  std::vector<std::uint32_t> indices;
  std::vector<std::uint32_t> words;
};

class BrokenDeltaTest : public MaskReaderTest, public testing::WithParamInterface<BrokenDelta> {};

TEST_P(BrokenDeltaTest, IsInternal) {
  ASSERT_TRUE(Read([](v1::Position& position) {
                position.mutable_allowed_ids()->add_ids(1);
                position.set_dictionary_slot(0);
              }).ok());
  const auto mask = Read([](v1::Position& position) {
    v1::MaskDelta& delta = *position.mutable_delta();
    delta.mutable_word_indices()->Add(GetParam().indices.begin(), GetParam().indices.end());
    delta.mutable_words()->Add(GetParam().words.begin(), GetParam().words.end());
  });
  EXPECT_TRUE(absl::IsInternal(mask.status())) << mask.status();
}

INSTANTIATE_TEST_SUITE_P(Deltas, BrokenDeltaTest,
                         testing::ValuesIn(std::vector<BrokenDelta>{
                             {"MoreIndices", {0, 1}, {1}},
                             {"MoreWords", {0}, {1, 2}},
                             {"WordPastTheMask", {3}, {1}},
                         }),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace maskd::client
