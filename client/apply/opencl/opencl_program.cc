#include "client/apply/opencl/opencl_program.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "client/apply/opencl/opencl_kernels.h"

namespace maskd::client {
namespace {

std::string KeyOf(const OpenClDevice& device) {
  return absl::StrCat(device.Describe(), "; ", device.versions, "; ", kOpenClBuildOptions, "\n",
                      kOpenClSource);
}

std::string BuildLog(cl_program program, cl_device_id device) {
  std::size_t size = 0;
  OpenCl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  OpenCl().clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  return log;
}

absl::Status BuildNow(cl_program program, cl_device_id device) {
  const cl_int code =
      OpenCl().clBuildProgram(program, 1, &device, kOpenClBuildOptions, nullptr, nullptr);
  if (code != CL_BUILD_PROGRAM_FAILURE) return OpenClStatus("clBuildProgram", code);
  return absl::InternalError(absl::StrCat("opencl: clBuildProgram: ", BuildLog(program, device)));
}

absl::StatusOr<OpenClProgram> FromSource(cl_context context, cl_device_id device) {
  const char* text = kOpenClSource.data();
  const std::size_t size = kOpenClSource.size();
  cl_int code = CL_SUCCESS;
  OpenClProgram program(OpenCl().clCreateProgramWithSource(context, 1, &text, &size, &code));
  if (program == nullptr) return OpenClStatus("clCreateProgramWithSource", code);
  if (absl::Status status = BuildNow(program.get(), device); !status.ok()) return status;
  return program;
}

// None when the driver does not take it: it is built from source then.
OpenClProgram FromBinary(cl_context context, cl_device_id device, const std::string& binary) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t size = binary.size();
  cl_int loaded = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  OpenClProgram program(
      OpenCl().clCreateProgramWithBinary(context, 1, &device, &size, &bytes, &loaded, &code));
  if (program == nullptr || loaded != CL_SUCCESS) return nullptr;
  if (!BuildNow(program.get(), device).ok()) return nullptr;
  return program;
}

}  // namespace

absl::StatusOr<MaskProgram> MaskProgram::Build(cl_context context, const OpenClDevice& device,
                                               ProgramCache cache) {
  std::string key = KeyOf(device);
  if (const std::optional<std::string> binary = cache.Find(key)) {
    if (OpenClProgram program = FromBinary(context, device.id, *binary))
      return MaskProgram(std::move(program), std::move(cache), std::move(key), binary->size());
  }
  absl::StatusOr<OpenClProgram> program = FromSource(context, device.id);
  if (!program.ok()) return program.status();
  return MaskProgram(*std::move(program), std::move(cache), std::move(key), 0);
}

absl::StatusOr<OpenClKernel> MaskProgram::MakeKernel(const char* name) const {
  cl_int code = CL_SUCCESS;
  OpenClKernel kernel(OpenCl().clCreateKernel(program_.get(), name, &code));
  if (kernel == nullptr) return OpenClStatus(absl::StrCat("clCreateKernel ", name), code);
  return kernel;
}

void MaskProgram::Keep() {
  const std::string binary = Binary();
  if (binary.size() == kept_size_) return;
  if (cache_.Keep(key_, binary)) kept_size_ = binary.size();
}

std::string MaskProgram::Binary() const {
  // One device, so one size and one binary.
  std::size_t size = 0;
  if (OpenCl().clGetProgramInfo(program_.get(), CL_PROGRAM_BINARY_SIZES, sizeof(size), &size,
                                nullptr) != CL_SUCCESS) {
    return "";
  }
  std::string binary(size, '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(binary.data());
  const cl_int code = OpenCl().clGetProgramInfo(program_.get(), CL_PROGRAM_BINARIES, sizeof(bytes),
                                                &bytes, nullptr);
  return code == CL_SUCCESS ? binary : "";
}

}  // namespace maskd::client
