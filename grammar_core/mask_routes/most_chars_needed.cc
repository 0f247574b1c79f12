// A recursion over the few kinds of terms whose derivatives are plain to bound. Both figures are
// upper bounds: too large ones cost a walk, too small ones would allow tokens that lead nowhere.
#include "grammar_core/mask_routes/most_chars_needed.h"

#include <algorithm>
#include <cassert>

#include "grammar_core/base/saturating.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// A bound on how long the shortest string of a term's derivative is, over all derivatives, in
// characters; nothing where it is not plain to see. `*visits` is what may still be looked at.
struct Completion {
  std::uint32_t own;  // of the term itself
  std::uint32_t any;  // of any derivative, the term itself included
};

std::optional<Completion> CompletionOf(const TermStore& store, CharTerm id, int* visits) {
  // Terms share their parts, so a walk of them as a tree may be long: then nothing is said.
  if (--*visits < 0) return std::nullopt;
  const Term& term = store.term(id);
  switch (term.kind) {
    case TermKind::kEmpty:
      return Completion{0, 0};
    case TermKind::kCharSet:
      return Completion{1, 1};
    case TermKind::kText: {
      const std::uint32_t size = LengthOfRest(store, term);
      return Completion{size, size};
    }
    case TermKind::kTextSet: {
      std::uint32_t longest = 0;
      const auto [set, first, end, depth] = AsTextSet(term);
      for (std::uint32_t i = first; i < end; ++i)
        longest = std::max(longest, static_cast<std::uint32_t>(store.text_set(set)[i].size()));
      return Completion{longest, longest};
    }
    case TermKind::kCat: {
      // Within the head all of the tail is still to come.
      const auto head = CompletionOf(store, AsCat<CharTerm>(term).head, visits);
      const auto tail =
          head.has_value() ? CompletionOf(store, AsCat<CharTerm>(term).tail, visits) : std::nullopt;
      if (!tail.has_value()) return std::nullopt;
      return Completion{SaturatingAdd(head->own, tail->own),
                        std::max(SaturatingAdd(head->any, tail->own), tail->any)};
    }
    case TermKind::kAlt: {
      Completion all = {kNoEnd, 0};
      for (const CharTerm branch : BranchesOf<CharTerm>(store, term)) {
        const auto one = CompletionOf(store, branch, visits);
        if (!one.has_value()) return std::nullopt;
        all = {std::min(all.own, one->own), std::max(all.any, one->any)};
      }
      return all;
    }
    case TermKind::kRepeat: {
      const auto body = CompletionOf(store, AsRepeat<CharTerm>(term).body, visits);
      if (!body.has_value()) return std::nullopt;
      const std::uint32_t own = SaturatingMul(body->own, AsRepeat<CharTerm>(term).min);
      assert(body->any >= body->own && "a term is one of its own derivatives");
      return Completion{own, SaturatingAdd(body->any, own)};
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::uint32_t> MostCharsNeeded(const TermStore& store, CharTerm id) {
  constexpr int kMaxVisits = 500;
  int visits = kMaxVisits;
  const std::optional<Completion> completion = CompletionOf(store, id, &visits);
  return completion.has_value() ? std::optional(completion->any) : std::nullopt;
}

}  // namespace maskd
