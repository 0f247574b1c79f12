// Compiles as the operations of a server's cases ask for them, and what they look at: metrics,
// memory, the log, processor time. What cannot be seen from here is told as absent, not as passed.
//
// Invariant  figures are compared with those that were read when the case began.
// Bounds     kAllWindow or kWindow compiles at once; kPatience for a figure to settle.
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

#include "client/cpp/base/errors.h"
#include "tools/attack/servers/server_cases.h"
#include "tools/attack/targets/metrics_page.h"
#include "tools/attack/targets/unary_calls.h"

namespace maskd::attack {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Those that are to wait in vain are there all at once; of others fewer, since a server that is
// asked more at once may refuse some for that alone.
constexpr std::size_t kAllWindow = 500;
constexpr std::size_t kWindow = 64;
constexpr std::chrono::milliseconds kLook{100};
constexpr std::chrono::seconds kPatience{5};
constexpr int kTries = 5;
// Processor time within kLook of a server that compiles nothing: streams and metrics.
constexpr double kIdleSeconds = 0.04;

absl::Duration Milliseconds(const nlohmann::json& step, const char* name,
                            absl::Duration otherwise) {
  return step.contains(name) ? absl::Milliseconds(step[name].get<std::int64_t>()) : otherwise;
}

// Whether the line is one of the server's own: it begins with a time, or is an object.
bool IsLogLine(const std::string& line) {
  return line.empty() || line.front() == '{' || absl::ascii_isdigit(line.front());
}

Outcome NotSeen(absl::string_view flag) {
  return Outcome::Absent(absl::StrCat("a look at the server (", flag, ")"));
}

}  // namespace

absl::StatusOr<v1::CompileRequest> ServerCases::RequestOf(const Json& step) {
  absl::StatusOr<v1::Grammar> grammar = GrammarOf(step);
  if (!grammar.ok()) return grammar.status();
  v1::CompileRequest request;
  request.set_tokenizer(tokenizer_);
  *request.mutable_grammar() = *std::move(grammar);
  return request;
}

Outcome ServerCases::CompileOne(const Json& step) {
  const absl::StatusOr<v1::CompileRequest> request = RequestOf(step);
  if (!request.ok()) return request.status();
  RawCall call;
  call.deadline = Milliseconds(step, "deadline_ms", kCallPatience);
  call.cancel_after = Milliseconds(step, "cancel_after_ms", absl::ZeroDuration());
  v1::CompileResponse response;
  Outcome outcome = Compile(server_.address, *request, call, &response);
  for (int i = 0; i < kTries && client::ErrorRetryAfter(outcome.status).has_value(); ++i) {
    absl::SleepFor(*client::ErrorRetryAfter(outcome.status));  // too busy, with the case before
    outcome = Compile(server_.address, *request, call, &response);
  }
  outcome.any_answer = call.cancel_after > absl::ZeroDuration();
  const std::string before = std::exchange(last_id_, response.grammar_id());
  if (step.contains("token") && outcome.status.ok())
    return Outcome::Absent("credentials: this server asks for none");
  if (step.value("want", Json()) == "OTHER_KEY" && before == last_id_)
    return Outcome::Fault("the same key");
  return outcome;
}

Outcome ServerCases::CompileManyOf(const Json& step) {
  const std::string schema = step.at("schema");
  if (absl::StatusOr<v1::CompileRequest> first = RequestOf(step); !first.ok())
    return first.status();
  const std::string want = step.value("want", "");
  const bool cancel_first = step.value("cancel_first", false);
  const std::vector<absl::Status> all =
      CompileMany(server_.address, {.count = step.at("n"),
                                    .window = schema == "@slow_unique" ? kAllWindow : kWindow,
                                    .deadline = Milliseconds(step, "deadline_ms", kCallPatience),
                                    .cancel_first = cancel_first,
                                    .request = [&] { return *RequestOf(step); }});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const absl::Status& each = all[i];
    if (absl::IsInternal(each) || absl::IsUnknown(each)) return each;
    if (want == "OK_FOR_OTHERS" && i > 0 && !each.ok()) return each;
    if (want != "SAME_ERROR") continue;
    const bool is_same = each.code() == all[0].code() && each.message() == all[0].message();
    if (each.ok() || !is_same)
      return Outcome::Fault(absl::StrCat(each.ToString(), " beside ", all[0].ToString()));
  }
  return {};
}

Outcome ServerCases::Health(const Json& step) {
  return CheckHealth(server_.address, "", Within(step));
}

