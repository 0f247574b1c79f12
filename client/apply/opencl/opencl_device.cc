#include "client/apply/opencl/opencl_device.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace maskd::client {
namespace {

std::string DeviceText(cl_device_id id, cl_device_info what) {
  std::size_t size = 0;
  if (OpenCl().clGetDeviceInfo(id, what, 0, nullptr, &size) != CL_SUCCESS) return "";
  std::string text(size, '\0');
  if (OpenCl().clGetDeviceInfo(id, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
  return text.substr(0, text.find('\0'));
}

std::string PlatformText(cl_platform_id id, cl_platform_info what) {
  std::size_t size = 0;
  if (OpenCl().clGetPlatformInfo(id, what, 0, nullptr, &size) != CL_SUCCESS) return "";
  std::string text(size, '\0');
  if (OpenCl().clGetPlatformInfo(id, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
  return text.substr(0, text.find('\0'));
}

// Zero when the driver does not say.
template <typename Value>
Value DeviceValue(cl_device_id id, cl_device_info what) {
  Value value{};
  const cl_int code = OpenCl().clGetDeviceInfo(id, what, sizeof(value), &value, nullptr);
  return code == CL_SUCCESS ? value : Value{};
}

// Of "OpenCL 1.2 anything".
bool IsAtLeast12(absl::string_view version) {
  int major = 0;
  int minor = 0;
  const bool is_version = absl::StartsWith(version, "OpenCL ") && version.size() >= 10 &&
                          absl::SimpleAtoi(version.substr(7, 1), &major) &&
                          absl::SimpleAtoi(version.substr(9, 1), &minor);
  return is_version && major * 10 + minor >= 12;
}

bool IsUsable(cl_device_id id) {
  return DeviceValue<cl_bool>(id, CL_DEVICE_AVAILABLE) == CL_TRUE &&
         DeviceValue<cl_bool>(id, CL_DEVICE_COMPILER_AVAILABLE) == CL_TRUE &&
         DeviceValue<cl_bool>(id, CL_DEVICE_ENDIAN_LITTLE) == CL_TRUE &&
         IsAtLeast12(DeviceText(id, CL_DEVICE_VERSION));
}

void AddDevices(cl_platform_id platform, std::vector<OpenClDevice>& devices) {
  cl_uint count = 0;
  // A platform without devices is none to name.
  if (OpenCl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS)
    return;
  std::vector<cl_device_id> ids(count);
  if (OpenCl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr) !=
      CL_SUCCESS) {
    return;
  }
  for (cl_device_id id : ids)
    if (IsUsable(id)) devices.push_back(DescribeOpenClDevice(id));
}

std::string Listed(const std::vector<OpenClDevice>& devices) {
  std::vector<std::string> names;
  for (const OpenClDevice& device : devices)
    names.push_back(absl::StrCat(names.size(), ": ", device.Describe()));
  return absl::StrJoin(names, ", ");
}

}  // namespace

std::string OpenClDevice::Describe() const { return absl::StrCat(name, " (", platform, ")"); }

OpenClDevice DescribeOpenClDevice(cl_device_id id) {
  const auto platform = DeviceValue<cl_platform_id>(id, CL_DEVICE_PLATFORM);
  const auto type = DeviceValue<cl_device_type>(id, CL_DEVICE_TYPE);
  OpenClDevice device;
  device.id = id;
  device.name = std::string(absl::StripAsciiWhitespace(DeviceText(id, CL_DEVICE_NAME)));
  device.platform = PlatformText(platform, CL_PLATFORM_NAME);
  device.versions =
      absl::StrCat(PlatformText(platform, CL_PLATFORM_VERSION), "; ",
                   DeviceText(id, CL_DEVICE_VERSION), "; ", DeviceText(id, CL_DRIVER_VERSION));
  device.is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
  device.is_gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
  device.unified_memory = DeviceValue<cl_bool>(id, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
  device.max_work_group =
      std::max<std::size_t>(1, DeviceValue<std::size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  return device;
}

absl::StatusOr<std::vector<OpenClDevice>> OpenClDevices() {
  const absl::StatusOr<const OpenClApi*> api = LoadOpenCl();
  if (!api.ok()) return api.status();
  cl_uint count = 0;
  const cl_int code = (*api)->clGetPlatformIDs(0, nullptr, &count);
  if (code != CL_SUCCESS || count == 0) {
    return absl::UnimplementedError(
        OpenClStatus("clGetPlatformIDs", code == CL_SUCCESS ? -1001 : code).message());
  }
  std::vector<cl_platform_id> platforms(count);
  (*api)->clGetPlatformIDs(count, platforms.data(), nullptr);
  std::vector<OpenClDevice> devices;
  for (cl_platform_id platform : platforms) AddDevices(platform, devices);
  if (devices.empty())
    return absl::UnimplementedError("opencl: no device of OpenCL 1.2 with a compiler");
  return devices;
}

absl::StatusOr<OpenClDevice> ChooseOpenClDevice(absl::string_view wanted) {
  absl::StatusOr<std::vector<OpenClDevice>> devices = OpenClDevices();
  if (!devices.ok()) return devices.status();
  if (wanted.empty()) {
    const auto gpu = std::ranges::find_if(*devices, &OpenClDevice::is_gpu);
    return gpu != devices->end() ? *gpu : devices->front();
  }
  std::size_t index = 0;
  if (absl::SimpleAtoi(wanted, &index) && index < devices->size()) return (*devices)[index];
  const std::string lower = absl::AsciiStrToLower(wanted);
  for (OpenClDevice& device : *devices)
    if (absl::StrContains(absl::AsciiStrToLower(device.Describe()), lower)) return device;
  return absl::InvalidArgumentError(
      absl::StrCat("opencl: no device \"", wanted, "\"; there are ", Listed(*devices)));
}

}  // namespace maskd::client
