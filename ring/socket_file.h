// The file of a Unix socket that somebody listens at: made with the rights that it is to have, and
// removed with its owner.
//
// Safety   the only thing that is ever removed from the place is a socket at which nobody listens,
//          and at the end the one that was made here. The rights are there before anybody can
//          connect.
// Threads  a plain value.
// Source   unix(7).
#ifndef MASKD_RING_SOCKET_FILE_H_
#define MASKD_RING_SOCKET_FILE_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include <sys/stat.h>
#include <sys/types.h>

namespace maskd::ring {

// Who may connect: those who may write to the file.
struct SocketRights {
  mode_t mode = 0700;
  std::optional<gid_t> group;  // absent: the process's
};

// The user at the other end of a connected Unix socket; nothing when the system does not say.
std::optional<uid_t> UserOf(int socket);

// Owns the file, not the socket.
class SocketFile {
 public:
  // Binds `socket`, which does not listen yet, to `path`. Errors: UNAVAILABLE with the system's
  // reason; something there that is no socket, or one at which somebody listens or may listen, is
  // left alone.
  static absl::StatusOr<SocketFile> Bind(int socket, const std::string& path,
                                         const SocketRights& rights);
  SocketFile(SocketFile&& other) noexcept
      : path_(std::exchange(other.path_, "")), device_(other.device_), inode_(other.inode_) {}
  SocketFile& operator=(SocketFile&&) = delete;
  ~SocketFile();

 private:
  explicit SocketFile(std::string path) : path_(std::move(path)) {}
  // What the rights are to be. Errors: UNAVAILABLE.
  absl::Status Settle(const SocketRights& rights);

  std::string path_;  // empty: moved from
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace maskd::ring

#endif  // MASKD_RING_SOCKET_FILE_H_
