// A plane of logits in which an access to anything but the rows that were opened ends the process.
#ifndef MASKD_TESTS_APPLY_GUARDED_PLANE_H_
#define MASKD_TESTS_APPLY_GUARDED_PLANE_H_

#include <cstddef>
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

#include "client/apply/logits.h"
#include "tests/apply/logits_fixture.h"

namespace maskd::client {

// Rows of some pages with a page of gap after each; what is not open may not be accessed.
class GuardedPlane {
 public:
  static constexpr std::int64_t kRows = 6;

  explicit GuardedPlane(LogitsType type)
      : type_(type),
        page_(sysconf(_SC_PAGESIZE)),
        row_bytes_(3 * page_),
        size_(static_cast<std::size_t>(kRows * (row_bytes_ + page_))),
        bytes_(static_cast<std::byte*>(
            mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~GuardedPlane() { munmap(bytes_, size_); }
  GuardedPlane(const GuardedPlane&) = delete;
  GuardedPlane& operator=(const GuardedPlane&) = delete;

  bool Open(std::int64_t row) { return Protect(row, PROT_READ | PROT_WRITE); }
  bool OpenToRead(std::int64_t row) { return Protect(row, PROT_READ); }
  [[nodiscard]] std::byte* Row(std::int64_t row) const {
    return bytes_ + row * (row_bytes_ + page_);
  }
  [[nodiscard]] Logits view() const {
    const int element = ElementBytes(type_);
    return {.data = bytes_,
            .type = type_,
            .row_count = kRows,
            .width = row_bytes_ / element,
            .row_stride = (row_bytes_ + page_) / element};
  }

 private:
  bool Protect(std::int64_t row, int protection) {
    return mprotect(Row(row), static_cast<std::size_t>(row_bytes_), protection) == 0;
  }

  LogitsType type_;
  std::int64_t page_;
  std::int64_t row_bytes_;
  std::size_t size_;
  std::byte* bytes_;
};

}  // namespace maskd::client

#endif  // MASKD_TESTS_APPLY_GUARDED_PLANE_H_
