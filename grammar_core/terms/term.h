// Terms: the states of the automaton and the parts they are made of.
//
// A term stands for a set of strings: the rest of the output. Terms are hash-consed, so a term is
// its id, and equal ids are equal sets (the converse does not hold). They come in two levels, as
// the IR does: byte terms (TermId), which the automaton steps through, and character terms
// (CharTerm), which live inside Encode. One table numbers both; what is done alike with both takes
// AnyTerm.
//
// Spine    A byte term is a chain of cells: Cat(head, tail) has one cell for `head`, which is never
//          a Cat, and those of `tail`. The spine is the pushdown stack. A byte step looks at the
//          first cell, and at the next ones only as far as the cells before may be empty. `floor`
//          says how many cells, counted from the far end, it leaves unread. So a mask depends only
//          on the cells above the lowest floor met while it is made, and can be shared by all terms
//          that begin so.
// Key      a structural hash of one cell, the same in every grammar, with counters clamped to what
//          one token can reach: equal keys give equal masks. An intersection or complement of a
//          clamped term is not so: which of its strings it holds at all may depend on any count.
//          Its key is its own. TermStore::KeyOf() has it.
// Threads  immutable once published; what is known of a state's way on (state_ways.h) fills in.
#ifndef MASKD_GRAMMAR_CORE_TERMS_TERM_H_
#define MASKD_GRAMMAR_CORE_TERMS_TERM_H_

#include <cstdint>

#include "grammar_core/base/saturating.h"
#include "grammar_core/base/strong_id.h"
#include "grammar_core/ir/grammar_ir.h"

namespace maskd {

struct ByteTermTag {
  static constexpr bool kNamedAsTerms = true;
};
struct CharTermTag {
  static constexpr bool kNamedAsTerms = true;
};
struct AnyTermTag {
  static constexpr bool kNamedAsTerms = true;
};
// A byte term: a state of the automaton, or a cell of one.
using TermId = StrongId<ByteTermTag>;
// A character term.
using CharTerm = StrongId<CharTermTag>;
// A term of either level, for what is the same in both: interning, copying, printing.
using AnyTerm = StrongId<AnyTermTag>;
template <>
inline constexpr bool kMayBecome<AnyTermTag, ByteTermTag> = true;
template <>
inline constexpr bool kMayBecome<AnyTermTag, CharTermTag> = true;
template <>
inline constexpr bool kMayBecome<ByteTermTag, AnyTermTag> = true;
template <>
inline constexpr bool kMayBecome<CharTermTag, AnyTermTag> = true;

// A term that all levels have, and that a row's state may be: becomes an id of either by itself.
class NamedTerm {
 public:
  // The term of that number, in every store.
  constexpr explicit NamedTerm(std::uint32_t value) : value_(value) {}
  template <typename Tag>
    requires Tag::kNamedAsTerms
  constexpr operator StrongId<Tag>() const {
    return StrongId<Tag>(value_);
  }
  // Its number, as StrongId has it.
  [[nodiscard]] constexpr std::uint32_t value() const { return value_; }

