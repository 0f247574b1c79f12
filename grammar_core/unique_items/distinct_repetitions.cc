// What a place may still come to: whether the bytes ahead can end in an item that was written
// before. These questions change nothing and are asked of tokens that are not taken yet.
//
// Invariant  "no" is certain, "yes" is not: what is told no is not looked at any more.
// Cost       the candidates of the place, or the leaves of the item at hand.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/terms/encoding.h"
#include "grammar_core/unique_items/distinct_arrays.h"

namespace maskd {

bool DistinctArrays::MayRepeat(Id id) const {
  const Place& place = places_[id];
  const bool at_name = place.phase == Phase::kName || place.phase == Phase::kMemberName;
  return HasCandidates(place) || (at_name && HasName(place, place.path, false));
}

void DistinctArrays::AddTakenRests(Id id, std::vector<std::string>* rests) const {
  const Place& place = places_[id];
  if (place.phase == Phase::kName) {
    for (std::uint32_t at = place.last_leaf; at != kNone; at = leaves_[at].before) {
      const absl::string_view path = leaves_[at].value.path;
      if (!absl::StartsWith(path, place.path)) continue;
      const absl::string_view rest = path.substr(place.path.size());
      constexpr char kMarkers[] = {kMember, kElement};
      rests->emplace_back(
          rest.substr(0, rest.find_first_of(absl::string_view(kMarkers, sizeof(kMarkers)))));
    }
  } else if (place.phase == Phase::kString) {
    (void)AnyCandidate(place, [&](std::uint32_t item) {
      rests->push_back(FindLeaf(item, place.path)->value.substr(1 + place.text_bytes));
      return false;
    });
  } else if (place.phase == Phase::kNumber && HasCandidates(place)) {
    rests->emplace_back();
  }
}

std::string DistinctArrays::BegunText(Id id) const {
  const Place& place = places_[id];
  if (place.phase == Phase::kString) return TextOf(place);
  if (place.phase != Phase::kName) return {};
  return place.path.substr(place.path.rfind(kMember) + 1);
}

bool DistinctArrays::MayRepeatBehind(Id id, unsigned char byte) const {
  const Place& place = places_[id];
  if (!InString(id) || place.partial.phase != CharPhase::kStart || byte == '"' || byte == '\\')
    return true;
  const std::string part = absl::StrCat(place.path, std::string(1, static_cast<char>(byte)));
  const bool in_name = place.phase == Phase::kName;
  if (in_name && HasName(place, part, false)) return true;
  return AnyCandidate(place, [&](std::uint32_t item) {
    if (in_name) return HasLeafBelow(item, part);
    const std::string& value = FindLeaf(item, place.path)->value;
    const std::size_t at = 1 + place.text_bytes;
    return at < value.size() && static_cast<unsigned char>(value[at]) == byte;
  });
}

bool DistinctArrays::MayRepeatInString(Id id, unsigned char byte) const {
  const Place& place = places_[id];
  if (place.phase != Phase::kValue) return MayRepeatBehind(id, byte);
  return AnyCandidate(place, [&](std::uint32_t item) {
    const ItemLeaf* const leaf = FindLeaf(item, place.path);
    return leaf != nullptr && leaf->value.size() > 1 && leaf->value[0] == '"' &&
           static_cast<unsigned char>(leaf->value[1]) == byte;
  });
}

// The bytes are not known to be right: wrong ones take care of themselves.
bool DistinctArrays::MayBeginAnother(Id id, absl::string_view bytes) const {
  const Place& place = places_[id];
  const absl::string_view path = place.path;
  auto depth =
      std::count_if(path.begin(), path.end(), [](char c) { return c == kMember || c == kElement; });
  bool in_string = place.phase == Phase::kString || place.phase == Phase::kName;
  bool escaped = place.partial.phase == CharPhase::kEscape;
  for (const char c : bytes) {
    if (in_string) {
      if (c == '"' && !escaped) in_string = false;
      escaped = c == '\\' && !escaped;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      if (--depth < 0) return false;
    } else if (c == ',') {
      return true;
    }
  }
  return false;
}

}  // namespace maskd
