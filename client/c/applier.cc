// Appliers for programs in C: what they hand in is checked, viewed as the C++ library's own types
// and passed on. Nothing is copied but the list of rows; words, ids and biases stay the caller's.
//
// Invariant  no pointer, count or enumerator of the caller is used before it was checked.
// Cost       one small object for each row, beside what the applier does.
// Threads    those of Applier.
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"

#include "client/apply/make_applier.h"
#include "client/apply/opencl/opencl_applier.h"
#include "client/c/handles.h"

namespace maskd::client {
namespace {

absl::StatusOr<std::unique_ptr<Applier>> MakeNamed(const char* name) {
  return name == nullptr ? MakeConfiguredApplier("") : MakeApplier(name);
}

absl::StatusOr<std::unique_ptr<Applier>> MakeOnQueue(void* queue) {
  if (absl::Status status = NotNull(queue, "cl_command_queue"); !status.ok()) return status;
  OpenClOptions options = DefaultOpenClOptions();
  options.queue = queue;
  return OpenClApplier::Make(options);
}

absl::Status Give(absl::StatusOr<std::unique_ptr<Applier>> made, maskd_applier** applier) {
  if (!made.ok()) return made.status();
  std::string name((*made)->name());
  *applier = new maskd_applier{*std::move(made), std::move(name)};
  return absl::OkStatus();
}

std::string Place(std::int64_t index, const char* field) {
  return absl::StrCat("rows[", index, "].", field);
}

absl::StatusOr<MaskRow> ReadRow(const maskd_row& row, std::int64_t index, std::int64_t vocab_size) {
  MaskRow::Ids ids;
  const std::string ids_place = Place(index, "ids");
  if (absl::Status status = ReadSpan(row.ids, row.id_count, ids_place.c_str(), ids); !status.ok())
    return status;
  MaskRow::Words words;
  if (row.form == MASKD_ROW_WORDS) {
    const std::string place = Place(index, "words");
    absl::Status status = ReadSpan(row.words, MaskWordCount(vocab_size), place.c_str(), words);
    if (!status.ok()) return status;
  }
  switch (row.form) {
    case MASKD_ROW_FULL:
      return MaskRow::Full(row.logits_row);
    case MASKD_ROW_ALLOWED:
      return MaskRow::Allowed(row.logits_row, ids);
    case MASKD_ROW_FORBIDDEN:
      return MaskRow::Forbidden(row.logits_row, ids);
    case MASKD_ROW_WORDS:
      return MaskRow::Delta(row.logits_row, words, ids);
    case MASKD_ROW_SLOT:
      return MaskRow::Delta(row.logits_row, row.slot, ids);
    default:
      return absl::InvalidArgumentError(
          absl::StrCat(Place(index, "form"), ": ", row.form, " is not a known form"));
  }
}

absl::StatusOr<MaskRow> Tuned(const MaskRow& row, const maskd_tuning& tuning, std::int64_t index) {
  MaskRow::Biases biases;
  const std::string place = Place(index, "tuning.biases");
  absl::Status status = ReadBiases(tuning.biases, tuning.bias_count, place.c_str(), biases);
  if (!status.ok()) return status;
  return row.With(biases, tuning.temperature);
}

absl::Status CheckVocabSize(std::int64_t vocab_size) {
  if (vocab_size > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("vocab_size: ", vocab_size, " is not positive"));
}

absl::Status ReadRows(const maskd_row* rows, std::int64_t row_count, std::int64_t vocab_size,
                      const maskd_tuning* tunings, std::vector<MaskRow>& masks) {
  std::span<const maskd_row> given;
  if (absl::Status status = ReadSpan(rows, row_count, "rows", given); !status.ok()) return status;
  if (absl::Status status = CheckVocabSize(vocab_size); !status.ok()) return status;
  masks.reserve(given.size());
  for (const maskd_row& row : given) {
    const std::int64_t index = std::ssize(masks);
    absl::StatusOr<MaskRow> mask = ReadRow(row, index, vocab_size);
    if (mask.ok() && tunings != nullptr) mask = Tuned(*mask, tunings[index], index);
    if (!mask.ok()) return mask.status();
    masks.push_back(*mask);
  }
  return absl::OkStatus();
}

absl::Status ApplyRows(const maskd_applier* applier, const maskd_logits* logits,
                       std::int64_t vocab_size, const maskd_row* rows, std::int64_t row_count,
                       const maskd_apply_options& options) {
  if (absl::Status status = NotNull(applier, "applier"); !status.ok()) return status;
  Logits plane;
  if (absl::Status status = ReadLogits(logits, plane); !status.ok()) return status;
  Logits output = plane;
  if (options.output != nullptr) {
    if (absl::Status status = ReadLogits(options.output, output); !status.ok()) return status;
  }
  std::vector<MaskRow> masks;
  absl::Status status = ReadRows(rows, row_count, vocab_size, options.tunings, masks);
  if (!status.ok()) return status;
  const maskd_dictionary* const slots = options.dictionary;
  return applier->applier->Apply(
      {.vocab_size = vocab_size,
       .rows = masks,
       .dictionary = slots == nullptr ? nullptr : slots->dictionary.get()},
      plane, output);
}

absl::Status ApplyWith(const maskd_applier* applier, const maskd_logits* logits,
                       std::int64_t vocab_size, const maskd_row* rows, std::int64_t row_count,
                       const maskd_apply_options* options) {
  if (options == nullptr) return ApplyRows(applier, logits, vocab_size, rows, row_count, {});
  const auto read = ReadStruct(options, sizeof(maskd_apply_options), "options");
  return read.ok() ? ApplyRows(applier, logits, vocab_size, rows, row_count, *read) : read.status();
}

absl::Status CheckBitmask(const Logits& logits, std::int64_t vocab_size, std::int64_t word_stride,
                          std::int64_t row_count) {
  if (absl::Status status = CheckVocabSize(vocab_size); !status.ok()) return status;
  if (row_count < 0)
    return absl::InvalidArgumentError(absl::StrCat("row_count: ", row_count, " is negative"));
  if (row_count > logits.row_count) {
    return absl::OutOfRangeError(absl::StrCat("row_count: ", row_count, " is more than the ",
                                              logits.row_count, " rows of logits"));
  }
  const std::int64_t needed = MaskWordCount(vocab_size);
  if (row_count > 1 && word_stride < needed) {
    return absl::InvalidArgumentError(absl::StrCat(
        "word_stride: ", word_stride, " is less than the ", needed, " words of a row"));
  }
  return absl::OkStatus();
}

absl::Status ApplyBitmask(const maskd_applier* applier, const maskd_logits* logits,
                          std::int64_t vocab_size, const std::int32_t* words,
                          std::int64_t word_stride, const std::int64_t* logits_rows,
                          std::int64_t row_count) {
  if (absl::Status status = NotNull(applier, "applier"); !status.ok()) return status;
  Logits plane;
  if (absl::Status status = ReadLogits(logits, plane); !status.ok()) return status;
  absl::Status status = CheckBitmask(plane, vocab_size, word_stride, row_count);
  if (status.ok() && row_count > 0) status = NotNull(words, "words");
  if (!status.ok()) return status;
  const auto word_count = static_cast<std::size_t>(MaskWordCount(vocab_size));
  std::vector<MaskRow> masks;
  masks.reserve(static_cast<std::size_t>(row_count));
  for (std::int64_t i = 0; i < row_count; ++i) {
    masks.push_back(MaskRow::Dense(logits_rows == nullptr ? i : logits_rows[i],
                                   {words + i * word_stride, word_count}));
  }
  return applier->applier->Apply({.vocab_size = vocab_size, .rows = masks}, plane);
}

absl::Status CheckType(std::int32_t type, const char* name) {
  if (type >= MASKD_FLOAT32 && type <= MASKD_BFLOAT16) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", type, " is not a known type"));
}

absl::Status WarmUp(maskd_applier* applier, std::int64_t vocab_size, std::int64_t width,
                    std::int32_t type, std::int64_t row_count) {
  if (absl::Status status = NotNull(applier, "applier"); !status.ok()) return status;
  if (absl::Status status = CheckType(type, "type"); !status.ok()) return status;
  return applier->applier->WarmUp({.vocab_size = vocab_size,
                                   .width = width,
                                   .row_counts = {row_count},
                                   .type = static_cast<LogitsType>(type)});
}

absl::Status NewDictionary(const maskd_applier* applier, std::int64_t vocab_size,
                           std::int64_t slot_count, maskd_dictionary** dictionary) {
  if (absl::Status status = NotNull(applier, "applier"); !status.ok()) return status;
  if (absl::Status status = NotNull(dictionary, "dictionary"); !status.ok()) return status;
  auto made = applier->applier->MakeDictionary(vocab_size, slot_count);
  if (!made.ok()) return made.status();
  *dictionary = new maskd_dictionary{*std::move(made)};
  return absl::OkStatus();
}

absl::Status SetSlot(maskd_dictionary* dictionary, std::int64_t slot, const std::int32_t* words) {
  if (absl::Status status = NotNull(dictionary, "dictionary"); !status.ok()) return status;
  if (absl::Status status = NotNull(words, "words"); !status.ok()) return status;
  const std::int64_t count = MaskWordCount(dictionary->dictionary->vocab_size());
  return dictionary->dictionary->Set(slot, {words, static_cast<std::size_t>(count)});
}

}  // namespace

absl::Status ReadBiases(const maskd_bias* biases, std::int64_t count, const char* name,
                        std::span<const LogitBias>& span) {
  return ReadSpan(reinterpret_cast<const LogitBias*>(biases), count, name, span);
}

absl::Status ReadLogits(const maskd_logits* from, Logits& logits) {
  if (absl::Status status = NotNull(from, "logits"); !status.ok()) return status;
  absl::Status status = CheckSize(from->struct_size, sizeof(maskd_logits), "logits");
  if (!status.ok()) return status;
  if (from->memory != MASKD_HOST && from->memory != MASKD_OPENCL_BUFFER) {
    return absl::InvalidArgumentError(
        absl::StrCat("logits.memory: ", from->memory, " is not a known kind"));
  }
  if (absl::Status known = CheckType(from->type, "logits.type"); !known.ok()) return known;
  logits = {.data = from->data,
            .memory = static_cast<LogitsMemory>(from->memory),
            .type = static_cast<LogitsType>(from->type),
            .offset = from->offset,
            .row_count = from->row_count,
            .width = from->width,
            .row_stride = from->row_stride};
  return absl::OkStatus();
}

}  // namespace maskd::client

