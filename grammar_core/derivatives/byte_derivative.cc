// The derivative of each kind of term by one byte. A spine is stepped at its first cell and, as far
// as the cells before may be empty, at the next ones: what each gives is one branch of a choice.
//
// A string of characters is stepped through its UTF-8 or JSON spelling: the derivative by a whole
// character is that of its term (char_derivative.h); within one, the term says how far it is read.
// All characters of one edge lead to one state, so a string's row is filled for all of them at
// once.
//
// Invariant  a transition is written once, and last: a reader sees it whole or not at all.
// Cost       terms made on the way are charged as work; a row is one TermId for each byte class.
// Source     Brzozowski 1964; Owens, Reppy and Turon 2009 (byte classes).
#include "grammar_core/derivatives/byte_derivative.h"

#include <algorithm>
#include <cassert>

#include "grammar_core/base/error.h"
#include "grammar_core/terms/encoding.h"
#include "grammar_core/terms/term_check.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {
namespace {

constexpr unsigned char kAsciiEnd = 128;
// A state that takes fewer characters has its transitions made one by one.
constexpr std::uint32_t kFewCharacters = 8;

std::uint32_t AsciiCount(const CharEdges& edges) {
  std::uint32_t count = 0;
  for (const CharEdge& edge : edges)
    if (edge.lo < kAsciiEnd) count += std::min<std::uint32_t>(edge.hi, kAsciiEnd - 1) - edge.lo + 1;
  return count;
}

// The fewest bytes behind a character that a partly read one may become; kNoEnd if there is none.
std::uint32_t BytesBehind(const TermStore& store, const PartialChar& partial,
                          const CharEdges& edges) {
  const Completions completions = CompletionsOf(partial);
  std::uint32_t after = kNoEnd;
  for (int i = 0; i < completions.count; ++i) {
    const CharRange range = completions.ranges[i];
    for (auto edge = FirstIn(edges, range); edge != edges.end() && edge->lo <= range.hi; ++edge)
      after = std::min(after, store.term(edge->to).min_bytes);
  }
  return after;
}

}  // namespace

ByteDerivative::ByteDerivative(TermStore* store, NumberTerms* numbers, ObjectTerms* objects,
                               CharDerivative* characters, Lowering* lowering,
                               const ByteClasses* classes, const Limits& limits)
    : store_(store),
      numbers_(numbers),
      objects_(objects),
      characters_(characters),
      lowering_(lowering),
      classes_(classes),
      limits_(limits),
      first_(store, lowering, classes),
      ways_(store, &first_, classes->count()) {}

// The limits are looked at before anything is made, so one step may pass them by what it makes. A
// failed step keeps no transition of its own; those of parts and of FillCharacters() that were
// found before it failed are right and stay.
TermId ByteDerivative::Step(TermId term, int byte_class, Work& work) {
  if (const TermId known = Known(term, byte_class); known != kUnknownTerm) return known;
  if (!work.Spend() || !WithinLimits(work)) return kFailedTerm;
  if (first_.TakesMost(term) && classes_->Sample(byte_class) < kAsciiEnd) {
    FillCharacters(term, work);
    if (!store_->ChargeEffort(work)) return kFailedTerm;
  }
  ways_.Widen(term);
  if (const TermId known = Known(term, byte_class); known != kUnknownTerm) return known;
  const TermId next = DeriveWithin(term, byte_class, work);
  if (next != kFailedTerm) ways_.Put(term, byte_class, next);
  return next;
}

TermId ByteDerivative::Within(TermId next, Work& work) {
  if (!store_->ChargeEffort(work)) return kFailedTerm;
  if (const std::int64_t cells = store_->term(next).cells(); cells > limits_.row_cells) {
    work.Fail(LimitExceeded("", "row_cells", limits_.row_cells, cells));
    return kFailedTerm;
  }
  return next;
}

