// A grammar under texts without end: does it go on taking them, does its memory level off, and are
// the masks at the end those of a grammar that was just compiled?
//
//   endurance --cases ../shared/maskbench/open.jsonl.gz --tokenizer build/vocab/llama3.tiktoken
//             --texts 100000 --samples 10000
//
// endless_texts.h has the groups: members, tree, open, nested, schemas, schemas any. Each text goes
// through its masks token by token. `failed` counts rows that met a limit, `refused` those whose
// text a mask does not allow (real schemas that break their meta-schema), `wrong` the sampled
// states whose mask differs from that of a grammar and stores made anew. Bytes are the grammar's
// own count, the most it ever was; resident is the process's.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include <unistd.h>

#include "bench/cases.h"
#include "bench/documents.h"
#include "bench/endless_texts.h"
#include "bench/samples.h"
#include "grammar_core/base/heap.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/text_splitter.h"

ABSL_FLAG(std::string, cases, "",
          "MaskBench cases: their schemas are the texts of the meta-schema.");
ABSL_FLAG(std::string, meta_schema,
          "grammar_core/frontend/json_schema/reading/standard_schemas/draft-07.schema.json",
          "Draft-07's own schema.");
ABSL_FLAG(std::string, tokenizer, "", "Vocabulary file of scripts/fetch-vocab.");
ABSL_FLAG(int, texts, 100'000, "Texts for each grammar.");
ABSL_FLAG(int, nested_texts, 0, "Texts for the group nested; 0: as many.");
ABSL_FLAG(int, levels, 1'000, "Levels of a nested text.");
ABSL_FLAG(int, samples, 10'000, "States at which masks are compared, of all groups together.");
ABSL_FLAG(std::string, group, "", "Only the group of this name.");

namespace maskd::bench {
namespace {

double ResidentMib() {
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;  // the second field is resident
  return static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

class Endurance {
 public:
  Endurance(std::shared_ptr<const Vocabulary> vocabulary, int samples_a_group)
      : vocabulary_(std::move(vocabulary)), splitter_(*vocabulary_), samples_(samples_a_group) {}

  // False where a row fails or a mask is wrong.
  bool Run(const EndlessTexts& group, int texts) {
    group_ = &group;
    texts_ = texts;
    grammar_ = Compile(&space_);
    if (grammar_ == nullptr) return false;
    counts_ = {};
    taken_ = 0;
    wrong_ = compared_ = most_bytes_ = most_automatons_ = 0;
    Random random(1);
    const double before = ResidentMib();
    const Clock::time_point start = Clock::now();
    double most_resident = before;
    for (int i = 0; i < texts; ++i) {
      const auto tokens = splitter_.Longest(group.make(&random));
      ++counts_[tokens.has_value() ? Take(*tokens, &random) : kRefused];
      Measure();
      if (i % 100 == 0) most_resident = std::max(most_resident, ResidentMib());
    }
    const GrammarCosts costs = grammar_->costs();
    std::printf(
        "%-9s %7d texts, %10lld tokens, %6.2f us a token, failed %d, refused %d; compared "
        "%d, wrong %d; most %.1f MiB in %d automatons, renewals %lld; resident %.0f MiB "
        "before, %.0f most, %.0f after\n",
        group.name.c_str(), texts, static_cast<long long>(taken_),
        MicrosSince(start) / static_cast<double>(std::max<std::int64_t>(taken_, 1)),
        counts_[kFailed], counts_[kRefused], static_cast<int>(compared_), static_cast<int>(wrong_),
        static_cast<double>(most_bytes_) / (1 << 20), static_cast<int>(most_automatons_),
        static_cast<long long>(costs.renewals), before, most_resident, ResidentMib());
    std::fflush(stdout);
    return counts_[kFailed] == 0 && wrong_ == 0;
  }

 private:
  enum Outcome { kTaken, kRefused, kFailed, kOutcomes };

  std::shared_ptr<const CompiledGrammar> Compile(std::shared_ptr<TokenizerSpace>* space) const {
    *space = TokenizerSpace::Create(vocabulary_);
    auto grammar = CompileForBench(group_->source, *space);
    if (!grammar.ok())
      std::fprintf(stderr, "%s\n", std::string(grammar.status().ToString()).c_str());
    return grammar.ok() ? *grammar : nullptr;
  }

  Outcome Take(const std::vector<TokenId>& tokens, Random* random) {
    Matcher matcher(grammar_);
    const bool is_sampled =
        static_cast<std::int64_t>((*random)() % static_cast<std::uint64_t>(texts_)) <
        std::max(samples_ / 10, 1);
    for (std::size_t at = 0; at < tokens.size(); ++at, ++taken_) {
      const auto mask = matcher.Mask();
      if (!mask.ok()) return Failed(mask.status());
      if (is_sampled && (*random)() % tokens.size() < 10)
        Compare(**mask, {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(at)});
      if (!(*mask)->Allows(tokens[at])) return kRefused;
      if (absl::Status taken = matcher.Accept(tokens[at]); !taken.ok()) return Failed(taken);
    }
    return kTaken;
  }

  static Outcome Failed(const absl::Status& status) {
    static int told = 0;
    if (++told <= 10) std::fprintf(stderr, "%s\n", std::string(status.ToString()).c_str());
    return kFailed;
  }

  // With stores of its own, made anew every so often.
  void Compare(const TokenMask& mask, const std::vector<TokenId>& taken) {
    if (fresh_for_ != group_ || compared_ % 100 == 0) {
      fresh_ = Compile(&fresh_space_);
      fresh_for_ = group_;
    }
    Matcher matcher(fresh_);
    for (const TokenId token : taken)
      if (!matcher.Accept(token).ok()) ++wrong_;
    const auto same = matcher.Mask();
    ++compared_;
    if (!same.ok() || !(mask == **same)) ++wrong_;
  }

  void Measure() {
    const GrammarCosts costs = grammar_->costs();
    most_bytes_ = std::max(most_bytes_, costs.held_bytes + costs.mask_bytes);
    most_automatons_ = std::max(most_automatons_, costs.automatons);
  }

  const std::shared_ptr<const Vocabulary> vocabulary_;
  const TextSplitter splitter_;
  const int samples_;
  const EndlessTexts* group_ = nullptr;
  int texts_ = 0;
  std::shared_ptr<TokenizerSpace> space_;
  std::shared_ptr<const CompiledGrammar> grammar_;
  std::shared_ptr<TokenizerSpace> fresh_space_;
  std::shared_ptr<const CompiledGrammar> fresh_;
  const EndlessTexts* fresh_for_ = nullptr;
  std::array<int, kOutcomes> counts_ = {};
  std::int64_t taken_ = 0;
  std::int64_t wrong_ = 0;
  std::int64_t compared_ = 0;
  std::int64_t most_bytes_ = 0;
  std::int64_t most_automatons_ = 0;
};

std::vector<EndlessTexts> Groups(const std::vector<Case>& cases) {
  std::ifstream file(absl::GetFlag(FLAGS_meta_schema));
  std::stringstream meta;
  meta << file.rdbuf();
  std::vector<EndlessTexts> groups = {MembersInAnyOrder(), SyntaxTrees(), OpenObjects(),
                                      NestedTexts(absl::GetFlag(FLAGS_levels))};
  if (!cases.empty()) {
    groups.push_back(SchemasAsTexts(meta.str(), false, cases));
    groups.push_back(SchemasAsTexts(meta.str(), true, cases));
  }
  return groups;
}

int Main() {
  const auto vocabulary = LoadBenchVocabulary(absl::GetFlag(FLAGS_tokenizer), "");
  if (!vocabulary.ok()) {
    std::fprintf(stderr, "%s\n", std::string(vocabulary.status().ToString()).c_str());
    return 2;
  }
  std::vector<Case> cases;
  if (!absl::GetFlag(FLAGS_cases).empty()) {
    auto read = ReadCases(absl::GetFlag(FLAGS_cases), {});
    if (!read.ok()) {
      std::fprintf(stderr, "%s\n", std::string(read.status().ToString()).c_str());
      return 2;
    }
    cases = *std::move(read);
  }
  const std::vector<EndlessTexts> groups = Groups(cases);
  Endurance endurance(*vocabulary, absl::GetFlag(FLAGS_samples) / static_cast<int>(groups.size()));
  bool all = true;
  const int nested = absl::GetFlag(FLAGS_nested_texts);
  for (const EndlessTexts& group : groups) {
    const std::string only = absl::GetFlag(FLAGS_group);
    if (!only.empty() && group.name != only) continue;
    const bool few = group.name == "nested" && nested > 0;
    all = endurance.Run(group, few ? nested : absl::GetFlag(FLAGS_texts)) && all;
  }
  return all ? 0 : 1;
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("endurance --cases FILE --tokenizer FILE [--texts N]");
  absl::ParseCommandLine(argc, argv);
  return maskd::bench::Main();
}
