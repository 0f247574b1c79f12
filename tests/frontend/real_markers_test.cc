// Answers over real vocabularies: every family's transcripts (tests/families), and what chat
// templates write (tests/peers/template_answers.jsonl). A model's vocabulary tokenises them,
// markers as its own tokens, whether it has the family's markers or not. Each token must be in the
// mask of its step, and the answer reads back as the message that it is.
//
// Needs scripts/fetch-vocab; a vocabulary that is not there is said aloud and skipped.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/completion/fewest_tokens.h"
#include "grammar_core/frontend/chat/answer_plan.h"
#include "grammar_core/frontend/chat/answer_reader.h"
#include "grammar_core/frontend/chat/family.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/canonical_encoder.h"
#include "grammar_core/tokenizer/loader.h"
#include "grammar_core/tokenizer/marker_table.h"
#include "tests/base/test_folder.h"

namespace maskd {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // members come as they were declared

struct RealVocabulary {
  const char* name;
  const char* file;  // in build/vocab
  // Its own families: of these every mask is looked at.
  std::vector<std::string> families;
  // Special tokens that are added to it, from this id on.
  TokenId first = 0;
  std::vector<std::string> special = {};
  std::vector<std::string> stops = {};
};

const std::vector<RealVocabulary>& Vocabularies() {
  static const auto* const all = new std::vector<RealVocabulary>{
      {"GptOss", "gpt_oss/tokenizer.json", {"gpt_oss"}, 0, {}, {"<|return|>", "<|call|>"}},
      {"Qwen3", "qwen3/tokenizer.json", {"qwen_3", "qwen_3_coder"}, 0, {}, {"<|im_end|>"}},
      {"DeepSeek", "deepseek/tokenizer.json", {"deepseek_v3", "deepseek_v3_1"}},
      {"Llama3", "llama3.tiktoken", {"llama_3"}},
      {"Llama4", "llama4.tiktoken", {"llama_3", "llama_4"}},
      {"Tekken", "tekken/tekken.json", {"mistral", "mistral_nemo"}},
      {"Gemma4", "gguf/gemma-4.gguf", {}},
      // Qwen's ranks with the markers of Kimi, which come in such a file.
      {"KimiLike",
       "qwen.tiktoken",
       {"kimi_k2", "kimi_k3"},
       151643,
       {"<|im_end|>", "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>",
        "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>", "<think>",
        "</think>", "<|open|>", "<|close|>", "<|sep|>"},
       {"<|im_end|>"}}};
  return *all;
}

class RealMarkersTest : public testing::TestWithParam<RealVocabulary> {
 protected:
  void SetUp() override {
    const RealVocabulary& real = GetParam();
    VocabularySource source;
    source.name = real.name;
    source.path = absl::StrCat(MASKD_SOURCE_DIR, "/build/vocab/", real.file);
    source.stop_tokens = real.stops;
    if (!real.special.empty()) {
      // Beside the ranks lie the special tokens of another model.
      const std::string alone = folder_.Path("ranks_alone.tiktoken");
      std::ifstream from(source.path, std::ios::binary);
      if (from) std::ofstream(alone, std::ios::binary) << from.rdbuf();
      if (from) source.path = alone;
      source.format = "tiktoken";
    }
    for (std::size_t i = 0; i < real.special.size(); ++i)
      source.extra_special.emplace_back(real.special[i], real.first + static_cast<TokenId>(i));
    auto vocabulary = LoadVocabulary(source);
    if (!vocabulary.ok()) GTEST_SKIP() << "NOT TESTED: " << vocabulary.status();
    space_ = TokenizerSpace::Create(*std::move(vocabulary));
  }

  // As the model's tokenizer cuts it.
  [[nodiscard]] std::vector<TokenId> Tokens(const std::string& text) const {
    std::vector<TokenId> tokens;
    for (const MarkerTable::Piece& piece : space_->markers().Cut(text)) {
      if (piece.marker != MarkerTable::kNone) {
        tokens.push_back(piece.marker);
        continue;
      }
      const CanonicalEncoder* const encoder = space_->canonical_encoder();
      const std::vector<TokenId> cut =
          encoder != nullptr ? encoder->Tokens("", piece.text)
                             : FewestPieces({nullptr, &space_->index(), {}}, piece.text);
      EXPECT_FALSE(cut.empty()) << piece.text;
      tokens.insert(tokens.end(), cut.begin(), cut.end());
    }
    return tokens;
  }

