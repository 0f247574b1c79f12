// One side of a stream's shared memory that keeps to no rule: by a seed it sends messages whole, in
// part or damaged, and writes positions, lengths, bells and bytes that cannot be.
//
// Threads  one thread at a time.
#ifndef MASKD_TESTS_HOSTILE_SCRIBBLER_H_
#define MASKD_TESTS_HOSTILE_SCRIBBLER_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>

#include "absl/strings/string_view.h"

#include "ring/channel.h"
#include "ring/shared_memory.h"

namespace maskd::hostile {

class Scribbler {
 public:
  // Does as `side` of `memory`, which must outlive it.
  Scribbler(const ring::SharedMemory* memory, ring::Side side, std::uint32_t seed);

  // Sends `message`, most often, or does something else.
  void Turn(absl::string_view message);
  // Waits until the other side has sent something, for a while.
  void Await();
  // Sends `message` as it ought to be sent.
  void Send(absl::string_view message);
  // Begins to send it: a process that ends now ends in the middle of a message.
  void SendHalf(absl::string_view message);

  // A number below `bound`.
  std::uint32_t Any(std::uint32_t bound) { return random_() % bound; }

 private:
  void Put(absl::string_view bytes);
  void Publish();
  // Has read all that the other side has sent.
  void ReadAll();
  void Ring();
  void SendDamaged(absl::string_view message);
  void SendLength();
  void ScribbleWords();
  void ScribbleBytes();

  ring::SharedWords& words_;
  ring::RingWords& out_;
  ring::RingWords& in_;
  ring::Word& their_bell_;
  const std::span<std::uint8_t> out_bytes_;
  const std::span<std::uint8_t> in_bytes_;
  std::mt19937 random_;
  std::uint32_t written_ = 0;
};

}  // namespace maskd::hostile

#endif  // MASKD_TESTS_HOSTILE_SCRIBBLER_H_
