// A position's bytes, read as protobuf's own parser reads them: whole ones, cut ones, changed ones.
#include "client/cpp/masks/position_fields.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "client/cpp/masks/mask_storage.h"
#include "maskd/v1/mask_service.pb.h"

namespace maskd::client {
namespace {

using Random = std::mt19937_64;

constexpr std::size_t kFieldWords = 2;

class PositionFieldsTest : public testing::Test {
 protected:
  PositionFieldsTest() { storage_.pool = std::make_unique<WordPool>(kFieldWords); }

  bool Read(const std::string& bytes) {
    storage_.Clear();
    WireInput in(bytes);
    return ReadPosition(in, kFieldWords, storage_, fields_);
  }

  // That the fields are those of the message.
  void ExpectSame(const v1::Position& position) const {
    EXPECT_EQ(fields_.form, static_cast<int>(position.form_case()));
    EXPECT_EQ(fields_.dictionary_slot.has_value(), position.has_dictionary_slot());
    EXPECT_EQ(fields_.dictionary_slot.value_or(0), position.dictionary_slot());
    EXPECT_EQ(fields_.temperature.has_value(), position.has_temperature());
    const float temperature = fields_.temperature.value_or(0);
    const float expected = position.temperature();
    EXPECT_EQ(std::memcmp(&temperature, &expected, sizeof(float)), 0) << temperature;
    ASSERT_EQ(fields_.biases.size(), static_cast<std::size_t>(position.biases_size()));
    for (int i = 0; i < position.biases_size(); ++i) {
      const LogitBias& bias = fields_.biases[static_cast<std::size_t>(i)];
      EXPECT_EQ(bias.id, position.biases(i).id());
      const float is = position.biases(i).bias();
      EXPECT_EQ(std::memcmp(&bias.bias, &is, sizeof(float)), 0) << is;
    }
    switch (position.form_case()) {
      case v1::Position::kDense:
        EXPECT_EQ(fields_.dense_bytes, static_cast<int>(position.dense().size()));
        ASSERT_EQ(fields_.words.size(), position.dense().size() == 8 ? kFieldWords : 0);
        if (!fields_.words.empty())
          EXPECT_EQ(std::memcmp(fields_.words.data(), position.dense().data(), 8), 0);
        break;
      case v1::Position::kSameAs:
        EXPECT_EQ(fields_.slot, position.same_as());
        break;
      case v1::Position::kAllowedIds:
        EXPECT_THAT(fields_.ids, testing::ElementsAreArray(position.allowed_ids().ids()));
        break;
      case v1::Position::kForbiddenIds:
        EXPECT_THAT(fields_.ids, testing::ElementsAreArray(position.forbidden_ids().ids()));
        break;
      case v1::Position::kDelta:
        EXPECT_EQ(fields_.slot, position.delta().base());
        EXPECT_THAT(fields_.word_indices,
                    testing::ElementsAreArray(position.delta().word_indices()));
        EXPECT_THAT(fields_.changed_words, testing::ElementsAreArray(position.delta().words()));
        break;
      default:
        break;
    }
  }