  // Whether an answer goes on behind a token that ends answers here: a marker of another model's.
  [[nodiscard]] bool EndsBefore(const std::vector<TokenId>& tokens) const {
    const std::vector<TokenId>& stops = space_->vocabulary().stop_ids();
    const auto last = tokens.empty() ? tokens.end() : tokens.end() - 1;
    return std::find_first_of(tokens.begin(), last, stops.begin(), stops.end()) != last;
  }

  static GrammarSource SourceOf(const std::string& family, const OrderedJson& row) {
    OrderedJson source = {{"family", family}, {"request", row["request"]}};
    for (const char* key : {"reasoning", "strictness"})
      if (row.contains(key)) source[key] = row[key];
    return {"chat", source.dump()};
  }

  [[nodiscard]] std::shared_ptr<const CompiledGrammar> Compile(const std::string& family,
                                                               const OrderedJson& row) const {
    Budget budget = Budget::Unlimited();
    auto made = CompileGrammar(SourceOf(family, row), space_, Limits(), budget);
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? *made : nullptr;
  }

  // What the tokens read as, in the form of transcripts. Ids of calls are there where `has_ids`.
  [[nodiscard]] Json Read(const std::string& family, const OrderedJson& row,
                          const std::vector<TokenId>& tokens, bool has_ids) const {
    Budget budget = Budget::Unlimited();
    auto plan = AnswerPlan::Make(SourceOf(family, row), &space_->markers(), Limits(), budget);
    EXPECT_TRUE(plan.ok()) << plan.status();
    if (!plan.ok()) return {};
    AnswerReader reader(*std::move(plan));
    for (const TokenId token : tokens) reader.ReadToken(token);
    reader.End();
    const ChatMessage& message = reader.message();
    Json made = Json::object();
    if (!message.reasoning.empty()) made["reasoning_content"] = message.reasoning;
    if (!message.content.empty()) made["content"] = message.content;
    for (const ChatCall& call : message.calls) {
      Json arguments = Json::parse(call.arguments, nullptr, false);
      if (arguments.is_discarded()) arguments = call.arguments;
      Json one = {{"name", call.name}, {"arguments", std::move(arguments)}};
      if (has_ids) one["id"] = call.id;
      made["tool_calls"].push_back(std::move(one));
    }
    return made;
  }

  static bool Takes(const std::shared_ptr<const CompiledGrammar>& grammar,
                    const std::vector<TokenId>& tokens, bool by_masks) {
    Matcher row(grammar);
    for (const TokenId token : tokens) {
      const bool ended = row.finished();
      bool allowed = true;
      if (by_masks && !ended) {
        const absl::StatusOr<MaskRef> mask = row.Mask();
        EXPECT_TRUE(mask.ok()) << mask.status();
        allowed = mask.ok() && (*mask)->Allows(token);
      }
      const bool taken = !ended && row.Accept(token).ok();
      if (by_masks) EXPECT_EQ(taken, allowed && !ended) << token;
      if (!taken) return false;
    }
    return row.finished() || row.may_end();
  }

