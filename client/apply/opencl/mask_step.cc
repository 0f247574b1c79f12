// One buffer of ints a step: the rows first, each with the places of its words, ids and biases,
// then those themselves. So a step is one transfer and one or two kernels, however many rows.
//
// Invariant  a step that is packed is not under way: its last Run() has been waited for.
// Cost       a copy of the words, ids and biases on the host, and their transfer; full rows cost
//            nothing. Device memory grows by doubling and is kept.

#include "client/apply/opencl/mask_step.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

#include "client/apply/opencl/opencl_kernels.h"

namespace maskd::client {
namespace {

constexpr std::int64_t kMaxInts = std::numeric_limits<std::int32_t>::max();

RowBase BaseOf(const MaskRow& row) {
  if (row.base() == MaskRow::Base::kAll) return kBaseAll;
  if (row.base() == MaskRow::Base::kWords) return kBaseStepWords;
  return row.base() == MaskRow::Base::kSlot ? kBaseDictionary : kBaseNone;
}

std::size_t RoundUp(std::size_t count, std::size_t unit) {
  return (count + unit - 1) / unit * unit;
}

template <typename Value>
bool SetArgument(cl_kernel kernel, cl_uint index, const Value& value, cl_int& code) {
  code = OpenCl().clSetKernelArg(kernel, index, sizeof(value), &value);
  return code == CL_SUCCESS;
}

}  // namespace

absl::Status DeviceMemory::Reserve(const DeviceQueue& device, std::size_t bytes) {
  if (memory_ != nullptr && bytes <= bytes_) return absl::OkStatus();
  const std::size_t size = std::max({bytes, 2 * bytes_, std::size_t{4096}});
  cl_int code = CL_SUCCESS;
  memory_.reset(OpenCl().clCreateBuffer(device.context, CL_MEM_READ_WRITE, size, nullptr, &code));
  bytes_ = memory_ == nullptr ? 0 : size;
  return OpenClStatus(absl::StrCat("clCreateBuffer of ", size, " bytes"), code);
}

MaskStep::MaskStep(Kernels mask, Kernels tune) : mask_(std::move(mask)), tune_(std::move(tune)) {}

absl::StatusOr<std::unique_ptr<MaskStep>> MaskStep::Make(const MaskProgram& program,
                                                         KernelShape shape) {
  const bool words = shape == KernelShape::kWords;
  const char* const mask_32bit = words ? "mask_words_32" : "mask_tokens_32";
  const char* const mask_16bit = words ? "mask_words_16" : "mask_tokens_16";
  const char* const names[2][3] = {{mask_32bit, mask_16bit, mask_16bit},
                                   {"tune_float32", "tune_float16", "tune_bfloat16"}};
  Kernels kernels[2];
  for (int kind = 0; kind < 2; ++kind) {
    for (int type = 0; type < 3; ++type) {
      absl::StatusOr<OpenClKernel> kernel = program.MakeKernel(names[kind][type]);
      if (!kernel.ok()) return kernel.status();
      kernels[kind][static_cast<std::size_t>(type)] = *std::move(kernel);
    }
  }
  return std::unique_ptr<MaskStep>(new MaskStep(std::move(kernels[0]), std::move(kernels[1])));
}

absl::Status MaskStep::Pack(const MaskRows& masks, bool compact) {
  const auto full = std::ranges::count_if(masks.rows, &MaskRow::full);
  row_count_ = std::ssize(masks.rows) - full;
  tuned_ = false;
  ints_.resize(static_cast<std::size_t>(row_count_ * kRowInts));
  std::int64_t packed = 0;
  for (const MaskRow& row : masks.rows) {
    if (row.full()) continue;
    const std::int64_t logits_row = compact ? packed : row.logits_row();
    const std::int64_t end = std::ssize(ints_) + std::ssize(row.words()) + std::ssize(row.ids()) +
                             2 * std::ssize(row.biases());
    if (end > kMaxInts || logits_row > kMaxInts) {
      return absl::ResourceExhaustedError(
          absl::StrCat("masks.rows: need more than ", kMaxInts, " words and ids in one step"));
    }
    std::int32_t fields[kRowInts];
    PackRow(row, logits_row, MaskWordCount(masks.vocab_size), fields);
    std::ranges::copy(fields, ints_.begin() + packed * kRowInts);
    ++packed;
  }
  return absl::OkStatus();
}

void MaskStep::PackRow(const MaskRow& row, std::int64_t logits_row, std::int64_t word_count,
                       std::int32_t* ints) {
  const auto words_at = std::ssize(ints_);
  const auto ids_at = words_at + std::ssize(row.words());
  const auto biases_at = ids_at + std::ssize(row.ids());
  const bool in_slot = row.base() == MaskRow::Base::kSlot;
  const std::int64_t fields[kRowInts] = {logits_row,
                                         BaseOf(row),
                                         in_slot ? row.slot() * word_count : words_at,
                                         ids_at,
                                         biases_at,
                                         std::bit_cast<std::int32_t>(row.scale()),
                                         biases_at,
                                         biases_at + std::ssize(row.biases())};
  std::ranges::transform(fields, ints,
                         [](std::int64_t field) { return static_cast<std::int32_t>(field); });
  ints_.insert(ints_.end(), row.words().begin(), row.words().end());
  ints_.insert(ints_.end(), row.ids().begin(), row.ids().end());
  for (const LogitBias& bias : row.biases()) ints_.push_back(bias.id);
  for (const LogitBias& bias : row.biases())
    ints_.push_back(std::bit_cast<std::int32_t>(bias.bias));
  tuned_ = tuned_ || row.tuned();
}

absl::Status MaskStep::SetArguments(cl_kernel kernel, const DeviceLogits& logits,
                                    std::int64_t vocab_size, cl_mem dictionary) {
  const auto start = static_cast<cl_long>(logits.start);
  const auto row_stride = static_cast<cl_long>(logits.row_stride);
  const auto width = static_cast<cl_int>(logits.width);
  const auto vocabulary = static_cast<cl_int>(vocab_size);
  const cl_mem step = sent_.get();
  const cl_mem slots = dictionary == nullptr ? step : dictionary;  // some drivers want no null
  cl_int code = CL_SUCCESS;
  const bool minus_infinity =
      logits.element_bytes == 4
          ? SetArgument(kernel, 4, static_cast<cl_uint>(logits.minus_infinity), code)
          : SetArgument(kernel, 4, static_cast<cl_ushort>(logits.minus_infinity), code);
  if (minus_infinity && SetArgument(kernel, 0, logits.buffer, code) &&
      SetArgument(kernel, 1, start, code) && SetArgument(kernel, 2, row_stride, code) &&
      SetArgument(kernel, 3, width, code) && SetArgument(kernel, 5, vocabulary, code) &&
      SetArgument(kernel, 6, step, code) && SetArgument(kernel, 7, slots, code)) {
    return absl::OkStatus();
  }
  return OpenClStatus("clSetKernelArg", code);
}

absl::Status MaskStep::Run(const DeviceQueue& device, const DeviceLogits& logits,
                           std::int64_t vocab_size, cl_mem dictionary) {
  const std::size_t bytes = ints_.size() * sizeof(std::int32_t);
  if (absl::Status status = sent_.Reserve(device, bytes); !status.ok()) return status;
  const cl_int code = OpenCl().clEnqueueWriteBuffer(device.queue, sent_.get(), CL_FALSE, 0, bytes,
                                                    ints_.data(), 0, nullptr, nullptr);
  if (code != CL_SUCCESS) return OpenClStatus("clEnqueueWriteBuffer", code);
  absl::Status status = tuned_ ? Tune(device, logits, vocab_size) : absl::OkStatus();
  if (status.ok()) status = Mask(device, logits, vocab_size, dictionary);
  // The transfer still reads ints_.
  if (!status.ok()) OpenCl().clFinish(device.queue);
  return status;
}

absl::Status MaskStep::Tune(const DeviceQueue& device, const DeviceLogits& logits,
                            std::int64_t vocab_size) {
  cl_kernel kernel = tune_[static_cast<std::size_t>(logits.type)].get();
  const auto start = static_cast<cl_long>(logits.start);
  const auto row_stride = static_cast<cl_long>(logits.row_stride);
  const cl_int run = device.shape == KernelShape::kWords ? 32 : 1;
  const auto vocabulary = static_cast<cl_int>(vocab_size);
  const cl_mem step = sent_.get();
  cl_int code = CL_SUCCESS;
  const bool set = SetArgument(kernel, 0, logits.buffer, code) &&
                   SetArgument(kernel, 1, start, code) &&
                   SetArgument(kernel, 2, row_stride, code) && SetArgument(kernel, 3, run, code) &&
                   SetArgument(kernel, 4, vocabulary, code) && SetArgument(kernel, 5, step, code);
  if (!set) return OpenClStatus("clSetKernelArg", code);
  const auto items = static_cast<std::size_t>((vocab_size + run - 1) / run);
  const std::size_t global[2] = {RoundUp(items, device.work_group),
                                 static_cast<std::size_t>(row_count_)};
  const std::size_t local[2] = {device.work_group, 1};
  code = OpenCl().clEnqueueNDRangeKernel(device.queue, kernel, 2, nullptr, global, local, 0,
                                         nullptr, nullptr);
  return OpenClStatus("clEnqueueNDRangeKernel", code);
}

absl::Status MaskStep::Mask(const DeviceQueue& device, const DeviceLogits& logits,
                            std::int64_t vocab_size, cl_mem dictionary) {
  cl_kernel kernel = mask_[static_cast<std::size_t>(logits.type)].get();
  absl::Status set = SetArguments(kernel, logits, vocab_size, dictionary);
  if (!set.ok()) return set;
  const auto width = static_cast<std::size_t>(logits.width);
  const std::size_t items = device.shape == KernelShape::kWords ? (width + 31) / 32 : width;
  const std::size_t global[2] = {RoundUp(items, device.work_group),
                                 static_cast<std::size_t>(row_count_)};
  const std::size_t local[2] = {device.work_group, 1};
  cl_event done = nullptr;
  const cl_int code = OpenCl().clEnqueueNDRangeKernel(device.queue, kernel, 2, nullptr, global,
                                                      local, 0, nullptr, &done);
  running_.reset(done);
  return OpenClStatus("clEnqueueNDRangeKernel", code);
}

absl::Status MaskStep::Wait() {
  if (idle()) return absl::OkStatus();
  cl_event event = running_.get();
  const cl_int code = OpenCl().clWaitForEvents(1, &event);
  running_.reset();
  return OpenClStatus("clWaitForEvents", code);
}

}  // namespace maskd::client
