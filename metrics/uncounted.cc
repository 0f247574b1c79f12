// The counters of a library that nobody scrapes: libmaskd has this in place of registry.cc, and so
// no Prometheus. What it holds of the service is given no Metrics; the functions are there for the
// linker.

#include "metrics/registry.h"

namespace maskd::metrics {

struct Metrics::Instruments {};

Metrics::Metrics(absl::string_view /*version*/, const std::vector<std::string>& /*kinds*/) {}
Metrics::~Metrics() = default;

void Metrics::CompileDone(absl::string_view /*kind*/, absl::string_view /*code*/,
                          double /*seconds*/) {}
void Metrics::CompileWaited(double /*seconds*/) {}
void Metrics::TextRead(double /*seconds*/) {}
void Metrics::CompileSpent(const CompilePhases& /*phases*/) {}
void Metrics::StepWaited(double /*seconds*/) {}
void Metrics::StepSpent(const StepPhases& /*phases*/) {}
void Metrics::StepDone(double /*seconds*/) {}
void Metrics::StepBytes(Transport /*transport*/, std::size_t /*received*/, std::size_t /*sent*/) {}
void Metrics::StreamBegan(Transport /*transport*/) {}
void Metrics::RowsAnswered(RowOutcome /*outcome*/, int /*count*/) {}
void Metrics::RowErred(absl::string_view /*reason*/) {}
void Metrics::MasksSent(SentForm /*form*/, int /*count*/) {}
void Metrics::DraftTokens(int /*accepted*/, int /*refused*/) {}
void Metrics::CacheRequest(CacheOutcome /*outcome*/) {}
void Metrics::CacheEvictions(int /*count*/) {}
void Metrics::CacheSize(std::int64_t /*bytes*/, std::int64_t /*grammars*/) {}
void Metrics::CompileQueueChanged(int /*change*/) {}
void Metrics::StreamsOpenChanged(int /*change*/) {}
void Metrics::RowsOpenChanged(int /*change*/) {}
void Metrics::Refused(absl::string_view /*code*/, absl::string_view /*reason*/) {}
void Metrics::AddFigures(ReadFigures /*read*/) {}

}  // namespace maskd::metrics
