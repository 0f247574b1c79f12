#include "grammar_core/frontend/response_format/response_format.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json_schema/json_schema.h"
#include "grammar_core/frontend/notation/splice.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {
namespace {

constexpr absl::string_view kSchemaPlace = "/json_schema/schema";

absl::StatusOr<ReadResult> ReadAnyText(const Limits& limits) {
  IrBuilder builder(limits);
  const RuleId start = builder.DeclareRule("text", "");
  const NodeId text = builder.Repeat(builder.AnyChar(), 0, kUnbounded);
  builder.DefineRule(start, builder.Encode(Spelling::kUtf8, text));
  absl::StatusOr<GrammarIr> ir = std::move(builder).Build(start);
  if (!ir.ok()) return ir.status();
  ReadResult result;
  result.ir = *std::move(ir);
  return result;
}

absl::StatusOr<ReadResult> ReadSchema(const JsonValue& schema, GrammarSource source,
                                      const Limits& limits, Budget& budget) {
  source.text = schema.Compact();
  absl::StatusOr<ReadResult> read = ReadJsonSchema(source, limits, budget);
  if (!read.ok()) return MovedStatus(read.status(), kSchemaPlace);
  MovePlaces(kSchemaPlace, &*read);
  return read;
}

// Members beside those that are read.
void WarnOfOthers(const JsonValue& object, std::initializer_list<absl::string_view> known,
                  std::vector<Diagnostic>* warnings) {
  for (const JsonValue member : object.children()) {
    if (absl::c_linear_search(known, member.key())) continue;
    AddWarning({member.Pointer(), "not known, ignored"}, warnings);
  }
}

absl::Status CheckMember(const JsonValue& object, absl::string_view name, bool is_text) {
  const std::optional<JsonValue> member = object.Find(name);
  if (!member.has_value() || (is_text ? member->is_string() : member->is_bool()) ||
      member->type() == JsonType::kNull) {
    return absl::OkStatus();
  }
  return InvalidAt(member->Pointer(), is_text ? "must be a string" : "must be a boolean");
}

absl::StatusOr<ReadResult> ReadNamedSchema(const JsonValue& root, const GrammarSource& source,
                                           const Limits& limits, Budget& budget) {
  const std::optional<JsonValue> named = root.Find("json_schema");
  if (!named.has_value()) return InvalidAt("/json_schema", "is missing");
  if (!named->is_object()) return InvalidAt("/json_schema", "must be an object");
  const absl::Status checks[] = {CheckMember(*named, "name", true),
                                 CheckMember(*named, "description", true),
                                 CheckMember(*named, "strict", false)};
  for (const absl::Status& check : checks) {
    if (!check.ok()) return check;
  }
  const std::optional<JsonValue> schema = named->Find("schema");
  GrammarSource any = source;
  any.text.clear();
  absl::StatusOr<ReadResult> read = schema.has_value() ? ReadSchema(*schema, source, limits, budget)
                                                       : ReadAnyJson(any, limits, budget);
  if (read.ok()) {
    WarnOfOthers(*named, {"name", "description", "strict", "schema"}, &read->warnings);
  }
  return read;
}

absl::StatusOr<ReadResult> ReadOfType(const JsonValue& root, const GrammarSource& source,
                                      const Limits& limits, Budget& budget) {
  const std::optional<JsonValue> type = root.Find("type");
  if (!type.has_value()) return InvalidAt("/type", "is missing");
  if (type->is_string() && type->text() == "text") return ReadAnyText(limits);
  if (type->is_string() && type->text() == "json_schema") {
    return ReadNamedSchema(root, source, limits, budget);
  }
  if (!type->is_string() || type->text() != "json_object") {
    return InvalidAt("/type", "must be \"text\", \"json_object\" or \"json_schema\"");
  }
  GrammarSource any = source;
  any.text.clear();
  return ReadAnyJsonObject(any, limits, budget);
}

}  // namespace

absl::StatusOr<ReadResult> ReadResponseFormat(JsonDocument document, const GrammarSource& source,
                                              const Limits& limits, Budget& budget) {
  const JsonValue root = document.root();
  if (!root.is_object()) return InvalidAt("", "a response format is a JSON object");
  absl::StatusOr<ReadResult> read = ReadOfType(root, source, limits, budget);
  if (read.ok()) WarnOfOthers(root, {"type", "json_schema"}, &read->warnings);
  return read;
}

}  // namespace maskd
