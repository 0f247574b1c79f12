// A plane that is kept from step to step against rows that are copied anew at each.
#include "client/cpp/steps/mask_plane.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "client/cpp/steps/reply_reader.h"

namespace maskd::client {
namespace {

constexpr int kRows = 5;
constexpr int kPositions = 2;
constexpr int kPlaneWords = 65;
constexpr int kRowWords = kPlaneWords + 2;
constexpr int kSlots = 3;

// The server of one stream, which says any masks in any forms.
class AnyServer {
 public:
  AnyServer(int vocab_size, std::uint64_t seed) : vocab_size_(vocab_size), random_(seed) {
    v1::Welcome welcome;
    welcome.set_mask_words(kPlaneWords);
    welcome.mutable_tokenizer()->set_vocab_size(static_cast<std::uint32_t>(vocab_size));
    welcome.set_dictionary_size(kSlots);
    reader_ = std::make_unique<ReplyReader>(welcome);
  }

  // Some rows in any order, each with a position or two.
  const StepResult& Step() {
    v1::DecodeResponse response;
    std::vector<RowId> rows = AnyRows();
    for (const RowId row : rows) {
      v1::RowReply& reply = *response.mutable_step()->add_rows();
      reply.set_row(row);
      reply.set_state(v1::ROW_STATE_ACTIVE);
      for (int i = Below(kPositions); i >= 0; --i) Say(reply.add_positions());
    }
    EXPECT_TRUE(reader_->Read(response.SerializeAsString(), message_).ok());
    std::ranges::shuffle(rows, random_);
    order_ = rows;
    return message_.result;
  }
  // The rows of the last step, as an engine asks for them.
  [[nodiscard]] const std::vector<RowId>& order() const { return order_; }

 private:
  int Below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }

  std::vector<RowId> AnyRows() {
    std::vector<RowId> rows;
    for (RowId row = 0; row < kRows; ++row)
      if (Below(4) > 0) rows.push_back(row);
    std::ranges::shuffle(rows, random_);
    return rows;
  }

  void Say(v1::Position* position) {
    switch (Below(6)) {
      case 0:
        return position->set_full(true);
      case 1:
        return position->set_invalid(true);
      case 2:
        return SayWords(position);
      case 3:
        if (said_ > 0) return position->set_same_as(static_cast<std::uint32_t>(Below(said_)));
        return SayWords(position);
      case 4:
        return SayIds(position, position->mutable_allowed_ids());
      default:
        return SayIds(position, position->mutable_forbidden_ids());
    }
  }

  void SayWords(v1::Position* position) {
    std::vector<std::uint32_t> words(kPlaneWords);
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random_());
    position->set_dense(words.data(), words.size() * sizeof(words[0]));
    Keep(position);
  }

  void SayIds(v1::Position* position, v1::IdList* ids) {
    const int one_in = Below(2) == 0 ? 500 : 3;
    for (int id = 0; id < vocab_size_; ++id)
      if (Below(one_in) == 0) ids->add_ids(static_cast<std::uint32_t>(id));
    Keep(position);
  }

  void Keep(v1::Position* position) {
    if (Below(2) == 0) return;
    const int slot = said_ < kSlots ? said_++ : Below(kSlots);
    position->set_dictionary_slot(static_cast<std::uint32_t>(slot));
  }

  const int vocab_size_;
  std::mt19937_64 random_;
  std::unique_ptr<ReplyReader> reader_;
  ServerMessage message_;
  std::vector<RowId> order_;
  int said_ = 0;  // slots that hold something
};

class MaskPlaneTest : public testing::TestWithParam<int> {
 protected:
  static MaskBuffer Buffer(std::vector<std::int32_t>& words) {
    return {words.data(), std::ssize(words) / kRowWords, kRowWords};
  }

  std::vector<std::int32_t> kept_ = std::vector<std::int32_t>(kRows * kPositions * kRowWords, 77);
  std::vector<std::int32_t> copied_ = kept_;
  MaskPlane plane_{Buffer(kept_)};
};

// In a third of the steps the masks are another stream's, of another vocabulary; others have rows
// that nothing is said of, and sometimes something else has written to all of them.
TEST_P(MaskPlaneTest, HasWhatIsCopied) {
  const int positions = GetParam();
  AnyServer one(kPlaneWords * 32 - 5, 1);
  AnyServer other(kPlaneWords * 32 - 9, 2);
  for (int step = 0; step < 3'000; ++step) {
    AnyServer& server = step % 3 == 2 ? other : one;
    const StepResult& result = server.Step();
    if (step % 97 == 96) {
      std::ranges::fill(kept_, step);
      std::ranges::fill(copied_, step);
      plane_.Forget();
    }
    ASSERT_TRUE(plane_.Write(result, server.order(), positions).ok());
    ASSERT_TRUE(result.CopyPositions(server.order(), positions, Buffer(copied_)).ok());
    ASSERT_EQ(kept_, copied_) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Positions, MaskPlaneTest, testing::Values(1, kPositions));

TEST_F(MaskPlaneTest, RefusesBeforeAnythingIsWritten) {
  AnyServer server(kPlaneWords * 32, 3);
  const StepResult& result = server.Step();
  const std::vector<RowId> unknown = {server.order().front(), kRows};
  EXPECT_TRUE(absl::IsNotFound(plane_.Write(result, unknown)));
  EXPECT_EQ(kept_, copied_);
}

}  // namespace
}  // namespace maskd::client
