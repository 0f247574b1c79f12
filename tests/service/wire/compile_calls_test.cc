// Compile, Check and Explain without what carries them.
#include "service/wire/compile_calls.h"

#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grammar_core/base/error.h"
#include "grammar_core/base/memory_reserve.h"
#include "service/base/errors.h"
#include "service/base/log.h"
#include "tests/service/config/nothing_ahead.h"

namespace maskd::service {
namespace {

absl::Status Waits() { return absl::OkStatus(); }

StoreMachinery WhenTaken() {
  StoreMachinery machinery;
  machinery.compiles = StoreMachinery::Compiles::kWhenTaken;
  return machinery;
}

class CompileCallsTest : public testing::Test {
 protected:
  CompileCallsTest()
      : shelf_(*TokenizerStore::Load({}, 1 << 20)),
        grammars_(NothingAhead(), nullptr, WhenTaken()) {
    SilenceLog();
  }

  template <typename Request>
  static Request RequestOf(const std::string& kind, const std::string& text) {
    Request request;
    request.mutable_grammar()->set_kind(kind);
    request.mutable_grammar()->set_source(text);
    return request;
  }
  static v1::CompileRequest Choice(const std::string& text = R"(["red","rose"])") {
    return RequestOf<v1::CompileRequest>("choice", text);
  }

  // Runs what waits to be compiled; false where nothing does.
  bool RunCompile() {
    const std::function<void()> compile = grammars_.TakeCompile();
    if (compile == nullptr) return false;
    compile();
    return true;
  }

  // What `call(why_left)` ends with, where its compile runs as soon as it is asked why it left.
  template <typename Call>
  absl::Status WithItsCompile(const Call& call) {
    return call([this] {
      RunCompile();
      return absl::OkStatus();
    });
  }

