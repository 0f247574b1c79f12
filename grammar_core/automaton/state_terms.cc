// What is new is made under the automaton's lock, which makes each term once; what only reads the
// terms of a state that is known takes none.
//
// Bounds  the text before named tokens is looked for in so many terms within terms and branches;
//         what is not looked at is left as it is, which is as right.
#include "grammar_core/automaton/state_terms.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "grammar_core/base/sort_unique.h"
#include "grammar_core/terms/encoding.h"
#include "grammar_core/terms/term_check.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

// What of a term bytes alone can read. Two things are asked of it: which bytes lead on (`begins`:
// any beginning of a text), and which are all of its text (`whole`). Both are terms; a term that is
// left as it is says the same by itself, as no byte leads through a token that is named. So it is
// right to stop anywhere.
class NamelessText {
 public:
  NamelessText(TermStore* store, Lowering* lowering) : store_(*store), lowering_(*lowering) {}

  // `state` itself where its first cell has no named token: what follows is met when it comes.
  TermId Of(TermId state) {
    const auto [cell, tail] = store_.PartsOf(state);
    const Part first = PartOf(cell, 1);
    if (first.whole == cell) return state;
    return tail == kEmptyTerm ? first.begins : Joined(state, cell, first, tail, 0).begins;
  }

 private:
  // Terms within terms, and branches of all choices, that are looked at.
  static constexpr int kMaxDepth = 12;
  static constexpr int kMaxBranches = 4096;

  struct Part {
    TermId begins;
    TermId whole;
  };

  // NOLINTNEXTLINE(misc-no-recursion): at most kMaxDepth deep
  Part PartOf(TermId id, int depth) {
    const Term term = store_.term(id);
    if (depth == kMaxDepth) return {id, id};
    switch (term.kind) {
      case TermKind::kTokens:
        return {kEmptyTerm, kNothingTerm};
      case TermKind::kCall: {
        const TermId body = lowering_.RuleBody(term);
        const Part part = PartOf(body, depth + 1);
        return part.whole == body ? Part{id, id} : part;
      }
      case TermKind::kAlt:
        return OfChoice(id, depth);
      case TermKind::kCat:
        return OfSequence(id, depth);
      case TermKind::kRepeat: {
        const auto [body, min, max] = AsRepeat(term);
        // Bytes may pass a part of the body, and how often is not kept: then it counts as a whole.
        const Part part = PartOf(body, depth + 1);
        if (part.whole != kNothingTerm) return {id, id};
        return {part.begins, min == 0 ? kEmptyTerm : kNothingTerm};
      }
      default:
        return {id, id};
    }
  }

  // NOLINTNEXTLINE(misc-no-recursion): see PartOf()
  Part OfChoice(TermId id, int depth) {
    std::vector<TermId> begins;
    std::vector<TermId> wholes;
    bool is_same = true;
    const auto list = BranchesOf(store_, store_.term(id));
    const std::vector<TermId> branches(list.begin(), list.end());
    if ((branches_ += static_cast<int>(branches.size())) > kMaxBranches) return {id, id};
    for (const TermId branch : branches) {
      const Part part = PartOf(branch, depth + 1);
      is_same = is_same && part.whole == branch;
      begins.push_back(part.begins);
      wholes.push_back(part.whole);
    }
    if (is_same) return {id, id};
    return {AnyBeginning(std::move(begins)), store_.Alt(wholes)};
  }

  // NOLINTNEXTLINE(misc-no-recursion): see PartOf()
  Part OfSequence(TermId id, int depth) {
    const auto [head, tail] = AsCat(store_.term(id));
    MASKD_DCHECK_TERM(store_, id, store_.term(head).kind != TermKind::kCat);  // one cell
    return Joined(id, head, PartOf(head, depth + 1), tail, depth);
  }

  // The part of `id`, which is `head`, whose part is `first`, before `tail`.
  // NOLINTNEXTLINE(misc-no-recursion): see PartOf()
  Part Joined(TermId id, TermId head, const Part& first, TermId tail, int depth) {
    if (first.whole == kNothingTerm) return {first.begins, kNothingTerm};
    const Part rest = PartOf(tail, depth + 1);
    if (first.whole == head && rest.whole == tail) return {id, id};
    const TermId through = store_.Cat(first.whole, rest.begins);
    const bool is_all = first.whole == head;
    return {is_all ? through : AnyBeginning({first.begins, through}),
            store_.Cat(first.whole, rest.whole)};
  }

