// How maskctl says things.
#ifndef MASKD_TOOLS_CLI_PRINT_H_
#define MASKD_TOOLS_CLI_PRINT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "google/protobuf/repeated_ptr_field.h"

#include "grammar_core/base/quoted.h"
#include "maskd/v1/grammar.pb.h"

namespace maskd::cli {

using maskd::Quoted;

// A message in proto3 JSON, for --json: the fields of protos/maskd/v1 under their own names, those
// with the value 0 included; bytes in base64, 64-bit numbers in strings. Ends with a line feed.
std::string JsonText(const google::protobuf::Message& message);

// An error, for --json: {"error": {code, reason, place, message}}.
std::string ErrorJsonText(const absl::Status& status);

// "CODE (REASON): message" with the reason where there is one.
std::string StatusText(const absl::Status& status);

// Milliseconds with three digits after the point.
std::string Milliseconds(std::int64_t microseconds);

// "1 rule", "2 rules".
std::string Counted(std::int64_t count, absl::string_view what);

// One line a cost and one a warning.
std::string CostsText(const v1::GrammarCosts& costs);
std::string WarningsText(const google::protobuf::RepeatedPtrField<v1::Diagnostic>& warnings);
std::string BoundsText(const google::protobuf::RepeatedPtrField<v1::Diagnostic>& bounds);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_PRINT_H_
