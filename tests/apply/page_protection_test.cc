// Nothing outside the named rows is read or written: the pages of all other rows, and of the gaps
// between rows, may not be accessed at all while masks are applied.
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include "client/apply/applier.h"
#include "tests/apply/each_applier.h"
#include "tests/apply/guarded_plane.h"
#include "tests/apply/logits_fixture.h"

namespace maskd::client {
namespace {

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
