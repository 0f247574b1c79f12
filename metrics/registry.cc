// All series are made with the registry, one for each value of each label, and kept as arrays by
// enumerator or as maps by text. An event then only adds. Figures that others hold are asked for at
// each scrape and never kept.
//
// Invariant  a label has only values that a table lists; anything else counts as kOther or UNKNOWN.
// Cost       an event: one or two atomic additions, and one look-up where the label is a text.
// Threads    any; nothing but the series' own values changes after the start.
#include "metrics/registry.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "metrics/labels.h"
#include "metrics/names.h"

namespace maskd::metrics {
namespace {

using Labels = prometheus::Labels;
template <typename Metric>
using Family = prometheus::Family<Metric>;

constexpr std::array<const char*, kRowOutcomeCount> kRowOutcomes = {
    "compiling", "active", "finished", "failed", "refused", "refused_token"};
constexpr std::array<const char*, kCacheOutcomeCount> kCacheOutcomes = {"hit", "negative_hit",
                                                                        "joined", "miss"};
constexpr std::array<const char*, kSentFormCount> kSentForms = {
    "full", "same_as", "allowed_ids", "forbidden_ids", "delta", "dense"};
constexpr std::array<const char*, 4> kStepPhases = {"read", "apply", "masks", "write"};
constexpr std::array<const char*, 4> kCompilePhases = {"parse", "reduce", "automaton",
                                                       "first_mask"};
constexpr std::array<const char*, 2> kDraftResults = {"accepted", "refused"};
constexpr std::array<const char*, kTransportCount> kTransports = {"grpc", "shared_memory"};

Family<prometheus::Counter>& Counters(prometheus::Registry& registry, const MetricName& name) {
  return prometheus::BuildCounter().Name(name.name).Help(name.help).Register(registry);
}

prometheus::Gauge& Gauge(prometheus::Registry& registry, const MetricName& name,
                         const Labels& labels = {}) {
  return prometheus::BuildGauge().Name(name.name).Help(name.help).Register(registry).Add(labels);
}

Family<prometheus::Histogram>& Histograms(prometheus::Registry& registry, const MetricName& name) {
  return prometheus::BuildHistogram().Name(name.name).Help(name.help).Register(registry);
}

template <std::size_t kCount>
prometheus::Histogram::BucketBoundaries Buckets(const std::array<double, kCount>& bounds) {
  return {bounds.begin(), bounds.end()};
}

template <std::size_t kCount>
std::array<prometheus::Counter*, kCount> OnePerLabel(
    Family<prometheus::Counter>& family, const char* label,
    const std::array<const char*, kCount>& values) {
  std::array<prometheus::Counter*, kCount> counters;
  for (std::size_t i = 0; i < kCount; ++i) counters[i] = &family.Add({{label, values[i]}});
  return counters;
}

std::array<prometheus::Counter*, kTransportCount> BytesGoing(prometheus::Registry& registry,
                                                             const char* direction) {
  Family<prometheus::Counter>& family = Counters(registry, kStepBytes);
  std::array<prometheus::Counter*, kTransportCount> counters;
  for (std::size_t i = 0; i < counters.size(); ++i)
    counters[i] = &family.Add({{"transport", kTransports[i]}, {"direction", direction}});
  return counters;
}

// Counters by the value of one label, made once and then looked up.
using ByValue = absl::flat_hash_map<std::string, prometheus::Counter*>;

// That of `value`; that of `otherwise`, which is there, where there is none.
prometheus::Counter& Find(const ByValue& counters, absl::string_view value,
                          absl::string_view otherwise) {
  const auto found = counters.find(value);
  return *(found == counters.end() ? counters.find(otherwise) : found)->second;
}

ByValue MakeRowErrors(prometheus::Registry& registry) {
  Family<prometheus::Counter>& family = Counters(registry, kRowErrorsTotal);
  ByValue counters;
  for (const char* reason : kRowReasons) counters[reason] = &family.Add({{"reason", reason}});
  return counters;
}

// What is counted of the compiles of one kind.
struct OfKind {
  prometheus::Histogram* seconds = nullptr;
  ByValue codes;
};
using Kinds = absl::flat_hash_map<std::string, OfKind>;

Kinds MakeKinds(prometheus::Registry& registry, std::vector<std::string> names) {
  names.emplace_back(kOther);
  Family<prometheus::Histogram>& seconds = Histograms(registry, kCompileSeconds);
  Family<prometheus::Counter>& compiles = Counters(registry, kCompilesTotal);
  Kinds kinds;
  for (const std::string& kind : names) {
    OfKind& of = kinds[kind];
    of.seconds = &seconds.Add({{"kind", kind}}, Buckets(kCompileBuckets));
    for (const char* code : kCompileCodes)
      of.codes[code] = &compiles.Add({{"kind", kind}, {"code", code}});
  }
  return kinds;
}

// Of each code those of its reasons.
using Refusals = absl::flat_hash_map<std::string, ByValue>;

Refusals MakeRefusals(prometheus::Registry& registry) {
  Family<prometheus::Counter>& family = Counters(registry, kRefusedTotal);
  Refusals refusals;
  const auto add = [&](const char* code, const char* reason) {
    refusals[code][reason] = &family.Add({{"code", code}, {"reason", reason}});
  };
  for (const char* code : kErrorCodes) add(code, kOther);
  for (const Refusal& refusal : kRefusals) add(refusal.code, refusal.reason);
  return refusals;
}

}  // namespace

struct Metrics::Instruments {
  Instruments(prometheus::Registry& registry, const std::vector<std::string>& kinds)
      : compiles(MakeKinds(registry, kinds)),
        compile_wait(Histograms(registry, kCompileWaitSeconds).Add({}, Buckets(kCompileBuckets))),
        compile_phases(
            OnePerLabel(Counters(registry, kCompilePhaseSeconds), "phase", kCompilePhases)),
        step_wait(Histograms(registry, kStepWaitSeconds).Add({}, Buckets(kStepBuckets))),
        step_phases(OnePerLabel(Counters(registry, kStepPhaseSeconds), "phase", kStepPhases)),
        step_seconds(Histograms(registry, kStepSeconds).Add({}, Buckets(kStepBuckets))),
        bytes_received(BytesGoing(registry, "received")),
        bytes_sent(BytesGoing(registry, "sent")),
        streams(OnePerLabel(Counters(registry, kStreamsTotal), "transport", kTransports)),
        rows(OnePerLabel(Counters(registry, kRowsTotal), "state", kRowOutcomes)),
        row_errors(MakeRowErrors(registry)),
        masks_sent(OnePerLabel(Counters(registry, kMasksSentTotal), "form", kSentForms)),
        drafts(OnePerLabel(Counters(registry, kDraftTokensTotal), "result", kDraftResults)),
        cache_requests(
            OnePerLabel(Counters(registry, kCacheRequestsTotal), "result", kCacheOutcomes)),
        cache_evictions(Counters(registry, kCacheEvictionsTotal).Add({})),
        cache_bytes(Gauge(registry, kCacheBytes)),
        cache_grammars(Gauge(registry, kCacheGrammars)),
        compile_queue(Gauge(registry, kCompileQueue)),
        streams_open(Gauge(registry, kStreamsOpen)),
        rows_open(Gauge(registry, kRowsOpen)),
        refused(MakeRefusals(registry)) {}

