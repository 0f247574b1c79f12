// What there is beside the decode stream: Check, Explain, tokenizers, health, metrics.

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/running_server.h"

namespace maskd::service {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ServicesTest : public testing::Test {
 protected:
  // Of the grammar of the tests below, where the request names none.
  v1::CheckResponse Check(v1::CheckRequest request) {
    if (!request.has_grammar())
      *request.mutable_grammar() = GrammarOf("choice", R"(["red","rose","blue"])");
    grpc::ClientContext context;
    v1::CheckResponse response;
    const grpc::Status status = running_.compiler()->Check(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  v1::CheckResponse CheckText(const std::string& text) {
    v1::CheckRequest request;
    request.set_text(text);
    return Check(request);
  }

  RunningServer running_;
};

TEST_F(ServicesTest, ChecksTexts) {
  const v1::CheckResponse whole = CheckText("rose");
  EXPECT_TRUE(whole.accepted() && whole.may_end());
  const v1::CheckResponse part = CheckText("ro");
  EXPECT_TRUE(part.accepted());
  EXPECT_FALSE(part.may_end());
  const v1::CheckResponse wrong = CheckText("r!");
  EXPECT_FALSE(wrong.accepted());
  EXPECT_EQ(wrong.stop().byte_offset(), 1);
  EXPECT_EQ(wrong.stop().refused(), "!");
  EXPECT_FALSE(wrong.stop().has_token_index());
  ASSERT_EQ(wrong.stop().allowed_count(), 2);
  EXPECT_EQ(wrong.stop().allowed_sample(0).text(), "e");
  EXPECT_EQ(wrong.stop().allowed_sample(1).id(), 'o');
  EXPECT_TRUE(CheckText("").accepted());
}

TEST_F(ServicesTest, ChecksTokens) {
  v1::CheckRequest request;
  for (const int token : std::vector<int>{'r', 'e', 'd', 256})
    request.mutable_tokens()->add_ids(token);
  const v1::CheckResponse whole = Check(request);
  EXPECT_TRUE(whole.accepted() && whole.finished() && whole.may_end());
  request.mutable_tokens()->set_ids(2, 'x');
  const v1::CheckResponse wrong = Check(request);
  EXPECT_FALSE(wrong.accepted());
  EXPECT_EQ(wrong.stop().token_index(), 2);
  EXPECT_EQ(wrong.stop().byte_offset(), 2);
  EXPECT_EQ(wrong.stop().refused(), "x");
  request.mutable_tokens()->set_ids(0, 5000);
  grpc::ClientContext context;
  v1::CheckResponse response;
  *request.mutable_grammar() = GrammarOf("choice", R"(["red"])");
  EXPECT_EQ(running_.compiler()->Check(&context, request, &response).error_code(),
            grpc::StatusCode::OUT_OF_RANGE);
}

TEST_F(ServicesTest, ChecksTokensAndTextsAgainstAMaximum) {
  v1::CheckRequest request;
  *request.mutable_grammar() = GrammarOf("regex", "a*");
  request.mutable_grammar()->mutable_options()->set_max_tokens(3);
  request.mutable_tokens()->mutable_ids()->Resize(3, 'a');
  EXPECT_TRUE(Check(request).accepted());
  request.mutable_tokens()->mutable_ids()->Resize(4, 'a');
  const v1::CheckResponse tokens = Check(request);
  EXPECT_FALSE(tokens.accepted());
  EXPECT_EQ(tokens.stop().token_index(), 3);
  request.set_text("aaa");
  EXPECT_TRUE(Check(request).accepted());
  request.set_text("aaaa");
  const v1::CheckResponse text = Check(request);
  EXPECT_FALSE(text.accepted());
  EXPECT_EQ(text.stop().byte_offset(), 3);
  EXPECT_EQ(text.stop().refused(), "a");
}

TEST_F(ServicesTest, ChecksTokensAndTextsAgainstAMaximumOfCharacters) {
  v1::CheckRequest request;
  *request.mutable_grammar() = GrammarOf("regex", "é*(a|bcdef)");
  request.mutable_grammar()->mutable_options()->set_max_characters(4);
  const struct {
    const char* text;
    int stop;  // -1: accepted
    bool may_end;
  } cases[] = {{"ééé", -1, false}, {"éééa", -1, true}, {"éééé", 6, false},
               {"bc", 0, false},   {"éa", -1, true},   {"éz", 2, false}};
  for (const auto& [text, stop, may_end] : cases) {
    request.set_text(text);
    const v1::CheckResponse answer = Check(request);
    EXPECT_EQ(answer.accepted(), stop < 0) << text;
    EXPECT_EQ(answer.may_end(), may_end) << text;
    if (stop >= 0) EXPECT_EQ(answer.stop().byte_offset(), stop) << text;
  }
  for (const char byte : absl::string_view("\xC3\xA9"
                                           "b")) {
    request.mutable_tokens()->add_ids(static_cast<unsigned char>(byte));
  }
  const v1::CheckResponse tokens = Check(request);
  EXPECT_FALSE(tokens.accepted());
  EXPECT_EQ(tokens.stop().token_index(), 2);
}

TEST_F(ServicesTest, ACheckSaysWhereTheRuleStandsForEveryKind) {
  const struct {
    const char* kind;
    const char* source;
    const char* text;
    const char* place;
  } cases[] = {
      {"json_schema", R"({"type": "object", "properties": {"n": {"maximum": 3}}})", "[", "/type"},
      {"json_schema", R"({"properties": {"n": {"type": "string", "maxLength": 1}}})",
       R"({"n": "ab)", "/properties/n/maxLength"},
      {"choice", R"(["red", "rose"])", "rox", "/1"},
      {"regex", "ab[0-9]", "abx", "1:3"},
      {"regex", "(?!ab)a[a-c]", "ab", "1:1"},
      {"gbnf", "root ::= \"a\" b\nb ::= [0-9]\n", "ax", "2:7"},
      {"ebnf", "root ::= \"a\" b\nb ::= [0-9]\n", "ax", "2:7"},
      {"lark", "start: \"a\" B\nB: /[0-9]/\n", "ax", "2:4"},
      {"response_format", R"({"type": "regex", "pattern": "ab"})", "ax", "/pattern"},
      {"response_format", R"({"type": "json_object"})", "[", "/type"},
      {"json_schema", R"({"pattern": "^a[0-9]$", "type": "string"})", "\"ax", "/pattern"},
      {"structural_tag",
       R"({"structures": [{"begin": "<a>", "schema": {"maximum": 3, "type": "integer"},
           "end": "</a>"}], "triggers": ["<a"]})",
       "<a>x", "/structures/0/schema/type"},
      {"structural_tag",
       R"({"structures": [{"begin": "<a>", "schema": {"maximum": 3, "type": "integer"},
           "end": "</a>"}], "triggers": ["<a"]})",
       "<ab", "/structures/0/begin"},
      {"chat",
       R"({"family": "qwen_3", "request": {"tools": [{"type": "function", "function": {"name": "f",
           "parameters": {"properties": {"n": {"type": "string", "maxLength": 1}}}}}]}})",
       "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"n\": \"ab",
       "/request/tools/0/function/parameters/properties/n/maxLength"},
      {"json", "", "]", ""},
  };
  for (const auto& [kind, source, text, place] : cases) {
    v1::CheckRequest request;
    *request.mutable_grammar() = GrammarOf(kind, source);
    request.set_text(text);
    const v1::CheckResponse by_text = Check(request);
    EXPECT_FALSE(by_text.accepted()) << kind << " " << text;
    EXPECT_EQ(by_text.stop().rule_place(), place) << kind << " " << text;
    for (const char byte : absl::string_view(text))
      request.mutable_tokens()->add_ids(static_cast<unsigned char>(byte));
    const v1::CheckResponse by_tokens = Check(request);
    EXPECT_EQ(by_tokens.stop().rule_place(), place) << kind << " tokens of " << text;
    EXPECT_EQ(by_tokens.stop().rule_begin(), by_text.stop().rule_begin()) << kind << " " << text;
    EXPECT_EQ(by_tokens.stop().rule_end(), by_text.stop().rule_end()) << kind << " " << text;
    EXPECT_EQ(by_text.stop().rule_end() > 0, *place != '\0') << kind << " " << text;
  }
}

