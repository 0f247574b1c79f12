// The running server: its services on their ports, health, reflection, metrics, and its orderly
// end.
//
// Health   names "" and "readiness" and one for each service are SERVING until Drain(); "liveness"
//          is until the end, but while a thread is stalled (stall_watch.h).
// Threads  Start(), Reload(), LookAtTokens() and Drain() on one thread.
#ifndef MASKD_SERVICE_PROCESS_SERVER_H_
#define MASKD_SERVICE_PROCESS_SERVER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <grpcpp/server.h>

#include "memory/accountant.h"
#include "metrics/registry.h"
#include "service/admin/admin_server.h"
#include "service/base/file_stamp.h"
#include "service/base/pools.h"
#include "service/callers/admission.h"
#include "service/callers/connections.h"
#include "service/calls/compile_service.h"
#include "service/calls/gate.h"
#include "service/calls/health_service.h"
#include "service/calls/mask_service.h"
#include "service/calls/tokenizer_service.h"
#include "service/calls/unary_calls.h"
#include "service/config/config.h"
#include "service/config/memory_plan.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_shelf.h"
#include "service/ports/inside_calls.h"
#include "service/ports/metrics_port.h"
#include "service/ports/ports.h"
#include "service/process/stall_watch.h"

namespace maskd::service {

// A server that runs, from Start() until it is destroyed.
class Server {
 public:
  // Loads the vocabularies and listens. `heap` is what the program's allocator can do; `is_ending`,
  // where there is one, says whether the process is asked to end, any thread. Errors: those of
  // TokenizerStore::Load(), UNAVAILABLE for an address that cannot be listened on, and then the
  // message starts with the flag; CANCELLED at the end of the process.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Config& config,
                                                       memory::Accountant::Heap heap = {},
                                                       std::function<bool()> is_ending = {});
  ~Server();

  // Says NOT_SERVING and "go away", answers open calls for up to drain_ms, then cancels them.
  void Drain();

  // Goes on with `next`, at once and in whole, or not at all: tenants, whom to let in, tokenizers,
  // grammars. Streams that are open keep their tokenizer. Errors: those of CheckReload() and of
  // Start(); nothing has changed then.
  absl::Status Reload(const Config& next);
  // The token file alone, if it has changed; logs what comes of it. Now and then.
  void LookAtTokens();

  // As Ports::ports().
  [[nodiscard]] const std::vector<int>& ports() const { return ports_.ports(); }
  [[nodiscard]] const UnaryCalls& calls() const { return calls_; }
  [[nodiscard]] const memory::Accountant& accountant() const { return accountant_; }
  // A channel of this process to the server, whose calls are the playground's (inside_calls.h). Any
  // thread.
  [[nodiscard]] std::shared_ptr<grpc::Channel> ConnectInside() const {
    return inside_calls_.Connect(server_.get());
  }
  // As MetricsText(). Any thread.
  [[nodiscard]] std::string ReadMetrics() const { return MetricsText(metrics_); }
  // Of --admin_listen and --insecure_admin_listen; none without them.
  [[nodiscard]] std::vector<int> admin_ports() const;
  // 0 without a metrics endpoint.
  [[nodiscard]] int metrics_port() const;
  // As the health names "liveness" and "readiness" say. Any thread.
  [[nodiscard]] bool IsLive() const { return is_live_; }
  [[nodiscard]] bool IsReady() const { return is_ready_; }

 private:
  Server(const Config& config, const MemoryPlan& plan, memory::Accountant::Heap heap,
         TokenizerStorePtr tokenizers, std::function<bool()> is_ending);
  // Registers what holds memory.
  void KeepAccount();
  [[nodiscard]] std::int64_t VocabularyBytes() const;
  // Of all tokenizers: masks, whoever keeps them, and what else their stores hold.
  [[nodiscard]] std::int64_t MaskBytes() const;
  void ShrinkMasks(std::int64_t bytes);
  [[nodiscard]] std::int64_t SchemaBytes() const;
  void ShrinkSchemas(std::int64_t bytes);
  // For each scrape.
  std::vector<metrics::Figure> ReadFigures();
  [[nodiscard]] std::vector<Pool> Pools();
  absl::Status Listen();
  absl::Status StartServices();
  absl::Status ListenForMetrics();
  absl::Status ListenForAdmins();
  // As of the start's `config`: others may ask while Reload() changes ours.
  [[nodiscard]] std::vector<LimitInUse> ReadLimits(const Config& config);
  void LendMemory();
  void SetReady(bool ready);
  void SetLive(bool live);
  // What has to make progress for the server to be live.
  void WatchStalls();

  Config config_;  // changed by Reload() alone
  const MemoryPlan plan_;
  const std::function<bool()> is_ending_;  // null: never
  metrics::Metrics metrics_;
  memory::Accountant accountant_;
  TokenizerShelf tokenizers_;
  GrammarStore grammars_;
  Admission admission_;
  Connections connections_;
  const InsideCalls inside_calls_;
  const Gate gate_{&connections_, &admission_, &inside_calls_};
  UnaryCalls calls_;
  CompileService compile_service_;
  MaskService mask_service_;
  TokenizerService tokenizer_service_;
  HealthService health_;
  std::atomic<bool> is_live_ = true;
  std::atomic<bool> is_ready_ = false;
  std::unique_ptr<MetricsPort> metrics_port_;
  std::vector<memory::Accountant::Registration> holders_;
  std::unique_ptr<grpc::Server> server_;  // its threads use all of the above
  Ports ports_;                           // its connections go to the server
  std::unique_ptr<AdminServer> admin_;    // it looks at all of the above
  FileStamp tokens_seen_;
  StallWatch stalls_;  // last: it looks at all of the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_PROCESS_SERVER_H_
