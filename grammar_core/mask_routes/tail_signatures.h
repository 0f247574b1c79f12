// What a state may take right behind a certain byte, as one number.
//
// An object ends by a brace, an array by a bracket, a string by a quote. What follows such an end
// is met by a token only with what it holds after that byte, and all that tokens hold after a
// brace, a bracket or a quote are some hundred texts. So the mask of a state depends on its cells
// up to the end of the first of these, and on which of those texts the rest of the output takes:
// its signature. Stacks that differ, but go on alike, share their masks. A signature depends on the
// few cells that those texts read; the store keeps it under their keys, so that a text that nests
// however deep meets few new ones.
//
// Threads  no state.
#ifndef MASKD_GRAMMAR_CORE_MASK_ROUTES_TAIL_SIGNATURES_H_
#define MASKD_GRAMMAR_CORE_MASK_ROUTES_TAIL_SIGNATURES_H_

#include <cstdint>
#include <optional>

#include "grammar_core/base/hash128.h"
#include "grammar_core/base/work.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

class Automaton;

// Keys by which states that no token tells apart share a mask.
class TailSignatures {
 public:
  // All must outlive this.
  TailSignatures(Automaton* automaton, const TermStore* store, MaskStore* masks)
      : automaton_(automaton), store_(store), masks_(masks) {}

  // Equal keys have equal masks. Nothing for a state without an end near enough, or when `work`
  // failed. `floor`: the cells of the state, counted from its far end, that the mask does not
  // depend on.
  struct StateKey {
    Hash128 key;
    std::uint32_t floor;
  };
  // One look-up in the store where the tail was met before, else a walk.
  std::optional<StateKey> KeyOf(TermId state, Work& work);

 private:
  struct Signature {
    Hash128 texts;
    std::uint32_t floor;
  };

  // The byte that every text of a cell ends by, a brace, a bracket or a quote; or 0.
  [[nodiscard]] unsigned char LastByte(TermId cell) const;
  [[nodiscard]] unsigned char LastByteOfSpine(TermId spine) const;
  // Whether it is a string of any length, all of whose characters are of one set.
  [[nodiscard]] bool IsAnyString(TermId cell) const;
  // `may_pass`: whether a string at the begin of the tail may be passed over.
  std::optional<StateKey> KeyOf(TermId state, Work& work, bool may_pass);
  std::optional<Signature> SignatureOf(TermId tail, unsigned char last, Work& work, bool may_pass);
  std::optional<Signature> MakeSignature(TermId tail, unsigned char last, Work& work);

  Automaton* automaton_;
  const TermStore* store_;
  MaskStore* masks_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_ROUTES_TAIL_SIGNATURES_H_
