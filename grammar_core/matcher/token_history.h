// The tokens that one sequence has taken and the state behind each, the last one on top: a stack
// whose lower part forks share.
//
// Layout   the top in place; below it chunks of kChunkPlaces places that are never written again,
//          each naming the one under it, so that any number of histories share them.
// Cost     Push: a store, and an allocation every kChunkPlaces. Pop: O(1) a place. A copy: one
//          count and kTopPlaces places, whatever the length; no allocation.
// Memory   sizeof(TokenHistory), and 8.5 bytes a token under the top.
// Threads  a plain value; copies may live in different threads.
#ifndef MASKD_GRAMMAR_CORE_MATCHER_TOKEN_HISTORY_H_
#define MASKD_GRAMMAR_CORE_MATCHER_TOKEN_HISTORY_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

// The tokens of one sequence with the state behind each.
class TokenHistory {
 public:
  // Its owner's own: a RowStateId of a matcher, a state of a gate.
  using State = std::uint32_t;

  // No token, and the state before the first.
  explicit TokenHistory(State start) { Push(kNoToken, start); }

  // What the histories of this process hold beyond their tops.
  static std::int64_t LiveBytes();

  // The state behind the last token, or the start.
  [[nodiscard]] State state() const { return top_[static_cast<std::size_t>(top_count_ - 1)].state; }
  // Tokens.
  [[nodiscard]] int size() const { return below_count_ + top_count_ - 1; }
  // The last `count` tokens, or all where there are fewer; the last one comes last.
  [[nodiscard]] std::vector<TokenId> LastTokens(int count) const;

  // Adds a token and the state behind it.
  void Push(TokenId token, State state) {
    if (top_count_ == kTopPlaces) Spill();
    top_[static_cast<std::size_t>(top_count_++)] = {token, state};
  }

  // The states behind the last tokens, as far as they lie at the top, and behind each once more
  // what it is elsewhere. What lies below has no state from then on.
  [[nodiscard]] std::vector<State> TopStates() const;
  void PutTopStates(std::span<const State> states);
  // Whether there is a state after Pop(count).
  [[nodiscard]] bool HasStateAfterPop(int count) const { return size() - count >= first_state_; }

  // Takes the last `count` tokens away. Requires 0 <= count <= size().
  void Pop(int count) {
    for (; count >= top_count_; Refill()) count -= top_count_;
    top_count_ -= count;
  }

 private:
  // The top holds two chunks: moves to and fro across the end of one do not copy each time.
  static constexpr int kChunkPlaces = 30;  // 256 bytes, which is a size that allocators have
  static constexpr int kTopPlaces = 64;
  static_assert(kTopPlaces >= 2 * kChunkPlaces);

  // The start's token.
  static constexpr TokenId kNoToken = -1;

  struct Place {
    TokenId token;
    State state;  // behind it
  };
  struct Chunk;

  // One owner of a chunk.
  class ChunkRef {
   public:
    ChunkRef() = default;
    // Takes over the one count that a new chunk has.
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
    explicit operator bool() const { return chunk_ != nullptr; }

   private:
    Chunk* chunk_ = nullptr;
  };

  struct Chunk {
    Chunk();
    Chunk(const Chunk&) = delete;
    Chunk& operator=(const Chunk&) = delete;
    ~Chunk();

    std::atomic<std::uint32_t> owners = 1;
    ChunkRef below;
    std::array<Place, kChunkPlaces> places;
  };

  // Moves the lowest places of a full top to a chunk.
  void Spill();
  // Fills an empty top from the uppermost chunk, which must exist.
  void Refill();

  std::array<Place, kTopPlaces> top_ = {};  // in use: the first top_count_
  int top_count_ = 0;
  int below_count_ = 0;
  int first_state_ = 0;  // places before it have none
  ChunkRef below_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MATCHER_TOKEN_HISTORY_H_
