// The next names of several objects, of which the text may be any, as one list. What follows a name
// depends on which of the objects have it: once the name is told that is one state, of the objects
// that have it, where states of half a name would be of them all.
//
// Errors   by Work.
// Threads  one use each; the automaton is shared.
#ifndef MASKD_GRAMMAR_CORE_MASK_ROUTES_JOINED_NAMES_H_
#define MASKD_GRAMMAR_CORE_MASK_ROUTES_JOINED_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar_core/base/work.h"
#include "grammar_core/terms/term.h"
#include "grammar_core/terms/text_walk.h"

namespace maskd {

class Automaton;

// Any name but the declared ones, and what follows it, which begins with its quote.
struct OtherNames {
  CharTerm any = kNothingTerm;
  TextList declared = {};
  TermId tail = kNothingTerm;
};

// The names that may come next in any of several objects, and what follows each.
class JoinedNames {
 public:
  // Both must outlive this.
  JoinedNames(Automaton* automaton, Work* work) : automaton_(automaton), work_(work) {}

  // Adds the names of a cell (see TermStore::IsNames) before `tail`, or other names. False, with
  // nothing added, where they cannot be read beside those added before.
  bool Add(TermId cell, TermId tail);
  bool Add(OtherNames others);

  // Objects and others that were added.
  [[nodiscard]] std::size_t count() const { return named_.size() + others_.size(); }

  // All names, of an object or taken out of the others of one, to be walked along.
  TextList Texts();
  // The state behind the whole of Texts().texts[text], before its quote.
  TermId EndOf(std::uint32_t text);
  // The object, if it is only one, that a whole name is of.
  struct Owner {
    TermId cell;
    TermId tail;
    std::uint32_t name;  // its number among the object's
  };
  [[nodiscard]] std::optional<Owner> OnlyOwner(std::uint32_t text) const;
  // The others of all, less what any of them has taken out.
  [[nodiscard]] std::optional<OtherNames> Others();

 private:
  struct Named {
    TermId cell;
    TermId tail;
  };
  struct Name {
    const std::u32string* text = nullptr;
    // Objects, each with the number of the name among its own.
    std::vector<std::pair<std::size_t, std::uint32_t>> of = {};
    // The others that it is taken out of.
    std::vector<std::size_t> not_of = {};
  };

  [[nodiscard]] bool Fits(const TextList& list) const;
  Name& NameOf(const std::u32string* text);

  Automaton* const automaton_;
  Work* const work_;
  std::vector<Named> named_;
  std::vector<OtherNames> others_;
  std::uint32_t depth_ = 0;                    // characters of all names that are read
  Spelling spelling_ = Spelling::kJsonString;  // of all names
  std::map<std::u32string_view, Name> names_;
  std::vector<const Name*> by_text_;  // after Texts()
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_MASK_ROUTES_JOINED_NAMES_H_
