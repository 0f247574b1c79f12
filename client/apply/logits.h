// The logits of one batch, as the engine holds them: where they lie, of what type, in which shape.
//
// Layout   row r starts `offset + r * row_stride` elements after `data`; its first `width` elements
//          are the logits of tokens 0 .. width - 1. Elements between `width` and `row_stride` are
//          not ours.
// Units    offset, row_count, width and row_stride count rows or elements, never bytes.
// Ownership  a view: the engine owns the memory, which must live through the call.
// Threads  a plain value.
#ifndef MASKD_CLIENT_APPLY_LOGITS_H_
#define MASKD_CLIENT_APPLY_LOGITS_H_

#include <cstdint>

namespace maskd::client {

// Of one element. Values are those of maskd_applier.h.
enum class LogitsType : std::uint8_t {
  kFloat32,   // IEEE 754 binary32
  kFloat16,   // IEEE 754 binary16
  kBFloat16,  // the upper half of a binary32
};

// What `data` is.
enum class LogitsMemory : std::uint8_t {
  kHost,          // the address of the logits, for any applier
  kOpenClBuffer,  // a cl_mem, for the OpenCL applier of its context
};

// Described by the engine for each call; nothing of it is kept.
struct Logits {
  void* data = nullptr;
  LogitsMemory memory = LogitsMemory::kHost;
  LogitsType type = LogitsType::kFloat32;
  // Where row 0 begins; for buffers whose start is not its own.
  std::int64_t offset = 0;
  std::int64_t row_count = 0;
  // Logits in a row. Models pad, so it may be more than the vocabulary, never less.
  std::int64_t width = 0;
  // From one row's first element to the next one's; at least `width`.
  std::int64_t row_stride = 0;
};

// Whether both are the same elements.
inline bool SamePlace(const Logits& a, const Logits& b) {
  return a.data == b.data && a.memory == b.memory && a.offset == b.offset &&
         a.row_stride == b.row_stride;
}

}  // namespace maskd::client

#endif  // MASKD_CLIENT_APPLY_LOGITS_H_
