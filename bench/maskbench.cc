// MaskBench through the engine in process: every schema compiled, every instance taken token by
// token through its masks, each mask and each acceptance timed.
//
//   maskbench --cases open.jsonl.gz --tokenizer llama3.tiktoken --out results.jsonl [--stores
//   fresh]
//
// Reads and writes the line formats of MaskBench (fields id, schema, tests[valid, text, tokens];
// result fields id, status, compile_us, ttfm_us, mask_us, accept_us, tests[valid, got, at,
// tokens]). With --stores shared (the default) one mask store serves all schemas, as in a server;
// with fresh it is emptied before each. Masks are copied into a caller's row, as an engine needs
// them.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "grammar_core/compile/compiler.h"
#include "grammar_core/mask/mask_store.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/loader.h"

ABSL_FLAG(std::string, cases, "", "Cases: one JSON object a line, gzip or plain.");
ABSL_FLAG(std::string, tokenizer, "", "Vocabulary file (empty: the embedded bytes).");
ABSL_FLAG(std::string, special, "llama3", "Special-token preset of the vocabulary.");
ABSL_FLAG(std::string, stop, "<|eot_id|>", "The token that ends a text.");
ABSL_FLAG(std::string, out, "", "Result lines go here.");
ABSL_FLAG(std::string, stores, "shared",
          "shared: one mask store for the run. fresh: one a schema.");
ABSL_FLAG(std::string, split, "open", "Written into each result line.");
ABSL_FLAG(int, limit, 0, "Stop after so many schemas; 0 means all.");

namespace maskd {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

double MicrosSince(Clock::time_point start) {
  const std::chrono::duration<double, std::micro> elapsed = Clock::now() - start;
  return elapsed.count();
}

// To a tenth of a microsecond as the format asks; finer below ten, where a tenth would hide much.
double Rounded(double us) {
  return us < 10 ? std::round(us * 1000) / 1000 : std::round(us * 10) / 10;
}

// Lines of a file that zlib reads, compressed or not.
class LineReader {
 public:
  explicit LineReader(const std::string& path) : file_(gzopen(path.c_str(), "rb")) {}
  ~LineReader() {
    if (file_ != nullptr) gzclose(file_);
  }
  [[nodiscard]] bool ok() const { return file_ != nullptr; }

  bool Next(std::string* line) {
    line->clear();
    char buffer[1 << 16];
    while (gzgets(file_, buffer, sizeof buffer) != nullptr) {
      line->append(buffer);
      if (line->back() == '\n') return true;
    }
    return !line->empty();
  }

 private:
  gzFile file_;
};

// One schema's run.
class Case {
 public:
  Case(const Json& input, std::shared_ptr<TokenizerSpace> space, TokenId stop)
      : input_(input),
        space_(std::move(space)),
        stop_(stop),
        row_(MaskWordCount(space_->vocabulary().size())) {}

  Json Run() {
    Json result = {{"id", input_["id"]},
                   {"split", absl::GetFlag(FLAGS_split)},
                   {"engine", "maskd"},
                   {"n_tests", input_["tests"].size()}};
    GrammarSource source;
    source.kind = "json_schema";
    source.text = input_["schema"].get<std::string>();
    Budget::Bounds bounds;
    bounds.wall_ms = Limits().compile_ms;
    Budget budget(bounds);
    const Clock::time_point start = Clock::now();
    auto grammar = CompileGrammar(source, space_, Limits(), budget);
    const double compile_us = MicrosSince(start);
    if (!grammar.ok()) {
      result["status"] = "compile_error";
      result["error"] = std::string(grammar.status().ToString()).substr(0, 400);
      return result;
    }
    Matcher first(*grammar);
    CopyMask(&first);
    const double ttfm_us = MicrosSince(start);
    Json tests = Json::array();
    for (const Json& test : input_["tests"]) tests.push_back(RunTest(*grammar, test));
    result["status"] = "ok";
    result["compile_us"] = Rounded(compile_us);
    result["ttfm_us"] = Rounded(ttfm_us);
    result["mem_bytes"] = (*grammar)->costs().held_bytes;
    result["mask_us"] = std::move(mask_us_);
    result["accept_us"] = std::move(accept_us_);
    result["tests"] = std::move(tests);
    return result;
  }

