// Fields off the wire: every size and number that a hostile message can claim.
#include "grammar_core/tokenizer/formats/wire_reader.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#include "grammar_core/base/error.h"
#include "tests/tokenizer/model_bytes.h"

namespace maskd {
namespace {

using Type = WireField::Type;
using std::string_literals::operator""s;

// The encoding guide's own examples, and the ends of the ranges.
struct NumberCase {
  std::string name;
  std::string message;
  std::uint32_t number;
  std::uint64_t value;
};

class WireNumberTest : public testing::TestWithParam<NumberCase> {};

TEST_P(WireNumberTest, IsRead) {
  WireReader reader(GetParam().message);
  ASSERT_FALSE(reader.done());
  const absl::StatusOr<WireField> field = reader.Next();
  ASSERT_TRUE(field.ok()) << field.status();
  EXPECT_EQ(field->number, GetParam().number);
  EXPECT_EQ(field->type, Type::kVarint);
  EXPECT_EQ(field->varint, GetParam().value);
  EXPECT_TRUE(reader.done());
}

INSTANTIATE_TEST_SUITE_P(
    Varints, WireNumberTest,
    testing::ValuesIn(std::vector<NumberCase>{
        {"OfTheGuide", "\x08\x96\x01", 1, 150},
        {"Zero", "\x08\x00"s, 1, 0},
        {"ZeroOfTenBytes", "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"s, 1, 0},
        {"AllBits", "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 1, ~std::uint64_t{0}},
        {"TheTopBitAlone", "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 1,
         std::uint64_t{1} << 63},
        {"GreatestFieldNumber", "\xF8\xFF\xFF\xFF\x0F\x01", (1U << 29) - 1, 1},
    }),
    [](const auto& test) { return test.param.name; });

TEST(WireReaderTest, BytesAreViewedWhereTheyStand) {
  const std::string message = "\x12\x07testing"s + "\x1A\x00"s + "\x25" + "abcd" + "\x29" +
                              "12345678" + VarintField(6, 300);
  WireReader reader(message, 1000);
  std::vector<WireField> fields;
  while (!reader.done()) {
    const absl::StatusOr<WireField> field = reader.Next();
    ASSERT_TRUE(field.ok()) << field.status();
    fields.push_back(*field);
  }
  ASSERT_EQ(fields.size(), 5U);
  EXPECT_EQ(fields[0].type, Type::kBytes);
  EXPECT_EQ(fields[0].bytes, "testing");
  EXPECT_EQ(fields[0].bytes.data(), message.data() + 2);
  EXPECT_EQ(fields[0].offset, 1002U);
  EXPECT_EQ(fields[1].bytes, "");
  EXPECT_EQ(fields[1].offset, 1011U);
  EXPECT_EQ(fields[2].type, Type::kFixed32);
  EXPECT_EQ(fields[2].bytes, "abcd");
  EXPECT_EQ(fields[3].type, Type::kFixed64);
  EXPECT_EQ(fields[3].bytes, "12345678");
  EXPECT_EQ(fields[3].offset, 1017U);
  EXPECT_EQ(fields[4].varint, 300U);
  EXPECT_EQ(fields[4].offset, 1026U);
}

TEST(WireReaderTest, AnEmptyMessageHasNoField) { EXPECT_TRUE(WireReader("").done()); }

TEST(WireReaderTest, AMessageWithinIsReadByAnotherReader) {
  const std::string message = BytesField(1, BytesField(2, "a"));
  const absl::StatusOr<WireField> outer = WireReader(message, 10).Next();
  ASSERT_TRUE(outer.ok()) << outer.status();
  const absl::StatusOr<WireField> inner = WireReader(outer->bytes, outer->offset).Next();
  ASSERT_TRUE(inner.ok()) << inner.status();
  EXPECT_EQ(inner->number, 2U);
  EXPECT_EQ(inner->bytes, "a");
  EXPECT_EQ(inner->offset, 14U);
}

struct WrongCase {
  std::string name;
  std::string message;  // at byte 7 of the file
  std::string error;
};

class WrongFieldTest : public testing::TestWithParam<WrongCase> {};

TEST_P(WrongFieldTest, IsRefusedAtItsPlace) {
  const absl::Status status = WireReader(GetParam().message, 7).Next().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Fields, WrongFieldTest,
    testing::ValuesIn(std::vector<WrongCase>{
        {"TagIsCut", "\x88", "byte 7: the message ends within a number"},
        {"NoValue", "\x08", "byte 8: the message ends within a number"},
        {"NumberIsCut", "\x08\xFF", "byte 8: the message ends within a number"},
        {"SixtyFiveBits", "\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02",
         "byte 8: a number of more than 64 bits"},
        {"ElevenBytes", "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"s,
         "byte 8: a number of more than 64 bits"},
        {"FieldZero", "\x00\x01"s, "byte 7: 0 is not a field number"},
        {"FieldPastTheGreatest", "\x80\x80\x80\x80\x10\x01",
         "byte 7: 536870912 is not a field number"},
        {"BytesAreCut", "\x12\x07test", "byte 9: a value of 7 bytes, and the message has 4 more"},
        {"NoSize", "\x12", "byte 8: the message ends within a number"},
        {"GreatestSize", "\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01",
         "byte 18: a value of 18446744073709551615 bytes, and the message has 0 more"},
        {"FourBytesAreCut",
         "\x25"
         "abc",
         "byte 8: a value of 4 bytes, and the message has 3 more"},
        {"EightBytesAreCut",
         "\x29"
         "1234567",
         "byte 8: a value of 8 bytes, and the message has 7 more"},
        {"GroupBegins", "\x0B", "byte 8: field 1 has the wire type 3, which is not known"},
        {"GroupEnds", "\x0C", "byte 8: field 1 has the wire type 4, which is not known"},
        {"TypeSix", "\x0E", "byte 8: field 1 has the wire type 6, which is not known"},
        {"TypeSeven", "\x0F", "byte 8: field 1 has the wire type 7, which is not known"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(BytePlaceTest, IsWhatErrorsStartWith) {
  EXPECT_EQ(BytePlace(0), "byte 0");
  EXPECT_EQ(BytePlace(~std::uint64_t{0}), "byte 18446744073709551615");
  EXPECT_EQ(ErrorPlace(WireReader("\x08", 7).Next().status()), BytePlace(8));
}

}  // namespace
}  // namespace maskd
