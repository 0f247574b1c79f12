// A full top gives its oldest places to a chunk; an empty top takes it back as a copy, since
// another history may hold the chunk. So a chunk is written once, by the one that makes it.
#include "grammar_core/matcher/token_history.h"

#include <algorithm>
#include <cassert>
#include <span>

namespace maskd {
namespace {

std::atomic<std::int64_t> live_chunks = 0;

}  // namespace

TokenHistory::Chunk::Chunk() { live_chunks.fetch_add(1, std::memory_order_relaxed); }
TokenHistory::Chunk::~Chunk() { live_chunks.fetch_sub(1, std::memory_order_relaxed); }

std::int64_t TokenHistory::LiveBytes() {
  return live_chunks.load(std::memory_order_relaxed) * static_cast<std::int64_t>(sizeof(Chunk));
}

TokenHistory::ChunkRef::ChunkRef(const ChunkRef& other) : chunk_(other.chunk_) {
  if (chunk_ != nullptr) chunk_->owners.fetch_add(1, std::memory_order_relaxed);
}

TokenHistory::ChunkRef::~ChunkRef() {
  while (chunk_ != nullptr && chunk_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Chunk* const below = std::exchange(chunk_->below.chunk_, nullptr);
    delete std::exchange(chunk_, below);
  }
}

std::vector<TokenId> TokenHistory::LastTokens(int count) const {
  std::vector<TokenId> tokens;
  const int wanted = std::min(count, size());
  const auto append = [&](std::span<const Place> places) {
    for (auto place = places.rbegin();
         place != places.rend() && static_cast<int>(tokens.size()) < wanted; ++place) {
      tokens.push_back(place->token);
    }
  };
  append(std::span(top_).first(static_cast<std::size_t>(top_count_)));
  for (const ChunkRef* chunk = &below_; *chunk && static_cast<int>(tokens.size()) < wanted;
       chunk = &(**chunk).below) {
    append((**chunk).places);
  }
  std::ranges::reverse(tokens);
  return tokens;
}

std::vector<TokenHistory::State> TokenHistory::TopStates() const {
  std::vector<State> states;
  for (const Place& place : std::span(top_).first(static_cast<std::size_t>(top_count_)))
    states.push_back(place.state);
  return states;
}

void TokenHistory::PutTopStates(std::span<const State> states) {
  assert(static_cast<int>(states.size()) == top_count_ && "one for each of TopStates()");
  for (std::size_t i = 0; i < states.size(); ++i) top_[i].state = states[i];
  first_state_ = below_count_;
}

void TokenHistory::Spill() {
  assert(top_count_ == kTopPlaces && "only a full top spills");
  auto* const chunk = new Chunk;
  chunk->below = std::move(below_);
  std::copy_n(top_.begin(), kChunkPlaces, chunk->places.begin());
  below_ = ChunkRef(chunk);
  below_count_ += kChunkPlaces;
  std::copy(top_.begin() + kChunkPlaces, top_.end(), top_.begin());
  top_count_ -= kChunkPlaces;
}

void TokenHistory::Refill() {
  assert(below_ && below_count_ >= kChunkPlaces && "popped more tokens than there are");
  const ChunkRef chunk = std::move(below_);
  top_count_ = kChunkPlaces;
  below_count_ -= kChunkPlaces;
  std::copy_n((*chunk).places.begin(), kChunkPlaces, top_.begin());
  below_ = (*chunk).below;
}

}  // namespace maskd
