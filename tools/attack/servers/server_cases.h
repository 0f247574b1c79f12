// Cases whose steps are abstract operations of a server, as this server's messages say them.
//
// Sessions  are rows of one Decode stream; their names are numbers here, so a hostile name is also
//          said where this protocol takes names of a caller: a tokenizer's, a kind's.
// Numbers  a session's `seq` counts the steps behind those that open rows.
// Threads  one thread.
#ifndef MASKD_TOOLS_ATTACK_SERVERS_SERVER_CASES_H_
#define MASKD_TOOLS_ATTACK_SERVERS_SERVER_CASES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

#include "maskd/v1/mask_service.pb.h"
#include "tools/attack/cases/attack_case.h"
#include "tools/attack/cases/case_result.h"
#include "tools/attack/servers/conversation.h"
#include "tools/attack/servers/outcome.h"
#include "tools/attack/servers/schemas.h"
#include "tools/attack/servers/wire_cases.h"
#include "tools/attack/targets/server_access.h"
#include "tools/attack/targets/service_target.h"

namespace maskd::attack {

// For one server; connections of a case end with it.
class ServerCases {
 public:
  // Whether an answer that comes after its time is a fault, or is waited for.
  enum class Times { kHeld, kWaited };

  // `target` is of the same server and outlives this.
  ServerCases(ServerAccess server, const ServiceTarget* target, Times times);

  // What is wrong goes into `result`, with the operation's number.
  void Run(const AttackCase& attack, CaseResult* result);

 private:
  using Json = nlohmann::json;
  using Handler = Outcome (ServerCases::*)(const Json& step);
  static const std::map<std::string, Handler>& Handlers();
  // Runs what is the runner's own doing: its time is not the case's.
  void Unclocked(const std::function<void()>& run);
  void Begin(const AttackCase& attack);
  void End();
  Outcome RunOne(const Json& step);

  // Streams and rows.
  Outcome Hello(const Json& step);
  Outcome SecondHello(const Json& step);
  Outcome Open(const Json& step);
  Outcome OpenMany(const Json& step);
  Outcome MoveRow(const Json& step);
  Outcome BatchStep(const Json& step);
  Outcome Rollback(const Json& step);
  Outcome Close(const Json& step);
  Outcome Streams(const Json& step);
  Outcome HalfClose(const Json& step);
  Outcome ReadAll(const Json& step);
  Outcome ResetConnection(const Json& step);
  Outcome Idle(const Json& step);
  Outcome As(const Json& step);
  // Compiles.
  Outcome CompileOne(const Json& step);
  Outcome CompileManyOf(const Json& step);
  // What can be observed.
  Outcome Health(const Json& step);
  Outcome Metric(const Json& step);
  Outcome Sessions(const Json& step);
  Outcome MemoryBelow(const Json& step);
  Outcome MetricsBytesBelow(const Json& step);
  Outcome Logs(const Json& step);
  Outcome CompileWorkersBusy(const Json& step);

  // The stream of the case, greeted; made where there is none.
  absl::StatusOr<Conversation*> Stream();
  [[nodiscard]] v1::Hello PlainHello() const;
  // The grammar of a step's `schema`.
  absl::StatusOr<v1::Grammar> GrammarOf(const Json& step);
  absl::StatusOr<v1::CompileRequest> RequestOf(const Json& step);
  std::uint64_t RowOf(const std::string& session);
  // Runs a step under `number` and gives what it says of the row, kept in last_reply_.
  Outcome RunRow(v1::Step step, std::uint64_t number, std::uint64_t row);
  // Under the next number.
  Outcome RunNext(const v1::Step& step, std::uint64_t row);
  // Opens `count` rows in one step of a stream.
  absl::Status OpenRows(Conversation* stream, const v1::Grammar& grammar, std::int64_t count);
  // Says `name` wherever a caller's names go, and does not look at the answers.
  void SayName(const std::string& name);
  [[nodiscard]] absl::StatusOr<double> Figure(const char* metric, const char* label = "") const;
  // Compiles that were begun: now, and once no more are for a moment.
  [[nodiscard]] absl::StatusOr<double> Begun() const;
  // How long the step may take.
  [[nodiscard]] absl::Duration Within(const Json& step) const;
  [[nodiscard]] double BegunWhenQuiet() const;

  const ServerAccess server_;
  const ServiceTarget* const target_;
  const Times times_;
  Schemas schemas_;
  WireCases wire_;

  // The tokenizer of the case that runs.
  std::string tokenizer_;
  std::unique_ptr<Conversation> stream_;
  std::vector<std::unique_ptr<Conversation>> more_streams_;
  std::map<std::string, std::uint64_t> rows_;
  std::vector<v1::RowReply> opened_;  // by the last OpenMany
  std::uint64_t last_step_ = 0;       // number of the last step
  std::uint64_t base_ = 0;            // a session's `seq` counts from here
  v1::RowReply last_reply_;
  std::string last_id_;  // of the last grammar that was compiled
  double idle_ms_ = 0;
  double rows_before_ = 0;
  double begun_before_ = 0;  // compiles
  std::int64_t log_before_ = 0;
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_SERVERS_SERVER_CASES_H_
