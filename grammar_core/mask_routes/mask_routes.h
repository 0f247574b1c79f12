// The ways by which the mask of a state is made, as a table: what each is called, which states it
// fits, and what it costs. MaskMaker tries those that may fit the kind of a state's first cell in
// the order of the table; all give the same mask.
//
// Switch   a measurement may take routes away, or leave one alone.
// Tally    masks made by each route of the process, and the time they took, once it is asked for.
// Threads  any.
#ifndef MASKD_GRAMMAR_CORE_MASK_ROUTES_MASK_ROUTES_H_
#define MASKD_GRAMMAR_CORE_MASK_ROUTES_MASK_ROUTES_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/strings/string_view.h"

namespace maskd {

// The routes, in the order in which they are tried.
enum class MaskRoute : std::uint8_t {
  kMarked,
  kChoice,
  kNames,
  kOthers,
  kLength,
  kCounts,
  kRuns,
  kFreeText,
  kExits,
  kEnds,
  kWalk,
  kClosure,
};
inline constexpr std::size_t kMaskRoutes = 12;

// A row of the table, in words.
struct MaskRouteInfo {
  MaskRoute route;
  absl::string_view name;
  absl::string_view fits;  // the states that it is for
  absl::string_view cost;
};

// In the order of the enumeration, which is that in which they are tried.
std::span<const MaskRouteInfo> MaskRouteTable();
absl::string_view NameOf(MaskRoute route);
std::optional<MaskRoute> MaskRouteNamed(absl::string_view name);

// Which routes this process takes. All, unless a measurement wants to know what one is worth: masks
// are the same by any. Takes effect for masks that are not made yet.
class MaskRouteSwitch {
 public:
  // No other than `route` where it fits. States that it does not fit have a walk or a closure.
  static void Only(MaskRoute route);
  // Not `route` any more. Where neither a walk nor a closure is left, walks are taken.
  static void Off(MaskRoute route);
  static void AllOn();
  [[nodiscard]] static bool IsOn(MaskRoute route);
};

// What the routes of this process have made since Enable(); before that nothing is counted.
class MaskRouteTally {
 public:
  // Of one route: masks made, and the time they took without that of other masks made for them.
  struct Count {
    std::int64_t masks = 0;
    std::chrono::nanoseconds time{};  // less that of masks that were made for the sake of these
  };

  // Begins to count, for good; what was counted so far.
  static void Enable();
  static std::array<Count, kMaskRoutes> Read();

  // Around the making of one mask, within which others may be made.
  class Scope {
   public:
    // Begins the time of one mask.
    Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    // `route` has made it. Without this call nothing is counted.
    void Made(MaskRoute route);
    ~Scope();

   private:
    using Clock = std::chrono::steady_clock;
    const bool enabled_;
    Clock::time_point begin_;
    std::chrono::nanoseconds outer_{};  // spent within the enclosing scope's own scopes before
  };
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_ROUTES_MASK_ROUTES_H_
