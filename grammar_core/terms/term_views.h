// What a term of each kind holds, by name. The fields of Term itself are numbers without one.
//
//   if (term.kind == TermKind::kRepeat) return AsRepeat(term).min > 0;
//
// Requires  a term of that kind: asserted.
// Threads   plain values.
#ifndef MASKD_GRAMMAR_CORE_TERMS_TERM_VIEWS_H_
#define MASKD_GRAMMAR_CORE_TERMS_TERM_VIEWS_H_

#include <cassert>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>

#include "absl/strings/string_view.h"

#include "grammar_core/terms/term.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

// The fields of a term as they lie in it. For this header alone.
struct TermFields {
  // Copies the four numbers.
  explicit TermFields(const Term& term) : a(term.a), b(term.b), c(term.c), d(term.d) {}
  const std::uint32_t a;
  const std::uint32_t b;
  const std::uint32_t c;
  const std::uint32_t d;
};

// A spine: its first cell, which is no Cat, and what follows it.
template <typename Level>
struct CatView {
  Level head;
  Level tail;
};
// The view of a kCat of the level `Level`: bytes, unless CharTerm or AnyTerm is named.
template <typename Level = TermId>
CatView<Level> AsCat(const Term& term) {
  assert(term.kind == TermKind::kCat);
  return {Level(TermFields(term).a), Level(TermFields(term).b)};
}

// `max`: kUnbounded for any number.
template <typename Level>
struct RepeatView {
  Level body;
  std::uint32_t min;
  std::uint32_t max;
};
// The view of a kRepeat of the level `Level`.
template <typename Level = TermId>
RepeatView<Level> AsRepeat(const Term& term) {
  assert(term.kind == TermKind::kRepeat);
  return {Level(TermFields(term).a), TermFields(term).b, TermFields(term).c};
}

// The children of an Alt or And of the level `Level`, in a range that looks like a span.
template <typename Level = TermId>
auto BranchesOf(const TermStore& store, const Term& term) {
  assert(term.kind == TermKind::kAlt || term.kind == TermKind::kAnd);
  return store.list(TermFields(term).a) |
         std::views::transform([](AnyTerm branch) { return Level(branch); });
}

// A byte string and how much of it has been read.
struct BytesView {
  std::uint32_t string;
  std::uint32_t offset;
};
// The view of a kBytes; RestOfBytes() has the bytes themselves.
inline BytesView AsBytes(const Term& term) {
  assert(term.kind == TermKind::kBytes);
  return {TermFields(term).a, TermFields(term).b};
}

// Whether `term` is a repeat of the characters of one set.
inline bool IsRepeatOfSet(const TermStore& store, const Term& term) {
  return term.kind == TermKind::kRepeat &&
         store.term(AsRepeat<CharTerm>(term).body).kind == TermKind::kCharSet;
}

// The bytes that a Bytes term still stands for.
inline absl::string_view RestOfBytes(const TermStore& store, const Term& term) {
  assert(term.kind == TermKind::kBytes);
  return absl::string_view(store.ir().byte_strings[TermFields(term).a]).substr(TermFields(term).b);
}

// A text of characters and how much of it has been read.
struct TextView {
  std::uint32_t text;
  std::uint32_t offset;
};
// The view of a kText; RestOfText() has the characters themselves.
inline TextView AsText(const Term& term) {
  assert(term.kind == TermKind::kText);
  return {TermFields(term).a, TermFields(term).b};
}

// The characters that a Text term still stands for.
inline std::u32string RestOfText(const TermStore& store, const Term& term) {
  assert(term.kind == TermKind::kText);
  return store.ir().texts[TermFields(term).a].substr(TermFields(term).b);
}

// How many characters those are.
inline std::uint32_t LengthOfRest(const TermStore& store, const Term& term) {
  const auto [text, offset] = AsText(term);
  return static_cast<std::uint32_t>(store.ir().texts[text].size()) - offset;
}

// The number of its set of bytes, and that set.
inline std::uint32_t ByteSetOf(const Term& term) {
  assert(term.kind == TermKind::kByteSet);
  return TermFields(term).a;
}
// The set itself. It lives as long as the store.
inline const ByteBits& BytesOf(const TermStore& store, const Term& term) {
  assert(term.kind == TermKind::kByteSet);
  return store.byte_set(TermFields(term).a);
}