 private:
  // The mask into the caller's row; false with error_ set.
  bool CopyMask(Matcher* matcher) {
    const absl::StatusOr<MaskRef> mask = matcher->Mask();
    if (!mask.ok()) {
      error_ = std::string(mask.status().ToString());
      return false;
    }
    std::memcpy(row_.data(), (*mask)->words().data(), row_.size() * sizeof(std::int32_t));
    return true;
  }

  [[nodiscard]] bool Bit(TokenId token) const {
    return (static_cast<std::uint32_t>(row_[token / kBitsPerWord]) >> (token % kBitsPerWord)) & 1U;
  }

  Json RunTest(const std::shared_ptr<const CompiledGrammar>& grammar, const Json& test) {
    const auto tokens = test["tokens"].get<std::vector<TokenId>>();
    Json result = {{"valid", test["valid"]}, {"tokens", tokens.size()}};
    Matcher matcher(grammar);
    std::size_t at = 0;
    std::string got = "accept";
    for (; at < tokens.size(); ++at) {
      const Clock::time_point start = Clock::now();
      const bool have_mask = CopyMask(&matcher);
      mask_us_.push_back(Rounded(MicrosSince(start)));
      if (have_mask && !Bit(tokens[at])) {
        got = "reject";
        break;
      }
      const Clock::time_point accept_start = Clock::now();
      const absl::Status accepted = matcher.Accept(tokens[at]);
      accept_us_.push_back(Rounded(MicrosSince(accept_start)));
      if (!have_mask || !accepted.ok()) {
        got = "error";
        result["error"] = have_mask ? std::string(accepted.ToString()) : error_;
        break;
      }
    }
    if (got == "accept" && !(CopyMask(&matcher) && Bit(stop_))) got = "no_eos";
    result["got"] = got;
    result["at"] = at;
    return result;
  }

  const Json& input_;
  std::shared_ptr<TokenizerSpace> space_;
  const TokenId stop_;
  std::vector<std::int32_t> row_;
  std::vector<double> mask_us_;
  std::vector<double> accept_us_;
  std::string error_;
};

int Run() {
  VocabularySource source;
  source.name = "maskbench";
  source.path = absl::GetFlag(FLAGS_tokenizer);
  if (!source.path.empty()) {
    source.special_preset = absl::GetFlag(FLAGS_special);
    source.stop_tokens = {absl::GetFlag(FLAGS_stop)};
  }
  const auto vocabulary = LoadVocabulary(source);
  if (!vocabulary.ok()) {
    std::cerr << "--tokenizer: " << vocabulary.status() << "\n";
    return 2;
  }
  LineReader lines(absl::GetFlag(FLAGS_cases));
  std::ofstream out(absl::GetFlag(FLAGS_out));
  if (!lines.ok() || !out) {
    std::cerr << (lines.ok() ? "--out" : "--cases") << ": cannot open the file\n";
    return 2;
  }
  const bool fresh = absl::GetFlag(FLAGS_stores) == "fresh";
  std::shared_ptr<TokenizerSpace> space = TokenizerSpace::Create(*vocabulary);
  std::string line;
  for (int count = 0; lines.Next(&line); ++count) {
    if (absl::GetFlag(FLAGS_limit) > 0 && count == absl::GetFlag(FLAGS_limit)) break;
    if (fresh) space->masks().Clear();
    const Json input = Json::parse(line);
    out << Case(input, space, (*vocabulary)->stop_ids().front()).Run().dump() << "\n";
  }
  const MaskStore::Stats stats = space->masks().stats();
  std::cerr << "stored masks " << stats.masks << ", " << (stats.held_bytes >> 20) << " MiB, keys "
            << stats.keys << "\n";
  return out ? 0 : 1;
}

}  // namespace
}  // namespace maskd

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("MaskBench through the engine in process; see bench/maskbench.cc.");
  absl::ParseCommandLine(argc, argv);
  return maskd::Run();
}
