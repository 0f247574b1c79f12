#include "grammar_core/automaton/distinct_arrays.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/automaton/encoding.h"
#include "grammar_core/base/utf8.h"

namespace maskd {
namespace {

bool IsSpace(unsigned char byte) {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

bool IsOfNumber(unsigned char byte) {
  return absl::ascii_isdigit(byte) || byte == '-' || byte == '+' || byte == '.' || byte == 'e' ||
         byte == 'E';
}

// Where the last segment of `path` begins, its marker included.
std::size_t LastSegment(absl::string_view path) {
  constexpr char kMarkers[] = {kMember, kElement};
  return path.find_last_of(absl::string_view(kMarkers, sizeof(kMarkers)));
}

}  // namespace

DistinctArrays::Id DistinctArrays::Append(Id id, unsigned char byte) {
  const auto [at, is_new] = ids_.try_emplace({id, byte}, kRefused);
  if (!is_new) return at->second;
  Place next = places_[id];
  next.before = id;
  next.byte = byte;
  if (!Read(&next, byte)) return kRefused;
  return ids_[{id, byte}] = Placed(std::move(next));
}

// A string that may become the equal of another is known by how much of that it has; a name by its
// path.
bool DistinctArrays::IsSettled(const Place& place) {
  if (place.before == kStart || place.phase == Phase::kNumber || place.in_word) return false;
  return place.phase != Phase::kString || !place.candidates.empty();
}

DistinctArrays::Id DistinctArrays::Placed(Place place) {
  const auto made = static_cast<Id>(places_.size());
  if (IsSettled(place)) {
    std::string key =
        absl::StrCat(static_cast<int>(place.phase), place.fresh ? "," : " ", place.last_leaf, " ",
                     place.last_item, " ", absl::StrJoin(place.candidates, " "), " ",
                     place.partial.Pack(), " ", place.matched, "/", place.path);
    const auto [at, is_new] = settled_.try_emplace(std::move(key), made);
    if (!is_new) return at->second;
    text_bytes_ += static_cast<std::int64_t>(sizeof(*at) + at->first.size());
  }
  text_bytes_ += static_cast<std::int64_t>(place.path.size() + place.number.size() +
                                           place.candidates.size() * sizeof(place.candidates[0]));
  places_.push_back(std::move(place));
  return made;
}

template <typename Fits>
void DistinctArrays::Keep(Place* place, Fits fits) const {
  std::erase_if(place->candidates, [&](std::uint32_t item) { return !fits(items_[item].value); });
}

bool DistinctArrays::Read(Place* place, unsigned char byte) {
  if (place->before == kStart) {
    if (byte == '{') Open(place, kMember);
    place->fresh = true;
    return true;
  }
  if (place->phase == Phase::kName || place->phase == Phase::kString) {
    return ReadStringByte(place, byte);
  }
  if (place->phase == Phase::kNumber) {
    if (IsOfNumber(byte)) {
      place->number.push_back(static_cast<char>(byte));
      Keep(place, [&](const ItemLeaves& leaves) {
        const ItemLeaf* leaf = FindLeaf(leaves, place->path);
        return leaf != nullptr && MayBecomeNumber(place->number, leaf->value);
      });
      return true;
    }
    EndNumber(place);
  }
  if (place->in_word && absl::ascii_isalpha(byte)) return true;
  place->in_word = false;
  return IsSpace(byte) || ReadSign(place, byte);
}

bool DistinctArrays::ReadSign(Place* place, unsigned char byte) {
  switch (byte) {
    case ',':
      return ReadComma(place);
    case ':':
      place->phase = Phase::kValue;
      return true;
    case ']':
      if (place->path.empty()) return place->fresh || EndItem(place);
      Close(place, '[');
      return true;
    case '}':
      Close(place, '{');
      return true;
    default:
      break;
  }
  if (place->phase == Phase::kMemberName) {
    place->fresh = false;
    place->phase = Phase::kName;
    place->string_bytes = 0;
    return true;
  }
  BeginValue(place, byte);
  return true;
}

void DistinctArrays::BeginValue(Place* place, unsigned char byte) {
  place->fresh = false;
  if (byte == '{') return Open(place, kMember);
  if (byte == '[') return Open(place, kElement);
  if (byte == '"') {
    place->phase = Phase::kString;
    place->string_bytes = place->matched = 0;
  } else if (IsOfNumber(byte)) {
    place->phase = Phase::kNumber;
    place->number.assign(1, static_cast<char>(byte));
  } else {
    place->phase = Phase::kBehind;
    place->in_word = true;
  }
  const char kind = place->phase == Phase::kNumber ? kNumberLeaf : static_cast<char>(byte);
  Keep(place, [&](const ItemLeaves& leaves) {
    const ItemLeaf* leaf = FindLeaf(leaves, place->path);
    return leaf != nullptr && leaf->value.front() == kind &&
           (kind != kNumberLeaf || MayBecomeNumber(place->number, leaf->value));
  });
  if (place->in_word) AddLeaf(place, std::string(1, kind));
}

void DistinctArrays::Open(Place* place, char marker) {
  const char kind = marker == kMember ? '{' : '[';
  const std::string inside = absl::StrCat(place->path, std::string(1, marker));
  Keep(place, [&](const ItemLeaves& leaves) {
    const ItemLeaf* leaf = FindLeaf(leaves, place->path);
    return leaf != nullptr ? leaf->value.front() == kind : HasLeafBelow(leaves, inside);
  });
  place->path = marker == kMember ? inside : absl::StrCat(inside, "0");
  place->phase = marker == kMember ? Phase::kMemberName : Phase::kValue;
  place->fresh = true;
}

void DistinctArrays::Close(Place* place, char kind) {
  place->path.resize(LastSegment(place->path));
  if (std::exchange(place->fresh, false)) {
    Keep(place, [&](const ItemLeaves& leaves) {
      const ItemLeaf* leaf = FindLeaf(leaves, place->path);
      return leaf != nullptr && leaf->value.front() == kind;
    });
    AddLeaf(place, std::string(1, kind));
  }
  place->phase = Phase::kBehind;
}

bool DistinctArrays::ReadComma(Place* place) {
  place->phase = Phase::kValue;
  if (place->path.empty()) return EndItem(place);
  const std::size_t segment = LastSegment(place->path);
  if (place->path[segment] == kMember) {
    place->path.resize(segment + 1);
    place->phase = Phase::kMemberName;
    return true;
  }
  std::uint32_t index = 0;
  const bool is_index =
      absl::SimpleAtoi(absl::string_view(place->path).substr(segment + 1), &index);
  place->path.resize(segment + 1);
  absl::StrAppend(&place->path, is_index ? index + 1 : 0);
  Keep(place, [&](const ItemLeaves& leaves) { return HasLeafBelow(leaves, place->path); });
  return true;
}

// All leaves of the item are leaves of each candidate: it is equal to those with no other.
bool DistinctArrays::EndItem(Place* place) {
  const auto equals = [&](std::uint32_t item) {
    return items_[item].value.size() == place->leaf_count;
  };
  if (std::any_of(place->candidates.begin(), place->candidates.end(), equals)) return false;
  const auto made = static_cast<std::uint32_t>(items_.size());
  const auto [known, is_new] = item_ids_.try_emplace({place->last_item, place->last_leaf}, made);
  if (is_new) AddItem(*place);
  place->last_item = known->second;
  place->last_leaf = kNone;
  place->leaf_count = 0;
  place->candidates.clear();
  for (std::uint32_t at = place->last_item; at != kNone; at = items_[at].before) {
    place->candidates.push_back(at);
  }
  return true;
}

void DistinctArrays::AddItem(const Place& place) {
  ItemLeaves leaves;
  for (std::uint32_t at = place.last_leaf; at != kNone; at = leaves_[at].before) {
    leaves.push_back(leaves_[at].value);
  }
  std::sort(leaves.begin(), leaves.end());
  for (const ItemLeaf& leaf : leaves) {
    text_bytes_ += static_cast<std::int64_t>(sizeof(leaf) + leaf.path.size() + leaf.value.size());
  }
  items_.push_back({place.last_item, std::move(leaves)});
}

void DistinctArrays::EndNumber(Place* place) {
  std::string value = NumberLeaf(place->number);
  Keep(place, [&](const ItemLeaves& leaves) {
    const ItemLeaf* leaf = FindLeaf(leaves, place->path);
    return leaf != nullptr && leaf->value == value;
  });
  AddLeaf(place, std::move(value));
  place->number.clear();
  place->phase = Phase::kBehind;
}

bool DistinctArrays::ReadStringByte(Place* place, unsigned char byte) {
  if (place->partial.phase == CharPhase::kStart && byte == '"') return EndString(place);
  ++place->string_bytes;
  const CharStep step = StepChar(place->partial, byte);
  place->partial =
      step.result == CharStep::Result::kPartial ? step.partial : PartialChar{Spelling::kJsonString};
  if (step.result != CharStep::Result::kCharacter) return true;
  std::string character;
  AppendUtf8(step.character, &character);
  if (place->phase == Phase::kName) {
    place->path += character;
    Keep(place, [&](const ItemLeaves& leaves) { return HasLeafBelow(leaves, place->path); });
    return true;
  }
  const std::size_t at = 1 + place->matched;
  Keep(place, [&](const ItemLeaves& leaves) {
    return absl::StartsWith(absl::string_view(FindLeaf(leaves, place->path)->value).substr(at),
                            character);
  });
  place->matched += static_cast<std::uint32_t>(character.size());
  return true;
}

bool DistinctArrays::EndString(Place* place) {
  if (place->phase == Phase::kName) {
    place->phase = Phase::kColon;
    return !HasName(*place, true);
  }
  Keep(place, [&](const ItemLeaves& leaves) {
    return FindLeaf(leaves, place->path)->value.size() == 1 + place->matched;
  });
  AddLeaf(place, absl::StrCat("\"", DecodedString(*place)));
  place->matched = 0;
  place->phase = Phase::kBehind;
  return true;
}

std::string DistinctArrays::DecodedString(const Place& place) const {
  std::string bytes;
  Id at = place.before;
  for (std::uint32_t i = 0; i < place.string_bytes; ++i) {
    bytes.push_back(static_cast<char>(places_[at].byte));
    at = places_[at].before;
  }
  std::reverse(bytes.begin(), bytes.end());
  std::string text;
  PartialChar partial = {Spelling::kJsonString};
  for (const char byte : bytes) {
    const CharStep step = StepChar(partial, static_cast<unsigned char>(byte));
    partial = step.result == CharStep::Result::kPartial ? step.partial
                                                        : PartialChar{Spelling::kJsonString};
    if (step.result == CharStep::Result::kCharacter) AppendUtf8(step.character, &text);
  }
  return text;
}

void DistinctArrays::AddLeaf(Place* place, std::string value) {
  const auto made = static_cast<std::uint32_t>(leaves_.size());
  const auto [known, is_new] =
      leaf_ids_.try_emplace({place->last_leaf, {place->path, value}}, made);
  if (is_new) {
    const std::size_t text = place->path.size() + value.size();
    text_bytes_ += static_cast<std::int64_t>(sizeof(*known) + 2 * text);
    leaves_.push_back({place->last_leaf, {place->path, std::move(value)}});
  }
  place->last_leaf = known->second;
  ++place->leaf_count;
}

// Whether the object at hand has a member of the name that is being read, or that begins with it.
bool DistinctArrays::HasName(const Place& place, bool whole) const {
  for (std::uint32_t at = place.last_leaf; at != kNone; at = leaves_[at].before) {
    const std::string& path = leaves_[at].value.path;
    if (whole ? IsAtOrBelow(path, place.path) : absl::StartsWith(path, place.path)) return true;
  }
  return false;
}

bool DistinctArrays::MayRepeat(Id id) const {
  const Place& place = places_[id];
  const bool at_name = place.phase == Phase::kName || place.phase == Phase::kMemberName;
  return !place.candidates.empty() || (at_name && HasName(place, false));
}

bool DistinctArrays::MayRepeatBehind(Id id, unsigned char byte) const {
  const Place& place = places_[id];
  const bool in_string = place.phase == Phase::kString || place.phase == Phase::kName;
  if (!in_string || place.partial.phase != CharPhase::kStart || byte == '"' || byte == '\\') {
    return true;
  }
  const std::string part = absl::StrCat(place.path, std::string(1, static_cast<char>(byte)));
  if (place.phase == Phase::kName) {
    for (std::uint32_t at = place.last_leaf; at != kNone; at = leaves_[at].before) {
      if (absl::StartsWith(leaves_[at].value.path, part)) return true;
    }
  }
  return std::any_of(place.candidates.begin(), place.candidates.end(), [&](std::uint32_t item) {
    const ItemLeaves& leaves = items_[item].value;
    if (place.phase == Phase::kName) return HasLeafBelow(leaves, part);
    const std::string& value = FindLeaf(leaves, place.path)->value;
    const std::size_t at = 1 + place.matched;
    return at < value.size() && static_cast<unsigned char>(value[at]) == byte;
  });
}

// The bytes are not known to be right: those that are not take care of themselves.
bool DistinctArrays::MayBeginAnother(Id id, absl::string_view bytes) const {
  const Place& place = places_[id];
  const absl::string_view path = place.path;
  auto depth =
      std::count_if(path.begin(), path.end(), [](char c) { return c == kMember || c == kElement; });
  bool in_string = place.phase == Phase::kString || place.phase == Phase::kName;
  bool escaped = place.partial.phase == CharPhase::kEscape;
  for (const char c : bytes) {
    if (in_string) {
      if (c == '"' && !escaped) {
        in_string = false;
      }
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

std::int64_t DistinctArrays::held_bytes() const {
  constexpr std::int64_t kPerPlace = sizeof(Place) + 2 * sizeof(decltype(ids_)::value_type);
  constexpr std::int64_t kPerLeaf = sizeof(decltype(leaves_)::value_type);
  return static_cast<std::int64_t>(places_.size()) * kPerPlace +
         static_cast<std::int64_t>(leaves_.size()) * kPerLeaf + text_bytes_;
}

}  // namespace maskd
