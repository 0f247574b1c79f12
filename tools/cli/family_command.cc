// maskctl family: the families of models that the grammar kind "chat" knows, transcripts of one
// against a server, and files of others, made of what transformers reads answers with. A transcript
// is judged by one Check(): whether the text is taken to its end, and what it is read back as.
//
// Invariant  a run without any transcript fails.
// Cost       one call for each line.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"

#include "grammar_core/base/error.h"
#include "grammar_core/frontend/chat/family.h"
#include "grammar_core/frontend/chat/response_template.h"
#include "tools/cli/command.h"
#include "tools/cli/connection.h"
#include "tools/cli/grammar_flags.h"
#include "tools/cli/print.h"

namespace maskd::cli {
namespace {

using Json = nlohmann::json;

std::vector<Flag> FamilyFlags() {
  return WithConnectionFlags(
      {{"space", "TEXT",
        "import: what the model writes where white space is passed over, with C's escapes", ""},
       {"behind_arguments", "TEXT",
        "import: what it writes behind elements of arguments, where that is passed over", ""},
       {"models", "TEXT", "import: the models, for people", "imported from a response_template"}});
}

absl::StatusOr<int> ListFamilies(bool as_json) {
  std::vector<ChatFamily> families;
  std::size_t longest = 0;
  for (const EmbeddedJson& file : ChatFamilyFiles()) {
    absl::StatusOr<ChatFamily> family = ReadChatFamily(file.text);
    if (!family.ok()) return family.status();
    longest = std::max(longest, family->name.size());
    families.push_back(*std::move(family));
  }
  Json listed = Json::array();
  for (const ChatFamily& family : families)
    if (as_json)
      listed.push_back({{"name", family.name}, {"models", family.models}});
    else
      absl::PrintF("%-*s  %s\n", static_cast<int>(longest), family.name, family.models);
  if (as_json) absl::PrintF("%s\n", Json({{"families", std::move(listed)}}).dump(1));
  return kExitYes;
}

struct Transcript {
  std::string source;  // of the kind "chat"
  std::string text;
  bool takes = true;
  Json message;  // what it reads as, where it says so; else null
};

// A line of a file of transcripts: {"request", "text", "takes"?} and, of the members around a
// request, those that it says; "why" is for people.
absl::StatusOr<Transcript> ReadTranscript(const Json& family, absl::string_view line) {
  // Members stay in their order: it is the one that arguments come in.
  using OrderedJson = nlohmann::ordered_json;
  OrderedJson row = OrderedJson::parse(line.begin(), line.end(), nullptr, false);
  if (!row.is_object() || !row.contains("request") || !row.contains("text") ||
      !row["text"].is_string()) {
    return absl::InvalidArgumentError("not an object with \"request\" and a \"text\"");
  }
  Transcript transcript;
  transcript.text = row["text"].get<std::string>();
  if (row.contains("takes")) {
    if (!row["takes"].is_boolean())
      return absl::InvalidArgumentError("\"takes\" must be true or false");
    transcript.takes = row["takes"].get<bool>();
  }
  if (row.contains("message")) transcript.message = Json(row["message"]);
  for (const char* key : {"text", "takes", "why", "message"}) row.erase(key);
  row["family"] = OrderedJson(family);
  transcript.source = row.dump();
  return transcript;
}

// As transcripts have it: what is empty is left out, arguments are no text but where they are no
// JSON or have numbers past any double, and ids of calls are there where `has_ids`.
Json MessageJson(const v1::ChatMessage& message, bool has_ids) {
  Json made = Json::object();
  if (!message.reasoning_content().empty()) made["reasoning_content"] = message.reasoning_content();
  if (!message.content().empty()) made["content"] = message.content();
  for (const v1::ChatToolCall& call : message.tool_calls()) {
    Json arguments = Json::parse(call.arguments(), nullptr, false);
    if (arguments.is_discarded()) arguments = call.arguments();
    Json one = {{"name", call.name()}, {"arguments", std::move(arguments)}};
    if (has_ids) one["id"] = call.id();
    made["tool_calls"].push_back(std::move(one));
  }
  return made;
}

// What is wrong with what it reads as.
std::string JudgeMessage(const Json& expected, const v1::CheckResponse& response) {
  if (!response.has_message()) return "is not read back";
  const bool has_ids = absl::StrContains(expected.dump(), "\"id\":");
  const Json message = MessageJson(response.message(), has_ids);
  if (message == expected) return "";
  return absl::StrCat("reads as ", message.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// What is wrong with it; empty where nothing is.
absl::StatusOr<std::string> Judge(const Transcript& transcript, const Connection& connection) {
  v1::CheckRequest request;
  request.set_tokenizer(connection.tokenizer());
  request.mutable_grammar()->set_kind("chat");
  request.mutable_grammar()->set_source(transcript.source);
  request.set_raw_text(transcript.text);
  const auto response = connection.client().Check(request);
  if (absl::IsUnavailable(response.status())) return response.status();
  if (!response.ok()) return StatusText(response.status());
  const bool takes = response->accepted() && response->may_end();
  if (takes && transcript.takes && !transcript.message.is_null())
    return JudgeMessage(transcript.message, *response);
  if (takes == transcript.takes) return std::string();
  if (takes) return std::string("is taken, and should not be");
  if (response->accepted()) return std::string("may not end here");
  return absl::StrCat("refused at byte ", response->stop().byte_offset(), ": ",
                      Quoted(response->stop().refused()));
}

// A family's name, or the family in the file that `word` names.
absl::StatusOr<Json> FamilyOf(const std::string& word) {
  if (!absl::EndsWith(word, ".json")) return Json(word);
  const absl::StatusOr<std::string> text = ReadFile(word);
  if (!text.ok()) return text.status();
  if (const absl::StatusOr<ChatFamily> family = ReadChatFamily(*text); !family.ok()) {
    return absl::Status(family.status().code(),
                        absl::StrCat(word, ": ", family.status().message()));
  }
  return Json::parse(*text, nullptr, false);
}

absl::StatusOr<int> TestFamily(const std::string& word, const std::string& path,
                               const Flags& flags) {
  const absl::StatusOr<Json> family = FamilyOf(word);
  if (!family.ok()) return family.status();
  const auto lines = ReadFile(path);
  if (!lines.ok()) return lines.status();
  const auto connection = Connection::Open(flags);
  if (!connection.ok()) return connection.status();
  const bool as_json = flags.Has("json");
  int number = 0;
  int texts = 0;
  Json wrong = Json::array();
  for (const absl::string_view line : absl::StrSplit(*lines, '\n')) {
    ++number;
    if (line.empty()) continue;
    const absl::StatusOr<Transcript> transcript = ReadTranscript(*family, line);
    if (!transcript.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ":", number, ": ", transcript.status().message()));
    }
    const absl::StatusOr<std::string> fault = Judge(*transcript, **connection);
    if (!fault.ok()) return fault.status();
    ++texts;
    if (fault->empty()) continue;
    wrong.push_back({{"line", number}, {"fault", *fault}});
    if (!as_json) absl::PrintF("%s:%d: %s\n", path, number, *fault);
  }
  const bool passed = wrong.empty() && texts > 0;
  if (as_json) {
    const Json report = {{"family", word}, {"transcripts", texts}, {"wrong", std::move(wrong)}};
    absl::PrintF("%s\n", report.dump(1, ' ', false, Json::error_handler_t::replace));
  } else {
    absl::PrintF("%s: %d transcripts, %d wrong\n", word, texts, wrong.size());
  }
  return passed ? kExitYes : kExitNo;
}

absl::StatusOr<int> ImportFamily(const std::string& name, const std::string& path,
                                 const Flags& flags) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  ResponseTemplateOptions options = {name, flags.Get("models"), std::nullopt, ""};
  if (flags.Has("space")) options.space.emplace();
  for (const auto& [flag, into] :
       {std::pair{"space", options.space.has_value() ? &*options.space : nullptr},
        std::pair{"behind_arguments", &options.behind_arguments}})
    if (std::string fault; into != nullptr && !absl::CUnescape(flags.Get(flag), into, &fault))
      return UsageError(absl::StrCat("--", flag, ": ", fault));
  const absl::StatusOr<std::string> file = FamilyOfResponseTemplate(*text, options);
  if (file.ok()) {
    absl::PrintF("%s", *file);
    return kExitYes;
  }
  if (flags.Has("json")) return file.status();
  return absl::Status(file.status().code(), absl::StrCat(path, ": ", file.status().message()));
}

absl::StatusOr<int> RunFamily(const Flags& flags) {
  const std::vector<std::string>& words = flags.arguments();
  if (words.size() == 1 && words[0] == "list") return ListFamilies(flags.Has("json"));
  if (words.size() == 3 && words[0] == "test") return TestFamily(words[1], words[2], flags);
  if (words.size() == 3 && words[0] == "import") return ImportFamily(words[1], words[2], flags);
  return UsageError("\"list\", or \"test\" or \"import\", a family and a file, is needed");
}

}  // namespace

const Command kFamilyCommand = {
    "family",
    "list | test NAME FILE | import NAME FILE",
    "lists families of models, tests transcripts of one, or imports one",
    "list: the families that the grammar kind \"chat\" has, and the models of each.\n"
    "test: NAME may be a family's file, NAME.json. FILE has one JSON object a line: request (as of "
    "OpenAI's interface), text (what the\n"
    "model wrote), takes (true unless it says false), message (what it reads as), and reasoning "
    "or\n"
    "strictness where they are not the default. Prints one line for each that is judged or read\n"
    "otherwise; with --json an object: family, transcripts, wrong (line and fault of each). Exit\n"
    "status 0 when none is.\n"
    "import: FILE is a tokenizer_config.json with a response_template, or that alone. Prints the\n"
    "file of a family NAME that writes what it reads. What does not say how a model writes is\n"
    "refused at its JSON Pointer, exit status 1.\n\n"
    "  maskctl family test qwen_3 --local tests/families/qwen_3.jsonl\n"
    "  maskctl family import mine --space='\\n' tokenizer_config.json > mine.json\n"
    "  maskctl family test mine.json --local transcripts.jsonl\n",
    &FamilyFlags,
    &RunFamily,
};

}  // namespace maskd::cli
