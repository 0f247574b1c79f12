#include "client/apply/opencl/opencl_api.h"

#include <array>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include <dlfcn.h>

namespace maskd::client {
namespace {

constexpr const char* kLibrary = "libOpenCL.so.1";

absl::StatusOr<OpenClApi> Load() {
  const char* const named = std::getenv("MASKD_OPENCL_LIBRARY");
  const char* const path = named != nullptr ? named : kLibrary;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return absl::UnimplementedError(absl::StrCat("opencl: ", dlerror()));
  OpenClApi api;
#define MASKD_FIND(name)                                                             \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, #name));            \
  if (api.name == nullptr) {                                                         \
    return absl::UnimplementedError(absl::StrCat("opencl: ", path, ": no ", #name)); \
  }
  MASKD_OPENCL_FUNCTIONS(MASKD_FIND)
#undef MASKD_FIND
  return api;
}

const absl::StatusOr<OpenClApi>& Loaded() {
  static const auto* const api = new absl::StatusOr<OpenClApi>(Load());
  return *api;
}

struct CodeName {
  cl_int code;
  absl::string_view name;
};

// Those that what we call may give.
constexpr std::array kCodeNames = {
    CodeName{CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
    CodeName{CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
    CodeName{CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
    CodeName{CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    CodeName{CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
    CodeName{CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
    CodeName{CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
    CodeName{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
             "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    CodeName{CL_INVALID_VALUE, "CL_INVALID_VALUE"},
    CodeName{CL_INVALID_DEVICE, "CL_INVALID_DEVICE"},
    CodeName{CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
    CodeName{CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
    CodeName{CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
    CodeName{CL_INVALID_BINARY, "CL_INVALID_BINARY"},
    CodeName{CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
    CodeName{CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
    CodeName{-1001, "no driver is installed"},  // CL_PLATFORM_NOT_FOUND_KHR
};

absl::string_view NameOf(cl_int code) {
  for (const CodeName& each : kCodeNames)
    if (each.code == code) return each.name;
  return "error";
}

}  // namespace

absl::StatusOr<const OpenClApi*> LoadOpenCl() {
  if (!Loaded().ok()) return Loaded().status();
  return &*Loaded();
}

const OpenClApi& OpenCl() { return *Loaded(); }

absl::Status OpenClStatus(absl::string_view function, cl_int code) {
  if (code == CL_SUCCESS) return absl::OkStatus();
  const std::string message =
      absl::StrCat("opencl: ", function, ": ", NameOf(code), " (", code, ")");
  const bool memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES ||
                      code == CL_OUT_OF_HOST_MEMORY;
  return memory ? absl::ResourceExhaustedError(message) : absl::InternalError(message);
}

}  // namespace maskd::client
