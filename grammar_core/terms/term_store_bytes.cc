// What a store holds, in all and by kind.
#include <cstdint>
#include <vector>

#include "grammar_core/base/held_bytes.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

// Each step asks for the sum, so no list is made for it.
std::int64_t TermStore::held_bytes() const {
  return TermBytes() + LinkBytes() + ids_.held_bytes() + ListBytes() + SetBytes();
}

std::vector<HeldPart> TermStore::parts() const {
  return {{"terms", TermBytes()},
          {"links", LinkBytes()},
          {"table of terms", ids_.held_bytes()},
          {"lists of terms", ListBytes()},
          {"sets of bytes and texts, places", SetBytes()}};
}

std::int64_t TermStore::ListBytes() const { return lists_.held_bytes() + text_bytes_; }

std::int64_t TermStore::SetBytes() const {
  return placed_objects_.chunk_bytes() + own_byte_sets_.chunk_bytes() +
         own_text_sets_.chunk_bytes() + TableBytes(placed_ids_) + TableBytes(bytes_suffix_) +
         TableBytes(text_suffix_);
}

}  // namespace maskd
