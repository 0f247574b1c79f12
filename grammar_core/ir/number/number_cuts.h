// Intervals of magnitudes, compared with a number whose digits arrive one by one while its exponent
// is still to come.
//
// A magnitude is 0.D * 10^y, where D is a string of digits that does not begin with 0. Against an
// end 0.E * 10^p of an interval: y decides where it is not p; where it is, the order of the strings
// D and E decides. So what is kept of D is its place among the E, sorted, and the y that lead into
// an interval are known at any time.
//
// Threads  immutable once made.
#ifndef MASKD_GRAMMAR_CORE_IR_NUMBER_NUMBER_CUTS_H_
#define MASKD_GRAMMAR_CORE_IR_NUMBER_NUMBER_CUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "grammar_core/ir/number/int_ranges.h"
#include "grammar_core/ir/number/number_spec.h"

namespace maskd {

// Of one sign: a spec with numbers of both has two.
class NumberCuts {
 public:
  // Where D stands: the strings [first, last) begin with it, D and they padded with zeros; those
  // before are less, those behind are greater. `depth` counts the digits of D that matter still.
  struct Place {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t depth = 0;
  };

  // The magnitudes, greater than 0, of the positive or of the negative numbers in `intervals`.
  NumberCuts(const std::vector<NumberInterval>& intervals, bool negative);

  // No end lies between 0 and infinity: every y is right, or none.
  [[nodiscard]] bool trivial() const { return cuts_.empty(); }

  // That of the end next to 0, or 0 where there is none.
  [[nodiscard]] std::int64_t LeastExponent() const {
    return cuts_.empty() ? 0 : cuts_.front().exponent;
  }

  // The place of the empty D, and of D with one more digit.
  [[nodiscard]] Place Start() const { return {0, static_cast<std::uint32_t>(strings_.size()), 0}; }
  [[nodiscard]] Place Next(const Place& place, int digit) const;

  // Whatever digits follow, D stands where it does.
  static bool Decided(const Place& place) { return place.first == place.last; }
  // D is the only string that it can be; any digit but 0 leads to Above().
  [[nodiscard]] bool IsWhole(const Place& place) const {
    return place.last == place.first + 1 && strings_[place.first].size() <= place.depth;
  }
  // Any place behind that string, where D stays whatever follows.
  static Place Above(const Place& whole) { return {whole.first + 1, whole.first + 1, 0}; }

  // The y for which 0.D * 10^y lies in an interval, for D as it is.
  [[nodiscard]] IntRanges Exponents(const Place& place) const;

 private:
  // The boundary below (`above`: above) 0.E * 10^exponent. `slot` is twice E's number in the sorted
  // strings, plus one, and one more where it lies above.
  struct Cut {
    std::int64_t exponent;
    std::uint32_t slot;
  };

  void AddCut(const Decimal& value, bool above);
  // D's own slot: odd for a string, even for what lies between two.
  [[nodiscard]] std::uint32_t SlotOf(const Place& place) const;

  bool inside_at_zero_ = false;
  // Sorted and distinct.
  std::vector<std::string> strings_;
  // Sorted: each leads into an interval or out of it.
  std::vector<Cut> cuts_;
  // The first cut of each exponent.
  std::vector<std::uint32_t> decades_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_IR_NUMBER_NUMBER_CUTS_H_
