// A mask that is put together from a few words: those in which it differs from a stored mask, from
// no token or from all. Most new masks are a known one and some tokens more or less. So neither all
// of their words are written, nor hashed, counted or compared.
//
//   std::optional<SparseMask> mask = SparseMask::Of({masks, removed, ids}, vocab_size);
//   if (mask.has_value()) stored = mask->Store();
//
// Invariant  it is the mask that the parts written out are, and its hash is that of all its words.
// Threads    a plain value; each thread has its words to put masks together in.
#ifndef MASKD_GRAMMAR_CORE_MASK_SPARSE_MASK_H_
#define MASKD_GRAMMAR_CORE_MASK_SPARSE_MASK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "grammar_core/mask/token_mask.h"

namespace maskd {

// Made of parts; then looked for by its hash, and stored where it is new.
class SparseMask {
 public:
  // (`masks` without the tokens `removed`), and the tokens `ids`; the masks are stored ones.
  struct Parts {
    std::span<const MaskRef> masks;
    std::span<const TokenId> removed;
    std::span<const TokenId> ids;
  };
  // Nothing where the mask differs in too many words from what it would be kept as, or has parts
  // that differ from two large masks.
  static std::optional<SparseMask> Of(const Parts& parts, int vocab_size);

  // As HashWords() of all words.
  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  // Whether a stored mask is the same set of tokens.
  [[nodiscard]] bool Equals(const TokenMask& stored) const;
  // As a stored mask, which is compact. Leaves this empty.
  MaskRef Store();

 private:
  class Scratch;

  explicit SparseMask(int vocab_size) : mask_(vocab_size, nullptr) {}

  // Takes over the words of `scratch` that differ; false for too many.
  bool Take(const Scratch& scratch);
  void AddToHash(std::size_t begin, std::size_t end);

  TokenMask mask_;  // but for its words
  TokenMask::Differences words_;
  std::uint64_t hash_ = 0;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_SPARSE_MASK_H_