// The count of bytes is out of date now, so the next RecentBytes() adds them up.
void ByteDerivative::NoteAdopted(const Size& before) {
  adopted_.terms += store_->size() - before.terms;
  adopted_.bytes += held_bytes() - before.bytes;
  counted_until_ = 0;
}

std::int64_t ByteDerivative::RecentBytes() {
  if (store_->size() >= counted_until_ || ways_.held_words() != counted_ways_) {
    recent_bytes_ = held_bytes();
    counted_until_ = store_->size() + kUncountedTerms;
    counted_ways_ = ways_.held_words();
  }
  return recent_bytes_;
}

bool ByteDerivative::WithinLimits(Work& work) {
  const std::int64_t terms = store_->size() - adopted_.terms;
  const std::int64_t bytes = RecentBytes() - adopted_.bytes;
  if (terms > limits_.terms)
    work.Fail(AutomatonFull("terms", limits_.terms, terms));
  else if (bytes > limits_.grammar_bytes)
    work.Fail(AutomatonFull("grammar_bytes", limits_.grammar_bytes, bytes));
  return work.ok();
}

double ByteDerivative::room() const {
  const auto left = [](std::int64_t used, std::int64_t most) {
    return 1 - static_cast<double>(used) / static_cast<double>(std::max<std::int64_t>(most, 1));
  };
  return std::clamp(std::min(left(store_->size() - adopted_.terms, limits_.terms),
                             left(held_bytes() - adopted_.bytes, limits_.grammar_bytes)),
                    0.0, 1.0);
}

std::int64_t ByteDerivative::held_bytes() const {
  return store_->held_bytes() + numbers_->held_bytes() + objects_->held_bytes() +
         characters_->held_bytes() + lowering_->held_bytes() + first_.held_bytes() +
         ways_.held_bytes();
}

std::vector<HeldPart> ByteDerivative::parts() const {
  std::vector<HeldPart> parts = store_->parts();
  parts.insert(parts.end(), {{"transitions", ways_.held_bytes()},
                             {"edges of characters", characters_->held_bytes()},
                             {"numbers", numbers_->held_bytes()},
                             {"objects", objects_->held_bytes()},
                             {"rules", lowering_->held_bytes()},
                             {"first bytes", first_.held_bytes()}});
  return parts;
}

// Of `a? b c` that is the derivative of `a?` before `b c` and, since `a?` may be empty, that of `b`
// before `c`; `b` may not be empty, so `c` is not reached. A tail is shorter than its spine, so the
// loop ends.
template <typename StepCell>
TermId ByteDerivative::DeriveSpine(TermId id, StepCell step_cell) {
  std::vector<TermId> ways;
  for (bool reached = true; reached;) {
    const TermStore::Parts parts = store_->PartsOf(id);
    MASKD_DCHECK_TERM(*store_, parts.cell, store_->term(parts.cell).kind != TermKind::kCat);
    const TermId next = step_cell(parts.cell);
    if (next == kFailedTerm) return kFailedTerm;
    if (next != kNothingTerm) ways.push_back(store_->Cat(next, parts.tail));
    reached = parts.tail != kEmptyTerm && store_->term(parts.cell).nullable;
    id = parts.tail;
  }
  return store_->Alt(ways);
}

template <typename StepBranch>
TermId ByteDerivative::DeriveAlt(const Term& alt, StepBranch step_branch) {
  std::vector<TermId> ways;
  for (const TermId branch : BranchesOf(*store_, alt)) {
    ways.push_back(step_branch(branch));
    if (ways.back() == kFailedTerm) return kFailedTerm;
  }
  return store_->Alt(ways);
}

