// Names become sets of token ids once a grammar and a vocabulary; what a state takes by name is
// read off its first cells, without a table of transitions: few states name a token.
//
// Invariant  a set that is kept is not empty and holds only ids of the vocabulary.
// Cost       a mask of the vocabulary for each set; a step by name is derived each time, and no
//            table keeps it.
#include "grammar_core/derivatives/named_tokens.h"

#include <cassert>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// A set of more tokens is added to a mask as words.
constexpr int kFewTokens = 32;

// The ordinary tokens that grammars name by their bytes.
// One pass over the vocabulary for all names, and none where no name is asked for. Several tokens
// may have the same bytes: all of them are meant.
class OrdinaryNames {
 public:
  OrdinaryNames(const GrammarIr& ir, const Vocabulary& vocabulary) {
    for (const TokenSpec& spec : ir.token_specs) {
      if (!spec.any_name) continue;
      for (const std::string& name : spec.names) ids_.try_emplace(name);
    }
    if (ids_.empty()) return;
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      if (vocabulary.IsSpecial(id)) continue;
      if (const auto named = ids_.find(vocabulary.TokenBytes(id)); named != ids_.end())
        named->second.push_back(id);
    }
  }

  // None where no token has the name.
  [[nodiscard]] std::vector<TokenId> Of(absl::string_view name) const {
    const auto named = ids_.find(name);
    return named == ids_.end() ? std::vector<TokenId>() : named->second;
  }

 private:
  absl::flat_hash_map<std::string, std::vector<TokenId>> ids_;
};

absl::Status AddNames(const TokenSpec& spec, const Vocabulary& vocabulary,
                      const OrdinaryNames& ordinary, TokenMask* set) {
  for (const std::string& name : spec.names) {
    std::vector<TokenId> ids = {vocabulary.FindSpecial(name)};
    if (ids.front() < 0 && spec.any_name) ids = ordinary.Of(name);
    if (ids.empty() || ids.front() < 0) {
      return InvalidAt(spec.place,
                       absl::StrCat("the vocabulary ", vocabulary.name(), " has no ",
                                    spec.any_name ? "" : "special ", "token \"", name, "\""));
    }
    for (const TokenId id : ids) set->Allow(id);
  }
  return absl::OkStatus();
}

absl::Status AddIds(const TokenSpec& spec, const Vocabulary& vocabulary, TokenMask* set) {
  for (const auto& [first, last] : spec.ids) {
    if (first > last || last >= static_cast<std::uint32_t>(vocabulary.size())) {
      return InvalidAt(spec.place, absl::StrCat("token ids ", first, " to ", last,
                                                " are not in [0, ", vocabulary.size(), ")"));
    }
    for (std::uint32_t id = first; id <= last; ++id) set->Allow(static_cast<TokenId>(id));
  }
  return absl::OkStatus();
}

// The complement in the vocabulary. Tokens that end a text are never meant by "any other token".
TokenMask AllBut(const TokenMask& set, const Vocabulary& vocabulary) {
  TokenMask rest(vocabulary.size());
  for (TokenId id = 0; id < vocabulary.size(); ++id)
    if (!set.Allows(id)) rest.Allow(id);
  for (const TokenId id : vocabulary.stop_ids()) rest.Forbid(id);
  return rest;
}

// Parts `groups`, which are disjoint, at the border of `set`, and adds what no group has.
// Groups {1,2,3} at the set {2,3,4} become {1}, {2,3} and {4}. Done for all sets, two tokens are in
// one group exactly when they are in the same sets (partition refinement).
void Split(const TokenMask& set, std::vector<TokenMask>* groups) {
  const auto word_count = set.words().size();
  assert(std::ranges::all_of(
      *groups, [&](const TokenMask& group) { return group.words().size() == word_count; }));
  TokenMask rest = set;
  const std::size_t before = groups->size();
  for (std::size_t i = 0; i < before; ++i) {
    TokenMask inside(set.vocab_size());
    TokenMask& outside = (*groups)[i];
    for (std::size_t w = 0; w < word_count; ++w) {
      inside.mutable_words()[w] = outside.words()[w] & set.words()[w];
      outside.mutable_words()[w] &= ~set.words()[w];
      rest.mutable_words()[w] &= ~inside.words()[w];
    }
    if (outside.empty())
      outside = std::move(inside);
    else if (!inside.empty())
      groups->push_back(std::move(inside));
  }
  if (!rest.empty()) groups->push_back(std::move(rest));
}

// One step by one token, over the terms that a derivative would descend into.
class TokenStep {
 public:
  TokenStep(TokenId id, const std::vector<TokenMask>& sets, TermStore* store, Lowering* lowering)
      : id_(id), sets_(sets), store_(store), lowering_(lowering) {}

  // Recursion is bounded by Limits::derivative_depth, as that of ByteDerivative is.
  TermId Of(TermId id) {
    if (const auto known = known_.find(id); known != known_.end()) return known->second;
    const TermId next = Derive(id);
    known_[id] = next;
    return next;
  }

