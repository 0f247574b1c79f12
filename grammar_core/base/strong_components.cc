#include "grammar_core/base/strong_components.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <limits>
#include <utility>

namespace maskd {
namespace {

constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();

// Tarjan's algorithm with the call stack as a vector.
class Components {
 public:
  explicit Components(const Graph& successors)
      : successors_(successors),
        index_(successors.size(), kUnseen),
        low_(successors.size(), 0),
        on_stack_(successors.size(), false) {}

  absl::StatusOr<std::vector<std::vector<std::uint32_t>>> Find(Budget& budget) && {
    for (std::uint32_t vertex = 0; vertex < successors_.size(); ++vertex) {
      if (index_[vertex] != kUnseen) continue;
      if (absl::Status status = Visit(vertex, budget); !status.ok()) return status;
    }
    return std::move(found_);
  }

 private:
  struct Frame {
    std::uint32_t vertex;
    std::size_t next;
  };

  absl::Status Visit(std::uint32_t root, Budget& budget) {
    Enter(root);
    while (!frames_.empty()) {
      if (absl::Status status = budget.Spend(); !status.ok()) return status;
      Frame& frame = frames_.back();
      const std::vector<std::uint32_t>& successors = successors_[frame.vertex];
      if (frame.next == successors.size()) {
        Leave();
        continue;
      }
      const std::uint32_t to = successors[frame.next++];
      assert(to < index_.size());
      if (index_[to] == kUnseen)
        Enter(to);
      else if (on_stack_[to])
        low_[frame.vertex] = std::min(low_[frame.vertex], index_[to]);
    }
    return absl::OkStatus();
  }

  void Enter(std::uint32_t vertex) {
    assert(index_[vertex] == kUnseen);
    index_[vertex] = low_[vertex] = next_index_++;
    on_stack_[vertex] = true;
    stack_.push_back(vertex);
    frames_.push_back({vertex, 0});
  }

  void Leave() {
    const std::uint32_t vertex = frames_.back().vertex;
    frames_.pop_back();
    if (!frames_.empty()) {
      const std::uint32_t before = frames_.back().vertex;
      low_[before] = std::min(low_[before], low_[vertex]);
    }
    if (low_[vertex] == index_[vertex]) PopComponent(vertex);
  }

  void PopComponent(std::uint32_t root) {
    assert(on_stack_[root]);
    const auto first = std::find(stack_.rbegin(), stack_.rend(), root).base() - 1;
    for (auto vertex = first; vertex != stack_.end(); ++vertex) on_stack_[*vertex] = false;
    found_.emplace_back(std::make_reverse_iterator(stack_.end()),
                        std::make_reverse_iterator(first));
    stack_.erase(first, stack_.end());
  }

  const Graph& successors_;
  std::vector<std::uint32_t> index_;
  std::vector<std::uint32_t> low_;
  std::vector<bool> on_stack_;
  std::vector<std::uint32_t> stack_;
  std::vector<Frame> frames_;
  std::uint32_t next_index_ = 0;
  std::vector<std::vector<std::uint32_t>> found_;
};

}  // namespace

absl::StatusOr<std::vector<std::vector<std::uint32_t>>> StrongComponents(const Graph& successors,
                                                                         Budget& budget) {
  return Components(successors).Find(budget);
}

}  // namespace maskd
