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
    __global const int* row = step + get_global_id(1) * 5;                                      \
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
    __global const int* row = step + get_global_id(1) * 5;                                      \
    const uint forbidden = forbidden_word(row, token / 32, vocab_size, step, dictionary);       \
    if (((forbidden >> (token % 32)) & 1u) != 0u) {                                             \
      logits[start + row[0] * row_stride + token] = minus_infinity;                             \
    }                                                                                           \
  }

MASK_KERNELS(32, uint)
MASK_KERNELS(16, ushort)
)";

}  // namespace maskd::client
