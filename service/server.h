// The running server: its services on their ports, health, reflection, metrics, and its orderly
// end.
//
// Health   names "" and "readiness" and one for each service are SERVING until Drain(); "liveness"
//          is until the end.
// Threads  Start() and Drain() on one thread.
#ifndef MASKD_SERVICE_SERVER_H_
#define MASKD_SERVICE_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <grpcpp/server.h>

#include "memory/accountant.h"
#include "metrics/exposer.h"
#include "metrics/registry.h"
#include "service/compile_service.h"
#include "service/config.h"
#include "service/grammar_store.h"
#include "service/health_service.h"
#include "service/mask_service.h"
#include "service/memory_plan.h"
#include "service/tokenizer_service.h"
#include "service/tokenizer_store.h"

namespace maskd::service {

class Server {
 public:
  // Loads the vocabularies and listens. `heap` is what the program's allocator can do. Errors:
  // those of TokenizerStore::Load(), UNAVAILABLE for an address that cannot be listened on; the
  // message starts with the flag.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Config& config,
                                                       memory::Accountant::Heap heap = {});
  ~Server();

  // Says NOT_SERVING and "go away", answers open calls for up to drain_ms, then cancels them.
  void Drain();

  // Ports taken, one an entry of Config::listen; of no meaning for a Unix socket.
  [[nodiscard]] const std::vector<int>& ports() const { return ports_; }
  // 0 without a metrics endpoint.
  [[nodiscard]] int metrics_port() const;

 private:
  Server(const Config& config, const MemoryPlan& plan, memory::Accountant::Heap heap,
         std::unique_ptr<const TokenizerStore> tokenizers);
  // Registers what holds memory. `vocabulary_bytes`: the vocabularies and their indexes.
  void KeepAccount(std::int64_t vocabulary_bytes);
  // For each scrape.
  std::vector<metrics::Figure> ReadFigures();
  absl::Status Listen();
  void LendMemory();
  void SetHealth(bool ready);

  const Config config_;
  const MemoryPlan plan_;
  metrics::Metrics metrics_;
  memory::Accountant accountant_;
  std::unique_ptr<const TokenizerStore> tokenizers_;
  GrammarStore grammars_;
  CompileService compile_service_;
  MaskService mask_service_;
  TokenizerService tokenizer_service_;
  HealthService health_;
  std::unique_ptr<metrics::Exposer> exposer_;
  std::vector<memory::Accountant::Registration> holders_;
  std::vector<int> ports_;
  std::unique_ptr<grpc::Server> server_;  // last: its threads use all of the above
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_SERVER_H_