  const Kinds compiles;
  prometheus::Histogram& compile_wait;
  std::array<prometheus::Counter*, kCompilePhases.size()> compile_phases;
  prometheus::Histogram& step_wait;
  std::array<prometheus::Counter*, kStepPhases.size()> step_phases;
  prometheus::Histogram& step_seconds;
  std::array<prometheus::Counter*, kTransportCount> bytes_received;
  std::array<prometheus::Counter*, kTransportCount> bytes_sent;
  std::array<prometheus::Counter*, kTransportCount> streams;
  std::array<prometheus::Counter*, kRowOutcomeCount> rows;
  const ByValue row_errors;
  std::array<prometheus::Counter*, kSentFormCount> masks_sent;
  std::array<prometheus::Counter*, kDraftResults.size()> drafts;
  std::array<prometheus::Counter*, kCacheOutcomeCount> cache_requests;
  prometheus::Counter& cache_evictions;
  prometheus::Gauge& cache_bytes;
  prometheus::Gauge& cache_grammars;
  prometheus::Gauge& compile_queue;
  prometheus::Gauge& streams_open;
  prometheus::Gauge& rows_open;
  const Refusals refused;
};

// The registry's metrics and the figures'.
class Metrics::Scraped : public prometheus::Collectable {
 public:
  explicit Scraped(const Metrics* metrics) : metrics_(metrics) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> families = metrics_->registry_->Collect();
    for (const ReadFigures& read : metrics_->figures_)
      for (const Figure& figure : read()) Add(figure, &families);
    return families;
  }

