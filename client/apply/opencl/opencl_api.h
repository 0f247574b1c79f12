// The functions of OpenCL 1.2 that the applier calls, found when it is made: nothing is linked, and
// a machine without OpenCL needs none of it.
//
// Library  libOpenCL.so.1, the usual loader of drivers; MASKD_OPENCL_LIBRARY names another file.
// Errors   UNIMPLEMENTED when there is no library, or one without these functions.
// Threads  any. The library is loaded once and stays.
#ifndef MASKD_CLIENT_APPLY_OPENCL_OPENCL_API_H_
#define MASKD_CLIENT_APPLY_OPENCL_OPENCL_API_H_

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include <CL/cl.h>

namespace maskd::client {

#define MASKD_OPENCL_FUNCTIONS(FUNCTION) \
  FUNCTION(clBuildProgram)               \
  FUNCTION(clCreateBuffer)               \
  FUNCTION(clCreateCommandQueue)         \
  FUNCTION(clCreateContext)              \
  FUNCTION(clCreateKernel)               \
  FUNCTION(clCreateProgramWithBinary)    \
  FUNCTION(clCreateProgramWithSource)    \
  FUNCTION(clEnqueueCopyBuffer)          \
  FUNCTION(clEnqueueMapBuffer)           \
  FUNCTION(clEnqueueNDRangeKernel)       \
  FUNCTION(clEnqueueReadBuffer)          \
  FUNCTION(clEnqueueUnmapMemObject)      \
  FUNCTION(clEnqueueWriteBuffer)         \
  FUNCTION(clFinish)                     \
  FUNCTION(clFlush)                      \
  FUNCTION(clGetCommandQueueInfo)        \
  FUNCTION(clGetDeviceIDs)               \
  FUNCTION(clGetDeviceInfo)              \
  FUNCTION(clGetMemObjectInfo)           \
  FUNCTION(clGetPlatformIDs)             \
  FUNCTION(clGetPlatformInfo)            \
  FUNCTION(clGetProgramBuildInfo)        \
  FUNCTION(clGetProgramInfo)             \
  FUNCTION(clReleaseCommandQueue)        \
  FUNCTION(clReleaseContext)             \
  FUNCTION(clReleaseEvent)               \
  FUNCTION(clReleaseKernel)              \
  FUNCTION(clReleaseMemObject)           \
  FUNCTION(clReleaseProgram)             \
  FUNCTION(clRetainCommandQueue)         \
  FUNCTION(clRetainContext)              \
  FUNCTION(clSetKernelArg)               \
  FUNCTION(clWaitForEvents)

// Each function under its own name.
struct OpenClApi {
#define MASKD_DECLARE(name) decltype(&::name) name = nullptr;
  MASKD_OPENCL_FUNCTIONS(MASKD_DECLARE)
#undef MASKD_DECLARE
};

// Loads the library at the first call; the same pointer, or the same error, from then on.
absl::StatusOr<const OpenClApi*> LoadOpenCl();

// The same where it has been loaded before, as whoever holds an object of OpenCL may assume.
const OpenClApi& OpenCl();

// "opencl: clBuildProgram: CL_OUT_OF_RESOURCES (-5)", RESOURCE_EXHAUSTED where memory is what lacks
// and INTERNAL otherwise; OK for CL_SUCCESS.
absl::Status OpenClStatus(absl::string_view function, cl_int code);

// For std::unique_ptr: each gives one reference back. Errors are dropped.
struct OpenClRelease {
  void operator()(cl_command_queue queue) const { OpenCl().clReleaseCommandQueue(queue); }
  void operator()(cl_context context) const { OpenCl().clReleaseContext(context); }
  void operator()(cl_event event) const { OpenCl().clReleaseEvent(event); }
  void operator()(cl_kernel kernel) const { OpenCl().clReleaseKernel(kernel); }
  void operator()(cl_mem memory) const { OpenCl().clReleaseMemObject(memory); }
  void operator()(cl_program program) const { OpenCl().clReleaseProgram(program); }
};

using OpenClQueue = std::unique_ptr<_cl_command_queue, OpenClRelease>;
using OpenClContext = std::unique_ptr<_cl_context, OpenClRelease>;
using OpenClEvent = std::unique_ptr<_cl_event, OpenClRelease>;
using OpenClKernel = std::unique_ptr<_cl_kernel, OpenClRelease>;
using OpenClMemory = std::unique_ptr<_cl_mem, OpenClRelease>;
using OpenClProgram = std::unique_ptr<_cl_program, OpenClRelease>;

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_OPENCL_OPENCL_API_H_
