#include "client/apply/opencl/mask_step.h"

#include <algorithm>
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

MaskStep::MaskStep(OpenClKernel mask_32bit, OpenClKernel mask_16bit)
    : mask_32bit_(std::move(mask_32bit)), mask_16bit_(std::move(mask_16bit)) {}

absl::StatusOr<std::unique_ptr<MaskStep>> MaskStep::Make(const MaskProgram& program,
                                                         KernelShape shape) {
  const bool words = shape == KernelShape::kWords;
  auto mask_32bit = program.MakeKernel(words ? "mask_words_32" : "mask_tokens_32");
  if (!mask_32bit.ok()) return mask_32bit.status();
  auto mask_16bit = program.MakeKernel(words ? "mask_words_16" : "mask_tokens_16");
  if (!mask_16bit.ok()) return mask_16bit.status();
  return std::unique_ptr<MaskStep>(new MaskStep(*std::move(mask_32bit), *std::move(mask_16bit)));
}

absl::Status MaskStep::Pack(const MaskRows& masks, bool compact) {
  const auto full = std::ranges::count_if(masks.rows, &MaskRow::full);
  row_count_ = std::ssize(masks.rows) - full;
  ints_.resize(static_cast<std::size_t>(row_count_ * kRowInts));
  std::int64_t packed = 0;
  for (const MaskRow& row : masks.rows) {
    if (row.full()) continue;
    std::int32_t* const ints = ints_.data() + packed * kRowInts;
    const std::int64_t logits_row = compact ? packed : row.logits_row();
    const auto words_at = std::ssize(ints_);
    const auto ids_at = words_at + std::ssize(row.words());
    const auto ids_end = ids_at + std::ssize(row.ids());
    if (ids_end > kMaxInts || logits_row > kMaxInts) {
      return absl::ResourceExhaustedError(
          absl::StrCat("masks.rows: need more than ", kMaxInts, " words and ids in one step"));
    }
    const std::int64_t words = row.base() == MaskRow::Base::kSlot
                                   ? row.slot() * MaskWordCount(masks.vocab_size)
                                   : words_at;
    const std::int64_t fields[kRowInts] = {logits_row, BaseOf(row), words, ids_at, ids_end};
    std::ranges::transform(fields, ints,
                           [](std::int64_t field) { return static_cast<std::int32_t>(field); });
    ints_.insert(ints_.end(), row.words().begin(), row.words().end());
    ints_.insert(ints_.end(), row.ids().begin(), row.ids().end());
    ++packed;
  }
  return absl::OkStatus();
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
  cl_int code = OpenCl().clEnqueueWriteBuffer(device.queue, sent_.get(), CL_FALSE, 0, bytes,
                                              ints_.data(), 0, nullptr, nullptr);
  if (code != CL_SUCCESS) return OpenClStatus("clEnqueueWriteBuffer", code);

  cl_kernel kernel = logits.element_bytes == 4 ? mask_32bit_.get() : mask_16bit_.get();
  absl::Status arguments = SetArguments(kernel, logits, vocab_size, dictionary);
  if (arguments.ok()) {
    const auto width = static_cast<std::size_t>(logits.width);
    const std::size_t items = device.shape == KernelShape::kWords ? (width + 31) / 32 : width;
    const std::size_t global[2] = {RoundUp(items, device.work_group),
                                   static_cast<std::size_t>(row_count_)};
    const std::size_t local[2] = {device.work_group, 1};
    cl_event done = nullptr;
    code = OpenCl().clEnqueueNDRangeKernel(device.queue, kernel, 2, nullptr, global, local, 0,
                                           nullptr, &done);
    running_.reset(done);
    arguments = OpenClStatus("clEnqueueNDRangeKernel", code);
  }
  // The transfer still reads ints_.
  if (!arguments.ok()) OpenCl().clFinish(device.queue);
  return arguments;
}

absl::Status MaskStep::Wait() {
  if (idle()) return absl::OkStatus();
  cl_event event = running_.get();
  const cl_int code = OpenCl().clWaitForEvents(1, &event);
  running_.reset();
  return OpenClStatus("clWaitForEvents", code);
}

}  // namespace maskd::client
