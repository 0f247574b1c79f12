// Reading answers back: what a writer wrote, which knows what it wrote, over bytes and over a
// vocabulary whose markers are tokens, in chunks and with rollbacks; and the golden transcripts.
// What is written is held to the grammar first.
#include "grammar_core/frontend/chat/answer_reader.h"

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/frontend/chat/answer_plan.h"
#include "grammar_core/frontend/chat/family.h"
#include "grammar_core/frontend/structural_tag/written_style.h"
#include "grammar_core/matcher/matcher.h"
#include "tests/base/night.h"

namespace maskd {
namespace {

using Json = nlohmann::ordered_json;
using Kind = ChatFamily::Part::Kind;

std::vector<std::string> FamilyNames() {
  std::vector<std::string> names;
  for (const EmbeddedJson& file : ChatFamilyFiles()) names.emplace_back(file.uri);
  return names;
}

// The bytes, and with `has_markers` the families' markers as special tokens.
std::shared_ptr<TokenizerSpace> MakeSpace(bool has_markers) {
  std::vector<Vocabulary::Token> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back({std::string(1, static_cast<char>(byte))});
  tokens.push_back({"\x01 the end", true});
  if (has_markers) {
    for (const char* marker : {"<think>",
                               "</think>",
                               "<tool_call>",
                               "</tool_call>",
                               "<|channel|>",
                               "<|message|>",
                               "<|end|>",
                               "<|start|>",
                               "<|constrain|>",
                               "<|call|>",
                               "<|return|>",
                               "[TOOL_CALLS]",
                               "[ARGS]",
                               "[THINK]",
                               "[/THINK]",
                               "<|tool_calls_section_begin|>",
                               "<|tool_calls_section_end|>",
                               "<|tool_call_begin|>",
                               "<|tool_call_argument_begin|>",
                               "<|tool_call_end|>",
                               "<|open|>",
                               "<|close|>",
                               "<|sep|>",
                               "｜DSML｜",
                               "<｜tool▁calls▁begin｜>",
                               "<｜tool▁calls▁end｜>",
                               "<｜tool▁call▁begin｜>",
                               "<｜tool▁call▁end｜>",
                               "<｜tool▁sep｜>",
                               "<|function_call|>",
                               "[CALL_ID]",
                               "<|tools_prefix|>",
                               "<|tools_suffix|>",
                               "<tool_calls>",
                               "</tool_calls>",
                               "<|tool_call|>",
                               "<TOOLCALL>",
                               "</TOOLCALL>",
                               "<function_call>",
                               "<minimax:tool_call>",
                               "</minimax:tool_call>",
                               "<arg_key>",
                               "</arg_key>",
                               "<arg_value>",
                               "</arg_value>",
                               "<|python_tag|>",
                               "<|python_start|>",
                               "<|python_end|>",
                               "<|tool_call_start|>",
                               "<|tool_call>",
                               "<tool_call|>",
                               "<|channel>",
                               "<channel|>",
                               "<|\"|>",
                               "<|START_ACTION|>",
                               "<|END_ACTION|>",
                               "<seed:tool_call>",
                               "</seed:tool_call>",
                               "]<]minimax[>[",
                               "<mm:think>",
                               "</mm:think>"}) {
      tokens.push_back({marker, true});
    }
  }
  return TokenizerSpace::Create(*Vocabulary::Create("bytes", std::move(tokens), {256}));
}

struct Written {
  std::string reasoning;
  std::string content;
  std::vector<std::pair<std::string, Json>> calls;
};

// Writes answers as a family does: what it spells as markers, what it holds as bytes.
class AnswerWriter {
 public:
  AnswerWriter(const ChatFamily& family, const MarkerTable* table)
      : family_(family), table_(table) {}

  std::vector<TokenId> Write(const Written& answer, bool has_reasoning) {
    tokens_.clear();
    if (has_reasoning) {
      Spell(family_.reasoning->begin);
      Hold(answer.reasoning);
      Spell(family_.reasoning->ends.front());
      Spell(family_.between);
    }
    const bool is_framed =
        family_.answer.has_value() && (answer.calls.empty() || !answer.content.empty());
    if (is_framed) Spell(family_.answer->begin);
    Hold(answer.content);
    if (is_framed)
      Spell(answer.calls.empty() ? family_.answer->ends.front() : family_.answer->calls);
    is_other_turn_ = !is_other_turn_;
    if (answer.calls.empty()) {
      if (is_other_turn_) Spell(family_.content_end);
      return tokens_;
    }
    if (!answer.content.empty()) Spell(family_.before);
    if (family_.section.has_value()) Spell(family_.section->begin);
    for (std::size_t i = 0; i < answer.calls.size(); ++i) {
      if (i > 0) Spell(family_.separator);
      Call(answer.calls[i]);
    }
    if (family_.section.has_value()) Spell(family_.section->ends.front());
    return tokens_;
  }

