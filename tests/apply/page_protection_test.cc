// Nothing outside the named rows is read or written: the pages of all other rows, and of the gaps
// between rows, may not be accessed at all while masks are applied.
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include <sys/mman.h>
#include <unistd.h>

#include "client/apply/applier.h"
#include "tests/apply/each_applier.h"
#include "tests/apply/logits_fixture.h"

namespace maskd::client {
namespace {

constexpr std::int64_t kRowCount = 6;

// Rows of some pages with a page of gap after each; what is not open may not be accessed.
class GuardedPlane {
 public:
  explicit GuardedPlane(LogitsType type)
      : type_(type),
        page_(sysconf(_SC_PAGESIZE)),
        row_bytes_(3 * page_),
        size_(static_cast<std::size_t>(kRowCount * (row_bytes_ + page_))),
        bytes_(static_cast<std::byte*>(
            mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~GuardedPlane() { munmap(bytes_, size_); }
  GuardedPlane(const GuardedPlane&) = delete;
  GuardedPlane& operator=(const GuardedPlane&) = delete;

  bool Open(std::int64_t row) {
    return mprotect(Row(row), static_cast<std::size_t>(row_bytes_), PROT_READ | PROT_WRITE) == 0;
  }
  [[nodiscard]] std::byte* Row(std::int64_t row) const {
    return bytes_ + row * (row_bytes_ + page_);
  }
  [[nodiscard]] Logits view() const {
    const int element = ElementBytes(type_);
    return {.data = bytes_,
            .type = type_,
            .row_count = kRowCount,
            .width = row_bytes_ / element,
            .row_stride = (row_bytes_ + page_) / element};
  }

 private:
  LogitsType type_;
  std::int64_t page_;
  std::int64_t row_bytes_;
  std::size_t size_;
  std::byte* bytes_;
};

class PageProtectionTest : public EachApplierTest {};

TEST_P(PageProtectionTest, OnlyTheNamedRowsAreAccessed) {
  GuardedPlane plane(type());
  ASSERT_TRUE(plane.Open(1) && plane.Open(3) && plane.Open(4));
  const Logits logits = plane.view();
  const std::int64_t vocab = logits.width - 37;
  const auto words = MaskOf(vocab, {0, vocab - 1});
  const std::vector<std::int32_t> ids = {2, 700};
  const std::vector<MaskRow> rows = {MaskRow::Full(0), MaskRow::Dense(1, words),
                                     MaskRow::Allowed(3, ids), MaskRow::Forbidden(4, ids)};
  EXPECT_EQ(applier_->Apply({.vocab_size = vocab, .rows = rows}, logits), absl::OkStatus());
  // The open rows were masked: their last logit is padding.
  for (const std::int64_t row : {1, 3, 4}) {
    EXPECT_NE(plane.Row(row)[logits.width * ElementBytes(type()) - 1], std::byte{0}) << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Appliers, PageProtectionTest, EachApplierAndType(), CaseName);

}  // namespace
}  // namespace maskd::client
