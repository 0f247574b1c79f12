// A template has a field for each part of a message, with what opens and closes it. Every member of
// a field is either turned round or refused: the family would write another form without it.
//
// Invariant  what the file writes, transformers' parser reads back, white space around texts aside.
// Cost       linear in the template.
#include "grammar_core/frontend/chat/response_template.h"

#include <cassert>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/chat/family.h"
#include "grammar_core/frontend/chat/response_call.h"
#include "grammar_core/frontend/chat/response_pattern.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/structural_tag/fields.h"

namespace maskd {
namespace {

using Kind = PatternPiece::Kind;

// As files of families are written.
constexpr absl::string_view kComma = ", ";

std::string Trimmed(absl::string_view text) {
  return std::string(absl::StripAsciiWhitespace(text));
}

class Importer {
 public:
  explicit Importer(const ResponseTemplateOptions& options) : options_(options) {}

  absl::StatusOr<std::string> Make(const JsonValue& root) {
    const absl::StatusOr<JsonValue> at = TemplateOf(root);
    if (!at.ok()) return at.status();
    absl::Status read =
        CheckKeys(*at, {"version", "defaults", "fields", "start_anchor", "start_anchor_pattern"});
    if (read.ok()) read = CheckDefaults(*at);
    if (!read.ok()) return read;
    const std::optional<JsonValue> fields = at->Find("fields");
    if (!fields.has_value() || !fields->is_object())
      return InvalidMember(*at, "fields", "must be an object");
    if (read = ReadFields(*fields); !read.ok()) return read;
    return File();
  }

 private:
  static absl::StatusOr<JsonValue> TemplateOf(const JsonValue& root) {
    if (!root.is_object()) return InvalidAt("", "must be an object");
    const std::optional<JsonValue> found = root.Find("response_template");
    if (found.has_value() && found->is_object()) return *found;
    if (root.Find("fields").has_value()) return root;
    const std::optional<JsonValue> schema = root.Find("response_schema");
    if (schema.has_value() || root.Find("properties").has_value()) {
      return UnsupportedAt(schema.has_value() ? schema->Pointer() : "", "response_schema",
                           "its regular expressions read answers and say nothing of how they are "
                           "written; transformers reads it no more");
    }
    return InvalidMember(root, "response_template", "is missing");
  }

  static absl::Status CheckDefaults(const JsonValue& at) {
    const std::optional<JsonValue> version = at.Find("version");
    if (version.has_value() && version->text() != "1")
      return UnsupportedAt(version->Pointer(), "a version", "known is 1");
    const std::optional<JsonValue> defaults = at.Find("defaults");
    if (!defaults.has_value()) return absl::OkStatus();
    for (const JsonValue one : defaults->children()) {
      if (one.key() == "role" && one.text() == "assistant") continue;
      return UnsupportedAt(one.Pointer(), "a default", "but the role \"assistant\"");
    }
    return absl::OkStatus();
  }

  absl::Status ReadFields(const JsonValue& fields) {
    std::optional<JsonValue> calls;
    // The content's end comes first: it ends a turn, wherever that stands.
    if (const std::optional<JsonValue> content = fields.Find("content"); content.has_value())
      if (absl::Status read = ReadContent(*content); !read.ok()) return read;
    for (const JsonValue field : fields.children()) {
      const absl::Status keys = CheckKeys(
          field, {"open", "open_pattern", "close", "close_pattern", "content", "content_args",
                  "repeats", "join", "optional", "transform", "transform_each"});
      if (!keys.ok()) return keys;
      const absl::string_view name = field.key();
      absl::Status read;
      if (name == "tool_calls")
        calls = field;
      else if (absl::StrContains(name, "reasoning") || absl::StrContains(name, "thinking"))
        read = ReadReasoning(field);
      else if (name != "content")
        read = UnsupportedAt(field.Pointer(), "a field", "but reasoning, content and tool_calls");
      if (!read.ok()) return read;
    }
    if (!calls.has_value())
      return UnsupportedAt(fields.Pointer(), "a template without tool_calls",
                           "a family says how calls are written");
    // Free text that held an end would be read as two.
    for (const std::string& turn_end : turn_ends_) {
      const std::string end = Trimmed(turn_end);
      if (!end.empty() && !absl::c_linear_search(excludes_, end)) excludes_.push_back(end);
    }
    absl::StatusOr<ResponseCalls> read =
        ReadResponseCalls(*calls, turn_ends_, {options_.space, options_.behind_arguments});
    if (!read.ok()) return read.status();
    calls_ = *std::move(read);
    return absl::OkStatus();
  }

  // A field that is one text.
  static absl::Status CheckText(const JsonValue& field) {
    const absl::string_view content = field.FindText("content");
    if (!content.empty() && content != "text")
      return UnsupportedAt(field.Find("content")->Pointer(), "a field's content", "but text");
    for (const absl::string_view key : {"repeats", "transform", "join"}) {
      const std::optional<JsonValue> member = field.Find(key);
      if (member.has_value() && member->type() != JsonType::kFalse &&
          member->type() != JsonType::kNull)
        return UnsupportedAt(member->Pointer(), key, "beside text");
    }
    return absl::OkStatus();
  }