  // The empty text is a beginning of all.
  TermId AnyBeginning(std::vector<TermId> terms) {
    std::erase(terms, kEmptyTerm);
    std::erase(terms, kNothingTerm);
    return terms.empty() ? kEmptyTerm : store_.Alt(terms);
  }

  TermStore& store_;
  Lowering& lowering_;
  int branches_ = 0;
};

}  // namespace

TermId StateTerms::WithoutDistinct(TermId state) const { return automaton_.WithoutDistinct(state); }

StateTerms::Split StateTerms::SplitDistinct(TermId state) const {
  const MutexLock lock(&automaton_.mutex_);
  return {automaton_.store_.WithoutDistinct(state, TermStore::Within::kInside),
          automaton_.store_.WithoutDistinct(state, TermStore::Within::kOutside)};
}

// Where the string may be empty and the tail takes a byte beyond ASCII, a character's first byte
// does not say which of the two it belongs to; such a state has no answer here. The tail's steps
// are taken before the lock, since each takes it for itself. Cost: one look at each edge.
std::optional<StateTerms::Beyond> StateTerms::StepBeyondAscii(TermId state, Work& work) const {
  constexpr std::uint32_t kFirst = 0x80;
  const TermStore::Parts parts = automaton_.store_.PartsOf(state);
  const Term& cell = automaton_.store_.term(parts.cell);
  if (!IsBetweenCharacters(cell)) return std::nullopt;
  const PartialChar partial = AsEncode(cell).partial;
  for (int byte = kFirst; cell.nullable && byte < 256; ++byte) {
    const TermId behind = automaton_.Step(parts.tail, static_cast<unsigned char>(byte), work);
    if (behind != kNothingTerm) return std::nullopt;
  }
  const CharRange all = {kFirst, kMaxCodePoint};
  static const CharSet* const characters = new CharSet({all});
  const CharSet& spaces = SpacesBeyondAscii();
  const MutexLock lock(&automaton_.mutex_);
  Beyond beyond;
  std::uint32_t missing = characters->CountWithin(all);
  std::uint32_t missing_spaces = spaces.CountWithin(all);
  for (const CharEdge& edge : automaton_.characters_.LiveEdges(AsEncode(cell).characters, work)) {
    const std::uint32_t taken = characters->CountWithin({edge.lo, edge.hi});
    if (taken == 0) continue;
    const std::uint32_t taken_spaces = spaces.CountWithin({edge.lo, edge.hi});
    missing -= taken;
    missing_spaces -= taken_spaces;
    const TermId next =
        automaton_.store_.Cat(automaton_.store_.Encode(edge.to, {partial.spelling}), parts.tail);
    if (taken_spaces > 0) beyond.spaces.targets.push_back(next);
    if (taken_spaces < taken) beyond.others.targets.push_back(next);
  }
  for (Beyond::Part* part : {&beyond.spaces, &beyond.others}) SortUnique(&part->targets);
  beyond.spaces.all = missing_spaces == 0;
  beyond.others.all = missing == missing_spaces;
  return beyond;
}

std::optional<std::string> StateTerms::TextToMultiple(TermId cell) const {
  const Term& number = automaton_.store_.term(cell);
  if (number.kind != TermKind::kNumber) return std::nullopt;
  const MutexLock lock(&automaton_.mutex_);
  return automaton_.numbers_.TextToMultiple(AsNumber(number).number, AsNumber(number).state);
}

// Plain characters are their own spelling in a JSON string, so the text is the bytes as they stand.
std::optional<std::string> StateTerms::ShortestText(TermId cell, Work& work) const {
  const Term& text = automaton_.store_.term(cell);
  if (!IsBetweenCharacters(text) ||
      automaton_.store_.term(AsEncode(text).characters).kind != TermKind::kAnd)
    return std::nullopt;
  const MutexLock lock(&automaton_.mutex_);
  Product product;
  if (!automaton_.characters_.search().Read(AsEncode(text).characters, &product) ||
      product.conditions.size() < 2) {
    return std::nullopt;
  }
  const std::optional<std::u32string> shortest =
      automaton_.characters_.search().ShortestText(product, work);
  if (!shortest.has_value() || !std::ranges::all_of(*shortest, IsPlain)) return std::nullopt;
  return std::string(shortest->begin(), shortest->end());
}

TermId StateTerms::Join(TermId head, TermId tail) const {
  const MutexLock lock(&automaton_.mutex_);
  return automaton_.store_.Cat(head, tail);
}

TermId StateTerms::Choice(const std::vector<TermId>& branches) const {
  const MutexLock lock(&automaton_.mutex_);
  return automaton_.store_.Alt(branches);
}

