// What is refused before anything is written: shapes, types, ranges that overlap, and the form of
// every row. An applier that runs after it asks nothing more of its arguments.
//
// Invariant  an error names the argument by its path, such as "masks.rows[3].ids[7]".
// Cost       the rows once, and of their words nothing: lists of ids and biases are read through.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "client/apply/applier.h"
#include "client/apply/element_type.h"

namespace maskd::client {
namespace {

// Bytes of the widest element type, for a bound on the whole plane that holds for all of them.
constexpr std::int64_t kMaxElementBytes = 4;

bool IsKnown(LogitsType type) {
  return type == LogitsType::kFloat32 || type == LogitsType::kFloat16 ||
         type == LogitsType::kBFloat16;
}

absl::Status CheckShape(const Logits& logits) {
  if (!IsKnown(logits.type)) {
    return absl::InvalidArgumentError(
        absl::StrCat("type: ", static_cast<int>(logits.type), " is not a known type"));
  }
  if (logits.row_count < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("row_count: ", logits.row_count, " is negative"));
  }
  if (logits.offset < 0)
    return absl::InvalidArgumentError(absl::StrCat("offset: ", logits.offset, " is negative"));
  if (logits.row_stride < logits.width) {
    return absl::InvalidArgumentError(
        absl::StrCat("row_stride: ", logits.row_stride, " is less than width ", logits.width));
  }
  constexpr std::int64_t kMaxBytes = std::numeric_limits<std::ptrdiff_t>::max();
  if (logits.row_count > 0 &&
      logits.row_stride > (kMaxBytes / kMaxElementBytes - logits.offset) / logits.row_count) {
    return absl::InvalidArgumentError(absl::StrCat("row_stride: ", logits.row_count, " rows of ",
                                                   logits.row_stride,
                                                   " elements are more than memory can hold"));
  }
  if (logits.data == nullptr && logits.row_count > 0)
    return absl::InvalidArgumentError("data: is null");
  return absl::OkStatus();
}

// Of the logits or of the output, as `name` says.
absl::Status CheckLogits(const Logits& logits, absl::string_view name) {
  const absl::Status status = CheckShape(logits);
  return status.ok() ? status
                     : absl::Status(status.code(), absl::StrCat(name, ".", status.message()));
}

// The bytes from a plane's first element to its last.
struct HostRange {
  explicit HostRange(const Logits& logits) {
    const std::int64_t bytes = ElementTypeOf(logits.type).bytes;
    begin = reinterpret_cast<std::uintptr_t>(logits.data) +
            static_cast<std::uintptr_t>(logits.offset * bytes);
    const std::int64_t elements =
        logits.row_count == 0 ? 0 : (logits.row_count - 1) * logits.row_stride + logits.width;
    end = begin + static_cast<std::uintptr_t>(elements * bytes);
  }
  std::uintptr_t begin;
  std::uintptr_t end;
};

// "masks.rows[3]", to which a field is added.
std::string RowPlace(std::size_t index) { return absl::StrCat("masks.rows[", index, "]"); }

absl::Status CheckWords(MaskRow::Words words, std::size_t index, std::int64_t vocab_size) {
  const std::int64_t word_count = MaskWordCount(vocab_size);
  if (static_cast<std::int64_t>(words.size()) != word_count) {
    return absl::InvalidArgumentError(absl::StrCat(RowPlace(index), ".words: has ", words.size(),
                                                   " words, a vocabulary of ", vocab_size,
                                                   " needs ", word_count));
  }
  if (words.data() == nullptr)
    return absl::InvalidArgumentError(absl::StrCat(RowPlace(index), ".words: is null"));
  return absl::OkStatus();
}

absl::Status CheckSlot(std::int64_t slot, std::size_t index, const MaskDictionary* dictionary) {
  if (dictionary == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(RowPlace(index), ".slot: there is no dictionary"));
  }
  if (dictionary->Find(slot).empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(RowPlace(index), ".slot: the dictionary has no mask in slot ", slot));
  }
  return absl::OkStatus();
}