// Parts are derived by Step(), not by Derive(): their transitions are kept too, and a part that
// many states share is derived once for all of them.
TermId ByteDerivative::Derive(TermId id, int byte_class, Work& work) {
  const Term& term = store_->term(id);
  const unsigned char byte = classes_->Sample(byte_class);
  switch (term.kind) {
    case TermKind::kByteSet:
      return BytesOf(*store_, term)[byte] ? kEmptyTerm : kNothingTerm;
    case TermKind::kBytes: {
      const BytesView bytes = AsBytes(term);
      const bool same =
          static_cast<unsigned char>(store_->ir().byte_strings[bytes.string][bytes.offset]) == byte;
      return same ? store_->Bytes(bytes.string, bytes.offset + 1) : kNothingTerm;
    }
    case TermKind::kCat:
      return DeriveSpine(id, [&](TermId cell) { return Step(cell, byte_class, work); });
    case TermKind::kAlt:
      return DeriveAlt(term, [&](TermId branch) { return Step(branch, byte_class, work); });
    // Also where the body may be empty: the rounds that are left may be empty then, so one branch
    // holds all that a later round could give.
    case TermKind::kRepeat: {
      const TermId next = Step(AsRepeat(term).body, byte_class, work);
      if (next == kFailedTerm || next == kNothingTerm) return next;
      return store_->Cat(next, store_->AfterOne<TermId>(term));
    }
    case TermKind::kCall:
      return Step(lowering_->RuleBody(term), byte_class, work);
    case TermKind::kEncode:
      return DeriveEncode(term, byte, work);
    case TermKind::kNumber:
      return numbers_->Step(AsNumber(term).number, AsNumber(term).state, byte);
    case TermKind::kObject: {
      const auto [object, progress, phase] = AsObject(term);
      return objects_->Step(object, progress, phase, byte, work);
    }
    // The mark is for one byte: that which begins the array sets it, the next one drops it.
    case TermKind::kDistinct: {
      const auto [array, begun, close] = AsDistinct(term);
      const TermId next = Step(array, byte_class, work);
      return begun ? next : store_->Distinct(next, true, close);
    }
    // Bytes do not count. The number of tokens falls in TermStore::AtTokenEnd().
    case TermKind::kLimited: {
      const LimitedView limited = AsLimited(term);
      return store_->Limited(Step(limited.text, byte_class, work),
                             {.left = limited.tokens_left, .touched = true});
    }
    default:
      return kNothingTerm;  // Nothing and Empty; character terms do not come here
  }
}

TermId ByteDerivative::EncodeLike(const Term& term, CharTerm characters, const PartialChar& partial,
                                  std::uint32_t partial_bytes) {
  if (!IsOfNames(term)) return store_->Encode(characters, partial, partial_bytes);
  return objects_->EncodeNames(characters, partial, partial_bytes);
}

// Only edges that lead to a string are followed, so no state is entered that has no way on. The
// quote is no character of a name: where it stands between characters it ends the name, if that is
// whole.
TermId ByteDerivative::DeriveEncode(const Term& term, unsigned char byte, Work& work) {
  const auto [characters, partial, object, progress] = AsEncode(term);
  const CharStep step = StepChar(partial, byte);
  if (step.result == CharStep::Result::kRefused) {
    const bool ends_name = object != kNoObject && byte == '"' &&
                           partial.phase == CharPhase::kStart && store_->term(characters).nullable;
    if (!ends_name) return kNothingTerm;
    return objects_->AfterName(object, progress, AsNameSet(store_->term(characters)).first, work);
  }
  if (step.result == CharStep::Result::kPartial) {
    const CharEdges& edges = characters_->LiveEdges(characters, work);
    return work.ok() ? DerivePartial(term, step.partial, edges) : TermId(kFailedTerm);
  }
  const CharTerm next = characters_->Behind(characters, step.character, work);
  return work.ok() ? EncodeLike(term, next, {partial.spelling}) : TermId(kFailedTerm);
}

