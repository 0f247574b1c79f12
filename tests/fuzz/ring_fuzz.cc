// The shared memory of a stream with a hostile other side: the first byte says which side is ours,
// then one operation after the other, each a byte and its arguments.
//
// Promises   whatever the other side writes into its words and ours, and into the rings: no message
//            is longer than the bound, an error has one of its codes and is final, and nothing is
//            read or written outside of the rings (AddressSanitizer). As long as it keeps to the
//            rules, each message arrives as it was sent.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "ring/channel.h"
#include "ring/shared_memory.h"
#include "tests/fuzz/fuzz_checks.h"
#include "tests/fuzz/fuzz_target.h"

namespace maskd::fuzz {
namespace {

using ring::Side;

constexpr std::size_t kMaxMessageBytes = 1 << 15;
constexpr ring::RingSizes kSizes = {.to_server = 4096, .to_client = 8192};

// Bytes of the input, 0 behind its end.
class Input {
 public:
  explicit Input(absl::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  std::uint32_t Take(int count) {
    std::uint32_t value = 0;
    for (int i = 0; i < count && !bytes_.empty(); ++i) {
      value |= std::uint32_t{static_cast<std::uint8_t>(bytes_.front())} << (8 * i);
      bytes_.remove_prefix(1);
    }
    return value;
  }

 private:
  absl::string_view bytes_;
};

// The other side, and what it has sent by the rules.
class Peer {
 public:
  Peer(const ring::SharedMemory& memory, Side side)
      : words_(memory.words()),
        out_(side == Side::kServer ? words_.to_client : words_.to_server),
        in_(side == Side::kServer ? words_.to_server : words_.to_client),
        out_bytes_(side == Side::kServer ? memory.to_client() : memory.to_server()),
        in_bytes_(side == Side::kServer ? memory.to_server() : memory.to_client()) {}

  // A message of that many bytes, as much of it as there is room for now; one that does not fit is
  // not begun.
  void Send(std::size_t size) {
    const std::uint32_t held = out_.written - out_.read;
    if (size + 4 > out_bytes_.size() - std::min<std::size_t>(held, out_bytes_.size())) return;
    std::string message;
    for (std::size_t i = 0; i < size; ++i) message.push_back(static_cast<char>(next_byte_++));
    std::uint32_t written = out_.written;
    const auto put = [&](char byte) {
      out_bytes_[written++ % out_bytes_.size()] = static_cast<std::uint8_t>(byte);
    };
    for (int i = 0; i < 4; ++i) put(static_cast<char>(size >> (8 * i)));
    for (const char byte : message) put(byte);
    out_.written = written;
    sent_.push_back(std::move(message));
  }

  void ReadAll() { in_.read = in_.written.load(); }

  void SetWord(std::uint32_t which, std::uint32_t value, bool relative) {
    const std::array<ring::Word*, 6> words = {&out_.written,       &out_.read,
                                              &in_.written,        &in_.read,
                                              &words_.server_bell, &words_.client_bell};
    ring::Word& word = *words[which % words.size()];
    word = relative ? word + static_cast<std::uint32_t>(static_cast<std::int8_t>(value)) : value;
    keeps_rules_ = false;
  }

  void Scribble(std::uint32_t at, std::uint32_t value, bool of_theirs) {
    auto bytes = of_theirs ? in_bytes_ : out_bytes_;
    for (int i = 0; i < 4; ++i)
      bytes[(at + i) % bytes.size()] = static_cast<std::uint8_t>(value >> (8 * i));
    keeps_rules_ = false;
  }

  void CheckArrival(absl::string_view message) {
    if (!keeps_rules_) return;
    Require(!sent_.empty() && sent_.front() == message, "a message arrives as it was sent");
    sent_.pop_front();
  }
  [[nodiscard]] bool keeps_rules() const { return keeps_rules_; }
  [[nodiscard]] bool has_sent() const { return !sent_.empty(); }

 private:
  ring::SharedWords& words_;
  ring::RingWords& out_;
  ring::RingWords& in_;
  std::span<std::uint8_t> out_bytes_;
  std::span<std::uint8_t> in_bytes_;
  std::uint8_t next_byte_ = 0;
  std::deque<std::string> sent_;
  bool keeps_rules_ = true;
};

void RequireOfARing(const absl::Status& error) {
  Require(absl::IsDataLoss(error) || absl::IsResourceExhausted(error), "an error has its code",
          std::string(error.ToString()));
}

// Whether the channel is of use still.
bool Read(ring::Channel& channel, Peer& peer) {
  const absl::StatusOr<std::optional<absl::string_view>> message = channel.TryRead();
  if (!message.ok()) {
    RequireOfARing(message.status());
    Require(!peer.keeps_rules(), "who keeps the rules is read");
    return false;
  }
  if (!message->has_value()) {
    Require(!peer.keeps_rules() || !peer.has_sent(), "what is there is read");
    return true;
  }
  Require((*message)->size() <= kMaxMessageBytes, "a message is within the bound");
  peer.CheckArrival(**message);
  return true;
}

bool Write(ring::Channel& channel, const Peer& peer, bool* is_sent) {
  const absl::StatusOr<bool> sent = channel.ContinueWrite();
  if (sent.ok()) {
    *is_sent = *sent;
    return true;
  }
  RequireOfARing(sent.status());
  Require(!peer.keeps_rules(), "who keeps the rules is written to");
  return false;
}

void CheckRing(Input input) {
  auto memory = ring::SharedMemory::Create(kSizes);
  if (!memory.ok()) return;  // the machine has no more
  const Side side = input.Take(1) % 2 == 0 ? Side::kServer : Side::kClient;
  Peer peer(*memory, side == Side::kServer ? Side::kClient : Side::kServer);
  ring::Channel channel(*std::move(memory), side, kMaxMessageBytes);
  const std::string reply(20'000, 'r');
  bool is_sent = true;
  bool goes_on = true;
  while (goes_on && !input.empty()) {
    const std::uint32_t operation = input.Take(1);
    switch (operation % 8) {
      case 0:
        peer.Send(input.Take(2) % 5000);
        break;
      case 1:
        peer.ReadAll();
        break;
      case 2:
        peer.SetWord(operation >> 4, input.Take(4), /*relative=*/false);
        break;
      case 3:
        peer.SetWord(operation >> 4, input.Take(1), /*relative=*/true);
        break;
      case 4:
        peer.Scribble(input.Take(2), input.Take(4), (operation & 16) != 0);
        break;
      case 5:
        if (is_sent) channel.StartWrite(absl::string_view(reply).substr(0, input.Take(2) % 20'000));
        goes_on = Write(channel, peer, &is_sent);
        break;
      default:
        goes_on = Read(channel, peer);
    }
  }
  if (goes_on) return;
  // Nobody asks again after an error; it must do no harm.
  (void)channel.TryRead();
  (void)channel.ContinueWrite();
}

void RunRing(absl::string_view /*name*/, absl::string_view input) { CheckRing(Input(input)); }

}  // namespace

MASKD_FUZZ_TARGETS(RunRing, "ring");

}  // namespace maskd::fuzz
