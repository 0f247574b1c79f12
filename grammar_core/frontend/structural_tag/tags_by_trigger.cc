#include "grammar_core/frontend/structural_tag/tags_by_trigger.h"

#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/structural_tag/fields.h"
#include "grammar_core/ir/shared_beginnings.h"

namespace maskd {
namespace {

class Grouping {
 public:
  Grouping(std::vector<std::string> triggers, const std::vector<std::string>& excludes,
           MarkerSpeller& speller, IrBuilder& builder)
      : speller_(speller),
        builder_(builder),
        excludes_(excludes),
        triggers_(std::move(triggers)),
        rests_(triggers_.size()),
        is_used_(triggers_.size()) {
    for (std::size_t i = 0; i < triggers_.size(); ++i) {
      by_text_[triggers_[i]].push_back(i);
      sizes_.insert(triggers_[i].size());
    }
  }

  // `whole` and `tail`: the tag, and what stands behind its begin.
  absl::Status Add(const TagFormat& tag, NodeId whole, NodeId tail) {
    if (tag.bounds->begin_token.has_value())
      return InvalidMember(tag.at, "begin", "must be a string, as the triggers are");
    const absl::string_view begin = tag.begin;
    const absl::InlinedVector<std::size_t, 2> found = TriggersOf(begin);
    if (found.empty()) return InvalidMember(tag.at, "begin", "begins with none of the triggers");
    if (found.size() > 1) {
      return InvalidMember(
          tag.at, "begin",
          absl::StrCat("begins with more than one trigger: \"", triggers_[found[0]].substr(0, 64),
                       "\" and \"", triggers_[found[1]].substr(0, 64), "\""));
    }
    is_used_[found[0]] = true;
    const std::size_t size = triggers_[found[0]].size();
    if (speller_.HasMarker(begin, size)) {
      marked_.push_back(whole);
      if (excludes_.empty()) return absl::OkStatus();
      return CheckEntered(tag, speller_.WithWholeMarkers(begin, size));
    }
    const auto place = [&] { return absl::StrCat(tag.at.Pointer(), "/begin"); };
    const NodeId rest = speller_.Spell(begin.substr(size), place);
    rests_[found[0]].push_back(builder_.Concat({rest, tail}));
    return absl::OkStatus();
  }

  absl::StatusOr<TriggeredGroups> Groups(const TagFormat& format) && {
    TriggeredGroups groups;
    if (!marked_.empty()) groups.marked = {AltWithSharedBeginnings(marked_, builder_)};
    for (std::size_t i = 0; i < triggers_.size(); ++i) {
      if (!is_used_[i])
        return InvalidMember(format.at, absl::StrCat("triggers/", i), "no tag begins with it");
      if (rests_[i].empty()) continue;
      groups.by_text.push_back(
          {std::move(triggers_[i]), AltWithSharedBeginnings(rests_[i], builder_)});
    }
    return groups;
  }

 private:
  // `head`: the bytes of its begin that are the trigger's or of a marker in it.
  [[nodiscard]] absl::Status CheckEntered(const TagFormat& tag, std::size_t head) const {
    for (const std::string& text : excludes_) {
      if (!absl::StrContains(absl::string_view(tag.begin).substr(0, head), text)) continue;
      return InvalidMember(
          tag.at, "begin",
          absl::StrCat("cannot be entered: \"", text.substr(0, 64), "\" in it is excluded"));
    }
    return absl::OkStatus();
  }

  [[nodiscard]] absl::InlinedVector<std::size_t, 2> TriggersOf(absl::string_view begin) const {
    absl::InlinedVector<std::size_t, 2> found;
    for (const std::size_t size : sizes_) {
      if (size > begin.size()) break;
      const auto same = by_text_.find(begin.substr(0, size));
      if (same != by_text_.end())
        found.insert(found.end(), same->second.begin(), same->second.end());
    }
    return found;
  }

  MarkerSpeller& speller_;
  IrBuilder& builder_;
  const std::vector<std::string>& excludes_;
  std::vector<std::string> triggers_;
  std::vector<std::vector<NodeId>> rests_;  // by trigger
  std::vector<bool> is_used_;               // by trigger
  std::vector<NodeId> marked_;
  absl::flat_hash_map<std::string, std::vector<std::size_t>> by_text_;
  std::set<std::size_t> sizes_;
};

}  // namespace

absl::StatusOr<TriggeredGroups> TagsByTrigger(const TagFormat& format,
                                              const std::vector<TagFormat>& formats,
                                              const std::vector<NodeId>& wholes,
                                              const std::vector<NodeId>& tails,
                                              const std::vector<std::string>& excludes,
                                              Budget& budget, MarkerSpeller& speller,
                                              IrBuilder& builder) {
  const absl::StatusOr<JsonValue> list = RequiredList(format.at, "triggers");
  if (!list.ok()) return list.status();
  absl::StatusOr<std::vector<std::string>> triggers = TextsOf(format.at, "triggers");
  if (!triggers.ok()) return triggers.status();
  Grouping grouping(*std::move(triggers), excludes, speller, builder);
  for (const FormatId tag : format.parts) {
    if (absl::Status status = budget.Spend(); !status.ok()) return status;
    const absl::Status added = grouping.Add(formats[tag], wholes[tag], tails[tag]);
    if (!added.ok()) return added;
  }
  return std::move(grouping).Groups(format);
}

}  // namespace maskd
