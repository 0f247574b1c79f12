// A vocabulary made ready for masks: the vocabulary, its index and the store of masks that all
// grammars compiled against it share. One per loaded tokenizer; lives as long as any grammar of it.
//
// Cost     building takes tens of milliseconds and some 20 bytes a token.
// Threads  internally synchronised.
#ifndef MASKD_GRAMMAR_CORE_COMPILE_TOKENIZER_SPACE_H_
#define MASKD_GRAMMAR_CORE_COMPILE_TOKENIZER_SPACE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "grammar_core/frontend/read_context.h"
#include "grammar_core/tokenizer/vocabulary.h"

namespace maskd {

class CanonicalEncoder;
class MarkerTable;
class MaskStore;
class SchemaStore;
class TokenIndex;
struct PunctuationToken;

// A vocabulary with all that grammars over it share.
class TokenizerSpace {
 public:
  // Bounds of what it may keep.
  struct Options {
    // Bytes of stored masks kept beyond those that open grammars hold.
    std::int64_t mask_store_bytes = 256 << 20;
    // Bytes of the schemas of tools that are kept read.
    std::int64_t schema_store_bytes = 32 << 20;
  };

  // Builds the index of `vocabulary`, once for all grammars over it.
  static std::shared_ptr<TokenizerSpace> Create(std::shared_ptr<const Vocabulary> vocabulary,
                                                const Options& options);
  static std::shared_ptr<TokenizerSpace> Create(std::shared_ptr<const Vocabulary> vocabulary) {
    return Create(std::move(vocabulary), Options());
  }
  ~TokenizerSpace();

  // Its parts, which live as long as it does. The stores alone change, and have their own locks.
  [[nodiscard]] const Vocabulary& vocabulary() const { return *vocabulary_; }
  [[nodiscard]] const TokenIndex& index() const { return *index_; }
  [[nodiscard]] const MarkerTable& markers() const { return *markers_; }
  [[nodiscard]] MaskStore& masks() const { return *masks_; }
  [[nodiscard]] SchemaStore& schemas() const { return *schemas_; }
  // Those that a front end may use.
  [[nodiscard]] ReadContext read_context() const {
    return {.markers = markers_.get(), .schemas = schemas_.get()};
  }
  [[nodiscard]] const std::vector<PunctuationToken>& punctuation() const { return punctuation_; }
  // Of vocabulary, index and punctuation, roughly; stats() of the stores has theirs.
  [[nodiscard]] std::int64_t held_bytes() const { return held_bytes_; }
  // Made when first asked for; null where the vocabulary's file does not say how texts are cut.
  [[nodiscard]] const CanonicalEncoder* canonical_encoder() const;

 private:
  TokenizerSpace() = default;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::unique_ptr<const TokenIndex> index_;
  std::unique_ptr<const MarkerTable> markers_;
  std::unique_ptr<MaskStore> masks_;
  std::unique_ptr<SchemaStore> schemas_;
  std::vector<PunctuationToken> punctuation_;
  std::int64_t held_bytes_ = 0;
  mutable std::once_flag encoder_once_;
  mutable std::unique_ptr<const CanonicalEncoder> encoder_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_COMPILE_TOKENIZER_SPACE_H_
