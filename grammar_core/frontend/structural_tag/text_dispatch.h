// Free text in which certain texts, the triggers, lead to something else.
//
// A trigger that stands in the free text must be followed by what it leads to. Which one stands
// there first is found as a matcher of many strings finds it: none begins before it in the text up
// to its end. One that goes on as a longer trigger may be either.
//
// Errors   those of the budget, which pays for the bytes of every suffix of every text.
// Threads  no state; any thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_TEXT_DISPATCH_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_TEXT_DISPATCH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/frontend/structural_tag/marker_speller.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// What is asked for; a plain value.
struct TextDispatch {
  // Two triggers may have one text: either may follow.
  struct Trigger {
    std::string text;  // not empty
    NodeId behind;     // bytes
  };
  std::vector<Trigger> triggers = {};
  // Triggers that hold a marker, which is in no free text, each with what stands behind it (bytes).
  std::vector<NodeId> marked = {};
  // Texts that free text does not hold, be it within a trigger.
  std::vector<std::string> excludes = {};
  // Texts that the free text to the end of all does not end with.
  std::vector<std::string> last = {};
  // Whether free text goes on behind what a trigger leads to.
  bool loop = true;
};

// The texts (characters) without any of `excludes` in them, and that end with none of `last`.
NodeId FreeText(const std::vector<std::string>& excludes, IrBuilder& builder,
                const std::vector<std::string>& last = {});

// By end, what free text without any of `ends` must not end with if that end follows: another one,
// or the same, would begin in the free text and end sooner. "```" behind "`" does, and "yyz" behind
// "x" where "xy" is an end too. A marker is no text, neither in parts. Sorted.
absl::StatusOr<std::vector<std::vector<std::string>>> BeginningsOfSoonerEnds(
    const std::vector<std::string>& ends, const MarkerSpeller& speller, Budget& budget);

// As bytes.
absl::StatusOr<NodeId> MakeTextDispatch(const TextDispatch& dispatch, Budget& budget,
                                        IrBuilder& builder);

// Free text `free` (bytes) and ways out of it, each with what stands behind: again and again, or
// at most once.
NodeId MakeDispatch(NodeId free, NodeId way, bool loop, IrBuilder& builder);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_TEXT_DISPATCH_H_
