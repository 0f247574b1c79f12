// Frames are written and read by hand on one socket. Only what a case needs is understood:
// settings, windows, the ends of calls, pings and the go-away. Header fields that come are passed
// over.
//
// Invariant  what was sent never exceeds the windows that the server gave.
// Cost       the connection's window is given back for each frame of data, a call's never.
// Source     RFC 9113; RFC 7541, 6.2.2.
#include "tools/attack/targets/raw_http2.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include <poll.h>
#include <sys/socket.h>

#include "tools/attack/targets/socket_address.h"

namespace maskd::attack {
namespace {

constexpr std::uint8_t kData = 0;
constexpr std::uint8_t kHeaders = 1;
constexpr std::uint8_t kReset = 3;
constexpr std::uint8_t kSettings = 4;
constexpr std::uint8_t kPing = 6;
constexpr std::uint8_t kGoAway = 7;
constexpr std::uint8_t kWindowUpdate = 8;
constexpr std::uint8_t kEndStream = 1;
constexpr std::uint8_t kAck = 1;
constexpr std::uint8_t kEndHeaders = 4;
constexpr std::size_t kMaxFrame = 16'384;
constexpr std::size_t kFrameHeader = 9;

std::string Number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

std::uint32_t ReadNumber(const std::string& bytes, std::size_t at, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + count; ++i)
    value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  return value;
}

std::string Field(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name +
         static_cast<char>(value.size()) + value;
}

}  // namespace

int RawHttp2::Seen::ended() const {
  return static_cast<int>(
      std::ranges::count_if(calls, [](const auto& call) { return call.second; }));
}

RawHttp2::RawHttp2(const std::string& address, std::uint32_t window) {
  absl::StatusOr<ring::UniqueFd> fd = ConnectSocket(address);
  is_closed_ = !fd.ok();
  if (is_closed_) return;
  fd_ = *std::move(fd);
  constexpr std::uint64_t kInitialWindowSize = 4;
  Write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  Frame(kSettings, 0, 0, Number(kInitialWindowSize, 2) + Number(window, 4));
}

std::uint32_t RawHttp2::Open(const std::string& method) {
  const std::uint32_t call = next_call_;
  next_call_ += 2;
  windows_[call] = first_window_;
  const std::string fields = Field(":method", "POST") + Field(":scheme", "http") +
                             Field(":path", method) + Field(":authority", "localhost") +
                             Field("te", "trailers") + Field("content-type", "application/grpc");
  Frame(kHeaders, kEndHeaders, call, fields);
  return call;
}

bool RawHttp2::Reset(std::uint32_t call) {
  constexpr std::uint32_t kCancel = 8;
  windows_.erase(call);
  return Frame(kReset, 0, call, Number(kCancel, 4));
}

bool RawHttp2::Ping() { return Frame(kPing, 0, 0, Number(0, 8)); }

void RawHttp2::TakePending() {
  pollfd wanted{.fd = fd_.get(), .events = POLLIN, .revents = 0};
  while (!is_closed_ && poll(&wanted, 1, 0) > 0)
    if (!TakeFrame(absl::Now() + absl::Seconds(1))) return;
}

std::size_t RawHttp2::Send(std::uint32_t call, const std::string& bytes, bool last,
                           absl::Duration patience) {
  const absl::Time end = absl::Now() + patience;
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const std::int64_t room = std::min(window_, windows_[call]);
    const std::size_t count = std::min({bytes.size() - sent, kMaxFrame,
                                        static_cast<std::size_t>(std::max<std::int64_t>(room, 0))});
    if (count == 0) {
      if (!TakeFrame(end) || seen_.calls[call]) return sent;
      continue;
    }
    const bool is_last = last && sent + count == bytes.size();
    if (!Frame(kData, is_last ? kEndStream : 0, call, bytes.substr(sent, count))) return sent;
    sent += count;
    window_ -= static_cast<std::int64_t>(count);
    windows_[call] -= static_cast<std::int64_t>(count);
  }
  return sent;
}

bool RawHttp2::Write(const std::string& bytes) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t count = send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) {
      is_closed_ = true;
      return false;
    }
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

bool RawHttp2::Frame(std::uint8_t type, std::uint8_t flags, std::uint32_t call,
                     const std::string& payload) {
  return Write(Number(payload.size(), 3) + static_cast<char>(type) + static_cast<char>(flags) +
               Number(call, 4) + payload);
}

bool RawHttp2::Receive(std::size_t size, absl::Time end, std::string* bytes) {
  bytes->clear();
  while (bytes->size() < size) {
    pollfd wanted{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    const auto left = absl::ToInt64Milliseconds(end - absl::Now());
    if (left <= 0 || poll(&wanted, 1, static_cast<int>(left)) <= 0) return false;
    std::string part(size - bytes->size(), '\0');
    const ssize_t count = recv(fd_.get(), part.data(), part.size(), 0);
    if (count <= 0) {
      is_closed_ = true;
      return false;
    }
    bytes->append(part, 0, static_cast<std::size_t>(count));
  }
  return true;
}

bool RawHttp2::TakeFrame(absl::Time end) {
  std::string header;
  std::string payload;
  if (!Receive(kFrameHeader, end, &header)) return false;
  if (!Receive(ReadNumber(header, 0, 3), end, &payload)) return false;
  const auto flags = static_cast<std::uint8_t>(header[4]);
  const std::uint32_t call = ReadNumber(header, 5, 4);
  switch (static_cast<std::uint8_t>(header[3])) {
    case kHeaders:
      seen_.calls[call] |= (flags & kEndStream) != 0;
      return true;
    case kReset:
      seen_.calls[call] = true;
      return true;
    case kData:
      seen_.data_bytes += static_cast<std::int64_t>(payload.size());
      return payload.empty() || Frame(kWindowUpdate, 0, 0, Number(payload.size(), 4));
    case kSettings:
      if ((flags & kAck) != 0) return true;
      HandleSettings(payload);
      return Frame(kSettings, kAck, 0, "");
    case kPing:
      if ((flags & kAck) == 0) return Frame(kPing, kAck, 0, payload);
      ++seen_.pongs;
      return true;
    case kGoAway:
      seen_.go_away = true;
      return true;
    case kWindowUpdate:
      HandleWindow(call, payload);
      return true;
    default:
      return true;
  }
}

void RawHttp2::HandleSettings(const std::string& payload) {
  seen_.has_settings = true;
  constexpr std::uint32_t kMaxConcurrentStreams = 3;
  constexpr std::uint32_t kInitialWindowSize = 4;
  for (std::size_t at = 0; at + 6 <= payload.size(); at += 6) {
    const std::uint32_t name = ReadNumber(payload, at, 2);
    const std::int64_t value = ReadNumber(payload, at + 2, 4);
    if (name == kMaxConcurrentStreams) seen_.max_calls = value;
    if (name != kInitialWindowSize) continue;
    for (auto& [call, window] : windows_) window += value - first_window_;
    first_window_ = value;
  }
}

void RawHttp2::HandleWindow(std::uint32_t call, const std::string& payload) {
  (call == 0 ? window_ : windows_[call]) += ReadNumber(payload, 0, 4);
}

std::string GrpcHeader(std::uint32_t size, bool compressed) {
  return std::string(1, compressed ? '\1' : '\0') + Number(size, 4);
}

std::string GrpcFrame(const std::string& message) {
  return GrpcHeader(static_cast<std::uint32_t>(message.size())) + message;
}

}  // namespace maskd::attack