TEST_F(ServicesTest, ACheckNamesTheBytesOfARulesPart) {
  struct Case {
    std::string kind, source, text, part;
  };
  const std::vector<Case> cases = {
      {"json_schema", R"({"pattern": "^a\\d$", "type": "string"})", "\"ax", R"(\\d)"},
      {"json_schema", R"({"type": "string", "maxLength": 2})", "\"abc", "2"},
      {"response_format", R"({"type": "regex", "pattern": "ab"})", "ax", "b"},
      {"lark", "start: \"a\" B\nB: /[0-9]/\n", "ax", "/[0-9]/"},
  };
  for (const auto& [kind, source, text, part] : cases) {
    v1::CheckRequest request;
    *request.mutable_grammar() = GrammarOf(kind, source);
    request.set_text(text);
    const v1::CheckStop stop = Check(request).stop();
    const auto begin = static_cast<std::size_t>(stop.rule_begin());
    const auto end = static_cast<std::size_t>(stop.rule_end());
    EXPECT_EQ(source.substr(begin, end - begin), part) << kind;
  }
}

TEST_F(ServicesTest, ACheckThatIsStoppedByAnOptionNamesNoRule) {
  v1::CheckRequest request;
  *request.mutable_grammar() = GrammarOf("regex", "a*");
  request.mutable_grammar()->mutable_options()->set_max_tokens(3);
  request.set_text("aaaa");
  EXPECT_EQ(Check(request).stop().rule_place(), "");
  request.mutable_tokens()->mutable_ids()->Resize(4, 'a');
  EXPECT_EQ(Check(request).stop().rule_place(), "");
}

