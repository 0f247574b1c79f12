// libcuda and libnvrtc in one library, for tests without a GPU. The device's memory is the host's.
// Kernels are client/python/maskd/_torch_cuda.cu as g++ compiles it, with blocks and threads as
// loops, as they do not synchronize. Their arguments come as the driver takes them.

#include <cstddef>
#include <cstring>
#include <map>
#include <string>

struct Index {
  unsigned x = 0;
  unsigned y = 0;
};
static Index blockIdx;
static Index threadIdx;
static Index blockDim;

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

#define __device__
#define __global__
#include MASKD_KERNELS  // that file: cuda_on_host.py

namespace {

constexpr int kError = 1;
constexpr int kCapability = 90;
constexpr int kArchitectures[] = {80, 90};

int context;
int depth = 0;  // of pushed contexts
std::string options;
std::size_t launches = 0;
std::size_t compiles = 0;

}  // namespace

extern "C" {

std::size_t fake_launches() { return launches; }
std::size_t fake_compiles() { return compiles; }
const char* fake_options() { return options.c_str(); }

int cuInit(unsigned) { return 0; }
int cuGetErrorString(int, const char** words) { return *words = "as the fake has it", 0; }
int cuDeviceGet(int* device, int index) { return *device = index, index == 0 ? 0 : kError; }
int cuDevicePrimaryCtxRetain(void** made, int) { return *made = &context, 0; }
int cuDeviceGetAttribute(int* value, int which, int) {
  *value = which == 75 ? kCapability / 10 : kCapability % 10;
  return which == 75 || which == 76 ? 0 : kError;
}
int cuCtxPushCurrent_v2(void* of) { return ++depth, of == &context ? 0 : kError; }
int cuCtxPopCurrent_v2(void** of) { return *of = &context, depth-- > 0 ? 0 : kError; }
int cuModuleLoadData(void** module, const void* image) {
  *module = &context;
  return depth == 1 && std::memcmp(image, "\177ELF", 4) == 0 ? 0 : kError;
}

int cuModuleGetFunction(void** function, void*, const char* name) {
  static const std::map<std::string, void*> kKernels = {
      {"maskd_mask16", reinterpret_cast<void*>(&maskd_mask16)},
      {"maskd_mask32", reinterpret_cast<void*>(&maskd_mask32)},
      {"maskd_place", reinterpret_cast<void*>(&maskd_place)}};
  const auto found = kKernels.find(name);
  return found == kKernels.end() ? kError : (*function = found->second, 0);
}

int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, void*,
                   void** arguments, void** extra) {
  if (depth != 1 || grid_x == 0 || grid_y == 0 || grid_y > 65535 || grid_z != 1 || block_x > 1024 ||
      block_y != 1 || block_z != 1 || shared != 0 || extra != nullptr) {
    return kError;
  }
  ++launches;
  blockDim.x = block_x;
  for (blockIdx.x = 0; blockIdx.x < grid_x; ++blockIdx.x) {
    for (blockIdx.y = 0; blockIdx.y < grid_y; ++blockIdx.y) {
      for (threadIdx.x = 0; threadIdx.x < block_x; ++threadIdx.x) {
        if (function == reinterpret_cast<void*>(&maskd_place)) {
          maskd_place(*static_cast<int**>(arguments[0]), *static_cast<int**>(arguments[1]),
                      *static_cast<int**>(arguments[2]), *static_cast<int*>(arguments[3]));
        } else {
          reinterpret_cast<void (*)(Masks)>(function)(*static_cast<Masks*>(arguments[0]));
        }
      }
    }
  }
  return 0;
}

const char* nvrtcGetErrorString(int) { return "as the fake has it"; }
int nvrtcGetNumSupportedArchs(int* count) { return *count = 2, 0; }
int nvrtcGetSupportedArchs(int* all) {
  return std::memcpy(all, kArchitectures, sizeof(kArchitectures)), 0;
}
int nvrtcCreateProgram(void** program, const char* source, const char*, int headers, const char**,
                       const char**) {
  *program = &context;
  return headers == 0 && std::strstr(source, "maskd_mask16") != nullptr ? 0 : kError;
}
int nvrtcCompileProgram(void*, int count, const char** given) {
  ++compiles;
  options.clear();
  for (int i = 0; i < count; ++i) options += std::string(given[i]) + " ";
  return 0;
}
int nvrtcDestroyProgram(void** program) { return *program = nullptr, 0; }
int nvrtcGetCUBINSize(void*, std::size_t* size) { return *size = 4, 0; }
int nvrtcGetCUBIN(void*, char* code) { return std::memcpy(code, "\177ELF", 4), 0; }

}  // extern "C"
