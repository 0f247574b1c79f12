// What a step must not depend on: the vocabulary, the numbers in a schema, the depth of nesting,
// how far an ambiguous text has gone. Variants of one thing are measured in turn, several rounds,
// and the smallest figure of each counts: what else the machine does hits all alike.
//
//   flat_bench --cases ../shared/maskbench/open.jsonl.gz
//              --vocabularies build/vocab/llama3.tiktoken,build/vocab/qwen.tiktoken,...
//
// accept     one token on a known way.
// reference  acceptance and known mask, not copied.
// copied     the same, the mask copied into a row: bytes that are proportional to the vocabulary.
// first      acceptance and mask where the grammar meets each state for the first time, stores
//            empty before each round. Median and mean of the steps.
// compile    source text to grammar, first mask included, mean of the grammars.
// All in microseconds; "spread" is the largest variant over the smallest.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"

#include "bench/cases.h"
#include "bench/documents.h"
#include "bench/samples.h"
#include "grammar_core/base/heap.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/text_splitter.h"

ABSL_FLAG(std::string, cases, "", "MaskBench cases.");
ABSL_FLAG(std::vector<std::string>, vocabularies, {},
          "Vocabulary files of scripts/fetch-vocab; the first one is that of all other groups.");
ABSL_FLAG(int, documents, 64, "Documents of MaskBench for the group of vocabularies.");
ABSL_FLAG(int, rounds, 7, "Rounds; the smallest figure counts.");

namespace maskd::bench {
namespace {

constexpr int kRepeats = 200;  // of the few tokens that are looked at in a made-up text

// A text whose tokens from `from` on are measured.
struct Text {
  GrammarSource source;
  std::vector<TokenId> tokens;
  std::size_t from = 0;
};

struct Variant {
  std::string name;
  std::shared_ptr<TokenizerSpace> space;
  std::vector<Text> texts;
};

constexpr std::array kFigures = {"accept",    "reference",  "copied",
                                 "first p50", "first mean", "compile"};
using Figures = std::array<double, kFigures.size()>;

Figures Infinite() {
  Figures figures;
  figures.fill(std::numeric_limits<double>::infinity());
  return figures;
}

Matcher AtFirstToken(const std::shared_ptr<const CompiledGrammar>& grammar, const Text& text) {
  Matcher matcher(grammar);
  for (std::size_t at = 0; at < text.from; ++at)
    if (!matcher.Mask().ok() || !matcher.Accept(text.tokens[at]).ok()) std::abort();
  return matcher;
}

// Acceptance and mask of every measured token, `look` being what is done with the mask. In
// microseconds a token; the states must be known.
template <typename Look>
double KnownSteps(const Text& text, const Matcher& start, const Look& look) {
  Matcher matcher = start.Fork();
  const auto count = static_cast<int>(text.tokens.size() - text.from);
  const Clock::time_point begin = Clock::now();
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (std::size_t at = text.from; at < text.tokens.size(); ++at) {
      if (!matcher.Accept(text.tokens[at]).ok()) std::abort();
      look(&matcher);
    }
    if (!matcher.Rollback(count).ok()) std::abort();
  }
  return MicrosSince(begin) / kRepeats;
}

class Measurer {
 public:
  explicit Measurer(const Variant& variant)
      : variant_(variant), row_(MaskWordCount(variant.space->vocabulary().size())) {}