// The number of its token spec.
inline std::uint32_t TokensOf(const Term& term) {
  assert(term.kind == TermKind::kTokens);
  return TermFields(term).a;
}

// The number of its set of characters.
inline std::uint32_t CharSetOf(const Term& term) {
  assert(term.kind == TermKind::kCharSet);
  return TermFields(term).a;
}

// A rule that is called, within so many levels of indentation.
struct CallView {
  RuleId rule;
  std::uint32_t depth;  // levels around it
};
// The view of a kCall.
inline CallView AsCall(const Term& term) {
  assert(term.kind == TermKind::kCall);
  return {TermFields(term).a, TermFields(term).b};
}

// `object` is kNoObject for a string that is no name; `progress` is that object's.
struct EncodeView {
  CharTerm characters;
  PartialChar partial;
  std::uint32_t object;
  std::uint32_t progress;
};
// The view of a kEncode.
inline EncodeView AsEncode(const Term& term) {
  assert(term.kind == TermKind::kEncode);
  return {CharTerm(TermFields(term).a), PartialChar::Unpack(TermFields(term).b), TermFields(term).c,
          TermFields(term).d};
}
// Whether the Encode term is of an object's names.
inline bool IsOfNames(const Term& term) { return AsEncode(term).object != kNoObject; }
// Whether `term` is a string between two of its characters, and no object's name.
inline bool IsBetweenCharacters(const Term& term) {
  return term.kind == TermKind::kEncode && TermFields(term).c == kNoObject &&
         AsEncode(term).partial.phase == CharPhase::kStart;
}

// A number of the IR and how far it is written, as NumberTerms numbers its states.
struct NumberView {
  std::uint32_t number;
  std::uint32_t state;
};
// The view of a kNumber.
inline NumberView AsNumber(const Term& term) {
  assert(term.kind == TermKind::kNumber);
  return {TermFields(term).a, TermFields(term).b};
}

// An object (as TermStore::PlaceObject() numbers it), what follows it, and where it stands between
// two members.
struct ObjectView {
  std::uint32_t object;
  std::uint32_t progress;
  ObjectPhase phase;
};
// The view of a kObject; `progress` says nothing in the phase kOpen.
inline ObjectView AsObject(const Term& term) {
  assert(term.kind == TermKind::kObject);
  return {TermFields(term).a, TermFields(term).b, static_cast<ObjectPhase>(TermFields(term).c)};
}

// An array whose items must differ, or its rest; `close` is its last byte, a bracket or a brace.
struct DistinctView {
  TermId array;
  bool begun;  // its first byte has been read
  unsigned char close;
};
// The view of a kDistinct.
inline DistinctView AsDistinct(const Term& term) {
  assert(term.kind == TermKind::kDistinct);
  return {TermId(TermFields(term).a), TermFields(term).b != 0,
          static_cast<unsigned char>(TermFields(term).c)};
}

// A text that ends within so many tokens, or its rest.
struct LimitedView {
  TermId text;
  std::uint32_t tokens_left;
  bool touched;  // by the token at hand
};
// The view of a kLimited.
inline LimitedView AsLimited(const Term& term) {
  assert(term.kind == TermKind::kLimited);
  return {TermId(TermFields(term).a), TermFields(term).b, TermFields(term).c != 0};
}

// The rests, from character `depth` on, of the texts [first, end) of a set.
struct TextSetView {
  std::uint32_t set;
  std::uint32_t first;
  std::uint32_t end;
  std::uint32_t depth;
};
// The view of a kTextSet.
inline TextSetView AsTextSet(const Term& term) {
  assert(term.kind == TermKind::kTextSet);
  return {TermFields(term).a, TermFields(term).b, TermFields(term).c, TermFields(term).d};
}

// The same of the names of an object that are still allowed, from name `first` on.
struct NameSetView {
  std::uint32_t object;
  std::uint32_t progress;
  std::uint32_t first;
  std::uint32_t depth;
};
// The view of a kNameSet.
inline NameSetView AsNameSet(const Term& term) {
  assert(term.kind == TermKind::kNameSet);
  return {TermFields(term).a, TermFields(term).b, TermFields(term).c, TermFields(term).d};
}

// What a kNot is the complement of.
inline CharTerm NegatedOf(const Term& term) {
  assert(term.kind == TermKind::kNot);
  return CharTerm(TermFields(term).a);
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_TERM_VIEWS_H_
