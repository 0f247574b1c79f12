// A row through its reasoning, its text and its end, against a reference that knows only the tokens
// taken: it searches them for the reasoning's end and replays the rest into a fresh matcher.
#include "service/sequences/sequence.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grammar_core/base/budget.h"
#include "grammar_core/base/error.h"
#include "grammar_core/base/utf8.h"
#include "grammar_core/compile/compiler.h"

namespace maskd::service {
namespace {

using State = SequencePosition::State;
using Tokens = std::vector<TokenId>;

constexpr TokenId kEnd = 256;  // of the embedded vocabulary

Tokens Bytes(const std::string& text) { return {text.begin(), text.end()}; }

class SequenceTest : public testing::Test {
 protected:
  absl::StatusOr<cache::GrammarPtr> TryCompile(const std::string& kind, const std::string& source,
                                               const GrammarOptions& options) {
    Budget budget{Budget::Bounds()};
    return CompileGrammar({kind, source, options}, tokenizer().space(), Limits(), budget);
  }

  cache::GrammarPtr Compile(const std::string& kind, const std::string& source,
                            const GrammarOptions& options = {}) {
    auto grammar = TryCompile(kind, source, options);
    EXPECT_TRUE(grammar.ok()) << grammar.status();
    return *std::move(grammar);
  }

  std::shared_ptr<const ReasoningGate> Gate(const GateRequest& request) {
    auto gate = ReasoningGate::Create(request, tokenizer());
    EXPECT_TRUE(gate.ok()) << gate.status();
    return *std::move(gate);
  }

  [[nodiscard]] const LoadedTokenizer& tokenizer() const { return tokenizers_->all().front(); }

