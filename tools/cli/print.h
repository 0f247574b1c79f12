// How maskctl says things.
#ifndef MASKD_TOOLS_CLI_PRINT_H_
#define MASKD_TOOLS_CLI_PRINT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/repeated_ptr_field.h"

#include "maskd/v1/grammar.pb.h"

namespace maskd::cli {

// "CODE (REASON): message" with the reason where there is one.
std::string StatusText(const absl::Status& status);

// Bytes in double quotes: printable ASCII and well-formed UTF-8 as they are, the rest as \xNN.
std::string Quoted(absl::string_view bytes);

// Milliseconds with three digits after the point.
std::string Milliseconds(std::int64_t microseconds);

// One line a cost and one a warning.
std::string CostsText(const v1::GrammarCosts& costs);
std::string WarningsText(const google::protobuf::RepeatedPtrField<v1::Diagnostic>& warnings);
std::string BoundsText(const google::protobuf::RepeatedPtrField<v1::Diagnostic>& bounds);

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_PRINT_H_