 private:
  void Spell(absl::string_view text) {
    for (const Symbol symbol : CutIntoSymbols(text, table_))
      tokens_.push_back(static_cast<TokenId>(symbol < 256 ? symbol : symbol - kFirstMarker));
  }
  void Hold(absl::string_view text) {
    for (const char byte : text) tokens_.push_back(static_cast<unsigned char>(byte));
  }

  void Call(const std::pair<std::string, Json>& call) {
    std::vector<ChatFamily::Part> parts = family_.call;
    if (is_other_turn_ && !family_.other_heads.empty()) {
      const auto is_arguments = [](const auto& part) { return part.kind == Kind::kArguments; };
      parts.erase(parts.begin(), absl::c_find_if(parts, is_arguments));
      parts.insert(parts.begin(), family_.other_heads.back().begin(),
                   family_.other_heads.back().end());
    }
    for (const ChatFamily::Part& part : parts)
      if (part.kind == Kind::kText)
        Spell(part.text);
      else if (part.kind == Kind::kPattern)
        Hold(absl::StrContains(part.text, "a-z") ? "aB3dE6gH9" : "12");
      else if (part.kind != Kind::kArguments)
        Hold(call.first);
      else if (part.style == nullptr)
        Hold(call.second.dump());
      else if (part.style->literals() != nullptr)
        Members(*part.style->literals(), call.second);
      else
        Elements(*part.style->elements(), call.second);
  }

  // The members of an outermost object, as literals.
  void Members(const ArgumentStyle& style, const Json& members) {
    bool is_first = true;
    for (const auto& [name, value] : members.items()) {
      if (!is_first) Hold(style.is_python() ? ", " : ",");
      is_first = false;
      Hold(absl::StrCat(name, std::string(1, style.name_end)));
      Literal(style, value);
    }
  }

  void Literal(const ArgumentStyle& style, const Json& value) {
    if (value.is_string()) {
      QuotedText(style, value.get<std::string>());
    } else if (value.is_boolean()) {
      Hold(!style.is_python() ? value.dump() : value.get<bool>() ? "True" : "False");
    } else if (value.is_null()) {
      Hold("None");
    } else if (value.is_array()) {
      Hold("[");
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (i > 0) Hold(",");
        Literal(style, value[i]);
      }
      Hold("]");
    } else if (value.is_object() && !style.is_python()) {
      Hold("{");
      Members(style, value);
      Hold("}");
    } else if (value.is_object()) {
      Hold("{");
      for (auto member = value.begin(); member != value.end(); ++member) {
        Hold(absl::StrCat(member == value.begin() ? "" : ", ", "'", member.key(), "': "));
        Literal(style, member.value());
      }
      Hold("}");
    } else {
      Hold(value.dump());
    }
  }

