// Masks against the prefix oracle: for random states of real schemas, every token id of a
// vocabulary is allowed exactly if the oracle can read the token's bytes, and a stop id exactly
// where the text may end.
//
//   MASKD_ORACLE_STATES=1000 MASKD_ORACLE_SEED=7 mask_oracle_test --gtest_filter='*Llama3*'
//
// Needs the shared data and scripts/fetch-vocab; skipped, aloud, where one is missing.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "grammar_core/compile/compiler.h"
#include "grammar_core/compile/pipeline.h"
#include "grammar_core/matcher/matcher.h"
#include "grammar_core/tokenizer/loader.h"
#include "tests/base/night.h"
#include "tests/oracle/maskbench_cases.h"
#include "tests/oracle/prefix_oracle.h"

namespace maskd {
namespace {

using Random = std::mt19937_64;

std::uint64_t FromEnvironment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  std::uint64_t value = 0;
  EXPECT_TRUE(absl::SimpleAtoi(text, &value)) << name << " is not a number: " << text;
  return value;
}

// A vocabulary, and its ordinary tokens in the order of their bytes.
struct Tokens {
  explicit Tokens(std::shared_ptr<const Vocabulary> source)
      : vocabulary(std::move(source)), space(TokenizerSpace::Create(vocabulary)) {
    for (TokenId id = 0; id < vocabulary->size(); ++id)
      if (!vocabulary->IsSpecial(id) && !vocabulary->TokenBytes(id).empty()) sorted.push_back(id);
    std::sort(sorted.begin(), sorted.end(), [&](TokenId a, TokenId b) {
      return vocabulary->TokenBytes(a) < vocabulary->TokenBytes(b);
    });
  }
  std::shared_ptr<const Vocabulary> vocabulary;
  std::shared_ptr<TokenizerSpace> space;
  std::vector<TokenId> sorted;
};

std::size_t CommonBytes(absl::string_view a, absl::string_view b) {
  std::size_t at = 0;
  while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
  return at;
}

// What the oracle allows in `state`. Neighbours in byte order share the steps of their common
// bytes.
TokenMask OracleMask(const Tokens& tokens, PrefixOracle::State state, PrefixOracle* oracle) {
  TokenMask mask(tokens.vocabulary->size());
  std::vector<PrefixOracle::State> path = {state};
  absl::string_view previous;
  for (const TokenId id : tokens.sorted) {
    const absl::string_view bytes = tokens.vocabulary->TokenBytes(id);
    path.resize(std::min(path.size(), CommonBytes(previous, bytes) + 1));
    previous = bytes;
    while (path.back() != PrefixOracle::kDead && path.size() <= bytes.size())
      path.push_back(oracle->Step(path.back(), static_cast<unsigned char>(bytes[path.size() - 1])));
    if (path.back() != PrefixOracle::kDead) mask.Allow(id);
  }
  if (!oracle->MayEnd(state)) return mask;
  for (const TokenId id : tokens.vocabulary->stop_ids()) mask.Allow(id);
  return mask;
}

// The first few tokens on which the two do not agree.
std::string Differences(const Vocabulary& vocabulary, const TokenMask& engine,
                        const TokenMask& oracle) {
  std::string text;
  int count = 0;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (engine.Allows(id) == oracle.Allows(id)) continue;
    if (++count > 8) continue;
    absl::StrAppend(&text, "  token ", id, " \"", absl::CHexEscape(vocabulary.TokenBytes(id)),
                    "\": engine ", engine.Allows(id) ? "allows" : "refuses", ", oracle ",
                    oracle.Allows(id) ? "allows" : "refuses", "\n");
  }
  return absl::StrCat(count, " tokens differ\n", text);
}

// One schema by the engine and by the oracle, side by side.
class SideBySide {
 public:
  SideBySide(const Tokens& tokens, const MaskbenchCase& input, const GrammarOptions& options)
      : tokens_(tokens), input_(input) {
    const GrammarSource source = {"json_schema", input.schema, options};
    Budget budget = Budget::Unlimited();
    auto read = ReduceGrammar(source, Limits(), budget);
    auto compiled = CompileGrammar(source, tokens.space, Limits(), budget);
    EXPECT_EQ(read.ok(), compiled.ok()) << input.id;
    if (!read.ok() || !compiled.ok() || !PrefixOracle::WhyNot(read->ir).empty()) return;
    ir_ = std::make_unique<GrammarIr>(std::move(read->ir));
    grammar_ = *std::move(compiled);
    oracle_ = std::make_unique<PrefixOracle>(*ir_);
  }
  [[nodiscard]] bool compiled() const { return oracle_ != nullptr; }