TEST_F(ServicesTest, Explains) {
  grpc::ClientContext context;
  v1::ExplainRequest request;
  *request.mutable_grammar() = GrammarOf("choice", R"(["prefix-a","prefix-b"])");
  v1::ExplainResponse response;
  ASSERT_TRUE(running_.compiler()->Explain(&context, request, &response).ok());
  EXPECT_EQ(response.kind(), "choice");
  EXPECT_THAT(response.rules_text(), HasSubstr("prefix-a"));
  EXPECT_EQ(response.forced_prefix(), "prefix-");
  EXPECT_GT(response.costs().ir_nodes(), 0);
  EXPECT_EQ(response.bounds_size(), 0);
}

TEST_F(ServicesTest, ExplainsWhatIsBounded) {
  grpc::ClientContext context;
  v1::ExplainRequest request;
  *request.mutable_grammar() = GrammarOf("json_schema", R"({"format":"hostname"})");
  v1::ExplainResponse response;
  ASSERT_TRUE(running_.compiler()->Explain(&context, request, &response).ok());
  ASSERT_EQ(response.bounds_size(), 3);
  EXPECT_EQ(response.bounds(0).place(), "options.max_whitespace");
  EXPECT_EQ(response.bounds(1).place(), "options.max_number_digits");
  EXPECT_EQ(response.bounds(2).place(), "/format");
  EXPECT_EQ(response.warnings_size(), 0);
}

