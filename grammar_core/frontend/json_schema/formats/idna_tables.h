// What IDNA 2008 says of characters, as constant tables: those that a U-label may hold (PVALID of
// RFC 5892), without the hyphen, sorted by what the rules of labels ask of them.
//
// Source   idna_tables.cc names the versions; it is written by tools/dev/gen_idna_tables.py from
//          the Python package idna (BSD-3-Clause) and the Unicode Character Database.
// Terms    a starter has combining class 0 and is no mark; a vowel is a mark of class 0; both are
//          of no direction from right to left unless the name says so. Composing ones begin a
//          primary composite or are one, and joining vowels and composing marks end one, so that
//          NFC forbids some of their sequences.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_FORMATS_IDNA_TABLES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_FORMATS_IDNA_TABLES_H_

#include <cstdint>

#include "absl/types/span.h"

#include "grammar_core/base/char_set.h"

namespace maskd {

// The sets that the rules of labels are made of; see Terms.
enum class IdnaSet : std::uint8_t {
  kStarters,
  kComposingStarters,
  kVowels,
  kComposingVowels,
  kJoiningVowels,
  kRtlStarters,
  kRtlComposingStarters,
  kComposingMarks,
  kNonspacingMarks,  // by direction
  kTransparent,      // T, D and R of the joining types
  kDualJoining,
  kRightJoining,
  kGreek,
  kHebrew,
  kKanaAndHan,
  // Marks of another combining class than 0, by groups of classes in ascending order: two marks of
  // different groups are in canonical order if their groups are.
  kMarks,
};
inline constexpr int kMarkGroups = 4;
// The group of class 9 alone.
inline constexpr int kViramas = 1;

// Ascending and apart; constant, so it lives as long as the process.
absl::Span<const CharRange> IdnaRanges(IdnaSet set);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_FORMATS_IDNA_TABLES_H_
