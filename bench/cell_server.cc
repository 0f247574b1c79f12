#include "bench/cell_server.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/compile/compiler.h"

namespace maskd::bench {
namespace {

// How long a piece of work has a core before others have their turn.
constexpr double kTurnUs = 1000;

service::Config ConfigOf(const CellPlan& plan) {
  service::Config config;
  config.max_streams = plan.max_streams;
  config.compile_queue = plan.compile_queue;
  config.memory_bytes = 0;
  config.warm_up_ms = 0;
  config.look_ahead_masks = 0;
  return config;
}

// The number in a source of CellGrammars.
int NumberOf(const std::string& source) {
  int number = 0;
  (void)absl::SimpleAtoi(absl::StripPrefix(source, "[a-z]*"), &number);
  return number;
}

}  // namespace

CellGrammars::CellGrammars(int count) : tokenizers_(*service::TokenizerStore::Load({}, 64 << 20)) {
  for (int i = 0; i < count; ++i) {
    Budget budget = Budget::Unlimited();
    auto grammar = CompileGrammar(Source(i), tokenizer().space(), {}, budget);
    all_.push_back(*grammar);
    compiled_[(*grammar)->id()] = *grammar;
  }
}

GrammarSource CellGrammars::Source(int number) {
  return {"regex", absl::StrCat("[a-z]*", number), {}};
}

cache::CompileResult CellGrammars::Compile(ParsedSource parsed, const std::string& id,
                                           std::shared_ptr<TokenizerSpace> space,
                                           const Limits& limits, Budget& budget) {
  if (absl::Status cancelled = budget.Spend(); !cancelled.ok()) return cancelled;
  if (const auto found = compiled_.find(id); found != compiled_.end()) return found->second;
  cache::CompileResult made =
      CompileParsed(std::move(parsed), id, std::move(space), limits, budget);
  if (made.ok()) compiled_[id] = *made;
  return made;
}

CellServer::Life::Life(const CellPlan& plan, CellTime* time, service::StoreMachinery machinery)
    : registry({.in_all = static_cast<int>(plan.max_streams),
                .of_a_peer = static_cast<int>(plan.max_streams)},
               time),
      store(ConfigOf(plan), nullptr, std::move(machinery)),
      engines(std::make_shared<service::Tenant>("engines", time)) {}

CellServer::CellServer(const CellPlan& plan, CellTime* time, CellGrammars* grammars, bool knows_all)
    : plan_(plan), time_(time), grammars_(grammars) {
  Start(knows_all);
}

void CellServer::Start(bool knows_all) {
  ++lives_;
  life_ = std::make_unique<Life>(
      plan_, time_,
      service::StoreMachinery{
          service::StoreMachinery::Compiles::kWhenTaken, time_,
          [this](ParsedSource parsed, const std::string& id, std::shared_ptr<TokenizerSpace> space,
                 const Limits& limits, Budget& budget) {
            const int number = NumberOf(parsed.source.text);
            if (heavy_.has_value() && number >= heavy_->first_grammar)
              owed_us_ = heavy_->cost_us - plan_.compile_us;
            return grammars_->Compile(std::move(parsed), id, std::move(space), limits, budget);
          }});
  if (!knows_all) return;
  life_->store.Pin(grammars_->all());
  for (int i = 0; i < plan_.grammars; ++i) life_->learned.insert(i);
}

void CellServer::Kill() {
  for (auto& pieces : waiting_) pieces.clear();
  life_->streams.clear();
  past_lives_.push_back(std::move(life_));  // compiles that ran then may still be told to end
  running_ = {};
  compiling_ = 0;
}

void CellServer::Vanish() {
  Kill();
  reachable_ = false;
}

absl::StatusOr<service::StreamRegistry::Load> CellServer::GetLoad(
    std::optional<std::uint64_t> number) const {
  if (!lives()) return absl::UnavailableError("no server");
  return life_->registry.GetLoad(number);
}

absl::StatusOr<CellServer::StreamId> CellServer::Open(std::function<void()> go_away) {
  if (!lives()) return absl::UnavailableError("no server");
  auto place = life_->registry.Add("engines", [go_away = std::move(go_away)](auto notice) {
    if (notice == service::StreamRegistry::Notice::kGoAway) go_away();
  });
  if (!place.ok()) return place.status();
  if (absl::Status taken = place->TakePlace(); !taken.ok()) return taken;
  const std::uint64_t number = place->number();
  life_->streams.emplace(
      number,
      Stream{*std::move(place), std::make_unique<service::StreamSession>(
                                    &grammars_->tokenizer(), &life_->store, service::StreamLimits(),
                                    service::FormTerms(), nullptr,
                                    service::Caller{"engines", life_->engines, false, {}})});
  return StreamId{lives_, number};
}

bool CellServer::Has(const StreamId& stream) const {
  return lives() && stream.life == lives_ && life_->streams.contains(stream.number);
}

void CellServer::Close(const StreamId& stream) {
  if (Has(stream)) life_->streams.erase(stream.number);
}

void CellServer::Step(const StreamId& stream, service::StepRequest request, Work work,
                      double cost_us, Done done) {
  Spend(work, cost_us,
        [this, stream, request = std::move(request), done = std::move(done)]() mutable {
          StepNow(stream, std::move(request), done);
        });
}

void CellServer::StepNow(const StreamId& stream, service::StepRequest request, const Done& done) {
  if (!Has(stream)) return;
  Stream& to = life_->streams.at(stream.number);
  request.step = ++to.step;
  const auto result = to.session->Step(request, [] { return false; });
  BeginCompiles();
  if (result.ok()) done(**result);
}

absl::StatusOr<cache::Ticket> CellServer::Compile(int grammar, service::Tenant* tenant) {
  service::GrammarTarget target;
  target.source = CellGrammars::Source(grammar);
  service::Caller caller;
  if (tenant != nullptr) caller.tenant = tenant->shared_from_this();
  auto request = life_->store.Get(target, grammars_->tokenizer(), caller);
  BeginCompiles();
  if (!request.ok()) return request.status();
  return std::move(request->ticket);
}

// As many at once as there are cores, as --compile_threads is by default.
void CellServer::BeginCompiles() {
  while (compiling_ < plan_.cores) {
    std::function<void()> compile = life_->store.TakeCompile();
    if (compile == nullptr) return;
    ++compiling_;
    Spend(Work::kCompile, plan_.compile_us, [this, compile = std::move(compile)] {
      owed_us_ = 0;
      compile();
      Spend(Work::kCompile, owed_us_, [this] {
        --compiling_;
        BeginCompiles();
      });
    });
  }
}

void CellServer::Spend(Work work, double cost_us, std::function<void()> done) {
  waiting_[static_cast<std::size_t>(work)].push_back({cost_us, std::move(done)});
  BeginWork();
}

std::optional<Work> CellServer::NextWork() const {
  int busy = 0;
  for (const int count : running_) busy += count;
  if (busy >= plan_.cores) return std::nullopt;
  for (std::size_t i = 0; i < kWorks; ++i) {
    const bool may_begin =
        i != static_cast<std::size_t>(Work::kStep) || running_[i] < plan_.stream_threads;
    if (may_begin && !waiting_[i].empty()) return static_cast<Work>(i);
  }
  return std::nullopt;
}

void CellServer::BeginWork() {
  while (const std::optional<Work> next = NextWork()) {
    const auto i = static_cast<std::size_t>(*next);
    auto piece = std::make_shared<Piece>(std::move(waiting_[i].front()));
    waiting_[i].pop_front();
    const double turn_us = std::min(piece->cost_us, kTurnUs);
    piece->cost_us -= turn_us;
    busy_us_ += turn_us;
    ++running_[i];
    time_->After(Micros(turn_us), [this, i, piece, life = lives_, lived = life_.get()] {
      if (life != lives_ || life_.get() != lived) return;
      --running_[i];
      if (piece->cost_us > 0)
        waiting_[i].push_back(std::move(*piece));
      else
        piece->done();
      BeginWork();
    });
  }
}

double CellServer::TakeBusyShare() {
  const Seconds passed = time_->now() - std::exchange(busy_since_, time_->now());
  const double all_us = passed.count() * 1e6 * plan_.cores;
  return std::exchange(busy_us_, 0) / std::max(all_us, 1.0);
}

}  // namespace maskd::bench
