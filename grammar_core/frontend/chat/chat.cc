// A request becomes the text of a structural tag, and that tag's reader does the rest. Places in
// the tag mean nothing to the caller. So after an error each tool is read alone, and the one that
// fails alone is told at its own place in the request, or left out where the caller asks for it.
//
// Invariant  a place that is told is one of the source, or empty.
// Cost       one reading of the tag; after an error, or where a schema has no values, one more for
//            each tool. With "leave_out" the whole is read again while tools go.
#include "grammar_core/frontend/chat/chat.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/chat/chat_request.h"
#include "grammar_core/frontend/chat/chat_tag.h"
#include "grammar_core/frontend/json_schema/schema_store.h"
#include "grammar_core/frontend/structural_tag/structural_tag.h"
#include "grammar_core/ir/passes/productive_nodes.h"

namespace maskd {
namespace {

class ChatReader {
 public:
  ChatReader(const GrammarSource& source, const ReadContext& context, const Limits& limits,
             Budget& budget)
      : context_(context), limits_(limits), budget_(budget) {
    source_.kind = "structural_tag";
    source_.options = source.options;
    source_.documents = source.documents;
  }

  absl::StatusOr<ReadResult> Read(const ChatSource& first) {
    ChatRequest request = *first.request;
    absl::StatusOr<ChatTagText> less;  // without tools that were left out
    const absl::StatusOr<ChatTagText>* tag = &first.tag;
    source_.options.spelling = SpellingOf(request.family);
    const bool must_call = request.must_call;
    std::vector<Diagnostic> left_out;
    for (;; less = MakeChatTag(request, context_.schemas), tag = &less) {
      if (!tag->ok()) return tag->status();
      absl::StatusOr<ReadResult> read = ReadTag((*tag)->text, &(*tag)->tools);
      if (read.ok()) {
        const bool is_asked = read->has_empty_parts && !request.tools.empty();
        const absl::Status told =
            is_asked ? TellUnusable(request, read->ir, &left_out) : absl::OkStatus();
        if (!told.ok()) return told;
        for (Diagnostic& tool : left_out) AddWarning(std::move(tool), &read->warnings);
        MovePlacesOfTag(request, &*read);
        return read;
      }
      const std::size_t before = request.tools.size();
      absl::Status fault = FindFault(&request, read.status(), &left_out);
      const bool some_left = !request.tools.empty() || !must_call;
      if (request.tools.size() == before || !some_left) return fault;
    }
  }

 private:
  absl::StatusOr<ReadResult> ReadTag(const std::string& tag,
                                     const std::vector<TagTool>* tools = nullptr) const {
    absl::StatusOr<JsonDocument> document = JsonDocument::Parse(tag, limits_);
    if (!document.ok()) return document.status();
    ReadContext context = context_;
    context.tools = tools;
    return ReadStructuralTag(*std::move(document), source_, context, limits_, budget_);
  }

  // Which part of the request `error` comes from: each tool is asked by itself. Bad ones are left
  // out where that is asked for.
  absl::Status FindFault(ChatRequest* request, const absl::Status& error,
                         std::vector<Diagnostic>* left_out) const {
    absl::Status first;
    for (auto tool = request->tools.begin(); tool != request->tools.end();) {
      const absl::Status status = ReadTag(ToolTag(*request, *tool)).status();
      if (status.ok()) {
        ++tool;
        continue;
      }
      if (absl::IsDeadlineExceeded(status) || absl::IsCancelled(status)) return status;
      const absl::Status placed = InTool(status, *tool);
      if (!request->leave_out_bad_tools) return placed;
      left_out->push_back({ErrorPlace(placed), absl::StrCat("left out: ", MessageOf(placed))});
      if (first.ok()) first = placed;
      tool = request->tools.erase(tool);
    }
    return first.ok() ? InResponseFormat(*request, error) : first;
  }

  // A tool whose schema nothing satisfies is in no text: it is refused, or told to be left out.
  // Each is asked by itself, if there is any such schema.
  absl::Status TellUnusable(const ChatRequest& request, const GrammarIr& ir,
                            std::vector<Diagnostic>* left_out) const {
    const absl::StatusOr<std::vector<bool>> productive = ProductiveNodes(ir, budget_);
    if (!productive.ok()) return productive.status();
    const bool is_any = absl::c_any_of(ir.rules, [&](const IrRule& rule) {
      const bool is_schema =
          IsPlaceInTool(rule.place) || absl::EndsWith(rule.place, "/json_schema");
      return is_schema && !(*productive)[rule.body];
    });
    if (!is_any) return absl::OkStatus();
    for (const ChatTool& tool : request.tools) {
      const absl::StatusOr<ReadResult> alone = ReadTag(ToolTag(request, tool));
      if (!alone.ok()) return alone.status();
      const absl::StatusOr<std::vector<bool>> nodes = ProductiveNodes(alone->ir, budget_);
      if (!nodes.ok()) return nodes.status();
      if ((*nodes)[alone->ir.rules[alone->ir.start].body]) continue;
      const absl::Status placed = InTool(
          InvalidAt("", "nothing satisfies the schema, so the tool could never be called"), tool);
      if (!request.leave_out_bad_tools) return placed;
      left_out->push_back({ErrorPlace(placed), absl::StrCat("left out: ", MessageOf(placed))});
    }
    return absl::OkStatus();
  }

