// What pattern and format, and values that are ruled out, mean for a string: as nodes of
// characters, and for strings that are known already.
//
// Errors   those of ReadRegex(), at the keyword's JSON Pointer: INVALID_ARGUMENT where a pattern is
//          broken, UNIMPLEMENTED where it holds a construct that is not supported.
// Cost     each pattern is read once a grammar, and once more if known strings must match it.
// Threads  one thread.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_STRING_FACETS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_STRING_FACETS_H_

#include <functional>
#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/json_schema/reading/schema_view.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// Takes an error of the keyword at `at`: it ends the compilation, or the keyword is dropped.
using Refuse = std::function<void(const JsonValue& at, const absl::Status& error)>;

// One for each grammar. It remembers the node of each keyword that it has read.
class StringFacets {
 public:
  // All of them must outlive this. `builder` is the grammar's.
  StringFacets(const Limits& limits, Budget& budget, IrBuilder& builder)
      : limits_(limits), budget_(budget), grammar_{builder}, scratch_(limits), known_{scratch_} {}

  // Whether the facet speaks of strings, so that the others may be asked for it.
  static bool Concerns(const Facet& facet);

  // The strings that satisfy `facet`, as a node of characters.
  absl::StatusOr<NodeId> Language(const Facet& facet) { return Read(facet, &grammar_); }

  // Whether `text` (UTF-8) is one of them; facets that do not speak of strings hold.
  absl::StatusOr<bool> Holds(const Facet& facet, absl::string_view text);

  // Where the grammar has a format of which some strings are left out, by pointer, with its name.
  [[nodiscard]] const std::map<std::string, std::string>& bounded_formats() const {
    return bounded_formats_;
  }

 private:
  // The languages made in one builder, by the pattern's text.
  struct Languages {
    IrBuilder& builder;
    absl::flat_hash_map<std::string, NodeId> patterns = {};
    absl::flat_hash_map<std::string, NodeId> formats = {};
    // The same for formats not known exactly: every string that may be of the format.
    absl::flat_hash_map<std::string, NodeId> most = {};
  };

  absl::StatusOr<NodeId> Read(const Facet& facet, Languages* languages);
  absl::StatusOr<NodeId> ReadPattern(const JsonValue& at, absl::string_view pattern,
                                     Languages* languages);
  absl::StatusOr<NodeId> ReadFormat(const Facet& facet, Languages* languages);
  absl::StatusOr<bool> Matches(NodeId language, absl::string_view text);

  const Limits& limits_;
  Budget& budget_;
  Languages grammar_;
  // Known strings are matched against nodes of their own, which are no part of the grammar.
  IrBuilder scratch_;
  Languages known_;
  std::map<std::string, std::string> bounded_formats_;
};

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_LOGIC_STRING_FACETS_H_