 private:
  static void Add(const Figure& figure, std::vector<prometheus::MetricFamily>* families) {
    const bool is_counter = figure.type == Figure::Type::kCounter;
    if (families->empty() || families->back().name != figure.name.name) {
      families->push_back(
          {figure.name.name,
           figure.name.help,
           is_counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge,
           {}});
    }
    prometheus::ClientMetric& metric = families->back().metric.emplace_back();
    if (*figure.label != '\0') metric.label.push_back({figure.label, figure.label_value});
    (is_counter ? metric.counter.value : metric.gauge.value) = figure.value;
  }

  const Metrics* const metrics_;
};

Metrics::Metrics(absl::string_view version, const std::vector<std::string>& kinds)
    : registry_(std::make_shared<prometheus::Registry>()),
      instruments_(std::make_unique<Instruments>(*registry_, kinds)),
      scraped_(std::make_shared<Scraped>(this)) {
  Gauge(*registry_, kBuildInfo, {{"version", std::string(version)}}).Set(1);
}

Metrics::~Metrics() = default;

void Metrics::AddFigures(ReadFigures read) { figures_.push_back(std::move(read)); }

void Metrics::CompileDone(absl::string_view kind, absl::string_view code, double seconds) {
  const auto known = instruments_->compiles.find(kind);
  const OfKind& of =
      known == instruments_->compiles.end() ? instruments_->compiles.at(kOther) : known->second;
  of.seconds->Observe(seconds);
  Find(of.codes, code, "UNKNOWN").Increment();
}

void Metrics::CompileWaited(double seconds) { instruments_->compile_wait.Observe(seconds); }

void Metrics::TextRead(double seconds) { instruments_->compile_phases[0]->Increment(seconds); }

void Metrics::CompileSpent(const CompilePhases& phases) {
  instruments_->compile_phases[1]->Increment(phases.reduce);
  instruments_->compile_phases[2]->Increment(phases.automaton);
  instruments_->compile_phases[3]->Increment(phases.first_mask);
}

void Metrics::StepWaited(double seconds) { instruments_->step_wait.Observe(seconds); }

void Metrics::StepSpent(const StepPhases& phases) {
  instruments_->step_phases[0]->Increment(phases.read);
  instruments_->step_phases[1]->Increment(phases.apply);
  instruments_->step_phases[2]->Increment(phases.masks);
  instruments_->step_phases[3]->Increment(phases.write);
}

void Metrics::StepDone(double seconds) { instruments_->step_seconds.Observe(seconds); }

void Metrics::StepBytes(Transport transport, std::size_t received, std::size_t sent) {
  const auto i = static_cast<std::size_t>(transport);
  instruments_->bytes_received[i]->Increment(static_cast<double>(received));
  instruments_->bytes_sent[i]->Increment(static_cast<double>(sent));
}

void Metrics::StreamBegan(Transport transport) {
  instruments_->streams[static_cast<std::size_t>(transport)]->Increment();
}

void Metrics::RowsAnswered(RowOutcome outcome, int count) {
  instruments_->rows[static_cast<std::size_t>(outcome)]->Increment(count);
}

void Metrics::RowErred(absl::string_view reason) {
  Find(instruments_->row_errors, reason, kOther).Increment();
}

void Metrics::MasksSent(SentForm form, int count) {
  instruments_->masks_sent[static_cast<std::size_t>(form)]->Increment(count);
}

void Metrics::DraftTokens(int accepted, int refused) {
  instruments_->drafts[0]->Increment(accepted);
  instruments_->drafts[1]->Increment(refused);
}

void Metrics::CacheRequest(CacheOutcome outcome) {
  instruments_->cache_requests[static_cast<std::size_t>(outcome)]->Increment();
}

void Metrics::CacheEvictions(int count) { instruments_->cache_evictions.Increment(count); }

void Metrics::CacheSize(std::int64_t bytes, std::int64_t grammars) {
  instruments_->cache_bytes.Set(static_cast<double>(bytes));
  instruments_->cache_grammars.Set(static_cast<double>(grammars));
}

void Metrics::CompileQueueChanged(int change) { instruments_->compile_queue.Increment(change); }

void Metrics::StreamsOpenChanged(int change) { instruments_->streams_open.Increment(change); }

void Metrics::RowsOpenChanged(int change) { instruments_->rows_open.Increment(change); }

void Metrics::Refused(absl::string_view code, absl::string_view reason) {
  const auto known = instruments_->refused.find(code);
  const ByValue& reasons =
      known == instruments_->refused.end() ? instruments_->refused.at("UNKNOWN") : known->second;
  Find(reasons, reason, kOther).Increment();
}

}  // namespace maskd::metrics
