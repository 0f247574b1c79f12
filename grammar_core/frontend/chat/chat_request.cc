// Reads the members of an OpenAI request that say what an answer may be, each by a function of its
// own. "tool_choice" works on the tools that were read: it empties the list, shortens it or makes a
// call required, so nothing behind this file knows its forms.
//
// Invariant  tools are sorted by name and no two have the same; a required call has a tool.
// Cost       one look-up for each member; a name in "tool_choice" is compared with each tool's.
// Source     OpenAI's interface of chat completions.
#include "grammar_core/frontend/chat/chat_request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/structural_tag/argument_style.h"
#include "grammar_core/frontend/structural_tag/fields.h"

namespace maskd {
namespace {

template <typename Value>
struct Word {
  absl::string_view word;
  Value value;
};

constexpr std::array kReasonings = {Word<ChatReasoning>{"off", ChatReasoning::kOff},
                                    Word<ChatReasoning>{"on", ChatReasoning::kOn},
                                    Word<ChatReasoning>{"open", ChatReasoning::kOpen},
                                    Word<ChatReasoning>{"auto", ChatReasoning::kAuto}};
constexpr std::array kStrictnesses = {Word<ChatStrictness>{"parameter", ChatStrictness::kParameter},
                                      Word<ChatStrictness>{"auto", ChatStrictness::kAuto},
                                      Word<ChatStrictness>{"function", ChatStrictness::kFunction}};
constexpr std::array kBadTools = {Word<bool>{"refuse", false}, Word<bool>{"leave_out", true}};

// The value of the word `member` is; what it was where there is no such member.
template <typename Value, std::size_t kCount>
absl::Status ReadWord(const JsonValue& object, absl::string_view key,
                      const std::array<Word<Value>, kCount>& words, Value* value) {
  const std::optional<JsonValue> member = object.Find(key);
  if (!member.has_value() || member->type() == JsonType::kNull) return absl::OkStatus();
  std::string known;
  for (const Word<Value>& one : words) {
    absl::StrAppend(&known, known.empty() ? "" : ", ", "\"", one.word, "\"");
    if (!member->is_string() || member->text() != one.word) continue;
    *value = one.value;
    return absl::OkStatus();
  }
  return InvalidMember(object, key, absl::StrCat("must be one of ", known));
}

// A member that null leaves out.
std::optional<JsonValue> Present(const JsonValue& object, absl::string_view key) {
  const std::optional<JsonValue> member = object.Find(key);
  return member.has_value() && member->type() != JsonType::kNull ? member : std::nullopt;
}

// What a chat template writes as it is.
bool IsPlainName(absl::string_view name) {
  constexpr std::size_t kMostBytes = 256;
  return !name.empty() && name.size() <= kMostBytes && absl::c_all_of(name, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           absl::string_view("_-./:").find(c) != absl::string_view::npos;
  });
}

// For families with word names.
absl::Status CheckWordNames(const std::vector<ChatTool>& tools) {
  for (const ChatTool& tool : tools) {
    if (IsWordName(tool.name)) continue;
    return InvalidAt(tool.at.Pointer(),
                     absl::StrCat("in ", ToolPlace(tool),
                                  ": the family's names are of letters, digits and _ alone"));
  }
  return absl::OkStatus();
}

// {"type": "function", "function": {...}}, or the members of the latter beside "type".
absl::StatusOr<JsonValue> FunctionOf(const JsonValue& at) {
  if (!at.is_object()) return InvalidAt(at.Pointer(), "must be an object");
  const std::optional<JsonValue> type = Present(at, "type");
  if (type.has_value() && (!type->is_string() || type->text() != "function"))
    return InvalidAt(type->Pointer(), "must be \"function\"");
  const std::optional<JsonValue> function = Present(at, "function");
  if (!function.has_value()) return at;
  if (!function->is_object()) return InvalidAt(function->Pointer(), "must be an object");
  return *function;
}

absl::StatusOr<ChatTool> ReadTool(const JsonValue& at) {
  const absl::StatusOr<JsonValue> function = FunctionOf(at);
  if (!function.ok()) return function.status();
  const absl::StatusOr<absl::string_view> name = RequiredText(*function, "name");
  if (!name.ok()) return name.status();
  if (!IsPlainName(*name)) {
    return InvalidMember(*function, "name",
                         "must be of letters, digits and _ - . / : alone, and of 256 at most");
  }
  ChatTool tool = {std::string(*name), at, Present(*function, "parameters")};
  const bool is_schema = !tool.schema.has_value() || tool.schema->is_object() ||
                         tool.schema->is_unread() || tool.schema->is_bool();
  if (!is_schema)
    return InvalidMember(*function, "parameters", "a schema must be an object or a boolean");
  const std::optional<JsonValue> strict = Present(*function, "strict");
  if (strict.has_value() && !strict->is_bool())
    return InvalidMember(*function, "strict", "must be true or false");
  tool.strict = strict.has_value() && strict->type() == JsonType::kTrue;
  return tool;
}

absl::StatusOr<std::vector<ChatTool>> ReadTools(const JsonValue& request) {
  std::vector<ChatTool> tools;
  const std::optional<JsonValue> list = Present(request, "tools");
  if (!list.has_value()) return tools;
  if (!list->is_array()) return InvalidMember(request, "tools", "must be a list");
  absl::flat_hash_set<std::string> names;
  for (const JsonValue at : list->children()) {
    absl::StatusOr<ChatTool> tool = ReadTool(at);
    if (!tool.ok()) return tool.status();
    if (!names.insert(tool->name).second) {
      return InvalidAt(at.Pointer(),
                       absl::StrCat("an earlier tool is named \"", tool->name, "\", too"));
    }
    tools.push_back(*std::move(tool));
  }
  std::ranges::sort(tools, {}, &ChatTool::name);
  return tools;
}

// Of `at`, {"type": "function", ...}: the name that it says, which must be a tool's.
absl::StatusOr<std::string> NamedTool(const JsonValue& at, const std::vector<ChatTool>& tools) {
  const absl::StatusOr<JsonValue> function = FunctionOf(at);
  if (!function.ok()) return function.status();
  const absl::StatusOr<absl::string_view> name = RequiredText(*function, "name");
  if (!name.ok()) return name.status();
  const bool is_known = absl::c_any_of(tools, [&](const ChatTool& t) { return t.name == *name; });
  if (is_known) return std::string(*name);
  return InvalidMember(*function, "name",
                       absl::StrCat("there is no tool \"", name->substr(0, 64), "\""));
}

class ChoiceReader {
 public:
  explicit ChoiceReader(ChatRequest* request) : request_(*request) {}

