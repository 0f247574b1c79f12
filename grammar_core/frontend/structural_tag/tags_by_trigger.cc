#include "grammar_core/frontend/structural_tag/tags_by_trigger.h"

#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/structural_tag/fields.h"

namespace maskd {
namespace {

class Grouping {
 public:
  explicit Grouping(std::vector<std::string> triggers)
      : triggers_(std::move(triggers)), rests_(triggers_.size()) {
    for (std::size_t i = 0; i < triggers_.size(); ++i) {
      by_text_[triggers_[i]].push_back(i);
      sizes_.insert(triggers_[i].size());
    }
  }

  absl::Status Add(const Format& tag, NodeId tail, IrBuilder& builder) {
    if (tag.bounds.begin_token.has_value()) {
      return InvalidMember(tag.at, "begin", "must be a string, as the triggers are");
    }
    const absl::string_view begin = tag.bounds.begin;
    const std::vector<std::size_t> found = TriggersOf(begin);
    if (found.empty()) return InvalidMember(tag.at, "begin", "begins with none of the triggers");
    if (found.size() > 1) {
      return InvalidMember(
          tag.at, "begin",
          absl::StrCat("begins with more than one trigger: \"", triggers_[found[0]].substr(0, 64),
                       "\" and \"", triggers_[found[1]].substr(0, 64), "\""));
    }
    const absl::string_view rest = begin.substr(triggers_[found[0]].size());
    rests_[found[0]].push_back(rest.empty() ? tail : builder.Concat({builder.Bytes(rest), tail}));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<TextDispatch::Trigger>> Groups(const Format& format,
                                                            IrBuilder& builder) && {
    std::vector<TextDispatch::Trigger> groups;
    for (std::size_t i = 0; i < triggers_.size(); ++i) {
      if (rests_[i].empty()) {
        return InvalidMember(format.at, absl::StrCat("triggers/", i), "no tag begins with it");
      }
      groups.push_back({std::move(triggers_[i]), builder.Alt(std::move(rests_[i]))});
    }
    return groups;
  }

 private:
  [[nodiscard]] std::vector<std::size_t> TriggersOf(absl::string_view begin) const {
    std::vector<std::size_t> found;
    for (const std::size_t size : sizes_) {
      if (size > begin.size()) break;
      const auto same = by_text_.find(begin.substr(0, size));
      if (same != by_text_.end()) {
        found.insert(found.end(), same->second.begin(), same->second.end());
      }
    }
    return found;
  }

  std::vector<std::string> triggers_;
  std::vector<std::vector<NodeId>> rests_;  // by trigger
  absl::flat_hash_map<std::string, std::vector<std::size_t>> by_text_;
  std::set<std::size_t> sizes_;
};

}  // namespace

absl::StatusOr<std::vector<TextDispatch::Trigger>> TagsByTrigger(const Format& format,
                                                                 const std::vector<Format>& formats,
                                                                 const std::vector<NodeId>& tails,
                                                                 Budget& budget,
                                                                 IrBuilder& builder) {
  const absl::StatusOr<JsonValue> list = RequiredList(format.at, "triggers");
  if (!list.ok()) return list.status();
  absl::StatusOr<std::vector<std::string>> triggers = TextsOf(format.at, "triggers");
  if (!triggers.ok()) return triggers.status();
  Grouping grouping(*std::move(triggers));
  for (const FormatId tag : format.parts) {
    if (absl::Status status = budget.Spend(); !status.ok()) return status;
    const absl::Status added = grouping.Add(formats[tag], tails[tag], builder);
    if (!added.ok()) return added;
  }
  return std::move(grouping).Groups(format, builder);
}

}  // namespace maskd
