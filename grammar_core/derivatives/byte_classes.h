// Neighbouring bytes that no part of a grammar tells apart, as one class: a transition row has one
// entry a class. Classes are ranges.
//
// Threads  immutable.
#ifndef MASKD_GRAMMAR_CORE_DERIVATIVES_BYTE_CLASSES_H_
#define MASKD_GRAMMAR_CORE_DERIVATIVES_BYTE_CLASSES_H_

#include <array>
#include <cstdint>

#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

// The classes of one grammar, numbered from 0 in the order of their bytes. A class is a range:
// bytes that are no neighbours are of two classes even where nothing tells them apart.
class ByteClasses {
 public:
  // Reads all that `ir` names, once; `ir` need not outlive this.
  explicit ByteClasses(const GrammarIr& ir);

  // How many there are, 1 to 256; and the class of a byte.
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
