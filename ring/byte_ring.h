// Bytes from one process to another through shared memory: one writes, one reads.
//
// Trust    where a side is it remembers itself; of the other it reads one word, which must lie
//          within the ring. The reader copies bytes out before anyone looks at them.
// Order    the words are written and read in one order that all agree on (seq_cst), theirs and the
//          doorbells': who writes and then finds no sleeper has been seen by the one that sleeps.
// Errors   DATA_LOSS: the other side's word cannot be. The ring is of no use from then on.
// Threads  a writer and a reader, in two processes or one; each of them one thread at a time.
#ifndef MASKD_RING_BYTE_RING_H_
#define MASKD_RING_BYTE_RING_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "ring/shared_memory.h"

namespace maskd::ring {

// The writing side. What it has not published yet costs the reader nothing.
class RingWriter {
 public:
  // `bytes` are a power of two.
  RingWriter(RingWords* words, std::span<std::uint8_t> bytes) : words_(words), bytes_(bytes) {}

  // Copies as much of `from` as there is room for and says how much that was. The reader sees it
  // after Publish().
  absl::StatusOr<std::size_t> Write(absl::string_view from);
  void Publish() { words_->written.store(written_); }

  // Whether something can be written, or the ring is broken.
  [[nodiscard]] bool has_room() const { return written_ - words_->read.load() != bytes_.size(); }

 private:
  RingWords* words_;
  std::span<std::uint8_t> bytes_;
  std::uint32_t written_ = 0;
};

// The reading side; what it has read is room for the writer at once.
class RingReader {
 public:
  // Both as the writer has them, in the other side's mapping.
  RingReader(RingWords* words, std::span<std::uint8_t> bytes) : words_(words), bytes_(bytes) {}

  // Adds at most `most` bytes to `to` and says how many those were.
  absl::StatusOr<std::size_t> Read(std::size_t most, std::string* to);

  // Whether something can be read, or the ring is broken.
  [[nodiscard]] bool has_bytes() const { return words_->written.load() != read_; }

 private:
  RingWords* words_;
  std::span<std::uint8_t> bytes_;
  std::uint32_t read_ = 0;
};

}  // namespace maskd::ring

#endif  // MASKD_RING_BYTE_RING_H_
