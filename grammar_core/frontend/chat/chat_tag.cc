// Writes the structural tag as text. The tag is both what is compiled and what tells two requests
// apart, so it is made of nothing but what changes the answer. A call's texts before its first
// arguments or pattern are the tag's "begin"; what follows the last of them is its "end".
//
// Invariant  the same request has the same text: order and spelling depend on no hash or address.
// Cost       linear in the schemas and the family's texts.
#include "grammar_core/frontend/chat/chat_tag.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/chat/plain_schema.h"
#include "grammar_core/frontend/json_schema/schema_store.h"

namespace maskd {
namespace {

using Kind = ChatFamily::Part::Kind;

std::string Const(absl::string_view text) {
  return absl::StrCat(R"({"type":"const_string","value":)", JsonString(text), "}");
}

std::string Several(absl::string_view type, const std::vector<std::string>& elements) {
  if (elements.size() == 1) return elements[0];
  return absl::StrCat(R"({"type":")", type, R"(","elements":)", JsonList(elements), "}");
}

std::string TagOf(absl::string_view begin, absl::string_view content,
                  const std::vector<std::string>& ends, absl::string_view type = "tag") {
  return absl::StrCat(R"({"type":")", type, R"(","begin":)", JsonString(begin), R"(,"content":)",
                      content, R"(,"end":)", JsonTextList(ends), "}");
}

constexpr absl::string_view kJson = R"("json")";

// `style` as JSON.
std::string SchemaFormat(absl::string_view schema, absl::string_view style) {
  return absl::StrCat(R"({"type":"json_schema","json_schema":)", schema, R"(,"style":)", style,
                      "}");
}

absl::string_view Flag(bool flag) { return flag ? "true" : "false"; }

class TagMaker {
 public:
  // With `one_for_all` a tag stands for one of each tool.
  explicit TagMaker(const ChatRequest& request, bool one_for_all = false)
      : request_(request), family_(request.family), one_for_all_(one_for_all) {}

  absl::StatusOr<std::string> Whole() const {
    const absl::StatusOr<std::string> behind = BehindReasoning();
    if (!behind.ok()) return behind.status();
    std::vector<std::string> elements;
    if (request_.reasoning != ChatReasoning::kOff) elements.push_back(Reasoning());
    elements.push_back(*behind);
    return absl::StrCat(R"({"type":"structural_tag","format":)", Several("sequence", elements),
                        "}");
  }

  [[nodiscard]] std::string Call(const ChatTool& tool) const {
    return Call(NamesOf(tool), family_.call);
  }

  // Nothing where any text may be the answer.
  [[nodiscard]] absl::StatusOr<std::optional<std::string>> ResponseFormat() const {
    if (!request_.response_format.has_value()) return std::nullopt;
    const JsonValue& at = *request_.response_format;
    if (!at.is_object()) return InvalidAt(at.Pointer(), "must be an object");
    const std::optional<JsonValue> type = at.Find("type");
    const absl::string_view name = type.has_value() && type->is_string() ? type->text() : "";
    if (name == "text") return std::nullopt;
    if (name == "json_object") return SchemaFormat(R"({"type":"object"})", kJson);
    if (name == "json_schema") {
      const std::optional<JsonValue> named = at.Find("json_schema");
      const std::optional<JsonValue> schema =
          named.has_value() && named->is_object() ? named->Find("schema") : std::nullopt;
      if (schema.has_value()) return SchemaFormat(PlainSchema(*schema), kJson);
      return InvalidAt(absl::StrCat(at.Pointer(), "/json_schema/schema"), "is missing");
    }
    if (name == "structural_tag") {
      const std::optional<JsonValue> format = at.Find("format");
      if (format.has_value()) return format->Compact();
    }
    if (name == "regex") {
      const std::optional<JsonValue> pattern = at.Find("pattern");
      if (pattern.has_value() && pattern->is_string()) return Pattern(pattern->text());
    }
    return UnsupportedAt(at.Pointer(), "a response format of this shape",
                         "known are text, json_object, json_schema, regex with a pattern and "
                         "structural_tag with a format");
  }

 private:
  using Parts = std::vector<ChatFamily::Part>;

  // What a call has of its tool, and the type of its tag.
  struct Tool {
    std::string name;
    std::string schema;
    absl::string_view type = "tag";
  };

