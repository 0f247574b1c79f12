// Digests of the masks of random walks: what two builds must have in common.
//
//   mask_digest --cases .../open.jsonl.gz --tokenizer build/vocab/llama3.tiktoken > masks.txt
//   diff masks.txt masks.of-another-build.txt
//
// Walk     from the beginning of a schema's texts, each token being one of those that the mask
//          allows. The choice depends on the seed and on the masks alone, so two builds with the
//          same masks take the same walks. Half of the choices fall on the first tokens of a mask,
//          which end strings and arrays; the other half fall on all of them.
// Line     the schema's id, tokens taken, and FNV-1a over the words of all masks; or the code of
//          the compiler's error.
// Cost     one copy of a mask for each token.
#include <array>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"

#include "bench/cases.h"
#include "bench/documents.h"
#include "grammar_core/matcher/matcher.h"

ABSL_FLAG(std::string, cases, "", "MaskBench cases.");
ABSL_FLAG(std::string, tokenizer, "", "Vocabulary file of scripts/fetch-vocab.");
ABSL_FLAG(int, sample, 300, "Schemas; 0 takes all.");
ABSL_FLAG(int, walks, 4, "Walks for each schema.");
ABSL_FLAG(int, tokens, 80, "Tokens of a walk at most.");
ABSL_FLAG(std::uint64_t, seed, 1, "Seed of the choices.");

namespace maskd::bench {
namespace {

class Digest {
 public:
  void Add(const std::vector<std::int32_t>& words) {
    for (const std::int32_t word : words)
      hash_ = (hash_ ^ static_cast<std::uint32_t>(word)) * 0x100000001B3;
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xCBF29CE484222325;
};

// The allowed token of a rank; `mask` allows more than `rank`.
TokenId TokenAt(const TokenMask& mask, std::uint64_t rank) {
  TokenId found = 0;
  mask.VisitAllowedWhile([&](TokenId id) {
    found = id;
    return rank-- > 0;
  });
  return found;
}

// Random numbers that are the same with every standard library.
TokenId Choose(const TokenMask& mask, std::mt19937_64* random) {
  constexpr std::uint64_t kFirst = 100;
  const auto allowed = static_cast<std::uint64_t>(mask.CountAllowed());
  const bool of_first = (*random)() % 2 == 0;
  return TokenAt(mask, (*random)() % (of_first ? std::min(allowed, kFirst) : allowed));
}

// The tokens taken. A walk ends where its text does, or its budget.
int Walk(const std::shared_ptr<const CompiledGrammar>& grammar, std::mt19937_64* random,
         Digest* digest) {
  Matcher matcher(grammar);
  const int size = grammar->tokenizer().vocabulary().size();
  std::vector<std::int32_t> words(static_cast<std::size_t>(MaskWordCount(size)));
  for (int taken = 0; taken < absl::GetFlag(FLAGS_tokens); ++taken) {
    const auto mask = matcher.Mask();
    if (!mask.ok() || *mask == nullptr) return taken;
    (*mask)->CopyTo(words.data());
    digest->Add(words);
    if (!matcher.Accept(Choose(**mask, random)).ok()) return taken;
  }
  return absl::GetFlag(FLAGS_tokens);
}

int Run() {
  const auto vocabulary = LoadBenchVocabulary(absl::GetFlag(FLAGS_tokenizer), "");
  const auto cases = ReadCases(absl::GetFlag(FLAGS_cases), {.sample = absl::GetFlag(FLAGS_sample)});
  if (!vocabulary.ok() || !cases.ok()) {
    std::fprintf(stderr, "%s\n",
                 (vocabulary.ok() ? cases.status() : vocabulary.status()).ToString().c_str());
    return 2;
  }
  const auto space = TokenizerSpace::Create(*vocabulary);
  for (const Case& one : *cases) {
    const auto grammar = CompileForBench({"json_schema", one.schema, {}}, space);
    if (!grammar.ok()) {
      std::printf("%s %s\n", one.id.c_str(),
                  absl::StatusCodeToString(grammar.status().code()).c_str());
      continue;
    }
    std::mt19937_64 random(absl::GetFlag(FLAGS_seed));
    Digest digest;
    int taken = 0;
    for (int walk = 0; walk < absl::GetFlag(FLAGS_walks); ++walk)
      taken += Walk(*grammar, &random, &digest);
    std::printf("%s %d %016llx\n", one.id.c_str(), taken,
                static_cast<unsigned long long>(digest.value()));
  }
  return 0;
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Digests of the masks of random walks, a line for each schema.");
  absl::ParseCommandLine(argc, argv);
  return maskd::bench::Run();
}
