// Idea       the masks are kept as one flag a token. The applier is given them in its own forms and
//            the plain loop reads the flags: all that both use is the type's minus infinity.
// Invariant  a batch is the same in each run: logits by their place, masks by a fixed seed.
// Cost       three planes of logits in memory, and one pass over each.
#include "tools/cli/applier/batch_check.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <vector>

#include "client/apply/element_type.h"
#include "client/apply/float_bits.h"

namespace maskd::cli {
namespace {

using client::LogitBits;
using client::LogitsType;
using client::MaskRow;

constexpr std::int64_t kOneToken = 90;

// What a mask is made of, kept for as long as its view. `words` is what the form says.
struct Mask {
  std::vector<bool> allowed;
  std::vector<std::int32_t> words;
  std::vector<std::int32_t> ids;
};

std::vector<std::int32_t> WordsOf(const std::vector<bool>& allowed) {
  const auto size = static_cast<std::int64_t>(allowed.size());
  std::vector<std::uint32_t> words(static_cast<std::size_t>(client::MaskWordCount(size)));
  for (std::size_t token = 0; token < allowed.size(); ++token)
    words[token / 32] |= static_cast<std::uint32_t>(allowed[token]) << token % 32;
  return {words.begin(), words.end()};
}

std::vector<std::int32_t> IdsWhere(const std::vector<bool>& allowed, bool value) {
  std::vector<std::int32_t> ids;
  for (std::size_t token = 0; token < allowed.size(); ++token)
    if (allowed[token] == value) ids.push_back(static_cast<std::int32_t>(token));
  return ids;
}

std::vector<bool> RandomTokens(std::int64_t vocab_size, double share, std::mt19937& random) {
  std::vector<bool> allowed(static_cast<std::size_t>(vocab_size));
  std::bernoulli_distribution allows(share);
  for (std::size_t token = 0; token < allowed.size(); ++token) allowed[token] = allows(random);
  return allowed;
}

// The held rows' masks, and the rows as the applier is given them.
class HeldRows {
 public:
  explicit HeldRows(const BatchShape& shape) : masks_(static_cast<std::size_t>(shape.held)) {
    std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same masks in each run
    for (std::size_t i = 0; i < masks_.size(); ++i) Add(shape, i, random);
  }

  [[nodiscard]] const std::vector<MaskRow>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<bool>& allowed(std::size_t i) const { return masks_[i].allowed; }

 private:
  void Add(const BatchShape& shape, std::size_t i, std::mt19937& random) {
    static constexpr std::array kShares = {0.5, 0.001, 0.999, 0.02};
    Mask& mask = masks_[i];
    mask.allowed = RandomTokens(shape.vocab_size, i == 0 ? 0 : kShares[i % kShares.size()], random);
    if (i == 0) mask.allowed[kOneToken] = true;
    rows_.push_back(InForm(static_cast<std::int64_t>(i) * shape.rows / shape.held, i, mask));
  }

  static MaskRow InForm(std::int64_t row, std::size_t form, Mask& mask) {
    switch (form % 4) {
      case 0:
        mask.words = WordsOf(mask.allowed);
        return MaskRow::Dense(row, mask.words);
      case 1:
        mask.ids = IdsWhere(mask.allowed, true);
        return MaskRow::Allowed(row, mask.ids);
      case 2:
        mask.ids = IdsWhere(mask.allowed, false);
        return MaskRow::Forbidden(row, mask.ids);
      default:
        mask.ids = {0, static_cast<std::int32_t>(mask.allowed.size()) - 1};
        mask.words = WordsOf(mask.allowed);
        mask.words.front() ^= 1;
        mask.words.back() ^= static_cast<std::int32_t>(1U << (mask.allowed.size() - 1) % 32);
        return MaskRow::Delta(row, mask.words, mask.ids);
    }
  }

  std::vector<Mask> masks_;
  std::vector<MaskRow> rows_;
};

template <LogitsType kType>
std::int64_t Greedy(const LogitBits<kType>* row, std::int64_t count) {
  return std::max_element(row, row + count,
                          [](auto a, auto b) {
                            return client::ToNumber<kType>(a) < client::ToNumber<kType>(b);
                          }) -
         row;
}

template <LogitsType kType>
absl::StatusOr<BatchCounts> CheckTyped(const client::Applier& applier, const BatchShape& shape) {
  const auto at = [&](std::int64_t row) {
    return static_cast<std::size_t>(row * shape.vocab_size);
  };
  std::vector<LogitBits<kType>> before(at(shape.rows));
  for (std::size_t i = 0; i < before.size(); ++i)
    before[i] = client::ToBits<kType>(static_cast<float>(1 + i * 31 % 997) / 8);

  const HeldRows held(shape);
  std::vector<LogitBits<kType>> expected = before;
  const auto forbidden = static_cast<LogitBits<kType>>(client::ElementTypeOf(kType).minus_infinity);
  for (std::size_t i = 0; i < held.rows().size(); ++i) {
    LogitBits<kType>* const row = &expected[at(held.rows()[i].logits_row())];
    for (std::size_t token = 0; token < held.allowed(i).size(); ++token)
      if (!held.allowed(i)[token]) row[token] = forbidden;
  }

  std::vector<LogitBits<kType>> logits = before;
  const absl::Status applied = applier.Apply({.vocab_size = shape.vocab_size, .rows = held.rows()},
                                             {.data = logits.data(),
                                              .type = kType,
                                              .row_count = shape.rows,
                                              .width = shape.vocab_size,
                                              .row_stride = shape.vocab_size});
  if (!applied.ok()) return applied;

  BatchCounts counts{.plane = shape.rows * shape.vocab_size,
                     .named = shape.held * shape.vocab_size};
  for (std::size_t i = 0; i < logits.size(); ++i) {
    counts.written += logits[i] != before[i] ? 1 : 0;
    counts.wrong += logits[i] != expected[i] ? 1 : 0;
  }
  if (shape.held > 0) {
    const std::size_t first = at(held.rows().front().logits_row());
    counts.greedy_before = Greedy<kType>(&before[first], shape.vocab_size);
    counts.greedy_after = Greedy<kType>(&logits[first], shape.vocab_size);
  }
  return counts;
}

}  // namespace

absl::StatusOr<BatchCounts> CheckBatch(const client::Applier& applier, const BatchShape& shape,
                                       LogitsType type) {
  switch (type) {
    case LogitsType::kFloat32:
      return CheckTyped<LogitsType::kFloat32>(applier, shape);
    case LogitsType::kFloat16:
      return CheckTyped<LogitsType::kFloat16>(applier, shape);
    case LogitsType::kBFloat16:
      return CheckTyped<LogitsType::kBFloat16>(applier, shape);
  }
  return absl::InvalidArgumentError("type: is not known");
}

}  // namespace maskd::cli