  // As Python's repr() quotes, or, every second time, as JSON does.
  void QuotedText(const ArgumentStyle& style, const std::string& text) {
    if (!style.is_python()) {
      Spell(style.quote);
      Hold(text);
      Spell(style.quote);
      return;
    }
    is_json_turn_ = !is_json_turn_;
    const std::string quoted = Json(text).dump();
    if (is_json_turn_) return Hold(quoted);
    const bool has_escapes = quoted.size() != text.size() + 2;
    const std::string inner = quoted.substr(1, quoted.size() - 2);
    // Double quotes are escaped only beside what must be.
    if (has_escapes && absl::c_all_of(text, [](unsigned char c) { return c >= 32 && c != '\\'; }))
      return Hold(absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "\\'"}}), "'"));
    Hold(absl::StrCat("'", absl::StrReplaceAll(inner, {{"'", "\\'"}}), "'"));
  }

  void Elements(const XmlStyle& style, const Json& members) {
    for (const auto& [name, value] : members.items()) {
      Spell(style.open);
      Hold(name);
      Spell(style.behind_name);
      ElementValue(style, value);
      Spell(style.close);
      if (style.closes_by_name) Hold(name + ">");
      Spell(style.pad);
    }
  }

  void ElementValue(const XmlStyle& style, const Json& value) {
    const std::size_t type = value.is_string()    ? 0
                             : value.is_number()  ? 1
                             : value.is_boolean() ? 2
                             : value.is_null()    ? 3
                             : value.is_array()   ? 4
                                                  : 5;
    Spell(style.type_names[type]);
    Spell(style.before_value);
    if (style.nests() && value.is_object()) return Elements(style, value);
    if (style.nests() && value.is_array()) return Items(style, value);
    Spell(style.pad);
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    is_cdata_turn_ = !is_cdata_turn_ && value.is_string() && !absl::StrContains(text, "]]>");
    if (is_cdata_turn_) Spell(style.cdata_begin);
    Hold(text);
    if (is_cdata_turn_) Spell(style.cdata_end);
    Spell(style.pad);
  }

  void Items(const XmlStyle& style, const Json& items) {
    for (const Json& item : items) {
      Spell(style.item_open);
      ElementValue(style, item);
      Spell(style.item_close);
    }
  }

  const ChatFamily& family_;
  const MarkerTable* const table_;
  bool is_json_turn_ = false;
  bool is_cdata_turn_ = false;
  bool is_other_turn_ = false;
  std::vector<TokenId> tokens_;
};

const char* const kTools = R"([
  {"name": "get", "parameters": {"type": "object", "additionalProperties": false,
    "properties": {}}},
  {"name": "get_weather", "parameters": {"type": "object", "additionalProperties": false,
    "required": ["text"], "properties": {
      "text": {"type": "string"}, "count": {"type": "integer"}, "ratio": {"type": "number"},
      "on": {"type": "boolean"}, "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
      "either": {"type": ["string", "integer"]}}}},
  {"name": "a:1", "parameters": {"type": "object", "additionalProperties": false,
    "$defs": {"words": {"type": "array", "items": {"type": "string"}}},
    "properties": {"words": {"$ref": "#/$defs/words"}, "color": {"enum": ["red", " dark blue"]},
      "short": {"type": "string", "maxLength": 20},
      "at": {"type": "object", "properties": {"x": {"type": "string"}}}}}},
  {"name": "a", "parameters": {"type": "object", "properties": {"é_q-1": {"type": "string"}}}}])";

class Inventor {
 public:
  explicit Inventor(unsigned seed) : random_(seed) {}

  std::size_t Below(std::size_t bound) { return random_() % bound; }

  std::string Text(std::size_t most = 6) {
    static const std::vector<std::string>& pieces =
        *new std::vector<std::string>{"a",
                                      " ",
                                      "\n",
                                      "trail ",
                                      "007",
                                      "null",
                                      "true",
                                      "\"",
                                      "\\",
                                      "{",
                                      "}",
                                      "[1]",
                                      "]",
                                      "é",
                                      "🙂",
                                      "<",
                                      "</",
                                      "<tool_call",
                                      "<tool_call>",
                                      "</tool_call>",
                                      "</think>",
                                      "<think>",
                                      "</par",
                                      "</parameter>",
                                      "</parameter",
                                      "\n</think>",
                                      "<|channel|>",
                                      "<|end|>",
                                      "<|call|>",
                                      "<|",
                                      "[TOOL_CALLS]",
                                      "[ARGS]",
                                      "｜DSML｜",
                                      "</｜DSML｜parameter>",
                                      "<|close|>argument<|sep|>",
                                      "</arg_value>",
                                      "{\"name\": \"",
                                      "\t",
                                      "-1.5e3",
                                      "\xef\xbf\xbd",
                                      "&lt;",
                                      "'",
                                      "get",
                                      "<minimax:tool_call>",
                                      "\r\n",
                                      "\x01",
                                      "<｜tool▁calls▁begin｜>",
                                      "<|\"|>",
                                      "True",
                                      ")",
                                      "]<|python_end|>",
                                      "]<]minimax[>[<",
                                      "<item>",
                                      ", b="};
    std::string text;
    for (std::size_t n = Below(most); n > 0; --n) text += pieces[Below(pieces.size())];
    return text;
  }

