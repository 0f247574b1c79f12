// Streams that are used again, and what else the page keeps: never for another vocabulary.
#include "playground/streams.h"

#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "playground/assets.h"
#include "playground/position.h"
#include "playground/sources.h"
#include "playground/vocabularies.h"
#include "tests/client/scripted_server.h"

namespace maskd::playground {
namespace {

using client::ScriptedServer;
using client::ServerStream;

// A server whose vocabulary can change, as one does that reads its configuration anew. Streams that
// are open keep theirs.
class ChangingServer {
 public:
  ChangingServer()
      : server_({.list_tokens =
                     [this](const auto&, auto& response) {
                       for (int id = 0; id < 40 * version_; ++id)
                         response.add_tokens()->set_text(absl::StrCat("t", id));
                       response.mutable_tokens(0)->set_special(true);
                       return grpc::Status::OK;
                     },
                 .decode = [this](ServerStream& stream) { return Decode(stream); },
                 .get_tokenizer =
                     [this](const auto&, v1::GetTokenizerResponse& response) {
                       ++asked_;
                       *response.mutable_tokenizer() = Tokenizer();
                       return grpc::Status::OK;
                     }}),
        client_(*client::Client::Connect({.address = server_.address()})) {}

  void Change() { ++version_; }
  [[nodiscard]] const client::Client& client() const { return *client_; }
  [[nodiscard]] v1::Tokenizer Tokenizer() const {
    v1::Tokenizer tokenizer;
    tokenizer.set_name("changing");
    tokenizer.set_hash(absl::StrCat("hash", version_.load()));
    tokenizer.set_vocab_size(40 * version_);
    tokenizer.add_stop_ids(0);
    return tokenizer;
  }
  [[nodiscard]] int streams() const { return streams_; }

 private:
  grpc::Status Decode(ServerStream& stream) {
    v1::DecodeRequest request;
    stream.Read(&request);
    if (request.hello().tokenizer_hash() != Tokenizer().hash())
      return {grpc::StatusCode::FAILED_PRECONDITION, "tokenizer_hash: differs"};
    ++streams_;
    v1::DecodeResponse response;
    *response.mutable_welcome()->mutable_tokenizer() = Tokenizer();
    response.mutable_welcome()->set_mask_words((request.hello().logits_width() + 31) / 32);
    stream.Write(response);
    while (stream.Read(&request)) {
    }
    return grpc::Status::OK;
  }

