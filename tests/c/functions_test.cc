// The C functions beyond what a program in C is expected to do: null for everything, structs of
// other sizes, numbers that cannot be, results that outlive their stream. maskd_test.c has what it
// is expected to do.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "google/rpc/error_details.pb.h"
#include "gtest/gtest.h"

#include "client/c/handles.h"
#include "client/c/json.h"
#include "client/c/maskd.h"
#include "client/c/maskd_applier.h"
#include "client/cpp/base/errors.h"
#include "client/cpp/base/wire_status.h"
#include "tests/client/scripted_server.h"

namespace maskd::client {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t kPatienceMs = 30'000;
constexpr std::uint32_t kWidth = 320;  // the embedded vocabulary has 257 tokens

// The status' code and message; it is freed.
std::pair<std::int32_t, std::string> Taken(maskd_status* status) {
  std::pair<std::int32_t, std::string> taken{maskd_status_code(status),
                                             maskd_status_message(status)};
  maskd_status_free(status);
  return taken;
}

void ExpectOk(maskd_status* status) {
  const auto [code, message] = Taken(status);
  EXPECT_EQ(code, MASKD_OK) << message;
}

// A handle that is freed.
template <typename Handle>
using Owned = std::unique_ptr<Handle, void (*)(Handle*)>;

Owned<maskd_client> Connect(const std::string& address) {
  maskd_client* client = nullptr;
  ExpectOk(maskd_client_connect(address.c_str(), kPatienceMs, &client));
  return {client, &maskd_client_free};
}

Owned<maskd_stream> OpenStream(maskd_client* client, std::uint32_t width) {
  maskd_stream* stream = nullptr;
  ExpectOk(maskd_stream_open(client, nullptr, width, kPatienceMs, &stream));
  return {stream, &maskd_stream_free};
}

// One row of logits, which stay the vector's.
maskd_logits OneRow(std::vector<float>* values) {
  maskd_logits logits = {};
  logits.struct_size = sizeof logits;
  logits.data = values->data();
  logits.row_count = 1;
  logits.width = std::ssize(*values);
  logits.row_stride = logits.width;
  return logits;
}

TEST(CFunctionsTest, NullIsAnErrorOrNothing) {
  const std::vector<std::pair<const char*, maskd_status*>> refused = {
      {"client", maskd_client_connect("local:", 1, nullptr)},
      {"client_connect_any", maskd_client_connect_any(nullptr, 2, 1, nullptr)},
      {"call", maskd_client_call(nullptr, nullptr, nullptr, nullptr)},
      {"open", maskd_stream_open(nullptr, nullptr, 1, 1, nullptr)},
      {"open_with", maskd_stream_open_with(nullptr, nullptr, 1, nullptr)},
      {"open_failover", maskd_stream_open_failover(nullptr, 1, nullptr, 1, nullptr)},
      {"remember", maskd_stream_remember(nullptr, nullptr, nullptr)},
      {"submit", maskd_stream_submit(nullptr, nullptr, nullptr)},
      {"submit_each", maskd_stream_submit_each(nullptr, nullptr, nullptr, nullptr, 1, nullptr)},
      {"collect", maskd_stream_collect(nullptr, 1, nullptr)},
      {"collect_masks",
       maskd_stream_collect_masks(nullptr, 1, nullptr, nullptr, 1, nullptr, 1, nullptr)},
      {"collect_positions", maskd_stream_collect_positions(nullptr, 1, nullptr, nullptr, 1, 1,
                                                           nullptr, 1, 1, nullptr, nullptr)},
      {"close", maskd_stream_close(nullptr, 1)},
      {"step_open", maskd_step_open(nullptr, 1, nullptr, nullptr)},
      {"step_open_grammar", maskd_step_open_grammar(nullptr, 1, nullptr, nullptr)},
      {"step_open_snapshot", maskd_step_open_snapshot(nullptr, nullptr)},
      {"take", maskd_step_take(nullptr, 1, nullptr, 1)},
      {"take_each", maskd_step_take_each(nullptr, nullptr, nullptr, 1)},
      {"rollback", maskd_step_rollback(nullptr, 1, 1)},
      {"draft", maskd_step_draft(nullptr, 1, nullptr, nullptr, 1)},
      {"draft_each", maskd_step_draft_each(nullptr, nullptr, nullptr, nullptr, nullptr, 1)},
      {"set_remaining", maskd_step_set_remaining(nullptr, 1, 1)},
      {"want_forced", maskd_step_want_forced(nullptr, 1)},
      {"step_snapshot", maskd_step_snapshot(nullptr, 1)},
      {"fork", maskd_step_fork(nullptr, 1, 2)},
      {"step_close", maskd_step_close(nullptr, 1)},
      {"wait", maskd_step_wait_for_compile(nullptr, 1)},
      {"row", maskd_result_row(nullptr, 0, nullptr)},
      {"answer", maskd_result_answer(nullptr, 0, nullptr)},
      {"mask", maskd_result_mask(nullptr, 0, 0, nullptr)},
      {"outcomes", maskd_result_outcomes(nullptr, 0, nullptr, nullptr, nullptr, nullptr)},
      {"allows", maskd_result_allows(nullptr, nullptr, nullptr, 1, nullptr)},
      {"position", maskd_result_position(nullptr, 0, 0, nullptr)},
      {"snapshot", maskd_result_snapshot(nullptr, 0, nullptr)},
      {"copy_masks", maskd_result_copy_masks(nullptr, nullptr, 1, nullptr, 1)},
      {"copy_positions", maskd_result_copy_positions(nullptr, nullptr, 1, 1, nullptr, 1)},
      {"plane_new", maskd_mask_plane_new(nullptr, 1, 1, nullptr)},
      {"plane_write", maskd_mask_plane_write(nullptr, nullptr, nullptr, 1, 1)},
      {"result_apply", maskd_result_apply(nullptr, nullptr, nullptr, 1, nullptr)},
      {"result_apply_to", maskd_result_apply_to(nullptr, nullptr, nullptr, 1, nullptr, nullptr)},
      {"on_queue", maskd_applier_new_on_queue(nullptr, nullptr)},
      {"apply", maskd_apply(nullptr, nullptr, 1, nullptr, 1, nullptr)},
      {"apply_with", maskd_apply_with(nullptr, nullptr, 1, nullptr, 1, nullptr)},
      {"bitmask", maskd_apply_bitmask(nullptr, nullptr, 1, nullptr, 1, nullptr, 1)},
      {"warm_up", maskd_applier_warm_up(nullptr, 1, 1, 0, 1)},
      {"dictionary_new", maskd_dictionary_new(nullptr, 1, 1, nullptr)},
      {"dictionary_set", maskd_dictionary_set(nullptr, 0, nullptr)},
  };
  for (const auto& [name, status] : refused) {
    const auto [code, message] = Taken(status);
    EXPECT_EQ(code, MASKD_INVALID_ARGUMENT) << name << ": " << message;
    EXPECT_THAT(message, HasSubstr(": is NULL")) << name;
  }
  maskd_string_free(nullptr);
  maskd_stream_free(nullptr);
  maskd_mask_plane_free(nullptr);
  maskd_mask_plane_forget(nullptr);
  maskd_dictionary_free(nullptr);
  maskd_step_clear(nullptr);
  EXPECT_EQ(maskd_stream_mask_words(nullptr), 0);
  EXPECT_EQ(maskd_stream_moves(nullptr), 0);
  EXPECT_EQ(maskd_stream_in_flight(nullptr), 0);
  EXPECT_EQ(maskd_stream_going_away(nullptr), 0);
  EXPECT_EQ(maskd_stream_uses_shared_memory(nullptr), 0);
  EXPECT_STREQ(maskd_stream_transport(nullptr), "");
  EXPECT_STREQ(maskd_stream_welcome_json(nullptr), "");
  EXPECT_STREQ(maskd_applier_name(nullptr), "");
  EXPECT_EQ(maskd_result_step(nullptr), 0);
  EXPECT_EQ(maskd_result_row_count(nullptr), 0);
  EXPECT_EQ(maskd_result_snapshot_count(nullptr), 0);
}

TEST(CStatusTest, SaysWhatTheErrorSays) {
  EXPECT_EQ(ToC(absl::OkStatus()), nullptr);
  EXPECT_EQ(maskd_status_retry_after_ms(nullptr), -1);
  EXPECT_STREQ(maskd_status_place(nullptr), "");
  EXPECT_STREQ(maskd_status_reason(nullptr), "");
  v1::RowError error;
  error.set_code(8);
  error.set_message("tokens[3]: too many");
  error.set_place("tokens[3]");
  error.set_reason("LIMIT_EXCEEDED");
  error.set_retry_after_ms(40);
  const Owned<maskd_status> status{ToC(FromWire(error)), &maskd_status_free};
  EXPECT_EQ(maskd_status_code(status.get()), MASKD_RESOURCE_EXHAUSTED);
  EXPECT_STREQ(maskd_status_message(status.get()), "tokens[3]: too many");
  EXPECT_STREQ(maskd_status_place(status.get()), "tokens[3]");
  EXPECT_STREQ(maskd_status_reason(status.get()), "LIMIT_EXCEEDED");
  EXPECT_EQ(maskd_status_retry_after_ms(status.get()), 40);
}

struct Later {
  std::size_t struct_size;
  std::int32_t first;
  std::int32_t second;
  std::int64_t third;
};

// Of callers that were built with an older header, with this one and with a later one.
TEST(CStructTest, IsReadAndWrittenAsFarAsBothKnowIt) {
  constexpr std::size_t kLeast = offsetof(Later, second);
  for (const std::size_t size : {kLeast, sizeof(Later), sizeof(Later) + 8}) {
    struct {
      Later known;
      std::int64_t later;
    } caller = {{size, 1, 2, 3}, 4};
    const auto read = ReadStruct(&caller.known, kLeast, "later");
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->first, 1);
    EXPECT_EQ(read->second, size == kLeast ? 0 : 2);
    EXPECT_EQ(read->third, size == kLeast ? 0 : 3);
    WriteStruct(Later{0, 11, 12, 13}, &caller.known);
    EXPECT_EQ(caller.known.struct_size, size);
    EXPECT_EQ(caller.known.first, 11);
    EXPECT_EQ(caller.known.second, size == kLeast ? 2 : 12);
    EXPECT_EQ(caller.known.third, size == kLeast ? 3 : 13);
    EXPECT_EQ(caller.later, 4);
  }
  const Later small = {kLeast - 1, 1, 2, 3};
  const absl::Status refused = ReadStruct(&small, kLeast, "later").status();
  EXPECT_THAT(std::string(refused.message()), StartsWith("later.struct_size: 11 is less than 12"));
}

