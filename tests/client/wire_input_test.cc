// Any bytes mean to WireInput what they mean to protobuf's CodedInputStream.
#include "protos/wire_input.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "google/protobuf/io/coded_stream.h"
#include "gtest/gtest.h"

#include "protos/wire_fields.h"

namespace maskd {
namespace {

using ProtobufInput = google::protobuf::io::CodedInputStream;

// Varints are likely among them: long ones, unfinished ones, and those that hold too much.
std::string MakeBytes(std::mt19937& random) {
  std::string bytes(random() % 14, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? random() % 128 : random());
  return bytes;
}

// What a value is, and how many bytes are left behind it; nothing where there is none.
template <typename Value>
using Taken = std::optional<std::pair<Value, std::size_t>>;

template <typename Value, typename ReadValue>
Taken<Value> ReadHere(const std::string& bytes, ReadValue read) {
  WireInput in(bytes);
  Value value = {};
  return read(in, value) ? Taken<Value>({value, in.left()}) : std::nullopt;
}
template <typename Value, typename ReadValue>
Taken<Value> ReadByProtobuf(const std::string& bytes, ReadValue read) {
  const auto size = static_cast<int>(bytes.size());
  ProtobufInput in(reinterpret_cast<const std::uint8_t*>(bytes.data()), size);
  in.PushLimit(size);
  Value value = {};
  if (!read(in, value)) return std::nullopt;
  return Taken<Value>({value, static_cast<std::size_t>(in.BytesUntilLimit())});
}

void ExpectTheSame(const std::string& bytes) {
  EXPECT_EQ(ReadHere<std::uint64_t>(bytes, [](auto& in, auto& to) { return in.ReadVarint64(&to); }),
            ReadByProtobuf<std::uint64_t>(bytes,
                                          [](auto& in, auto& to) { return in.ReadVarint64(&to); }));
  EXPECT_EQ(ReadHere<std::uint32_t>(bytes, [](auto& in, auto& to) { return in.ReadVarint32(&to); }),
            ReadByProtobuf<std::uint32_t>(bytes,
                                          [](auto& in, auto& to) { return in.ReadVarint32(&to); }));
  EXPECT_EQ(ReadHere<std::uint32_t>(bytes, [](auto& in, auto& to) { return in.ReadFixed32(&to); }),
            ReadByProtobuf<std::uint32_t>(
                bytes, [](auto& in, auto& to) { return in.ReadLittleEndian32(&to); }));
  EXPECT_EQ(ReadHere<std::string>(bytes, [](auto& in, auto& to) { return ReadText(in, to); }),
            ReadByProtobuf<std::string>(bytes, [](auto& in, auto& to) {
              int size = 0;
              return in.ReadVarintSizeAsInt(&size) && in.ReadString(&to, size);
            }));
}

class WireInputTest : public testing::TestWithParam<int> {};

TEST_P(WireInputTest, ReadsWhatProtobufReads) {
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  for (int i = 0; i < 20'000; ++i) {
    const std::string bytes = MakeBytes(random);
    ExpectTheSame(bytes);
    ASSERT_FALSE(HasFailure()) << testing::PrintToString(bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, WireInputTest, testing::Range(1, 4));

TEST(WireInput, StopsAtTheLimit) {
  WireInput in(absl::string_view("\x01\x02\x03", 3));
  const WireInput::Limit before = in.PushLimit(1);
  EXPECT_EQ(in.ReadTag(), 1U);
  EXPECT_TRUE(in.at_limit());
  EXPECT_EQ(in.ReadTag(), 0U);
  EXPECT_FALSE(in.Skip(1));
  in.PopLimit(before);
  EXPECT_EQ(in.rest(), absl::string_view("\x02\x03", 2));
  EXPECT_TRUE(in.Skip(2));
}

}  // namespace
}  // namespace maskd