  absl::Status Read(const JsonValue& choice) {
    if (choice.is_string()) return ReadMode(choice, true);
    if (!choice.is_object()) return InvalidAt(choice.Pointer(), "must be a string or an object");
    const std::optional<JsonValue> type = Present(choice, "type");
    if (type.has_value() && type->is_string() && type->text() == "allowed_tools") {
      const std::optional<JsonValue> allowed = Present(choice, "allowed_tools");
      return ReadAllowed(allowed.value_or(choice));
    }
    const absl::StatusOr<std::string> name = NamedTool(choice, request_.tools);
    if (!name.ok()) return name.status();
    request_.must_call = true;
    request_.parallel = false;
    Keep({*name});
    return absl::OkStatus();
  }

 private:
  absl::Status ReadMode(const JsonValue& mode, bool may_be_none) {
    const absl::string_view text = mode.is_string() ? mode.text() : "";
    if (text == "none" && may_be_none) {
      request_.tools.clear();
      return absl::OkStatus();
    }
    if (text == "auto") return absl::OkStatus();
    if (text != "required") {
      return InvalidAt(mode.Pointer(), absl::StrCat("must be ", may_be_none ? "\"none\", " : "",
                                                    "\"auto\" or \"required\""));
    }
    if (request_.tools.empty())
      return InvalidAt(mode.Pointer(), "a call is required, and there is no tool");
    request_.must_call = true;
    return absl::OkStatus();
  }

  absl::Status ReadAllowed(const JsonValue& allowed) {
    if (!allowed.is_object()) return InvalidAt(allowed.Pointer(), "must be an object");
    const absl::StatusOr<JsonValue> list = RequiredList(allowed, "tools");
    if (!list.ok()) return list.status();
    std::vector<std::string> names;
    for (const JsonValue at : list->children()) {
      absl::StatusOr<std::string> name = NamedTool(at, request_.tools);
      if (!name.ok()) return name.status();
      names.push_back(*std::move(name));
    }
    Keep(names);
    const absl::StatusOr<JsonValue> mode = RequiredMember(allowed, "mode");
    return mode.ok() ? ReadMode(*mode, false) : mode.status();
  }

  void Keep(const std::vector<std::string>& names) {
    std::erase_if(request_.tools,
                  [&](const ChatTool& tool) { return !absl::c_linear_search(names, tool.name); });
  }

