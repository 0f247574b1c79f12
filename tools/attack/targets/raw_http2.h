// A gRPC client that does what no gRPC library does: frames of HTTP/2 as an attack wants them.
//
// Flow     sends what the server allows; what the server sends is given back to the connection's
//          window and to no call's, so a call opened with a window of 0 is never read.
// Source   RFC 9113; header fields are written literally (RFC 7541, 6.2.2), and not read.
// Threads  one thread.
#ifndef MASKD_TOOLS_ATTACK_TARGETS_RAW_HTTP2_H_
#define MASKD_TOOLS_ATTACK_TARGETS_RAW_HTTP2_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"

#include "ring/unique_fd.h"

namespace maskd::attack {

// One connection. Errors are false or empty: a case looks at what the server did, not at why.
class RawHttp2 {
 public:
  // Connects to `address`, "unix:/path" or host:port; of each call's reply `window` bytes may come
  // unasked. Where nobody listens the connection is closed from the start.
  RawHttp2(const std::string& address, std::uint32_t window);

  // Opens a call of `method`, "/package.Service/Name", and gives its number.
  std::uint32_t Open(const std::string& method);
  // Ends a call from this side. False: the server has closed the connection.
  bool Reset(std::uint32_t call);
  // Asks for an answer, which Take() counts.
  bool Ping();
  // Sends as much of `bytes` as the server allows within `patience`, and says how much that was.
  // `last` ends the caller's side with the last byte.
  std::size_t Send(std::uint32_t call, const std::string& bytes, bool last,
                   absl::Duration patience);
  // Takes what the server sends until done(what was seen). False: `patience` is over, or
  // the server has closed the connection.
  struct Seen {
    std::map<std::uint32_t, bool> calls;  // those with headers; whether the server ended them
    std::int64_t data_bytes = 0;
    std::int64_t max_calls = -1;  // SETTINGS_MAX_CONCURRENT_STREAMS; -1: none
    bool has_settings = false;
    std::int64_t pongs = 0;
    bool go_away = false;
    // Calls that the server has ended.
    [[nodiscard]] int ended() const;
  };
  // `done` is called with what was seen so far, before each frame that is taken.
  template <typename Done>
  bool Take(Done done, absl::Duration patience) {
    const absl::Time end = absl::Now() + patience;
    while (!done(seen_))
      if (!TakeFrame(end)) return false;
    return true;
  }
  // Since the connection was made.
  [[nodiscard]] const Seen& seen() const { return seen_; }
  // Whether the server has been found to have closed the connection.
  [[nodiscard]] bool is_closed() const { return is_closed_; }
  // Takes what has come already, without waiting.
  void TakePending();

 private:
  bool Write(const std::string& bytes);
  bool Frame(std::uint8_t type, std::uint8_t flags, std::uint32_t call, const std::string& payload);
  bool TakeFrame(absl::Time end);
  bool Receive(std::size_t size, absl::Time end, std::string* bytes);
  void HandleSettings(const std::string& payload);
  void HandleWindow(std::uint32_t call, const std::string& payload);

  ring::UniqueFd fd_;
  std::uint32_t next_call_ = 1;
  Seen seen_;
  bool is_closed_ = false;
  std::int64_t window_ = 65'535;        // of the connection, to be sent
  std::int64_t first_window_ = 65'535;  // of a call
  std::map<std::uint32_t, std::int64_t> windows_;
};

// A message as gRPC frames it.
std::string GrpcFrame(const std::string& message);
// Its first bytes: of one that announces `size` bytes.
std::string GrpcHeader(std::uint32_t size, bool compressed = false);

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_TARGETS_RAW_HTTP2_H_