  // A text that is JSON of no type.
  std::string PlainText() {
    for (;;) {
      std::string text = Text();
      if (!nlohmann::json::accept(text)) return text;
    }
  }

  Json Arguments(const std::string& tool) {
    Json made = Json::object();
    if (tool == "get_weather") {
      made["text"] = Text();
      if (Below(2) == 0) made["count"] = static_cast<int>(Below(2000)) - 1000;
      if (Below(2) == 0) made["ratio"] = static_cast<double>(Below(100)) + 0.25;
      if (Below(2) == 0) made["on"] = Below(2) == 0;
      if (Below(2) == 0) made["maybe"] = Below(2) == 0 ? Json() : Json(PlainText());
      if (Below(2) == 0) made["either"] = Below(2) == 0 ? Json(12) : Json(PlainText());
    } else if (tool == "a:1") {
      if (Below(2) == 0) made["words"] = {Text(), Text()};
      if (Below(2) == 0) made["color"] = Below(2) == 0 ? "red" : " dark blue";
      if (Below(2) == 0) made["short"] = Text(3);
      if (Below(2) == 0) made["at"] = {{"x", Text()}};
    } else if (tool == "a" && Below(2) == 0) {
      made["é_q-1"] = Text();
    }
    return made;
  }

  Written Answer(const ChatFamily& family, bool must_call) {
    Written answer;
    answer.reasoning = Text();
    std::size_t most = family.parallel ? 4 : 1;
    std::size_t calls = must_call ? 1 + Below(most) : Below(most + 1);
    const bool has_both = !family.answer.has_value() || !family.answer->calls.empty();
    if (calls == 0 || (!must_call && has_both)) answer.content = Text();
    for (; calls > 0; --calls) {
      const std::string name = std::vector<std::string>{"get", "get_weather", "a:1", "a"}[Below(4)];
      answer.calls.emplace_back(name, Arguments(name));
    }
    return answer;
  }

 private:
  std::mt19937 random_;
};

// Whether what ends the reasoning begins within it, where it is text: the first end that comes is
// the end, so nobody can tell.
bool EndsEarlier(const ChatFamily& family, const std::string& reasoning) {
  for (const std::string& end : family.reasoning->ends)
    if ((reasoning + family.reasoning->ends.front()).find(end) < reasoning.size()) return true;
  return false;
}

// Whether a text in the arguments would close its element: what follows is then text or a call to
// whoever reads it.
bool ClosesEarlier(const ChatFamily& family, const Written& answer) {
  for (const ChatFamily::Part& part : family.call) {
    const XmlStyle* const style = part.style == nullptr ? nullptr : part.style->elements();
    if (style == nullptr || !style->cdata_begin.empty()) continue;
    for (const auto& [name, arguments] : answer.calls)
      for (const Json& value : arguments)
        if (value.is_string() && absl::StrContains(value.get<std::string>(), style->close))
          return true;
  }
  return false;
}

// One grammar, and what reads its answers.
struct Reading {
  std::shared_ptr<TokenizerSpace> space;
  std::shared_ptr<const CompiledGrammar> grammar;
  std::shared_ptr<const AnswerPlan> plan;

  static absl::StatusOr<Reading> Make(const Json& source, bool has_markers) {
    static const auto& spaces =
        *new std::vector<std::shared_ptr<TokenizerSpace>>{MakeSpace(false), MakeSpace(true)};
    Reading made{spaces[has_markers ? 1 : 0], nullptr, nullptr};
    const Limits limits;
    Budget budget({.work = limits.compile_work});
    auto grammar = CompileGrammar({"chat", source.dump()}, made.space, limits, budget);
    if (!grammar.ok()) return grammar.status();
    made.grammar = *grammar;
    auto plan = AnswerPlan::Make({"chat", source.dump()}, &made.space->markers(), limits, budget);
    if (!plan.ok()) return plan.status();
    made.plan = *plan;
    return made;
  }

  [[nodiscard]] bool Takes(const std::vector<TokenId>& tokens) const {
    Matcher matcher(grammar);
    for (const TokenId token : tokens)
      if (!matcher.Accept(token).ok()) return false;
    return matcher.Accept(256).ok();
  }
};

