// A JSON value as its leaves, so that two values are equal in JSON Schema's sense exactly if their
// leaves are: scalars, empty arrays and empty objects, each by the path that leads to it.
//
// Layout   a path is a segment for each container: kMember and the name in UTF-8, or kElement and
//          the index in decimal. Neither byte occurs in UTF-8. A leaf's value is a quote and the
//          decoded string, a number as NumberLeaf() has it, or the first byte of what is written.
// Threads  plain values.
#ifndef MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_ITEM_LEAVES_H_
#define MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_ITEM_LEAVES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace maskd {

inline constexpr char kMember = '\xFF';
inline constexpr char kElement = '\xFE';
inline constexpr char kNumberLeaf = '#';

// A scalar or an empty container of an item: the path that leads to it, and its value.
struct ItemLeaf {
  std::string path;
  std::string value;
};

// A whole number: equal for equal values, whatever their spelling.
std::string NumberLeaf(absl::string_view spelling);

// Whether a number that begins so may have the value of `leaf`; true is not certain.
bool MayBecomeNumber(absl::string_view part, absl::string_view leaf);

// Whether `path` is `container`, a segment's end, or lies below it.
bool IsAtOrBelow(absl::string_view path, absl::string_view container);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_UNIQUE_ITEMS_ITEM_LEAVES_H_
