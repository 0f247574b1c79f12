// Every metric, named once: name with its unit, help, label names.
//
// Labels   only from bounded sets: kinds of grammar of the server's own table, canonical codes and
//          reasons (labels.h), row states, cache outcomes. Never an id, a name a caller made up, or
//          a text.
#ifndef MASKD_METRICS_NAMES_H_
#define MASKD_METRICS_NAMES_H_

#include <array>

namespace maskd::metrics {

// Both are literals, which outlive all who use them. The help is one sentence.
struct MetricName {
  const char* name;
  const char* help;
};

inline constexpr MetricName kBuildInfo = {"maskd_build_info", "1; the label says the version."};
inline constexpr MetricName kCompileSeconds = {"maskd_compile_seconds",
                                               "Wall time of compiles, by kind of grammar."};
inline constexpr MetricName kCompilesTotal = {
    "maskd_compiles_total", "Compiles that have ended, by kind of grammar and canonical code."};
inline constexpr MetricName kCompileWaitSeconds = {
    "maskd_compile_wait_seconds", "Time that compiles waited for a thread before they began."};
inline constexpr MetricName kCompilePhaseSeconds = {
    "maskd_compile_phase_seconds_total", "Wall time of compiles that succeeded, by phase."};
inline constexpr MetricName kStepWaitSeconds = {
    "maskd_step_wait_seconds",
    "Time that steps over gRPC waited for their stream's thread, at most."};
inline constexpr MetricName kStepPhaseSeconds = {
    "maskd_step_phase_seconds_total",
    "Wall time of decode steps, waits for compiles left out, by phase."};
inline constexpr MetricName kStepSeconds = {
    "maskd_step_seconds", "Wall time of decode steps in the server, waits for compiles left out."};
inline constexpr MetricName kStepBytes = {
    "maskd_step_bytes_total",
    "Bytes of decode steps and their replies, by transport and direction."};
inline constexpr MetricName kStreamsTotal = {
    "maskd_streams_total", "Decode streams that have sent a step, by transport of their steps."};
inline constexpr MetricName kRowsTotal = {"maskd_rows_total",
                                          "Rows answered in decode steps, by state."};
inline constexpr MetricName kRowErrorsTotal = {"maskd_row_errors_total",
                                               "Rows that were answered with an error, by reason."};
inline constexpr MetricName kMasksSentTotal = {"maskd_masks_sent_total",
                                               "Masks of decode steps by the form that was sent."};
inline constexpr MetricName kDraftTokensTotal = {
    "maskd_draft_tokens_total", "Draft tokens of decode steps, by whether the grammar takes them."};
inline constexpr MetricName kCacheRequestsTotal = {
    "maskd_cache_requests_total",
    "Look-ups in the grammar cache: hit, negative_hit, joined a running compile, miss."};
inline constexpr MetricName kCacheEvictionsTotal = {
    "maskd_cache_evictions_total", "Grammars dropped from the cache to keep its byte budget."};
inline constexpr MetricName kCacheBytes = {"maskd_cache_bytes", "Bytes of the cached grammars."};
inline constexpr MetricName kCacheGrammars = {"maskd_cache_grammars", "Grammars in the cache."};
inline constexpr MetricName kCompileQueue = {"maskd_compile_queue",
                                             "Compiles that wait for a thread."};
inline constexpr MetricName kStreamsOpen = {"maskd_streams_open", "Decode streams open now."};
inline constexpr MetricName kRowsOpen = {"maskd_rows_open", "Rows open now in all streams."};
inline constexpr MetricName kRefusedTotal = {
    "maskd_refused_total",
    "Calls and streams refused with an error, by canonical code and reason."};
// A pool is a set of things of which there may be so many at once.
inline constexpr MetricName kPoolInUse = {"maskd_pool_in_use",
                                          "What is in use of each pool that has a limit."};
inline constexpr MetricName kPoolLimit = {"maskd_pool_limit",
                                          "How much of each pool may be in use at once."};

inline constexpr MetricName kLogLinesDroppedTotal = {
    "maskd_log_lines_dropped_total", "Lines of the log that could not be written in time."};
inline constexpr MetricName kConnectionsOpen = {"maskd_connections_open", "Connections open now."};
inline constexpr MetricName kConnectionsRefusedTotal = {
    "maskd_connections_refused_total", "Connections closed at once, by the limit that was met."};
inline constexpr MetricName kAcceptShortagesTotal = {
    "maskd_accept_shortages_total",
    "Times that a connection waited for want of descriptors or memory."};

// The label says the tenant: a name of the configuration's, the first 64; the others are "other".
inline constexpr MetricName kTenantStreams = {"maskd_tenant_streams_open",
                                              "Decode streams open now, by tenant."};
inline constexpr MetricName kTenantRows = {"maskd_tenant_rows_open", "Rows open now, by tenant."};
inline constexpr MetricName kTenantCacheBytes = {
    "maskd_tenant_cache_bytes", "Bytes of the cached grammars that a tenant had compiled."};
inline constexpr MetricName kTenantCompilesTotal = {"maskd_tenant_compiles_total",
                                                    "Compiles that were begun, by tenant."};
inline constexpr MetricName kTenantRefusedTotal = {
    "maskd_tenant_refused_total", "Streams, rows and compiles over a limit of their tenant."};
inline constexpr MetricName kCallersRefusedTotal = {
    "maskd_callers_refused_total", "Calls of those who showed nothing that lets them in."};

inline constexpr MetricName kMemoryBytes = {
    "maskd_memory_bytes",
    "Bytes of memory by what they are for; they add up to the resident size."};
inline constexpr MetricName kMemoryLimitBytes = {
    "maskd_memory_limit_bytes", "The figure that the resident size is kept within."};
inline constexpr MetricName kMemoryRefusedTotal = {
    "maskd_memory_refused_total", "Compiles and rows refused for want of memory, by mark."};
inline constexpr MetricName kMemoryWaitsTotal = {"maskd_memory_waits_total",
                                                 "Compiles that waited for memory, by mark."};
inline constexpr MetricName kMemoryShrinksTotal = {
    "maskd_memory_shrinks_total", "Times that a part gave memory back above the low mark."};
inline constexpr MetricName kFullestGrammarBytes = {
    "maskd_fullest_grammar_bytes", "Bytes of the largest grammar that is held, with its masks."};
inline constexpr MetricName kGenerationsRenewedTotal = {
    "maskd_generations_renewed_total",
    "Times that a grammar's states and masks were full and it began anew."};

// The label says the tokenizer: a name of the configuration's, the first 64; the others "other".
inline constexpr MetricName kTokenizerBytes = {
    "maskd_tokenizer_bytes", "Bytes of a tokenizer's vocabulary with its indexes."};
inline constexpr MetricName kMaskStoreBytes = {
    "maskd_mask_store_bytes", "Bytes of the masks and keys that a tokenizer's store keeps."};
inline constexpr MetricName kMaskStoreHitsTotal = {
    "maskd_mask_store_hits_total", "Masks of new states that a tokenizer's store had."};
inline constexpr MetricName kMaskStoreMissesTotal = {
    "maskd_mask_store_misses_total", "Masks of new states that a tokenizer's store had not."};
inline constexpr MetricName kSchemaStoreBytes = {
    "maskd_schema_store_bytes", "Bytes of the schemas of tools that a tokenizer's store keeps."};
inline constexpr MetricName kSchemaStoreHitsTotal = {
    "maskd_schema_store_hits_total", "Schemas of tools that a tokenizer's store had."};
inline constexpr MetricName kSchemaStoreMissesTotal = {
    "maskd_schema_store_misses_total", "Schemas of tools that were looked up, and read."};

// Of every process, as Prometheus' conventions name them.
inline constexpr MetricName kProcessResidentBytes = {"process_resident_memory_bytes",
                                                     "Resident memory size in bytes."};
inline constexpr MetricName kProcessVirtualBytes = {"process_virtual_memory_bytes",
                                                    "Virtual memory size in bytes."};
inline constexpr MetricName kProcessCpuSeconds = {
    "process_cpu_seconds_total", "Total user and system CPU time spent in seconds."};
inline constexpr MetricName kProcessOpenFds = {"process_open_fds",
                                               "Number of open file descriptors."};
inline constexpr MetricName kProcessMaxFds = {"process_max_fds",
                                              "Maximum number of open file descriptors."};
inline constexpr MetricName kProcessStartTime = {
    "process_start_time_seconds", "Start time of the process since unix epoch in seconds."};
inline constexpr MetricName kProcessThreads = {"process_threads", "Number of OS threads."};

// Upper bounds of the buckets, in seconds, around the budgets of a step and of a compile.
inline constexpr std::array kStepBuckets = {10e-6, 20e-6, 50e-6, 100e-6, 200e-6, 500e-6,
                                            1e-3,  2e-3,  5e-3,  10e-3,  20e-3,  50e-3};
inline constexpr std::array kCompileBuckets = {100e-6, 200e-6, 500e-6, 1e-3,  2e-3,
                                               5e-3,   10e-3,  20e-3,  50e-3, 100e-3,
                                               200e-3, 500e-3, 1.0,    2.0,   5.0};

}  // namespace maskd::metrics

#endif  // MASKD_METRICS_NAMES_H_
