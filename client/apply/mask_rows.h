// Which rows of the logits are masked, and by what.
//
// Layout   a dense mask is ceil(vocab_size / 32) int32 words; bit t % 32 (least significant first)
//          of word t / 32 stands for token t, 1 means allowed. Token 90 alone of 128 is word 2 =
//          67,108,864. Bits past vocab_size are not looked at. (protos/maskd/v1 says the same.)
// Rows     the caller's own map: a decode row, the last position of a prefill and each of the 1 + k
//          positions of a row with k draft tokens are all just one logits row with one mask.
// Ownership  views; the words must live through the call and are never written.
// Threads  plain values.
#ifndef MASKD_CLIENT_APPLY_MASK_ROWS_H_
#define MASKD_CLIENT_APPLY_MASK_ROWS_H_

#include <cstdint>
#include <span>

namespace maskd::client {

// One row of logits and its mask.
class MaskRow {
 public:
  // Masks `logits_row` with `words`.
  static MaskRow Dense(std::int64_t logits_row, std::span<const std::int32_t> words) {
    return MaskRow(logits_row, words, false);
  }
  // Leaves `logits_row` as it is, padding included: the row is free or finished.
  static MaskRow Full(std::int64_t logits_row) { return MaskRow(logits_row, {}, true); }

  [[nodiscard]] std::int64_t logits_row() const { return logits_row_; }
  [[nodiscard]] bool full() const { return full_; }
  // Empty for a full row.
  [[nodiscard]] std::span<const std::int32_t> words() const { return words_; }

 private:
  MaskRow(std::int64_t logits_row, std::span<const std::int32_t> words, bool full)
      : logits_row_(logits_row), words_(words), full_(full) {}

  std::int64_t logits_row_;
  std::span<const std::int32_t> words_;
  bool full_;
};

struct MaskRows {
  // Tokens that every mask speaks of; logits from here to their width become minus infinity.
  std::int64_t vocab_size = 0;
  // In any order, each logits row at most once. Rows of the logits not named stay as they are.
  std::span<const MaskRow> rows;
};

// Words of one dense mask. Requires vocab_size >= 0.
constexpr std::int64_t MaskWordCount(std::int64_t vocab_size) { return (vocab_size + 31) / 32; }

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_MASK_ROWS_H_