  absl::StatusOr<Figures> Round() {
    // Once uncounted: what the variant before has left in the caches would count else.
    if (absl::Status warm = CompileForBench(variant_.texts[0].source, variant_.space).status();
        !warm.ok()) {
      return warm;
    }
    variant_.space->masks().Clear();
    double accept = 0;
    double reference = 0;
    double copied = 0;
    double compile = 0;
    std::size_t tokens = 0;
    std::vector<double> first;
    for (const Text& text : variant_.texts) {
      const Clock::time_point begin = Clock::now();
      const auto grammar = CompileForBench(text.source, variant_.space);
      if (!grammar.ok()) return grammar.status();
      compile += MicrosSince(begin);
      const Matcher start = AtFirstToken(*grammar, text);
      FirstSteps(text, start, &first);
      tokens += text.tokens.size() - text.from;
      accept += KnownSteps(text, start, [](Matcher*) {});
      reference += KnownSteps(text, start, [](Matcher* matcher) {
        if (!matcher->Mask().ok()) std::abort();
      });
      copied += KnownSteps(text, start, [this](Matcher* matcher) {
        const auto mask = matcher->Mask();
        (*mask)->CopyTo(row_.data());
      });
    }
    const auto count = static_cast<double>(tokens);
    double sum = 0;
    for (const double us : first) sum += us;
    return Figures{accept / count, reference / count,
                   copied / count, Percentile(first, 50),
                   sum / count,    compile / static_cast<double>(variant_.texts.size())};
  }

 private:
  static void FirstSteps(const Text& text, const Matcher& start, std::vector<double>* first) {
    Matcher matcher = start.Fork();
    for (std::size_t at = text.from; at < text.tokens.size(); ++at) {
      const Clock::time_point begin = Clock::now();
      const bool taken = matcher.Accept(text.tokens[at]).ok() && matcher.Mask().ok();
      first->push_back(MicrosSince(begin));
      if (!taken) std::abort();
    }
  }

  const Variant& variant_;
  std::vector<std::int32_t> row_;
};

void PrintGroup(const char* title, const std::vector<Variant>& variants,
                const std::vector<Figures>& figures) {
  std::printf("\n| %s |", title);
  for (const char* name : kFigures) std::printf(" %s |", name);
  std::printf("\n|:--|--:|--:|--:|--:|--:|--:|\n");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    std::printf("| %s |", variants[i].name.c_str());
    for (const double us : figures[i]) std::printf(" %.3f |", us);
    std::printf("\n");
  }
  std::printf("| spread |");
  for (std::size_t column = 0; column < kFigures.size(); ++column) {
    const auto by_column = [column](const Figures& a, const Figures& b) {
      return a[column] < b[column];
    };
    const auto [least, most] = std::minmax_element(figures.begin(), figures.end(), by_column);
    std::printf(" %.2f |", (*most)[column] / (*least)[column]);
  }
  std::printf("\n");
}

absl::Status MeasureGroup(const char* title, const std::vector<Variant>& variants) {
  std::vector<Figures> smallest(variants.size(), Infinite());
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const absl::StatusOr<Figures> figures = Measurer(variants[i]).Round();
      if (!figures.ok()) return figures.status();
      for (std::size_t column = 0; column < figures->size(); ++column)
        smallest[i][column] = std::min(smallest[i][column], (*figures)[column]);
    }
  }
  PrintGroup(title, variants, smallest);
  return absl::OkStatus();
}

// The same documents, cut into the tokens of each vocabulary.
absl::StatusOr<std::vector<Variant>> Vocabularies(
    const std::vector<std::shared_ptr<TokenizerSpace>>& spaces) {
  std::vector<Variant> variants;
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    const auto documents =
        LoadDocuments(absl::GetFlag(FLAGS_cases), spaces[i], absl::GetFlag(FLAGS_documents));
    if (!documents.ok()) return documents.status();
    const std::filesystem::path path = absl::GetFlag(FLAGS_vocabularies)[i];
    Variant variant{
        absl::StrCat(path.stem().string(), ", ", spaces[i]->vocabulary().size()), spaces[i], {}};
    for (const Document& document : *documents)
      variant.texts.push_back({document.source, document.tokens, 0});
    variants.push_back(std::move(variant));
  }
  return variants;
}

Text MakeText(const GrammarSource& source, const std::string& text, std::size_t from_byte,
              const TextSplitter& splitter) {
  const auto by_bytes = splitter.Split(text, [](std::size_t count) { return count - 1; });
  return {source, by_bytes.value(), from_byte};
}