// All characters of an edge lead to one state, which is made once for them all.
void ByteDerivative::FillCharacters(TermId id, Work& work) {
  const TermStore::Parts parts = store_->PartsOf(id);
  const Term& cell = store_->term(parts.cell);
  if (IsOfNames(cell)) return;
  const PartialChar start = {AsEncode(cell).partial.spelling};
  const CharEdges& edges = characters_->LiveEdges(AsEncode(cell).characters, work);
  if (!work.ok() || AsciiCount(edges) < kFewCharacters) return;
  // Most bytes are told by the form of the tail to lead nowhere.
  FirstClasses::Set behind;
  if (cell.nullable) behind = first_.Of(parts.tail);
  std::vector<TermId> targets(edges.size(), kUnknownTerm);
  std::vector<WayTables::Way> ways;
  for (int c = 0; c < classes_->count(); ++c) {
    const unsigned char byte = classes_->Sample(c);
    if (byte >= kAsciiEnd || Known(id, c) != kUnknownTerm ||
        StepChar(start, byte).result != CharStep::Result::kCharacter) {
      continue;
    }
    // A byte that the tail takes as well is for DeriveSpine.
    if (behind[static_cast<std::size_t>(c)] && Step(parts.tail, c, work) != kNothingTerm) continue;
    const CharEdge* edge = FindEdge(edges, byte);
    TermId next = kNothingTerm;
    if (edge != nullptr) {
      TermId& target = targets[edge - edges.data()];
      if (target == kUnknownTerm) target = store_->Cat(store_->Encode(edge->to, start), parts.tail);
      next = target;
    }
    ways.push_back({c, next});
  }
  const auto made = std::ranges::count_if(targets, [](TermId to) { return to != kUnknownTerm; });
  ways_.PutAll(id, ways, static_cast<std::size_t>(made));
}

// A class is taken out only where it is surely refused: a plain ASCII character that is in no edge,
// and that the tail does not take either where the string may be empty.
FirstClasses::Set ByteDerivative::FirstOf(TermId id, Work& work) {
  FirstClasses::Set first = first_.Of(id);
  if (!first_.TakesMost(id)) return first;
  const TermStore::Parts parts = store_->PartsOf(id);
  const Term& cell = store_->term(parts.cell);
  const PartialChar start = {AsEncode(cell).partial.spelling};
  const CharEdges& edges = characters_->LiveEdges(AsEncode(cell).characters, work);
  if (!work.ok()) return first;
  FirstClasses::Set behind;
  if (cell.nullable) behind = first_.Of(parts.tail);
  for (std::size_t c = first._Find_first(); c < first.size(); c = first._Find_next(c)) {
    const unsigned char byte = classes_->Sample(static_cast<int>(c));
    if (byte < kAsciiEnd && !behind.test(c) && FindEdge(edges, byte) == nullptr &&
        StepChar(start, byte).result == CharStep::Result::kCharacter) {
      first.reset(c);
    }
  }
  return first;
}

// A character is begun. Where one edge holds all that it may become, its last bytes do not matter:
// the state is "so many more bytes, then the edge's target", the same for all such beginnings. Else
// the bits that were read are kept in the term, if some edge holds a character that they may
// become.
TermId ByteDerivative::DerivePartial(const Term& term, const PartialChar& partial,
                                     const CharEdges& edges) {
  const Completions completions = CompletionsOf(partial);
  for (int i = 0; completions.free_units > 0 && i < completions.count; ++i) {
    const CharRange range = completions.ranges[i];
    const auto edge = FirstIn(edges, range);
    if (edge == edges.end() || edge->lo > range.lo || edge->hi < range.hi) continue;
    const auto units = static_cast<std::uint32_t>(completions.free_units);
    const TermId rest =
        partial.phase == CharPhase::kUtf8 ? store_->Continuation(units) : store_->HexDigits(units);
    return store_->Cat(rest, EncodeLike(term, edge->to, {partial.spelling}));
  }
  const std::uint32_t after = BytesBehind(*store_, partial, edges);
  if (after == kNoEnd) return kNothingTerm;
  return EncodeLike(term, AsEncode(term).characters, partial,
                    SaturatingAdd(after, MinBytesLeft(partial, store_->measure())));
}

}  // namespace maskd
