// Free text: any characters, but certain texts do not come. So stands prose before a trigger, and a
// value before the element that closes it.
//
// Which tokens it takes is plain: all that a text may begin with, less those that hold one of the
// texts. For behind any other token some character is left that no text has, so it can go on.
//
// Form     !(any . held . any | begun . any | any . last | last): it holds none of `held`, does not
//          begin with one of `begun`, which are rests of such, and does not end with `last`. An
//          intersection of such is one, too.
// Threads  plain functions; the store may grow meanwhile.
#ifndef MASKD_GRAMMAR_CORE_MASK_ROUTES_FREE_TEXT_H_
#define MASKD_GRAMMAR_CORE_MASK_ROUTES_FREE_TEXT_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

#include "grammar_core/terms/term.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

// What a free text does not have: terms of one text or several, none of which is empty.
struct AbsentTexts {
  std::vector<CharTerm> held;   // in it
  std::vector<CharTerm> begun;  // at its begin
  bool may_end = true;          // wherever it has none of these: nothing is said of its end
};

// Nothing for other terms, and where one of the texts ends with a character beyond ASCII: a token
// that ends within such a one might leave none to go on with.
std::optional<AbsentTexts> AbsentTextsOf(const TermStore& store, CharTerm characters);

// Calls visit(text), in UTF-8, for each text of such a term.
void VisitTexts(const TermStore& store, CharTerm texts,
                absl::FunctionRef<void(absl::string_view)> visit);

// Where in `token` the first text ends that does not come; its size and more where there is none.
std::size_t FirstEnd(const TermStore& store, const AbsentTexts& text, absl::string_view token);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_ROUTES_FREE_TEXT_H_
