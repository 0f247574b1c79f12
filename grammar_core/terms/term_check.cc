// Apart from the macro, so that a term is printed only where a check has already failed.
#include "grammar_core/terms/term_check.h"

#include <cstdio>
#include <cstdlib>

#include "grammar_core/terms/term_printer.h"

namespace maskd {

void FailTermCheck(const char* file, int line, const char* condition, const TermStore& store,
                   AnyTerm id) {
  std::fprintf(stderr, "%s:%d: %s does not hold for term %u: %s\n", file, line, condition,
               id.value(), PrintTerm(store, id).c_str());
  std::abort();
}

}  // namespace maskd