TermId StateTerms::Encoded(CharTerm text, Spelling spelling, TermId tail) const {
  const MutexLock lock(&automaton_.mutex_);
  return automaton_.store_.Cat(automaton_.store_.Encode(text, {spelling}), tail);
}

TermId StateTerms::BodyOf(TermId cell) const {
  const MutexLock lock(&automaton_.mutex_);
  return automaton_.lowering_.RuleBody(automaton_.store_.term(cell));
}

TermId StateTerms::WithoutBound(TermId cell) const {
  const MutexLock lock(&automaton_.mutex_);
  TermStore& store = automaton_.store_;
  const EncodeView string = AsEncode(store.term(cell));
  const auto text = AsRepeat<CharTerm>(store.term(string.characters));
  return store.Encode(store.Repeat(text.body, text.min, kUnbounded), string.partial);
}

CharTerm StateTerms::Without(CharTerm both, CharTerm part) const {
  const MutexLock lock(&automaton_.mutex_);
  const auto parts = BranchesOf<CharTerm>(automaton_.store_, automaton_.store_.term(both));
  std::vector<CharTerm> others(parts.begin(), parts.end());
  assert(std::ranges::find(others, part) != others.end());
  std::erase(others, part);
  return automaton_.store_.And(others);
}

std::optional<CountBounds> StateTerms::BoundsOf(CharTerm text) const {
  const MutexLock lock(&automaton_.mutex_);
  return BoundCounts(&automaton_.store_, text);
}

ObjectTerms::NameTexts StateTerms::NamesOf(TermId cell, Work& work) const {
  const MutexLock lock(&automaton_.mutex_);
  const NameSetView names =
      AsNameSet(automaton_.store_.term(AsEncode(automaton_.store_.term(cell)).characters));
  return automaton_.objects_.TextsOf(names.object, names.progress, names.first, names.depth, work);
}

TermId StateTerms::EndOfName(TermId cell, std::uint32_t name, Work& work) const {
  const MutexLock lock(&automaton_.mutex_);
  const EncodeView encode = AsEncode(automaton_.store_.term(cell));
  const NameSetView names = AsNameSet(automaton_.store_.term(encode.characters));
  const CharTerm end = automaton_.objects_.Names(
      names.object, names.progress, name, automaton_.objects_.NameLength(names.object, name), work);
  return automaton_.objects_.EncodeNames(end, {encode.partial.spelling});
}

std::vector<TermId> StateTerms::BehindName(TermId cell, std::uint32_t name, Work& work) const {
  const MutexLock lock(&automaton_.mutex_);
  const EncodeView encode = AsEncode(automaton_.store_.term(cell));
  const NameSetView names = AsNameSet(automaton_.store_.term(encode.characters));
  std::vector<TermId> spines =
      automaton_.objects_.SpinesAfterName(names.object, names.progress, name, work);
  automaton_.store_.ChargeEffort(work);
  return spines;
}

TermId StateTerms::TextBeforeNames(TermId state) const {
  if (automaton_.tables_->named_tokens.none()) return state;
  const MutexLock lock(&automaton_.mutex_);
  return NamelessText(&automaton_.store_, &automaton_.lowering_).Of(state);
}

void StateTerms::AddNamedTokens(TermId state, TokenMask* mask) const {
  if (automaton_.tables_->named_tokens.none()) return;
  const MutexLock lock(&automaton_.mutex_);
  automaton_.tables_->named_tokens.AddTo(state, automaton_.store_, &automaton_.lowering_, mask);
}

void StateTerms::AddNamedTokens(TermId state, MaskBuilder* mask) const {
  if (automaton_.tables_->named_tokens.none()) return;
  const MutexLock lock(&automaton_.mutex_);
  automaton_.tables_->named_tokens.AddTo(state, automaton_.store_, &automaton_.lowering_, mask);
}

std::vector<NamedTokens::Step> StateTerms::NamedSteps(TermId state) const {
  if (automaton_.tables_->named_tokens.none()) return {};
  const MutexLock lock(&automaton_.mutex_);
  return automaton_.tables_->named_tokens.Steps(state, &automaton_.store_, &automaton_.lowering_);
}

TermId StateTerms::BehindNamed(TermId state, TokenId id) const {
  if (automaton_.tables_->named_tokens.none()) return kNothingTerm;
  const MutexLock lock(&automaton_.mutex_);
  return automaton_.tables_->named_tokens.Behind(state, id, &automaton_.store_,
                                                 &automaton_.lowering_);
}

}  // namespace maskd