Json AsJson(const ChatMessage& message, bool has_ids = false) {
  Json made = Json::object();
  if (!message.reasoning.empty()) made["reasoning_content"] = message.reasoning;
  if (!message.content.empty()) made["content"] = message.content;
  for (const ChatCall& call : message.calls) {
    Json one = {{"name", call.name}, {"arguments", Json::parse(call.arguments, nullptr, false)}};
    if (has_ids) one["id"] = call.id;
    made["tool_calls"].push_back(one);
  }
  return made;
}

Json AsJson(const Written& answer, bool has_reasoning) {
  Json made = Json::object();
  if (has_reasoning && !answer.reasoning.empty()) made["reasoning_content"] = answer.reasoning;
  if (!answer.content.empty()) made["content"] = answer.content;
  for (const auto& [name, arguments] : answer.calls)
    made["tool_calls"].push_back({{"name", name}, {"arguments", arguments}});
  return made;
}

bool BeginsWith(const ChatMessage& whole, const ChatMessage& part) {
  if (!absl::StartsWith(whole.reasoning, part.reasoning)) return false;
  if (!absl::StartsWith(whole.content, part.content)) return false;
  if (part.calls.size() > whole.calls.size()) return false;
  for (std::size_t i = 0; i < part.calls.size(); ++i) {
    if (part.calls[i].name != whole.calls[i].name) return false;
    if (!absl::StartsWith(whole.calls[i].arguments, part.calls[i].arguments)) return false;
  }
  return true;
}

// The message of `tokens`, read in steps of `chunk` with a rollback now and then; each message on
// the way must be a beginning of the last.
ChatMessage ReadInSteps(const Reading& reading, const std::vector<TokenId>& tokens,
                        std::size_t chunk, Inventor* inventor) {
  AnswerReader reader(reading.plan);
  std::vector<ChatMessage> seen;
  for (std::size_t at = 0; at < tokens.size();) {
    for (std::size_t n = 0; n < chunk && at < tokens.size(); ++n) reader.ReadToken(tokens[at++]);
    seen.push_back(reader.message());
    if (inventor->Below(8) != 0) continue;
    const std::size_t back = std::min(at, inventor->Below(20) == 0 ? 90 : inventor->Below(7));
    reader.Rollback(back);
    at -= back;
  }
  reader.End();
  EXPECT_FALSE(reader.left());
  for (const ChatMessage& message : seen) EXPECT_TRUE(BeginsWith(reader.message(), message));
  return reader.message();
}

class AnswerReaderTest : public testing::TestWithParam<std::string> {};

TEST_P(AnswerReaderTest, ReadsWhatWasWritten) {
  const ChatFamily family = *FindChatFamily(GetParam(), "");
  Inventor inventor(28);
  const int each = ByNight(50, 100);
  int read = 0;
  for (int kind = 0; kind < 8; ++kind) {
    const bool has_markers = (kind & 1) != 0;
    const bool must_call = (kind & 2) != 0;
    const bool has_reasoning = (kind & 4) != 0 && family.reasoning.has_value();
    const Json source = {
        {"family", GetParam()},
        {"reasoning", has_reasoning ? "on" : "off"},
        {"request",
         {{"tools", Json::parse(kTools)}, {"tool_choice", must_call ? "required" : "auto"}}}};
    const auto reading = Reading::Make(source, has_markers);
    ASSERT_TRUE(reading.ok()) << reading.status();
    AnswerWriter writer(family, has_markers ? &reading->space->markers() : nullptr);
    for (int tries = 0, wanted = each; wanted > 0 && tries < 1000; ++tries) {
      const Written answer = inventor.Answer(family, must_call);
      if (has_reasoning && !has_markers && EndsEarlier(family, answer.reasoning)) continue;
      if (ClosesEarlier(family, answer)) continue;
      const std::vector<TokenId> tokens = writer.Write(answer, has_reasoning);
      // What its family cannot write, such as a marker in a text.
      if (!reading->Takes(tokens)) continue;
      --wanted;
      ++read;
      const Json expected = AsJson(answer, has_reasoning);
      const std::size_t all = tokens.size();
      for (const std::size_t chunk : {std::size_t{1}, std::size_t{3}, std::size_t{5}, all}) {
        const ChatMessage message = ReadInSteps(*reading, tokens, chunk, &inventor);
        ASSERT_EQ(AsJson(message), expected) << "kind " << kind << ", chunk " << chunk;
      }
    }
  }
  RecordProperty("answers", read);
  EXPECT_EQ(read, 8 * each);
}

