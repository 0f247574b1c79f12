// One pass reads the text byte by byte. Each object and array that is open has an entry with the
// member or item at hand. The raw text of an open string is kept; its escapes are read at the end,
// up to the last whole one.
//
// Invariant  an entry stands for one object or array that is open, the outermost first.
// Cost       one pass; memory for what is open.
#include "reasons/json_position.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include <nlohmann/json.hpp>

#include "grammar_core/base/utf8.h"

namespace maskd::reasons {
namespace {

using What = JsonPosition::What;

constexpr std::size_t kUnitBytes = 6;  // of an escape such as \u0061

bool IsUnit(absl::string_view text, absl::string_view begins) {
  return absl::StartsWithIgnoreCase(text.substr(0, begins.size()), begins.substr(0, text.size()));
}

// Bytes of the character that `text` begins with, or of what it may become; more than `text` has
// where it is cut.
std::size_t CharacterBytes(absl::string_view text) {
  // A byte that begins no character stands for itself: what is no text is refused below.
  if (text[0] != '\\')
    return std::max<std::size_t>(static_cast<std::size_t>(Utf8SequenceBytes(text[0])), 1);
  if (text.size() < 2 || text[1] != 'u') return 2;
  const auto is_high = [](absl::string_view unit) {
    return unit.size() == kUnitBytes && IsUnit(unit.substr(2), "d") &&
           absl::StrContains("89abAB", unit.substr(3, 1));
  };
  return is_high(text.substr(0, kUnitBytes)) && IsUnit(text.substr(kUnitBytes), "\\ud")
             ? 2 * kUnitBytes
             : kUnitBytes;
}

// `string` has its quote at the begin.
std::optional<OpenString> ReadOpen(const std::string& string) {
  std::size_t end = 1;
  while (end < string.size()) {
    const std::size_t bytes = CharacterBytes(absl::string_view(string).substr(end));
    if (end + bytes > string.size()) break;
    end += bytes;
  }
  const auto read = nlohmann::json::parse(string.substr(0, end) + '"', nullptr,
                                          /*allow_exceptions=*/false);
  if (!read.is_string()) return std::nullopt;
  return OpenString{.text = read.get<std::string>(), .cut_bytes = string.size() - end};
}

// Reads a text byte by byte and keeps the open objects and arrays.
class Reader {
 public:
  void Take(char byte) {
    if (in_string_) return TakeInString(byte);
    if (absl::StrContains(" \t\r\n", absl::string_view(&byte, 1))) {
      if (what_ == What::kLiteral) what_ = What::kAfterValue;
      return;
    }
    switch (byte) {
      case '"':
        in_string_ = true;
        string_.assign(1, byte);
        return;
      case '{':
      case '[':
        return Open(byte == '[');
      case '}':
      case ']':
        return Close();
      case ',':
        return Comma();
      case ':':
        what_ = What::kValue;
        return;
      default:
        what_ = What::kLiteral;
    }
  }

  [[nodiscard]] JsonPosition position() const {
    JsonPosition position;
    position.what = in_string_ && what_ == What::kValue ? What::kString : what_;
    if (in_string_) position.open_string = ReadOpen(string_);
    position.at_root = holders_.empty();
    position.path = holders_;
    const bool of_holder = what_ == What::kName || what_ == What::kAfterValue;
    if (of_holder && !holders_.empty()) {
      position.holder_is_array = holders_.back().is_item;
      position.path.pop_back();
    }
    return position;
  }

 private:
  void TakeInString(char byte) {
    string_ += byte;
    if (escaped_)
      escaped_ = false;
    else if (byte == '\\')
      escaped_ = true;
    else if (byte == '"')
      EndString();
  }

  void EndString() {
    in_string_ = false;
    if (what_ != What::kName || holders_.empty()) {
      what_ = What::kAfterValue;
      return;
    }
    const auto name = nlohmann::json::parse(string_, nullptr, /*allow_exceptions=*/false);
    holders_.back().name = name.is_string() ? name.get<std::string>() : "";
    what_ = What::kColon;
  }

  void Open(bool is_array) {
    holders_.push_back({.is_item = is_array});
    what_ = is_array ? What::kValue : What::kName;
  }

  void Close() {
    if (!holders_.empty()) holders_.pop_back();
    what_ = What::kAfterValue;
  }

  void Comma() {
    if (holders_.empty()) return;
    JsonStep& step = holders_.back();
    ++step.index;
    what_ = step.is_item ? What::kValue : What::kName;
  }

  // Where the text stands in each open object or array, the outermost first.
  std::vector<JsonStep> holders_;
  What what_ = What::kValue;
  bool in_string_ = false;
  bool escaped_ = false;
  std::string string_;  // with its quotes
};

absl::string_view Words(const JsonPosition& position) {
  switch (position.what) {
    case What::kValue:
      return "where a value begins";
    case What::kString:
      return "in the string";
    case What::kLiteral:
      return "in the number or word";
    case What::kName:
      return "where a member's name stands, in the object";
    case What::kColon:
      return "behind the name of the member";
    case What::kAfterValue:
      return position.at_root           ? "behind the whole value"
             : position.holder_is_array ? "behind an item of the array"
                                        : "behind a member of the object";
  }
  return "";
}

}  // namespace

JsonPosition FindJsonPosition(absl::string_view text) {
  Reader reader;
  for (const char byte : text) reader.Take(byte);
  return reader.position();
}

std::string PointerOf(const std::vector<JsonStep>& path) {
  std::string pointer;
  for (const JsonStep& step : path) {
    const std::string name = absl::StrReplaceAll(step.name, {{"~", "~0"}, {"/", "~1"}});
    absl::StrAppend(&pointer, "/", step.is_item ? absl::StrCat(step.index) : name);
  }
  return pointer;
}

std::string DescribePosition(const JsonPosition& position) {
  const std::string pointer = PointerOf(position.path);
  const absl::string_view words = Words(position);
  if (position.what == What::kAfterValue && position.at_root) return std::string(words);
  return absl::StrCat(words, " ", pointer.empty() ? "at the root" : pointer);
}

}  // namespace maskd::reasons
