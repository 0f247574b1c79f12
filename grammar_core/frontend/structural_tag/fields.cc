#include "grammar_core/frontend/structural_tag/fields.h"

#include <cassert>
#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/base/decimal.h"
#include "grammar_core/base/error.h"

namespace maskd {
namespace {

// A number from 0 to 2^32 - 2: AsCount() cuts larger ones to that.
std::optional<std::uint32_t> CountIn(const JsonValue& value) {
  if (!value.is_number()) return std::nullopt;
  const Decimal number = ReadDecimal(value.text());
  if (number > ReadDecimal("4294967294")) return std::nullopt;
  return AsCount(number);
}

}  // namespace

absl::Status InvalidMember(const JsonValue& object, absl::string_view key,
                           absl::string_view message) {
  return InvalidAt(absl::StrCat(object.Pointer(), "/", key), message);
}

absl::Status CheckKeys(const JsonValue& object, absl::Span<const absl::string_view> keys) {
  if (!object.is_object()) return InvalidAt(object.Pointer(), "must be an object");
  for (const JsonValue member : object.children()) {
    if (absl::c_linear_search(keys, member.key())) continue;
    return InvalidAt(member.PointerWithin(256),
                     absl::StrCat("is not known here; known are ", absl::StrJoin(keys, ", ")));
  }
  return absl::OkStatus();
}

absl::StatusOr<JsonValue> RequiredMember(const JsonValue& object, absl::string_view key) {
  const std::optional<JsonValue> member = object.Find(key);
  if (!member.has_value()) return InvalidMember(object, key, "is missing");
  return *member;
}

absl::StatusOr<absl::string_view> RequiredText(const JsonValue& object, absl::string_view key) {
  const absl::StatusOr<JsonValue> member = RequiredMember(object, key);
  if (!member.ok()) return member.status();
  if (!member->is_string()) return InvalidMember(object, key, "must be a string");
  return member->text();
}

absl::StatusOr<JsonValue> RequiredList(const JsonValue& object, absl::string_view key) {
  const absl::StatusOr<JsonValue> member = RequiredMember(object, key);
  if (!member.ok()) return member.status();
  if (!member->is_array()) return InvalidMember(object, key, "must be a list");
  if (member->size() == 0) return InvalidMember(object, key, "must not be empty");
  return *member;
}

absl::StatusOr<bool> FlagOf(const JsonValue& object, absl::string_view key) {
  const std::optional<JsonValue> member = object.Find(key);
  if (!member.has_value()) return false;
  if (!member->is_bool()) return InvalidMember(object, key, "must be true or false");
  return member->type() == JsonType::kTrue;
}

absl::StatusOr<std::optional<std::uint32_t>> CountOf(const JsonValue& object,
                                                     absl::string_view key) {
  const std::optional<JsonValue> member = object.Find(key);
  if (!member.has_value() || member->type() == JsonType::kNull) return std::nullopt;
  const std::optional<std::uint32_t> count = CountIn(*member);
  if (!count.has_value())
    return InvalidMember(object, key, "must be a number from 0 to 4294967294");
  return count;
}

absl::StatusOr<std::vector<std::string>> TextsOf(const JsonValue& object, absl::string_view key) {
  std::vector<std::string> texts;
  const std::optional<JsonValue> list = object.Find(key);
  if (!list.has_value()) return texts;
  if (!list->is_array()) return InvalidMember(object, key, "must be a list of strings");
  for (const JsonValue text : list->children()) {
    if (!text.is_string() || text.text().empty())
      return InvalidAt(text.Pointer(), "must be a string that is not empty");
    texts.emplace_back(text.text());
  }
  return texts;
}

absl::StatusOr<TokenSpec> ReadToken(const JsonValue& value) {
  TokenSpec spec = {.place = value.Pointer(), .any_name = true};
  if (value.is_string() && !value.text().empty()) {
    spec.names.emplace_back(value.text());
    return spec;
  }
  const std::optional<std::uint32_t> id = CountIn(value);
  if (!id.has_value()) return InvalidAt(spec.place, "must be the id or the text of a token");
  spec.ids.emplace_back(*id, *id);
  return spec;
}

absl::StatusOr<TokenSpec> ReadTokenFormat(const JsonValue& value) {
  if (absl::Status status = CheckKeys(value, {"type", "token"}); !status.ok()) return status;
  const absl::StatusOr<absl::string_view> type = RequiredText(value, "type");
  if (!type.ok()) return type.status();
  if (*type != "token") return InvalidMember(value, "type", "must be \"token\"");
  const absl::StatusOr<JsonValue> token = RequiredMember(value, "token");
  if (!token.ok()) return token.status();
  return ReadToken(*token);
}

absl::StatusOr<TokenSpec> TokensOf(const JsonValue& object, absl::string_view key) {
  TokenSpec all = {.place = absl::StrCat(object.Pointer(), "/", key), .any_name = true};
  const std::optional<JsonValue> list = object.Find(key);
  if (!list.has_value()) return all;
  if (!list->is_array()) return InvalidMember(object, key, "must be a list of tokens");
  for (const JsonValue token : list->children()) {
    const absl::StatusOr<TokenSpec> one = ReadToken(token);
    if (!one.ok()) return one.status();
    AddTokens(*one, &all);
  }
  return all;
}

void AddTokens(const TokenSpec& some, TokenSpec* all) {
  absl::c_copy(some.names, std::back_inserter(all->names));
  absl::c_copy(some.ids, std::back_inserter(all->ids));
}

absl::StatusOr<std::uint32_t> BoundOf(const JsonValue& at, absl::string_view key, bool open) {
  const absl::StatusOr<JsonValue> bound = RequiredMember(at, key);
  if (!bound.ok()) return bound.status();
  if (open && bound->is_number() && bound->text() == "-1") return kUnbounded;
  const absl::StatusOr<std::optional<std::uint32_t>> count = CountOf(at, key);
  if (count.ok() && count->has_value()) return **count;
  return InvalidMember(at, key,
                       open ? "must be a number from 0, or -1" : "must be a number from 0");
}

bool MayBeAmong(const TokenSpec& token, const TokenSpec& tokens) {
  assert(!token.ids.empty() || !token.names.empty());
  if (!token.ids.empty())
    return absl::c_linear_search(tokens.ids, token.ids.front()) || !tokens.names.empty();
  return absl::c_linear_search(tokens.names, token.names.front()) || !tokens.ids.empty();
}

}  // namespace maskd
