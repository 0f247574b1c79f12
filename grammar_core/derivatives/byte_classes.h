// Bytes that no part of a grammar tells apart, as one class: a transition row has one entry a
// class.
//
// Threads  immutable.
#ifndef MASKD_GRAMMAR_CORE_DERIVATIVES_BYTE_CLASSES_H_
#define MASKD_GRAMMAR_CORE_DERIVATIVES_BYTE_CLASSES_H_

#include <array>
#include <cstdint>

#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

class ByteClasses {
 public:
  explicit ByteClasses(const GrammarIr& ir);

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int Of(unsigned char byte) const { return class_of_[byte]; }
  // One byte of the class.
  [[nodiscard]] unsigned char Sample(int byte_class) const { return sample_[byte_class]; }

 private:
  std::array<std::uint8_t, 256> class_of_ = {};
  std::array<unsigned char, 256> sample_ = {};
  int count_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_DERIVATIVES_BYTE_CLASSES_H_
