#include "client/apply/opencl/opencl_kernels.h"

namespace maskd::client {

const absl::string_view kOpenClSource = R"(
// The first place in [first, end) whose id is not less than `id`; ids ascend.
int find_id(__global const int* ids, int first, int end, int id) {
  while (first < end) {
    const int middle = first + (end - first) / 2;
    if (ids[middle] < id) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

uint base_word(__global const int* row, int word, __global const int* step,
               __global const int* dictionary) {
  if (row[1] == 2) return (uint)step[row[2] + word];
  if (row[1] == 3) return (uint)dictionary[row[2] + word];
  return row[1] == 1 ? 0xFFFFFFFFu : 0u;
}

// The tokens of one word that are not allowed, those past the vocabulary among them.
uint forbidden_word(__global const int* row, int word, int vocab_size, __global const int* step,
                    __global const int* dictionary) {
  const int first = word * 32;
  if (first >= vocab_size) return 0xFFFFFFFFu;
  uint allowed = base_word(row, word, step, dictionary);
  for (int i = find_id(step, row[3], row[4], first); i < row[4] && step[i] - first < 32; ++i) {
    allowed ^= 1u << (step[i] - first);
  }
  if (vocab_size - first < 32) allowed &= (1u << (vocab_size - first)) - 1u;
  return ~allowed;
}

#define MASK_KERNELS(BITS, ELEMENT)                                                             \
  __kernel void mask_words_##BITS(__global ELEMENT* logits, long start, long row_stride,        \
                                  int width, ELEMENT minus_infinity, int vocab_size,            \
                                  __global const int* step, __global const int* dictionary) {   \
    const int word = (int)get_global_id(0);                                                     \
    if (word * 32 >= width) return;                                                             \
    __global const int* row = step + get_global_id(1) * 8;                                      \
    const uint forbidden = forbidden_word(row, word, vocab_size, step, dictionary);             \
    if (forbidden == 0u) return;                                                                \
    __global ELEMENT* at = logits + start + row[0] * row_stride + word * 32;                    \
    const int count = min(32, width - word * 32);                                               \
    for (int i = 0; i < count; ++i) {                                                           \
      if (((forbidden >> i) & 1u) != 0u) at[i] = minus_infinity;                                \
    }                                                                                           \
  }                                                                                             \
  __kernel void mask_tokens_##BITS(__global ELEMENT* logits, long start, long row_stride,       \
                                   int width, ELEMENT minus_infinity, int vocab_size,           \
                                   __global const int* step, __global const int* dictionary) {  \
    const int token = (int)get_global_id(0);                                                    \
    if (token >= width) return;                                                                 \
    __global const int* row = step + get_global_id(1) * 8;                                      \
    const uint forbidden = forbidden_word(row, token / 32, vocab_size, step, dictionary);       \
    if (((forbidden >> (token % 32)) & 1u) != 0u) {                                             \
      logits[start + row[0] * row_stride + token] = minus_infinity;                             \
    }                                                                                           \
  }

MASK_KERNELS(32, uint)
MASK_KERNELS(16, ushort)

float from_float32(uint bits) { return as_float(bits); }
uint to_float32(float number) { return as_uint(number); }

float from_float16(ushort half_bits) {
  const uint sign = ((uint)half_bits & 0x8000u) << 16;
  const uint rest = (uint)half_bits & 0x7FFFu;
  if (rest >= 0x7C00u) return as_float(sign | 0x7F800000u | ((rest & 0x3FFu) << 13));
  if (rest >= 0x0400u) return as_float(sign | ((rest << 13) + (112u << 23)));
  return as_float(sign | as_uint((float)rest * 0x1p-24f));
}

ushort to_float16(float number) {
  const uint bits = as_uint(number);
  const uint sign = (bits >> 16) & 0x8000u;
  const uint rest = bits & 0x7FFFFFFFu;
  if (rest > 0x7F800000u) return (ushort)(sign | 0x7E00u | ((rest >> 13) & 0x3FFu));
  if (rest >= 0x47800000u) return (ushort)(sign | 0x7C00u);
  if (rest >= 0x38800000u) {
    const uint scaled = rest - (112u << 23);
    return (ushort)(sign | ((scaled + 0xFFFu + ((scaled >> 13) & 1u)) >> 13));
  }
  return (ushort)(sign | (as_uint(as_float(rest) + 0.5f) - 0x3F000000u));
}

float from_bfloat16(ushort upper) { return as_float((uint)upper << 16); }

ushort to_bfloat16(float number) {
  const uint bits = as_uint(number);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (ushort)((bits >> 16) | 0x40u);
  return (ushort)((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

#define TUNE_KERNEL(TYPE, ELEMENT)                                                              \
  __kernel void tune_##TYPE(__global ELEMENT* logits, long start, long row_stride, int run,     \
                            int vocab_size, __global const int* step) {                         \
    __global const int* row = step + get_global_id(1) * 8;                                      \
    const float scale = as_float(row[5]);                                                       \
    const int first = (int)get_global_id(0) * run;                                              \
    const int end = min(first + run, vocab_size);                                               \
    __global ELEMENT* at = logits + start + row[0] * row_stride;                                \
    int bias = find_id(step, row[6], row[7], first);                                            \
    for (int token = first; token < end; ++token) {                                             \
      if (bias < row[7] && step[bias] == token) {                                               \
        const float sum = from_##TYPE(at[token]) + as_float(step[bias + row[7] - row[6]]);      \
        at[token] = to_##TYPE(sum * scale);                                                     \
        ++bias;                                                                                 \
      } else if (scale != 1.0f) {                                                               \
        at[token] = to_##TYPE(from_##TYPE(at[token]) * scale);                                  \
      }                                                                                         \
    }                                                                                           \
  }

TUNE_KERNEL(float32, uint)
TUNE_KERNEL(float16, ushort)
TUNE_KERNEL(bfloat16, ushort)
)";

}  // namespace maskd::client