  std::atomic<int> version_ = 1;
  std::atomic<int> asked_ = 0;
  std::atomic<int> streams_ = 0;
  ScriptedServer server_;
  std::unique_ptr<client::Client> client_;
};

TEST(StreamsTest, AStreamIsUsedAgainForItsVocabularyAlone) {
  ChangingServer server;
  Vocabularies vocabularies(server.client());
  Streams streams(server.client(), 2);
  const VocabularyPtr before = *vocabularies.Get("");
  auto first = streams.Take("", *before);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_FALSE(first->was_used);
  streams.Give("", std::move(first->stream));
  auto again = streams.Take("", *before);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->was_used);
  streams.Give("", std::move(again->stream));
  EXPECT_EQ(server.streams(), 1);
  // The name is the same, the tokens are others, and there are more of them.
  server.Change();
  const VocabularyPtr after = *vocabularies.Get("");
  EXPECT_EQ(after->tokens.size(), 80U);
  const auto other = streams.Take("", *after);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_FALSE(other->was_used);
  EXPECT_EQ(other->stream->welcome().mask_words(), 3);
  // Whoever still has the old vocabulary has its stream; none is opened for it any more.
  EXPECT_TRUE(streams.Take("", *before)->was_used);
  EXPECT_TRUE(absl::IsFailedPrecondition(streams.Take("", *before).status()));
}

TEST(StreamsTest, SoManyWaitAndNoneOnceItIsClosed) {
  ChangingServer server;
  Vocabularies vocabularies(server.client());
  Streams streams(server.client(), 2);
  const VocabularyPtr vocabulary = *vocabularies.Get("");
  std::vector<std::unique_ptr<client::MaskStream>> taken;
  for (int i = 0; i < 4; ++i) taken.push_back(std::move(streams.Take("", *vocabulary)->stream));
  for (auto& stream : taken) streams.Give("", std::move(stream));
  int waiting = 0;
  for (; streams.Take("", *vocabulary)->was_used; ++waiting) {
  }
  EXPECT_EQ(waiting, 2);
  streams.Give("", std::move(streams.Take("", *vocabulary)->stream));
  streams.Close();
  auto fresh = streams.Take("", *vocabulary);
  EXPECT_FALSE(fresh->was_used);
  streams.Give("", std::move(fresh->stream));
  EXPECT_FALSE(streams.Take("", *vocabulary)->was_used) << "it ends where it is given back";
}

TEST(VocabulariesTest, AreFetchedOnceAndAgainWhenTheyAreOthers) {
  ChangingServer server;
  Vocabularies vocabularies(server.client());
  const VocabularyPtr first = *vocabularies.Get("");
  EXPECT_EQ(first->tokens.size(), 40U);
  EXPECT_TRUE(first->IsStop(0));
  EXPECT_FALSE(first->IsStop(1));
  EXPECT_EQ(first->splitter.Longest("t12t3"), (std::vector<client::TokenId>{12, 3}));
  EXPECT_EQ(first->splitter.Longest("t0"), std::nullopt) << "a special token spells no text";
  EXPECT_EQ(*vocabularies.Get("changing"), first);
  server.Change();
  const VocabularyPtr second = *vocabularies.Get("");
  EXPECT_NE(second, first);
  EXPECT_EQ(first->tokens.size(), 40U) << "whoever has it keeps it";
}

TEST(SourcesTest, TheOneUsedLongestAgoGoes) {
  Sources sources;
  for (std::size_t i = 0; i <= Sources::kMost; ++i) {
    sources.Keep(absl::StrCat("id", i), "regex", "a");
    EXPECT_NE(sources.Find("id0"), nullptr) << "used each time, so it stays";
  }
  EXPECT_EQ(sources.Find("id1"), nullptr);
  EXPECT_NE(sources.Find("id2"), nullptr);
  // One that is larger than all may be, alone.
  sources.Keep("large", "regex", std::string(Sources::kMostBytes + 1, 'x'));
  EXPECT_NE(sources.Find("large"), nullptr);
  EXPECT_EQ(sources.Find("id0"), nullptr);
  sources.Keep("id0", "regex", "b");
  EXPECT_EQ(sources.Find("large"), nullptr);
  sources.Keep("id0", "regex", "c");
  EXPECT_EQ(sources.Find("id0")->text(), "c");
}

TEST(SourcesTest, ReasonsOfASchemaAreItsRules) {
  const std::string schema = R"({"properties": {"a": {"type": "integer"}}})";
  const reasons::Reason reason = Source("json_schema", schema).ReasonBehind(R"({"a": )");
  ASSERT_FALSE(reason.rules.empty());
  EXPECT_EQ(reason.rules.front().place, "/properties/a/type");
  EXPECT_EQ(schema.substr(reason.rules.front().span.begin,
                          reason.rules.front().span.end - reason.rules.front().span.begin),
            "\"integer\"");
  EXPECT_TRUE(Source("json_object", "").ReasonBehind("{").rules.empty());
  for (const char* const text : {"", "{", "[]", "7", "\"a\"", "null", "\xff"}) {
    const Source source("json_schema", text);
    EXPECT_EQ(source.text(), text);
    EXPECT_TRUE(source.ReasonBehind("{\"a").rules.empty()) << text;
  }
  // Nested deeper than any stack.
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"not\":";
  EXPECT_TRUE(Source("json_schema", deep + "{}" + std::string(100'000, '}'))
                  .ReasonBehind(std::string(100'000, '['))
                  .rules.empty());
}

TEST(AssetsTest, AreInOrderOfTheirNamesAndNoneIsEmpty) {
  absl::string_view before;
  bool has_index = false;
  for (const Asset& asset : Assets()) {
    EXPECT_LT(before, asset.name);
    EXPECT_FALSE(asset.text.empty()) << asset.name;
    before = asset.name;
    has_index = has_index || asset.name == "index.html";
  }
  EXPECT_TRUE(has_index);
}

TEST(PositionTest, ALongTextIsRefusedAndNothingIsAsked) {
  ChangingServer server;
  Vocabularies vocabularies(server.client());
  Streams streams(server.client(), 1);
  const VocabularyPtr vocabulary = *vocabularies.Get("");
  PositionQuestion question;
  question.text = std::string(kMostText + 1, 'x');
  EXPECT_TRUE(absl::IsInvalidArgument(DescribePlace(streams, *vocabulary, question).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ShortestEnding(streams, *vocabulary, question).status()));
  EXPECT_EQ(server.streams(), 0);
}

// A server whose every mask is full, and which says that the token `forced` must come next.
class ForcingServer {
 public:
  explicit ForcingServer(client::TokenId forced)
      : forced_(forced),
        server_({.decode = [this](ServerStream& stream) { return Decode(stream); },
                 .check =
                     [](const auto&, v1::CheckResponse& response) {
                       response.set_accepted(true);
                       return grpc::Status::OK;
                     }}),
        client_(*client::Client::Connect({.address = server_.address()})) {}

  [[nodiscard]] const client::Client& client() const { return *client_; }

 private:
  [[nodiscard]] grpc::Status Decode(ServerStream& stream) const {
    client::Welcome(stream, 1);
    for (v1::DecodeRequest request; stream.Read(&request);) {
      v1::DecodeResponse response;
      response.mutable_step()->set_step(request.step().step());
      for (const v1::OpenRow& open : request.step().open()) {
        v1::RowReply& row = *response.mutable_step()->add_rows();
        row.set_row(open.row());
        row.set_state(v1::ROW_STATE_ACTIVE);
        row.add_positions()->set_full(true);
        row.add_forced_draft(forced_);
      }
      stream.Write(response);
    }
    return grpc::Status::OK;
  }

  client::TokenId forced_;
  ScriptedServer server_;
  std::unique_ptr<client::Client> client_;
};

// The ids that the page would name as the likely ones, of a vocabulary of "a", "b" and "c".
std::vector<client::TokenId> LikelyWhere(client::TokenId forced) {
  const ForcingServer server(forced);
  Streams streams(server.client(), 1);
  Vocabulary vocabulary;
  for (const char* const text : {"a", "b", "c"}) vocabulary.tokens.emplace_back().set_text(text);
  const auto answer = DescribePlace(streams, vocabulary, {});
  EXPECT_TRUE(answer.ok()) << answer.status();
  std::vector<client::TokenId> ids;
  if (answer.ok())
    for (const NamedToken& each : answer->likely) ids.push_back(each.id);
  return ids;
}

TEST(PositionTest, AForcedTokenComesFirstWhereTheVocabularyHasIt) {
  EXPECT_EQ(LikelyWhere(2), (std::vector<client::TokenId>{2, 0, 1}));
  for (const client::TokenId id : {3, 1'000'000, std::numeric_limits<client::TokenId>::max(), -1})
    EXPECT_EQ(LikelyWhere(id), (std::vector<client::TokenId>{0, 1, 2})) << id;
}

}  // namespace
}  // namespace maskd::playground
