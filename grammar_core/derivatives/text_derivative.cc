// A place is a cell before a list of spines. Each byte steps the cell, once for all that may follow
// it; what that gives is put before the list, which nobody joins before the text ends. Where two
// ways lead on, they are joined to one term and the text goes on from there.
//
// Invariant  the state is what step by step derivatives give, as a set of texts.
// Cost       a derivative of a cell for each byte that it does not know, and one spine.
#include "grammar_core/derivatives/text_derivative.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "absl/strings/match.h"

#include "grammar_core/mask/token_index.h"
#include "grammar_core/terms/encoding.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// Choices within one another that are looked through.
constexpr int kMaxLevels = 4;

unsigned char ByteAt(absl::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

// Whether a spine surely begins with a byte, and with none of `text`: as far as its form tells.
// NOLINTNEXTLINE(misc-no-recursion): at most `levels` deep
bool BeginsByOther(const TermStore& store, TermId spine, absl::string_view text, int levels) {
  const Term& cell = store.term(store.PartsOf(spine).cell);
  const auto is_in = [](absl::string_view bytes) {
    return [bytes](char byte) { return absl::StrContains(bytes, byte); };
  };
  if (cell.nullable || levels == 0) return false;
  switch (cell.kind) {
    case TermKind::kByteSet: {
      const ByteBits& bytes = BytesOf(store, cell);
      return std::ranges::none_of(text, [&](char byte) { return bytes[ByteAt({&byte, 1}, 0)]; });
    }
    case TermKind::kBytes:
      return std::ranges::none_of(text, is_in(RestOfBytes(store, cell).substr(0, 1)));
    case TermKind::kNumber:
      return std::ranges::none_of(text, is_in(kNumberBytes));
    case TermKind::kObject: {
      const ObjectSpec& object = store.object(AsObject(cell).object);
      const char signs[] = {object.open(), object.close(), '"', ','};
      return !object.is_block() && std::ranges::none_of(text, is_in({signs, sizeof signs}));
    }
    case TermKind::kAlt: {
      const auto branches = BranchesOf(store, cell);
      return std::ranges::all_of(
          branches, [&](TermId branch) { return BeginsByOther(store, branch, text, levels - 1); });
    }
    default:
      return false;
  }
}

}  // namespace

bool TextDerivative::Spares(TermId state) const {
  const Term& cell = store_.term(store_.PartsOf(state).cell);
  if (!IsBetweenCharacters(cell)) return true;
  const Term& text = store_.term(AsEncode(cell).characters);
  return !IsRepeatOfSet(store_, text) || AsRepeat<CharTerm>(text).max != kUnbounded;
}

TextDerivative::Place TextDerivative::At(TermId head, Tails tails) const {
  assert(head != kNothingTerm && head != kFailedTerm);
  if (head == kEmptyTerm && !tails.empty()) {
    head = tails.back();
    tails.pop_back();
  }
  const TermStore::Parts parts = store_.PartsOf(head);
  if (parts.tail != kEmptyTerm) tails.push_back(parts.tail);
  return {parts.cell, std::move(tails)};
}

TermId TextDerivative::Joined(const Place& place) {
  TermId joined = kEmptyTerm;
  for (const TermId spine : place.tails) joined = store_.Cat(spine, joined);
  return store_.Cat(place.cell, joined);
}

// As the derivative of a spine: the next cells are stepped as far as those before may be empty.
TextDerivative::Place TextDerivative::Step(Place place, unsigned char byte, Work& work) {
  std::vector<Place> ways;
  for (;;) {
    const TermId next = bytes_.Step(place.cell, classes_.Of(byte), work);
    if (next == kFailedTerm) return {kFailedTerm, {}};
    const bool ends = place.tails.empty() || !store_.term(place.cell).nullable;
    if (next != kNothingTerm) ways.push_back(At(next, ends ? std::move(place.tails) : place.tails));
    if (ends) break;
    place = At(kEmptyTerm, std::move(place.tails));
  }
  if (ways.empty()) return {kNothingTerm, {}};
  if (ways.size() == 1) return std::move(ways.front());
  std::vector<TermId> branches;
  for (const Place& way : ways) branches.push_back(Joined(way));
  return At(store_.Alt(branches), {});
}

std::size_t TextDerivative::Skip(Place* place, absl::string_view text, Work& work) {
  const Term& cell = store_.term(place->cell);
  if (cell.kind == TermKind::kBytes) return SkipBytes(place, text);
  if (cell.kind == TermKind::kRepeat) return SkipCounted(place, text);
  if (cell.kind != TermKind::kEncode || AsEncode(cell).partial.phase != CharPhase::kStart) return 0;
  const Term& characters = store_.term(AsEncode(cell).characters);
  if (characters.kind == TermKind::kNameSet) return SkipName(place, text, work);
  return IsRepeatOfSet(store_, characters) ? SkipCounted(place, text) : 0;
}

