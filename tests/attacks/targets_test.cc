// What the attack set is run against, and what is watched there.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <sys/wait.h>
#include <unistd.h>

#include "grammar_core/compile/compiler.h"
#include "grammar_core/tokenizer/loader.h"
#include "ring/unique_fd.h"
#include "tools/attack/targets/library_target.h"
#include "tools/attack/targets/metrics_page.h"
#include "tools/attack/targets/process_watch.h"
#include "tools/attack/targets/raw_http2.h"
#include "tools/attack/targets/socket_address.h"
#include "tools/attack/targets/target.h"

namespace maskd::attack {
namespace {

TEST(MaskWords, BitsAreTokensFromTheLowest) {
  const MaskWords mask = {1 << 3, static_cast<std::int32_t>(1U << 31)};
  std::vector<TokenId> allowed;
  for (TokenId id = 0; id < 64; ++id)
    if (Allows(mask, id)) allowed.push_back(id);
  EXPECT_THAT(allowed, testing::ElementsAre(3, 63));
  EXPECT_FALSE(IsAllZero(mask));
  EXPECT_TRUE(IsAllZero({0, 0}));
}

class LibraryTargetTest : public testing::Test {
 protected:
  LibraryTargetTest() : target_(TokenizerSpace::Create(*LoadVocabulary(BytesAlone()))) {}

  static VocabularySource BytesAlone() {
    VocabularySource source;
    source.name = "bytes";
    return source;
  }

  // One row of a grammar that compiles.
  std::unique_ptr<Row> RowOf(const std::string& kind, const std::string& text) {
    grammars_.push_back(*target_.Compile(kind, text));
    return *grammars_.back()->Open();
  }
  static absl::Status Take(Row& row, std::vector<TokenId> tokens, std::int64_t* taken) {
    return row.Take(tokens, taken);
  }

  LibraryTarget target_;
  std::vector<std::unique_ptr<Grammar>> grammars_;
};

TEST_F(LibraryTargetTest, ARowTakesWhatItsMasksAllow) {
  const std::unique_ptr<Row> row = RowOf("choice", R"(["ab"])");
  const MaskWords first = row->Mask().value();
  for (TokenId id = 0; id < target_.tokens().size; ++id) EXPECT_EQ(Allows(first, id), id == 'a');
  std::int64_t taken = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(Take(*row, {'a', 'c'}, &taken)));
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(row->token_count(), 1);
  const std::unique_ptr<Row> fork = row->Fork().value();
  EXPECT_TRUE(row->Rollback(1).ok());
  EXPECT_EQ(row->Mask().value(), first);
  EXPECT_TRUE(Allows(fork->Mask().value(), 'b')) << "a fork stays where it is";
  EXPECT_FALSE(row->Rollback(1).ok());
  EXPECT_FALSE(row->Rollback(std::int64_t{1} << 40).ok());
  EXPECT_FALSE(row->TakeNoToken(-1).ok());
  EXPECT_FALSE(row->TakeNoToken(std::int64_t{1} << 40).ok());
}

TEST_F(LibraryTargetTest, MasksAreWrittenWhereTheyFitOnly) {
  const std::unique_ptr<Row> row = RowOf("choice", R"(["ab"])");
  EXPECT_TRUE(row->Write({}).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(row->Write({.more_words = -1})));
  EXPECT_FALSE(absl::IsInternal(row->Write({.row = 1})));
  EXPECT_FALSE(row->Write({.row = 1}).ok());
}

TEST_F(LibraryTargetTest, DraftsNeedParentsBeforeThem) {
  const std::unique_ptr<Row> row = RowOf("choice", R"(["ab", "ac"])");
  EXPECT_TRUE(row->MaskDraft(std::vector<TokenId>{'a', 'b', 'c'}, std::vector<int>{-1, 0, 0}).ok());
  EXPECT_FALSE(row->MaskDraft(std::vector<TokenId>{'a', 'b'}, std::vector<int>{-1, 1}).ok());
}

TEST_F(LibraryTargetTest, ARefusalHasItsReason) {
  const auto refused = target_.Compile("regex", "(");
  ASSERT_TRUE(absl::IsInvalidArgument(refused.status())) << refused.status();
  EXPECT_FALSE(target_.ReasonOf(refused.status()).empty());
  EXPECT_EQ(target_.ReasonOf(absl::UnknownError("not the engine's")), "");
  EXPECT_FALSE(target_.Compile("no such kind", "").ok());
}

TEST_F(LibraryTargetTest, KnowsItsVocabulary) {
  EXPECT_EQ(target_.tokens().stop_ids, std::vector<TokenId>{256});
  EXPECT_THAT(target_.tokens().splitter.Longest("ab").value(), testing::ElementsAre('a', 'b'));
  const std::int64_t before = target_.CachedBytes();
  EXPECT_TRUE(RowOf("regex", "[a-z]{3}")->Mask().ok());
  EXPECT_GE(target_.CachedBytes(), before);
}

TEST(MetricsPage, SumsWhatHasTheName) {
  const MetricsPage page(
      "# TYPE maskd_x counter\nmaskd_x{part=\"a\",b=\"c\"} 1.5\nmaskd_x{part=\"b\"} 2\n"
      "maskd_x_total 100\nmaskd_y 7\nmaskd_x 4\nmaskd_x{part=\"bad\"} many\n");
  EXPECT_EQ(page.Sum("maskd_x"), 7.5);
  EXPECT_EQ(page.Sum("maskd_x", "part=\"b\""), 2);
  EXPECT_EQ(page.Sum("maskd_y"), 7);
  EXPECT_EQ(page.Sum("maskd"), 0) << "a part of a name is no name";
  EXPECT_EQ(page.Sum("none"), 0);
  EXPECT_EQ(page.bytes(), page.text().size());
}

TEST(MetricsPage, WhoDoesNotAnswerIsUnavailable) {
  EXPECT_TRUE(absl::IsUnavailable(MetricsPage::Read("no address").status()));
  EXPECT_TRUE(absl::IsUnavailable(MetricsPage::Read("unix:/nowhere/at/all").status()));
}

TEST(SocketAddress, PathsOfUnixSockets) {
  EXPECT_EQ(SocketPath("unix:/a/b"), "/a/b");
  EXPECT_EQ(SocketPath("unix:///a/b"), "/a/b");
  EXPECT_EQ(SocketPath("localhost:1"), "");
  EXPECT_TRUE(absl::IsUnavailable(ConnectSocket("unix:/" + std::string(200, 'x')).status()));
  EXPECT_TRUE(absl::IsUnavailable(ConnectSocket("127.0.0.1:no port").status()));
}

// A child that waits until its pipe is closed.
class Child {
 public:
  Child() {
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(ends[1]);
      char byte = 0;
      _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(ends[0]);
    end_ = ring::UniqueFd(ends[1]);
  }
  ~Child() { Reap(); }
  [[nodiscard]] int pid() const { return pid_; }
  void End() { end_ = ring::UniqueFd(); }
  void Reap() {
    End();
    if (!reaped_) waitpid(pid_, nullptr, 0);
    reaped_ = true;
  }

