// The memory that the two ends of a stream share: words that say how far each is, then the bytes
// of two rings.
//
// Layout   SharedWords at 0, the ring of the client's messages at kWordsBytes, that of the server's
//          behind it. Every word has its own cache line and starts at 0.
// Bounds   the server makes it with a size that is sealed: neither side can shorten it under the
//          other, so reading it never faults.
// Trust    each side writes its own words and takes the other's for claims (byte_ring.h).
// Ownership  the memory lasts as long as either side has it mapped or open. Its pages are those of
//          the side that made it and go back to the system with that one's end, whatever the other
//          side keeps: what it still has then reads as zeros.
#ifndef MASKD_RING_SHARED_MEMORY_H_
#define MASKD_RING_SHARED_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "ring/unique_fd.h"

namespace maskd::ring {

using Word = std::atomic<std::uint32_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 4);

// How far a ring has been written and read, in bytes since its beginning, modulo 2^32.
struct RingWords {
  // One writer each: `written` is the sender's word, `read` the receiver's. A cache line each, so
  // that neither slows the other.
  alignas(64) Word written;
  alignas(64) Word read;
};

// At the start of the memory, seen by both processes.
struct SharedWords {
  RingWords to_server;
  RingWords to_client;
  // The word that each side sleeps on, a futex.
  alignas(64) Word server_bell;  // doorbell.h
  alignas(64) Word client_bell;
};
static_assert(sizeof(SharedWords) == 384);

inline constexpr std::size_t kWordsBytes = 4096;

// Bytes of the two rings, each a power of two.
struct RingSizes {
  std::uint32_t to_server = 256 << 10;
  std::uint32_t to_client = 1 << 20;

  // Bytes of the whole mapping: the words' page and both rings.
  [[nodiscard]] std::size_t total() const {
    return kWordsBytes + std::size_t{to_server} + std::size_t{to_client};
  }
};

// INVALID_ARGUMENT: a size that is no power of two, below a page or above 1 GiB.
absl::Status CheckSizes(const RingSizes& sizes);

// One side's mapping. It is unmapped with this.
class SharedMemory {
 public:
  // Makes it, all zero, and seals its size. Errors: RESOURCE_EXHAUSTED, UNAVAILABLE (the system has
  // no such memory).
  static absl::StatusOr<SharedMemory> Create(const RingSizes& sizes);
  // Maps memory that another process has made. Errors: INVALID_ARGUMENT (not of these sizes, or not
  // sealed), RESOURCE_EXHAUSTED.
  static absl::StatusOr<SharedMemory> Map(UniqueFd fd, const RingSizes& sizes);

  // What was moved from holds nothing.
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;
  // Unmaps. The maker's end counts off charged_bytes() too.
  ~SharedMemory();

  // What lies in the mapping, for as long as this lives. The other side may write there at any
  // time.
  [[nodiscard]] SharedWords& words() const { return *reinterpret_cast<SharedWords*>(begin_); }
  [[nodiscard]] std::span<std::uint8_t> to_server() const {
    return {begin_ + kWordsBytes, sizes_.to_server};
  }
  [[nodiscard]] std::span<std::uint8_t> to_client() const {
    return {begin_ + kWordsBytes + sizes_.to_server, sizes_.to_client};
  }

  // For the other side, once: what is mapped here stays.
  UniqueFd TakeFd() { return std::move(fd_); }

  // For its maker, when it writes no more: gives back the pages that hold nothing which the other
  // side has still to read.
  void GiveBackAllButUnread();

  // Of alive_bytes().
  [[nodiscard]] std::int64_t charged_bytes() const { return charged_bytes_; }
  // Bytes that count as this process's: all of what was made and has its end to come, less what was
  // given back. Any thread.
  static std::int64_t alive_bytes() { return alive_bytes_.load(std::memory_order_relaxed); }

 private:
  SharedMemory(UniqueFd fd, std::uint8_t* begin, const RingSizes& sizes)
      : fd_(std::move(fd)), begin_(begin), sizes_(sizes) {}
  static absl::StatusOr<SharedMemory> MapChecked(UniqueFd fd, const RingSizes& sizes);
  void GiveBack(const std::uint8_t* begin, std::size_t bytes);

  inline static std::atomic<std::int64_t> alive_bytes_ = 0;

  UniqueFd fd_;
  std::uint8_t* begin_;
  RingSizes sizes_;
  std::int64_t charged_bytes_ = 0;  // of alive_bytes_; 0 where another process has made it
};

}  // namespace maskd::ring

#endif  // MASKD_RING_SHARED_MEMORY_H_