TEST_P(AnswerReaderTest, ReadsItsTranscripts) {
  std::ifstream file(absl::StrCat(MASKD_SOURCE_DIR, "/tests/families/", GetParam(), ".jsonl"));
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    const Json row = Json::parse(line);
    if (!row.contains("message")) continue;
    ++rows;
    SCOPED_TRACE(line);
    Json source = {{"family", GetParam()}, {"request", row["request"]}};
    for (const char* key : {"reasoning", "strictness"})
      if (row.contains(key)) source[key] = row[key];
    for (const bool has_markers : {false, true}) {
      const auto reading = Reading::Make(source, has_markers);
      ASSERT_TRUE(reading.ok()) << reading.status();
      AnswerReader whole(reading->plan);
      whole.ReadText(row["text"].get<std::string>());
      whole.End();
      EXPECT_EQ(AsJson(whole.message()), row["message"]);
    }
  }
  EXPECT_GE(rows, 13);
}

ChatMessage ReadWhole(const char* family, const std::string& text) {
  const auto reading =
      Reading::Make({{"family", family}, {"request", {{"tools", Json::parse(kTools)}}}}, false);
  EXPECT_TRUE(reading.ok()) << reading.status();
  AnswerReader reader(reading->plan);
  reader.ReadText(text);
  reader.End();
  return reader.message();
}

TEST(AnswerReadingTest, ASeparatorBehindTheLastCallIsNoContent) {
  const std::string call = "<tool_call>\n{\"name\": \"get\", \"arguments\": {}}\n</tool_call>";
  EXPECT_EQ(ReadWhole("qwen_3", "Hm.\n" + call + "\n").content, "Hm.");
  EXPECT_EQ(ReadWhole("qwen_3", call + "\n\n").content, "\n\n");
  EXPECT_EQ(ReadWhole("qwen_3", call + "\nx\n").content, "\nx\n");
  EXPECT_EQ(ReadWhole("qwen_3", "Hm.\n").content, "Hm.\n");
}

TEST(AnswerReadingTest, AnIdMayStandBeforeTheName) {
  const ChatMessage message =
      ReadWhole("cohere_r7b",
                "<|START_ACTION|>[\n    {\"tool_call_id\": \"12\", \"tool_name\": \"get\", "
                "\"parameters\": {}}\n]<|END_ACTION|>");
  EXPECT_EQ(message.calls, (std::vector<ChatCall>{{"12", "get", "{}"}}));
}

// Of a row that is only read: what ends the frame is not kept as if it followed the answer.
TEST(AnswerReadingTest, WhatEndsAFramedValueIsNoContent) {
  const Json source = {{"family", "cohere_2"},
                       {"request",
                        {{"response_format",
                          {{"type", "json_schema"},
                           {"json_schema", {{"name", "x"}, {"schema", {{"type", "object"}}}}}}}}}};
  const auto reading = Reading::Make(source, false);
  ASSERT_TRUE(reading.ok()) << reading.status();
  const auto content = [&](const std::string& text, std::size_t chunk) {
    AnswerReader reader(reading->plan, AnswerReader::Rest::kContent);
    for (std::size_t at = 0; at < text.size(); at += chunk)
      reader.ReadBytes(absl::string_view(text).substr(at, chunk));
    reader.End();
    return reader.message().content;
  };
  for (const std::size_t chunk : {1, 3, 100}) {
    EXPECT_EQ(content("<|START_TEXT|>{\"a\": 1}<|END_TEXT|>", chunk), "{\"a\": 1}");
    EXPECT_EQ(content("<|START_TEXT|>{\"a\": 1}\n<|END_TEXT|>", chunk), "{\"a\": 1}");
    EXPECT_EQ(content("<|START_TEXT|>{\"a\": 1}<|END_TEXT|>more", chunk), "{\"a\": 1}more");
    EXPECT_EQ(content("<|START_TEXT|>{\"a\": 1}<|END", chunk), "{\"a\": 1}<|END");
    EXPECT_EQ(content("<|START_TEXT|>{\"a\": 1}", chunk), "{\"a\": 1}");
  }
}