  std::unique_ptr<const TokenizerStore> tokenizers_ = std::move(*TokenizerStore::Load({}, 1 << 20));
};

// What each position of a draft allows.
std::vector<std::string> Positions(const Sequence& sequence, const Tokens& drafts,
                                   const std::vector<int>& parents = {}) {
  std::vector<SequencePosition> positions;
  const absl::Status filled = sequence.FillPositions({drafts, parents}, &positions);
  EXPECT_TRUE(filled.ok()) << filled;
  std::vector<std::string> allowed;
  for (const SequencePosition& position : positions) {
    if (position.state == State::kMasked) {
      allowed.emplace_back();
      position.mask->VisitAllowed([&allowed](TokenId id) {
        allowed.back() += id == kEnd ? std::string("$") : std::string(1, static_cast<char>(id));
      });
    } else {
      allowed.emplace_back(position.state == State::kFree       ? "free"
                           : position.state == State::kFinished ? "finished"
                                                                : "invalid");
    }
  }
  return allowed;
}

absl::Status TakeAll(Sequence& sequence, const Tokens& tokens) {
  for (const TokenId token : tokens)
    if (absl::Status taken = sequence.Take(token); !taken.ok()) return taken;
  return absl::OkStatus();
}

TEST_F(SequenceTest, ReasoningEndsInsideADraftWindow) {
  Sequence row(Compile("choice", R"(["ab"])"), {.gate = Gate({.end_tokens = {'<', '>'}})});
  EXPECT_THAT(Positions(row, Bytes("x<>ab")),
              testing::ElementsAre("free", "free", "free", "a", "b", "$"));
  EXPECT_THAT(Positions(row, Bytes("x<>zb")),
              testing::ElementsAre("free", "free", "free", "a", "invalid", "invalid"));
  EXPECT_TRUE(row.reasoning());
}

TEST_F(SequenceTest, ReasoningEndsAcrossSteps) {
  Sequence row(Compile("choice", R"(["ab"])"), {.gate = Gate({.end_tokens = {'<', '>'}})});
  ASSERT_TRUE(TakeAll(row, Bytes("x<")).ok());
  EXPECT_THAT(Positions(row, Bytes(">a")), testing::ElementsAre("free", "a", "b"));
  ASSERT_TRUE(row.Take('>').ok());
  EXPECT_THAT(Positions(row, {}), testing::ElementsAre("a"));
}

TEST_F(SequenceTest, BranchesOfATreeEndTheReasoningEachForItself) {
  Sequence row(Compile("choice", R"(["ab"])"), {.gate = Gate({.end_tokens = {'>'}})});
  EXPECT_THAT(Positions(row, Bytes(">xa>ab"), {-1, -1, 0, 1, 3, 1}),
              testing::ElementsAre("free", "a", "free", "b", "a", "b", "free"));
}

TEST_F(SequenceTest, ASpentThinkingBudgetForcesTheEnd) {
  Sequence row(Compile("choice", R"(["ab"])"),
               {.gate = Gate({.end_tokens = {'<', '>'}, .max_tokens = 2})});
  EXPECT_THAT(Positions(row, Bytes("xy<>a")),
              testing::ElementsAre("free", "free", "<", ">", "a", "b"));
  EXPECT_THAT(Positions(row, Bytes("xyz")), testing::ElementsAre("free", "free", "<", "invalid"));
  ASSERT_TRUE(TakeAll(row, Bytes("x<")).ok());
  EXPECT_THAT(Positions(row, {}), testing::ElementsAre(">")) << "what the end still lacks";
  EXPECT_EQ(row.FindForced(64)->bytes, ">");
  EXPECT_EQ(ErrorReason(row.Take('z')), "TOKEN_REFUSED");
  ASSERT_TRUE(row.Take('>').ok());
  EXPECT_THAT(Positions(row, {}), testing::ElementsAre("a"));
}

TEST_F(SequenceTest, AThinkingBudgetOfNothingBeginsWithTheEnd) {
  Sequence row(Compile("choice", R"(["ab"])"),
               {.gate = Gate({.end_tokens = {'<', '>'}, .max_tokens = 0})});
  EXPECT_THAT(Positions(row, Bytes("<>")), testing::ElementsAre("<", ">", "a"));
}

TEST_F(SequenceTest, TokensOutOfTheVocabularyAreNoReasoning) {
  Sequence row(Compile("choice", R"(["ab"])"), {.gate = Gate({.end_tokens = {'>'}})});
  for (const TokenId token : {-1, 257}) {
    EXPECT_TRUE(absl::IsOutOfRange(row.Take(token)));
    EXPECT_THAT(Positions(row, {token, 'x'}), testing::ElementsAre("free", "invalid", "invalid"));
  }
  EXPECT_EQ(row.token_count(), 0);
}

TEST_F(SequenceTest, RollsBackOverTheTextsEndAndTheReasonings) {
  Sequence row(Compile("choice", R"(["ab"])"), {.gate = Gate({.end_tokens = {'<', '>'}})});
  ASSERT_TRUE(TakeAll(row, {'x', '<', '>', 'a', 'b', kEnd, 7}).ok());
  EXPECT_TRUE(row.finished());
  EXPECT_EQ(row.token_count(), 7);
  ASSERT_TRUE(row.Rollback(2).ok());
  EXPECT_THAT(Positions(row, {}), testing::ElementsAre("$"));
  ASSERT_TRUE(row.Rollback(3).ok());
  EXPECT_THAT(Positions(row, Bytes(">a")), testing::ElementsAre("free", "a", "b"));
  EXPECT_TRUE(absl::IsOutOfRange(row.Rollback(3)));
  EXPECT_EQ(row.token_count(), 2);
  EXPECT_EQ(row.tokens(), Bytes("x<"));
}

TEST_F(SequenceTest, ATextDoesNotEndBeforeItsMinimum) {
  Sequence row(Compile("regex", "a*"), {.min_tokens = 2});
  EXPECT_THAT(Positions(row, Bytes("aa")), testing::ElementsAre("a", "a", "a$"));
  EXPECT_THAT(Positions(row, {kEnd, 'a'}), testing::ElementsAre("a", "invalid", "invalid"));
  EXPECT_EQ(ErrorReason(row.Take(kEnd)), "TOKEN_REFUSED");
  ASSERT_TRUE(TakeAll(row, {'a', 'a', kEnd}).ok());
  EXPECT_TRUE(row.finished());
}

TEST_F(SequenceTest, AMinimumThatNoTextReachesDoesNotHoldItOpen) {
  Sequence row(Compile("choice", R"(["a"])"), {.min_tokens = 5});
  EXPECT_THAT(Positions(row, Bytes("a")), testing::ElementsAre("a", "$"));
  EXPECT_TRUE(TakeAll(row, {'a', kEnd}).ok());
}

TEST_F(SequenceTest, TokensLeftCloseTheText) {
  Sequence row(Compile("regex", "a*(bc|dddd)"), {});
  row.SetRemaining(5);
  EXPECT_THAT(Positions(row, Bytes("aabc")), testing::ElementsAre("abd", "ab", "b", "c", "$"));
  EXPECT_THAT(Positions(row, Bytes("aaa")), testing::ElementsAre("abd", "ab", "b", "invalid"));
  ASSERT_TRUE(TakeAll(row, Bytes("aa")).ok());
  EXPECT_EQ(row.remaining(), 3);
  EXPECT_EQ(ErrorReason(row.Take('a')), "TOKEN_REFUSED");
  ASSERT_TRUE(row.Rollback(1).ok());
  EXPECT_THAT(Positions(row, {}), testing::ElementsAre("ab"));
  ASSERT_TRUE(TakeAll(row, {'a', 'b', 'c', kEnd}).ok());
  EXPECT_TRUE(row.finished());
}

// As a stream moves it: each move takes back so many tokens, mostly none, and then takes some.
TEST_F(SequenceTest, ATokenFindsTheNarrowedMaskThatWasMadeForIt) {
  const auto closing = std::make_shared<ClosingMasks>();
  Sequence row(Compile("json_schema", R"({"type":"array","uniqueItems":true,)"
                                      R"("items":{"type":"string"}})"),
               {.closing = closing});
  row.SetRemaining(12);
  std::vector<SequencePosition> held;  // by the reply, until the next step's
  std::int64_t asked = 0;
  for (const TokenId token : Bytes(R"(["a","b"])")) {
    ASSERT_TRUE(row.FillPositions({}, &held).ok());
    EXPECT_EQ(closing->asked(), ++asked);
    ASSERT_TRUE(row.Rollback(0).ok());
    ASSERT_TRUE(row.Take(token).ok());
    EXPECT_EQ(closing->asked(), asked) << row.token_count();
  }
  // What was made for another place says nothing of this one.
  ASSERT_TRUE(row.Rollback(1).ok());
  ASSERT_TRUE(row.Take(']').ok());
  EXPECT_EQ(closing->asked(), asked + 1);
}

TEST_F(SequenceTest, TooFewTokensLeftForAnyTextTakeNothingAway) {
  Sequence row(Compile("regex", "a*bcd"), {});
  row.SetRemaining(3);
  EXPECT_THAT(Positions(row, {}), testing::ElementsAre("ab"));
}

// All texts of at most `length` tokens that `row` takes, and how many ways lead to a dead end.
struct Texts {
  std::set<std::string> complete;
  int dead_ends = 0;
};

Texts TextsOf(const Sequence& start, int length) {
  Texts texts;
  std::vector<std::pair<Sequence, std::string>> open = {{start, ""}};
  while (!open.empty()) {
    const auto [row, text] = std::move(open.back());
    open.pop_back();
    const std::string next = Positions(row, {})[0];
    texts.dead_ends += next == "invalid" ? 1 : 0;
    if (next == "invalid") continue;
    for (const char byte : next) {
      if (byte == '$') {
        texts.complete.insert(text);
      } else if (static_cast<int>(text.size()) < length) {
        Sequence longer = row;
        EXPECT_TRUE(longer.Take(static_cast<unsigned char>(byte)).ok());
        open.emplace_back(std::move(longer), text + byte);
      } else {
        texts.complete.insert("longer than " + text);
      }
    }
  }
  return texts;
}

TEST_F(SequenceTest, AGrammarsMaximumTakesTheTextsOfSoManyTokensAndNoOther) {
  const std::pair<std::string, std::string> grammars[] = {
      {"regex", "(ab|c)*d{2}"},
      {"regex", "a*(b|ccc)"},
      {"regex", "(a|bb){1,4}c?"},
      {"gbnf", R"g(root ::= "(" root ")" | "x" | "yy" root)g"},
      {"choice", R"(["a", "bcd", "befgh"])"}};
  for (const auto& [kind, source] : grammars) {
    const Sequence free(Compile(kind, source), {});
    for (int most = 1; most <= 7; ++most) {
      std::set<std::string> expected;
      for (const std::string& text : TextsOf(free, most).complete)
        if (!text.starts_with("longer")) expected.insert(text);
      const auto grammar = TryCompile(kind, source, {.max_tokens = most});
      if (expected.empty()) {
        EXPECT_EQ(ErrorPlace(grammar.status()), "options.max_tokens") << source << " " << most;
        continue;
      }
      ASSERT_TRUE(grammar.ok()) << source << " " << most << ": " << grammar.status();
      const Texts texts = TextsOf(Sequence(*grammar, {}), most);
      EXPECT_EQ(texts.complete, expected) << source << " " << most;
      EXPECT_EQ(texts.dead_ends, 0) << source << " " << most;
    }
  }
}

TEST_F(SequenceTest, AMaximumOfCharactersTakesTheTextsOfSoManyAndNoOther) {
  const std::pair<std::string, std::string> grammars[] = {
      {"regex", "(ab|c)*d{2}"},
      {"regex", "é*(b|ccc)"},
      {"regex", "(é|bb){1,3}(c?|\U0001F600)"},
      {"gbnf", R"g(root ::= "(" root ")" | "é" | "yy" root)g"},
      {"choice", R"(["é", "bcd", "béfgh", "\u20ac\u20ac"])"}};
  for (const auto& [kind, source] : grammars) {
    const Sequence free(Compile(kind, source), {});
    for (int most = 1; most <= 4; ++most) {
      std::set<std::string> expected;
      for (const std::string& text : TextsOf(free, 4 * most).complete)
        if (!text.starts_with("longer") && CharactersIn(text) <= static_cast<unsigned>(most))
          expected.insert(text);
      const auto grammar = TryCompile(kind, source, {.max_characters = most});
      if (expected.empty()) {
        EXPECT_EQ(ErrorPlace(grammar.status()), "options.max_characters") << source << " " << most;
        continue;
      }
      ASSERT_TRUE(grammar.ok()) << source << " " << most << ": " << grammar.status();
      const Texts texts = TextsOf(Sequence(*grammar, {}), 4 * most);
      EXPECT_EQ(texts.complete, expected) << source << " " << most;
      EXPECT_EQ(texts.dead_ends, 0) << source << " " << most;
    }
  }
}

// What was begun is ended, however long before the bound that must be known.
TEST_F(SequenceTest, AMaximumOfCharactersHoldsFromTheFirstTokenOn) {
  Sequence row(Compile("regex", "a*(b{400}|c)", {.max_characters = 500}),
               {.gate = Gate({.end_tokens = {'>'}})});
  ASSERT_TRUE(TakeAll(row, Bytes("mmm>" + std::string(100, 'a'))).ok());
  EXPECT_THAT(Positions(row, Bytes("abb")),
              testing::ElementsAre("abc", "ac", "invalid", "invalid"));
  EXPECT_THAT(Positions(row, Bytes("bb")), testing::ElementsAre("abc", "b", "b"));
  Sequence fork = row;
  ASSERT_TRUE(TakeAll(row, Bytes("b")).ok());
  ASSERT_TRUE(fork.Take('a').ok());
  EXPECT_EQ(ErrorReason(fork.Take('b')), "TOKEN_REFUSED");
  ASSERT_TRUE(TakeAll(row, Bytes(std::string(399, 'b'))).ok());
  EXPECT_THAT(Positions(row, {}), testing::ElementsAre("$"));
  ASSERT_TRUE(TakeAll(row, {kEnd, 'a', 'a'}).ok());
  ASSERT_TRUE(row.Rollback(403 + 1).ok());
  EXPECT_THAT(Positions(row, Bytes("aab")), testing::ElementsAre("abc", "abc", "ac", "invalid"))
      << "99 a's, then one, then two";
  ASSERT_TRUE(row.Rollback(100).ok());
  EXPECT_TRUE(row.reasoning());
  ASSERT_TRUE(row.Take('>').ok());
  EXPECT_THAT(Positions(row, {}), testing::ElementsAre("abc"));
}

TEST_F(SequenceTest, AMaximumOfCharactersStandsBesideOnesOfTokens) {
  Sequence row(Compile("regex", "(a|é)*b", {.max_tokens = 4, .max_characters = 3}), {});
  EXPECT_THAT(Positions(row, Bytes("aa")), testing::ElementsAre("ab\xC3", "ab\xC3", "b"));
  row.SetRemaining(3);
  EXPECT_THAT(Positions(row, Bytes("a")), testing::ElementsAre("ab", "b"));
}

TEST_F(SequenceTest, AGrammarsMaximumCountsTheTextAlone) {
  Sequence row(Compile("regex", "a*", {.max_tokens = 2}), {.gate = Gate({.end_tokens = {'>'}})});
  ASSERT_TRUE(TakeAll(row, Bytes("mmmmm>a")).ok());
  EXPECT_THAT(Positions(row, Bytes("aa")), testing::ElementsAre("a$", "$", "invalid"));
  row.SetRemaining(1);
  EXPECT_THAT(Positions(row, {}), testing::ElementsAre("$"));
  ASSERT_TRUE(row.Take('a').code() == absl::StatusCode::kInvalidArgument);
}

// What was begun earlier than the masks look ahead is not let go on.
TEST_F(SequenceTest, ATextThatCannotEndAtItsMaximumFails) {
  Sequence row(Compile("regex", "a*(b{8192}|c)", {.max_tokens = 9'000}), {});
  ASSERT_TRUE(TakeAll(row, Bytes(std::string(1'000, 'a') + std::string(8'000, 'b'))).ok());
  std::vector<SequencePosition> positions;
  const absl::Status filled = row.FillPositions({}, &positions);
  EXPECT_EQ(filled.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrorPlace(filled), "options.max_tokens");
  EXPECT_EQ(positions[0].state, State::kInvalid);
  EXPECT_FALSE(row.Take('b').ok());
  ASSERT_TRUE(row.Rollback(8'000).ok());
  EXPECT_THAT(Positions(row, {}), testing::ElementsAre("abc"));
}

TEST_F(SequenceTest, ReasoningLeavesRoomForTheText) {
  const SequenceOptions options{.gate = Gate({.end_tokens = {'<', '>'}})};
  Sequence row(Compile("choice", R"(["abc"])"), options);
  row.SetRemaining(8);  // two of reasoning, two of its end, three of text, the end
  EXPECT_THAT(Positions(row, Bytes("xx<>abc")),
              testing::ElementsAre("free", "free", "<", ">", "a", "b", "c", "$"));
  ASSERT_TRUE(TakeAll(row, Bytes("xx<>abc")).ok());
  ASSERT_TRUE(row.Take(kEnd).ok());
  EXPECT_EQ(row.remaining(), 0);
  ASSERT_TRUE(row.Rollback(7).ok());
  EXPECT_THAT(Positions(row, Bytes("xx")), testing::ElementsAre("free", "<", "invalid"));
}

// Random rows against the reference.
class RandomSequenceTest : public SequenceTest, public testing::WithParamInterface<int> {};

// The one position behind `tokens`, told from nothing but them.
std::string Reference(const cache::GrammarPtr& grammar, const GateRequest& gate,
                      const Tokens& tokens) {
  Tokens all = gate.prompt_tail;
  all.insert(all.end(), tokens.begin(), tokens.end());
  const auto end = std::ranges::search(all, gate.end_tokens);
  if (end.empty()) return "free";
  const auto text =
      std::max(all.begin() + static_cast<std::ptrdiff_t>(gate.prompt_tail.size()), end.end());
  Matcher matcher(grammar);
  for (const TokenId token : Tokens(text, all.end()))
    if (!matcher.Accept(token).ok()) return "invalid";
  if (matcher.finished()) return "finished";
  std::string allowed;
  (*matcher.Mask())->VisitAllowed([&allowed](TokenId id) {
    allowed += id == kEnd ? std::string("$") : std::string(1, static_cast<char>(id));
  });
  return allowed;
}

TEST_P(RandomSequenceTest, DoesWhatTheReferenceSays) {
  std::mt19937_64 random(GetParam());
  const auto draw = [&random] {
    static constexpr TokenId kTokens[] = {'a', 'b', 'c', kEnd};
    return kTokens[random() % std::size(kTokens)];
  };
  const auto grammar = Compile("regex", "(ab|ba|c)*a?");
  GateRequest gate{.end_tokens = {draw()}};
  for (std::size_t i = random() % 3; i > 0; --i) gate.end_tokens.push_back(draw());
  for (std::size_t i = random() % 3; i > 0; --i) gate.prompt_tail.push_back(draw());
  std::vector<std::pair<Sequence, Tokens>> rows;
  rows.emplace_back(Sequence(grammar, {.gate = Gate(gate)}), Tokens());
  for (int i = 0; i < 120; ++i) {
    const std::size_t at = random() % rows.size();
    if (random() % 12 == 0) rows.push_back(rows[at]);
    auto& [row, tokens] = rows[at];
    if (random() % 5 == 0) {
      const auto back = static_cast<int>(random() % (tokens.size() + 1));
      ASSERT_TRUE(row.Rollback(back).ok());
      tokens.resize(tokens.size() - static_cast<std::size_t>(back));
    } else {
      const TokenId token = draw();
      tokens.push_back(token);
      const bool taken = Reference(grammar, gate, tokens) != "invalid";
      ASSERT_EQ(row.Take(token).ok(), taken);
      if (!taken) tokens.pop_back();
    }
    ASSERT_EQ(row.tokens(), tokens);
    Tokens drafts;
    std::vector<int> parents;
    for (int d = 0; d < 5; ++d) {
      drafts.push_back(draw());
      parents.push_back(static_cast<int>(random() % static_cast<std::uint64_t>(d + 1)) - 1);
    }
    const std::vector<std::string> positions = Positions(row, drafts, parents);
    ASSERT_EQ(positions[0], Reference(grammar, gate, tokens));
    for (int d = 0; d < 5; ++d) {
      Tokens path;
      for (int node = d; node >= 0; node = parents[static_cast<std::size_t>(node)])
        path.insert(path.begin(), drafts[static_cast<std::size_t>(node)]);
      path.insert(path.begin(), tokens.begin(), tokens.end());
      ASSERT_EQ(positions[static_cast<std::size_t>(d) + 1], Reference(grammar, gate, path));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSequenceTest, testing::Range(1, 61));

}  // namespace
}  // namespace maskd::service