 private:
  int pid_ = 0;
  ring::UniqueFd end_;
  bool reaped_ = false;
};

TEST(ProcessWatch, TellsWhetherAProcessRuns) {
  Child child;
  const ProcessWatch watch(child.pid());
  EXPECT_TRUE(watch.IsAlive());
  EXPECT_GT(watch.Resident(), 0);
  EXPECT_GE(watch.Peak(), watch.Resident());
  child.End();
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(watch.IsAlive()) << "it has ended, and nobody has waited for it";
  child.Reap();
  EXPECT_FALSE(watch.IsAlive());
  EXPECT_EQ(watch.Resident(), 0);
  EXPECT_EQ(watch.CpuSeconds(), 0);
}

TEST(ProcessWatch, SeesWhatThisProcessHas) {
  const ProcessWatch self;
  EXPECT_EQ(self.pid(), getpid());
  const int before = self.Descriptors();
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  EXPECT_EQ(self.Descriptors(), before + 2);
  close(ends[0]);
  close(ends[1]);
  const double cpu = self.CpuSeconds();
  while (self.CpuSeconds() == cpu) {
  }
  EXPECT_GT(self.CpuSeconds(), cpu);
  EXPECT_FALSE(ProcessWatch::OfSocket("/nowhere/at/all").has_value());
  EXPECT_FALSE(ProcessWatch::OfSocket("").has_value());
}

// By hand, from gRPC's "Length-Prefixed-Message": a flag and four bytes, the highest first.
TEST(RawHttp2, FramesMessagesAsGrpcDoes) {
  EXPECT_EQ(GrpcFrame("ab"), std::string("\0\0\0\0\2ab", 7));
  EXPECT_EQ(GrpcHeader(0x01020304), std::string("\0\1\2\3\4", 5));
  EXPECT_EQ(GrpcHeader(1, /*compressed=*/true), std::string("\1\0\0\0\1", 5));
}

}  // namespace
}  // namespace maskd::attack
