// Which rows of the logits are masked, and by what.
//
// Forms    a row's mask is a base with some ids changed: nothing with the allowed ids added, every
//          token with the forbidden ids taken away, other words with the changed ids turned over.
//          So a short form is applied as it is; no dense row is built of it.
// Layout   a dense mask is ceil(vocab_size / 32) int32 words; bit t % 32 (least significant first)
//          of word t / 32 stands for token t, 1 means allowed. Token 90 alone of 128 is word 2 =
//          67,108,864. Bits past vocab_size are not looked at. (protos/maskd/v1 says the same.)
//          Ids are in ascending order, each once, those of biases too.
// Rows     the caller's own map: a decode row, the last position of a prefill and each of the 1 + k
//          positions of a row with k draft tokens are all just one logits row with one mask.
// Tuning   a logit x that stays becomes (x + its bias) * (1 / temperature), computed in float32 and
//          rounded to the logits' type once; where neither applies it keeps its bits.
// Ownership  views; words, ids and the dictionary must live through the call and are never written.
// Threads  plain values.
#ifndef MASKD_CLIENT_APPLY_MASK_ROWS_H_
#define MASKD_CLIENT_APPLY_MASK_ROWS_H_

#include <cstdint>
#include <limits>
#include <span>

namespace maskd::client {

class MaskDictionary;

// A number to add to one logit.
struct LogitBias {
  std::int32_t id = 0;
  float bias = 0;
};

// One row of logits and its mask.
class MaskRow {
 public:
  using Words = std::span<const std::int32_t>;
  using Ids = std::span<const std::int32_t>;
  using Biases = std::span<const LogitBias>;

  // What the ids change.
  enum class Base : std::uint8_t {
    kFull,   // nothing is applied at all
    kNone,   // no token
    kAll,    // every token
    kWords,  // words()
    kSlot,   // what slot() of the dictionary holds
  };

  // Leaves `logits_row` as it is, padding included: the row is free or finished.
  static MaskRow Full(std::int64_t logits_row) { return {logits_row, Base::kFull, {}}; }
  // Masks `logits_row` with `words`.
  static MaskRow Dense(std::int64_t logits_row, Words words) {
    return Delta(logits_row, words, {});
  }
  // With the mask that the dictionary holds in `slot`.
  static MaskRow Same(std::int64_t logits_row, std::int64_t slot) {
    return Delta(logits_row, slot, {});
  }
  // Allows `ids` and nothing else.
  static MaskRow Allowed(std::int64_t logits_row, Ids ids) {
    return {logits_row, Base::kNone, ids};
  }
  // Allows every token but `ids`.
  static MaskRow Forbidden(std::int64_t logits_row, Ids ids) {
    return {logits_row, Base::kAll, ids};
  }
  // With `words`, in which the bits of `changed` are turned over.
  static MaskRow Delta(std::int64_t logits_row, Words words, Ids changed) {
    MaskRow row(logits_row, Base::kWords, changed);
    row.words_ = words;
    return row;
  }
  // The same over a mask of the dictionary.
  static MaskRow Delta(std::int64_t logits_row, std::int64_t slot, Ids changed) {
    MaskRow row(logits_row, Base::kSlot, changed);
    row.slot_ = slot;
    return row;
  }

  // The same with what is done to the logits that stay: biases are added to theirs, then all are
  // divided by `temperature`. At 0, and where 1 / temperature is no number, they are not divided:
  // the greatest is to be taken, and stays so.
  [[nodiscard]] MaskRow With(Biases biases, float temperature = 1) const {
    MaskRow row = *this;
    row.biases_ = biases;
    row.temperature_ = temperature;
    return row;
  }

  // As it was made. `full()` rows are not read, and of an output only copied.
  [[nodiscard]] std::int64_t logits_row() const { return logits_row_; }
  [[nodiscard]] Base base() const { return base_; }
  [[nodiscard]] bool full() const { return base_ == Base::kFull; }
  // Empty unless the base is kWords.
  [[nodiscard]] Words words() const { return words_; }
  // The dictionary's slot; 0 unless the base is kSlot.
  [[nodiscard]] std::int64_t slot() const { return slot_; }
  [[nodiscard]] Ids ids() const { return ids_; }
  [[nodiscard]] Biases biases() const { return biases_; }
  [[nodiscard]] float temperature() const { return temperature_; }
  // Whether logits that stay change.
  [[nodiscard]] bool tuned() const { return !biases_.empty() || scale() != 1; }
  // What a logit is multiplied by.
  [[nodiscard]] float scale() const {
    const float scale = 1 / temperature_;
    // Of -0.0, which is no less than 0, it is minus infinity.
    return scale > 0 && scale <= std::numeric_limits<float>::max() ? scale : 1;
  }

 private:
  MaskRow(std::int64_t logits_row, Base base, Ids ids)
      : logits_row_(logits_row), base_(base), ids_(ids) {}

  std::int64_t logits_row_;
  Base base_;
  std::int64_t slot_ = 0;
  Words words_ = {};
  Ids ids_;
  Biases biases_ = {};
  float temperature_ = 1;
};

// A batch for Apply(): a view, made for one step.
struct MaskRows {
  // Tokens that every mask speaks of; logits from here to their width become minus infinity.
  std::int64_t vocab_size = 0;
  // In any order, each logits row at most once. Rows of the logits not named stay as they are.
  std::span<const MaskRow> rows = {};
  // What the slots of rows refer to; made by the applier that is given it. None: no row may.
  const MaskDictionary* dictionary = nullptr;
};

// Words of one dense mask. Requires vocab_size >= 0.
constexpr std::int64_t MaskWordCount(std::int64_t vocab_size) { return (vocab_size + 31) / 32; }

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_MASK_ROWS_H_
