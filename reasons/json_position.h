// Where the end of an unfinished JSON text stands: the way from the root to it, and what is being
// written there.
//
// Input    the beginning of a JSON text, as a grammar has taken it; it is not validated.
// Threads  plain values.
#ifndef MASKD_REASONS_JSON_POSITION_H_
#define MASKD_REASONS_JSON_POSITION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace maskd::reasons {

// A member of an object, or an item of an array.
struct JsonStep {
  bool is_item = false;
  std::int64_t index = 0;  // of an item
  std::string name = {};   // of a member
};

// A string without its end.
struct OpenString {
  std::string text = {};      // its characters, escapes read
  std::size_t cut_bytes = 0;  // at the end, of a character or an escape that is not whole
};

// What is being written at the end of a text, and where in the value that is.
struct JsonPosition {
  // What comes next, or is not finished.
  enum class What : std::uint8_t {
    kValue,       // a value comes next
    kString,      // inside a string
    kLiteral,     // inside a number, true, false or null: it may end here or not
    kName,        // a member's name comes next, or is being written
    kColon,       // behind a member's name
    kAfterValue,  // behind a value: a comma or the end of what holds it comes next
  };

  What what = What::kValue;
  // The way to the value at hand; for kName, and kAfterValue, to the object or array that holds it.
  std::vector<JsonStep> path = {};
  bool holder_is_array = false;  // for kAfterValue; false at the root
  bool at_root = true;           // no object or array is open
  // For kString, and kName behind its quote; absent, too, where it is no string of JSON.
  std::optional<OpenString> open_string = std::nullopt;
};

// One pass over the text; levels cost memory, no stack.
JsonPosition FindJsonPosition(absl::string_view text);

// The way as a JSON Pointer.
std::string PointerOf(const std::vector<JsonStep>& path);

// "in the string /a/0", for people.
std::string DescribePosition(const JsonPosition& position);

}  // namespace maskd::reasons

#endif  // MASKD_REASONS_JSON_POSITION_H_
