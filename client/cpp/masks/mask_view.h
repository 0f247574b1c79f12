// The mask of one position, as it came: dense or in one of the short forms.
//
//   mask.words()   the packed words, whatever the form; made at the first call where it is short.
//   mask.ids()     the list itself, of the forms that are one: an applier that takes ids touches
//                  only these.
//
// Layout   words as in protos/maskd/v1: bit t % 32, least significant first, of word t / 32 is
//          token t, 1 = allowed; bits past the vocabulary are 0.
// Ownership  a view into the StepResult that gave it.
// Threads  one thread at a time, as its StepResult.
#ifndef MASKD_CLIENT_CPP_MASKS_MASK_VIEW_H_
#define MASKD_CLIENT_CPP_MASKS_MASK_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "client/apply/mask_rows.h"

namespace maskd::client {

class MaskReader;

// Memory for the words of masks: kept from step to step.
class WordPool {
 public:
  // Gives spans of `mask_words` each; they stay where they are until the pool goes.
  explicit WordPool(std::size_t mask_words) : mask_words_(mask_words) {}

  // Words of one mask, each of any value.
  std::span<std::int32_t> Take();
  // Gives all of them back.
  void Clear() { used_ = 0; }

 private:
  std::size_t mask_words_;
  std::deque<std::vector<std::int32_t>> masks_;
  std::size_t used_ = 0;
};

// Sets the bits of `ids` in words that are 0 otherwise, or clears them in words that are 1 from
// token 0 to `vocab_size`. The ids must be in range.
void ExpandAllowed(std::span<const std::int32_t> ids, std::span<std::int32_t> words);
void ExpandForbidden(std::span<const std::int32_t> ids, std::int64_t vocab_size,
                     std::span<std::int32_t> words);

// Turns the bits of `ids` over.
void FlipIds(std::span<const std::int32_t> ids, std::span<std::int32_t> words);

// Lists of more ids are kept as words, too, once they are in a dictionary: setting bits one by one
// takes longer then than copying a row.
inline constexpr std::size_t kShortList = 128;

// Copied freely; see Ownership for how long it is good.
class MaskView {
 public:
  // As it came over the wire.
  enum class Form : std::uint8_t {
    kFull,          // apply nothing: the row is finished or free
    kInvalid,       // there is no mask: a draft on the way to this position was refused
    kDense,         // words() only
    kAllowedIds,    // exactly ids() are allowed
    kForbiddenIds,  // all of the vocabulary but ids() are allowed
  };

  // Constant time. What full and invalid rows are is said above.
  [[nodiscard]] Form form() const { return form_; }
  [[nodiscard]] bool full() const { return form_ == Form::kFull; }
  [[nodiscard]] bool invalid() const { return form_ == Form::kInvalid; }
  // Ascending; empty unless the form is one of the two lists.
  [[nodiscard]] std::span<const std::int32_t> ids() const { return ids_; }
  // Empty when full or invalid.
  [[nodiscard]] std::span<const std::int32_t> words() const {
    return words_.empty() && is_list() ? Expand() : words_;
  }
  // Whether a token of [0, vocab_size) may come; none may where invalid, every one where full.
  [[nodiscard]] bool Allows(std::int32_t token, std::int64_t vocab_size) const;
  // Writes the words to memory of as many, without making them here. Not for full and invalid.
  void CopyTo(std::span<std::int32_t> words) const;
  // The same to a whole row of a buffer: all ones where full, and 0 behind `mask_words`. Not for
  // invalid.
  void CopyToRow(std::int64_t mask_words, std::span<std::int32_t> row) const;
  // The number of a mask of its stream's dictionary; no other mask of this process has it. Else 0.
  [[nodiscard]] std::uint64_t serial() const { return serial_; }
  // Tokens that a list speaks of; 0 for the other forms.
  [[nodiscard]] std::int64_t vocab_size() const { return vocab_size_; }
  // Whether ids() are all there is to know.
  [[nodiscard]] bool is_list() const {
    return form_ == Form::kAllowedIds || form_ == Form::kForbiddenIds;
  }
  // What the allowed logits are to be divided by, 0: the greatest is to be taken. Absent: the
  // engine's own temperature, or StreamOptions::want_temperature is not set.
  [[nodiscard]] std::optional<float> temperature() const { return temperature_; }
  // What is to be added to logits before that; ids ascending, all of them allowed.
  [[nodiscard]] std::span<const LogitBias> biases() const { return biases_; }

 private:
  friend class MaskReader;
  std::span<const std::int32_t> Expand() const;

  Form form_ = Form::kFull;
  std::span<const std::int32_t> ids_ = {};
  mutable std::span<const std::int32_t> words_ = {};
  std::optional<float> temperature_ = std::nullopt;
  std::span<const LogitBias> biases_ = {};
  std::int64_t vocab_size_ = 0;
  std::uint64_t serial_ = 0;
  WordPool* pool_ = nullptr;  // where words are made
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_MASKS_MASK_VIEW_H_
