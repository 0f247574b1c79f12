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
#include <span>
#include <string>

#include "absl/strings/string_view.h"

#include "grammar_core/terms/term.h"
#include "grammar_core/terms/term_store.h"

namespace maskd {

// The fields of a term as they lie in it. For this header alone.
struct TermFields {
  explicit TermFields(const Term& term) : a(term.a), b(term.b), c(term.c), d(term.d) {}
  const std::uint32_t a;
  const std::uint32_t b;
  const std::uint32_t c;
  const std::uint32_t d;
};

struct CatView {
  TermId head;
  TermId tail;
};
inline CatView AsCat(const Term& term) {
  assert(term.kind == TermKind::kCat);
  return {TermFields(term).a, TermFields(term).b};
}

// `max`: kUnbounded for any number.
struct RepeatView {
  TermId body;
  std::uint32_t min;
  std::uint32_t max;
};
inline RepeatView AsRepeat(const Term& term) {
  assert(term.kind == TermKind::kRepeat);
  return {TermFields(term).a, TermFields(term).b, TermFields(term).c};
}

// The children of an Alt or And.
inline std::span<const TermId> BranchesOf(const TermStore& store, const Term& term) {
  assert(term.kind == TermKind::kAlt || term.kind == TermKind::kAnd);
  return store.list(TermFields(term).a);
}

// A byte string and how much of it has been read.
struct BytesView {
  std::uint32_t string;
  std::uint32_t offset;
};
inline BytesView AsBytes(const Term& term) {
  assert(term.kind == TermKind::kBytes);
  return {TermFields(term).a, TermFields(term).b};
}

// Whether `term` is a repeat of the characters of one set.
inline bool IsRepeatOfSet(const TermStore& store, const Term& term) {
  return term.kind == TermKind::kRepeat &&
         store.term(AsRepeat(term).body).kind == TermKind::kCharSet;
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

struct CallView {
  RuleId rule;
  std::uint32_t depth;  // levels around it
};
inline CallView AsCall(const Term& term) {
  assert(term.kind == TermKind::kCall);
  return {TermFields(term).a, TermFields(term).b};
}

// `object` is kNoObject for a string that is no name; `progress` is that object's.
struct EncodeView {
  TermId characters;
  PartialChar partial;
  std::uint32_t object;
  std::uint32_t progress;
};
inline EncodeView AsEncode(const Term& term) {
  assert(term.kind == TermKind::kEncode);
  return {TermFields(term).a, PartialChar::Unpack(TermFields(term).b), TermFields(term).c,
          TermFields(term).d};
}
// Whether the Encode term is of an object's names.
inline bool IsOfNames(const Term& term) { return AsEncode(term).object != kNoObject; }
// Whether `term` is a string between two of its characters, and no object's name.
inline bool IsBetweenCharacters(const Term& term) {
  return term.kind == TermKind::kEncode && TermFields(term).c == kNoObject &&
         AsEncode(term).partial.phase == CharPhase::kStart;
}

struct NumberView {
  std::uint32_t number;
  std::uint32_t state;
};
inline NumberView AsNumber(const Term& term) {
  assert(term.kind == TermKind::kNumber);
  return {TermFields(term).a, TermFields(term).b};
}

struct ObjectView {
  std::uint32_t object;
  std::uint32_t progress;
  ObjectPhase phase;
};
inline ObjectView AsObject(const Term& term) {
  assert(term.kind == TermKind::kObject);
  return {TermFields(term).a, TermFields(term).b, static_cast<ObjectPhase>(TermFields(term).c)};
}

struct DistinctView {
  TermId array;
  bool begun;  // its first byte has been read
  unsigned char close;
};
inline DistinctView AsDistinct(const Term& term) {
  assert(term.kind == TermKind::kDistinct);
  return {TermFields(term).a, TermFields(term).b != 0,
          static_cast<unsigned char>(TermFields(term).c)};
}

struct LimitedView {
  TermId text;
  std::uint32_t tokens_left;
  bool touched;  // by the token at hand
};
inline LimitedView AsLimited(const Term& term) {
  assert(term.kind == TermKind::kLimited);
  return {TermFields(term).a, TermFields(term).b, TermFields(term).c != 0};
}

// The rests, from character `depth` on, of the texts [first, end) of a set.
struct TextSetView {
  std::uint32_t set;
  std::uint32_t first;
  std::uint32_t end;
  std::uint32_t depth;
};
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
inline NameSetView AsNameSet(const Term& term) {
  assert(term.kind == TermKind::kNameSet);
  return {TermFields(term).a, TermFields(term).b, TermFields(term).c, TermFields(term).d};
}

inline TermId NegatedOf(const Term& term) {
  assert(term.kind == TermKind::kNot);
  return TermFields(term).a;
}

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_TERMS_TERM_VIEWS_H_
