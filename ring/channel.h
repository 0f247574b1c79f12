// One side of a stream through shared memory: messages out, messages in, in order.
//
//   Channel channel(std::move(memory), Side::kServer, max_message_bytes);
//   while ((message = channel.TryRead()) has none) channel.Sleep(kBytes, longest);
//
// Framing  four bytes of length, least significant first, and the message. A message larger than
//          the ring goes through it in pieces: the reader gathers them.
// Bounds   a reader holds one message of at most max_message_bytes, grown as its bytes come; the
//          memory of a large one is kept for no other.
// Waiting  nothing here waits but Sleep(). The other side is rung only when it says that it sleeps.
// Errors   each is final. DATA_LOSS: the other side's words cannot be, or it rings again and again
//          for nothing. RESOURCE_EXHAUSTED: a message above max_message_bytes.
// Threads  one thread at a time; Wake() from any.
#ifndef MASKD_RING_CHANNEL_H_
#define MASKD_RING_CHANNEL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "ring/byte_ring.h"
#include "ring/doorbell.h"
#include "ring/shared_memory.h"
#include "ring/yielding.h"

namespace maskd::ring {

// Which of the two rings is written, and whose bell is whose.
enum class Side { kServer, kClient };

// Owns its side of the memory. Messages are bytes here: what they say is the caller's.
class Channel {
 public:
  // `longest_sleep`: after so long a sleeper looks for itself, whether or not it was rung. A test
  // that is to see a ring that is lost makes it longer than it waits.
  Channel(SharedMemory memory, Side side, std::size_t max_message_bytes,
          absl::Duration longest_sleep = kLongestSleep);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Begins a message, of which `bytes` must live until it is sent. The one before must be.
  void StartWrite(absl::string_view bytes);
  // Sends what there is room for. Whether all of the message is sent.
  absl::StatusOr<bool> ContinueWrite();

  // The next message, if all of it has come; it lives until the next call.
  absl::StatusOr<std::optional<absl::string_view>> TryRead();

  // Looks for one of `reasons` for so long, whatever becomes of the time of day, giving way to
  // whoever would run on this processor, as long as that pays (yielding.h). Whether one is there:
  // if not, Sleep() is next.
  [[nodiscard]] bool StayAwake(std::uint32_t reasons, absl::Duration longest);
  // Sleeps for `longest`, until Wake(), or one of `reasons`: there may be bytes to read, or room to
  // write. May return without any of them.
  absl::Status Sleep(std::uint32_t reasons, absl::Duration longest);
  // Ends Sleep(), that of now or else the next one. From any thread.
  void Wake();

  // The memory, when nothing of the channel is called any more.
  SharedMemory TakeMemory() { return std::move(memory_); }

 private:
  // Reads until `part` has `size` bytes. Whether it has.
  absl::StatusOr<bool> Gather(std::size_t size, std::string* part);
  [[nodiscard]] bool Has(std::uint32_t reasons) const;

  SharedMemory memory_;
  const std::size_t max_message_bytes_;
  const absl::Duration longest_sleep_;
  RingWriter out_;
  RingReader in_;
  Word* const my_bell_;
  Word* const their_bell_;

  std::string length_out_;
  absl::string_view left_;  // of the message that is written, behind its length
  std::string length_in_;
  std::string message_;
  bool message_taken_ = true;  // message_ is of the one before
  int rung_for_nothing_ = 0;   // in a row
  Yielding yielding_;
  std::atomic<bool> woken_ = false;
};

}  // namespace maskd::ring

#endif  // MASKD_RING_CHANNEL_H_
