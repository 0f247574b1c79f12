// The rows of one Apply() on their way to the device: packed into one buffer, sent, masked.
//
// Memory   kept between uses; it grows to the largest step seen.
// Threads  one thread at a time. Commands go to one in-order queue, so that a later use of the same
//          step waits (Wait()) until the device has read the one before.
#ifndef MASKD_CLIENT_APPLY_OPENCL_MASK_STEP_H_
#define MASKD_CLIENT_APPLY_OPENCL_MASK_STEP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "client/apply/logits.h"
#include "client/apply/mask_rows.h"
#include "client/apply/opencl/opencl_api.h"
#include "client/apply/opencl/opencl_program.h"

namespace maskd::client {

// Which work item does what; see opencl_kernels.h.
enum class KernelShape : std::uint8_t { kWords, kTokens };

// Where a step runs. Everything outlives the step.
struct DeviceQueue {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  KernelShape shape = KernelShape::kWords;
  std::size_t work_group = 1;  // items of a work group, the same in every run
};

// Logits on the device.
struct DeviceLogits {
  cl_mem buffer = nullptr;
  std::int64_t start = 0;  // element where row 0 begins
  std::int64_t row_stride = 0;
  std::int64_t width = 0;
  std::int64_t element_bytes = 0;
  std::uint32_t minus_infinity = 0;
  LogitsType type = LogitsType::kFloat32;
};

// A buffer that grows.
class DeviceMemory {
 public:
  // Room for `bytes` bytes, at least one. What was in it is gone when it grows.
  absl::Status Reserve(const DeviceQueue& device, std::size_t bytes);
  [[nodiscard]] cl_mem get() const { return memory_.get(); }

 private:
  OpenClMemory memory_;
  std::size_t bytes_ = 0;
};

// Pack() and Run(), then Wait() before it is packed again.
class MaskStep {
 public:
  // The kernels of `program`, for a device of that shape. Errors: those of the device.
  static absl::StatusOr<std::unique_ptr<MaskStep>> Make(const MaskProgram& program,
                                                        KernelShape shape);

  // Packs the rows that are not full. `compact`: the n-th of them is row n of the logits.
  // Errors: RESOURCE_EXHAUSTED when they are more than an int can count.
  absl::Status Pack(const MaskRows& masks, bool compact);
  // Rows packed.
  [[nodiscard]] std::int64_t row_count() const { return row_count_; }
  // What Run() sends.
  [[nodiscard]] std::int64_t packed_bytes() const { return std::ssize(ints_) * 4; }

  // Enqueues the transfer of what was packed, and the kernels. `dictionary` may be null.
  absl::Status Run(const DeviceQueue& device, const DeviceLogits& logits, std::int64_t vocab_size,
                   cl_mem dictionary);

  // Until the device is done with the last Run().
  absl::Status Wait();
  // Whether Wait() would return at once.
  [[nodiscard]] bool idle() const { return running_ == nullptr; }

  // For logits that are copied to the device and back.
  [[nodiscard]] DeviceMemory& scratch() { return scratch_; }

 private:
  // Kernels by the type of logits.
  using Kernels = std::array<OpenClKernel, 3>;

  MaskStep(Kernels mask, Kernels tune);
  void PackRow(const MaskRow& row, std::int64_t logits_row, std::int64_t word_count,
               std::int32_t* ints);
  absl::Status Tune(const DeviceQueue& device, const DeviceLogits& logits, std::int64_t vocab_size);
  absl::Status Mask(const DeviceQueue& device, const DeviceLogits& logits, std::int64_t vocab_size,
                    cl_mem dictionary);
  absl::Status SetArguments(cl_kernel kernel, const DeviceLogits& logits, std::int64_t vocab_size,
                            cl_mem dictionary);

  Kernels mask_;
  Kernels tune_;
  std::vector<std::int32_t> ints_;  // rows, then their words, ids and biases
  std::int64_t row_count_ = 0;
  bool tuned_ = false;  // whether one of them is
  DeviceMemory sent_;
  DeviceMemory scratch_;
  OpenClEvent running_;
};

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_OPENCL_MASK_STEP_H_
