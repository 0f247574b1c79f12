// Terms in failed assertions: as text while a store is known, else as their number.
//
//   ShownTerms shown(&store);
//   EXPECT_EQ(behind, other);  // prints b[0-9]{1,3} and not 4-byte object <05-00 00-00>
//
// EngineParts and SmallGrammar have one, so a test that uses them says nothing of it. Of several
// stores the one that was told last counts: a term of another prints as it would be in that one.
// Threads  a thread has its own.
#ifndef MASKD_TESTS_ROOMS_SHOWN_TERMS_H_
#define MASKD_TESTS_ROOMS_SHOWN_TERMS_H_

#include <ostream>
#include <vector>

#include "grammar_core/base/strong_id.h"
#include "grammar_core/terms/term_printer.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

class ShownTerms {
 public:
  // `store` must outlive this.
  explicit ShownTerms(const TermStore* store) : store_(store) { Stores().push_back(store); }
  ~ShownTerms() { std::erase(Stores(), store_); }
  ShownTerms(const ShownTerms&) = delete;
  ShownTerms& operator=(const ShownTerms&) = delete;

  // Null where there is none.
  static const TermStore* Store() { return Stores().empty() ? nullptr : Stores().back(); }

 private:
  static std::vector<const TermStore*>& Stores() {
    thread_local std::vector<const TermStore*> stores;
    return stores;
  }

  const TermStore* const store_;
};

// What GoogleTest prints.
template <typename Tag>
void PrintTo(StrongId<Tag> id, std::ostream* out) {
  if constexpr (requires(const TermStore& store) { PrintTerm(store, id); }) {
    if (const TermStore* const store = ShownTerms::Store(); store != nullptr) {
      *out << PrintTerm(*store, id);
      return;
    }
  }
  *out << id.value();
}

inline void PrintTo(NamedTerm id, std::ostream* out) { PrintTo(TermId(id), out); }

}  // namespace maskd

#endif  // MASKD_TESTS_ROOMS_SHOWN_TERMS_H_
