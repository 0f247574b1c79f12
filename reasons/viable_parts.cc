#include "reasons/viable_parts.h"

#include <algorithm>
#include <cstdint>

#include "grammar_core/base/char_set.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/json/json_document.h"

namespace maskd::reasons {
namespace {

using What = NextPart::What;

// Kinds of characters of one part that are asked about; of a part with more nothing is left out.
constexpr std::size_t kMostKinds = 16;

// One character of each kind in `set`, ascending; of more than kMostKinds one more than those.
std::vector<std::uint32_t> OneOfEach(const CharSet& set, const std::vector<std::uint32_t>& bounds) {
  std::vector<std::uint32_t> characters;
  for (const CharRange& range : set.ranges()) {
    characters.push_back(range.lo);
    auto bound = std::ranges::upper_bound(bounds, range.lo);
    for (; bound != bounds.end() && *bound <= range.hi; ++bound) {
      if (characters.size() > kMostKinds) return characters;
      characters.push_back(*bound);
    }
    if (characters.size() > kMostKinds) return characters;
  }
  return characters;
}

}  // namespace

ViableParts::ViableParts(absl::string_view taken, const IsViable& viable)
    : taken_(taken),
      viable_(viable),
      can_say_(viable != nullptr && Utf8ToCodePoints(taken).has_value()),
      most_(std::min(kMostViable, kMostViableBytes / std::max<std::size_t>(taken.size(), 1))) {}

bool ViableParts::Follows(std::uint32_t character, Writing writing) const {
  std::string written;
  AppendUtf8(character, &written);
  if (writing == Writing::kInJsonString) {
    written = JsonString(written);
    written = written.substr(1, written.size() - 2);
  }
  return viable_(std::string(taken_) + written);
}

bool ViableParts::LeaveOutDead(const PlaceNetwork& network, Writing writing,
                               std::vector<NextPart>* parts) {
  const std::vector<std::uint32_t> bounds = network.Bounds();
  bool is_held = false;
  std::erase_if(*parts, [&](const NextPart& part) {
    // What the network takes for any text, it cannot tell apart.
    const bool is_open = part.what == What::kSchema || part.next == CharSet::All();
    const bool asks = !is_open && asked_ < most_;
    const std::vector<std::uint32_t> characters =
        asks ? OneOfEach(part.next, bounds) : std::vector<std::uint32_t>();
    bool is_dead = !characters.empty() && characters.size() <= kMostKinds;
    for (const std::uint32_t character : characters) {
      if (++asked_ > most_) return false;
      const bool follows = Follows(character, writing);
      is_held = is_held || !follows;
      is_dead = is_dead && !follows;
    }
    return is_dead;
  });
  return is_held;
}

}  // namespace maskd::reasons
