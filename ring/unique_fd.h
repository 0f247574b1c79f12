// A file descriptor that is closed with its owner.
//
// Threads  a plain value.
#ifndef MASKD_RING_UNIQUE_FD_H_
#define MASKD_RING_UNIQUE_FD_H_

#include <utility>

#include <unistd.h>

namespace maskd::ring {

class UniqueFd {
 public:
  // -1: none.
  explicit UniqueFd(int fd = -1) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() {
    if (fd_ >= 0) close(fd_);
  }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  // Somebody else's from here on.
  [[nodiscard]] int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace maskd::ring

#endif  // MASKD_RING_UNIQUE_FD_H_