  [[nodiscard]] Tool NamesOf(const ChatTool& tool) const {
    return {tool.name, ArgumentsSchema(request_, tool).text()};
  }

  static Tool AnyTool() { return {std::string(kToolMark), JsonString(kToolMark), kTagOfEachTool}; }

  [[nodiscard]] static std::string Call(const Tool& tool, const Parts& call) {
    std::string begin;
    std::string end;
    std::vector<std::string> content;
    for (const ChatFamily::Part& part : call) {
      if (part.kind == Kind::kArguments || part.kind == Kind::kPattern) {
        if (!content.empty() && !end.empty()) content.push_back(Const(end));
        end.clear();
        content.push_back(part.kind == Kind::kArguments ? SchemaFormat(tool.schema, part.text)
                                                        : Pattern(part.text));
      } else {
        absl::StrAppend(content.empty() ? &begin : &end,
                        part.kind == Kind::kText ? part.text : tool.name);
      }
    }
    return TagOf(begin, Several("sequence", content), {end}, tool.type);
  }

  // The call with another head in place of what stands before its arguments.
  [[nodiscard]] Parts WithHead(Parts head) const {
    const auto arguments = absl::c_find_if(
        family_.call, [](const ChatFamily::Part& part) { return part.kind == Kind::kArguments; });
    head.insert(head.end(), arguments, family_.call.end());
    return head;
  }

  static std::string Pattern(absl::string_view pattern) {
    return absl::StrCat(R"({"type":"regex","pattern":)", JsonString(pattern), "}");
  }

  [[nodiscard]] std::string Reasoning() const {
    const std::string most = request_.reasoning_tokens.has_value()
                                 ? absl::StrCat(R"(,"max_tokens":)", *request_.reasoning_tokens)
                                 : "";
    const std::string text = absl::StrCat(R"({"type":"any_text")", most, "}");
    const bool is_open = request_.reasoning == ChatReasoning::kOpen;
    std::string block =
        TagOf(is_open ? "" : family_.reasoning->begin, text, family_.reasoning->ends);
    if (!family_.between.empty()) block = Several("sequence", {block, Const(family_.between)});
    if (request_.reasoning != ChatReasoning::kAuto) return block;
    return absl::StrCat(R"({"type":"optional","content":)", block, "}");
  }

  [[nodiscard]] absl::StatusOr<std::string> BehindReasoning() const {
    if (request_.must_call) return ForcedCalls();
    const absl::StatusOr<std::optional<std::string>> format = ResponseFormat();
    if (!format.ok()) return format.status();
    if (request_.tools.empty()) return Answer(format->value_or(FreeText()));
    if (format->has_value()) return Several("or", {Answer(**format), ForcedCalls()});
    if (family_.answer.has_value()) return Several("or", {Answer(FreeText()), CallsBehindAnswer()});
    return FreeTextWithCalls();
  }

  // The calls, and before them what may be answered beside them.
  [[nodiscard]] std::string CallsBehindAnswer() const {
    if (family_.answer->calls.empty()) return ForcedCalls();
    const std::string answer = TagOf(family_.answer->begin, FreeText(), {family_.answer->calls});
    return Several("sequence",
                   {absl::StrCat(R"({"type":"optional","content":)", answer, "}"), ForcedCalls()});
  }

  [[nodiscard]] std::string Answer(const std::string& content) const {
    if (family_.answer.has_value())
      return TagOf(family_.answer->begin, content, family_.answer->ends);
    if (family_.content_end.empty()) return content;
    return Several("sequence", {content, absl::StrCat(R"({"type":"optional","content":)",
                                                      Const(family_.content_end), "}")});
  }

  // What ends free text.
  [[nodiscard]] const std::string& Trigger() const {
    return family_.content_end.empty() ? family_.trigger : family_.content_end;
  }

  // Without what begins a call, so that none is begun.
  [[nodiscard]] std::string FreeText() const {
    std::vector<std::string> excludes = family_.excludes;
    excludes.push_back(Trigger());
    return absl::StrCat(R"({"type":"any_text","excludes":)", JsonTextList(excludes), "}");
  }

  [[nodiscard]] std::string Calls() const {
    std::vector<std::string> tags;
    const auto add = [&](const Tool& tool) {
      tags.push_back(Call(tool, family_.call));
      for (const Parts& head : family_.other_heads) tags.push_back(Call(tool, WithHead(head)));
    };
    if (one_for_all_)
      add(AnyTool());
    else
      for (const ChatTool& tool : request_.tools) add(NamesOf(tool));
    return JsonList(tags);
  }

