// Whatever a caller sends: a clear error for it, and the server serves the next one.

#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/running_server.h"

namespace maskd::service {
namespace {

using testing::HasSubstr;

// One server for all cases: each leaves it serving.
class BadInputTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    Config config;
    config.max_message_bytes = 1 << 20;
    running_ = new RunningServer(config);
  }
  static void TearDownTestSuite() {
    delete running_;
    running_ = nullptr;
  }
  void TearDown() override { running_->ExpectServes(); }

  static grpc::Status Compile(const v1::CompileRequest& request) {
    grpc::ClientContext context;
    v1::CompileResponse response;
    return running_->compiler()->Compile(&context, request, &response);
  }

  static RunningServer* running_;
};

RunningServer* BadInputTest::running_ = nullptr;

template <typename Detail>
Detail Find(const grpc::Status& status) {
  Detail detail;
  const google::rpc::Status wire = DetailsOf(status);
  for (const google::protobuf::Any& any : wire.details())
    if (any.UnpackTo(&detail)) return detail;
  ADD_FAILURE() << "no " << Detail::descriptor()->full_name();
  return detail;
}

TEST_F(BadInputTest, AnUnknownTokenizerIsNamed) {
  v1::CompileRequest request;
  request.set_tokenizer("gpt-9");
  *request.mutable_grammar() = GrammarOf("choice", R"(["a"])");
  const grpc::Status status = Compile(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("loaded: bytes"));
  EXPECT_EQ(Find<google::rpc::ResourceInfo>(status).resource_name(), "gpt-9");
}

struct CompileCase {
  const char* name;
  const char* kind;
  const char* source;
  grpc::StatusCode code;
  const char* field;
};

class BadGrammarTest : public BadInputTest, public testing::WithParamInterface<CompileCase> {};

