#include "ring/socket_file.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ring/unique_fd.h"

namespace maskd::ring {
namespace {

absl::Status Failed(absl::string_view path, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat(path, ": ", why));
}

absl::Status FailedBySystem(absl::string_view path) { return Failed(path, std::strerror(errno)); }

absl::StatusOr<sockaddr_un> AddressOf(absl::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return Failed(path, "is too long for a socket");
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

const sockaddr* Plain(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

// Nothing where nobody listens, which only a refusal says. A socket of another type, or a full one,
// is somebody's; where the system does not let us ask, it may be.
absl::Status CheckUnused(const sockaddr_un& address, const std::string& path, int type) {
  const UniqueFd probe(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (probe.get() < 0) return FailedBySystem(path);
  if (connect(probe.get(), Plain(address), sizeof(address)) != 0) {
    if (errno == ECONNREFUSED || errno == ENOENT) return absl::OkStatus();
    if (errno != EAGAIN && errno != EPROTOTYPE) return FailedBySystem(path);
  }
  return Failed(path, "another server listens there");
}

absl::Status ClearPlace(const sockaddr_un& address, const std::string& path, int socket) {
  struct stat there{};
  if (lstat(path.c_str(), &there) != 0)
    return errno == ENOENT ? absl::OkStatus() : FailedBySystem(path);
  if (!S_ISSOCK(there.st_mode)) return Failed(path, "there is a file that is no socket");
  int type = 0;
  socklen_t size = sizeof(type);
  if (getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return FailedBySystem(path);
  if (absl::Status unused = CheckUnused(address, path, type); !unused.ok()) return unused;
  return unlink(path.c_str()) == 0 || errno == ENOENT ? absl::OkStatus() : FailedBySystem(path);
}

}  // namespace

std::optional<uid_t> UserOf(int socket) {
  ucred user{};
  socklen_t size = sizeof(user);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &user, &size) != 0) return std::nullopt;
  return user.uid;
}

absl::StatusOr<SocketFile> SocketFile::Bind(int socket, const std::string& path,
                                            const SocketRights& rights) {
  const absl::StatusOr<sockaddr_un> address = AddressOf(path);
  if (!address.ok()) return address.status();
  if (absl::Status clear = ClearPlace(*address, path, socket); !clear.ok()) return clear;
  if (bind(socket, Plain(*address), sizeof(*address)) != 0) return FailedBySystem(path);
  SocketFile file(path);
  if (absl::Status settled = file.Settle(rights); !settled.ok()) return settled;
  return file;
}

absl::Status SocketFile::Settle(const SocketRights& rights) {
  struct stat made{};
  if (lstat(path_.c_str(), &made) != 0) return FailedBySystem(path_);
  device_ = made.st_dev;
  inode_ = made.st_ino;
  if (rights.group.has_value() && chown(path_.c_str(), -1, *rights.group) != 0)
    return FailedBySystem(path_);
  return chmod(path_.c_str(), rights.mode) == 0 ? absl::OkStatus() : FailedBySystem(path_);
}

SocketFile::~SocketFile() {
  struct stat there{};
  if (!path_.empty() && lstat(path_.c_str(), &there) == 0 && there.st_dev == device_ &&
      there.st_ino == inode_) {
    unlink(path_.c_str());
  }
}

}  // namespace maskd::ring
