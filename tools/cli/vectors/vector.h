// A test vector: a grammar, whether it must compile, and texts it must and must not take.
//
// Format   one JSON object a line with at least id, kind, grammar, expect, accepts and rejects.
//          `kind` is a grammar kind of the server, `grammar` its source; texts are to be matched
//          as UTF-8.
// Threads  plain values.
#ifndef MASKD_TOOLS_CLI_VECTORS_VECTOR_H_
#define MASKD_TOOLS_CLI_VECTORS_VECTOR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace maskd::cli {

// What is right for the grammar.
enum class Expect {
  kOk,            // compiles, and the texts hold
  kError,         // is refused
  kExactOrError,  // compiles and the texts hold, or is refused
  kEither,        // the same; here the world does not agree whether it should compile
};

// One line of the file.
struct Vector {
  std::string id;
  std::string kind;
  std::string grammar;
  Expect expect = Expect::kOk;
  std::vector<std::string> accepts;
  std::vector<std::string> rejects;
};

// The vectors of a file's content, in its order. Errors: INVALID_ARGUMENT with the line.
absl::StatusOr<std::vector<Vector>> ReadVectors(absl::string_view lines);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_VECTORS_VECTOR_H_
