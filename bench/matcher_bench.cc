// What one row costs: taking a token, taking tokens back, forking, masks by reference and copied,
// all positions of a draft.
//
//   matcher_bench --vocab build/vocab/llama3.tiktoken --benchmark_repetitions=5
//       --benchmark_report_aggregates_only=true
//
// Way       a schema's text over and over in an array, in the longest tokens that fit; every state
//           and mask on it has been met before, as in a server after its first requests.
// Argument  tokens: how many the row has taken before.
// Time      a token, a call or a mask, as the name says. On a shared machine take the least of the
//           repetitions; instruction counts (valgrind --tool=callgrind) do not depend on it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/loader.h"

ABSL_FLAG(std::string, vocab, "", "A rank file of Llama 3; empty: the embedded bytes.");

namespace maskd {
namespace {

constexpr char kSchema[] =
    R"({"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},)"
    R"("age":{"type":"integer"},"kind":{"enum":["new","used","unknown"]},)"
    R"("tags":{"type":"array","items":{"type":"string","maxLength":40}}},)"
    R"("required":["name","kind"],"additionalProperties":false}})";
constexpr absl::string_view kItem =
    R"({"name": "Ada Lovelace", "age": 36, "kind": "unknown", "tags": ["first", "of many"]}, )";
constexpr int kWayItems = 500;

const std::vector<std::int64_t> kTokenCounts = {10, 1000, 10'000};

// A row's way through the grammar, all of it known.
struct Way {
  std::shared_ptr<const CompiledGrammar> grammar;
  std::vector<TokenId> tokens;
};

absl::StatusOr<std::shared_ptr<const CompiledGrammar>> CompileSchema() {
  VocabularySource source;
  source.name = "bench";
  source.path = absl::GetFlag(FLAGS_vocab);
  if (!source.path.empty()) source.special_preset = "llama3";
  const auto vocabulary = LoadVocabulary(source);
  if (!vocabulary.ok()) return vocabulary.status();
  Budget budget = Budget::Unlimited();
  return CompileGrammar({"json_schema", kSchema, {}}, TokenizerSpace::Create(*vocabulary), Limits(),
                        budget);
}

// The longest allowed token that `text` begins with.
TokenId LongestAllowed(const TokenMask& mask, const Vocabulary& vocabulary,
                       absl::string_view text) {
  TokenId longest = -1;
  std::size_t bytes = 0;
  mask.VisitAllowed([&](TokenId id) {
    const absl::string_view token = vocabulary.TokenBytes(id);
    if (vocabulary.IsSpecial(id) || token.size() <= bytes || text.substr(0, token.size()) != token)
      return;
    longest = id;
    bytes = token.size();
  });
  return longest;
}

std::vector<TokenId> TokensOf(Matcher matcher, absl::string_view text) {
  const Vocabulary& vocabulary = matcher.grammar().tokenizer().vocabulary();
  std::vector<TokenId> tokens;
  while (!text.empty()) {
    const TokenId token = LongestAllowed(**matcher.Mask(), vocabulary, text);
    if (token < 0 || !matcher.Accept(token).ok()) return {};
    tokens.push_back(token);
    text.remove_prefix(vocabulary.TokenBytes(token).size());
  }
  return tokens;
}

// The way of an array that is not closed.
absl::StatusOr<Way> MakeWay() {
  absl::StatusOr<std::shared_ptr<const CompiledGrammar>> grammar = CompileSchema();
  if (!grammar.ok()) return grammar.status();
  std::string text = "[";
  for (int i = 0; i < kWayItems; ++i) absl::StrAppend(&text, kItem);
  std::vector<TokenId> tokens = TokensOf(Matcher(*grammar), text);
  if (tokens.empty()) return absl::InternalError("the text is not of the grammar");
  return Way{*std::move(grammar), std::move(tokens)};
}

Matcher MatcherAfter(const Way& way, std::int64_t tokens) {
  Matcher matcher(way.grammar);
  for (std::int64_t i = 0; i < tokens; ++i)
    if (!matcher.Accept(way.tokens[i]).ok()) std::abort();
  return matcher;
}

void BM_Accept(benchmark::State& state, const Way& way) {
  const Matcher start(way.grammar);
  Matcher matcher = start.Fork();
  std::size_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(matcher.Accept(way.tokens[at]).ok());
    if (++at == way.tokens.size()) {
      at = 0;
      matcher = start.Fork();
    }
  }
}

void BM_Fork(benchmark::State& state, const Way& way) {
  const Matcher matcher = MatcherAfter(way, state.range(0));
  for (auto _ : state) {
    Matcher fork = matcher.Fork();
    benchmark::DoNotOptimize(fork);
  }
}

void BM_AcceptAndRollback4(benchmark::State& state, const Way& way) {
  Matcher matcher = MatcherAfter(way, state.range(0));
  const TokenId* const next = way.tokens.data() + state.range(0);
  for (auto _ : state) {
    for (int i = 0; i < 4; ++i) benchmark::DoNotOptimize(matcher.Accept(next[i]).ok());
    benchmark::DoNotOptimize(matcher.Rollback(4).ok());
  }
}

void BM_ForkAndRollback4(benchmark::State& state, const Way& way) {
  const Matcher matcher = MatcherAfter(way, state.range(0));
  for (auto _ : state) {
    Matcher fork = matcher.Fork();
    benchmark::DoNotOptimize(fork.Rollback(4).ok());
  }
}

void BM_Mask(benchmark::State& state, const Way& way) {
  Matcher matcher = MatcherAfter(way, state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(matcher.Mask());
}

void BM_MaskCopied(benchmark::State& state, const Way& way) {
  Matcher matcher = MatcherAfter(way, state.range(0));
  std::vector<std::int32_t> row(
      static_cast<std::size_t>(MaskWordCount(way.grammar->tokenizer().vocabulary().size())));
  for (auto _ : state) {
    const auto mask = matcher.Mask();
    (*mask)->CopyTo(row.data());
    benchmark::ClobberMemory();
  }
}

// All positions of a chain of four that the grammar takes.
void BM_DraftOf4(benchmark::State& state, const Way& way) {
  const Matcher matcher = MatcherAfter(way, state.range(0));
  const Draft draft = {std::span(way.tokens).subspan(static_cast<std::size_t>(state.range(0)), 4)};
  DraftMasks masks;
  for (auto _ : state) {
    benchmark::DoNotOptimize(matcher.MaskDraft(draft, &masks).ok());
    benchmark::ClobberMemory();
  }
}

void RegisterAll(const Way& way) {
  benchmark::RegisterBenchmark("accept", &BM_Accept, way);
  const auto at_lengths = [&](const char* name, void (*function)(benchmark::State&, const Way&)) {
    benchmark::RegisterBenchmark(name, function, way)
        ->ArgName("tokens")
        ->ArgsProduct({kTokenCounts});
  };
  at_lengths("fork", &BM_Fork);
  at_lengths("fork_and_rollback_of_4", &BM_ForkAndRollback4);
  at_lengths("accept_4_and_rollback_of_4", &BM_AcceptAndRollback4);
  at_lengths("draft_of_4", &BM_DraftOf4);
  at_lengths("mask", &BM_Mask);
  at_lengths("mask_copied", &BM_MaskCopied);
}

}  // namespace
}  // namespace maskd

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  absl::ParseCommandLine(argc, argv);
  const absl::StatusOr<maskd::Way> way = maskd::MakeWay();
  if (!way.ok()) {
    std::cerr << way.status() << "\n";
    return 2;
  }
  maskd::RegisterAll(*way);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
