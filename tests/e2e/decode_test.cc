// The main job over the wire: compile, open, masks, tokens, end.

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/running_server.h"

namespace maskd::service {
namespace {

constexpr int kEnd = 256;

constexpr char kPersonSchema[] = R"({
  "type": "object",
  "properties": {
    "name": {"type": "string", "maxLength": 5},
    "age": {"type": "integer", "minimum": 0, "maximum": 150},
    "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1, "maxItems": 2}
  },
  "required": ["name", "age", "tags"],
  "additionalProperties": false
})";

// A pseudo-random allowed token; the end as soon as it is allowed.
int Pick(const v1::Position& position, unsigned* seed) {
  if (Allows(position, kEnd)) return kEnd;
  std::vector<int> allowed;
  for (int token = 0; token < kEnd; ++token)
    if (Allows(position, token)) allowed.push_back(token);
  EXPECT_FALSE(allowed.empty());
  *seed = *seed * 1664525U + 1013904223U;
  return allowed[(*seed >> 8) % allowed.size()];
}

// Decodes row 1 of `stream` from its first reply on; the text without its end.
std::string DecodeToTheEnd(TestStream* stream, v1::StepReply reply, unsigned seed) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    EXPECT_EQ(reply.rows_size(), 1) << reply.ShortDebugString();
    if (reply.rows(0).state() == v1::ROW_STATE_FINISHED) {
      EXPECT_TRUE(reply.rows(0).positions(0).full());
      return text;
    }
    EXPECT_EQ(reply.rows(0).state(), v1::ROW_STATE_ACTIVE) << reply.ShortDebugString();
    const int token = Pick(reply.rows(0).positions(0), &seed);
    if (token != kEnd) text.push_back(static_cast<char>(token));
    v1::Step step;
    v1::RowUpdate* update = step.add_rows();
    update->set_row(1);
    update->add_tokens(token);
    reply = stream->Run(step);
  }
  ADD_FAILURE() << "no end: " << text;
  return text;
}

class DecodeTest : public testing::TestWithParam<Via> {};

INSTANTIATE_TEST_SUITE_P(Transports, DecodeTest, testing::Values(Via::kGrpc, Via::kMemory),
                         [](const auto& test) { return NameOf(test.param); });

TEST_P(DecodeTest, RandomChoicesGiveDocumentsOfTheSchema) {
  const RunningServer running;
  TestStream stream(running.channel(), running.memory_at(GetParam()));
  stream.Greet();
  for (unsigned seed = 1; seed <= 20; ++seed) {
    v1::Step step = OpeningStep(OpenOf(1, "json_schema", kPersonSchema));
    if (seed > 1) step.add_close(1);
    const std::string text = DecodeToTheEnd(&stream, stream.Run(step), seed);
    const auto document = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(document.is_object()) << text;
    EXPECT_EQ(document.size(), 3U) << text;
    EXPECT_TRUE(document["name"].is_string()) << text;
    EXPECT_TRUE(document["age"].is_number()) << text;
    EXPECT_GE(document["tags"].size(), 1U) << text;
    EXPECT_LE(document["tags"].size(), 2U) << text;
  }
  EXPECT_TRUE(stream.Finish().ok());
}

// The texts of some rows of one stream, where another one is open.
std::vector<std::string> TextsBesideAnother(std::int64_t mask_threads) {
  Config config;
  config.warm_up_ms = 0;
  config.look_ahead_masks = 0;
  config.mask_threads = mask_threads;
  const RunningServer running(config);
  TestStream other(running.channel());
  other.Greet();
  TestStream stream(running.channel());
  stream.Greet();
  std::vector<std::string> texts;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    v1::Step step = OpeningStep(OpenOf(1, "json_schema", kPersonSchema));
    if (seed > 1) step.add_close(1);
    texts.push_back(DecodeToTheEnd(&stream, stream.Run(step), seed));
  }
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_TRUE(other.Finish().ok());
  return texts;
}

TEST(Decode, MasksMadeByAnotherThreadAreTheSame) {
  EXPECT_EQ(TextsBesideAnother(1), TextsBesideAnother(0));
}

TEST_P(DecodeTest, BitsPastTheVocabularyAreZero) {
  const RunningServer running;
  TestStream stream(running.channel(), running.memory_at(GetParam()));
  v1::DecodeRequest hello;
  hello.mutable_hello()->set_logits_width(1000);
  ASSERT_TRUE(stream.Send(hello));
  v1::DecodeResponse welcome;
  ASSERT_TRUE(stream.Read(&welcome));
  EXPECT_EQ(welcome.welcome().mask_words(), 32U);
  EXPECT_EQ(welcome.welcome().tokenizer().vocab_size(), 257);
  const v1::StepReply reply = stream.Run(OpeningStep(OpenOf(1, "choice", R"(["x"])")));
  const std::string& dense = reply.rows(0).positions(0).dense();
  ASSERT_EQ(dense.size(), 128U);
  for (int token = 0; token < 1000; ++token)
    EXPECT_EQ(Allows(reply.rows(0).positions(0), token), token == 'x') << token;
}

TEST_P(DecodeTest, TheNextStepMayBeSentBeforeTheReplyIsRead) {
  const RunningServer running;
  TestStream stream(running.channel(), running.memory_at(GetParam()));
  stream.Greet();
  stream.Run(OpeningStep(OpenOf(1, "choice", R"(["abcd"])")));
  const std::string text = "abcd";
  for (std::size_t i = 0; i < text.size(); ++i) {
    v1::DecodeRequest request;
    request.mutable_step()->set_step(stream.last_step() + 1 + i);
    request.mutable_step()->add_rows()->set_row(1);
    request.mutable_step()->mutable_rows(0)->add_tokens(text[i]);
    ASSERT_TRUE(stream.Send(request));
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    v1::DecodeResponse response;
    ASSERT_TRUE(stream.Read(&response));
    EXPECT_EQ(response.step().step(), stream.last_step() + 1 + i);
    EXPECT_EQ(response.step().rows(0).token_count(), i + 1);
  }
  EXPECT_TRUE(stream.Finish().ok());
}

TEST_P(DecodeTest, CompileThenOpenById) {
  const RunningServer running;
  grpc::ClientContext first;
  v1::CompileRequest request;
  *request.mutable_grammar() = GrammarOf("json_schema", kPersonSchema);
  v1::CompileResponse compiled;
  ASSERT_TRUE(running.compiler()->Compile(&first, request, &compiled).ok());
  EXPECT_FALSE(compiled.from_cache());
  EXPECT_EQ(compiled.grammar_id().size(), 64U);
  EXPECT_GT(compiled.costs().terms(), 0);
  grpc::ClientContext second;
  v1::CompileResponse again;
  ASSERT_TRUE(running.compiler()->Compile(&second, request, &again).ok());
  EXPECT_TRUE(again.from_cache());
  EXPECT_EQ(again.grammar_id(), compiled.grammar_id());
  TestStream stream(running.channel(), running.memory_at(GetParam()));
  stream.Greet();
  v1::Step step;
  step.add_open()->set_row(1);
  step.mutable_open(0)->set_grammar_id(compiled.grammar_id());
  const v1::StepReply reply = stream.Run(step);
  EXPECT_EQ(reply.rows(0).state(), v1::ROW_STATE_ACTIVE);
  EXPECT_EQ(reply.rows(0).grammar_id(), compiled.grammar_id());
  EXPECT_TRUE(Allows(reply.rows(0).positions(0), '{'));
}

}  // namespace
}  // namespace maskd::service
