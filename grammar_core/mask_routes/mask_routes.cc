#include "grammar_core/mask_routes/mask_routes.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <utility>

namespace maskd {
namespace {

constexpr std::array<MaskRouteInfo, kMaskRoutes> kTable = {{
    {MaskRoute::kMarked, "marked", "text in which something begins by a token's name",
     "the mask of the text alone"},
    {MaskRoute::kChoice, "choice", "a choice of few branches that are no names",
     "the union of the branches' masks; names once for all"},
    {MaskRoute::kNames, "names", "the names of an object, within their quotes",
     "the trie walked along the texts, without a term for each letter"},
    {MaskRoute::kOthers, "others", "undeclared names",
     "the mask of any name, less the tokens that end a declared one"},
    {MaskRoute::kLength, "length", "a pattern with a bound on its length",
     "the pattern's mask, and a walk of the tokens that come near the bound"},
    {MaskRoute::kCounts, "counts", "counts within counts, far from their bounds",
     "two masks of simpler patterns, and a walk of the tokens between them"},
    {MaskRoute::kRuns, "runs", "a run of bytes of one small set before a tail",
     "the tail's mask, and what tokens hold behind such a run"},
    {MaskRoute::kFreeText, "free_text", "text in which certain texts do not come",
     "the mask of any text, and a walk of the tokens that hold one of them"},
    {MaskRoute::kExits, "exits", "a wide string before a tail",
     "the string's mask, and what tokens hold behind its quote"},
    {MaskRoute::kEnds, "ends", "a number before a tail",
     "the number's mask, and what tokens hold behind a whole number"},
    {MaskRoute::kWalk, "walk", "states that few bytes leave",
     "steps through the trie; given up after some thousand nodes"},
    {MaskRoute::kClosure, "closure", "all others: states that many bytes leave",
     "a search of states, a class of tokens, and a walk of those that leave the class"},
}};

struct AtomicCount {
  std::atomic<std::int64_t> masks = 0;
  std::atomic<std::int64_t> nanoseconds = 0;
};

// A bit for each route that is not taken.
std::atomic<std::uint32_t> routes_off = 0;
static_assert(kMaskRoutes <= 32);

constexpr std::uint32_t BitOf(MaskRoute route) {
  return std::uint32_t{1} << static_cast<std::size_t>(route);
}

std::atomic<bool> enabled = false;
std::array<AtomicCount, kMaskRoutes> counts;
// Of this thread: the time of the scopes that have ended within the one that is open.
thread_local std::chrono::nanoseconds nested{};

}  // namespace

std::span<const MaskRouteInfo> MaskRouteTable() { return kTable; }

// Rows stand in the order of the enumeration.
absl::string_view NameOf(MaskRoute route) {
  assert(kTable[static_cast<std::size_t>(route)].route == route && "the table is in another order");
  return kTable[static_cast<std::size_t>(route)].name;
}

std::optional<MaskRoute> MaskRouteNamed(absl::string_view name) {
  const auto row = std::ranges::find(kTable, name, &MaskRouteInfo::name);
  return row == kTable.end() ? std::nullopt : std::optional(row->route);
}

void MaskRouteSwitch::Only(MaskRoute route) {
  const bool is_open = route == MaskRoute::kWalk || route == MaskRoute::kClosure;
  const std::uint32_t on =
      BitOf(route) | (is_open ? 0 : BitOf(MaskRoute::kWalk) | BitOf(MaskRoute::kClosure));
  routes_off.store(~on, std::memory_order_relaxed);
}

void MaskRouteSwitch::Off(MaskRoute route) {
  routes_off.fetch_or(BitOf(route), std::memory_order_relaxed);
}

void MaskRouteSwitch::AllOn() { routes_off.store(0, std::memory_order_relaxed); }

bool MaskRouteSwitch::IsOn(MaskRoute route) {
  return (routes_off.load(std::memory_order_relaxed) & BitOf(route)) == 0;
}

void MaskRouteTally::Enable() { enabled.store(true, std::memory_order_relaxed); }

std::array<MaskRouteTally::Count, kMaskRoutes> MaskRouteTally::Read() {
  std::array<Count, kMaskRoutes> read;
  for (std::size_t i = 0; i < kMaskRoutes; ++i) {
    read[i] = {counts[i].masks.load(std::memory_order_relaxed),
               std::chrono::nanoseconds(counts[i].nanoseconds.load(std::memory_order_relaxed))};
  }
  return read;
}

MaskRouteTally::Scope::Scope() : enabled_(enabled.load(std::memory_order_relaxed)) {
  if (!enabled_) return;
  outer_ = std::exchange(nested, {});
  begin_ = Clock::now();
}

void MaskRouteTally::Scope::Made(MaskRoute route) {
  if (!enabled_) return;
  // Masks that were made for this one's sake have counted their own time.
  const std::chrono::nanoseconds own = Clock::now() - begin_ - nested;
  AtomicCount& count = counts[static_cast<std::size_t>(route)];
  count.masks.fetch_add(1, std::memory_order_relaxed);
  count.nanoseconds.fetch_add(own.count(), std::memory_order_relaxed);
}

MaskRouteTally::Scope::~Scope() {
  // For the scope around this one, whose own time it is not.
  if (enabled_) nested = outer_ + (Clock::now() - begin_);
}

}  // namespace maskd
