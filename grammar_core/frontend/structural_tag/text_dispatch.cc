// Triggers that cannot meet within a text are written as they are, behind free text without any of
// them. Where one may begin within another, a head is the text up to its trigger: all texts that
// end with it, less those with a trigger that ends sooner.
//
// Invariant  the first trigger in the text is the one that counts, as the first end is.
// Cost       each suffix of each trigger is looked up among the beginnings of all.

#include "grammar_core/frontend/structural_tag/text_dispatch.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/sort_unique.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/frontend/notation/free_text.h"
#include "grammar_core/ir/shared_beginnings.h"

namespace maskd {
namespace {

std::uint32_t CharactersIn(absl::string_view text) {
  return static_cast<std::uint32_t>(Utf8ToCodePoints(text)->size());
}

std::int64_t CostOf(std::size_t bytes) { return 1 + static_cast<std::int64_t>(bytes) / 16; }

// Finds out whether one of some texts can stand in the free text so that it ends within a trigger,
// or holds another: then free text and a trigger behind it say too little.
class Entanglement {
 public:
  explicit Entanglement(const TextDispatch& dispatch) {
    for (const TextDispatch::Trigger& trigger : dispatch.triggers) {
      const absl::string_view text = trigger.text;
      AddWhole(text);
      for (std::size_t size = 1; size < text.size(); ++size)
        beginnings_.insert(text.substr(0, size));
    }
    for (const std::string& text : dispatch.excludes) {
      excluded_trigger_ = excluded_trigger_ || wholes_.contains(text);
      AddWhole(text);
    }
  }

  absl::StatusOr<bool> Is(Budget& budget) const {
    if (excluded_trigger_) return true;
    for (const absl::string_view text : wholes_) {
      for (std::size_t at = 0; at < text.size(); ++at) {
        const absl::string_view rest = text.substr(at);
        if (absl::Status status = budget.Spend(CostOf(rest.size())); !status.ok()) return status;
        if ((at > 0 && beginnings_.contains(rest)) || HoldsOther(rest, at > 0)) return true;
      }
    }
    return false;
  }

 private:
  void AddWhole(absl::string_view text) {
    wholes_.insert(text);
    sizes_.insert(text.size());
  }

  // Whether `rest` begins with one of the texts; with all of itself only where that is `other`.
  [[nodiscard]] bool HoldsOther(absl::string_view rest, bool other) const {
    for (const std::size_t size : sizes_) {
      if (size > rest.size() || (size == rest.size() && !other)) return false;
      if (wholes_.contains(rest.substr(0, size))) return true;
    }
    return false;
  }

  absl::flat_hash_set<absl::string_view> beginnings_;
  absl::flat_hash_set<absl::string_view> wholes_;
  std::set<std::size_t> sizes_;
  bool excluded_trigger_ = false;
};

// The heads of entangled triggers: the texts that end with a trigger that is the first in them.
class Heads {
 public:
  Heads(const TextDispatch& dispatch, IrBuilder& builder) : b_(builder) {
    for (const TextDispatch::Trigger& trigger : dispatch.triggers)
      by_size_[CharactersIn(trigger.text)].push_back(trigger.text);
    without_ = FreeText(dispatch.excludes, builder);
  }

  NodeId Of(absl::string_view trigger) {
    const std::uint32_t size = CharactersIn(trigger);
    return b_.And({b_.Concat({Anything(), b_.Text(trigger)}), b_.Not(Earlier(size)), without_});
  }

 private:
  NodeId Anything() { return b_.Repeat(b_.AnyChar(), 0, kUnbounded); }

  // The texts with a trigger that begins before their last `size` characters.
  NodeId Earlier(std::uint32_t size) {
    if (const auto made = earlier_.find(size); made != earlier_.end()) return made->second;
    std::vector<NodeId> ways;
    for (const auto& [length, texts] : by_size_) {
      const std::uint32_t behind = size >= length ? size - length + 1 : 0;
      ways.push_back(
          b_.Concat({Anything(), b_.TextSet(texts), b_.Repeat(b_.AnyChar(), behind, kUnbounded)}));
    }
    return earlier_[size] = b_.Alt(std::move(ways));
  }

