#include "grammar_core/matcher/state_history.h"

#include <algorithm>

namespace maskd {

StateHistory::ChunkRef::ChunkRef(const ChunkRef& other) : chunk_(other.chunk_) {
  if (chunk_ != nullptr) chunk_->owners.fetch_add(1, std::memory_order_relaxed);
}

StateHistory::ChunkRef::~ChunkRef() {
  while (chunk_ != nullptr && chunk_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Chunk* const below = std::exchange(chunk_->below.chunk_, nullptr);
    delete std::exchange(chunk_, below);
  }
}

void StateHistory::Spill() {
  auto* const chunk = new Chunk;
  chunk->below = std::move(below_);
  std::copy_n(top_.begin(), kChunkStates, chunk->states.begin());
  below_ = ChunkRef(chunk);
  below_count_ += kChunkStates;
  std::copy(top_.begin() + kChunkStates, top_.end(), top_.begin());
  top_count_ -= kChunkStates;
}

void StateHistory::Refill() {
  const ChunkRef chunk = std::move(below_);
  top_count_ = kChunkStates;
  below_count_ -= kChunkStates;
  std::copy_n((*chunk).states.begin(), kChunkStates, top_.begin());
  below_ = (*chunk).below;
}

}  // namespace maskd