TEST_P(BadGrammarTest, IsRefusedAtItsPlace) {
  v1::CompileRequest request;
  *request.mutable_grammar() = GrammarOf(GetParam().kind, GetParam().source);
  const grpc::Status status = Compile(request);
  EXPECT_EQ(status.error_code(), GetParam().code) << status.error_message();
  EXPECT_EQ(Find<google::rpc::BadRequest>(status).field_violations(0).field(), GetParam().field)
      << status.error_message();
  EXPECT_FALSE(Find<google::rpc::ErrorInfo>(status).reason().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Grammars, BadGrammarTest,
    testing::ValuesIn(std::vector<CompileCase>{
        {"WrongType", "json_schema", R"({"properties":{"a":{"type":"strin"}}})",
         grpc::StatusCode::INVALID_ARGUMENT, "/properties/a/type"},
        {"NegativeLength", "json_schema", R"({"items":{"minLength":-1}})",
         grpc::StatusCode::INVALID_ARGUMENT, "/items/minLength"},
        {"Unsupported", "json_schema", R"({"items":{"$ref":"http://x.example/not-given"}})",
         grpc::StatusCode::UNIMPLEMENTED, "/items/$ref"},
    }),
    [](const auto& test) { return test.param.name; });

TEST_F(BadInputTest, TextThatIsNoJsonIsRefused) {
  v1::CompileRequest request;
  *request.mutable_grammar() = GrammarOf("json_schema", R"({"type": )");
  EXPECT_EQ(Compile(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(BadInputTest, AnUnknownKindListsTheKnownOnes) {
  v1::CompileRequest request;
  *request.mutable_grammar() = GrammarOf("yaml", "a: b");
  const grpc::Status status = Compile(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("json_schema"));
}

TEST_F(BadInputTest, NoGrammarIsRefused) {
  EXPECT_EQ(Compile({}).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(BadInputTest, AnUnknownGrammarIdAsksForTheText) {
  v1::CompileRequest request;
  request.set_grammar_id(std::string(64, 'a'));
  const grpc::Status status = Compile(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Find<google::rpc::ResourceInfo>(status).resource_type(), "grammar");
}

TEST_F(BadInputTest, IndentationHasABoundAndNoCompactWhiteSpace) {
  v1::CompileRequest request;
  *request.mutable_grammar() = GrammarOf("json", "");
  v1::GrammarOptions& options = *request.mutable_grammar()->mutable_options();
  options.set_indent(17);
  grpc::Status status = Compile(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("options.indent: 17 is not in [0, 16]"));
  options.set_indent(2);
  options.set_white_space(v1::WHITE_SPACE_COMPACT);
  status = Compile(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("options.indent: compact white space"));
}

TEST_F(BadInputTest, AMaximumThatNoTextKeepsIsRefused) {
  v1::CompileRequest request;
  *request.mutable_grammar() = GrammarOf("choice", R"(["abc", "abcd"])");
  const std::pair<int, const char*> cases[] = {{0, "options.max_tokens: 0 is not in [1, 1000000]"},
                                               {2, "no text of this grammar has at most 2 tokens"}};
  for (const auto& [most, message] : cases) {
    request.mutable_grammar()->mutable_options()->set_max_tokens(most);
    const grpc::Status status = Compile(request);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), HasSubstr(message));
  }
  request.mutable_grammar()->mutable_options()->clear_max_tokens();
  const std::pair<int, const char*> characters[] = {
      {0, "options.max_characters: 0 is not in [1, 1000000000]"},
      {2, "no text of this grammar has at most 2 characters"}};
  for (const auto& [most, message] : characters) {
    request.mutable_grammar()->mutable_options()->set_max_characters(most);
    const grpc::Status status = Compile(request);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_THAT(status.error_message(), HasSubstr(message));
  }
}

TEST_F(BadInputTest, AFieldOfALaterVersionIsNotIgnored) {
  v1::CompileRequest request;
  *request.mutable_grammar() = GrammarOf("json_schema", "{}");
  v1::GrammarOptions* options = request.mutable_grammar()->mutable_options();
  options->GetReflection()->MutableUnknownFields(options)->AddVarint(999, 1);
  const grpc::Status status = Compile(request);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(status.error_message(), HasSubstr("999"));
}

struct DocumentsCase {
  const char* name;
  std::vector<std::pair<const char*, const char*>> documents;
  grpc::StatusCode code;
  const char* field;
  const char* says;
};

class DocumentsTest : public BadInputTest, public testing::WithParamInterface<DocumentsCase> {};

TEST_P(DocumentsTest, AreReadWhereAReferenceLeads) {
  v1::CompileRequest request;
  *request.mutable_grammar() = GrammarOf(
      "json_schema", R"({"$id":"http://x.example/dir/","properties":{"a":{"$ref":"a.json"}}})");
  for (const auto& [uri, text] : GetParam().documents) {
    v1::Document* const document = request.mutable_grammar()->add_documents();
    document->set_uri(uri);
    document->set_text(text);
  }
  const grpc::Status status = Compile(request);
  EXPECT_EQ(status.error_code(), GetParam().code) << status.error_message();
  if (status.ok()) return;
  EXPECT_EQ(Find<google::rpc::BadRequest>(status).field_violations(0).field(), GetParam().field);
  EXPECT_THAT(status.error_message(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Documents, DocumentsTest,
    testing::ValuesIn(std::vector<DocumentsCase>{
        {"Given", {{"http://x.example/dir/a.json", "true"}}, grpc::StatusCode::OK, "", ""},
        {"Missing",
         {{"http://x.example/a.json", "true"}},
         grpc::StatusCode::UNIMPLEMENTED,
         "/properties/a/$ref",
         "\"http://x.example/dir/a.json\""},
        {"NotRead",
         {{"http://x.example/dir/a.json", "true"}, {"http://x.example/b", "{"}},
         grpc::StatusCode::OK,
         "",
         ""},
        {"Broken",
         {{"http://x.example/dir/a.json", R"({"type":"x"})"}},
         grpc::StatusCode::INVALID_ARGUMENT,
         "http://x.example/dir/a.json#/type",
         "\"x\""},
        {"Nameless",
         {{"", "true"}},
         grpc::StatusCode::INVALID_ARGUMENT,
         "documents[0].uri",
         "is needed"},
        {"Twice",
         {{"http://x.example/a", "true"}, {"http://x.example/a", "true"}},
         grpc::StatusCode::INVALID_ARGUMENT,
         "documents[1].uri",
         "names two documents"},
    }),
    [](const auto& test) { return test.param.name; });

struct StreamCase {
  const char* name;
  // The second to be sent only when the first was welcomed.
  std::function<void(v1::DecodeRequest* first, v1::DecodeRequest* second)> fill;
  grpc::StatusCode code;
  const char* says;
};

void GoodHello(v1::DecodeRequest* request) { request->mutable_hello()->set_logits_width(257); }

class BadStreamTest : public BadInputTest,
                      public testing::WithParamInterface<std::tuple<StreamCase, Via>> {};

TEST_P(BadStreamTest, EndsWithItsError) {
  const auto& [bad, via] = GetParam();
  v1::DecodeRequest first;
  v1::DecodeRequest second;
  bad.fill(&first, &second);
  TestStream stream(running_->channel(), running_->memory_at(via));
  stream.Send(first);
  v1::DecodeResponse response;
  if (stream.Read(&response)) {
    EXPECT_TRUE(response.has_welcome());
    stream.Send(second);
  }
  const grpc::Status status = stream.Finish();
  EXPECT_EQ(status.error_code(), bad.code) << status.error_message();
  EXPECT_THAT(status.error_message(), HasSubstr(bad.says));
}

using Request = v1::DecodeRequest;

INSTANTIATE_TEST_SUITE_P(
    Streams, BadStreamTest,
    testing::Combine(
        testing::ValuesIn(std::vector<StreamCase>{
            {"WidthBelowVocabulary",
             [](Request* first, Request*) { first->mutable_hello()->set_logits_width(256); },
             grpc::StatusCode::INVALID_ARGUMENT, "hello.logits_width: 256 is below"},
            {"NoWidth", [](Request* first, Request*) { first->mutable_hello(); },
             grpc::StatusCode::INVALID_ARGUMENT, "hello.logits_width"},
            {"AbsurdWidth",
             [](Request* first, Request*) { first->mutable_hello()->set_logits_width(1U << 31); },
             grpc::StatusCode::INVALID_ARGUMENT, "hello.logits_width"},
            {"WidthFarAboveVocabulary",
             [](Request* first, Request*) { first->mutable_hello()->set_logits_width(65'794); },
             grpc::StatusCode::INVALID_ARGUMENT, "hello.logits_width: 65794 is above 65793"},
            {"UnknownTokenizer",
             [](Request* first, Request*) {
               GoodHello(first);
               first->mutable_hello()->set_tokenizer("x");
             },
             grpc::StatusCode::NOT_FOUND, "no tokenizer \"x\""},
            {"OtherHash",
             [](Request* first, Request*) {
               GoodHello(first);
               first->mutable_hello()->set_tokenizer_hash("00");
             },
             grpc::StatusCode::FAILED_PRECONDITION, "hello.tokenizer_hash"},
            {"StepFirst", [](Request* first, Request*) { first->mutable_step()->set_step(1); },
             grpc::StatusCode::FAILED_PRECONDITION, "must be a Hello"},
            {"Nothing", [](Request*, Request*) {}, grpc::StatusCode::INVALID_ARGUMENT,
             "must be a Hello"},
            {"TwoHellos",
             [](Request* first, Request* second) {
               GoodHello(first);
               GoodHello(second);
             },
             grpc::StatusCode::INVALID_ARGUMENT, "must be a Step"},
            {"StepZero",
             [](Request* first, Request* second) {
               GoodHello(first);
               second->mutable_step();
             },
             grpc::StatusCode::INVALID_ARGUMENT, "step.step"},
            {"TooLarge",
             [](Request* first, Request* second) {
               GoodHello(first);
               *second->mutable_step()->add_open() = OpenOf(1, "choice", std::string(2 << 20, ' '));
             },
             grpc::StatusCode::RESOURCE_EXHAUSTED, "larger than max"},
        }),
        testing::Values(Via::kGrpc, Via::kMemory)),
    [](const auto& test) {
      return std::get<StreamCase>(test.param).name + NameOf(std::get<Via>(test.param));
    });

TEST_F(BadInputTest, RowsThatAreWrongAreFieldsOfTheirRows) {
  TestStream stream(running_->channel());
  stream.Greet();
  v1::Step step = OpeningStep(OpenOf(1, "choice", R"(["ab"])"));
  *step.add_open() = OpenOf(1, "choice", R"(["xy"])");                        // opened twice
  *step.add_open() = OpenOf(2, "json_schema", R"({"items":{"type":"no"}})");  // malformed
  *step.add_open() = OpenOf(3, "choice", R"(["ab"])");
  step.mutable_open(3)->mutable_reasoning()->set_style("?");  // unknown
  step.add_rows()->set_row(77);                               // unknown
  const v1::StepReply reply = stream.Run(step);
  ASSERT_EQ(reply.rows_size(), 5) << reply.DebugString();
  EXPECT_EQ(reply.rows(0).state(), v1::ROW_STATE_ACTIVE);
  EXPECT_EQ(reply.rows(1).error().place(), "/items/type");
  EXPECT_EQ(reply.rows(1).error().code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(reply.rows(2).error().place(), "reasoning.style");
  EXPECT_EQ(reply.rows(3).row(), 1U);
  EXPECT_EQ(reply.rows(3).error().reason(), "ROW_ALREADY_OPEN");
  EXPECT_EQ(reply.rows(4).row(), 77U);
  EXPECT_EQ(reply.rows(4).error().reason(), "ROW_NOT_FOUND");
  v1::Step tokens;
  tokens.add_rows()->set_row(1);
  tokens.mutable_rows(0)->add_tokens('a');
  tokens.mutable_rows(0)->add_tokens(1'000'000);
  const v1::StepReply refused = stream.Run(tokens);
  EXPECT_EQ(refused.rows(0).error().code(), grpc::StatusCode::OUT_OF_RANGE);
  EXPECT_EQ(refused.rows(0).error().token().index(), 1U);
  EXPECT_EQ(refused.rows(0).error().token().id(), 1'000'000);
  EXPECT_EQ(refused.rows(0).state(), v1::ROW_STATE_ACTIVE);
  EXPECT_TRUE(Allows(refused.rows(0).positions(0), 'b'));
  EXPECT_TRUE(stream.Finish().ok()) << "bad rows do not end the stream";
}

// A string field of each method's request, number 1 or, of the grammar's id, 2.
TEST(BytesTest, ThoseThatAreNoUtf8AreTheCallersFault) {
  const RunningServer running;
  for (const char* method :
       {"CompileService/Compile", "CompileService/Check", "CompileService/Explain",
        "TokenizerService/GetTokenizer", "TokenizerService/ListTokens"}) {
    std::string answer;
    const grpc::Status status =
        CallRaw(running.channel(), absl::StrCat("/maskd.v1.", method), "\x0A\x02\xFF\xFE", &answer);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT)
        << method << ": " << status.error_message();
    EXPECT_NE(status.error_message(), "") << method;
  }
  running.ExpectServes();
}

}  // namespace
}  // namespace maskd::service
