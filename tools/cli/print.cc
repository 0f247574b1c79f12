#include "tools/cli/print.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include <google/protobuf/util/json_util.h>
#include <nlohmann/json.hpp>

#include "client/cpp/base/errors.h"

namespace maskd::cli {
namespace {

std::string DiagnosticsText(absl::string_view label,
                            const google::protobuf::RepeatedPtrField<v1::Diagnostic>& diagnostics) {
  std::string text;
  for (const v1::Diagnostic& one : diagnostics) {
    absl::StrAppend(&text, label, one.place(), one.place().empty() ? "" : ": ", one.message(),
                    "\n");
  }
  return text;
}

}  // namespace

std::string JsonText(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string text;
  const auto printed = google::protobuf::util::MessageToJsonString(message, &text, options);
  return printed.ok() ? text + "\n" : ErrorJsonText(absl::InternalError(printed.ToString()));
}

std::string ErrorJsonText(const absl::Status& status) {
  const nlohmann::ordered_json error = {{"code", absl::StatusCodeToString(status.code())},
                                        {"reason", client::ErrorReason(status)},
                                        {"place", client::ErrorPlace(status)},
                                        {"message", std::string(status.message())}};
  const nlohmann::ordered_json all = {{"error", error}};
  return all.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string StatusText(const absl::Status& status) {
  const std::string reason = client::ErrorReason(status);
  return absl::StrCat(absl::StatusCodeToString(status.code()),
                      reason.empty() ? "" : absl::StrCat(" (", reason, ")"), ": ",
                      status.message());
}

std::string Milliseconds(std::int64_t microseconds) {
  return absl::StrFormat("%.3f ms", static_cast<double>(microseconds) / 1000.0);
}

std::string CostsText(const v1::GrammarCosts& costs) {
  return absl::StrFormat(
      "compiled in %s, of which the first mask %s\n"
      "holds       %d rules, %d nodes, %d terms, %d bytes\n",
      Milliseconds(costs.compile_us()), Milliseconds(costs.first_mask_us()), costs.rules(),
      costs.ir_nodes(), costs.terms(), costs.held_bytes());
}

std::string Counted(std::int64_t count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

std::string WarningsText(const google::protobuf::RepeatedPtrField<v1::Diagnostic>& warnings) {
  return DiagnosticsText("warning     ", warnings);
}

std::string BoundsText(const google::protobuf::RepeatedPtrField<v1::Diagnostic>& bounds) {
  return DiagnosticsText("bound       ", bounds);
}

}  // namespace maskd::cli
