#include "tests/hostile/scribbler.h"

#include <array>

#include "absl/time/clock.h"

#include "ring/doorbell.h"

namespace maskd::hostile {
namespace {

std::string LengthOf(std::size_t size) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>((size >> (8 * i)) & 0xFF));
  return bytes;
}

}  // namespace

Scribbler::Scribbler(const ring::SharedMemory* memory, ring::Side side, std::uint32_t seed)
    : words_(memory->words()),
      out_(side == ring::Side::kServer ? words_.to_client : words_.to_server),
      in_(side == ring::Side::kServer ? words_.to_server : words_.to_client),
      their_bell_(side == ring::Side::kServer ? words_.client_bell : words_.server_bell),
      out_bytes_(side == ring::Side::kServer ? memory->to_client() : memory->to_server()),
      in_bytes_(side == ring::Side::kServer ? memory->to_server() : memory->to_client()),
      random_(seed) {}

void Scribbler::Turn(absl::string_view message) {
  switch (Any(24)) {
    case 0:
      return SendDamaged(message);
    case 1:
      return SendLength();
    case 2:
      return ScribbleWords();
    case 3:
      return ScribbleBytes();
    case 4:
      return SendHalf(message);
    case 5:
      for (int i = 0; i < 50; ++i) Ring();
      return;
    case 6:
      return absl::SleepFor(absl::Milliseconds(2));
    default:
      ReadAll();
      return Send(message);
  }
}

void Scribbler::Await() {
  for (int i = 0; i < 200 && in_.written == in_.read; ++i) absl::SleepFor(absl::Milliseconds(1));
}

void Scribbler::Send(absl::string_view message) {
  Put(LengthOf(message.size()));
  Put(message);
  Publish();
}

void Scribbler::SendHalf(absl::string_view message) {
  Put(LengthOf(message.size()));
  Put(message.substr(0, message.size() / 2));
  Publish();
}

void Scribbler::Put(absl::string_view bytes) {
  for (const char byte : bytes)
    out_bytes_[written_++ % out_bytes_.size()] = static_cast<std::uint8_t>(byte);
}

void Scribbler::Publish() {
  out_.written = written_;
  Ring();
}

void Scribbler::ReadAll() { in_.read = in_.written.load(); }

void Scribbler::Ring() { ring::Wake(&their_bell_); }

void Scribbler::SendDamaged(absl::string_view message) {
  std::string damaged(message);
  for (std::uint32_t i = 0; i <= Any(4); ++i)
    if (!damaged.empty()) damaged[Any(damaged.size())] = static_cast<char>(random_());
  Send(damaged);
}

// Of a message that is short, long, as long as may be or longer than can be, and may never come.
void Scribbler::SendLength() {
  const std::array<std::size_t, 6> sizes = {0, 1, 60'000, 16U << 20, 64U << 20, random_()};
  Put(LengthOf(sizes[Any(sizes.size())]));
  Put(std::string(Any(3) * out_bytes_.size() / 4, static_cast<char>(random_())));
  Publish();
}

void Scribbler::ScribbleWords() {
  const std::array<ring::Word*, 6> words = {
      &out_.written, &out_.read, &in_.written, &in_.read, &words_.server_bell, &words_.client_bell};
  for (std::uint32_t i = 0; i <= Any(3); ++i) {
    const std::uint32_t small = Any(2) == 0 ? random_() : Any(64);
    *words[Any(words.size())] = small;
  }
  Ring();
}

void Scribbler::ScribbleBytes() {
  const std::span<std::uint8_t> bytes = Any(2) == 0 ? out_bytes_ : in_bytes_;
  const std::uint32_t around = Any(2) == 0 ? written_ : Any(bytes.size());
  for (int i = 0; i < 256; ++i)
    bytes[(around + Any(1024)) % bytes.size()] = static_cast<std::uint8_t>(random_());
  Ring();
}

}  // namespace maskd::hostile
