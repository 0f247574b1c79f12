// Values are views of a flat tree: a node has its end, so the children of one are met by steps from
// end to end. What is written keeps every byte of the text as it is, except those that JSON must
// escape.
//
// Invariant  what is written is read back as the same value.
// Cost       linear in what is read or written; a member is found by a hash.
#include "grammar_core/frontend/json/json_document.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json/json_reader.h"

namespace maskd {

std::optional<JsonValue> JsonValue::parent() const {
  if (node().parent == json_internal::kNoNode) return std::nullopt;
  return at(node().parent);
}

std::optional<JsonValue> JsonValue::Find(absl::string_view key) const {
  if (!is_object()) return std::nullopt;
  const JsonId member = json_internal::FindMember(*tree_, id_, key);
  if (member == json_internal::kNoNode) return std::nullopt;
  return at(member);
}

absl::string_view JsonValue::FindText(absl::string_view key) const {
  const std::optional<JsonValue> member = Find(key);
  return member.has_value() && member->is_string() ? member->text() : absl::string_view();
}

const SharedText& JsonValue::known() const {
  assert(is_unread());
  const auto& known = tree_->known;
  const auto at =
      std::ranges::lower_bound(known, id_, {}, [](const auto& one) { return one.first; });
  assert(at != known.end() && at->first == id_ && "each that is unread is known");
  return at->second;
}

std::optional<JsonValue> JsonValue::Nth(std::uint32_t index) const {
  if (index >= size()) return std::nullopt;
  JsonId child = id_ + 1;
  for (; index > 0; --index) child = tree_->nodes[child].end;
  return at(child);
}

std::string JsonValue::Pointer() const {
  return PointerWithin(std::numeric_limits<std::size_t>::max() / 2);
}

std::string JsonValue::PointerWithin(std::size_t max_bytes) const {
  return json_internal::PointerOf(*tree_, id_, max_bytes);
}

std::string JsonValue::Compact() const {
  std::string out;
  AppendCompact(&out);
  return out;
}

void JsonValue::AppendCompact(std::string* out) const {
  // Arrays and objects that are open: where each ends, and its closing bracket.
  std::vector<std::pair<JsonId, char>> open;
  for (JsonId id = id_; id < node().end; ++id) {
    const json_internal::Node& n = tree_->nodes[id];
    if (id != id_ && n.index > 0) out->push_back(',');
    assert(id == id_ || !open.empty());
    if (id != id_ && open.back().second == '}') {
      AppendJsonString(n.key, out);
      out->push_back(':');
    }
    switch (n.type) {
      case JsonType::kNull:
        out->append("null");
        break;
      case JsonType::kFalse:
        out->append("false");
        break;
      case JsonType::kTrue:
        out->append("true");
        break;
      case JsonType::kNumber:
        out->append(n.text.data(), n.text.size());
        break;
      case JsonType::kString:
        AppendJsonString(n.text, out);
        break;
      case JsonType::kArray:
        out->push_back('[');
        open.emplace_back(n.end, ']');
        break;
      case JsonType::kObject:
        out->push_back('{');
        open.emplace_back(n.end, '}');
        break;
      case JsonType::kUnread:
        assert(false && "what is unread has no text but that of the source");
        break;
    }
    for (; !open.empty() && open.back().first == id + 1; open.pop_back())
      out->push_back(open.back().second);
  }
}

absl::StatusOr<JsonDocument> JsonDocument::Read(const KnownObjects* known, absl::string_view text,
                                                const Limits& limits) {
  auto tree = std::make_unique<json_internal::Tree>();
  tree->texts.push_back({std::string(text), "", 0});
  json_internal::Reader reader(limits.source_depth, tree.get());
  if (known != nullptr) reader.LeaveUnread(*known);
  if (absl::Status status = reader.Read(); !status.ok()) return status;
  return JsonDocument(std::move(tree));
}

absl::StatusOr<JsonDocument> JsonDocument::Parse(absl::string_view text, const Limits& limits) {
  return Read(nullptr, text, limits);
}

absl::StatusOr<JsonDocument> JsonDocument::ParseAround(const KnownObjects& known,
                                                       absl::string_view text,
                                                       const Limits& limits) {
  return Read(&known, text, limits);
}

absl::StatusOr<JsonValue> JsonDocument::Add(absl::string_view text, absl::string_view name,
                                            const Limits& limits) {
  const auto root = static_cast<JsonId>(tree_->nodes.size());
  tree_->texts.push_back({std::string(text), std::string(name), root});
  const absl::Status status = json_internal::Reader(limits.source_depth, tree_.get()).Read();
  if (absl::IsInvalidArgument(status)) {
    const std::string place = ErrorPlace(status);
    return InvalidAt(absl::StrCat(name, ":", place),
                     status.message().substr(place.size() + absl::string_view(": ").size()));
  }
  if (!status.ok()) return status;
  return JsonValue(tree_.get(), root);
}

void AppendJsonString(absl::string_view utf8, std::string* out) {
  constexpr char kHex[] = "0123456789abcdef";
  constexpr absl::string_view kShort = "\b\t\n\f\r\"\\";
  constexpr absl::string_view kLetters = "btnfr\"\\";
  out->push_back('"');
  while (!utf8.empty()) {
    const std::size_t plain = CountPlain(utf8);
    out->append(utf8.data(), plain);
    utf8.remove_prefix(plain);
    if (utf8.empty()) break;
    const char c = utf8.front();
    utf8.remove_prefix(1);
    const std::size_t at = kShort.find(c);
    if (at != absl::string_view::npos) {
      out->push_back('\\');
      out->push_back(kLetters[at]);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out->append("\\u00");
      out->push_back(kHex[c >> 4]);
      out->push_back(kHex[c & 15]);
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

std::string JsonString(absl::string_view utf8) {
  std::string out;
  AppendJsonString(utf8, &out);
  return out;
}

std::string JsonList(absl::Span<const std::string> items, absl::string_view comma) {
  return absl::StrCat("[", absl::StrJoin(items, comma), "]");
}

std::string JsonTextList(absl::Span<const std::string> texts, absl::string_view comma) {
  const auto quote = [](std::string* out, const std::string& text) { AppendJsonString(text, out); };
  return absl::StrCat("[", absl::StrJoin(texts, comma, quote), "]");
}

}  // namespace maskd
