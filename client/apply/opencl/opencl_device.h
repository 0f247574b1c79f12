// The devices that OpenCL offers here, and the choice of one.
//
// Usable   little-endian, available, with a compiler, OpenCL 1.2 or later. Others are not listed.
// Errors   UNIMPLEMENTED (no OpenCL, no usable device), INVALID_ARGUMENT (no device of that name or
//          index); the message lists those there are.
// Threads  any.
#ifndef MASKD_CLIENT_APPLY_OPENCL_OPENCL_DEVICE_H_
#define MASKD_CLIENT_APPLY_OPENCL_OPENCL_DEVICE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "client/apply/opencl/opencl_api.h"

namespace maskd::client {

// As the driver says it; asked once, when devices are listed.
struct OpenClDevice {
  cl_device_id id = nullptr;
  std::string name;
  std::string platform;
  // Of platform, device and driver, for keys of caches.
  std::string versions;
  // Runs on the host's processor: its memory is the host's.
  bool is_cpu = false;
  // Shares the host's memory, as integrated GPUs do.
  bool unified_memory = false;
  bool is_gpu = false;
  std::size_t max_work_group = 1;

  // "NVIDIA H200 (NVIDIA CUDA)".
  [[nodiscard]] std::string Describe() const;
};

// In the order of OpenCL's platforms and their devices.
absl::StatusOr<std::vector<OpenClDevice>> OpenClDevices();

// `wanted` is an index into OpenClDevices(), or a part of what one's Describe() gives, whatever the
// case of its letters. Empty: the first GPU, or else the first device.
absl::StatusOr<OpenClDevice> ChooseOpenClDevice(absl::string_view wanted);

// What there is to say of a device that an engine brings.
OpenClDevice DescribeOpenClDevice(cl_device_id id);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_OPENCL_OPENCL_DEVICE_H_
