// One engine of a simulated cell: a batch of rows over one stream, which goes from server to server
// as client/cpp's FailoverStream does.
//
// Real     where it goes and when it looks (client/cpp/failover/balance.h), the waits between two
//          rounds (RetryPolicy), and all that servers answer (cell_server.h).
// Model    the order of FailoverStream's calls, and the network: an answer takes kTrip, who is not
//          there refuses as soon, and who has vanished says nothing.
// Rows     all are open on the server, each with a few tokens; the plan says how many they stand
//          for. Each step moves one of them in turn, and is charged for all.
// Threads  one.
#ifndef MASKD_BENCH_CELL_ENGINE_H_
#define MASKD_BENCH_CELL_ENGINE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "bench/cell_server.h"
#include "bench/cell_time.h"
#include "client/cpp/base/retry.h"
#include "client/cpp/failover/balance.h"

namespace maskd::bench {

// What a cell's engines have seen since it was last emptied.
struct CellFigures {
  std::vector<double> step_ms;     // from a step to its answer, moves in between included
  std::vector<double> compile_ms;  // from a row with a new grammar to its first mask
  std::int64_t refused_rows = 0;   // of those: refused for want of room, and opened again
  std::int64_t lost_streams = 0;   // no server was found in time
  std::int64_t turned_away = 0;    // by a server that had no place, or not for all rows
  std::int64_t moves = 0;          // to spread, not because a server ended
  std::int64_t wrong = 0;          // answers that are not those of the rows
};

class CellEngine {
 public:
  CellEngine(int number, const CellPlan& plan, CellTime* time, std::deque<CellServer>* servers,
             CellFigures* figures);

  // As a process that has just begun.
  void Start();
  // The connection to a server's process breaks, which its engines see at once.
  void ServerEnded(int server);
  // The longest time without an answer, until now, since it was last asked.
  Seconds TakeSilence();

 private:
  enum class State : std::uint8_t { kSearches, kSteps };
  struct Row {
    int grammar = 0;
    int tokens = 0;
    std::optional<Seconds> opened;  // it has no mask yet
  };
  struct Place {
    int server = 0;
    CellServer::StreamId stream;
  };
  struct Seen {
    std::vector<int> servers;
    std::vector<int> streams;
    int rank = 0;
  };
  // Rows that are opened on a place, and what comes of it.
  struct Opening {
    Place place;
    int compiling = 0;
    std::function<void()> done;
    std::function<void()> failed;
  };

  CellServer& at(int server) { return (*servers_)[static_cast<std::size_t>(server)]; }
  // Later, unless the engine does something else by then.
  void After(Micros delay, std::function<void()> then);

  // Looking for a server.
  void Search();
  void TryNext();
  void TryAnother();
  absl::StatusOr<Place> OpenStream(int server);
  void Settle(const Place& place, int times);
  void Opened(const Place& place);
  // Opens all rows on a place, in `patience` or not at all.
  void Replay(const Place& place, Seconds patience, std::function<void()> done,
              std::function<void()> failed);
  void EndReplay(bool well);
  void ReadReplay(const service::StepResult& result);
  void AwaitGrammars();
  [[nodiscard]] service::StepRequest OpenAll() const;
  double ReplayCost(int server);

  // Steps.
  void Step();
  void StepHere();
  void Answered(const service::StepResult& result);
  service::StepRequest MakeStep();
  void Renew(service::StepRequest* request, int row, int grammar);
  void Read(const service::RowResult& answer);

  // Spreading.
  void Ask(const std::optional<Place>& own, std::vector<int> asked,
           std::function<void(const Seen&)> then);
  // Of all that are not left alone, as many as are asked at most.
  [[nodiscard]] std::vector<int> Sample(const std::optional<Place>& own);
  [[nodiscard]] static std::optional<int> PlaceFor(const Seen& seen, int own);
  void PlanLook();
  void Look();
  void Prepare(int server, const Seen& seen, std::vector<int> grammars);
  void Offer(int server, const Seen& seen);
  void LeaveAlone(int server);
  void MoveTo(const Place& place);

  const int number_;
  const CellPlan& plan_;
  CellTime* const time_;
  std::deque<CellServer>* const servers_;
  CellFigures* const figures_;

  State state_ = State::kSearches;
  std::uint64_t epoch_ = 0;  // of what it does
  std::uint64_t looks_ = 0;  // of the look that is planned
  std::vector<Row> rows_;
  std::optional<Place> place_;
  std::optional<Place> offered_;
  std::optional<Opening> opening_;
  bool going_away_ = false;
  client::LookPace pace_{absl::Seconds(4)};
  std::vector<Seconds> alone_until_;  // by server

  // While it looks for a server.
  client::RetryPolicy retry_;
  std::vector<int> order_;
  std::size_t next_ = 0;
  std::size_t tries_ = 0;
  double wait_us_ = 0;
  double patience_us_ = 0;
  Seconds give_up_at_{0};

  Seconds step_begin_{0};
  Seconds last_answer_{0};
  Seconds silence_{0};
  std::vector<int> refused_;  // rows to be opened again
  int next_row_ = 0;
  int fresh_ = 0;  // grammars that it alone has
};

}  // namespace maskd::bench

#endif  // MASKD_BENCH_CELL_ENGINE_H_
