#include "grammar_core/tokenizer/formats/gguf_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

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

constexpr char kO200k[] =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?)"
    R"(|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr char kTekken[] =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"(|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"(|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

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
    Row{"smollm", {R"(\p{N})", kGpt2}},
    // Beyond ASCII llama.cpp cuts words of these two elsewhere than the models' own tokenizers.
    Row{"gpt-4o", {kO200k}, true, true},
    Row{"tekken", {kTekken}, true, true},
    Row{"deepseek-coder",
        {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", R"([一-龥ࠀ-一가-퟿]+)", R"(\p{N})"}},
};

EncodingRules BytesCutBy(const Row& row, const RawVocabulary& raw) {
  EncodingRules rules;
  rules.symbols = Symbols::kBytes;
  rules.whole_pieces = row.whole_pieces;
  rules.ascii_only = row.ascii_only;
  for (const char* const pattern : row.patterns)
    if (pattern != nullptr) rules.patterns.emplace_back(pattern);
  // What is spelled in another alphabet is made of no bytes.
  rules.unused =
      PiecesWhere(raw, [](absl::string_view piece) { return !FromByteLevel(piece).has_value(); });
  return rules;
}

std::vector<MergeRule> MergesOf(const std::vector<std::string>& lines) {
  std::vector<MergeRule> merges;
  merges.reserve(lines.size());
  for (const std::string& line : lines) merges.push_back(MergeRule::FromLine(line));
  return merges;
}

// Characters, cut nowhere: llama.cpp cuts at line feeds, but no merge of these goes over one.
// The model "gemma4" needs no pre-tokenizer; "gpt2" may have it as one.
EncodingRules UncutCharacters(const RawVocabulary& raw) {
  EncodingRules rules;
  rules.symbols = Symbols::kCharacters;
  rules.marks_spaces = true;
  rules.unused = PiecesWhere(raw, [](absl::string_view p) { return absl::StrContains(p, ' '); });
  return rules;
}

// How a text becomes symbols; unknown where the model and its pre-tokenizer are.
EncodingRules CutRules(const GgufFacts& facts, const RawVocabulary& raw) {
  if (facts.model == "gemma4" || (facts.model == "gpt2" && facts.pre == "gemma4"))
    return UncutCharacters(raw);
  const auto row = std::ranges::find_if(kRows, [&](const Row& r) { return facts.pre == r.name; });
  return facts.model == "gpt2" && row != kRows.end() ? BytesCutBy(*row, raw) : EncodingRules();
}

}  // namespace

EncodingRules RulesOf(const GgufFacts& facts, const RawVocabulary& raw) {
  if (facts.model == "llama") {
    if (facts.scored.pieces.size() != raw.tokens.size()) return {};
    return RulesOf(facts.scored, raw);
  }
  if (facts.merges.empty()) return {};
  EncodingRules rules = CutRules(facts, raw);
  if (rules.symbols == Symbols::kUnknown) return {};
  rules.atoms = raw.added_ids;
  return ReadMergeOrder(MergesOf(facts.merges), raw, &rules) ? rules : EncodingRules();
}

}  // namespace maskd