TEST_F(ServicesTest, ListsTokenizersAndTheirTokens) {
  grpc::ClientContext list_context;
  v1::ListTokenizersResponse list;
  ASSERT_TRUE(running_.tokenizers()->ListTokenizers(&list_context, {}, &list).ok());
  ASSERT_EQ(list.tokenizers_size(), 1);
  const v1::Tokenizer& bytes = list.tokenizers(0);
  EXPECT_EQ(bytes.name(), "bytes");
  EXPECT_EQ(bytes.hash().size(), 64U);
  EXPECT_EQ(bytes.vocab_size(), 257);
  EXPECT_EQ(bytes.mask_words(), 9);
  EXPECT_THAT(bytes.stop_ids(), ElementsAre(256));
  EXPECT_TRUE(list.next_page_token().empty());
  v1::ListTokensRequest page;
  page.set_first_id(255);
  page.set_page_size(1);
  grpc::ClientContext first_context;
  v1::ListTokensResponse first;
  ASSERT_TRUE(running_.tokenizers()->ListTokens(&first_context, page, &first).ok());
  ASSERT_EQ(first.tokens_size(), 1);
  EXPECT_EQ(first.tokens(0).text(), "\xFF");
  EXPECT_EQ(first.next_id(), 256);
  page.set_first_id(256);
  grpc::ClientContext last_context;
  v1::ListTokensResponse last;
  ASSERT_TRUE(running_.tokenizers()->ListTokens(&last_context, page, &last).ok());
  EXPECT_TRUE(last.tokens(0).special());
  EXPECT_FALSE(last.has_next_id());
}

