// An invariant about one term: where it does not hold, the program says which term it was.
//
//   MASKD_DCHECK_TERM(store, id, store.term(id).kind != TermKind::kCat);
//
// Cost     none where NDEBUG is set: neither `id` nor the condition is evaluated.
// Source   Debian's Abseil has no absl/log/check.h, and assert() takes no message of run time.
#ifndef MASKD_GRAMMAR_CORE_TERMS_TERM_CHECK_H_
#define MASKD_GRAMMAR_CORE_TERMS_TERM_CHECK_H_

#include "grammar_core/terms/term_store.h"

namespace maskd {

// Prints the place, the condition and the term to standard error, and aborts.
[[noreturn]] void FailTermCheck(const char* file, int line, const char* condition,
                                const TermStore& store, AnyTerm id);

}  // namespace maskd

#ifdef NDEBUG
#define MASKD_TERM_CHECKS 0
#else
#define MASKD_TERM_CHECKS 1
#endif

#define MASKD_DCHECK_TERM(store, id, condition)                                              \
  do {                                                                                       \
    if (MASKD_TERM_CHECKS && !(condition)) {                                                 \
      ::maskd::FailTermCheck(__FILE__, __LINE__, #condition, (store), ::maskd::AnyTerm(id)); \
    }                                                                                        \
  } while (false)

#endif  // MASKD_GRAMMAR_CORE_TERMS_TERM_CHECK_H_
