#include "metrics/registry.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <prometheus/collectable.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <re2/re2.h>

#include "metrics/figures.h"
#include "metrics/names.h"

namespace maskd::metrics {
namespace {

std::string Scrape(const Metrics& metrics) {
  return prometheus::TextSerializer().Serialize(metrics.registry()->Collect());
}

TEST(MetricsTest, EveryEventIsSeen) {
  Metrics metrics("1.2.3", {"json_schema"});
  metrics.CompileDone("json_schema", "OK", 0.003);
  metrics.CompileWaited(0.003);
  metrics.TextRead(0.5);
  metrics.CompileSpent({.reduce = 1, .automaton = 2, .first_mask = 4});
  metrics.StepDone(30e-6);
  metrics.StepWaited(30e-6);
  metrics.StepSpent({.read = 1, .apply = 2, .masks = 4, .write = 8});
  metrics.RowErred("TOKEN_REFUSED");
  metrics.MasksSent(SentForm::kDelta, 3);
  metrics.DraftTokens(5, 2);
  metrics.StepBytes(Transport::kSharedMemory, 20, 300);
  metrics.StreamBegan(Transport::kGrpc);
  metrics.RowsAnswered(RowOutcome::kActive, 8);
  metrics.CacheRequest(CacheOutcome::kJoined);
  metrics.CacheEvictions(2);
  metrics.CacheSize(1000, 3);
  metrics.CompileQueueChanged(5);
  metrics.CompileQueueChanged(-1);
  metrics.StreamsOpenChanged(1);
  metrics.RowsOpenChanged(5);
  metrics.Refused("NOT_FOUND", "GRAMMAR_NOT_FOUND");
  const std::string text = Scrape(metrics);
  for (const char* line : {
           "maskd_build_info{version=\"1.2.3\"} 1",
           "maskd_compile_seconds_bucket{kind=\"json_schema\",le=\"0.002\"} 0",
           "maskd_compile_seconds_bucket{kind=\"json_schema\",le=\"0.005\"} 1",
           "maskd_compiles_total{code=\"OK\",kind=\"json_schema\"} 1",
           "maskd_compile_wait_seconds_bucket{le=\"0.005\"} 1",
           "maskd_compile_phase_seconds_total{phase=\"parse\"} 0.5",
           "maskd_compile_phase_seconds_total{phase=\"reduce\"} 1",
           "maskd_compile_phase_seconds_total{phase=\"automaton\"} 2",
           "maskd_compile_phase_seconds_total{phase=\"first_mask\"} 4",
           "maskd_step_seconds_bucket{le=\"5e-05\"} 1",
           "maskd_step_wait_seconds_bucket{le=\"2e-05\"} 0",
           "maskd_step_wait_seconds_bucket{le=\"5e-05\"} 1",
           "maskd_step_phase_seconds_total{phase=\"read\"} 1",
           "maskd_step_phase_seconds_total{phase=\"apply\"} 2",
           "maskd_step_phase_seconds_total{phase=\"masks\"} 4",
           "maskd_step_phase_seconds_total{phase=\"write\"} 8",
           "maskd_row_errors_total{reason=\"TOKEN_REFUSED\"} 1",
           "maskd_masks_sent_total{form=\"delta\"} 3",
           "maskd_masks_sent_total{form=\"dense\"} 0",
           "maskd_draft_tokens_total{result=\"accepted\"} 5",
           "maskd_draft_tokens_total{result=\"refused\"} 2",
           "maskd_step_bytes_total{direction=\"received\",transport=\"shared_memory\"} 20",
           "maskd_step_bytes_total{direction=\"sent\",transport=\"shared_memory\"} 300",
           "maskd_step_bytes_total{direction=\"sent\",transport=\"grpc\"} 0",
           "maskd_streams_total{transport=\"grpc\"} 1",
           "maskd_streams_total{transport=\"shared_memory\"} 0",
           "maskd_rows_total{state=\"active\"} 8",
           "maskd_rows_total{state=\"refused_token\"} 0",
           "maskd_cache_requests_total{result=\"joined\"} 1",
           "maskd_cache_evictions_total 2",
           "maskd_cache_bytes 1000",
           "maskd_cache_grammars 3",
           "maskd_compile_queue 4",
           "maskd_streams_open 1",
           "maskd_rows_open 5",
           "maskd_refused_total{code=\"NOT_FOUND\",reason=\"GRAMMAR_NOT_FOUND\"} 1",
       }) {
    EXPECT_NE(text.find(std::string(line) + "\n"), std::string::npos) << line << "\nin\n" << text;
  }
}

std::size_t CountSeries(const Metrics& metrics) {
  std::size_t count = 0;
  for (const auto& family : metrics.registry()->Collect()) count += family.metric.size();
  return count;
}

TEST(MetricsTest, EveryCodeAndReasonIsThereFromTheStart) {
  const Metrics metrics("1", {"json_schema"});
  const std::string text = Scrape(metrics);
  for (const char* line : {
           "maskd_compile_seconds_count{kind=\"json_schema\"} 0",
           "maskd_compiles_total{code=\"INTERNAL\",kind=\"json_schema\"} 0",
           "maskd_refused_total{code=\"INTERNAL\",reason=\"other\"} 0",
           "maskd_refused_total{code=\"CANCELLED\",reason=\"CANCELLED\"} 0",
           "maskd_refused_total{code=\"RESOURCE_EXHAUSTED\",reason=\"TENANT_LIMIT\"} 0",
       }) {
    EXPECT_NE(text.find(std::string(line) + "\n"), std::string::npos) << line << "\nin\n" << text;
  }
}

TEST(MetricsTest, NoEventMakesASeries) {
  Metrics metrics("1", {"json_schema"});
  const std::size_t before = CountSeries(metrics);
  metrics.CompileDone("json_schema", "INTERNAL", 1);
  metrics.CompileDone("a caller's text", "OK", 1);
  metrics.CompileDone("json_schema", "DATA_LOSS", 1);
  metrics.RowErred("a caller's text");
  metrics.Refused("INTERNAL", "");
  metrics.Refused("no code", "a caller's text");
  metrics.Refused("NOT_FOUND", "TENANT_LIMIT");
  EXPECT_EQ(CountSeries(metrics), before);
  const std::string text = Scrape(metrics);
  for (const char* line : {
           "maskd_compiles_total{code=\"OK\",kind=\"other\"} 1",
           "maskd_compiles_total{code=\"UNKNOWN\",kind=\"json_schema\"} 1",
           "maskd_row_errors_total{reason=\"other\"} 1",
           "maskd_refused_total{code=\"INTERNAL\",reason=\"other\"} 1",
           "maskd_refused_total{code=\"UNKNOWN\",reason=\"other\"} 1",
           "maskd_refused_total{code=\"NOT_FOUND\",reason=\"other\"} 1",
       }) {
    EXPECT_NE(text.find(std::string(line) + "\n"), std::string::npos) << line << "\nin\n" << text;
  }
}

TEST(MetricsTest, FiguresAreReadWhenTheyAreScraped) {
  Metrics metrics("1");
  double bytes = 1;
  metrics.AddFigures([&] {
    return std::vector<Figure>{
        {.name = kMemoryBytes, .value = bytes, .label = "part", .label_value = "masks"},
        {.name = kMemoryBytes, .value = 3, .label = "part", .label_value = "rows"},
        {.name = kProcessCpuSeconds, .type = Figure::Type::kCounter, .value = 0.5}};
  });
  bytes = 2;
  const std::string text = prometheus::TextSerializer().Serialize(metrics.scraped()->Collect());
  for (const char* part :
       {"# TYPE maskd_memory_bytes gauge\nmaskd_memory_bytes{part=\"masks\"} 2\n"
        "maskd_memory_bytes{part=\"rows\"} 3\n",
        "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 0.5\n",
        "maskd_cache_bytes 0\n"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
  }
}

TEST(MetricsTest, NamesFollowPrometheus) {
  const RE2 name_rule("maskd_[a-z][a-z_]*");
  const Metrics metrics("1");
  for (const auto& family : metrics.registry()->Collect()) {
    EXPECT_TRUE(RE2::FullMatch(family.name, name_rule)) << family.name;
    EXPECT_FALSE(family.help.empty()) << family.name;
    const bool total = family.name.ends_with("_total");
    EXPECT_EQ(total, family.type == prometheus::MetricType::Counter) << family.name;
  }
}

TEST(MetricsTest, BucketsAscend) {
  EXPECT_TRUE(std::is_sorted(kStepBuckets.begin(), kStepBuckets.end()));
  EXPECT_TRUE(std::is_sorted(kCompileBuckets.begin(), kCompileBuckets.end()));
}

}  // namespace
}  // namespace maskd::metrics
