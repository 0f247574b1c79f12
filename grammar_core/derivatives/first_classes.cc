// What may begin a term is read off its form, as the first sets of a grammar are. A sequence begins
// as its first cell does, and as the next ones do as far as those before may be empty; a choice as
// any of its branches.
//
// Invariant  a class that has a derivative is in the set. Others may be: a number's set has every
//            sign of any number, a string's every byte that any string may have there.
// Cost       one look at each cell reached; calls and choices, which many terms share, are kept.
#include "grammar_core/derivatives/first_classes.h"

#include "absl/strings/string_view.h"

#include "grammar_core/terms/number_terms.h"
#include "grammar_core/terms/term_views.h"

namespace maskd {

// Inside of a JSON string no control character is spelled raw; the quote may end a name.
FirstClasses::FirstClasses(const TermStore* store, Lowering* lowering, const ByteClasses* classes)
    : store_(store),
      lowering_(lowering),
      classes_(classes),
      any_byte_(Range(0, 0xFF)),
      in_json_string_(Range(' ', 0xFF)),
      sets_(classes->count()) {}

FirstClasses::Set FirstClasses::Each(absl::string_view bytes) const {
  Set set;
  for (const unsigned char byte : bytes) set.set(static_cast<std::size_t>(classes_->Of(byte)));
  return set;
}

// Classes are ranges of bytes that ascend.
FirstClasses::Set FirstClasses::Range(int lo, int hi) const {
  Set set;
  const int last = classes_->Of(static_cast<unsigned char>(hi));
  for (int c = classes_->Of(static_cast<unsigned char>(lo)); c <= last; ++c)
    set.set(static_cast<std::size_t>(c));
  return set;
}

FirstClasses::Set FirstClasses::Of(TermId id) {
  const Term& term = store_->term(id);
  switch (term.kind) {
    case TermKind::kByteSet:
      return OfByteSet(ByteSetOf(term));
    case TermKind::kBytes:
      return Each(RestOfBytes(*store_, term).substr(0, 1));
    case TermKind::kCat:
      return OfCat(id);
    case TermKind::kRepeat:
      return Of(AsRepeat(term).body);
    case TermKind::kEncode:
      return OfEncode(term);
    case TermKind::kNumber:
      return Each(kNumberBytes);
    case TermKind::kObject:
      return OfObject(term);
    case TermKind::kDistinct:
      return Of(AsDistinct(term).array);
    case TermKind::kLimited:
      return Of(AsLimited(term).text);
    case TermKind::kAlt:
    case TermKind::kCall: {
      if (const auto known = known_.find(id); known != known_.end())
        return sets_.set(known->second);
      Set set;
      if (term.kind == TermKind::kCall)
        set = Of(lowering_->RuleBody(term));
      else
        for (const TermId branch : BranchesOf(*store_, term)) set |= Of(branch);
      known_[id] = sets_.Keep(set);
      return set;
    }
    default:
      return {};  // Nothing, Empty and Tokens take no byte; characters do not come here
  }
}

// A set with no class is one that was not made yet, or an empty one, which is made again each time.
const FirstClasses::Set& FirstClasses::OfByteSet(std::uint32_t index) {
  if (index >= byte_sets_.size()) byte_sets_.resize(index + 1);
  Set& set = byte_sets_[index];
  if (set.none()) {
    const ByteBits& bytes = store_->byte_set(index);
    for (int c = 0; c < classes_->count(); ++c)
      if (bytes[classes_->Sample(c)]) set.set(static_cast<std::size_t>(c));
  }
  return set;
}

// By the phase alone, not by the members that are left. So the set may hold a sign that the
// derivative refuses, as the closing brace of an object that still lacks a required member.
FirstClasses::Set FirstClasses::OfObject(const Term& term) const {
  const ObjectSpec& spec = store_->object(AsObject(term).object);
  switch (AsObject(term).phase) {
    case ObjectPhase::kOpen:
      return Each({spec.open()});
    case ObjectPhase::kFirst:
      return Each({spec.is_block() ? '\n' : '"', spec.close()});
    case ObjectPhase::kNext:
      return Each({',', spec.is_block() ? '\n' : spec.close()});
    case ObjectPhase::kMust:
      return Each("\"");
  }
  return {};
}

FirstClasses::Set FirstClasses::OfCat(TermId id) {
  Set set;
  for (bool reached = true; reached;) {
    const TermStore::Parts parts = store_->PartsOf(id);
    set |= Of(parts.cell);
    reached = parts.tail != kEmptyTerm && store_->term(parts.cell).nullable;
    id = parts.tail;
  }
  return set;
}

FirstClasses::Set FirstClasses::OfEncode(const Term& term) const {
  const PartialChar partial = AsEncode(term).partial;
  switch (partial.phase) {
    case CharPhase::kStart:
      return partial.spelling == Spelling::kUtf8 ? any_byte_ : in_json_string_;
    case CharPhase::kUtf8:
      return Range(0x80, 0xBF);
    case CharPhase::kEscape:
      return Each("\"\\/bfnrtu");
    case CharPhase::kLowBackslash:
      return Each("\\");
    case CharPhase::kLowU:
      return Each("u");
    case CharPhase::kHex:
    case CharPhase::kLowHex:
      return Each("0123456789abcdefABCDEF");
  }
  return {};
}

}  // namespace maskd