// So many bytes or characters of one set. Where they may end, what follows must begin otherwise.
std::size_t TextDerivative::SkipCounted(Place* place, absl::string_view text) {
  if (store_.term(place->cell).kind == TermKind::kRepeat) {
    const auto [body, min, max] = AsRepeat(store_.term(place->cell));
    if (store_.term(body).kind != TermKind::kByteSet) return 0;
    const ByteBits& set = BytesOf(store_, store_.term(body));
    std::uint32_t length = 0;
    while (length < std::min<std::size_t>(text.size(), max) && set[ByteAt(text, length)]) ++length;
    if (length < 2 || !EndsByOther(*place, min < length ? text.substr(0, length) : "")) return 0;
    const TermId rest = store_.Repeat(body, min < length ? 0 : min - length,
                                      max == kUnbounded ? kUnbounded : max - length);
    *place = At(rest, std::move(place->tails));
    return length;
  }
  const EncodeView encode = AsEncode(store_.term(place->cell));
  const auto [body, min, max] = AsRepeat<CharTerm>(store_.term(encode.characters));
  if (max == kUnbounded || encode.object != kNoObject) return 0;
  const CharSet& set = store_.ir().char_sets[CharSetOf(store_.term(body))];
  std::uint32_t length = 0;
  while (length < std::min<std::size_t>(text.size(), max) && IsPlain(ByteAt(text, length)) &&
         set.Contains(ByteAt(text, length))) {
    ++length;
  }
  if (length < 2 || !EndsByOther(*place, min == 0 ? text.substr(0, length) : "")) return 0;
  const CharTerm rest = store_.Repeat(body, min < length ? 0 : min - length, max - length);
  *place = At(store_.Encode(rest, {encode.partial.spelling}), std::move(place->tails));
  return length;
}

// Whether the byte behind the string surely is none of `text`, so that no text goes on both ways.
bool TextDerivative::EndsByOther(const Place& place, absl::string_view text) const {
  if (text.empty() || place.tails.empty()) return true;
  return BeginsByOther(store_, place.tails.back(), text, kMaxLevels);
}

std::size_t TextDerivative::SkipBytes(Place* place, absl::string_view text) {
  const BytesView view = AsBytes(store_.term(place->cell));
  const absl::string_view bytes = RestOfBytes(store_, store_.term(place->cell));
  const std::size_t length = std::min(bytes.size(), text.size());
  if (length < 2 || bytes.substr(0, length) != text.substr(0, length)) return 0;
  const TermId rest = store_.Bytes(view.string, view.offset + static_cast<std::uint32_t>(length));
  *place = At(rest, std::move(place->tails));
  return length;
}

// A name that is refused somewhere is left to steps: they say where.
std::size_t TextDerivative::SkipName(Place* place, absl::string_view text, Work& work) {
  const EncodeView encode = AsEncode(store_.term(place->cell));
  const NameSetView set = AsNameSet(store_.term(encode.characters));
  const auto end = std::ranges::find_if_not(
      text, [](char byte) { return IsPlain(static_cast<unsigned char>(byte)); });
  const std::u32string name(text.begin(), end);
  const bool ends = end != text.end() && *end == '"';
  if ((name.size() < 2 && !ends) || !work.Spend()) return 0;
  if (ends) {
    const auto number = objects_.NameOf(set.object, set.progress, set.first, set.depth, name, work);
    if (!number.has_value()) return 0;
    std::vector<TermId> spines =
        objects_.SpinesAfterName(encode.object, encode.progress, *number, work);
    if (!store_.ChargeEffort(work) || spines.front() == kNothingTerm) return 0;
    place->tails.insert(place->tails.end(), spines.rbegin(), spines.rend());
    *place = At(kEmptyTerm, std::move(place->tails));
    return name.size() + 1;
  }
  const CharTerm names =
      objects_.NamesBehind(set.object, set.progress, set.first, set.depth, name, work);
  if (!store_.ChargeEffort(work) || names == kNothingTerm) return 0;
  place->cell = objects_.EncodeNames(names, {encode.partial.spelling});
  return name.size();
}

TermId TextDerivative::Behind(TermId state, absl::string_view text, std::size_t* taken,
                              Work& work) {
  Place place = At(state, {});
  for (*taken = 0; *taken < text.size();) {
    if (const std::size_t skipped = Skip(&place, text.substr(*taken), work); skipped > 0) {
      *taken += skipped;
      continue;
    }
    if (!work.ok()) return kFailedTerm;
    place = Step(std::move(place), static_cast<unsigned char>(text[*taken]), work);
    if (place.cell == kFailedTerm || place.cell == kNothingTerm) return place.cell;
    ++*taken;
  }
  return bytes_.Within(Joined(place), work);
}

}  // namespace maskd