  // A state up to `steps` uniformly chosen tokens away. False: the masks there differ.
  bool CompareAfterWalk(int steps, Random* random) {
    Matcher matcher(grammar_);
    std::string text;
    for (int i = 0; i < steps; ++i) {
      const absl::StatusOr<MaskRef> mask = matcher.Mask();
      if (!mask.ok()) return Fail(text, std::string(mask.status().ToString()));
      const TokenId token = AnyAllowed(**mask, random);
      if (tokens_.vocabulary->IsSpecial(token)) break;
      if (!matcher.Accept(token).ok()) return Fail(text, absl::StrCat("refuses token ", token));
      absl::StrAppend(&text, tokens_.vocabulary->TokenBytes(token));
    }
    return Compare(&matcher, text);
  }

  // The state after `bytes` of one of the valid instances. False: as above.
  bool CompareInInstance(const std::string& instance, std::size_t bytes) {
    Matcher matcher(grammar_);
    const std::string text = instance.substr(0, bytes);
    const bool lives = oracle_->StepText(oracle_->start(), text) != PrefixOracle::kDead;
    for (const char byte : text) {
      const bool taken = matcher.Accept(ByteToken(byte)).ok();
      if (!taken && lives) return Fail(text, "refuses a byte of it");
      // The instance is not of the grammar (numbers spelled with a fraction, data faults).
      if (!taken) return true;
    }
    return Compare(&matcher, text);
  }
  [[nodiscard]] int compared() const { return compared_; }

 private:
  bool Compare(Matcher* matcher, const std::string& text) {
    const PrefixOracle::State state = oracle_->StepText(oracle_->start(), text);
    if (state == PrefixOracle::kDead) return Fail(text, "is where the oracle has long given up");
    const absl::StatusOr<MaskRef> mask = matcher->Mask();
    if (!mask.ok()) return Fail(text, std::string(mask.status().ToString()));
    ++compared_;
    const TokenMask expected = OracleMask(tokens_, state, oracle_.get());
    if (expected == **mask) return true;
    return Fail(text, Differences(*tokens_.vocabulary, **mask, expected));
  }

  bool Fail(const std::string& text, const std::string& what) {
    ADD_FAILURE() << input_.id << " after \"" << absl::CHexEscape(text) << "\": the engine " << what
                  << "\nschema: " << input_.schema.substr(0, 2000);
    return false;
  }

  static TokenId AnyAllowed(const TokenMask& mask, Random* random) {
    std::vector<TokenId> allowed;
    for (TokenId id = 0; id < mask.vocab_size(); ++id)
      if (mask.Allows(id)) allowed.push_back(id);
    return allowed[std::uniform_int_distribution<std::size_t>(0, allowed.size() - 1)(*random)];
  }

  [[nodiscard]] TokenId ByteToken(char byte) const {
    const auto at =
        std::lower_bound(tokens_.sorted.begin(), tokens_.sorted.end(), std::string(1, byte),
                         [&](TokenId id, const std::string& bytes) {
                           return tokens_.vocabulary->TokenBytes(id) < bytes;
                         });
    return *at;
  }

  const Tokens& tokens_;
  const MaskbenchCase& input_;
  std::unique_ptr<GrammarIr> ir_;
  std::shared_ptr<const CompiledGrammar> grammar_;
  std::unique_ptr<PrefixOracle> oracle_;
  int compared_ = 0;
};

struct Run {
  int states;
  int walks_a_schema;
  int instances_a_schema;
  GrammarOptions options = {};
};

std::string LaidOut(const std::string& instance, const Run& run) {
  if (!run.options.indent.has_value()) return instance;
  return nlohmann::ordered_json::parse(instance).dump(*run.options.indent);
}

// States of one schema; how many were compared.
int CompareSchema(const Tokens& tokens, const MaskbenchCase& input, const Run& run,
                  Random* random) {
  SideBySide both(tokens, input, run.options);
  if (!both.compiled()) return 0;
  bool same = true;
  for (int i = 0; same && i < run.walks_a_schema; ++i)
    same = both.CompareAfterWalk(std::uniform_int_distribution<int>(0, 40)(*random), random);
  for (int i = 0; same && i < run.instances_a_schema && !input.valid.empty(); ++i) {
    const std::string instance = LaidOut(input.valid[(*random)() % input.valid.size()], run);
    same = both.CompareInInstance(
        instance, std::uniform_int_distribution<std::size_t>(0, instance.size())(*random));
  }
  return both.compared();
}

