#include "service/calls/message_bytes.h"

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cpu/thread_priority.h"

namespace maskd::service {
namespace {

std::string Numbered(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 31 + i / 251);
  return text;
}

grpc::ByteBuffer InSlices(const std::string& text, const std::vector<std::size_t>& sizes) {
  std::vector<grpc::Slice> slices;
  std::size_t at = 0;
  for (const std::size_t size : sizes) {
    slices.emplace_back(text.data() + at, size);
    at += size;
  }
  EXPECT_EQ(at, text.size());
  return {slices.data(), slices.size()};
}

TEST(MessageBytesTest, SlicesOfAnySizeBecomeOnePiece) {
  constexpr std::size_t kPiece = 64 << 10;
  const std::vector<std::size_t> sizes = {1, kPiece - 1, kPiece, kPiece + 1, 3 * kPiece + 7, 5};
  std::size_t bytes = 0;
  for (const std::size_t size : sizes) bytes += size;
  const std::string text = Numbered(bytes);
  const auto whole = BytesOf(InSlices(text, sizes));
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_TRUE(ViewOf(*whole) == text);
}

TEST(MessageBytesTest, OnePieceAndNoneAreAsTheyAre) {
  const std::string text = Numbered(100'000);
  const auto whole = BytesOf(InSlices(text, {text.size()}));
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_TRUE(ViewOf(*whole) == text);
  const auto none = BytesOf(BufferOf(""));
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_EQ(ViewOf(*none), "");
}

TEST(MessageBytesTest, ABufferHasTheBytesThatItWasMadeOf) {
  for (const std::size_t bytes : {1U, 300U, 200'000U}) {
    const std::string text = Numbered(bytes);
    const auto whole = BytesOf(BufferOf(text));
    ASSERT_TRUE(whole.ok()) << whole.status();
    EXPECT_TRUE(ViewOf(*whole) == text) << bytes;
  }
}

int offers = 0;

// Some 512 units of 512 bytes lie between two offers.
TEST(MessageBytesTest, LongWorkOffersItsCoreWhileItCopies) {
  const std::string text = Numbered(4 << 20);
  const grpc::ByteBuffer message = InSlices(text, {text.size() / 2, text.size() / 2});
  std::thread([&] {
    TakeRole(ThreadRole::kLongWork, [] { ++offers; });
    EXPECT_TRUE(BytesOf(message).ok());
  }).join();
  EXPECT_EQ(offers, 16);
}

}  // namespace
}  // namespace maskd::service
