// The keys that terms keep: those of terms whose key is not soon made from their parts' keys.
//
// Layout   a bit for each term, and the kept keys side by side: the place of a term's key is how
//          many terms before it have one.
// Threads  written under the automaton's lock; read without it for terms that were published.
#ifndef MASKD_GRAMMAR_CORE_TERMS_TERM_KEYS_H_
#define MASKD_GRAMMAR_CORE_TERMS_TERM_KEYS_H_

#include <atomic>
#include <bit>
#include <cassert>
#include <cstdint>

#include "grammar_core/base/hash128.h"
#include "grammar_core/base/stable_vector.h"

namespace maskd {

// By the numbers of terms, which are added in their order.
class TermKeys {
 public:
  // The next term keeps this key, or none.
  void Append(const Hash96& key) {
    AppendTerm(true);
    keys_.Append() = key;
  }
  void AppendWithout() { AppendTerm(false); }

  [[nodiscard]] bool Has(std::uint32_t term) const {
    return (BitsOf(term) >> (term % kBits) & 1) != 0;
  }
  // Requires Has().
  [[nodiscard]] const Hash96& At(std::uint32_t term) const {
    assert(Has(term));
    const std::uint64_t before = BitsOf(term) & ((std::uint64_t{1} << (term % kBits)) - 1);
    return keys_[blocks_[term / kBits].before + static_cast<std::uint32_t>(std::popcount(before))];
  }

  [[nodiscard]] std::int64_t chunk_bytes() const {
    return keys_.chunk_bytes() + blocks_.chunk_bytes();
  }

 private:
  static constexpr std::uint32_t kBits = 64;  // of a block
  struct Block {
    std::atomic<std::uint64_t> bits = 0;  // those of terms that were published do not change
    std::uint32_t before = 0;             // keys of the blocks before
  };

  [[nodiscard]] std::uint64_t BitsOf(std::uint32_t term) const {
    return blocks_[term / kBits].bits.load(std::memory_order_relaxed);
  }
  void AppendTerm(bool has_key) {
    const std::uint32_t place = size_++ % kBits;
    if (place == 0) blocks_.Append().before = keys_.size();
    std::atomic<std::uint64_t>& bits = blocks_[(size_ - 1) / kBits].bits;
    const std::uint64_t added = std::uint64_t{has_key} << place;
    bits.store(bits.load(std::memory_order_relaxed) | added, std::memory_order_relaxed);
  }

  StableVector<Hash96, 3, 7> keys_;
  StableVector<Block, 2, 4> blocks_;
  std::uint32_t size_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_TERM_KEYS_H_