void CompareMasks(const Tokens& tokens, const Run& run) {
  const std::uint64_t seed = FromEnvironment("MASKD_ORACLE_SEED", 1);
  const auto cases = ReadMaskbench(MaskbenchFile(MASKD_SOURCE_DIR), seed);
  if (!cases.ok()) GTEST_SKIP() << "MaskBench is not there: " << cases.status();
  const auto start = std::chrono::steady_clock::now();
  Random random(seed);
  int states = 0;
  int schemas = 0;
  for (const MaskbenchCase& input : *cases) {
    if (states >= run.states || testing::Test::HasFailure()) break;
    const int compared = CompareSchema(tokens, input, run, &random);
    states += compared;
    schemas += compared > 0 ? 1 : 0;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::cout << states << " states of " << schemas << " schemas, " << tokens.vocabulary->size()
            << " ids each, " << seconds.count() << " s\n";
  EXPECT_GE(states, run.states) << "the data has no more schemas that compile";
}

GrammarOptions AnyOrderCompact() {
  GrammarOptions options;
  options.property_order = PropertyOrder::kAny;
  options.white_space = WhiteSpace::kCompact;
  return options;
}

GrammarOptions Canonical(PropertyOrder order) {
  GrammarOptions options;
  options.property_order = order;
  options.spelling = JsonSpelling::kCanonical;
  return options;
}

GrammarOptions Indented(int spaces) {
  GrammarOptions options;
  options.indent = spaces;
  return options;
}

const std::uint64_t kStates = ByNight(40, 120);
// Of a run with other options, or over the bytes.
const int kOptionStates = ByNight(15, 30);
const int kByteStates = ByNight(1000, 3000);

TEST(MaskOracleTest, Llama3) {
  const auto vocabulary = LoadLlama3(MASKD_SOURCE_DIR);
  if (!vocabulary.ok()) GTEST_SKIP() << "no Llama 3 vocabulary: " << vocabulary.status();
  const auto states = static_cast<int>(FromEnvironment("MASKD_ORACLE_STATES", kStates));
  CompareMasks(Tokens(*vocabulary), {states, 1, 2});
}

TEST(MaskOracleTest, Llama3AnyOrderCompact) {
  const auto vocabulary = LoadLlama3(MASKD_SOURCE_DIR);
  if (!vocabulary.ok()) GTEST_SKIP() << "no Llama 3 vocabulary: " << vocabulary.status();
  CompareMasks(Tokens(*vocabulary), {kOptionStates, 1, 1, AnyOrderCompact()});
}

TEST(MaskOracleTest, Llama3Indented) {
  const auto vocabulary = LoadLlama3(MASKD_SOURCE_DIR);
  if (!vocabulary.ok()) GTEST_SKIP() << "no Llama 3 vocabulary: " << vocabulary.status();
  const auto states = static_cast<int>(FromEnvironment("MASKD_ORACLE_STATES", kOptionStates));
  CompareMasks(Tokens(*vocabulary), {states, 1, 2, Indented(2)});
}

TEST(MaskOracleTest, Llama3Canonical) {
  const auto vocabulary = LoadLlama3(MASKD_SOURCE_DIR);
  if (!vocabulary.ok()) GTEST_SKIP() << "no Llama 3 vocabulary: " << vocabulary.status();
  const auto states = static_cast<int>(FromEnvironment("MASKD_ORACLE_STATES", kOptionStates));
  CompareMasks(Tokens(*vocabulary), {states, 1, 2, Canonical(PropertyOrder::kDeclared)});
}

TEST(MaskOracleTest, BytesCanonical) {
  for (const PropertyOrder order : {PropertyOrder::kDeclared, PropertyOrder::kAny})
    CompareMasks(Tokens(EmbeddedByteVocabulary()), {kByteStates / 3, 4, 6, Canonical(order)});
}

TEST(MaskOracleTest, BytesIndented) {
  for (const int spaces : {0, 1, 4})
    CompareMasks(Tokens(EmbeddedByteVocabulary()), {kByteStates / 10, 4, 6, Indented(spaces)});
}

TEST(MaskOracleTest, Bytes) { CompareMasks(Tokens(EmbeddedByteVocabulary()), {kByteStates, 4, 6}); }

TEST(MaskOracleTest, BytesAnyOrderCompact) {
  CompareMasks(Tokens(EmbeddedByteVocabulary()), {kByteStates / 3, 4, 6, AnyOrderCompact()});
}

}  // namespace
}  // namespace maskd
