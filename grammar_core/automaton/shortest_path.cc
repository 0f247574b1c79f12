#include "grammar_core/automaton/shortest_path.h"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

struct Arrival {
  std::uint32_t bytes;  // from the start to the state
  TermId from;
  unsigned char byte;
};

// A state to look at: the bound of a whole completion through it, then how far it is. Among equals
// the one that is farther along comes first. Its byte classes below `next_class` have been tried.
struct Open {
  std::uint32_t bound;
  std::uint32_t bytes;
  TermId state;
  int next_class;
  bool operator<(const Open& other) const {
    return bound != other.bound ? bound > other.bound : bytes < other.bytes;
  }
};

class Search {
 public:
  Search(Automaton* automaton, std::uint32_t max_bytes, Work* work)
      : automaton_(automaton), max_bytes_(max_bytes), work_(work) {}

  absl::StatusOr<std::string> Run(TermId start) {
    arrivals_[start] = {0, start, 0};
    open_.push({automaton_->MinBytes(start), 0, start, 0});
    while (!open_.empty() && work_->Spend()) {
      const Open at = open_.top();
      open_.pop();
      if (at.bytes > arrivals_[at.state].bytes) continue;
      if (automaton_->MayEnd(at.state)) return PathTo(at.state, start);
      Expand(at);
    }
    if (!work_->ok()) return work_->error();
    return LimitExceeded("", "completion_bytes", max_bytes_, std::int64_t{max_bytes_} + 1);
  }

 private:
  // Tries the bytes after `at`, up to the first that loses nothing; the others wait for it to fail.
  void Expand(const Open& at) {
    const ByteClasses& classes = automaton_->classes();
    for (int c = at.next_class; c < classes.count(); ++c) {
      const unsigned char byte = classes.Sample(c);
      const TermId next = automaton_->Take(at.state, byte, *work_);
      if (next == kFailedTerm) return;
      if (next == kNothingTerm) continue;
      const std::uint32_t bytes = at.bytes + 1;
      const std::uint32_t bound = SaturatingAdd(bytes, automaton_->MinBytes(next));
      if (bound > max_bytes_) continue;
      const auto [known, is_new] = arrivals_.try_emplace(next, Arrival{bytes, at.state, byte});
      if (!is_new && known->second.bytes <= bytes) continue;
      known->second = {bytes, at.state, byte};
      open_.push({bound, bytes, next, 0});
      if (bound <= at.bound) {
        open_.push({at.bound, at.bytes, at.state, c + 1});
        return;
      }
    }
  }

  std::string PathTo(TermId state, TermId start) const {
    std::string path;
    while (state != start) {
      const Arrival& arrival = arrivals_.at(state);
      path.push_back(static_cast<char>(arrival.byte));
      state = arrival.from;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

  Automaton* automaton_;
  const std::uint32_t max_bytes_;
  Work* work_;
  absl::flat_hash_map<TermId, Arrival> arrivals_;
  std::priority_queue<Open> open_;
};

}  // namespace

absl::StatusOr<std::string> ShortestCompletion(Automaton* automaton, TermId state, int max_bytes,
                                               Work& work) {
  return Search(automaton, static_cast<std::uint32_t>(std::max(0, max_bytes)), &work).Run(state);
}

}  // namespace maskd