TEST_F(ServicesTest, RefusesPagesThatAreNone) {
  grpc::ClientContext token_context;
  v1::ListTokenizersRequest bad_token;
  bad_token.set_page_token("7");
  v1::ListTokenizersResponse list;
  EXPECT_EQ(running_.tokenizers()->ListTokenizers(&token_context, bad_token, &list).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  grpc::ClientContext id_context;
  v1::ListTokensRequest past;
  past.set_first_id(257);
  v1::ListTokensResponse tokens;
  EXPECT_EQ(running_.tokenizers()->ListTokens(&id_context, past, &tokens).error_code(),
            grpc::StatusCode::OUT_OF_RANGE);
  grpc::ClientContext name_context;
  v1::GetTokenizerRequest unknown;
  unknown.set_name("x");
  v1::GetTokenizerResponse tokenizer;
  EXPECT_EQ(running_.tokenizers()->GetTokenizer(&name_context, unknown, &tokenizer).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(ServicesTest, ManyCallersOneCompile) {
  std::atomic<int> compiled = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 50; ++i) {
    callers.emplace_back([&] {
      grpc::ClientContext context;
      v1::CompileRequest request;
      *request.mutable_grammar() = GrammarOf("json_schema", R"({"type":"array"})");
      v1::CompileResponse response;
      compiled += running_.compiler()->Compile(&context, request, &response).ok();
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(compiled, 50);
}

// The answer of grpc.health.v1.Health/Check for `service`: field 1 is the status, 1 is SERVING.
std::string Health(const RunningServer& running, const std::string& service) {
  std::string request;
  if (!service.empty())
    request = absl::StrCat("\x0A", std::string(1, static_cast<char>(service.size())), service);
  std::string answer;
  const grpc::Status status =
      CallRaw(running.channel(), "/grpc.health.v1.Health/Check", request, &answer);
  return status.ok() ? answer : absl::StrCat("code ", status.error_code());
}

TEST_F(ServicesTest, HealthHasANameForEachRole) {
  for (const char* name : {"", "liveness", "readiness", "maskd.v1.CompileService",
                           "maskd.v1.MaskService", "maskd.v1.TokenizerService"}) {
    EXPECT_EQ(Health(running_, name), "\x08\x01") << name;
  }
  EXPECT_EQ(Health(running_, "nobody"), absl::StrCat("code ", grpc::StatusCode::NOT_FOUND));
}

// The value of the series that begins a line with `series`; -1 when there is none.
double Value(const std::string& scrape, const std::string& series) {
  for (absl::string_view line : absl::StrSplit(scrape, '\n')) {
    double value = 0;
    if (absl::StartsWith(line, absl::StrCat(series, " ")) &&
        absl::SimpleAtod(line.substr(series.size() + 1), &value)) {
      return value;
    }
  }
  return -1;
}

std::string Refused(absl::string_view code, absl::string_view reason) {
  return absl::StrCat("maskd_refused_total{code=\"", code, "\",reason=\"", reason, "\"}");
}

TEST(MetricsTest, TellWhatHappened) {
  const RunningServer running(Config(), RunningServer::Metrics::kOn);
  running.ExpectServes();
  grpc::ClientContext good_context;
  v1::CompileRequest good;
  *good.mutable_grammar() = GrammarOf("choice", R"(["red"])");
  v1::CompileResponse compiled;
  EXPECT_TRUE(running.compiler()->Compile(&good_context, good, &compiled).ok());
  grpc::ClientContext context;
  v1::CompileRequest bad;
  *bad.mutable_grammar() = GrammarOf("json_schema", R"({"type":"no"})");
  v1::CompileResponse response;
  EXPECT_FALSE(running.compiler()->Compile(&context, bad, &response).ok());
  TestStream local(running.channel(), running.memory_at(Via::kMemory));
  local.Greet();
  local.Run({});
  EXPECT_TRUE(local.Finish().ok());
  const std::string scrape = Scrape(running.server().metrics_port());
  EXPECT_EQ(Value(scrape, "maskd_streams_total{transport=\"grpc\"}"), 1);
  EXPECT_EQ(Value(scrape, "maskd_streams_total{transport=\"shared_memory\"}"), 1);
  EXPECT_EQ(
      Value(scrape, "maskd_step_bytes_total{direction=\"received\",transport=\"shared_memory\"}"),
      4)
      << "an empty step with its number";
  EXPECT_GT(Value(scrape, "maskd_step_bytes_total{direction=\"sent\",transport=\"grpc\"}"), 0);
  EXPECT_EQ(Value(scrape, "maskd_compiles_total{code=\"OK\",kind=\"choice\"}"), 2) << scrape;
  EXPECT_EQ(Value(scrape, "maskd_compile_seconds_count{kind=\"choice\"}"), 2);
  EXPECT_EQ(Value(scrape, "maskd_compiles_total{code=\"INVALID_ARGUMENT\",kind=\"json_schema\"}"),
            1);
  EXPECT_EQ(Value(scrape, "maskd_step_seconds_count"), 2);
  EXPECT_EQ(Value(scrape, "maskd_rows_total{state=\"active\"}"), 1);
  EXPECT_EQ(Value(scrape, "maskd_streams_open"), 0);
  EXPECT_EQ(Value(scrape, "maskd_rows_open"), 0);
  EXPECT_EQ(Value(scrape, "maskd_cache_grammars"), 2);
  EXPECT_GT(Value(scrape, "maskd_cache_bytes"), 0);
  EXPECT_EQ(Value(scrape, Refused("INVALID_ARGUMENT", "INVALID_GRAMMAR")), 1);
  EXPECT_EQ(Value(scrape, "maskd_compile_wait_seconds_count"), 3);
  EXPECT_EQ(Value(scrape, "maskd_step_wait_seconds_count"), 1)
      << "not the step through shared memory, whose thread is its own";
  EXPECT_GT(Value(scrape, "maskd_tokenizer_bytes{tokenizer=\"bytes\"}"), 0);
  EXPECT_GT(Value(scrape, "maskd_mask_store_bytes{tokenizer=\"bytes\"}"), 0);
  EXPECT_GT(Value(scrape, "maskd_mask_store_misses_total{tokenizer=\"bytes\"}"), 0);
}

double Phase(const std::string& scrape, const char* family, const char* phase) {
  return Value(scrape, absl::StrCat(family, "{phase=\"", phase, "\"}"));
}

TEST(MetricsTest, PhasesAddUpToTheWhole) {
  const RunningServer running(Config(), RunningServer::Metrics::kOn);
  TestStream stream(running.channel(), "");
  stream.Greet();
  stream.Run(OpeningStep(OpenOf(1, "regex", "[a-z]*")));
  for (int i = 0; i < 10; ++i) {
    v1::Step step;
    v1::RowUpdate& update = *step.add_rows();
    update.set_row(1);
    update.add_tokens('a');
    update.mutable_drafts()->add_tokens('b');
    update.mutable_drafts()->add_tokens('1');
    EXPECT_EQ(stream.Run(step).rows(0).accepted_drafts(), 1U);
  }
  v1::Step wrong;
  wrong.add_rows()->set_row(1);
  wrong.mutable_rows(0)->add_tokens('1');
  EXPECT_TRUE(stream.Run(wrong).rows(0).has_error());
  const std::string scrape = Scrape(running.server().metrics_port());
  double sum = 0;
  for (const char* phase : {"read", "apply", "masks", "write"}) {
    const double seconds = Phase(scrape, "maskd_step_phase_seconds_total", phase);
    EXPECT_GT(seconds, 0) << phase;
    sum += seconds;
  }
  EXPECT_NEAR(sum, Value(scrape, "maskd_step_seconds_sum"), 1e-8);
  for (const char* phase : {"parse", "reduce", "automaton", "first_mask"})
    EXPECT_GE(Phase(scrape, "maskd_compile_phase_seconds_total", phase), 0) << phase;
  EXPECT_GT(Phase(scrape, "maskd_compile_phase_seconds_total", "parse"), 0);
  EXPECT_EQ(Value(scrape, "maskd_step_wait_seconds_count"), 12);
  EXPECT_EQ(Value(scrape, "maskd_draft_tokens_total{result=\"accepted\"}"), 10);
  EXPECT_EQ(Value(scrape, "maskd_draft_tokens_total{result=\"refused\"}"), 10);
  EXPECT_EQ(Value(scrape, "maskd_row_errors_total{reason=\"TOKEN_REFUSED\"}"), 1);
  double masks = 0;
  for (const char* form : {"full", "same_as", "allowed_ids", "forbidden_ids", "delta", "dense"})
    masks += Value(scrape, absl::StrCat("maskd_masks_sent_total{form=\"", form, "\"}"));
  EXPECT_EQ(masks, 1 + 10 * 2 + 1) << "of a draft that is refused there is none";
}

// The thread has one step's work to do when the others' messages come.
TEST(MetricsTest, StepsOfManyStreamsWaitForTheirOneThread) {
  constexpr int kStreams = 8;
  constexpr int kSteps = 50;
  const RunningServer running(Config(), RunningServer::Metrics::kOn);
  std::vector<std::thread> engines;
  for (int i = 0; i < kStreams; ++i) {
    engines.emplace_back([&] {
      TestStream stream(running.channel(), "");
      stream.Greet();
      v1::Step step;
      for (int row = 0; row < 64; ++row) *step.add_open() = OpenOf(row, "regex", "[a-z]*");
      step.set_wait_for_compile_ms(10'000);
      stream.Run(step);
      for (int k = 0; k < kSteps; ++k) {
        v1::Step moves;
        for (int row = 0; row < 64; ++row) {
          moves.add_rows()->set_row(row);
          moves.mutable_rows(row)->add_tokens('a');
        }
        stream.Run(moves);
      }
      EXPECT_TRUE(stream.Finish().ok());
    });
  }
  for (std::thread& engine : engines) engine.join();
  const std::string scrape = Scrape(running.server().metrics_port());
  EXPECT_EQ(Value(scrape, "maskd_step_wait_seconds_count"), kStreams * (kSteps + 1));
  EXPECT_GT(Value(scrape, "maskd_step_wait_seconds_sum"), 0);
}

TEST(MetricsTest, EveryCallThatIsRefusedIsCountedByItsReason) {
  const RunningServer running(Config(), RunningServer::Metrics::kOn);
  const std::string before = Scrape(running.server().metrics_port());
  EXPECT_EQ(Value(before, Refused("NOT_FOUND", "TOKENIZER_NOT_FOUND")), 0);
  EXPECT_EQ(Value(before, Refused("NOT_FOUND", "GRAMMAR_NOT_FOUND")), 0);
  EXPECT_EQ(Value(before, Refused("FAILED_PRECONDITION", "NO_HELLO")), 0);
  grpc::ClientContext context;
  v1::GetTokenizerRequest unknown;
  unknown.set_name("nobody");
  v1::GetTokenizerResponse tokenizer;
  EXPECT_FALSE(running.tokenizers()->GetTokenizer(&context, unknown, &tokenizer).ok());
  grpc::ClientContext compile_context;
  v1::CompileRequest by_id;
  by_id.mutable_grammar_id()->assign(64, '0');
  v1::CompileResponse response;
  EXPECT_FALSE(running.compiler()->Compile(&compile_context, by_id, &response).ok());
  TestStream rude(running.channel(), "");
  v1::DecodeRequest step;
  step.mutable_step()->set_step(1);
  EXPECT_TRUE(rude.Send(step));
  EXPECT_FALSE(rude.Finish().ok());
  // A stream is counted when all of it has ended, which its client need not wait for.
  std::string after;
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  do {
    after = Scrape(running.server().metrics_port());
  } while (Value(after, Refused("FAILED_PRECONDITION", "NO_HELLO")) == 0 &&
           std::chrono::steady_clock::now() < patience);
  EXPECT_EQ(Value(after, Refused("FAILED_PRECONDITION", "NO_HELLO")), 1);
  EXPECT_EQ(Value(after, Refused("NOT_FOUND", "TOKENIZER_NOT_FOUND")), 1);
  EXPECT_EQ(Value(after, Refused("NOT_FOUND", "GRAMMAR_NOT_FOUND")), 1);
}

TEST(MetricsTest, APoolSaysItsLimitAndWhatOfItIsInUse) {
  Config config;
  config.max_streams = 3;
  config.max_peer_streams = 2;
  config.max_rows = 10;
  config.compile_threads = 2;
  config.mask_threads = 3;
  config.compile_queue = 7;
  config.stream_threads = 2;
  config.max_connections = 20;
  config.max_peer_connections = 10;
  const RunningServer running(config, RunningServer::Metrics::kOn);
  TestStream stream(running.channel(), "");
  stream.Greet();
  v1::Step step = OpeningStep(OpenOf(1, "regex", "a*"));
  *step.add_open() = OpenOf(2, "regex", "a*");
  stream.Run(step);
  // The thread of a compile may be at its end when the answer is there.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  std::string scrape;
  do {
    scrape = Scrape(running.server().metrics_port());
  } while (Value(scrape, "maskd_pool_in_use{pool=\"compile_threads\"}") != 0 &&
           std::chrono::steady_clock::now() < patience);
  struct Expected {
    const char* pool;
    double in_use, limit;
  };
  for (const auto& [pool, in_use, limit] :
       {Expected{"streams", 1, 3}, Expected{"peer_streams", 1, 2},
        Expected{"rows_of_a_stream", 2, 10}, Expected{"compile_threads", 0, 2},
        Expected{"compile_queue", 0, 7}, Expected{"connections", 1, 20},
        Expected{"peer_connections", 1, 10}, Expected{"receive_slots", 0, 16},
        Expected{"calls", 0, 1280}, Expected{"caller_calls", 0, 1138},
        Expected{"unread_reply_bytes", 0, 128 << 20}}) {
    EXPECT_EQ(Value(scrape, absl::StrCat("maskd_pool_in_use{pool=\"", pool, "\"}")), in_use)
        << pool;
    EXPECT_EQ(Value(scrape, absl::StrCat("maskd_pool_limit{pool=\"", pool, "\"}")), limit) << pool;
  }
  EXPECT_EQ(Value(scrape, "maskd_pool_limit{pool=\"stream_threads\"}"), 2);
  EXPECT_EQ(Value(scrape, "maskd_pool_limit{pool=\"mask_threads\"}"), 3);
  EXPECT_TRUE(stream.Finish().ok());
}

}  // namespace
}  // namespace maskd::service
