// Reads the text of a pattern into what it matches, by its neighbours. No recursion: open groups
// are on a stack of their own.
//
// Errors   see regex.h.
// Threads  one thread an object.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_REGEX_PATTERN_READER_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_REGEX_PATTERN_READER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/regex/context_language.h"
#include "grammar_core/frontend/regex/look_around.h"
#include "grammar_core/frontend/regex/pattern_cursor.h"
#include "grammar_core/frontend/regex/pattern_part.h"
#include "grammar_core/frontend/regex/pattern_syntax.h"
#include "grammar_core/frontend/regex/regex_options.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// For one pattern.
class PatternReader {
 public:
  // All of them must outlive the reader.
  PatternReader(absl::string_view pattern, const RegexOptions& options, const Limits& limits,
                Budget* budget, IrBuilder* builder);

  // Reads the whole pattern into the texts that match it; call it once.
  absl::StatusOr<NodeId> Read();

 private:
  struct Flags {
    bool fold;     // (?i)
    bool dot_all;  // (?s)
  };
  // Whether what was read last may be repeated.
  enum class Last { kNothing, kAtom, kQuantified };
  struct LookKind {
    Side side;
    bool negated;
  };
  // An open group, or the pattern itself.
  struct Group {
    std::size_t begin;
    Flags flags_outside;
    std::optional<LookKind> look = std::nullopt;
    std::vector<PatternPart> alternatives = {};
    std::vector<PatternPart> sequence = {};
    Last last = Last::kNothing;
  };
  struct Counts {
    std::uint32_t min;
    std::uint32_t max;
  };

  absl::Status ReadNext();
  // Whether `c`, which was read last, is free spacing and passed with all that belongs to it.
  bool PassSpacing(std::uint32_t c);
  absl::Status ReadBackslash(std::size_t begin);
  absl::Status ReadWordBoundary(std::size_t begin, bool negated);
  absl::Status ReadBrackets();
  absl::Status ReadGroupOpening(std::size_t begin);
  absl::Status ReadGroupKind(std::size_t begin);
  absl::Status ReadGroupName();
  absl::Status ReadFlags(std::size_t begin);
  absl::Status SetFlag(std::uint32_t letter, bool value, Flags* flags);
  absl::Status CloseGroup(std::size_t begin);
  absl::Status OpenLook(std::size_t begin, LookKind look);
  absl::Status OpenGroup(std::size_t begin, Flags inside,
                         std::optional<LookKind> look = std::nullopt);
  absl::Status Quantify(std::size_t begin, Counts counts);
  // {n}, {n,} or {n,m} behind its '{'; nothing, and the cursor as it was, where the '{' is just a
  // character.
  absl::StatusOr<std::optional<Counts>> ReadCounts(std::size_t begin);
  absl::StatusOr<std::uint32_t> ReadCount();

  absl::Status ReadParts();
  void AddAtom(ContextLanguage atom);
  // One character of a set, and a condition on what stands beside the place.
  void AddChars(const CharSet& set);
  void AddCondition(ContextLanguage condition, PatternSyntax::Kind kind);
  void AddPart(PatternPart part, Last last);
  void AddCharacter(std::uint32_t c);
  void EndAlternative();
  PatternPart EndOf(Group* group);

  const Limits& limits_;
  const bool search_;
  const bool looks_around_;
  const bool free_spacing_;
  const Shorthands& shorthands_;
  PatternSyntaxMaker* const syntax_;  // null: nobody asks
  Budget* const budget_;
  IrBuilder* const builder_;
  PatternCursor cursor_;
  ContextAlgebra algebra_;
  LookAround look_around_;
  Flags flags_;
  std::size_t part_begin_ = 0;  // where what is being read begins
  std::vector<Group> groups_;
  absl::flat_hash_set<absl::string_view> names_;
  // The languages of single characters met, by character and fold.
  absl::flat_hash_map<std::uint32_t, Language> characters_[2];
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_REGEX_PATTERN_READER_H_
