// How a client comes by the memory of its stream: it asks at a Unix socket beside the server's own,
// with the token that the server has told it over the stream, and is handed a file descriptor.
//
//   client: connects to PATH + kSocketSuffix, sends the token     (one packet of kTokenBytes)
//   server: sends one byte with the descriptor (SCM_RIGHTS), or nothing, and closes
//
// Token    random, of one stream, good once. Who knows it has said hello on that stream; the
//          socket's own rights are those of the server's socket. A user who may not connect there
//          is closed at once here, too.
// Threads  HandoverPort has one. Nobody who connects there can hold it up: it waits for no peer,
//          and of many who say nothing the oldest is dropped.
// Source   unix(7).
#ifndef MASKD_RING_HANDOVER_H_
#define MASKD_RING_HANDOVER_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include <sys/types.h>

#include "ring/socket_file.h"
#include "ring/unique_fd.h"

namespace maskd::ring {

inline constexpr char kSocketSuffix[] = ".ring";
inline constexpr std::size_t kTokenBytes = 32;

// A new token. Errors: UNAVAILABLE (the system gives no random bytes).
absl::StatusOr<std::string> MakeToken();

// The client's side, at the socket `path`, for `longest` at most. Errors: UNAVAILABLE (nobody is
// there, or it refuses); DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED (no room for a descriptor): the
// token may be spent.
absl::StatusOr<UniqueFd> Fetch(const std::string& path, absl::string_view token,
                               absl::Duration longest);

// The server's side: accepts, reads a token, and hands out what it stands for.
class HandoverPort {
 public:
  // Gives what `token` stands for, or none. Called on the port's thread; must not wait.
  using Find = std::function<UniqueFd(absl::string_view token)>;
  // Whether a user may ask. As above.
  using MayAsk = std::function<bool(uid_t user)>;

  // Listens at `path`. Errors: UNAVAILABLE, with why; those of SocketFile::Bind(); no thread.
  static absl::StatusOr<std::unique_ptr<HandoverPort>> Listen(const std::string& path, Find find,
                                                              const SocketRights& rights = {},
                                                              MayAsk may_ask = nullptr);
  // Removes the file.
  ~HandoverPort();
  HandoverPort(const HandoverPort&) = delete;
  HandoverPort& operator=(const HandoverPort&) = delete;

 private:
  HandoverPort(Find find, MayAsk may_ask, UniqueFd listener, SocketFile file, UniqueFd stop);

  void Serve();
  void Accept();
  // Answers who has asked. Whether the connection is of no more use.
  bool Answer(const UniqueFd& peer) const;

  const Find find_;
  const MayAsk may_ask_;  // empty: all may
  const UniqueFd listener_;
  const SocketFile file_;
  const UniqueFd stop_;         // an eventfd
  std::deque<UniqueFd> peers_;  // who have not asked yet, the oldest first
  std::thread thread_;          // last: it uses all of the above
};

}  // namespace maskd::ring

#endif  // MASKD_RING_HANDOVER_H_