absl::Status CheckIds(MaskRow::Ids ids, std::size_t index, std::int64_t vocab_size) {
  if (ids.empty()) return absl::OkStatus();
  const auto descent = std::ranges::adjacent_find(ids, std::ranges::greater_equal());
  if (descent != ids.end()) {
    return absl::InvalidArgumentError(absl::StrCat(RowPlace(index), ".ids[",
                                                   descent - ids.begin() + 1, "]: ", descent[1],
                                                   " does not come after ", descent[0]));
  }
  // Ascending, so the ends stand for all.
  for (const std::size_t place : {std::size_t{0}, ids.size() - 1}) {
    if (ids[place] < 0 || ids[place] >= vocab_size) {
      return absl::InvalidArgumentError(absl::StrCat(RowPlace(index), ".ids[", place,
                                                     "]: ", ids[place], " is not one of the ",
                                                     vocab_size, " tokens"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTuning(const MaskRow& row, std::size_t index, std::int64_t vocab_size) {
  if (!std::isfinite(row.temperature()) || row.temperature() < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        RowPlace(index), ".temperature: ", row.temperature(), " is not a finite number from 0 on"));
  }
  std::int64_t before = -1;
  for (std::size_t i = 0; i < row.biases().size(); ++i) {
    const LogitBias& bias = row.biases()[i];
    if (bias.id <= before || bias.id >= vocab_size || !std::isfinite(bias.bias)) {
      return absl::InvalidArgumentError(absl::StrCat(
          RowPlace(index), ".biases[", i, "]: of token ", bias.id, " by ", bias.bias,
          " is not finite, or not of one of the ", vocab_size, " tokens in ascending order"));
    }
    before = bias.id;
  }
  return absl::OkStatus();
}

absl::Status CheckRow(const MaskRow& row, std::size_t index, const MaskRows& masks,
                      const Logits& logits) {
  if (row.logits_row() < 0 || row.logits_row() >= logits.row_count) {
    return absl::OutOfRangeError(absl::StrCat(RowPlace(index), ".logits_row: ", row.logits_row(),
                                              " is not one of the ", logits.row_count,
                                              " rows of logits"));
  }
  if (row.base() == MaskRow::Base::kWords) {
    const absl::Status status = CheckWords(row.words(), index, masks.vocab_size);
    if (!status.ok()) return status;
  }
  if (row.base() == MaskRow::Base::kSlot) {
    const absl::Status status = CheckSlot(row.slot(), index, masks.dictionary);
    if (!status.ok()) return status;
  }
  if (row.tuned() || row.temperature() != 1) {
    const absl::Status status = CheckTuning(row, index, masks.vocab_size);
    if (!status.ok()) return status;
  }
  return CheckIds(row.ids(), index, masks.vocab_size);
}

absl::Status CheckNoRowTwice(std::span<const MaskRow> rows) {
  const auto not_ascending = [](const MaskRow& a, const MaskRow& b) {
    return a.logits_row() >= b.logits_row();
  };
  // Engines list rows in ascending order; only others pay for a sorted copy.
  if (std::ranges::adjacent_find(rows, not_ascending) == rows.end()) return absl::OkStatus();
  std::vector<std::int64_t> sorted;
  sorted.reserve(rows.size());
  for (const MaskRow& row : rows) sorted.push_back(row.logits_row());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("masks.rows: logits row ", *twice, " is named twice"));
}

absl::Status CheckVocabulary(const MaskRows& masks, const Logits& logits) {
  if (masks.vocab_size <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("masks.vocab_size: ", masks.vocab_size, " is not positive"));
  }
  if (logits.width < masks.vocab_size) {
    return absl::InvalidArgumentError(absl::StrCat("logits.width: ", logits.width,
                                                   " is less than the vocabulary of ",
                                                   masks.vocab_size, " tokens"));
  }
  if (masks.dictionary != nullptr && masks.dictionary->vocab_size() != masks.vocab_size) {
    return absl::InvalidArgumentError(absl::StrCat("masks.dictionary: is of a vocabulary of ",
                                                   masks.dictionary->vocab_size(), " tokens, not ",
                                                   masks.vocab_size));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckMasks(const MaskRows& masks, const Logits& logits) {
  if (absl::Status status = CheckLogits(logits, "logits"); !status.ok()) return status;
  if (absl::Status status = CheckVocabulary(masks, logits); !status.ok()) return status;
  for (std::size_t i = 0; i < masks.rows.size(); ++i)
    if (absl::Status status = CheckRow(masks.rows[i], i, masks, logits); !status.ok())
      return status;
  return CheckNoRowTwice(masks.rows);
}

absl::Status CheckOutput(const Logits& logits, const Logits& output) {
  if (SamePlace(logits, output)) return absl::OkStatus();
  if (absl::Status status = CheckLogits(output, "output"); !status.ok()) return status;
  if (output.type != logits.type)
    return absl::InvalidArgumentError("output.type: is not that of the logits");
  if (output.memory != logits.memory)
    return absl::InvalidArgumentError("output.memory: is not that of the logits");
  if (output.row_count != logits.row_count || output.width != logits.width) {
    return absl::InvalidArgumentError(absl::StrCat("output.width: ", output.row_count, " rows of ",
                                                   output.width, " are not the logits' ",
                                                   logits.row_count, " rows of ", logits.width));
  }
  if (logits.memory != LogitsMemory::kHost) return absl::OkStatus();
  const HostRange from(logits);
  const HostRange to(output);
  if (from.begin < to.end && to.begin < from.end)
    return absl::InvalidArgumentError("output.data: shares memory with the logits");
  return absl::OkStatus();
}

}  // namespace maskd::client