  // An error's message without its place.
  static std::string MessageOf(const absl::Status& status) {
    const std::string place = ErrorPlace(status);
    absl::string_view message(status.message().data(), status.message().size());
    if (!place.empty()) absl::ConsumePrefix(&message, absl::StrCat(place, ": "));
    return std::string(message);
  }

  static std::string BehindSchema(absl::string_view place) {
    constexpr absl::string_view kKey = "/json_schema";
    const std::size_t at = place.find(kKey);
    return at == absl::string_view::npos ? "" : std::string(place.substr(at + kKey.size()));
  }

  static absl::Status InTool(const absl::Status& status, const ChatTool& tool) {
    const std::string within =
        tool.schema.has_value()
            ? absl::StrCat(tool.schema->Pointer(), BehindSchema(ErrorPlace(status)))
            : tool.at.Pointer();
    return ErrorAt(status.code(), within, ErrorReason(status),
                   absl::StrCat("in ", ToolPlace(tool), ": ", MessageOf(status)));
  }

  static absl::Status InResponseFormat(const ChatRequest& request, const absl::Status& status) {
    if (!request.response_format.has_value()) return OfTheTag(status);
    if (ErrorReason(status).empty()) return status;
    const std::string place = request.response_format->Pointer();
    // A tag's format may hold schemas of its own, anywhere.
    const std::optional<JsonValue> type = request.response_format->Find("type");
    const bool is_schema = type.has_value() && type->text() == "json_schema" &&
                           absl::StrContains(ErrorPlace(status), "/json_schema");
    return ErrorAt(
        status.code(),
        is_schema ? absl::StrCat(place, "/json_schema/schema", BehindSchema(ErrorPlace(status)))
                  : place,
        ErrorReason(status), MessageOf(status));
  }

  // Places within the tag that is made are no places of the source.
  static bool IsInTag(absl::string_view place) {
    return absl::StartsWith(place, "/format") || IsPlaceInTool(place);
  }

  static std::string ToldOfTag(absl::string_view place, absl::string_view message) {
    const absl::string_view in = IsPlaceInTool(place) ? "in " : "in the tag that is made, at ";
    return absl::StrCat(in, place, ": ", message);
  }

  static absl::Status OfTheTag(const absl::Status& status) {
    const std::string place = ErrorPlace(status);
    if (ErrorReason(status).empty() || !IsInTag(place)) return status;
    return ErrorAt(status.code(), "", ErrorReason(status), ToldOfTag(place, MessageOf(status)));
  }

  static void MovePlacesOfTag(const ChatRequest& request, ReadResult* read) {
    for (std::vector<Diagnostic>* const remarks : {&read->warnings, &read->bounds})
      for (Diagnostic& remark : *remarks)
        if (IsInTag(remark.place)) remark = {"", ToldOfTag(remark.place, remark.message)};
    const auto clear = [](auto& all) {
      for (auto& one : all)
        if (IsInTag(one.place)) one.place.clear();
    };
    // A tool that nothing satisfies was told before.
    for (auto& [rule, fault] : read->faults)
      fault = request.tools.empty() ? InResponseFormat(request, fault) : OfTheTag(fault);
    clear(read->ir.rules);
    clear(read->ir.distinct);
    clear(read->ir.token_specs);
  }

  GrammarSource source_;  // without a text
  const ReadContext& context_;
  const Limits& limits_;
  Budget& budget_;
};

}  // namespace

absl::StatusOr<JsonDocument> ParseChat(absl::string_view text, const ReadContext& context,
                                       const Limits& limits) {
  if (context.schemas == nullptr) return JsonDocument::Parse(text, limits);
  static const auto* const kPaths =
      new std::vector<std::vector<absl::string_view>>(PathsOfToolSchemas());
  return JsonDocument::ParseAround(
      {*kPaths, [&](absl::string_view object) { return context.schemas->KnownText(object); }}, text,
      limits);
}

ChatSource::ChatSource(const JsonValue& root, SchemaStore* schemas)
    : request(ReadChatRequest(root)),
      tag(request.ok() ? MakeChatTag(*request, schemas)
                       : absl::StatusOr<ChatTagText>(request.status())) {}

absl::StatusOr<ReadResult> ReadChat(const ChatSource& text, const GrammarSource& source,
                                    const ReadContext& context, const Limits& limits,
                                    Budget& budget) {
  if (!text.tag.ok()) return text.tag.status();
  return ChatReader(source, context, limits, budget).Read(text);
}

std::string NormalChat(const ChatSource& text, const JsonValue& root) {
  if (!text.tag.ok()) return root.Compact();
  // What becomes of a bad tool, how JSON is spelled and how answers are read back are no parts of
  // the tag. Two families may write the same and read it otherwise.
  std::string whole = absl::StrCat(text.request->leave_out_bad_tools ? "leave_out " : "",
                                   text.request->family.content, text.tag->text);
  std::size_t bytes = whole.size();
  constexpr std::size_t kQuotes = 2;
  for (const TagTool& tool : text.tag->tools)
    bytes += tool.name.size() + kQuotes + tool.schema.text().size();
  whole.reserve(bytes);
  for (const TagTool& tool : text.tag->tools) {
    AppendJsonString(tool.name, &whole);
    whole.append(tool.schema.text());
  }
  return whole;
}

}  // namespace maskd
