// What a part of a pattern matches, as a function of where it stands: ^ $ \b \B look at the
// characters before and after, so a part that holds one has a language for each pair of neighbours.
//
// Neighbours  before: none (the text begins here), a word character, another one; after: the same,
//             none meaning that the text ends. "Word" is [A-Za-z0-9_].
// Exactness   joining two parts splits each by whether it is empty and by the kind of its first and
//             last character, but only where the other part's language depends on it. So plain
//             parts join as plain parts, and ^ and $ at the ends vanish.
// Ownership   nodes are the builder's, which must outlive the algebra.
// Threads     one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_REGEX_CONTEXT_LANGUAGE_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_REGEX_CONTEXT_LANGUAGE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "grammar_core/base/char_set.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// The kinds of neighbour, of either side.
enum class Neighbour : std::uint8_t { kNone, kWord, kOther };

// A set of character strings. `first` and `last` say of which kinds its first and last characters
// can be (bits of 1 << Neighbour); more than there are is allowed, fewer is not.
struct Language {
  NodeId node;
  bool nullable;
  std::uint8_t first;
  std::uint8_t last;

  // By the node; the other fields follow from it.
  bool operator==(const Language& other) const { return node == other.node; }
};

// The languages of a part, by its neighbours. Copies share their table.
class ContextLanguage {
 public:
  static constexpr int kContexts = 9;
  using Table = std::array<Language, kContexts>;

  // The same everywhere.
  explicit ContextLanguage(Language everywhere) : everywhere_(everywhere) {}
  explicit ContextLanguage(const Table& table);

  // Whether all neighbours have the same language; and that between two neighbours.
  [[nodiscard]] bool plain() const { return table_ == nullptr; }
  [[nodiscard]] const Language& In(Neighbour before, Neighbour after) const {
    return plain() ? everywhere_
                   : (*table_)[3 * static_cast<int>(before) + static_cast<int>(after)];
  }
  // As a whole text, without neighbours.
  [[nodiscard]] const Language& Whole() const { return In(Neighbour::kNone, Neighbour::kNone); }
  // Whether it matters which kind of character, not just whether there is one, stands beside it.
  [[nodiscard]] bool DependsOnWords() const;

 private:
  Language everywhere_;
  std::shared_ptr<const Table> table_;  // null: plain
};

// Makes ContextLanguages from smaller ones.
class ContextAlgebra {
 public:
  // Makes the few nodes that word boundaries need.
  explicit ContextAlgebra(IrBuilder* builder);

  // The empty text; one of some characters; the empty text at the begin, and at the end.
  [[nodiscard]] ContextLanguage Empty() const;
  ContextLanguage Chars(const CharSet& chars);
  [[nodiscard]] ContextLanguage TextBegin() const;
  [[nodiscard]] ContextLanguage TextEnd() const;
  // \b, or \B when `negated`.
  [[nodiscard]] ContextLanguage WordBoundary(bool negated) const;
  // Any characters, any number of them.
  ContextLanguage Anything();

  // One behind the other; and either. Quadratic in neighbours where a part is not plain.
  ContextLanguage Sequence(const std::vector<ContextLanguage>& parts);
  ContextLanguage Pair(const ContextLanguage& x, const ContextLanguage& y);
  ContextLanguage Alternatives(const std::vector<ContextLanguage>& parts);
  // Nothing where `part` depends on words and may come more than once: not supported.
  std::optional<ContextLanguage> Repeat(ContextLanguage part, std::uint32_t min, std::uint32_t max);
  ContextLanguage Intersection(const ContextLanguage& x, const ContextLanguage& y);
  ContextLanguage Complement(const ContextLanguage& part);
  // `part` where nothing comes after (before) it, whatever its neighbour there is called.
  [[nodiscard]] static ContextLanguage AtTextEnd(const ContextLanguage& part);
  [[nodiscard]] static ContextLanguage AtTextBegin(const ContextLanguage& part);

 private:
  [[nodiscard]] Language NothingLanguage() const;
  [[nodiscard]] Language EmptyLanguage() const;
  Language Join(const std::vector<Language>& parts);
  Language Union(const std::vector<Language>& parts);
  Language Power(const Language& part, std::uint32_t min, std::uint32_t max);
  Language Both(const Language& x, const Language& y);
  // The strings of `language` whose first (last) character is of a kind of `kinds`: not the empty
  // one.
  Language BeginningWith(std::uint8_t kinds, const Language& language);
  Language EndingWith(std::uint8_t kinds, const Language& language);
  Language NonEmpty(const Language& language);

  Language PairIn(const ContextLanguage& x, const ContextLanguage& y, Neighbour before,
                  Neighbour after);
  Language RepeatIn(const ContextLanguage& part, std::uint32_t min, std::uint32_t max,
                    Neighbour before, Neighbour after);

  IrBuilder* const builder_;
  const NodeId word_;
  const NodeId other_;
  const NodeId anything_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_REGEX_CONTEXT_LANGUAGE_H_