// A call of `f` in a family of its own, whose elements say their types and escape their names.
constexpr char kTypedElements[] = R"({
  "family": {"id": "mine", "models": "Mine", "calls": {"trigger": "<call>", "call": [
    "<call>", {"name": "raw"}, "<args>", {"arguments": "cohere_xml"}, "</call>"]}},
  "request": {"tools": [{"name": "f", "parameters": {"type": "object", "properties": {
    "a<b": {"type": ["array", "string"], "items": {"type": ["string", "integer"]}},
    "at": {"type": "object", "properties": {"n": {"type": ["null", "array"]}}}}}}]}})";

TEST(AnswerReadingTest, ElementsWithinElementsSayTheirTypes) {
  const auto reading = Reading::Make(Json::parse(kTypedElements), false);
  ASSERT_TRUE(reading.ok()) << reading.status();
  const auto value = [](absl::string_view head, absl::string_view content) {
    return absl::StrCat("<cofl:value ", head, "\">", content, "</cofl:value>");
  };
  const std::string list =
      absl::StrCat(value("type=\"raw", "3"), value("type=\"json", "3"), value("type=\"raw", ""));
  const std::vector<std::pair<std::string, const char*>> cases = {
      {value("name=\"a&lt;b\" type=\"list", list), R"({"a<b": ["3", 3, ""]})"},
      {value("name=\"a&lt;b\" type=\"list", ""), R"({"a<b": []})"},
      {value("name=\"a&lt;b\" type=\"raw", ""), R"({"a<b": ""})"},
      {value("name=\"at\" type=\"dict", ""), R"({"at": {}})"},
      {value("name=\"at\" type=\"dict", value("name=\"n\" type=\"json", "null")),
       R"({"at": {"n": null}})"},
      {value("name=\"at\" type=\"dict", value("name=\"n\" type=\"list", "")),
       R"({"at": {"n": []}})"}};
  for (const auto& [elements, arguments] : cases) {
    const std::string text = absl::StrCat("<call>f<args>", elements, "</call>");
    EXPECT_TRUE(reading->Takes({text.begin(), text.end()})) << text;
    for (const std::size_t chunk : {1, 7, 1000}) {
      AnswerReader reader(reading->plan);
      for (std::size_t at = 0; at < text.size(); at += chunk)
        reader.ReadBytes(absl::string_view(text).substr(at, chunk));
      reader.End();
      ASSERT_EQ(reader.message().calls.size(), 1U) << text;
      EXPECT_EQ(reader.message().calls[0].arguments, arguments) << text;
    }
  }
}

// Of a row that is only read: no mask closes an element by another's name.
TEST(AnswerReadingTest, AnAnswerLeavesItsFamilyWhereElementsDoNotClose) {
  constexpr char kBegin[] =
      "]<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name=\"a:1\">]<]minimax[>[<";
  const auto left = [&](absl::string_view arguments) {
    const auto reading = Reading::Make(
        {{"family", "minimax_m3"}, {"request", {{"tools", Json::parse(kTools)}}}}, false);
    AnswerReader reader(reading->plan);
    reader.ReadText(absl::StrCat(kBegin, arguments));
    return reader.left();
  };
  EXPECT_FALSE(left("at>]<]minimax[>[<x>1]<]minimax[>[</x>]<]minimax[>[</at>"));
  EXPECT_TRUE(left("at>]<]minimax[>[<x>1]<]minimax[>[</y>"));
  EXPECT_TRUE(left("at>text]<]minimax[>[<x>"));
  EXPECT_TRUE(left("words>]<]minimax[>[<word>"));
  EXPECT_TRUE(left("words>]<]minimax[>[<item>1]<]minimax[>[</at>"));
}

// Of a row that is only read: Python has more spellings than are written under masks.
TEST(AnswerReadingTest, LiteralsThatNoMaskAllowsAreReadToo) {
  const auto arguments = [](const char* text) {
    const ChatMessage message =
        ReadWhole("llama_4", absl::StrCat("<|python_start|>[a:1(", text, ")]<|python_end|>"));
    return message.calls.empty() ? "" : message.calls[0].arguments;
  };
  EXPECT_EQ(arguments(R"(x='\x41\'\d\a', y=("a",))"), R"({"x": "\u0041'\\d\u0007", "y": ["a"]})");
  EXPECT_EQ(arguments("x=red, y=1_0"), R"({"x": "red", "y": "1_0"})");
}

INSTANTIATE_TEST_SUITE_P(Families, AnswerReaderTest, testing::ValuesIn(FamilyNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace maskd