TEST(CSpanTest, CountsAndPointersFitTogether) {
  std::span<const std::int32_t> span;
  const std::int32_t numbers[] = {1, 2};
  EXPECT_TRUE(ReadSpan<std::int32_t>(nullptr, 0, "ids", span).ok());
  EXPECT_TRUE(span.empty());
  EXPECT_EQ(ReadSpan<std::int32_t>(nullptr, 1, "ids", span).message(), "ids: is NULL");
  EXPECT_EQ(ReadSpan(numbers, -1, "ids", span).message(), "ids: negative count");
  EXPECT_TRUE(ReadSpan(numbers, 2, "ids", span).ok());
  EXPECT_EQ(span.data(), numbers);
}

TEST(CJsonTest, MessagesGoBothWaysAndErrorsNameTheArgument) {
  v1::Grammar grammar;
  ASSERT_TRUE(FromJson(R"({"kind": "regex", "source": "\u00e9\\d"})", grammar, "grammar").ok());
  EXPECT_EQ(grammar.source(), "\xC3\xA9\\d");
  v1::Grammar again;
  ASSERT_TRUE(FromJson(ToJson(grammar).c_str(), again, "grammar").ok());
  EXPECT_EQ(again.SerializeAsString(), grammar.SerializeAsString());
  EXPECT_THAT(ToJson(v1::RowUpdate()), HasSubstr("\"rollback\":0")) << "defaults are printed";
  const std::string deep(100'000, '[');
  for (const char* const wrong : {"", "{", "[]", "{\"kind\": 7}", "{\"sort\": \"regex\"}", "\xff",
                                  "{\"kind\": \"\xff\"}", deep.c_str()}) {
    v1::Grammar none;
    const absl::Status status = FromJson(wrong, none, "grammar_json");
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << std::string(wrong).substr(0, 40);
    EXPECT_THAT(std::string(status.message()), StartsWith("grammar_json: "));
  }
  EXPECT_EQ(FromJson(nullptr, grammar, "grammar_json").message(), "grammar_json: is NULL");
}

TEST(CApplierTest, NumbersThatCannotBeAreErrors) {
  maskd_applier* made = nullptr;
  ExpectOk(maskd_applier_new("cpu", &made));
  const Owned<maskd_applier> applier{made, &maskd_applier_free};
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  maskd_dictionary* dictionary = nullptr;
  for (const std::int64_t slots : {kMost, kMost / 8, kMost / 64}) {
    const auto [code, message] = Taken(maskd_dictionary_new(made, 257, slots, &dictionary));
    EXPECT_EQ(code, MASKD_RESOURCE_EXHAUSTED) << message;
    EXPECT_EQ(dictionary, nullptr);
  }
  for (const std::int32_t type : {-1, 3, 99}) {
    const auto [code, message] = Taken(maskd_applier_warm_up(made, 257, 320, type, 1));
    EXPECT_EQ(code, MASKD_INVALID_ARGUMENT) << type << ": " << message;
    EXPECT_THAT(message, StartsWith("type: "));
  }
  std::vector<float> values(kWidth, 1);
  const maskd_logits logits = OneRow(&values);
  const std::vector<std::int32_t> words(9);
  for (const std::int64_t rows : {std::int64_t{2}, kMost, kMost / 4}) {
    const auto [code, message] =
        Taken(maskd_apply_bitmask(made, &logits, 257, words.data(), 9, nullptr, rows));
    EXPECT_EQ(code, MASKD_OUT_OF_RANGE) << message;
  }
  EXPECT_EQ(values, std::vector<float>(kWidth, 1));
}

// Rows of a step that waits for its grammar, and the row's mask.
Owned<maskd_result> MaskOfDigits(maskd_stream* stream, std::uint64_t row = 1) {
  const Owned<maskd_step> step{maskd_step_new(), &maskd_step_free};
  ExpectOk(maskd_step_open_grammar(step.get(), row, R"({"kind": "regex", "source": "[0-9]+"})",
                                   nullptr));
  ExpectOk(maskd_step_wait_for_compile(step.get(), kPatienceMs));
  ExpectOk(maskd_stream_submit(stream, step.get(), nullptr));
  Owned<maskd_result> result{maskd_result_new(), &maskd_result_free};
  ExpectOk(maskd_stream_collect(stream, kPatienceMs, result.get()));
  return result;
}

// A result is of the stream that filled it, whatever it is given to afterwards.
TEST(CResultTest, AnotherStreamThatFillsNothingChangesNothing) {
  constexpr std::uint32_t kLargeWidth = 200'000;
  const auto local = Connect("local:");
  const auto stream = OpenStream(local.get(), kWidth);
  const auto result = MaskOfDigits(stream.get());
  const ScriptedServer server({.decode = [](ServerStream& there) {
    v1::DecodeRequest request;
    there.Read(&request);
    v1::DecodeResponse response;
    v1::Welcome& welcome = *response.mutable_welcome();
    welcome.set_mask_words((kLargeWidth + 31) / 32);
    welcome.mutable_tokenizer()->set_vocab_size(kLargeWidth);
    there.Write(response);
    while (there.Read(&request)) {
    }
    return grpc::Status::OK;
  }});
  const auto client = Connect(server.address());
  const auto other = OpenStream(client.get(), kLargeWidth);
  EXPECT_EQ(Taken(maskd_stream_collect(other.get(), 1, result.get())).first,
            MASKD_FAILED_PRECONDITION);
  ASSERT_EQ(maskd_result_row_count(result.get()), 1);
  const std::vector<std::uint64_t> rows = {1, 1, 1};
  const std::vector<std::int32_t> tokens = {'7', 'a', 150'000};
  std::vector<std::uint8_t> allowed(3, 9);
  ExpectOk(maskd_result_allows(result.get(), rows.data(), tokens.data(), 3, allowed.data()));
  EXPECT_EQ(allowed, (std::vector<std::uint8_t>{1, 0, 0}));
  maskd_applier* made = nullptr;
  ExpectOk(maskd_applier_new("cpu", &made));
  const Owned<maskd_applier> applier{made, &maskd_applier_free};
  std::vector<float> values(kWidth, 1);
  const maskd_logits logits = OneRow(&values);
  const maskd_target target = {.row = 1, .position = 0, .logits_row = 0};
  ExpectOk(maskd_result_apply(result.get(), made, &target, 1, &logits));
  EXPECT_EQ(std::count(values.begin(), values.end(), 1.0F), 10);
}

TEST(CResultTest, WhereTheMasksGoIsAskedBeforeAReplyIsTaken) {
  const auto local = Connect("local:");
  const auto stream = OpenStream(local.get(), kWidth);
  const auto result = MaskOfDigits(stream.get());
  const Owned<maskd_step> step{maskd_step_new(), &maskd_step_free};
  const std::uint64_t row = 1;
  const std::int32_t token = '4';
  ExpectOk(maskd_stream_submit_each(stream.get(), step.get(), &row, &token, 1, nullptr));
  std::int32_t is_whole = 7;
  const auto [code, message] = Taken(maskd_stream_collect_masks(
      stream.get(), kPatienceMs, result.get(), &row, 1, nullptr, 10, &is_whole));
  EXPECT_EQ(code, MASKD_INVALID_ARGUMENT);
  EXPECT_EQ(message, "words: is NULL");
  EXPECT_EQ(maskd_stream_in_flight(stream.get()), 1) << "the reply is still to come";
  std::vector<std::int32_t> words(10, 5);
  ExpectOk(maskd_stream_collect_masks(stream.get(), kPatienceMs, result.get(), &row, 1,
                                      words.data(), 10, &is_whole));
  EXPECT_EQ(is_whole, 1);
  EXPECT_EQ(words[1], 0x03FF0000) << "the digits, and the vocabulary's end elsewhere";
}

// A row that reasons is FREE: it has no mask to apply, so an engine has to look at the answer.
TEST(CResultTest, AnAnswerWithAFreeRowIsNotWholeAndNothingIsWritten) {
  const auto local = Connect("local:");
  const auto stream = OpenStream(local.get(), kWidth);
  const Owned<maskd_step> step{maskd_step_new(), &maskd_step_free};
  maskd_open_options options = {};
  options.struct_size = sizeof options;
  options.reasoning_json = R"({"end_tokens": [10]})";
  ExpectOk(
      maskd_step_open_grammar(step.get(), 1, R"({"kind": "regex", "source": "[0-9]+"})", &options));
  ExpectOk(maskd_step_wait_for_compile(step.get(), kPatienceMs));
  ExpectOk(maskd_stream_submit(stream.get(), step.get(), nullptr));
  const Owned<maskd_result> result{maskd_result_new(), &maskd_result_free};
  const std::uint64_t row = 1;
  std::int32_t is_whole = 7;
  std::vector<std::int32_t> words(10, 5);
  ExpectOk(maskd_stream_collect_masks(stream.get(), kPatienceMs, result.get(), &row, 1,
                                      words.data(), 10, &is_whole));
  EXPECT_EQ(is_whole, 0);
  EXPECT_EQ(words, std::vector<std::int32_t>(10, 5));
  ASSERT_EQ(maskd_result_row_count(result.get()), 1);
  maskd_row_result answer = {};
  answer.struct_size = sizeof answer;
  ExpectOk(maskd_result_row(result.get(), 0, &answer));
  EXPECT_EQ(answer.state, MASKD_STATE_FREE);
}

// A batch whose rows take some tokens and propose others, in two calls.
class CDraftsTest : public testing::Test {
 protected:
  CDraftsTest() {
    for (const std::uint64_t row : kRows) MaskOfDigits(stream_.get(), row);
  }

  static constexpr std::array<std::uint64_t, 2> kRows = {2, 1};
  static constexpr std::int64_t kWords = 10;

  // Row 1 takes a digit; row 2 proposes two digits and a letter.
  void Submit() {
    const Owned<maskd_step> step{maskd_step_new(), &maskd_step_free};
    const std::vector<std::int32_t> token_counts = {0, 1};
    const std::vector<std::int32_t> draft_counts = {3, 0};
    const std::vector<std::int32_t> tokens = {'4', '5', 'x', '7'};
    ExpectOk(maskd_step_draft_each(step.get(), kRows.data(), token_counts.data(),
                                   draft_counts.data(), tokens.data(), 2));
    ExpectOk(maskd_stream_submit(stream_.get(), step.get(), nullptr));
  }

  std::vector<std::int32_t> Collect(std::int64_t positions, std::int64_t word_rows) {
    std::vector<std::int32_t> words(static_cast<std::size_t>(word_rows * kWords), 5);
    ExpectOk(maskd_stream_collect_positions(stream_.get(), kPatienceMs, result_.get(), kRows.data(),
                                            2, positions, words.data(), word_rows, kWords,
                                            known_.data(), &is_whole_));
    // The word of the digits alone.
    std::vector<std::int32_t> digits;
    for (std::size_t i = 1; i < words.size(); i += kWords) digits.push_back(words[i]);
    return digits;
  }

  Owned<maskd_client> local_ = Connect("local:");
  Owned<maskd_stream> stream_ = OpenStream(local_.get(), kWidth);
  Owned<maskd_result> result_{maskd_result_new(), &maskd_result_free};
  std::array<std::int32_t, 2> known_ = {9, 9};
  std::int32_t is_whole_ = 0;
};

constexpr std::int32_t kDigits = 0x03FF0000;

TEST_F(CDraftsTest, TheMasksOfARowAreBehindThoseOfTheRowBefore) {
  Submit();
  EXPECT_THAT(Collect(0, 5), testing::ElementsAre(kDigits, kDigits, kDigits, kDigits, 5));
  EXPECT_THAT(known_, testing::ElementsAre(3, 1));
  EXPECT_EQ(is_whole_, 1);
}

TEST_F(CDraftsTest, ABlockIsAllOnesWhereItsRowHasNoMask) {
  Submit();
  EXPECT_THAT(Collect(4, 9),
              testing::ElementsAre(kDigits, kDigits, kDigits, -1, kDigits, -1, -1, -1, 5));
  EXPECT_THAT(known_, testing::ElementsAre(3, 1));
}

TEST_F(CDraftsTest, ABlockMayBeShorterThanTheDrafts) {
  Submit();
  EXPECT_THAT(Collect(2, 4), testing::ElementsAre(kDigits, kDigits, kDigits, -1));
  EXPECT_THAT(known_, testing::ElementsAre(2, 1));
}

TEST_F(CDraftsTest, RoomThatIsTooSmallIsNotWrittenTo) {
  Submit();
  std::vector<std::int32_t> words(static_cast<std::size_t>(4 * kWords), 5);
  const auto [code, message] = Taken(
      maskd_stream_collect_positions(stream_.get(), kPatienceMs, result_.get(), kRows.data(), 2, 0,
                                     words.data(), 3, kWords, known_.data(), &is_whole_));
  EXPECT_EQ(code, MASKD_INVALID_ARGUMENT);
  EXPECT_EQ(message, "buffer.row_count: 3 is less than 4 rows");
  EXPECT_THAT(words, testing::Each(5));
}

TEST_F(CDraftsTest, CountsBelowZeroChangeNoStep) {
  const Owned<maskd_step> step{maskd_step_new(), &maskd_step_free};
  const std::vector<std::int32_t> counts = {1, -1};
  const std::vector<std::int32_t> tokens = {'1', '2'};
  const auto [code, message] = Taken(maskd_step_draft_each(step.get(), kRows.data(), counts.data(),
                                                           counts.data(), tokens.data(), 2));
  EXPECT_EQ(code, MASKD_INVALID_ARGUMENT);
  EXPECT_EQ(message, "counts: negative count");
}

// Twice is once, over each way that steps travel.
TEST(CStreamTest, ClosedAgainItIsClosed) {
  const auto local = Connect("local:");
  const auto stream = OpenStream(local.get(), kWidth);
  MaskOfDigits(stream.get());
  ExpectOk(maskd_stream_close(stream.get(), kPatienceMs));
  ExpectOk(maskd_stream_close(stream.get(), kPatienceMs));
}

}  // namespace
}  // namespace maskd::client