using maskd::client::NotNull;
using maskd::client::ToC;

extern "C" {

maskd_status* maskd_applier_new(const char* name, maskd_applier** applier) {
  if (applier == nullptr) return ToC(NotNull(applier, "applier"));
  return ToC(maskd::client::Give(maskd::client::MakeNamed(name), applier));
}

maskd_status* maskd_applier_new_on_queue(void* cl_command_queue, maskd_applier** applier) {
  if (applier == nullptr) return ToC(NotNull(applier, "applier"));
  return ToC(maskd::client::Give(maskd::client::MakeOnQueue(cl_command_queue), applier));
}

void maskd_applier_free(maskd_applier* applier) { delete applier; }

const char* maskd_applier_name(const maskd_applier* applier) {
  return applier == nullptr ? "" : applier->name.c_str();
}

maskd_status* maskd_apply(const maskd_applier* applier, const maskd_logits* logits,
                          int64_t vocab_size, const maskd_row* rows, int64_t row_count,
                          const maskd_dictionary* dictionary) {
  maskd_apply_options options = {};
  options.dictionary = dictionary;
  return ToC(maskd::client::ApplyRows(applier, logits, vocab_size, rows, row_count, options));
}

maskd_status* maskd_apply_with(const maskd_applier* applier, const maskd_logits* logits,
                               int64_t vocab_size, const maskd_row* rows, int64_t row_count,
                               const maskd_apply_options* options) {
  return ToC(maskd::client::ApplyWith(applier, logits, vocab_size, rows, row_count, options));
}

maskd_status* maskd_apply_bitmask(const maskd_applier* applier, const maskd_logits* logits,
                                  int64_t vocab_size, const int32_t* words, int64_t word_stride,
                                  const int64_t* logits_rows, int64_t row_count) {
  return ToC(maskd::client::ApplyBitmask(applier, logits, vocab_size, words, word_stride,
                                         logits_rows, row_count));
}

maskd_status* maskd_applier_warm_up(maskd_applier* applier, int64_t vocab_size, int64_t width,
                                    int32_t type, int64_t row_count) {
  return ToC(maskd::client::WarmUp(applier, vocab_size, width, type, row_count));
}

maskd_status* maskd_dictionary_new(const maskd_applier* applier, int64_t vocab_size,
                                   int64_t slot_count, maskd_dictionary** dictionary) {
  return ToC(maskd::client::NewDictionary(applier, vocab_size, slot_count, dictionary));
}

void maskd_dictionary_free(maskd_dictionary* dictionary) { delete dictionary; }

maskd_status* maskd_dictionary_set(maskd_dictionary* dictionary, int64_t slot,
                                   const int32_t* words) {
  return ToC(maskd::client::SetSlot(dictionary, slot, words));
}

}  // extern "C"