  TokenizerShelf shelf_;
  GrammarStore grammars_;
  CompileCalls calls_{&shelf_, &grammars_};
  Caller caller_;
};

TEST_F(CompileCallsTest, ACompileIsSaidOnceAndThenKnown) {
  v1::CompileResponse first;
  EXPECT_TRUE(WithItsCompile([&](const CompileCalls::WhyLeft& why_left) {
                return calls_.Compile(Choice(), caller_, why_left, &first);
              }).ok());
  EXPECT_FALSE(first.from_cache());
  EXPECT_TRUE(IsGrammarId(first.grammar_id())) << first.grammar_id();
  EXPECT_EQ(first.tokenizer_hash(), shelf_.now()->all()[0].vocabulary().hash());
  v1::CompileRequest by_id;
  by_id.set_grammar_id(first.grammar_id());
  for (const v1::CompileRequest& request : {Choice(), Choice(R"([ "red", "rose" ])"), by_id}) {
    v1::CompileResponse again;
    const absl::Status status = calls_.Compile(request, caller_, &Waits, &again);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_TRUE(again.from_cache());
    EXPECT_EQ(again.grammar_id(), first.grammar_id());
  }
  EXPECT_FALSE(RunCompile());
}

TEST_F(CompileCallsTest, SaysWhatIsWrongWithARequest) {
  const auto compiled = [&](const v1::CompileRequest& request) {
    v1::CompileResponse response;
    return WithItsCompile([&](const CompileCalls::WhyLeft& why_left) {
      return calls_.Compile(request, caller_, why_left, &response);
    });
  };
  v1::CompileRequest request = Choice();
  request.set_tokenizer("none");
  EXPECT_EQ(MissingResource(compiled(request))->name, "none");
  EXPECT_TRUE(absl::IsInvalidArgument(compiled(v1::CompileRequest())));
  EXPECT_TRUE(absl::IsInvalidArgument(compiled(Choice("[")))) << "is no JSON";
  EXPECT_TRUE(absl::IsInvalidArgument(
      compiled(RequestOf<v1::CompileRequest>("regex", "("))));  // known when it is compiled
  request.Clear();
  request.set_grammar_id(std::string(64, 'a'));
  EXPECT_TRUE(absl::IsNotFound(compiled(request)));
}

// Each kind of input, and none.
TEST_F(CompileCallsTest, ChecksTextsBytesAndTokens) {
  const auto checked = [&](const std::function<void(v1::CheckRequest*)>& set,
                           v1::CheckResponse* response) {
    auto request = RequestOf<v1::CheckRequest>("choice", R"(["red","rose"])");
    set(&request);
    return WithItsCompile([&](const CompileCalls::WhyLeft& why_left) {
      return calls_.Check(request, caller_, why_left, response);
    });
  };
  v1::CheckResponse text;
  EXPECT_TRUE(checked([](auto* request) { request->set_text("ro!"); }, &text).ok());
  EXPECT_FALSE(text.accepted());
  EXPECT_EQ(text.stop().byte_offset(), 2);
  v1::CheckResponse bytes;
  EXPECT_TRUE(checked([](auto* request) { request->set_raw_text("r\xff"); }, &bytes).ok());
  EXPECT_EQ(bytes.stop().refused(), "\xff");
  v1::CheckResponse tokens;
  EXPECT_TRUE(checked(
                  [](auto* request) {
                    for (const char c : std::string("red"))
                      request->mutable_tokens()->add_ids(static_cast<int>(c));
                  },
                  &tokens)
                  .ok());
  EXPECT_TRUE(tokens.accepted() && tokens.may_end());
  EXPECT_EQ(tokens.grammar_id(), text.grammar_id());
  v1::CheckResponse none;
  EXPECT_EQ(ErrorPlace(checked([](auto* /*request*/) {}, &none)), "input");
}

TEST_F(CompileCallsTest, ExplainsWhatIsForced) {
  v1::ExplainResponse response;
  const auto request = RequestOf<v1::ExplainRequest>("choice", R"(["abc1","abc2"])");
  const absl::Status status = WithItsCompile([&](const CompileCalls::WhyLeft& why_left) {
    return calls_.Explain(request, caller_, why_left, &response);
  });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(response.forced_prefix(), "abc");
  EXPECT_EQ(response.kind(), "choice");
  EXPECT_NE(response.rules_text(), "");
}

// Nobody waits for it any more: it is not begun.
TEST_F(CompileCallsTest, WhoLeavesTakesItsCompileWithIt) {
  v1::CompileResponse response;
  int looks = 0;
  const auto leaves = [&] {
    EXPECT_EQ(calls_.waiting(), 1);
    return ++looks < 3 ? absl::OkStatus() : absl::CancelledError("gone");
  };
  const absl::Status status = calls_.Compile(Choice(), caller_, leaves, &response);
  EXPECT_TRUE(absl::IsCancelled(status)) << status;
  EXPECT_EQ(looks, 3);
  EXPECT_EQ(calls_.waiting(), 0);
  EXPECT_EQ(response.grammar_id(), "");
  EXPECT_FALSE(RunCompile());
}

// By it a call knows that its turn to compute is over.
TEST_F(CompileCallsTest, WhetherItWaitsIsAskedAlsoWhereTheGrammarIsKnown) {
  v1::CompileResponse response;
  ASSERT_TRUE(WithItsCompile([&](const CompileCalls::WhyLeft& why_left) {
                return calls_.Compile(Choice(), caller_, why_left, &response);
              }).ok());
  int looks = 0;
  const auto counts = [&] {
    ++looks;
    return absl::OkStatus();
  };
  EXPECT_TRUE(calls_.Compile(Choice(), caller_, counts, &response).ok());
  EXPECT_EQ(looks, 1);
  v1::CompileRequest wrong = Choice();
  wrong.set_tokenizer("none");
  EXPECT_FALSE(calls_.Compile(wrong, caller_, counts, &response).ok());
  EXPECT_EQ(looks, 1) << "it is answered at once";
}

TEST_F(CompileCallsTest, TheOthersGoOnWaiting) {
  v1::CompileResponse stays;
  std::thread other([&] {
    const absl::Status status = calls_.Compile(Choice(), caller_, &Waits, &stays);
    EXPECT_TRUE(status.ok()) << status;
  });
  while (calls_.waiting() == 0) std::this_thread::yield();
  v1::CompileResponse leaves;
  const auto gone = [] { return absl::CancelledError("gone"); };
  EXPECT_TRUE(absl::IsCancelled(calls_.Compile(Choice(), caller_, gone, &leaves)));
  EXPECT_TRUE(RunCompile());
  other.join();
  EXPECT_TRUE(IsGrammarId(stays.grammar_id()));
}

// Else each such call would make all those after it look more seldom, for ever.
TEST_F(CompileCallsTest, ACallThatRunsOutOfMemoryWaitsNoMore) {
  v1::CompileResponse response;
  const absl::Status status = OrOutOfMemory([&] {
    return calls_.Compile(
        Choice(), caller_, []() -> absl::Status { throw std::bad_alloc(); }, &response);
  });
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(calls_.waiting(), 0);
  EXPECT_FALSE(RunCompile()) << "nobody waits for it";
}

}  // namespace
}  // namespace maskd::service
