// Which byte classes a state may take, by the form of its term: a superset, cheap to tell, so that
// the classes outside of it need no derivative.
//
// Threads  the automaton's lock.
#ifndef MASKD_GRAMMAR_CORE_DERIVATIVES_FIRST_CLASSES_H_
#define MASKD_GRAMMAR_CORE_DERIVATIVES_FIRST_CLASSES_H_

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "grammar_core/base/held_bytes.h"
#include "grammar_core/derivatives/byte_classes.h"
#include "grammar_core/derivatives/class_sets.h"
#include "grammar_core/terms/lowering.h"
#include "grammar_core/terms/state_ways.h"
#include "grammar_core/terms/term_store.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {

// The first classes of one automaton's states; those of calls and choices are kept.
class FirstClasses {
 public:
  using Set = ClassSet;

  // All must outlive this.
  FirstClasses(const TermStore* store, Lowering* lowering, const ByteClasses* classes);

  // Whether Of() would not tell much: inside of a string.
  [[nodiscard]] bool TakesMost(TermId id) const {
    const Term& cell = store_->term(store_->PartsOf(id).cell);
    return cell.kind == TermKind::kEncode && AsEncode(cell).partial.phase == CharPhase::kStart;
  }

  // Recursion is bounded by Limits::derivative_depth, as that of a derivative is.
  Set Of(TermId id);

  // Where such sets are kept, each once.
  ClassSets& sets() { return sets_; }

  // Bytes of the sets that are kept.
  [[nodiscard]] std::int64_t held_bytes() const {
    return HeldBytes(byte_sets_) + TableBytes(known_) + sets_.held_bytes();
  }

 private:
  const Set& OfByteSet(std::uint32_t index);
  [[nodiscard]] Set OfObject(const Term& term) const;
  Set OfCat(TermId id);
  Set OfEncode(const Term& term) const;
  [[nodiscard]] Set Each(absl::string_view bytes) const;
  [[nodiscard]] Set Each(std::initializer_list<char> bytes) const {
    return Each(absl::string_view(bytes.begin(), bytes.size()));
  }
  [[nodiscard]] Set Range(int lo, int hi) const;

  const TermStore* store_;
  Lowering* lowering_;
  const ByteClasses* classes_;
  const Set any_byte_;
  const Set in_json_string_;
  std::vector<Set> byte_sets_;  // by index, made when first met
  ClassSets sets_;
  // Of calls and choices, which others share: numbers of sets.
  absl::flat_hash_map<TermId, std::uint32_t> known_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_DERIVATIVES_FIRST_CLASSES_H_
