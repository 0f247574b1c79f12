#include "service/grammars/memory_figures.h"

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "grammar_core/compile/compiled_grammar.h"
#include "grammar_core/frontend/json_schema/schema_store.h"
#include "grammar_core/mask/mask_store.h"
#include "service/config/config.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_store.h"

namespace maskd::service {
namespace {

TEST(MemoryFiguresTest, PartsAddUpToTheResidentSize) {
  memory::Accountant::Figures figures;
  figures.process = {.resident = 1000, .anonymous = 900, .file = 80, .shared = 20};
  figures.heap = HeapBytes{.allocated = 600, .resident = 850, .unused = 200};
  figures.held[static_cast<std::size_t>(memory::Part::kMasks)] = 400;
  figures.held[static_cast<std::size_t>(memory::Part::kSharedMemory)] = 20;
  figures.refusals[static_cast<std::size_t>(memory::Mark::kHigh)] = 3;
  std::map<std::string, double> parts;
  std::map<std::string, double> refusals;
  double sum = 0;
  for (const metrics::Figure& figure : MemoryFigures(figures, 2000)) {
    const std::string name = figure.name.name;
    if (name == metrics::kMemoryBytes.name) {
      parts[figure.label_value] = figure.value;
      sum += figure.value;
    }
    if (name == metrics::kMemoryRefusedTotal.name) refusals[figure.label_value] = figure.value;
  }
  EXPECT_EQ(sum, 1000);
  EXPECT_EQ(parts.at("masks"), 400);
  EXPECT_EQ(parts.at("other"), 200);
  EXPECT_EQ(parts.at("heap_idle"), 250);
  EXPECT_EQ(parts.at("outside_heap"), 50);
  EXPECT_EQ(parts.at("image"), 80);
  EXPECT_EQ(refusals.at("high"), 3);
}

TEST(GrammarFiguresTest, SayHowLargeTheLargestIs) {
  const auto tokenizers = std::move(*TokenizerStore::Load({}, 1 << 20));
  Config config;
  config.warm_up_ms = 0;  // they stay as large as they are
  GrammarStore grammars(config, nullptr);
  std::vector<cache::GrammarPtr> held;
  for (const char* source : {R"(["a"])", R"(["abcdefghijkl","mnopqrstuvwx"])"}) {
    const GrammarTarget target{"", GrammarSource{"choice", source, {}}};
    const auto request = grammars.Get(target, tokenizers->all().front());
    ASSERT_TRUE(request.ok()) << request.status();
    request->ticket.WaitUntil(std::chrono::steady_clock::now() + std::chrono::seconds(30));
    const cache::CompileResult compiled = request->ticket.result();
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    held.push_back(*compiled);
  }
  const GrammarCosts costs = held.back()->costs();
  const std::vector<metrics::Figure> figures = GrammarFigures(held);
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_STREQ(figures[0].name.name, metrics::kFullestGrammarBytes.name);
  EXPECT_EQ(figures[0].value, static_cast<double>(costs.held_bytes + costs.mask_bytes));
  EXPECT_STREQ(figures[1].name.name, metrics::kGenerationsRenewedTotal.name);
  EXPECT_EQ(figures[1].value, static_cast<double>(CompiledGrammar::TotalRenewals()));
  EXPECT_EQ(GrammarFigures({})[0].value, 0);
}

TEST(TokenizerFiguresTest, HaveABoundedLabel) {
  std::vector<VocabularySource> sources;
  for (std::size_t i = 0; i < kMaxTokenizerLabels + 2; ++i)
    sources.emplace_back().name = absl::StrCat("t", i);
  const auto tokenizers = TokenizerStore::Load(sources, 1 << 20);
  ASSERT_TRUE(tokenizers.ok()) << tokenizers.status();
  (*tokenizers)->all()[1].space()->masks().CountLookUp(/*found=*/true);
  (*tokenizers)->all()[kMaxTokenizerLabels].space()->masks().CountLookUp(/*found=*/false);
  (*tokenizers)->all()[kMaxTokenizerLabels + 1].space()->masks().CountLookUp(/*found=*/false);
  std::map<std::string, double> bytes;
  std::map<std::string, double> hits;
  std::map<std::string, double> misses;
  std::map<std::string, double> schema_bytes;
  std::map<std::string, double> schema_hits;
  std::map<std::string, double> schema_misses;
  for (const std::size_t at : {std::size_t{1}, kMaxTokenizerLabels, kMaxTokenizerLabels + 1}) {
    Budget budget = Budget::Unlimited();
    for (int times = 0; times < 2; ++times) {
      SchemaStore& store = (*tokenizers)->all()[at].space()->schemas();
      const auto settings = store.SettingsOf({}, SchemaValues::kInline, Limits());
      const auto read = store.Read(SharedText("true"), *settings, budget);
      ASSERT_TRUE(read.ok()) << read.status();
    }
  }
  for (const metrics::Figure& figure : TokenizerFigures(**tokenizers)) {
    const std::string name = figure.name.name;
    if (name == metrics::kTokenizerBytes.name) bytes[figure.label_value] = figure.value;
    if (name == metrics::kMaskStoreHitsTotal.name) hits[figure.label_value] = figure.value;
    if (name == metrics::kMaskStoreMissesTotal.name) misses[figure.label_value] = figure.value;
    if (name == metrics::kSchemaStoreBytes.name) schema_bytes[figure.label_value] = figure.value;
    if (name == metrics::kSchemaStoreHitsTotal.name) schema_hits[figure.label_value] = figure.value;
    if (name == metrics::kSchemaStoreMissesTotal.name)
      schema_misses[figure.label_value] = figure.value;
  }
  EXPECT_EQ(bytes.size(), kMaxTokenizerLabels + 1);
  EXPECT_GT(bytes.at("t0"), 0);
  EXPECT_EQ(bytes.at("other"), 2 * bytes.at("t0"));
  // Making a tokenizer's space looks masks up already, for each alike.
  EXPECT_EQ(hits.at("t1"), hits.at("t0") + 1);
  EXPECT_EQ(hits.at("other"), 2 * hits.at("t0"));
  EXPECT_EQ(misses.at("other"), 2 * misses.at("t0") + 2);
  EXPECT_EQ(schema_bytes.at("t0"), 0);
  EXPECT_GT(schema_bytes.at("t1"), 0);
  EXPECT_EQ(schema_bytes.at("other"), 2 * schema_bytes.at("t1"));
  EXPECT_EQ(schema_hits.at("other"), 2);
  EXPECT_EQ(schema_misses.at("other"), 2);
}

}  // namespace
}  // namespace maskd::service
