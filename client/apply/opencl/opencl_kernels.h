// The kernels that mask rows of logits on a device: OpenCL C 1.2 without extensions, in source.
//
// Kernels  mask_words_B has one work item a word of the mask, for CPUs, whose items run one after
//          the other; mask_tokens_B one a token, so that a GPU's neighbours write neighbours. B is
//          the bits of an element, 32 or 16: minus infinity is a pattern of bits, so neither
//          float16 nor bfloat16 need be types of the device.
//          tune_TYPE, before one of them where a row has a temperature or biases: one work item a
//          run of tokens. It computes what client/apply/float_bits.h does, bit for bit.
// Arguments  logits, the element where row 0 starts, the row stride, the width, minus infinity, the
//          vocabulary, the step's ints, the dictionary's words. Of tune_TYPE: logits, the element
//          where row 0 starts, the row stride, the tokens of an item, the vocabulary, the ints.
// Range    dimension 0: words or tokens of the width, rounded up; dimension 1: rows of the step.
// Step     kRowInts ints a row, then the words and ids they point to:
//          logits row, base (RowBase), where its words start, where its ids start, where they end;
//          its scale as a float's bits, where the ids of its biases start, where they end. The
//          biases' own bits stand behind their ids.
#ifndef MASKD_CLIENT_APPLY_OPENCL_OPENCL_KERNELS_H_
#define MASKD_CLIENT_APPLY_OPENCL_OPENCL_KERNELS_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace maskd::client {

inline constexpr int kRowInts = 8;

// What a row's ids change, as the source below knows it.
enum RowBase : std::int32_t {
  kBaseNone = 0,
  kBaseAll = 1,
  kBaseStepWords = 2,
  kBaseDictionary = 3,
};

extern const absl::string_view kOpenClSource;
inline constexpr const char* kOpenClBuildOptions = "-cl-std=CL1.2";

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_OPENCL_OPENCL_KERNELS_H_
