// What the arguments of a tool may be. Readers need it where each argument is a separate element:
// only the schema tells the string "3" from the number.
//
// Source   the same IR that the grammar of the tool is made of.
// Errors   those of the schema and of the budget; UNIMPLEMENTED for values of another shape.
// Threads  plain values.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_CHAT_ARGUMENT_TYPES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_CHAT_ARGUMENT_TYPES_H_

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/frontend/grammar_source.h"
#include "grammar_core/frontend/structural_tag/value_parts.h"

namespace maskd {

// By ValueType.
using ValueTypes = std::bitset<6>;

// Of one argument, all alternatives of its schema together.
struct ArgumentType {
  // Those of values that are written as JSON.
  ValueTypes json;
  // Whether it may be a string as it is; whether that is bounded by nothing.
  bool text = false;
  bool endless = false;
  // Whether numbers may have a fraction.
  bool fractions = false;
  // Where a string is one of few: those.
  absl::flat_hash_set<std::string> listed;

  // Makes it the union of both.
  void Add(const ArgumentType& other);
  // Whether `text`, white space around it left out, is JSON of one of these types.
  [[nodiscard]] bool IsJson(absl::string_view text) const;
};

// Of one tool: its arguments by their names.
class ArgumentTypes {
 public:
  // `schema` is a JSON Schema.
  static absl::StatusOr<ArgumentTypes> Read(const std::string& schema, const GrammarSource& source,
                                            const Limits& limits, Budget& budget);

  // One that the schema does not name has the type of all others.
  [[nodiscard]] const ArgumentType& Of(absl::string_view name) const;

 private:
  absl::flat_hash_map<std::string, ArgumentType> declared_;
  ArgumentType others_;
};

// `text` without white space of JSON around it.
absl::string_view WithoutSpace(absl::string_view text);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_CHAT_ARGUMENT_TYPES_H_