  TestFolder folder_;
  std::shared_ptr<TokenizerSpace> space_;
};

TEST_P(RealMarkersTest, TakeTheTranscriptsOfEveryFamily) {
  int texts = 0;
  for (const EmbeddedJson& file : ChatFamilyFiles()) {
    const std::string family(file.uri);
    const auto& own = GetParam().families;
    const bool by_masks = std::find(own.begin(), own.end(), family) != own.end();
    std::ifstream lines(absl::StrCat(MASKD_SOURCE_DIR, "/tests/families/", family, ".jsonl"));
    for (std::string line; std::getline(lines, line); ++texts) {
      SCOPED_TRACE(absl::StrCat(family, ": ", line));
      const OrderedJson row = OrderedJson::parse(line);
      const auto grammar = Compile(family, row);
      if (grammar == nullptr) continue;
      const std::vector<TokenId> tokens = Tokens(row["text"].get<std::string>());
      if (!by_masks && EndsBefore(tokens)) continue;
      EXPECT_EQ(Takes(grammar, tokens, by_masks), row["takes"].get<bool>());
      if (!row.contains("message")) continue;
      const Json message(row["message"]);
      EXPECT_EQ(Read(family, row, tokens, absl::StrContains(message.dump(), "\"id\":")), message);
    }
  }
  std::cout << GetParam().name << ": " << texts << " answers\n";
}

// White space around content is not compared: templates add and strip it.
Json Stripped(Json message) {
  if (!message.contains("content")) return message;
  const std::string content = message["content"].get<std::string>();
  message["content"] = std::string(absl::StripAsciiWhitespace(content));
  if (message["content"] == "") message.erase("content");
  return message;
}

// The first line has the request of all.
TEST_P(RealMarkersTest, WhatTemplatesWriteIsTakenAndReadsBack) {
  std::ifstream lines(absl::StrCat(MASKD_SOURCE_DIR, "/tests/peers/template_answers.jsonl"));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const OrderedJson request = OrderedJson::parse(line);
  int texts = 0;
  int left_out = 0;
  while (std::getline(lines, line)) {
    SCOPED_TRACE(line);
    OrderedJson row = OrderedJson::parse(line);
    row["request"] = request["request"];
    const std::string family = row["family"].get<std::string>();
    const std::vector<TokenId> tokens = Tokens(row["text"].get<std::string>());
    if (EndsBefore(tokens)) {
      ++left_out;
      continue;
    }
    const auto grammar = Compile(family, row);
    ASSERT_NE(grammar, nullptr);
    EXPECT_TRUE(Takes(grammar, tokens, true));
    EXPECT_EQ(Stripped(Read(family, row, tokens, false)), Stripped(Json(row["message"])));
    ++texts;
  }
  EXPECT_GT(texts, 0);
  std::cout << GetParam().name << ": " << texts << " answers, " << left_out
            << " hold a stop token of this vocabulary\n";
}

// Where the vocabulary has a marker, its spelling in other tokens is data.
TEST_P(RealMarkersTest, TheSpellingIsData) {
  for (const std::string& family : GetParam().families) {
    std::ifstream lines(absl::StrCat(MASKD_SOURCE_DIR, "/tests/families/", family, ".jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const OrderedJson row = OrderedJson::parse(line);
      if (row["why"] != "a call is required" || !row["takes"].get<bool>()) continue;
      const std::string text = row["text"].get<std::string>();
      const auto pieces = space_->markers().Cut(text);
      if (pieces.size() < 2) continue;  // all of it is text in this vocabulary
      const auto grammar = Compile(family, row);
      ASSERT_NE(grammar, nullptr);
      std::vector<TokenId> bytewise;
      for (const char byte : text) {
        const auto one = FewestPieces({nullptr, &space_->index(), {}}, std::string(1, byte));
        bytewise.insert(bytewise.end(), one.begin(), one.end());
      }
      EXPECT_FALSE(Takes(grammar, bytewise, true)) << family << ": " << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, RealMarkersTest, testing::ValuesIn(Vocabularies()),
                         [](const auto& test) { return std::string(test.param.name); });

class Qwen3MarkersTest : public RealMarkersTest {};

TEST_P(Qwen3MarkersTest, NoMarkerIsInAStringOrInFreeText) {
  const OrderedJson row = {
      {"request",
       {{"tools",
         {{{"name", "f"},
           {"parameters", OrderedJson::parse(R"({"type":"object","properties":)"
                                             R"({"a":{"type":"string"}}})")}}}}}}};
  const auto grammar = Compile("qwen_3", row);
  ASSERT_NE(grammar, nullptr);
  const TokenId call = space_->markers().Find("<tool_call>");
  const TokenId call_end = space_->markers().Find("</tool_call>");
  const TokenId think = space_->markers().Find("<think>");
  ASSERT_GE(std::min({call, call_end, think}), 0);
  Matcher matcher(grammar);
  const auto allows = [&](TokenId id) { return (*matcher.Mask())->Allows(id); };
  for (const TokenId token : Tokens("Hello. ")) ASSERT_TRUE(matcher.Accept(token).ok());
  EXPECT_TRUE(allows(call));
  EXPECT_FALSE(allows(call_end));
  EXPECT_FALSE(allows(think));
  const std::string open = "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"x";
  for (const TokenId token : Tokens(open)) ASSERT_TRUE(matcher.Accept(token).ok());
  for (const TokenId marker : {call, call_end, think}) EXPECT_FALSE(allows(marker)) << marker;
  EXPECT_TRUE(matcher.MatchText("</tool_call>\"}}\n</tool_call>")->may_end);
}

INSTANTIATE_TEST_SUITE_P(Qwen3, Qwen3MarkersTest, testing::Values(Vocabularies()[1]),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace maskd
