#include "grammar_core/tokenizer/formats/gguf_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "grammar_core/tokenizer/formats/merge_order.h"
#include "grammar_core/tokenizer/formats/piece_bytes.h"

namespace maskd {
namespace {

using Symbols = EncodingRules::Symbols;

constexpr char kGpt2[] =
    R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr char kLlama3[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr char kQwen2[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

// A pre-tokenizer: its patterns, each for what those before it have left together.
struct Row {
  const char* name;
  std::array<const char*, 6> patterns;
  bool whole_pieces = false;
  bool ascii_only = false;
};

constexpr std::array kRows = {
    Row{"gpt-2", {kGpt2}},
    Row{"llama-bpe", {kLlama3}, true},
    Row{"qwen2", {kQwen2}, false, true},
    Row{"command-r", {R"(\p{N})", kGpt2}, false, true},
    Row{"deepseek-coder",
        {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", R"([一-龥ࠀ-一가-퟿]+)", R"(\p{N})"}},
};

EncodingRules PatternsOf(const Row& row) {
  EncodingRules rules;
  rules.symbols = Symbols::kBytes;
  rules.whole_pieces = row.whole_pieces;
  rules.ascii_only = row.ascii_only;
  for (const char* const pattern : row.patterns)
    if (pattern != nullptr) rules.patterns.emplace_back(pattern);
  return rules;
}

std::vector<MergeRule> MergesOf(const std::vector<std::string>& lines) {
  std::vector<MergeRule> merges;
  merges.reserve(lines.size());
  for (const std::string& line : lines) merges.push_back(MergeRule::FromLine(line));
  return merges;
}

}  // namespace

EncodingRules RulesOf(const GgufFacts& facts, const RawVocabulary& raw) {
  if (facts.model == "llama") {
    if (facts.scored.pieces.size() != raw.tokens.size()) return {};
    return RulesOf(facts.scored, raw);
  }
  const auto row = std::ranges::find_if(kRows, [&](const Row& r) { return facts.pre == r.name; });
  if (facts.model != "gpt2" || row == kRows.end() || facts.merges.empty()) return {};
  EncodingRules rules = PatternsOf(*row);
  rules.atoms = raw.added_ids;
  // What is spelled in another alphabet is made of no bytes.
  rules.unused =
      PiecesWhere(raw, [](absl::string_view piece) { return !FromByteLevel(piece).has_value(); });
  return ReadMergeOrder(MergesOf(facts.merges), raw, &rules) ? rules : EncodingRules();
}

}  // namespace maskd
