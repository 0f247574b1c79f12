// A cell of a thousand engines and forty servers, in simulated time: what do engines see when
// something happens to it?
//
//   cell_simulation --sizing bench/results/sizing.json [--scenario usual,zone_lost,...]
//
// Registries, grammar stores with their queues and caches, tenants and sessions are the server's
// own code, and where streams go is the client's (cell_server.h, cell_engine.h). Processors and the
// network are models: what a step costs is what bench/sizing.py measured. Each scenario begins with
// a cell that has run for five seconds. Prints a table of docs/scale.md.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

#include "bench/cell_engine.h"
#include "bench/cell_server.h"
#include "bench/cell_time.h"
#include "bench/samples.h"
#include "service/base/log.h"

ABSL_FLAG(std::string, sizing, "bench/results/sizing.json", "What things cost.");
ABSL_FLAG(std::vector<std::string>, scenario, {}, "Those alone; all.");
ABSL_FLAG(int, engines, 1000, "Engines, each with one stream.");
ABSL_FLAG(int, rows, 256, "Rows of an engine.");
ABSL_FLAG(int, servers, 40, "Servers, in three zones.");
ABSL_FLAG(int, cores, 2, "Of one server.");
ABSL_FLAG(int, stream_threads, 2, "Of one server.");
ABSL_FLAG(int, max_streams, 64, "Of one server.");
ABSL_FLAG(int, compile_queue, 256, "Of one server.");
ABSL_FLAG(double, steps_per_s, 50, "Of an engine.");
ABSL_FLAG(int, grammars, 2000, "In use in the whole cell.");
ABSL_FLAG(int, seed, 1, "Of all chance.");

namespace maskd::bench {
namespace {

constexpr Seconds kSettled{5};
constexpr Seconds kWatched{15};
constexpr Seconds kRestart{1};
constexpr Seconds kDrain{5};
constexpr int kZones = 3;
// A mad tenant's grammars take so long, and so many of his calls are open at each server.
constexpr int kFirstMad = 100'000'000;
constexpr double kMadCompileUs = 50'000;
constexpr std::size_t kMadCalls = 300;

CellPlan PlanOfFlags() {
  CellPlan plan;
  plan.engines = absl::GetFlag(FLAGS_engines);
  plan.rows = absl::GetFlag(FLAGS_rows);
  plan.servers = absl::GetFlag(FLAGS_servers);
  plan.cores = absl::GetFlag(FLAGS_cores);
  plan.stream_threads = absl::GetFlag(FLAGS_stream_threads);
  plan.max_streams = absl::GetFlag(FLAGS_max_streams);
  plan.compile_queue = absl::GetFlag(FLAGS_compile_queue);
  plan.steps_per_s = absl::GetFlag(FLAGS_steps_per_s);
  plan.grammars = absl::GetFlag(FLAGS_grammars);
  std::ifstream file(absl::GetFlag(FLAGS_sizing));
  const nlohmann::json sizing = nlohmann::json::parse(file);
  const auto cost = [&sizing](absl::string_view what) {
    for (const nlohmann::json& row : sizing["rows"])
      if (row[0].get<std::string>() == what) return row[1].get<double>();
    std::fprintf(stderr, "%s: is not measured\n", std::string(what).c_str());
    std::exit(2);
  };
  plan.step_us = cost("step by gRPC, whatever it has, us");
  plan.row_us = cost("row of a step by gRPC, us");
  plan.taken_again_us = cost("token taken again, us");
  plan.taken_first_us = cost("token taken again, first on its server, us");
  plan.new_state_us = cost("token in new states, us");
  plan.compile_us = 1000 * cost("compile, ms");
  return plan;
}

// Who compiles what nobody has, as fast as he can, at every server.
class MadTenant {
 public:
  MadTenant(CellTime* time, std::deque<CellServer>* servers, service::TenantLimits limits)
      : time_(time), servers_(servers), tickets_(servers->size()) {
    for (CellServer& server : *servers) {
      tenants_.push_back(std::make_shared<service::Tenant>("mad", time));
      tenants_.back()->SetLimits(limits);
      server.SetHeavy(kFirstMad, kMadCompileUs);
    }
    Ask();
  }

