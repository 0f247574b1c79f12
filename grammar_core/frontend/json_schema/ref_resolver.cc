#include "grammar_core/frontend/json_schema/ref_resolver.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "grammar_core/base/error.h"

namespace maskd {
namespace {

// Nothing where a '%' is not followed by two hexadecimal digits.
std::optional<std::string> PercentDecoded(absl::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::uint32_t byte = 0;
    if (text[i] != '%') {
      out.push_back(text[i]);
    } else if (i + 2 < text.size() && absl::ascii_isxdigit(text[i + 1]) &&
               absl::SimpleHexAtoi(text.substr(i + 1, 2), &byte)) {
      out.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

// Nothing where a '~' is not followed by 0 or 1.
std::optional<std::string> TokenDecoded(absl::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      out.push_back(token[i]);
      continue;
    }
    if (++i == token.size() || (token[i] != '0' && token[i] != '1')) return std::nullopt;
    out.push_back(token[i] == '0' ? '~' : '/');
  }
  return out;
}

std::optional<JsonValue> Step(const JsonValue& value, const std::string& token) {
  if (!value.is_array()) return value.Find(token);
  std::uint32_t index = 0;
  const bool canonical = absl::SimpleAtoi(token, &index) && absl::StrCat(index) == token;
  return canonical ? value.Nth(index) : std::nullopt;
}

// `pointer` is decoded from its percent form and begins with '/'.
std::optional<JsonValue> Follow(JsonValue value, absl::string_view pointer) {
  for (const absl::string_view token : absl::StrSplit(pointer.substr(1), '/')) {
    const std::optional<std::string> key = TokenDecoded(token);
    if (!key.has_value()) return std::nullopt;
    const std::optional<JsonValue> next = Step(value, *key);
    if (!next.has_value()) return std::nullopt;
    value = *next;
  }
  return value;
}

absl::string_view WithoutFragment(absl::string_view uri) { return uri.substr(0, uri.find('#')); }

absl::string_view IdOf(const JsonValue& schema, const Dialect& dialect) {
  const std::optional<JsonValue> id = schema.Find(dialect.draft == Draft::k4 ? "id" : "$id");
  return id.has_value() && id->is_string() ? WithoutFragment(id->text()) : absl::string_view();
}

// Whether `document`, a reference without its fragment, is the schema's own text.
bool IsOwnDocument(absl::string_view document, absl::string_view root_id) {
  if (document.empty() || document == root_id) return true;
  const absl::string_view file = root_id.substr(root_id.rfind('/') + 1);
  return document == file && !absl::StrContains(document, '/');
}

// The innermost schema around `ref` that has an $id of its own, the root apart.
std::optional<JsonValue> EmbeddedResource(const JsonValue& ref, const Dialect& dialect) {
  std::optional<JsonValue> schema = ref.parent();
  for (; schema.has_value() && schema->id() != 0; schema = schema->parent()) {
    if (!IdOf(*schema, dialect).empty()) return schema;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<JsonValue> ResolveRef(const JsonValue& root, const JsonValue& ref,
                                     const Dialect& dialect) {
  const absl::string_view uri = ref.text();
  const absl::string_view document = WithoutFragment(uri);
  if (!IsOwnDocument(document, IdOf(root, dialect))) {
    return UnsupportedAt(ref.Pointer(), "$ref",
                         absl::StrCat("\"", uri, "\" is not in this schema"));
  }
  if (EmbeddedResource(ref, dialect).has_value()) {
    return UnsupportedAt(ref.Pointer(), "$ref", "it stands below an $id of its own");
  }
  const absl::string_view fragment =
      document.size() == uri.size() ? "" : uri.substr(document.size() + 1);
  const std::optional<std::string> pointer = PercentDecoded(fragment);
  if (!pointer.has_value()) {
    return InvalidAt(ref.Pointer(), absl::StrCat("\"", uri, "\" is not well percent-encoded"));
  }
  if (pointer->empty()) return root;
  if (pointer->front() != '/') {
    return UnsupportedAt(ref.Pointer(), "$ref", absl::StrCat("\"", uri, "\" names an anchor"));
  }
  const std::optional<JsonValue> target = Follow(root, *pointer);
  if (!target.has_value()) {
    return InvalidAt(ref.Pointer(), absl::StrCat("\"", uri, "\" names nothing in this schema"));
  }
  if (!target->is_object() && !target->is_bool()) {
    return InvalidAt(ref.Pointer(), absl::StrCat("\"", uri, "\" names no schema"));
  }
  return *target;
}

}  // namespace maskd