  [[nodiscard]] std::string ForcedCalls() const {
    const std::string calls =
        absl::StrCat(R"({"type":"tags_with_separator","tags":)", Calls(), R"(,"separator":)",
                     JsonString(family_.separator), R"(,"at_least_one":true,"stop_after_first":)",
                     Flag(!request_.parallel), "}");
    return family_.section.has_value() ? TagOf(family_.section->begin, calls, family_.section->ends)
                                       : calls;
  }

  [[nodiscard]] std::string Sections() const {
    std::vector<std::string> sections = {ForcedCalls()};
    if (!family_.content_end.empty())
      sections.push_back(TagOf(family_.content_end, Const(""), {""}));
    return JsonList(sections);
  }

  [[nodiscard]] std::string FreeTextWithCalls() const {
    const bool in_section = family_.section.has_value();
    const std::string tags = in_section ? Sections() : Calls();
    return absl::StrCat(R"({"type":"triggered_tags","triggers":)", JsonTextList({Trigger()}),
                        R"(,"tags":)", tags, R"(,"excludes":)", JsonTextList(family_.excludes),
                        R"(,"stop_after_first":)", Flag(in_section || !request_.parallel), "}");
  }

  const ChatRequest& request_;
  const ChatFamily& family_;
  const bool one_for_all_;
};

}  // namespace

SharedText ArgumentsSchema(const ChatRequest& request, const ChatTool& tool, SchemaStore* schemas) {
  const bool held =
      request.strictness == ChatStrictness::kParameter || HasDeclaredNamesOnly(request.family) ||
      (request.strictness == ChatStrictness::kAuto && (tool.strict || request.must_call));
  if (!held) return SharedText(R"({"type":"object"})");
  // Without parameters a function takes none.
  if (!tool.schema.has_value())
    return SharedText(R"({"type":"object","properties":{},"additionalProperties":false})");
  const JsonValue& schema = *tool.schema;
  if (schema.is_unread()) return schema.known();
  if (schemas == nullptr || schema.source().empty()) return SharedText(PlainSchema(schema));
  return schemas->Text(schema.source(), [&] { return PlainSchema(schema); });
}

namespace {

// Whether a text has what means a tool.
bool HasToolMark(absl::string_view json) {
  const std::string mark = JsonString(kToolMark);
  return absl::StrContains(json, mark.substr(1, mark.size() - 2));
}

absl::StatusOr<ChatTagText> MakeTag(const ChatRequest& request, bool one_for_all,
                                    SchemaStore* schemas) {
  ChatTagText tag;
  absl::StatusOr<std::string> text = TagMaker(request, one_for_all).Whole();
  if (!text.ok()) return text.status();
  tag.text = *std::move(text);
  if (!one_for_all) return tag;
  tag.tools.reserve(request.tools.size());
  for (const ChatTool& tool : request.tools)
    tag.tools.push_back({tool.name, ArgumentsSchema(request, tool, schemas)});
  return tag;
}

}  // namespace

absl::StatusOr<ChatTagText> MakeChatTag(const ChatRequest& request, SchemaStore* schemas) {
  // A response format, or a text of the family, may have what means a tool here.
  const bool is_plain =
      !request.response_format.has_value() && !HasToolMark(request.family.content);
  return MakeTag(request, is_plain, schemas);
}

absl::StatusOr<ChatTagText> MakeChatTagOfEachTool(const ChatRequest& request) {
  const bool has_mark =
      HasToolMark(request.family.content) ||
      (request.response_format.has_value() && HasToolMark(request.response_format->Compact()));
  if (has_mark) return UnsupportedAt("", "a text that means a tool");
  return MakeTag(request, true, nullptr);
}

absl::StatusOr<std::optional<std::string>> ResponseFormatTag(const ChatRequest& request) {
  return TagMaker(request).ResponseFormat();
}

absl::StatusOr<std::string> ChatTag(const ChatRequest& request) {
  return TagMaker(request).Whole();
}

std::string ToolTag(const ChatRequest& request, const ChatTool& tool) {
  return absl::StrCat(R"({"type":"structural_tag","format":)", TagMaker(request).Call(tool), "}");
}

}  // namespace maskd
