// A file descriptor that is closed with its owner.
//
// Threads  a plain value.
#ifndef MASKD_RING_UNIQUE_FD_H_
#define MASKD_RING_UNIQUE_FD_H_

#include <utility>

#include <unistd.h>

namespace maskd::ring {

// Closing is the only thing it does with it.
class UniqueFd {
 public:
  // -1: none.
  explicit UniqueFd(int fd = -1) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  // An error of close() is dropped.
  ~UniqueFd() {
    if (fd_ >= 0) close(fd_);
  }

  // -1 where there is none.
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  // Somebody else's from here on.
  [[nodiscard]] int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace maskd::ring

#endif  // MASKD_RING_UNIQUE_FD_H_