 private:
  void Ask() {
    for (std::size_t i = 0; i < servers_->size(); ++i) {
      std::erase_if(tickets_[i], [](const cache::Ticket& ticket) { return ticket.ready(); });
      while (tickets_[i].size() < kMadCalls) {
        auto ticket = (*servers_)[i].Compile(next_++, tenants_[i].get());
        if (!ticket.ok()) break;
        tickets_[i].push_back(*std::move(ticket));
      }
    }
    time_->After(Micros(5'000), [this] { Ask(); });
  }

  CellTime* const time_;
  std::deque<CellServer>* const servers_;
  std::vector<service::TenantPtr> tenants_;
  std::vector<std::vector<cache::Ticket>> tickets_;  // by server
  int next_ = kFirstMad;
};

// A cell that has run for kSettled.
class Cell {
 public:
  Cell(const CellPlan& plan, CellGrammars* grammars)
      : plan_(plan), time_(static_cast<std::uint64_t>(absl::GetFlag(FLAGS_seed))) {
    for (int i = 0; i < plan.servers; ++i) servers_.emplace_back(plan_, &time_, grammars, true);
    for (int i = 0; i < plan.engines; ++i) {
      engines_.push_back(std::make_unique<CellEngine>(i, plan_, &time_, &servers_, &figures_));
      time_.After(Seconds(time_.Uniform(0, 1)),
                  [engine = engines_.back().get()] { engine->Start(); });
    }
    time_.RunUntil(kSettled);
    Forget();
  }

  void Forget() {
    figures_ = {};
    for (const auto& engine : engines_) engine->TakeSilence();
    for (CellServer& server : servers_) server.TakeBusyShare();
    happened_ = uneven_ = time_.now();
    busiest_ = 0;
  }
  // Looks at the streams and the processors meanwhile.
  void RunFor(Seconds time) {
    constexpr Seconds kLook{0.1};
    const Seconds end = time_.now() + time;
    while (time_.now() < end) {
      time_.RunUntil(time_.now() + kLook);
      if (!IsEven()) uneven_ = time_.now();
    }
    for (CellServer& server : servers_)
      if (server.lives()) busiest_ = std::max(busiest_, server.TakeBusyShare());
  }

  void LoseZone() {
    happened_ = time_.now();
    for (int i = 0; i < plan_.servers; i += kZones) Server(i).Vanish();
  }
  // All end at once, and are back a moment later.
  void RestartAll(bool knows_all) {
    for (int i = 0; i < plan_.servers; ++i) Kill(i);
    RunFor(kRestart);
    for (int i = 0; i < plan_.servers; ++i) Server(i).Start(knows_all);
    happened_ = time_.now();
  }
  // One after the other drains, ends when its streams have left, and is back a moment later.
  void Roll(bool knows_all) {
    for (int i = 0; i < plan_.servers; ++i) {
      Server(i).Drain();
      for (Seconds waited{0}; waited < kDrain && Server(i).streams() > 0; waited += Seconds(0.1))
        RunFor(Seconds(0.1));
      Kill(i);
      RunFor(kRestart);
      Server(i).Start(knows_all);
      happened_ = time_.now();
    }
  }
  void GoMad(service::TenantLimits limits) {
    mad_ = std::make_unique<MadTenant>(&time_, &servers_, std::move(limits));
  }

  // A row of the table.
  [[nodiscard]] std::string Row() {
    std::vector<double> silences;
    for (const auto& engine : engines_) silences.push_back(engine->TakeSilence().count());
    const auto of = [](const std::vector<double>& samples, double percent) {
      return samples.empty() ? "none" : absl::StrFormat("%.1f", Percentile(samples, percent));
    };
    return absl::StrCat(
        absl::StrFormat("%.2f, %.2f", Percentile(silences, 50), Percentile(silences, 100)), " | ",
        figures_.lost_streams, " | ", of(figures_.step_ms, 50), ", ", of(figures_.step_ms, 99),
        " | ", of(figures_.compile_ms, 99), " | ", figures_.refused_rows, " | ",
        absl::StrFormat("%.1f", std::max(0.0, (uneven_ - happened_).count())), " | ",
        figures_.turned_away, " | ", absl::StrFormat("%.0f", 100 * std::min(1.0, busiest_)), " |");
  }
  [[nodiscard]] std::int64_t wrong() const { return figures_.wrong; }
  [[nodiscard]] std::size_t steps() const { return figures_.step_ms.size(); }

 private:
  CellServer& Server(int i) { return servers_[static_cast<std::size_t>(i)]; }
  void Kill(int i) {
    Server(i).Kill();
    for (const auto& engine : engines_) engine->ServerEnded(i);
  }
  // Whether each server that serves is within a fifth of the mean.
  [[nodiscard]] bool IsEven() const {
    std::vector<double> streams;
    for (const CellServer& server : servers_)
      if (server.lives() && server.reachable()) streams.push_back(server.streams());
    const double mean = static_cast<double>(plan_.engines) / static_cast<double>(streams.size());
    return std::ranges::all_of(streams,
                               [mean](double each) { return std::abs(each - mean) <= 0.2 * mean; });
  }

  const CellPlan plan_;
  CellTime time_;
  CellFigures figures_;
  std::deque<CellServer> servers_;
  std::vector<std::unique_ptr<CellEngine>> engines_;
  std::unique_ptr<MadTenant> mad_;
  Seconds happened_{0};  // the last thing that did
  Seconds uneven_{0};
  double busiest_ = 0;
};

struct Scenario {
  const char* name;
  const char* says;
  std::function<void(Cell& cell)> happen;
};

const std::vector<Scenario>& Scenarios() {
  static const auto* const kAll = new std::vector<Scenario>{
      {"usual", "nothing", [](Cell& cell) { cell.RunFor(kWatched); }},
      {"zone_lost", "a zone is lost, and says nothing",
       [](Cell& cell) {
         cell.LoseZone();
         cell.RunFor(kWatched);
       }},
      {"rolling", "a rolling upgrade, each server 1 s away, grammars known when it serves",
       [](Cell& cell) {
         cell.Roll(true);
         cell.RunFor(kWatched);
       }},
      {"rolling_cold", "the same, nothing known",
       [](Cell& cell) {
         cell.Roll(false);
         cell.RunFor(kWatched);
       }},
      {"reopen", "all servers end at once and are back 1 s later, grammars known",
       [](Cell& cell) {
         cell.RestartAll(true);
         cell.RunFor(kWatched);
       }},
      {"reopen_cold", "the same, nothing known",
       [](Cell& cell) {
         cell.RestartAll(false);
         cell.RunFor(kWatched);
       }},
      {"mad", "a tenant compiles without end, without limits",
       [](Cell& cell) {
         cell.GoMad({});
         cell.RunFor(kWatched);
       }},
      {"mad_limited", "the same with `compiles_at_once` 4 and `compiles_per_minute` 60",
       [](Cell& cell) {
         service::TenantLimits limits;
         limits.compiles_at_once = 4;
         limits.compiles_per_minute = 60;
         cell.GoMad(limits);
         cell.RunFor(kWatched);
       }}};
  return *kAll;
}

int Main() {
  service::SilenceLog();
  const CellPlan plan = PlanOfFlags();
  CellGrammars grammars(plan.grammars);
  const std::vector<std::string> wanted = absl::GetFlag(FLAGS_scenario);
  std::puts(
      "| what happens | longest silence of an engine: half, all, s | streams lost | step p50, p99, "
      "ms | new grammar p99, ms | rows refused | streams uneven for, s | openings turned away | "
      "busiest server, % |");
  std::puts("| --- | --: | --: | --: | --: | --: | --: | --: | --: |");
  std::int64_t wrong = 0;
  for (const Scenario& scenario : Scenarios()) {
    if (!wanted.empty() && std::ranges::find(wanted, scenario.name) == wanted.end()) continue;
    Cell cell(plan, &grammars);
    scenario.happen(cell);
    wrong += cell.wrong();
    std::printf("| %s | %s\n", scenario.says, cell.Row().c_str());
    std::fflush(stdout);
    std::fprintf(stderr, "%s: %zu steps, %lld wrong\n", scenario.name, cell.steps(),
                 static_cast<long long>(cell.wrong()));
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace maskd::bench

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("What engines of a cell see when something happens to it.");
  absl::ParseCommandLine(argc, argv);
  return maskd::bench::Main();
}