  absl::Status ReadContent(const JsonValue& field) {
    if (absl::Status read = CheckText(field); !read.ok()) return read;
    for (const absl::string_view key : {"open", "open_pattern"}) {
      const std::optional<JsonValue> open = field.Find(key);
      if (!open.has_value()) continue;
      return UnsupportedAt(open->Pointer(), "content that is opened",
                           "what stands between two fields is passed over, so it is not said");
    }
    // What it cannot say of itself, it says of no call either.
    const absl::StatusOr<ResponseAnchor> close = ReadResponseAnchor(field, "close");
    if (!close.ok()) return absl::OkStatus();
    turn_ends_ = close->texts;
    for (const PatternPiece& piece : close->pieces) {
      if (piece.kind == Kind::kText) turn_ends_.push_back(piece.text);
      if (piece.kind == Kind::kChoice) absl::c_copy(piece.choices, std::back_inserter(turn_ends_));
    }
    return absl::OkStatus();
  }

  // The texts that an anchor of one text is, white space at its ends aside.
  static absl::StatusOr<std::vector<std::string>> PlainTexts(const ResponseAnchor& anchor) {
    if (!anchor.texts.empty()) return anchor.texts;
    std::vector<std::string> texts;
    for (const PatternPiece& piece : anchor.pieces) {
      if (piece.kind == Kind::kSpace) continue;
      if (piece.kind == Kind::kText && texts.empty()) {
        texts.push_back(piece.text);
        continue;
      }
      return UnsupportedAt(anchor.place, "more than a text and white space", "around reasoning");
    }
    return texts;
  }

  absl::Status ReadReasoning(const JsonValue& field) {
    if (absl::Status read = CheckText(field); !read.ok()) return read;
    const absl::StatusOr<ResponseAnchor> open = ReadResponseAnchor(field, "open");
    if (!open.ok()) return open.status();
    const absl::StatusOr<ResponseAnchor> close = ReadResponseAnchor(field, "close");
    if (!close.ok()) return close.status();
    const absl::StatusOr<std::vector<std::string>> begins = PlainTexts(*open);
    if (!begins.ok()) return begins.status();
    const absl::StatusOr<std::vector<std::string>> ends = PlainTexts(*close);
    if (!ends.ok()) return ends.status();
    if (begins->size() != 1 || begins->front().empty())
      return UnsupportedAt(open->place.empty() ? field.Pointer() : open->place,
                           "reasoning that is not opened by one text", "a family has one");
    if (ends->empty()) return UnsupportedAt(field.Pointer(), "reasoning without a close", "");
    reasoning_begin_ = begins->front();
    excludes_.push_back(Trimmed(reasoning_begin_));
    for (const std::string& end : *ends) {
      for (const absl::string_view before : {"\n", ""})
        for (const absl::string_view behind : {"\n\n", "\n", ""})
          reasoning_ends_.push_back(absl::StrCat(before, end, behind));
      excludes_.push_back(Trimmed(end));
    }
    return absl::OkStatus();
  }

  [[nodiscard]] std::string File() const {
    assert(!calls_.call.empty() && "a family says how calls are written");
    assert(reasoning_begin_.empty() == reasoning_ends_.empty() && "reasoning has both ends");
    std::string out = absl::StrCat("{\n  \"id\": ", JsonString(options_.family),
                                   ",\n  \"models\": ", JsonString(options_.models), ",\n");
    if (!reasoning_begin_.empty())
      absl::StrAppend(&out, "  \"reasoning\": {\"begin\": ", JsonString(reasoning_begin_),
                      ", \"end\": ", JsonTextList(reasoning_ends_, kComma), "},\n");
    if (!excludes_.empty())
      absl::StrAppend(&out, "  \"excludes\": ", JsonTextList(excludes_, kComma), ",\n");
    absl::StrAppend(&out, "  \"calls\": {\n    \"trigger\": ", JsonString(calls_.trigger), ",\n");
    if (!calls_.begin.empty())
      absl::StrAppend(&out, "    \"begin\": ", JsonString(calls_.begin),
                      ",\n    \"end\": ", JsonString(calls_.end), ",\n");
    if (!calls_.separator.empty())
      absl::StrAppend(&out, "    \"separator\": ", JsonString(calls_.separator), ",\n");
    absl::StrAppend(&out, "    \"parallel\": ", calls_.parallel ? "true" : "false",
                    ",\n    \"call\": ", JsonList(calls_.call, kComma), "\n  }\n}\n");
    return out;
  }

  const ResponseTemplateOptions& options_;
  std::vector<std::string> turn_ends_;
  std::string reasoning_begin_;
  std::vector<std::string> reasoning_ends_;
  std::vector<std::string> excludes_;
  ResponseCalls calls_;
};

}  // namespace

absl::StatusOr<std::string> FamilyOfResponseTemplate(absl::string_view text,
                                                     const ResponseTemplateOptions& options) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(text, Limits());
  if (!document.ok()) return document.status();
  absl::StatusOr<std::string> file = Importer(options).Make(document->root());
  if (!file.ok()) return file.status();
  const absl::StatusOr<ChatFamily> family = ReadChatFamily(*file);
  if (!family.ok()) return family.status();
  return file;
}

}  // namespace maskd