 private:
  std::uint32_t value_;
};
inline constexpr NamedTerm kNothingTerm{0};  // no string
inline constexpr NamedTerm kEmptyTerm{1};    // the empty string
// Not terms: a transition that is not known yet, and a step that failed (see StepError).
inline constexpr NamedTerm kUnknownTerm{0xFFFFFFFF};
inline constexpr NamedTerm kFailedTerm{0xFFFFFFFE};

// The payload fields a to d of each kind are given in parentheses.
enum class TermKind : std::uint8_t {
  kNothing,
  kEmpty,
  kCat,     // (head, tail)
  kAlt,     // (list): any of at least two
  kRepeat,  // (body, min, max)
  // Bytes.
  kByteSet,   // (byte set)
  kBytes,     // (byte string, offset): its rest from there
  kTokens,    // (token spec): one token by its id
  kCall,      // (rule, levels around it)
  kEncode,    // (characters, PartialChar, object or kNoObject, its progress)
  kNumber,    // (number, state): see NumberTerms
  kObject,    // (object, progress, ObjectPhase); objects here and below: TermStore::PlaceObject()
  kDistinct,  // (array, or its rest behind the first byte; whether it is that; its last byte)
  kLimited,   // (text or its rest, tokens left, whether the token at hand holds some of it)
  // Characters.
  kCharSet,  // (character set)
  kText,     // (text, offset): its rest from there
  kTextSet,  // (text set, first, end, depth): the rests, from depth, of the texts [first, end)
  kNameSet,  // (object, progress, first, depth): the same for an object's names still allowed
  kAnd,      // (list)
  kNot,      // (term)
};

// One term, 24 bytes: what it is, and the facts that a step or a mask asks for without looking at
// its parts. Which of the flags and numbers are of bytes and which of characters, each line says.
struct Term {
  TermKind kind = TermKind::kNothing;
  bool nullable : 1 = false;      // holds the empty string
  bool clamped : 1 = false;       // its key clamps a counter
  bool may_be_empty : 1 = false;  // characters: holds an And or Not, so it may be Nothing unseen
  bool in_distinct : 1 = false;   // bytes: its last byte has begun an array whose items must differ
  bool in_limited : 1 = false;    // bytes: the token at hand holds a part of a text of so many
                                  // tokens
  // Levels that a step descends before it meets a leaf or a call; so many and more look alike.
  std::uint16_t depth = 0;

 private:
  // What each means, the kind says: read by name, by term_views.h.
  friend class TermStore;
  friend class TermCopy;
  friend struct TermFields;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;
  std::uint32_t d = 0;
  // These kinds keep in c and d how long their spine is: others are one cell.
  [[nodiscard]] bool HasSpine() const { return kind == TermKind::kCat || kind == TermKind::kAlt; }

 public:
  // Bytes: length of the spine.
  [[nodiscard]] std::uint32_t cells() const {
    if (HasSpine()) return c;
    return kind == TermKind::kNothing || kind == TermKind::kEmpty ? 0 : 1;
  }
  // Bytes: cells that a step from here leaves unread.
  [[nodiscard]] std::uint32_t floor() const { return HasSpine() ? d : 0; }
  // Lower bound of the shortest string (characters: as JSON), saturating; in the unit of the
  // grammar's Measure.
  std::uint32_t min_bytes = 0;
};
static_assert(sizeof(Term) == 24);

// "No object" in an Encode term.
inline constexpr std::uint32_t kNoObject = 0xFFFFFFFF;

// How far into the spelling of one character an Encode term stands.
enum class CharPhase : std::uint8_t {
  kStart,   // between characters
  kUtf8,    // value: sequence size << 24 | bytes left << 22 | bits so far
  kEscape,  // after a backslash
  kHex,     // value: digits read << 16 | value so far, after \\u
  // The second half of a surrogate pair; value: digits read << 24 | the high half's low 10 bits <<
  // 14 | bits of the low half so far, 12 of them behind three digits.
  kLowBackslash,
  kLowU,
  kLowHex,
};

// A place within the spelling of one character: what has been read of it, as 32 bits of an Encode
// term.
struct PartialChar {
  Spelling spelling = Spelling::kUtf8;
  CharPhase phase = CharPhase::kStart;
  std::uint32_t value = 0;  // below 2^27

  // As a term keeps it: 2 bits of spelling, 3 of phase, 27 of value.
  [[nodiscard]] std::uint32_t Pack() const {
    return static_cast<std::uint32_t>(spelling) << 30 | static_cast<std::uint32_t>(phase) << 27 |
           value;
  }
  // The inverse of Pack().
  static PartialChar Unpack(std::uint32_t packed) {
    return {static_cast<Spelling>(packed >> 30), static_cast<CharPhase>((packed >> 27) & 0x7),
            packed & 0x7FFFFFF};
  }
};

// Where an object stands between two members.
enum class ObjectPhase : std::uint8_t {
  kOpen,   // before '{'; has no progress
  kFirst,  // after '{': a member or '}'
  kNext,   // after a member: ',' or '}'
  kMust,   // after ',': a member
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_TERM_H_
