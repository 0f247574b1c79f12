// The states that one sequence has been in, the last one on top: a stack whose lower part forks
// share.
//
// Layout   the top in place; below it chunks of kChunkStates states that are never written again,
//          each naming the one under it, so that any number of histories share them.
// Cost     Push: a store, and an allocation every kChunkStates states. Pop: O(1) a state. A copy:
//          one count and kTopStates states, whatever the length; no allocation.
// Memory   sizeof(StateHistory), and 4.5 bytes a state under the top.
// Threads  a plain value; copies may live in different threads.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_STATE_HISTORY_H_
#define MASKD_GRAMMAR_CORE_MATCHER_STATE_HISTORY_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

namespace maskd {

class StateHistory {
 public:
  using State = std::uint32_t;

  explicit StateHistory(State start) { Push(start); }

  [[nodiscard]] State back() const { return top_[static_cast<std::size_t>(top_count_ - 1)]; }
  [[nodiscard]] int size() const { return below_count_ + top_count_; }

  void Push(State state) {
    if (top_count_ == kTopStates) Spill();
    top_[static_cast<std::size_t>(top_count_++)] = state;
  }

  // Takes the last `count` states away. Requires 0 <= count < size().
  void Pop(int count) {
    for (; count >= top_count_; Refill()) count -= top_count_;
    top_count_ -= count;
  }

 private:
  // The top holds two chunks: moves to and fro across the end of one do not copy each time.
  static constexpr int kChunkStates = 32;
  static constexpr int kTopStates = 2 * kChunkStates;

  struct Chunk;

  // One owner of a chunk.
  class ChunkRef {
   public:
    ChunkRef() = default;
    explicit ChunkRef(Chunk* chunk) : chunk_(chunk) {}
    ChunkRef(const ChunkRef& other);
    ChunkRef(ChunkRef&& other) noexcept : chunk_(std::exchange(other.chunk_, nullptr)) {}
    ChunkRef& operator=(ChunkRef other) noexcept {
      std::swap(chunk_, other.chunk_);
      return *this;
    }
    // Ends this owner, and every chunk below that has no other: in a loop, however deep.
    ~ChunkRef();
    const Chunk& operator*() const { return *chunk_; }

   private:
    Chunk* chunk_ = nullptr;
  };

  struct Chunk {
    std::atomic<std::uint32_t> owners = 1;
    ChunkRef below;
    std::array<State, kChunkStates> states;
  };

  // Moves the lower half of a full top to a chunk.
  void Spill();
  // Fills an empty top from the uppermost chunk, which must exist.
  void Refill();

  std::array<State, kTopStates> top_ = {};  // in use: the first top_count_
  int top_count_ = 0;
  int below_count_ = 0;
  ChunkRef below_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_STATE_HISTORY_H_
