// Each type hands its text to the front end of that kind. What comes back is moved to the caller's
// own text: a schema's places are put behind the pointer of its member, a pattern's or a grammar's
// line and column go into the message.
//
// Invariant  every place in an error, a warning or a rule is one of the request's member.
// Cost       that of the front end; a schema is written out once more as text.
// Source     OpenAI's response_format, and the further types that engines take.
#include "grammar_core/frontend/response_format/response_format.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/ebnf/ebnf.h"
#include "grammar_core/frontend/json_schema/json_schema.h"
#include "grammar_core/frontend/lark/lark.h"
#include "grammar_core/frontend/notation/splice.h"
#include "grammar_core/frontend/regex/regex.h"
#include "grammar_core/frontend/structural_tag/structural_tag.h"
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

// Members that nobody reads.
void WarnOfOthers(const JsonValue& object, std::initializer_list<absl::string_view> known,
                  std::vector<Diagnostic>* warnings) {
  for (const JsonValue member : object.children()) {
    if (absl::c_linear_search(known, member.key())) continue;
    AddWarning({member.Pointer(), "not known, ignored"}, warnings);
  }
}

// A client that leaves a member out may write it as null.
std::optional<JsonValue> MemberNotNull(const JsonValue& object, absl::string_view key) {
  const std::optional<JsonValue> member = object.Find(key);
  return member.has_value() && member->type() == JsonType::kNull ? std::nullopt : member;
}

absl::Status CheckMember(const JsonValue& object, absl::string_view name, bool is_text) {
  const std::optional<JsonValue> member = MemberNotNull(object, name);
  if (!member.has_value() || (is_text ? member->is_string() : member->is_bool()))
    return absl::OkStatus();
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
  for (const absl::Status& check : checks)
    if (!check.ok()) return check;
  const std::optional<JsonValue> schema = MemberNotNull(*named, "schema");
  GrammarSource any = source;
  any.text.clear();
  absl::StatusOr<ReadResult> read = schema.has_value() ? ReadSchema(*schema, source, limits, budget)
                                                       : ReadAnyJson(any, limits, budget);
  if (read.ok()) WarnOfOthers(*named, {"name", "description", "strict", "schema"}, &read->warnings);
  return read;
}

struct Syntax {
  absl::string_view name;
  absl::StatusOr<ReadResult> (*read)(const GrammarSource&, const Limits&, Budget&);
};
constexpr std::array kSyntaxes = {Syntax{"gbnf", &ReadGbnf}, Syntax{"ebnf", &ReadEbnf},
                                  Syntax{"lark", &ReadLark}, Syntax{"regex", &ReadRegexGrammar}};

// The member that holds a text, under the one of `keys` that there is.
absl::StatusOr<JsonValue> TextUnder(const JsonValue& root,
                                    std::initializer_list<absl::string_view> keys) {
  std::optional<JsonValue> found;
  for (const absl::string_view key : keys) {
    const std::optional<JsonValue> member = MemberNotNull(root, key);
    if (!member.has_value()) continue;
    if (found.has_value()) return InvalidAt(member->Pointer(), "is there twice, by another name");
    found = member;
  }
  if (!found.has_value()) return InvalidAt(absl::StrCat("/", *keys.begin()), "is missing");
  if (!found->is_string()) return InvalidAt(found->Pointer(), "must be a string");
  return *found;
}

// `text` in `syntax`; lines and columns are told within its place.
absl::StatusOr<ReadResult> ReadText(const Syntax& syntax, const JsonValue& text,
                                    GrammarSource source, const Limits& limits, Budget& budget) {
  constexpr absl::string_view kWhat = "in the text here: ";
  source.text = std::string(text.text());
  absl::StatusOr<ReadResult> read = syntax.read(source, limits, budget);
  if (!read.ok()) return EnclosedStatus(read.status(), text.Pointer(), kWhat);
  EnclosePlaces(text.Pointer(), kWhat, &*read);
  return read;
}

absl::StatusOr<ReadResult> ReadPattern(const JsonValue& root, const GrammarSource& source,
                                       const Limits& limits, Budget& budget) {
  const absl::StatusOr<JsonValue> text = TextUnder(root, {"pattern", "regex", "value"});
  if (!text.ok()) return text.status();
  return ReadText(kSyntaxes.back(), *text, source, limits, budget);
}

absl::StatusOr<ReadResult> ReadRules(const JsonValue& root, const GrammarSource& source,
                                     const Limits& limits, Budget& budget) {
  const absl::StatusOr<JsonValue> text = TextUnder(root, {"grammar", "definition"});
  if (!text.ok()) return text.status();
  const std::optional<JsonValue> syntax = MemberNotNull(root, "syntax");
  for (const Syntax& row : kSyntaxes) {
    const bool is_meant =
        syntax.has_value() ? syntax->is_string() && syntax->text() == row.name : row.name == "gbnf";
    if (is_meant) return ReadText(row, *text, source, limits, budget);
  }
  return InvalidAt("/syntax", "must be \"gbnf\", \"ebnf\", \"lark\" or \"regex\"");
}

absl::StatusOr<ReadResult> ReadOfType(const JsonValue& root, const GrammarSource& source,
                                      const Limits& limits, Budget& budget) {
  const std::optional<JsonValue> type = root.Find("type");
  if (!type.has_value()) return InvalidAt("/type", "is missing");
  if (type->is_string() && type->text() == "text") return ReadAnyText(limits);
  if (type->is_string() && type->text() == "json_schema")
    return ReadNamedSchema(root, source, limits, budget);
  if (type->is_string() && type->text() == "regex")
    return ReadPattern(root, source, limits, budget);
  if (type->is_string() && type->text() == "grammar")
    return ReadRules(root, source, limits, budget);
  if (!type->is_string() || type->text() != "json_object") {
    return InvalidAt("/type",
                     "must be \"text\", \"json_object\", \"json_schema\", \"structural_tag\", "
                     "\"regex\" or \"grammar\"");
  }
  GrammarSource any = source;
  any.text.clear();
  return ReadAnyJsonObject(any, limits, budget);
}

}  // namespace

absl::StatusOr<ReadResult> ReadResponseFormat(JsonDocument document, const GrammarSource& source,
                                              const ReadContext& context, const Limits& limits,
                                              Budget& budget) {
  const JsonValue root = document.root();
  if (!root.is_object()) return InvalidAt("", "a response format is a JSON object");
  const std::optional<JsonValue> type = root.Find("type");
  if (type.has_value() && type->is_string() && type->text() == "structural_tag")
    return ReadStructuralTag(std::move(document), source, context, limits, budget);
  absl::StatusOr<ReadResult> read = ReadOfType(root, source, limits, budget);
  if (read.ok()) {
    const bool is_text = type->text() == "regex" || type->text() == "grammar";
    WarnOfOthers(root,
                 is_text
                     ? std::initializer_list<absl::string_view>{"type", "pattern", "regex", "value",
                                                                "grammar", "definition", "syntax"}
                     : std::initializer_list<absl::string_view>{"type", "json_schema"},
                 &read->warnings);
  }
  return read;
}

}  // namespace maskd