  IrBuilder& b_;
  NodeId without_;
  std::map<std::uint32_t, std::vector<std::string>> by_size_;  // in characters
  std::map<std::uint32_t, NodeId> earlier_;
};

}  // namespace

NodeId FreeText(const std::vector<std::string>& excludes, IrBuilder& builder,
                const std::vector<std::string>& last) {
  const NodeId anything = builder.Repeat(builder.AnyChar(), 0, kUnbounded);
  const NodeId text = excludes.empty() ? anything : TextWithout(builder.TextSet(excludes), builder);
  if (last.empty()) return text;
  return builder.And({text, builder.Not(builder.Concat({anything, builder.TextSet(last)}))});
}

absl::StatusOr<std::vector<std::vector<std::string>>> BeginningsOfSoonerEnds(
    const std::vector<std::string>& ends, const MarkerSpeller& speller, Budget& budget) {
  // The ends that begin with a text and go on behind it.
  absl::flat_hash_map<absl::string_view, std::vector<std::size_t>> by_beginning;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const absl::string_view end = ends[i];
    const bool has_marker = speller.HasMarker(end);
    for (std::size_t size = 1; size < end.size(); ++size) {
      if (absl::Status status = budget.Spend(CostOf(size)); !status.ok()) return status;
      if (!has_marker || speller.WithWholeMarkers(end, size) == size)
        by_beginning[end.substr(0, size)].push_back(i);
    }
  }
  std::vector<std::vector<std::string>> sooner(ends.size());
  for (const absl::string_view end : ends) {
    const bool has_marker = speller.HasMarker(end);
    for (std::size_t cut = 1; cut < end.size(); ++cut) {
      if (absl::Status status = budget.Spend(CostOf(end.size())); !status.ok()) return status;
      const auto found = by_beginning.find(end.substr(cut));
      if (found == by_beginning.end() || (has_marker && speller.HasMarker(end, cut))) continue;
      for (const std::size_t i : found->second) {
        if (absl::Status status = budget.Spend(CostOf(cut)); !status.ok()) return status;
        sooner[i].emplace_back(end.substr(0, cut));
      }
    }
  }
  for (std::vector<std::string>& beginnings : sooner) SortUnique(&beginnings);
  return sooner;
}

NodeId MakeDispatch(NodeId free, NodeId way, bool loop, IrBuilder& builder) {
  if (!loop) return builder.Alt({way, free});
  return builder.Concat({builder.Repeat(way, 0, kUnbounded), free});
}

absl::StatusOr<NodeId> MakeTextDispatch(const TextDispatch& dispatch, Budget& budget,
                                        IrBuilder& builder) {
  const absl::StatusOr<bool> entangled = Entanglement(dispatch).Is(budget);
  if (!entangled.ok()) return entangled.status();
  std::vector<std::string> listed = dispatch.excludes;
  for (const TextDispatch::Trigger& trigger : dispatch.triggers) listed.push_back(trigger.text);
  const NodeId free = builder.Encode(Spelling::kUtf8, FreeText(listed, builder));
  Heads heads(dispatch, builder);
  std::vector<NodeId> ways;
  for (const TextDispatch::Trigger& trigger : dispatch.triggers) {
    const NodeId head = *entangled ? builder.Encode(Spelling::kUtf8, heads.Of(trigger.text))
                                   : builder.Bytes(trigger.text);
    ways.push_back(builder.Concat({head, trigger.behind}));
  }
  const NodeId last = builder.Encode(Spelling::kUtf8, FreeText(listed, builder, dispatch.last));
  NodeId way = builder.Alt(std::move(ways));
  if (!*entangled) way = builder.Concat({free, way});
  if (!dispatch.marked.empty())
    way = builder.Alt(
        {way, builder.Concat({free, AltWithSharedBeginnings(dispatch.marked, builder)})});
  return MakeDispatch(last, way, dispatch.loop, builder);
}

}  // namespace maskd