  ChatRequest& request_;
};

absl::Status ReadOpenAi(const JsonValue& request, ChatRequest* out) {
  if (!request.is_object()) return InvalidAt(request.Pointer(), "must be an object");
  absl::StatusOr<std::vector<ChatTool>> tools = ReadTools(request);
  if (!tools.ok()) return tools.status();
  if (out->family.has_word_names)
    if (absl::Status checked = CheckWordNames(*tools); !checked.ok()) return checked;
  out->tools = *std::move(tools);
  const std::optional<JsonValue> parallel = Present(request, "parallel_tool_calls");
  if (parallel.has_value() && !parallel->is_bool())
    return InvalidAt(parallel->Pointer(), "must be true or false");
  out->parallel =
      out->family.parallel && (!parallel.has_value() || parallel->type() == JsonType::kTrue);
  out->response_format = Present(request, "response_format");
  const std::optional<JsonValue> choice = Present(request, "tool_choice");
  return choice.has_value() ? ChoiceReader(out).Read(*choice) : absl::OkStatus();
}

// Whether a prompt that ends so has begun the family's reasoning, white space apart.
bool BeginsReasoning(const ChatFamily& family, absl::string_view tail) {
  if (!family.reasoning.has_value()) return false;
  const absl::string_view begin = absl::StripTrailingAsciiWhitespace(family.reasoning->begin);
  return !begin.empty() && absl::EndsWith(absl::StripTrailingAsciiWhitespace(tail), begin);
}

absl::Status ReadPromptTail(const JsonValue& root, ChatRequest* out) {
  const std::optional<JsonValue> tail = Present(root, "prompt_tail");
  if (!tail.has_value()) return absl::OkStatus();
  if (!tail->is_string()) return InvalidMember(root, "prompt_tail", "must be a string");
  if (out->reasoning == ChatReasoning::kAuto && BeginsReasoning(out->family, tail->text()))
    out->reasoning = ChatReasoning::kOpen;
  return absl::OkStatus();
}

absl::Status ReadReasoning(const JsonValue& root, ChatRequest* out) {
  const std::optional<JsonValue> member = Present(root, "reasoning");
  if (member.has_value() && member->is_object()) {
    if (absl::Status keys = CheckKeys(*member, {"mode", "max_tokens"}); !keys.ok()) return keys;
    const absl::StatusOr<std::optional<std::uint32_t>> most = CountOf(*member, "max_tokens");
    if (!most.ok()) return most.status();
    out->reasoning_tokens = *most;
    const absl::Status read = ReadWord(*member, "mode", kReasonings, &out->reasoning);
    if (!read.ok()) return read;
  } else if (absl::Status read = ReadWord(root, "reasoning", kReasonings, &out->reasoning);
             !read.ok()) {
    return read;
  }
  if (out->reasoning == ChatReasoning::kOff || out->family.reasoning.has_value())
    return absl::OkStatus();
  return InvalidMember(root, "reasoning",
                       absl::StrCat("the family ", out->family.name, " writes no reasoning"));
}

// By its name, or the file itself.
absl::Status ReadFamily(const JsonValue& root, ChatRequest* out) {
  const std::optional<JsonValue> file = Present(root, "family");
  if (file.has_value() && file->is_object()) {
    absl::StatusOr<ChatFamily> family = ReadChatFamily(*file);
    if (!family.ok()) return family.status();
    out->family = *std::move(family);
    return absl::OkStatus();
  }
  const absl::StatusOr<absl::string_view> name = RequiredText(root, "family");
  if (!name.ok()) return name.status();
  absl::StatusOr<ChatFamily> family = FindChatFamily(*name, "/family");
  if (!family.ok()) return family.status();
  out->family = *std::move(family);
  return absl::OkStatus();
}

}  // namespace

std::string ToolPlace(const ChatTool& tool) {
  return absl::StrCat("tool ", tool.at.index(), ", \"", tool.name, "\"");
}

std::vector<std::vector<absl::string_view>> PathsOfToolSchemas() {
  return {{"request", "tools", "", "function", "parameters"},
          {"request", "tools", "", "parameters"}};
}

absl::StatusOr<ChatRequest> ReadChatRequest(const JsonValue& root) {
  const absl::Status keys =
      CheckKeys(root, {"family", "request", "reasoning", "prompt_tail", "strictness", "bad_tools"});
  if (!keys.ok()) return keys;
  ChatRequest out;
  absl::Status read = ReadFamily(root, &out);
  if (read.ok()) read = ReadReasoning(root, &out);
  if (read.ok()) read = ReadPromptTail(root, &out);
  if (read.ok()) read = ReadWord(root, "strictness", kStrictnesses, &out.strictness);
  if (read.ok()) read = ReadWord(root, "bad_tools", kBadTools, &out.leave_out_bad_tools);
  if (!read.ok()) return read;
  const absl::StatusOr<JsonValue> request = RequiredMember(root, "request");
  if (!request.ok()) return request.status();
  if (read = ReadOpenAi(*request, &out); !read.ok()) return read;
  return out;
}

}  // namespace maskd
