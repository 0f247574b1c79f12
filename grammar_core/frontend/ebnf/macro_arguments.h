// The arguments of an EBNF macro: Name("text", 12, rule, ("tag", rule), option=true).
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_EBNF_MACRO_ARGUMENTS_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_EBNF_MACRO_ARGUMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "grammar_core/frontend/notation/source_reading.h"

namespace maskd {

// What stands as an argument. `at` is its byte in the source, for errors.
struct MacroValue {
  // As it is written; kTruth is true or false.
  enum class Kind : std::uint8_t { kText, kNumber, kTruth, kName, kTuple };
  Kind kind;
  std::size_t at;
  std::string text = {};                  // kText, decoded; kName
  std::uint32_t number = 0;               // kNumber: the id of a token; kTruth: 0 or 1
  std::vector<MacroValue> elements = {};  // kTuple, of no tuples
};

// One argument, in the order of the text.
struct MacroArgument {
  std::string name;  // empty: by its position
  std::size_t at;
  MacroValue value;
};

// Reads from the '(' to the ')' and passes it; comments may stand between. INVALID_ARGUMENT where
// two arguments have one name.
absl::StatusOr<std::vector<MacroArgument>> ReadMacroArguments(SourceReading& reading);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_EBNF_MACRO_ARGUMENTS_H_
