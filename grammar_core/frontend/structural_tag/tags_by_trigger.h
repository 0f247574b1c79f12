// The tags of triggered_tags and of the older form, by the trigger that each begins with.
// Errors   INVALID_ARGUMENT: a tag begins with no trigger, or with more than one. No tag begins
//          with a trigger. A tag begins with a token, or with a marker that is excluded, so that it
//          could never be entered. Those of the budget.
// Cost     linear in the tags, for each size that triggers have.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_TAGS_BY_TRIGGER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_TAGS_BY_TRIGGER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/frontend/structural_tag/format.h"
#include "grammar_core/frontend/structural_tag/marker_speller.h"
#include "grammar_core/frontend/structural_tag/text_dispatch.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// What MakeTextDispatch() takes, sorted by how a trigger is spelled.
struct TriggeredGroups {
  std::vector<TextDispatch::Trigger> by_text;
  // Tags of whose trigger a marker is a part, with what they begin with shared: see TextDispatch.
  std::vector<NodeId> marked;
};

// `format` holds the tags. `wholes` and `tails` have, by format, a tag and what stands behind its
// begin; `excludes` is what free text does not hold.
absl::StatusOr<TriggeredGroups> TagsByTrigger(const TagFormat& format,
                                              const std::vector<TagFormat>& formats,
                                              const std::vector<NodeId>& wholes,
                                              const std::vector<NodeId>& tails,
                                              const std::vector<std::string>& excludes,
                                              Budget& budget, MarkerSpeller& speller,
                                              IrBuilder& builder);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_STRUCTURAL_TAG_TAGS_BY_TRIGGER_H_