absl::Duration ServerCases::Within(const Json& step) const {
  if (times_ == Times::kWaited) return kCallPatience;
  return Milliseconds(step, "within_ms", absl::Seconds(1));
}

absl::StatusOr<double> ServerCases::Figure(const char* metric, const char* label) const {
  const absl::StatusOr<MetricsPage> page = MetricsPage::Read(server_.metrics);
  if (!page.ok()) return page.status();
  return page->Sum(metric, label);
}

absl::StatusOr<double> ServerCases::Begun() const {
  return Figure("maskd_cache_requests_total", R"(result="miss")");
}

// A busy server still begins what callers of the case before have given up.
double ServerCases::BegunWhenQuiet() const {
  double begun = Begun().value_or(0);
  for (const auto end = SteadyClock::now() + kPatience; SteadyClock::now() < end;) {
    std::this_thread::sleep_for(kLook);
    const double now = Begun().value_or(begun);
    if (now == begun) break;
    begun = now;
  }
  return begun;
}

Outcome ServerCases::Metric(const Json& step) {
  if (step.at("name") != "compiles_started") return Outcome::Unknown();
  if (server_.metrics.empty()) return NotSeen("--metrics");
  const absl::StatusOr<double> now = Begun();
  if (!now.ok()) return now.status();
  const auto begun = static_cast<std::int64_t>(*now - begun_before_);
  const bool is_bound = step.contains("want_max");
  const auto bound = step.at(is_bound ? "want_max" : "want").get<std::int64_t>();
  if (begun <= bound && (is_bound || begun == bound)) return {};
  return Outcome::Fault(absl::StrCat(begun, " compiles were begun, not ", bound));
}

Outcome ServerCases::Sessions(const Json& step) {
  if (server_.metrics.empty()) return NotSeen("--metrics");
  const auto want = step.at("want").get<double>();
  double open = 0;
  for (const auto end = SteadyClock::now() + kPatience; SteadyClock::now() < end;) {
    const absl::StatusOr<double> rows = Figure("maskd_rows_open");
    if (!rows.ok()) return rows.status();
    open = *rows - rows_before_;
    if (open <= want) return {};  // those of the case before may still have been there
    std::this_thread::sleep_for(kLook);
  }
  return Outcome::Fault(absl::StrCat(open, " rows are open"));
}

Outcome ServerCases::MemoryBelow(const Json& step) {
  double bytes = 0;
  if (server_.process.has_value())
    bytes = static_cast<double>(server_.process->Resident());
  else if (!server_.metrics.empty())
    bytes = Figure("process_resident_memory_bytes").value_or(0);
  else
    return NotSeen("--metrics");
  const auto mib = static_cast<std::int64_t>(bytes) >> 20;
  if (mib < step.at("mib").get<std::int64_t>()) return {};
  return Outcome::Fault(absl::StrCat("the server holds ", mib, " MiB"));
}

Outcome ServerCases::MetricsBytesBelow(const Json& step) {
  if (server_.metrics.empty()) return NotSeen("--metrics");
  const absl::StatusOr<MetricsPage> page = MetricsPage::Read(server_.metrics);
  if (!page.ok()) return page.status();
  if (page->bytes() < step.at("bytes").get<std::size_t>()) return {};
  return Outcome::Fault(absl::StrCat("the page of metrics has ", page->bytes(), " bytes"));
}

Outcome ServerCases::Logs(const Json& /*step*/) {
  if (server_.log_path.empty()) return NotSeen("--log");
  std::ifstream file(server_.log_path, std::ios::binary);
  file.seekg(log_before_);
  for (std::string line; std::getline(file, line);)
    if (!IsLogLine(line)) return Outcome::Fault(absl::StrCat("forged: ", line));
  return {};
}

Outcome ServerCases::CompileWorkersBusy(const Json& step) {
  if (!server_.process.has_value()) return NotSeen("a Unix socket");
  const auto end = SteadyClock::now() + absl::ToChronoMilliseconds(Within(step));
  double busy = 0;
  do {
    const double before = server_.process->CpuSeconds();
    std::this_thread::sleep_for(kLook);
    busy = server_.process->CpuSeconds() - before;
    if (busy <= kIdleSeconds) return {};
  } while (SteadyClock::now() < end);
  return Outcome::Fault(absl::StrCat("the server is busy: ", busy, " s of ", 0.1));
}

}  // namespace maskd::attack
