// What the arguments of a tool may be. Readers need it where each argument is a separate element:
// only the schema tells the string "3" from the number, and an array without items from an object.
//
// Source   the same IR that the grammar of the tool is made of.
// Numbers  each type has one; a schema that calls itself is a type that is within itself.
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

// Of one value, all alternatives of its schema together.
struct ArgumentType {
  using Number = std::uint32_t;
  // That of no value.
  static constexpr Number kNothing = 1;

  // Those of values that are written as JSON.
  ValueTypes json;
  // Whether it may be a string as it is; whether that is bounded by nothing.
  bool text = false;
  bool endless = false;
  // Whether numbers may have a fraction.
  bool fractions = false;
  // Where a string is one of few: those.
  absl::flat_hash_set<std::string> listed;
  // What is within: an object's members by their names and all others, an array's items. Known of
  // the arguments as a whole, and of others where arrays and objects are elements.
  absl::flat_hash_map<std::string, Number> members;
  Number others = kNothing;
  Number items = kNothing;

  // Whether `text`, white space around it left out, is JSON of one of these types that is `among`
  // those.
  [[nodiscard]] bool IsJson(absl::string_view text, ValueTypes among = ValueTypes().set()) const;
};

// Of one tool.
class ArgumentTypes {
 public:
  using Number = ArgumentType::Number;
  // That of the object of all arguments.
  static constexpr Number kRoot = 0;

  // How arrays and objects among the arguments are written.
  enum class Within : std::uint8_t { kJson, kElements };

  // `schema` is a JSON Schema. Cost: one reading of it, and a unit a value, object and name.
  static absl::StatusOr<ArgumentTypes> Read(const std::string& schema, Within within,
                                            const GrammarSource& source, const Limits& limits,
                                            Budget& budget);

  // Requires a number of this.
  [[nodiscard]] const ArgumentType& At(Number number) const { return types_[number]; }
  // The type of a member of `object`; one that the schema does not name has that of all others.
  [[nodiscard]] Number MemberOf(Number object, absl::string_view name) const;

 private:
  std::vector<ArgumentType> types_ = std::vector<ArgumentType>(2);
};

// `text` without white space of JSON around it.
absl::string_view WithoutSpace(absl::string_view text);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_CHAT_ARGUMENT_TYPES_H_
