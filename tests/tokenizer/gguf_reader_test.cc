// The metadata of GGUF files, value by value: what numbers may be, and what a length may claim.
#include "grammar_core/tokenizer/formats/gguf_reader.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/tokenizer/gguf_bytes.h"

namespace maskd {
namespace {

using std::string_literals::operator""s;
using testing::ElementsAre;
using testing::IsEmpty;

// A file whose first pair has been begun: its value comes next.
class Opened {
 public:
  explicit Opened(const std::vector<std::string>& pairs) : file_(File(pairs)), reader_(file_) {
    EXPECT_TRUE(reader_.ReadHeader().ok());
    EXPECT_EQ(reader_.pairs(), pairs.size());
    EXPECT_TRUE(reader_.ReadKey().ok());
  }
  GgufReader& operator*() { return reader_; }
  GgufReader* operator->() { return &reader_; }

 private:
  std::istringstream file_;
  GgufReader reader_;
};

struct WholeCase {
  std::string name;
  int type;
  std::string value;
  std::int64_t whole;
  std::string error = "";
};

class WholeTest : public testing::TestWithParam<WholeCase> {};

TEST_P(WholeTest, IsReadOrRefused) {
  Opened file({Pair("k", GetParam().type, GetParam().value)});
  const absl::StatusOr<std::int64_t> whole = file->ReadWhole();
  if (GetParam().error.empty()) {
    ASSERT_TRUE(whole.ok()) << whole.status();
    EXPECT_EQ(*whole, GetParam().whole);
    return;
  }
  EXPECT_EQ(whole.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::EndsWith(whole.status().message(), GetParam().error)) << whole.status();
}

constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();
constexpr char kNegative[] = ": k: a negative number";
constexpr char kNoNumber[] = ": k: not a whole number";

INSTANTIATE_TEST_SUITE_P(
    Numbers, WholeTest,
    testing::ValuesIn(std::vector<WholeCase>{
        {"Uint8", kUint8, "\xFF", 255},
        {"Int8", kInt8, "\x7F", 127},
        {"Int8Negative", kInt8, "\x80", 0, kNegative},
        {"Uint16", kUint16, "\x01\xFF", 0xFF01},
        {"Int16", kInt16, "\xFF\x7F", 32767},
        {"Int16Negative", kInt16, "\xFF\xFF", 0, kNegative},
        {"Uint32", kUint32, "\xFF\xFF\xFF\xFF", 4294967295},
        {"Int32", kInt32, "\x04\x03\x02\x01", 0x01020304},
        {"Int32Negative", kInt32, "\x00\x00\x00\x80"s, 0, kNegative},
        {"Uint64", kUint64, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", kGreatest},
        {"Uint64Past", kUint64, "\x00\x00\x00\x00\x00\x00\x00\x80"s, 0,
         ": k: a number past 2^63 - 1"},
        {"Int64", kInt64, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", kGreatest},
        {"Int64Negative", kInt64, "\x00\x00\x00\x00\x00\x00\x00\x80"s, 0, kNegative},
        {"Bool", kBool, "\x01", 0, kNoNumber},
        {"Float32", kFloat32, "\x00\x00\x80\x3F"s, 0, kNoNumber},
        {"Float64", kFloat64, "12345678", 0, kNoNumber},
        {"OfText", kString, Text("1"), 0, kNoNumber},
        {"OfAnArray", kArray, ArrayOf(kUint8, {"\x01"}), 0, kNoNumber},
        {"Cut", kUint32, "\x01\x02\x03", 0, "byte 37: a value of 4 bytes, and the file has 3 more"},
    }),
    [](const auto& test) { return test.param.name; });

TEST(GgufReaderTest, ReadsFromTheStartWhereverTheStreamStands) {
  std::istringstream file("GGUF" + Number(2, 4) + Number(77, 8) + Number(5, 8));
  file.get();
  GgufReader reader(file);
  ASSERT_TRUE(reader.ReadHeader().ok());
  EXPECT_EQ(reader.pairs(), 5U);
}

TEST(GgufReaderTest, KeysAndTextsAreAnyBytes) {
  const std::string key = std::string(65534, 'k') + "\0"s;
  std::istringstream file(
      File({Pair(key, kString, Text("a\0\xFF"s)), Pair("\xFF", kString, Text(""))}));
  GgufReader reader(file);
  ASSERT_TRUE(reader.ReadHeader().ok());
  EXPECT_EQ(reader.ReadKey().value(), key);
  EXPECT_EQ(reader.ReadText().value(), "a\0\xFF"s);
  EXPECT_EQ(reader.ReadKey().value(), "\xFF");
  EXPECT_EQ(reader.ReadText().value(), "");
  EXPECT_EQ(reader.ReadKey().status().code(), absl::StatusCode::kInvalidArgument);
}

// Not in a message, which is UTF-8 and short.
TEST(GgufReaderTest, AnErrorShowsTheKeyShortAndEscaped) {
  EXPECT_EQ(Opened({Pair("\xFF\n", kUint8, "x")})->ReadText().status().message(),
            "byte 38: \\xff\\n: not a text");
  EXPECT_EQ(Opened({Pair(std::string(65, 'k'), kUint8, "x")})->ReadText().status().message(),
            "byte 101: " + std::string(61, 'k') + "...: not a text");
}

TEST(GgufReaderTest, ArraysUpToTheCountAreRead) {
  EXPECT_THAT(
      Opened({Pair("k", kArray, ArrayOf(kString, {Text("a"), Text("")}))})->ReadTexts(2).value(),
      ElementsAre("a", ""));
  EXPECT_THAT(Opened({Pair("k", kArray, ArrayOf(kInt32, {Number(~0U, 4), Number(1U << 31, 4)}))})
                  ->ReadInt32s(2)
                  .value(),
              ElementsAre(-1, std::numeric_limits<std::int32_t>::min()));
  EXPECT_THAT(Opened({Pair("k", kArray, ArrayOf(kString, {}))})->ReadTexts(0).value(), IsEmpty());
  EXPECT_THAT(Opened({Pair("k", kArray, ArrayOf(kInt32, {}))})->ReadInt32s(0).value(), IsEmpty());
  EXPECT_THAT(Opened({Pair("k", kArray, ArrayOf(kFloat32, {}))})->ReadFloats(0).value(), IsEmpty());
}

TEST(GgufReaderTest, FloatsKeepTheirBits) {
  Opened file({Pair("k", kArray,
                    ArrayOf(kFloat32, {Number(0xBF800000, 4), Number(0x80000000, 4),
                                       Number(0x7FC00001, 4), Number(0xFF800000, 4)}))});
  const std::vector<float> floats = file->ReadFloats(4).value();
  ASSERT_EQ(floats.size(), 4U);
  EXPECT_EQ(floats[0], -1.0F);
  EXPECT_TRUE(std::signbit(floats[1]));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(floats[2]), 0x7FC00001U);
  EXPECT_EQ(floats[3], -std::numeric_limits<float>::infinity());
}

TEST(GgufReaderTest, OneElementMoreThanTheCountIsRefused) {
  const std::string message = "byte 49: k: 2 elements are more than 1";
  EXPECT_EQ(Opened({Pair("k", kArray, ArrayOf(kString, {Text(""), Text("")}))})
                ->ReadTexts(1)
                .status()
                .message(),
            message);
  EXPECT_EQ(Opened({Pair("k", kArray, ArrayOf(kInt32, {"1234", "1234"}))})
                ->ReadInt32s(1)
                .status()
                .message(),
            message);
  EXPECT_EQ(Opened({Pair("k", kArray, ArrayOf(kFloat32, {"1234", "1234"}))})
                ->ReadFloats(1)
                .status()
                .message(),
            message);
}

// A count that is allowed, and elements that are not there.
TEST(GgufReaderTest, ElementsThatAreNotThereAreNotBelieved) {
  constexpr std::size_t kMany = std::numeric_limits<std::size_t>::max();
  for (const int type : {kString, kInt32, kFloat32}) {
    Opened file({Pair("k", kArray,
                      Number(static_cast<std::uint64_t>(type), 4) + Number(~std::uint64_t{0}, 8))});
    const absl::Status status = type == kString  ? file->ReadTexts(kMany).status()
                                : type == kInt32 ? file->ReadInt32s(kMany).status()
                                                 : file->ReadFloats(kMany).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), absl::StrCat("byte 49: a value of ", type == kString ? 8 : 4,
                                             " bytes, and the file has 0 more"));
  }
}

struct SkipCase {
  std::string name;
  int type;
  std::string value;
};

class SkipTest : public testing::TestWithParam<SkipCase> {};

TEST_P(SkipTest, EndsWhereTheNextKeyBegins) {
  Opened file({Pair("k", GetParam().type, GetParam().value), Pair("next", kUint8, "\x07")});
  const absl::Status skipped = file->SkipValue();
  ASSERT_TRUE(skipped.ok()) << skipped;
  EXPECT_EQ(file->ReadKey().value(), "next");
  EXPECT_EQ(file->ReadWhole().value(), 7);
}

// An array of `levels` levels, of which the innermost has two numbers.
std::string Levels(int levels) {
  std::string value = ArrayOf(kUint16, {"12", "34"});
  for (int i = 1; i < levels; ++i) value = ArrayOf(kArray, {value, value});
  return value;
}

INSTANTIATE_TEST_SUITE_P(Values, SkipTest,
                         testing::ValuesIn(std::vector<SkipCase>{
                             {"MoreThanOneBlock", kString, Text(std::string(10000, 'x'))},
                             {"OneBlock", kString, Text(std::string(4096, 'x'))},
                             {"Texts", kArray, ArrayOf(kString, {Text("a"), Text(""), Text("bc")})},
                             {"NoArrays", kArray, ArrayOf(kArray, {})},
                             {"ArraysOfNothing", kArray,
                              ArrayOf(kArray, {ArrayOf(kArray, {}), ArrayOf(kString, {})})},
                             {"AsDeepAsAllowed", kArray, Levels(8)},
                         }),
                         [](const auto& test) { return test.param.name; });

// Sizes that are 0 or small once 64 bits have overflowed.
TEST(GgufReaderTest, ASizeThatOverflowsIsNoSmallOne) {
  for (const auto& [type, count] : std::vector<std::pair<int, std::uint64_t>>{
           {kUint16, std::uint64_t{1} << 63},
           {kFloat32, (std::uint64_t{1} << 62) + 1},
           {kInt64, (std::uint64_t{1} << 61) + 1},
       }) {
    const std::string claim = Number(static_cast<std::uint64_t>(type), 4) + Number(count, 8);
    EXPECT_EQ(Opened({Pair("k", kArray, claim + "12345678")})->SkipValue().message(),
              "byte 49: a value of 18446744073709551615 bytes, and the file has 8 more");
  }
}

// Every beginning of a file ends in an error within it.
TEST(GgufReaderTest, ACutFileIsRefusedWhereItEnds) {
  const std::string whole = File({Pair("text", kString, Text("abc")),
                                  Pair("array", kArray, ArrayOf(kString, {Text("d")})),
                                  Pair("skipped", kArray, Levels(3))});
  const auto read = [](const std::string& content) {
    std::istringstream file(content);
    GgufReader reader(file);
    absl::Status status = reader.ReadHeader();
    const auto go_on = [&](auto next) {
      if (status.ok()) status = next();
    };
    go_on([&] { return reader.ReadKey().status(); });
    go_on([&] { return reader.ReadText().status(); });
    go_on([&] { return reader.ReadKey().status(); });
    go_on([&] { return reader.ReadTexts(1).status(); });
    go_on([&] { return reader.ReadKey().status(); });
    go_on([&] { return reader.SkipValue(); });
    return status;
  };
  ASSERT_TRUE(read(whole).ok());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const absl::Status status = read(whole.substr(0, size));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << size;
    EXPECT_TRUE(absl::StartsWith(status.message(), "byte ")) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), ", and the file has ")) << status;
  }
}

}  // namespace
}  // namespace maskd
