// Of `(\S+\s+){0,93}` the term with fewer texts is `(\S+\s+){0,6}` and the one with more is
// `(\S+\s+){0,}`. With 92 rounds left both are the same two terms, so one pair serves all the
// states of a long count.
//
// Invariant  Cat, Alt, And and Repeat grow with their parts, so to change counts within them gives
//            a bound; Not does the opposite, and is left as it is.
#include "grammar_core/automaton/count_bounds.h"

#include <cassert>
#include <vector>

#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// Tokens hold few repeats of anything longer than a character, and few hold more characters.
constexpr std::uint32_t kRoom = 6;
constexpr std::uint32_t kCharRoom = 24;
constexpr int kMaxVisits = 200;

class Rewriter {
 public:
  Rewriter(TermStore* store, bool more) : store_(store), more_(more) {}

  CharTerm Rewrite(CharTerm id) {
    if (--visits_left_ < 0) return id;
    const Term& term = store_->term(id);
    switch (term.kind) {
      case TermKind::kCat: {
        const CharTerm head = Rewrite(AsCat<CharTerm>(term).head);
        return store_->Cat(head, Rewrite(AsCat<CharTerm>(term).tail));
      }
      case TermKind::kAlt:
        return store_->Alt(RewriteBranches(term));
      case TermKind::kAnd:
        return store_->And(RewriteBranches(term));
      case TermKind::kRepeat:
        return store_->Repeat(Rewrite(AsRepeat<CharTerm>(term).body), AsRepeat<CharTerm>(term).min,
                              BoundOf(term));
      default:
        return id;
    }
  }

  // Whether it saw all of the term, and counts to change.
  [[nodiscard]] bool Succeeded() const { return visits_left_ >= 0 && found_; }

 private:
  std::vector<CharTerm> RewriteBranches(const Term& term) {
    const auto old = BranchesOf<CharTerm>(*store_, term);
    std::vector<CharTerm> terms(old.begin(), old.end());
    for (CharTerm& branch : terms) branch = Rewrite(branch);
    return terms;
  }

  // Where nothing but single characters is counted, a walk meets few states.
  std::uint32_t BoundOf(const Term& repeat) {
    const auto [body, min, max] = AsRepeat<CharTerm>(repeat);
    assert(min <= max);
    const bool is_of_chars = store_->term(body).kind == TermKind::kCharSet;
    const std::uint32_t room = is_of_chars ? kCharRoom : kRoom;
    if (max == kUnbounded || max - min <= room) return max;
    found_ = found_ || !is_of_chars;
    return more_ ? kUnbounded : min + room;
  }

  TermStore* const store_;
  const bool more_;
  bool found_ = false;
  int visits_left_ = kMaxVisits;
};

}  // namespace

// Both rewriters visit the same terms, so where the first one has seen all, the second one does
// too.
std::optional<CountBounds> BoundCounts(TermStore* store, CharTerm characters) {
  Rewriter more(store, /*more=*/true);
  const CharTerm lifted = more.Rewrite(characters);
  if (!more.Succeeded()) return std::nullopt;
  return CountBounds{Rewriter(store, /*more=*/false).Rewrite(characters), lifted};
}

}  // namespace maskd