  MaskStorage storage_;
  PositionFields fields_;
};

v1::Position MakePosition(Random& random) {
  v1::Position position;
  const auto any = [&] { return static_cast<std::uint32_t>(random() >> (32 + random() % 32)); };
  const auto fill = [&](auto* ids) {
    for (auto i = random() % 5; i > 0; --i) ids->add_ids(static_cast<std::int32_t>(any()));
  };
  switch (random() % 8) {
    case 0:
      position.set_full(random() % 2 == 0);
      break;
    case 1:
      position.set_dense(std::string(random() % 3 == 0 ? random() % 20 : 8, 'x'));
      break;
    case 2:
      position.set_same_as(any());
      break;
    case 3:
      fill(position.mutable_allowed_ids());
      break;
    case 4:
      fill(position.mutable_forbidden_ids());
      break;
    case 5:
      position.mutable_delta()->set_base(any());
      for (auto i = random() % 4; i > 0; --i) position.mutable_delta()->add_word_indices(any());
      for (auto i = random() % 4; i > 0; --i) position.mutable_delta()->add_words(any());
      break;
    case 6:
      position.set_invalid(random() % 2 == 0);
      break;
    default:
      break;
  }
  if (random() % 3 == 0) position.set_dictionary_slot(any());
  const auto number = [&] {
    const std::uint32_t bits = any();
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  };
  if (random() % 3 == 0) position.set_temperature(number());
  for (auto i = random() % 3; i > 0; --i) {
    v1::LogitBias& bias = *position.add_biases();
    bias.set_id(static_cast<std::int32_t>(any()));
    bias.set_bias(number());
  }
  return position;
}

TEST_F(PositionFieldsTest, WholeOnesAreReadAndCutOnesAreNot) {
  Random random(20261126);
  int read = 0;
  for (int i = 0; i < 3000; ++i) {
    const v1::Position position = MakePosition(random);
    const std::string bytes = position.SerializeAsString();
    ASSERT_TRUE(Read(bytes)) << position.ShortDebugString();
    ExpectSame(position);
    ASSERT_FALSE(HasFailure()) << position.ShortDebugString();
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      v1::Position part;
      const std::string begin = bytes.substr(0, cut);
      const bool whole = part.ParseFromString(begin);
      ASSERT_EQ(Read(begin), whole) << position.ShortDebugString() << " up to " << cut;
      if (whole) ExpectSame(part);
      ASSERT_FALSE(HasFailure()) << position.ShortDebugString() << " up to " << cut;
      ++read;
    }
  }
  EXPECT_GT(read, 20'000);
}

// Of bytes that were changed, what both take means the same, where no field comes twice: there the
// parts of a message are merged by protobuf alone, and protos/wire_fields.h says so.
TEST_F(PositionFieldsTest, ChangedOnesMeanWhatProtobufSaysTheyMean) {
  Random random(7);
  int same = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = MakePosition(random).SerializeAsString();
    if (bytes.empty()) continue;
    for (auto changes = 1 + random() % 2; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    v1::Position position;
    // Protobuf refuses more: field numbers that are longer than any.
    const bool whole = position.ParseFromString(bytes);
    const bool read = Read(bytes);
    ASSERT_TRUE(read || !whole) << testing::PrintToString(bytes);
    if (!whole) continue;
    // Shorter when it is written anew: a field was there twice.
    if (position.ByteSizeLong() != bytes.size()) continue;
    ExpectSame(position);
    ASSERT_FALSE(HasFailure()) << testing::PrintToString(bytes) << "\n"
                               << position.ShortDebugString();
    ++same;
  }
  EXPECT_GT(same, 2'000);
}

// A number of a form, written as no form is: a field that is not known.
TEST_F(PositionFieldsTest, AFormWrittenAsNoneIsIsNone) {
  ASSERT_TRUE(Read(std::string("\x0d\x01\x00\x00\x00", 5)));  // field 1, `full`, of four bytes
  EXPECT_EQ(fields_.form, 0);
  ASSERT_TRUE(Read(std::string("\x18\x05\x3d\x01\x00\x00\x00", 7)));  // same_as 5, then field 7 so
  EXPECT_EQ(fields_.form, v1::Position::kSameAsFieldNumber);
  EXPECT_EQ(fields_.slot, 5);
}

TEST_F(PositionFieldsTest, NothingOfThePositionBeforeIsLeft) {
  v1::Position position;
  position.mutable_delta()->set_base(3);
  position.mutable_delta()->add_words(1);
  position.mutable_delta()->add_word_indices(1);
  position.set_dictionary_slot(1);
  position.set_temperature(2);
  position.add_biases()->set_id(1);
  ASSERT_TRUE(Read(position.SerializeAsString()));
  ASSERT_TRUE(Read(""));
  ExpectSame({});
  EXPECT_EQ(fields_.slot, 0);
  EXPECT_TRUE(fields_.word_indices.empty());
  EXPECT_TRUE(fields_.changed_words.empty());
}

}  // namespace
}  // namespace maskd::client
