#include "ring/byte_ring.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace maskd::ring {
namespace {

constexpr std::size_t kBytes = 64;

class ByteRingTest : public testing::Test {
 protected:
  RingWords words_;
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(kBytes);
  RingWriter writer_{&words_, bytes_};
  RingReader reader_{&words_, bytes_};
};

TEST_F(ByteRingTest, GivesWhatWasWrittenInItsOrder) {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same in every run
  std::string written;
  std::string read;
  // Positions go around the ring some thousand times.
  for (int i = 0; i < 20'000; ++i) {
    std::string piece(random() % (2 * kBytes), '\0');
    for (char& c : piece) c = static_cast<char>(random());
    const auto sent = writer_.Write(piece);
    ASSERT_TRUE(sent.ok()) << sent.status();
    ASSERT_EQ(*sent, std::min(piece.size(), kBytes - (written.size() - read.size())));
    written.append(piece, 0, *sent);
    writer_.Publish();
    ASSERT_EQ(writer_.has_room(), written.size() - read.size() < kBytes);
    ASSERT_EQ(reader_.has_bytes(), written.size() > read.size());
    const std::size_t before = read.size();
    ASSERT_TRUE(reader_.Read(random() % (2 * kBytes), &read).ok());
    ASSERT_EQ(read.substr(before), written.substr(before, read.size() - before));
  }
}

TEST(LargeRingTest, GoesOnBehindFourGibibytes) {
  constexpr std::size_t kPiece = 3 << 20;
  RingWords words;
  std::vector<std::uint8_t> bytes(4 << 20);
  RingWriter writer(&words, bytes);
  RingReader reader(&words, bytes);
  std::string piece(kPiece, 'x');
  std::string read;
  for (std::uint64_t total = 0; total < (std::uint64_t{1} << 32) + 2 * kPiece; total += kPiece) {
    piece.front() = piece.back() = static_cast<char>(total >> 20);
    ASSERT_EQ(*writer.Write(piece), kPiece);
    writer.Publish();
    read.clear();
    ASSERT_EQ(*reader.Read(2 * kPiece, &read), kPiece);
    ASSERT_EQ(read.front(), piece.front());
    ASSERT_EQ(read.back(), piece.back());
  }
  EXPECT_LT(words.written, 1U << 24) << "the words have begun anew";
}

TEST_F(ByteRingTest, WordsThatCannotBeAreAnError) {
  std::string read;
  for (const std::uint32_t word : {65U, 1U << 31, 0xFFFFFFFFU}) {
    words_.written = word;
    EXPECT_TRUE(absl::IsDataLoss(reader_.Read(10, &read).status())) << word;
    EXPECT_TRUE(reader_.has_bytes()) << "whoever waits for bytes shall see the error";
  }
  for (const std::uint32_t word : {1U, 1U << 31, 0xFFFFFFBFU}) {
    words_.read = word;
    EXPECT_TRUE(absl::IsDataLoss(writer_.Write("x").status())) << word;
    EXPECT_TRUE(writer_.has_room()) << "the same for whoever waits for room";
  }
  EXPECT_EQ(read, "");
}

TEST_F(ByteRingTest, TwoThreads) {
  constexpr int kCount = 200'000;
  std::thread writing([this] {
    for (int i = 0; i < kCount;) {
      const char c = static_cast<char>(i);
      if (writer_.has_room()) {
        i += static_cast<int>(*writer_.Write({&c, 1}));
        writer_.Publish();
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::string read;
  while (read.size() < kCount) {
    ASSERT_TRUE(reader_.Read(7, &read).ok());
    if (!reader_.has_bytes()) std::this_thread::yield();
  }
  writing.join();
  for (int i = 0; i < kCount; ++i)
    ASSERT_EQ(read[static_cast<std::size_t>(i)], static_cast<char>(i));
}

}  // namespace
}  // namespace maskd::ring