 private:
  TermId Derive(TermId id) {
    const Term& term = store_->term(id);
    switch (term.kind) {
      case TermKind::kTokens:
        assert(TokensOf(term) < sets_.size());
        return sets_[TokensOf(term)].Allows(id_) ? kEmptyTerm : kNothingTerm;
      case TermKind::kCat: {
        const auto [head, tail] = AsCat(term);
        const TermId first = store_->Cat(Of(head), tail);
        return store_->term(head).nullable ? store_->Alt(first, Of(tail)) : first;
      }
      case TermKind::kAlt: {
        std::vector<TermId> branches;
        for (const TermId branch : BranchesOf(*store_, term)) branches.push_back(Of(branch));
        return store_->Alt(std::move(branches));
      }
      case TermKind::kLimited:
        return store_->Limited(Of(AsLimited(term).text),
                               {.left = AsLimited(term).tokens_left, .touched = true});
      case TermKind::kRepeat: {
        const TermId first = Of(AsRepeat(term).body);
        return first == kNothingTerm ? kNothingTerm
                                     : store_->Cat(first, store_->AfterOne<TermId>(term));
      }
      case TermKind::kCall:
        return Of(lowering_->RuleBody(term));
      default:
        return kNothingTerm;  // takes bytes
    }
  }

  const TokenId id_;
  const std::vector<TokenMask>& sets_;
  TermStore* store_;
  Lowering* lowering_;
  absl::flat_hash_map<TermId, TermId> known_;
};

}  // namespace

NamedTokens::NamedTokens(std::vector<TokenMask> sets) : sets_(std::move(sets)) {
  for (const TokenMask& set : sets_) {
    few_.emplace_back();
    if (set.CountAllowed() <= kFewTokens)
      set.VisitAllowed([&](TokenId id) { few_.back().push_back(id); });
  }
}

// A set is charged by the size of the vocabulary, as a negated one looks at every token.
absl::StatusOr<NamedTokens> NamedTokens::Resolve(const GrammarIr& ir, const Vocabulary& vocabulary,
                                                 Budget& budget) {
  constexpr std::int64_t kTokensPerUnit = 256;
  const OrdinaryNames ordinary(ir, vocabulary);
  std::vector<TokenMask> sets;
  for (const TokenSpec& spec : ir.token_specs) {
    const std::int64_t units = 1 + vocabulary.size() / kTokensPerUnit;
    if (absl::Status status = budget.Spend(units); !status.ok()) return status;
    TokenMask set(vocabulary.size());
    if (absl::Status status = AddNames(spec, vocabulary, ordinary, &set); !status.ok())
      return status;
    if (absl::Status status = AddIds(spec, vocabulary, &set); !status.ok()) return status;
    if (spec.negated) set = AllBut(set, vocabulary);
    if (set.empty()) return InvalidAt(spec.place, "the set holds no token of the vocabulary");
    sets.push_back(std::move(set));
  }
  return NamedTokens(std::move(sets));
}

// A term is looked at once, so this ends although rules call each other. Only terms that a text may
// begin with are visited: a tail only where its head may be empty.
template <typename Visit>
void NamedTokens::VisitSets(TermId state, const TermStore& store, Lowering* lowering, Visit visit) {
  absl::flat_hash_set<TermId> seen = {state};
  std::vector<TermId> open = {state};
  const auto push = [&](TermId id) {
    if (seen.insert(id).second) open.push_back(id);
  };
  while (!open.empty()) {
    const Term& term = store.term(open.back());
    open.pop_back();
    switch (term.kind) {
      case TermKind::kTokens:
        visit(TokensOf(term));
        break;
      case TermKind::kCat:
        push(AsCat(term).head);
        if (store.term(AsCat(term).head).nullable) push(AsCat(term).tail);
        break;
      case TermKind::kAlt:
        for (const TermId branch : BranchesOf(store, term)) push(branch);
        break;
      case TermKind::kRepeat:
        push(AsRepeat(term).body);
        break;
      case TermKind::kLimited:
        push(AsLimited(term).text);
        break;
      case TermKind::kCall:
        push(lowering->RuleBody(term));
        break;
      default:
        break;  // takes bytes
    }
  }
}

void NamedTokens::AddTo(TermId state, const TermStore& store, Lowering* lowering,
                        TokenMask* mask) const {
  VisitSets(state, store, lowering, [&](std::uint32_t set) { mask->Merge(sets_[set]); });
}

void NamedTokens::AddTo(TermId state, const TermStore& store, Lowering* lowering,
                        MaskBuilder* mask) const {
  VisitSets(state, store, lowering, [&](std::uint32_t set) {
    for (const TokenId id : few_[set]) mask->Allow(id);
    if (few_[set].empty()) mask->ToWords().Merge(sets_[set]);
  });
}

TermId NamedTokens::Behind(TermId state, TokenId id, TermStore* store, Lowering* lowering) const {
  return TokenStep(id, sets_, store, lowering).Of(state);
}

// A derivative depends on which sets a token is in and on nothing else of it, so one token is
// stepped for each group.
std::vector<NamedTokens::Step> NamedTokens::Steps(TermId state, TermStore* store,
                                                  Lowering* lowering) const {
  std::vector<TokenMask> groups;
  VisitSets(state, *store, lowering, [&](std::uint32_t set) { Split(sets_[set], &groups); });
  std::vector<Step> steps;
  for (TokenMask& group : groups) {
    TokenId first = 0;
    group.VisitAllowedWhile([&](TokenId id) {
      first = id;
      return false;
    });
    if (const TermId next = Behind(state, first, store, lowering); next != kNothingTerm)
      steps.push_back({std::move(group), next});
  }
  return steps;
}

}  // namespace maskd
