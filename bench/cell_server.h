// One server of a simulated cell: the real streams' registry, grammar store, tenants and sessions;
// its processor alone is a model.
//
// Model    `cores` do work by its class, the first class first, a millisecond at a time. Steps have
//          at most `stream_threads` of them. What a piece of work takes is said by who brings it.
// Lives    a server that ends loses all that it had; who had a stream there finds another life.
// Threads  one.
#ifndef MASKD_BENCH_CELL_SERVER_H_
#define MASKD_BENCH_CELL_SERVER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/status/statusor.h"

#include "bench/cell_time.h"
#include "service/callers/tenant.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_store.h"
#include "service/streams/stream_registry.h"
#include "service/streams/stream_session.h"

namespace maskd::bench {

// What a cell is, and what things cost in it (bench/results/sizing.json).
struct CellPlan {
  int engines = 1000;
  int rows = 256;
  int servers = 40;
  int cores = 2;
  int stream_threads = 2;
  double steps_per_s = 50;
  int row_tokens = 500;
  double new_states = 0.02;
  int grammars = 2000;
  double new_grammars = 0.001;  // of the rows that open
  std::int64_t max_streams = 64;
  std::int64_t compile_queue = 256;

  double step_us = 0;
  double row_us = 0;
  double taken_again_us = 0;
  double taken_first_us = 0;  // where its grammar is new to the server
  double new_state_us = 0;
  double compile_us = 0;
};

// Grammars of the cell: each is compiled once in earnest, however often servers compile it.
class CellGrammars {
 public:
  explicit CellGrammars(int count);
  // The text of a number; those below `count` are in use from the start.
  static GrammarSource Source(int number);
  // As CompileParsed().
  cache::CompileResult Compile(ParsedSource parsed, const std::string& id,
                               std::shared_ptr<TokenizerSpace> space, const Limits& limits,
                               Budget& budget);
  [[nodiscard]] const service::LoadedTokenizer& tokenizer() const {
    return tokenizers_->all().front();
  }
  // Those in use from the start.
  [[nodiscard]] const std::vector<cache::GrammarPtr>& all() const { return all_; }

 private:
  std::unique_ptr<const service::TokenizerStore> tokenizers_;
  std::unordered_map<std::string, cache::GrammarPtr> compiled_;  // by id
  std::vector<cache::GrammarPtr> all_;
};

enum class Work : std::uint8_t { kStep, kCompile, kReplay };
inline constexpr std::size_t kWorks = 3;

class CellServer {
 public:
  // A stream, for as long as its server's life lasts.
  struct StreamId {
    int life = 0;
    std::uint64_t number = 0;
  };
  using Done = std::function<void(const service::StepResult& result)>;

  // `knows_all`: its grammars are compiled before it serves.
  CellServer(const CellPlan& plan, CellTime* time, CellGrammars* grammars, bool knows_all);

  // Its process, and whether anybody can reach it.
  void Start(bool knows_all);
  void Drain() { life_->registry.Drain(); }
  void Kill();
  void Vanish();
  [[nodiscard]] bool reachable() const { return reachable_; }
  [[nodiscard]] bool lives() const { return life_ != nullptr; }

  // Those of the registry. Errors: UNAVAILABLE.
  [[nodiscard]] absl::StatusOr<service::StreamRegistry::Load> GetLoad(
      std::optional<std::uint64_t> number) const;
  [[nodiscard]] int streams() const { return lives() ? life_->registry.CountPlaced() : 0; }
  // `go_away` is called when it drains. Errors: UNAVAILABLE, RESOURCE_EXHAUSTED.
  absl::StatusOr<StreamId> Open(std::function<void()> go_away);
  void Close(const StreamId& stream);
  [[nodiscard]] bool Has(const StreamId& stream) const;

  // Has the stream's session do the step once `cost` is spent on it; nobody is told if the server
  // or the stream ends before.
  void Step(const StreamId& stream, service::StepRequest request, Work work, double cost_us,
            Done done);
  // The same at once and for nothing.
  void StepNow(const StreamId& stream, service::StepRequest request, const Done& done);
  void Spend(Work work, double cost_us, std::function<void()> done);

  // One call of Compile, as a tenant.
  absl::StatusOr<cache::Ticket> Compile(int grammar, service::Tenant* tenant);
  // The first time since the start that a row here has this grammar: its masks are to be made.
  bool Learns(int grammar) { return lives() && life_->learned.insert(grammar).second; }

  // What compiles beyond their usual cost, by their texts.
  void SetHeavy(int first_grammar, double cost_us) { heavy_ = {first_grammar, cost_us}; }
  // Of its processor since the last call.
  double TakeBusyShare();
  [[nodiscard]] service::Tenant& engines() const { return *life_->engines; }

 private:
  struct Stream {
    service::StreamRegistry::Registration place;
    std::unique_ptr<service::StreamSession> session;
    std::uint64_t step = 0;
  };
  struct Life {
    Life(const CellPlan& plan, CellTime* time, service::StoreMachinery machinery);
    service::StreamRegistry registry;
    service::GrammarStore store;
    service::TenantPtr engines;
    std::unordered_set<int> learned;
    std::map<std::uint64_t, Stream> streams;
  };
  struct Piece {
    double cost_us;
    std::function<void()> done;
  };

  void BeginCompiles();
  void BeginWork();
  [[nodiscard]] std::optional<Work> NextWork() const;

  const CellPlan& plan_;
  CellTime* const time_;
  CellGrammars* const grammars_;
  bool reachable_ = true;
  int lives_ = 0;
  std::unique_ptr<Life> life_;
  std::vector<std::unique_ptr<Life>> past_lives_;

  std::array<std::deque<Piece>, kWorks> waiting_;
  std::array<int, kWorks> running_ = {};
  int compiling_ = 0;
  double busy_us_ = 0;
  Seconds busy_since_{0};
  struct Heavy {
    int first_grammar = 0;
    double cost_us = 0;
  };
  std::optional<Heavy> heavy_;
  double owed_us_ = 0;  // by the compile that has just run
};

}  // namespace maskd::bench

#endif  // MASKD_BENCH_CELL_SERVER_H_
