#include "ring/channel.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

namespace maskd::ring {
namespace {

constexpr std::size_t kLengthBytes = 4;
// A side that rings so often without a byte read or written would keep the other one busy.
constexpr int kMostRungForNothing = 1000;
// Memory of a message that is kept for the next one.
constexpr std::size_t kKeptBytes = 1 << 20;

std::string EncodeLength(std::size_t length) {
  std::string bytes;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    bytes.push_back(static_cast<char>((length >> (8 * i)) & 0xFF));
  return bytes;
}

std::size_t DecodeLength(absl::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length |= std::size_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
  return length;
}

}  // namespace

Channel::Channel(SharedMemory memory, Side side, std::size_t max_message_bytes,
                 absl::Duration longest_sleep)
    : memory_(std::move(memory)),
      max_message_bytes_(max_message_bytes),
      longest_sleep_(longest_sleep),
      out_(side == Side::kServer ? RingWriter(&memory_.words().to_client, memory_.to_client())
                                 : RingWriter(&memory_.words().to_server, memory_.to_server())),
      in_(side == Side::kServer ? RingReader(&memory_.words().to_server, memory_.to_server())
                                : RingReader(&memory_.words().to_client, memory_.to_client())),
      my_bell_(side == Side::kServer ? &memory_.words().server_bell : &memory_.words().client_bell),
      their_bell_(side == Side::kServer ? &memory_.words().client_bell
                                        : &memory_.words().server_bell) {}

void Channel::StartWrite(absl::string_view bytes) {
  length_out_ = EncodeLength(bytes.size());
  left_ = bytes;
}

absl::StatusOr<bool> Channel::ContinueWrite() {
  std::size_t sent = 0;
  if (!length_out_.empty()) {
    const absl::StatusOr<std::size_t> count = out_.Write(length_out_);
    if (!count.ok()) return count.status();
    length_out_.erase(0, *count);
    sent += *count;
  }
  if (length_out_.empty()) {
    const absl::StatusOr<std::size_t> count = out_.Write(left_);
    if (!count.ok()) return count.status();
    left_.remove_prefix(*count);
    sent += *count;
  }
  if (sent > 0) {
    out_.Publish();
    Ring(their_bell_, kBytes);
  }
  return length_out_.empty() && left_.empty();
}

absl::StatusOr<std::optional<absl::string_view>> Channel::TryRead() {
  if (std::exchange(message_taken_, false)) {
    length_in_.clear();
    if (message_.capacity() > kKeptBytes) message_ = std::string();
    message_.clear();
  }
  absl::StatusOr<bool> whole = Gather(kLengthBytes, &length_in_);
  if (whole.ok() && *whole) {
    const std::size_t length = DecodeLength(length_in_);
    if (length > max_message_bytes_) {
      return absl::ResourceExhaustedError(
          absl::StrCat("a message of ", length, " bytes is larger than max, ", max_message_bytes_));
    }
    whole = Gather(length, &message_);
  }
  if (!whole.ok()) return whole.status();
  if (!*whole) return std::optional<absl::string_view>();
  message_taken_ = true;
  return std::optional<absl::string_view>(message_);
}

absl::StatusOr<bool> Channel::Gather(std::size_t size, std::string* part) {
  if (part->size() < size && in_.has_bytes()) {
    const absl::StatusOr<std::size_t> count = in_.Read(size - part->size(), part);
    if (!count.ok()) return count.status();
    Ring(their_bell_, kRoom);
  }
  return part->size() == size;
}

bool Channel::Has(std::uint32_t reasons) const {
  return ((reasons & kBytes) != 0 && in_.has_bytes()) ||
         ((reasons & kRoom) != 0 && out_.has_room());
}

bool Channel::StayAwake(std::uint32_t reasons, absl::Duration longest) {
  using Steady = std::chrono::steady_clock;
  if (Has(reasons)) return true;
  if (longest <= absl::ZeroDuration() || !yielding_.Pays()) return false;
  const Steady::time_point begin = Steady::now();
  while (!Has(reasons)) {
    if (woken_ || absl::FromChrono(Steady::now() - begin) >= longest) return false;
    if (!yielding_.Yield()) return Has(reasons);
  }
  return true;
}

absl::Status Channel::Sleep(std::uint32_t reasons, absl::Duration longest) {
  Announce(my_bell_, reasons);
  const auto is_due = [&] { return woken_.exchange(false) || Has(reasons); };
  const bool rung = !is_due() && ring::Sleep(my_bell_, reasons, std::min(longest, longest_sleep_));
  my_bell_->store(0);
  if (!rung || is_due()) {
    rung_for_nothing_ = 0;
    return absl::OkStatus();
  }
  if (++rung_for_nothing_ <= kMostRungForNothing) return absl::OkStatus();
  return absl::DataLossError("shared memory: the other side rings for nothing");
}

void Channel::Wake() {
  woken_ = true;
  ring::Wake(my_bell_);
}

}  // namespace maskd::ring