std::vector<Variant> MaxLengths(const std::shared_ptr<TokenizerSpace>& space,
                                const TextSplitter& splitter) {
  std::vector<Variant> variants;
  for (const int length : {8, 1'000, 1'000'000}) {
    const GrammarSource source{
        "json_schema", absl::StrCat(R"({"type": "string", "maxLength": )", length, "}"), {}};
    variants.push_back({absl::StrCat(length), space, {MakeText(source, "\"lorem\"", 1, splitter)}});
  }
  return variants;
}

std::vector<Variant> Nestings(const std::shared_ptr<TokenizerSpace>& space,
                              const TextSplitter& splitter) {
  const GrammarSource source{
      "json_schema",
      R"({"$ref": "#/$defs/n", "$defs": {"n": {"type": "object", "additionalProperties": false,
          "properties": {"child": {"$ref": "#/$defs/n"}, "id": {"type": "integer"}}}}})",
      {}};
  std::vector<Variant> variants;
  for (const std::size_t depth : {std::size_t{1}, std::size_t{400}}) {
    std::string text;
    for (std::size_t level = 0; level < depth; ++level) text += R"({"child":)";
    const std::size_t from = text.size();
    text += R"({"id":42})";
    variants.push_back({absl::StrCat(depth), space, {MakeText(source, text, from, splitter)}});
  }
  return variants;
}

std::vector<Variant> Ambiguities(const GrammarSource& source, const std::string& period,
                                 const std::shared_ptr<TokenizerSpace>& space,
                                 const TextSplitter& splitter) {
  constexpr std::size_t kMeasured = 20;
  std::vector<Variant> variants;
  for (const std::size_t from : {std::size_t{20}, std::size_t{1'000}}) {
    std::string text;
    while (text.size() < from + kMeasured) text += period;
    text.resize(from + kMeasured);
    variants.push_back(
        {absl::StrCat("from byte ", from), space, {MakeText(source, text, from, splitter)}});
  }
  return variants;
}

absl::Status MeasureAll() {
  std::vector<std::shared_ptr<TokenizerSpace>> spaces;
  for (const std::string& path : absl::GetFlag(FLAGS_vocabularies)) {
    const auto vocabulary = LoadBenchVocabulary(path, "");
    if (!vocabulary.ok()) return vocabulary.status();
    spaces.push_back(TokenizerSpace::Create(*vocabulary));
  }
  if (spaces.empty()) return absl::InvalidArgumentError("--vocabularies: none");
  const auto vocabularies = Vocabularies(spaces);
  if (!vocabularies.ok()) return vocabularies.status();
  const std::shared_ptr<TokenizerSpace>& space = spaces.front();
  const TextSplitter splitter(space->vocabulary());
  std::vector<std::pair<const char*, std::vector<Variant>>> groups = {
      {"vocabulary", *vocabularies},
      {"maxLength", MaxLengths(space, splitter)},
      {"levels of nesting", Nestings(space, splitter)},
      {"ambiguous pattern",
       Ambiguities({"regex", "(a|b|ab|ba|aab)*c", {}}, "aabab", space, splitter)}};
  const std::vector<std::string> kinds = FrontEndKinds();
  if (std::ranges::find(kinds, "gbnf") != kinds.end()) {
    groups.emplace_back(
        "ambiguous grammar",
        Ambiguities({"gbnf", "root ::= root \"+\" root | [0-9]+\n", {}}, "12+3+", space, splitter));
  }
  for (const auto& [title, variants] : groups) {
    if (absl::Status done = MeasureGroup(title, variants); !done.ok())
      return absl::Status(done.code(), absl::StrCat(title, ": ", done.message()));
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("What a step must not depend on; see bench/flat_bench.cc.");
  absl::ParseCommandLine(argc, argv);
  maskd::ReserveHeap(512 << 20);  // as the service does
  const absl::Status status = maskd::bench::MeasureAll();
  if (!status.ok()) std::fprintf(stderr, "flat_bench: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
