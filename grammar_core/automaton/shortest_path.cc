#include "grammar_core/automaton/shortest_path.h"

#include <algorithm>
#include <cstdint>
#include <optional>
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
  // With a vocabulary it takes tokens that the grammar names, too.
  Search(Automaton* automaton, const Vocabulary* vocabulary, std::uint32_t most, Work* work)
      : automaton_(automaton),
        vocabulary_(vocabulary),
        measure_(automaton->measure()),
        most_(most),
        work_(work) {}

  // Whether there is a completion; none is known if `work` failed.
  bool Run(TermId start) {
    arrivals_[start] = {0, start, 0};
    open_.push({automaton_->MinBytes(start), 0, start, 0});
    while (!open_.empty() && work_->Spend()) {
      end_ = open_.top();
      open_.pop();
      if (end_.bytes > arrivals_[end_.state].bytes) continue;
      if (automaton_->MayEnd(end_.state)) return true;
      Expand(end_);
    }
    return false;
  }

  // After Run(): the completion's size, and itself.
  [[nodiscard]] std::uint32_t size() const { return end_.bytes; }
  [[nodiscard]] std::string Path(TermId start) const { return PathTo(end_.state, start); }

 private:
  // Tries the bytes after `at`, up to the first that loses nothing; the others wait for it to fail.
  void Expand(const Open& at) {
    const ByteClasses& classes = automaton_->classes();
    for (int c = at.next_class; c < classes.count(); ++c) {
      const unsigned char byte = classes.Sample(c);
      const TermId next = automaton_->Take(at.state, byte, *work_);
      if (next == kFailedTerm) return;
      if (next == kNothingTerm) continue;
      const std::optional<std::uint32_t> bound = Arrive(at, SizeOf(measure_, byte), byte, next);
      if (bound.has_value() && *bound <= at.bound) {
        open_.push({at.bound, at.bytes, at.state, c + 1});
        return;
      }
    }
    if (vocabulary_ == nullptr) return;
    for (const NamedTokens::Step& step : automaton_->NamedSteps(at.state)) {
      Arrive(at, LeastSize(step.tokens), 0, step.next);
    }
  }

  // The bound through `next`, where this is a better way to it.
  std::optional<std::uint32_t> Arrive(const Open& at, std::uint32_t size, unsigned char byte,
                                      TermId next) {
    const std::uint32_t bytes = at.bytes + size;
    const std::uint32_t bound = SaturatingAdd(bytes, automaton_->MinBytes(next));
    if (bound > most_) return std::nullopt;
    const auto [known, is_new] = arrivals_.try_emplace(next, Arrival{bytes, at.state, byte});
    if (!is_new && known->second.bytes <= bytes) return std::nullopt;
    known->second = {bytes, at.state, byte};
    open_.push({bound, bytes, next, 0});
    return bound;
  }

  [[nodiscard]] std::uint32_t LeastSize(const TokenMask& tokens) const {
    std::uint32_t least = kNoEnd;
    tokens.VisitAllowedWhile([&](TokenId id) {
      const std::uint32_t size =
          vocabulary_->IsSpecial(id) ? 0 : SizeOf(measure_, vocabulary_->TokenBytes(id));
      least = std::min(least, size);
      return least > 0;
    });
    return least;
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
  const Vocabulary* vocabulary_;
  const Measure measure_;
  const std::uint32_t most_;
  Work* work_;
  Open end_ = {};
  absl::flat_hash_map<TermId, Arrival> arrivals_;
  std::priority_queue<Open> open_;
};

}  // namespace

absl::StatusOr<std::string> ShortestCompletion(Automaton* automaton, TermId state, int max_bytes,
                                               Work& work) {
  const auto most = static_cast<std::uint32_t>(std::max(0, max_bytes));
  Search search(automaton, nullptr, most, &work);
  if (search.Run(state)) return search.Path(state);
  if (!work.ok()) return work.error();
  return LimitExceeded("", "completion_bytes", most, std::int64_t{most} + 1);
}

absl::StatusOr<std::uint32_t> SmallestCompletion(Automaton* automaton, const Vocabulary& vocabulary,
                                                 TermId state, std::uint32_t most, Work& work) {
  Search search(automaton, automaton->names_tokens() ? &vocabulary : nullptr, most, &work);
  const bool found = search.Run(state);
  if (!work.ok()) return work.error();
  return found ? search.size() : kNoEnd;
}

}  // namespace maskd
