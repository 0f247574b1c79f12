// Reads a family's file into a plain value, member by member, and refuses any key it does not know.
// A mistyped key would else be a family that silently writes another form.
//
// Invariant  a family that was read has a trigger and a call; every style in it has been read.
// Cost       a family is parsed at each look-up by name: files are of a few hundred bytes.
#include "grammar_core/frontend/chat/family.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/json/json_document.h"
#include "grammar_core/frontend/structural_tag/fields.h"

namespace maskd {
namespace {

using Kind = ChatFamily::Part::Kind;

// The text of a name's part that is of word characters alone.
constexpr absl::string_view kWord = "word";

absl::StatusOr<std::string> TextOr(const JsonValue& object, absl::string_view key) {
  const std::optional<JsonValue> member = object.Find(key);
  if (!member.has_value()) return std::string();
  if (!member->is_string()) return InvalidMember(object, key, "must be a string");
  return std::string(member->text());
}

absl::StatusOr<ChatFamily::Frame> ReadFrame(const JsonValue& at) {
  absl::Status keys = CheckKeys(at, {"begin", "end"});
  if (at.key() == "answer") keys = CheckKeys(at, {"begin", "end", "calls"});
  if (!keys.ok()) return keys;
  absl::StatusOr<std::string> begin = TextOr(at, "begin");
  if (!begin.ok()) return begin.status();
  absl::StatusOr<std::string> calls = TextOr(at, "calls");
  if (!calls.ok()) return calls.status();
  ChatFamily::Frame frame = {*std::move(begin), {}, *std::move(calls)};
  const absl::StatusOr<JsonValue> end = RequiredMember(at, "end");
  if (!end.ok()) return end.status();
  if (end->is_string()) {
    frame.ends.emplace_back(end->text());
    return frame;
  }
  if (!end->is_array() || end->size() == 0)
    return InvalidMember(at, "end", "must be a string or a list of strings");
  for (const JsonValue one : end->children()) {
    if (!one.is_string()) return InvalidAt(one.Pointer(), "must be a string");
    frame.ends.emplace_back(one.text());
  }
  return frame;
}

absl::Status ReadOptionalFrame(const JsonValue& at, absl::string_view key,
                               std::optional<ChatFamily::Frame>* frame) {
  const std::optional<JsonValue> member = at.Find(key);
  if (!member.has_value()) return absl::OkStatus();
  absl::StatusOr<ChatFamily::Frame> read = ReadFrame(*member);
  if (!read.ok()) return read.status();
  *frame = *std::move(read);
  return absl::OkStatus();
}

absl::StatusOr<ChatFamily::Part> ReadPart(const JsonValue& at) {
  if (at.is_string() && !at.text().empty())
    return ChatFamily::Part{Kind::kText, std::string(at.text())};
  if (at.is_object() && at.size() == 1) {
    const JsonValue member = *at.Nth(0);
    const std::string text(member.text());
    const bool is_name = member.is_string() && member.key() == "name";
    if (is_name && (text == "raw" || text == "json" || text == kWord))
      return ChatFamily::Part{text == "json" ? Kind::kNameInJson : Kind::kName,
                              text == kWord ? text : ""};
    if (member.key() == "arguments") {
      absl::StatusOr<WrittenStyleRef> style = ReadWrittenStyle(member);
      if (!style.ok()) return style.status();
      const ArgumentStyle* const literals = *style == nullptr ? nullptr : (*style)->literals();
      if (literals != nullptr && literals->has_outer_braces)
        return InvalidAt(member.Pointer(), "is a style that is not read back; say its quote");
      return ChatFamily::Part{Kind::kArguments, member.Compact(), *std::move(style)};
    }
    if (member.is_string() && member.key() == "pattern")
      return ChatFamily::Part{Kind::kPattern, text};
  }
  return InvalidAt(at.Pointer(),
                   "must be a text, {\"name\": \"raw\", \"json\" or \"word\"}, "
                   "{\"arguments\": STYLE} or "
                   "{\"pattern\": REGEX}");
}

absl::StatusOr<std::vector<ChatFamily::Part>> ReadParts(const JsonValue& at) {
  std::vector<ChatFamily::Part> parts;
  for (const JsonValue part : at.children()) {
    absl::StatusOr<ChatFamily::Part> read = ReadPart(part);
    if (!read.ok()) return read.status();
    parts.push_back(*std::move(read));
  }
  return parts;
}

bool IsName(const ChatFamily::Part& part) {
  return part.kind == Kind::kName || part.kind == Kind::kNameInJson;
}

// Behind the call, which says whether a name stands in its head.
absl::Status ReadOtherHeads(const JsonValue& at, ChatFamily* family) {
  const std::optional<JsonValue> heads = at.Find("other_heads");
  if (!heads.has_value()) return absl::OkStatus();
  if (!heads->is_array()) return InvalidMember(at, "other_heads", "must be a list of lists");
  for (const JsonValue head : heads->children()) {
    if (!head.is_array()) return InvalidAt(head.Pointer(), "must be a list");
    absl::StatusOr<std::vector<ChatFamily::Part>> parts = ReadParts(head);
    if (!parts.ok()) return parts.status();
    const bool is_head = absl::c_all_of(*parts, [](const ChatFamily::Part& part) {
      return part.kind == Kind::kText || IsName(part);
    });
    if (!is_head || absl::c_count_if(*parts, &IsName) != 1)
      return InvalidAt(head.Pointer(), "must be texts and one name");
    family->other_heads.push_back(*std::move(parts));
  }
  const auto is_behind = [](const ChatFamily::Part& part) { return part.kind == Kind::kPattern; };
  if (absl::c_any_of(family->call, is_behind))
    return InvalidMember(at, "other_heads", "is not supported beside a pattern");
  return absl::OkStatus();
}

absl::Status ReadCalls(const JsonValue& at, ChatFamily* family) {
  const absl::Status keys = CheckKeys(at, {"trigger", "begin", "end", "separator", "parallel",
                                           "call", "other_heads", "before", "id"});
  if (!keys.ok()) return keys;
  const absl::StatusOr<absl::string_view> trigger = RequiredText(at, "trigger");
  if (!trigger.ok()) return trigger.status();
  family->trigger = std::string(*trigger);
  for (const auto& [key, text] :
       {std::pair{"separator", &family->separator}, std::pair{"before", &family->before},
        std::pair{"id", &family->id}}) {
    absl::StatusOr<std::string> read = TextOr(at, key);
    if (!read.ok()) return read.status();
    *text = *std::move(read);
  }
  const absl::StatusOr<bool> parallel = FlagOf(at, "parallel");
  if (!parallel.ok()) return parallel.status();
  family->parallel = *parallel;
  if (at.Find("begin").has_value()) {
    const absl::StatusOr<absl::string_view> begin = RequiredText(at, "begin");
    if (!begin.ok()) return begin.status();
    const absl::StatusOr<absl::string_view> end = RequiredText(at, "end");
    if (!end.ok()) return end.status();
    family->section = ChatFamily::Frame{std::string(*begin), {std::string(*end)}};
  } else if (!at.Find("before").has_value()) {
    family->before = family->separator;
  }
  const absl::StatusOr<JsonValue> call = RequiredList(at, "call");
  if (!call.ok()) return call.status();
  absl::StatusOr<std::vector<ChatFamily::Part>> parts = ReadParts(*call);
  if (!parts.ok()) return parts.status();
  family->call = *std::move(parts);
  family->has_word_names = absl::c_any_of(family->call, [](const ChatFamily::Part& part) {
    return IsName(part) && part.text == kWord;
  });
  const auto is_arguments = [](const ChatFamily::Part& part) {
    return part.kind == Kind::kArguments;
  };
  if (absl::c_none_of(family->call, &IsName) || absl::c_count_if(family->call, is_arguments) != 1)
    return InvalidMember(at, "call", "must have a name and one {\"arguments\": STYLE}");
  return ReadOtherHeads(at, family);
}

// How the model writes outside of calls and of reasoning.
absl::Status ReadContent(const JsonValue& root, ChatFamily* family) {
  absl::StatusOr<std::string> end = TextOr(root, "content_end");
  if (!end.ok()) return end.status();
  family->content_end = *std::move(end);
  const std::optional<JsonValue> spelling = root.Find("spelling");
  if (!spelling.has_value()) return absl::OkStatus();
  const absl::string_view text = spelling->is_string() ? spelling->text() : "";
  if (text != "any" && text != "canonical")
    return InvalidMember(root, "spelling", "must be \"canonical\" or \"any\"");
  family->any_spelling = text == "any";
  return absl::OkStatus();
}

absl::Status CheckContentEnd(const JsonValue& root, const ChatFamily& family) {
  const std::string& end = family.content_end;
  if (end.empty()) return absl::OkStatus();
  if (family.answer.has_value())
    return InvalidMember(root, "content_end", "is not supported beside answer");
  const bool begins_calls = absl::StartsWith(family.trigger, end) && family.section.has_value() &&
                            absl::StartsWith(family.section->begin, end);
  if (begins_calls) return absl::OkStatus();
  return InvalidMember(root, "content_end", "must begin the calls' trigger and begin");
}

absl::Status ReadInto(const JsonValue& root, ChatFamily* family) {
  const absl::Status keys = CheckKeys(root, {"id", "models", "reasoning", "between", "answer",
                                             "content_end", "excludes", "spelling", "calls"});
  if (!keys.ok()) return keys;
  for (const auto& [key, text] :
       {std::pair{"id", &family->name}, std::pair{"models", &family->models}}) {
    const absl::StatusOr<absl::string_view> read = RequiredText(root, key);
    if (!read.ok()) return read.status();
    *text = std::string(*read);
  }
  for (const JsonValue member : root.children())
    if (member.key() != "id" && member.key() != "models")
      absl::StrAppend(&family->content, member.key(), " ", member.Compact(), " ");
  absl::StatusOr<std::string> between = TextOr(root, "between");
  if (!between.ok()) return between.status();
  family->between = *std::move(between);
  absl::StatusOr<std::vector<std::string>> excludes = TextsOf(root, "excludes");
  if (!excludes.ok()) return excludes.status();
  family->excludes = *std::move(excludes);
  absl::Status read = ReadOptionalFrame(root, "reasoning", &family->reasoning);
  if (read.ok()) read = ReadOptionalFrame(root, "answer", &family->answer);
  if (read.ok()) read = ReadContent(root, family);
  if (!read.ok()) return read;
  const absl::StatusOr<JsonValue> calls = RequiredMember(root, "calls");
  if (!calls.ok()) return calls.status();
  read = ReadCalls(*calls, family);
  return read.ok() ? CheckContentEnd(root, *family) : read;
}

}  // namespace

bool HasDeclaredNamesOnly(const ChatFamily& family) {
  return absl::c_any_of(family.call, [](const ChatFamily::Part& part) {
    const XmlStyle* const style = part.style == nullptr ? nullptr : part.style->elements();
    return style != nullptr && style->closes_by_name;
  });
}

absl::StatusOr<ChatFamily> ReadChatFamily(absl::string_view text) {
  const absl::StatusOr<JsonDocument> document = JsonDocument::Parse(text, Limits());
  if (!document.ok()) return document.status();
  return ReadChatFamily(document->root());
}

absl::StatusOr<ChatFamily> ReadChatFamily(const JsonValue& root) {
  ChatFamily family;
  if (absl::Status read = ReadInto(root, &family); !read.ok()) return read;
  return family;
}

absl::StatusOr<ChatFamily> FindChatFamily(absl::string_view name, absl::string_view place) {
  std::vector<absl::string_view> names;
  for (const EmbeddedJson& file : ChatFamilyFiles()) {
    if (file.uri == name) return ReadChatFamily(file.text);
    names.push_back(file.uri);
  }
  return InvalidAt(place, absl::StrCat("there is no family \"", name.substr(0, 64),
                                       "\"; known are ", absl::StrJoin(names, ", ")));
}

}  // namespace maskd
