// One engine: vocabularies, compiled grammars and streams, as a server has them, without its ports.
//
// Threads  every method from any thread.
// Ownership  shared by the clients and the streams that use it.
#ifndef MASKD_LOCAL_ENGINE_H_
#define MASKD_LOCAL_ENGINE_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/calls/local_engine.h"
#include "service/config/config.h"
#include "service/grammars/grammar_store.h"
#include "service/grammars/tokenizer_shelf.h"
#include "service/streams/step_threads.h"
#include "service/streams/stream_host.h"
#include "service/wire/compile_calls.h"

namespace maskd::local {

// What a client within the process talks to in place of a server's address.
class Engine final : public client::LocalEngine, public std::enable_shared_from_this<Engine> {
 public:
  // Loads the vocabularies. Errors: those of TokenizerStore::Load(), RESOURCE_EXHAUSTED (the system
  // gives no thread).
  static absl::StatusOr<std::shared_ptr<Engine>> Load(const service::Config& config);

  // The six calls that are no streams, each answered by the calling thread: as the server's
  // handlers of the same names answer them, with the same errors. `deadline` ends the work, not
  // only the wait.
  absl::Status Compile(const v1::CompileRequest& request, client::SteadyTime deadline,
                       v1::CompileResponse* response) override;
  absl::Status Check(const v1::CheckRequest& request, client::SteadyTime deadline,
                     v1::CheckResponse* response) override;
  absl::Status Explain(const v1::ExplainRequest& request, client::SteadyTime deadline,
                       v1::ExplainResponse* response) override;
  absl::Status ListTokenizers(const v1::ListTokenizersRequest& request, client::SteadyTime deadline,
                              v1::ListTokenizersResponse* response) override;
  absl::Status GetTokenizer(const v1::GetTokenizerRequest& request, client::SteadyTime deadline,
                            v1::GetTokenizerResponse* response) override;
  absl::Status ListTokens(const v1::ListTokensRequest& request, client::SteadyTime deadline,
                          v1::ListTokensResponse* response) override;
  // Opens a stream whose steps the caller's thread answers (local_call.h). `*welcome` says what the
  // hello was granted.
  absl::StatusOr<std::unique_ptr<client::StepCall>> OpenCall(const v1::DecodeRequest& hello,
                                                             v1::Welcome* welcome) override;

  // What streams of this engine share.
  [[nodiscard]] const service::StreamHost& host() const { return host_; }

 private:
  Engine(const service::Config& config, service::TokenizerStorePtr tokenizers);

  const service::TokenizerShelf tokenizers_;
  service::GrammarStore grammars_;
  service::CompileCalls calls_;
  service::StepThreads threads_;
  const service::StreamHost host_;
};

}  // namespace maskd::local

#endif  // MASKD_LOCAL_ENGINE_H_
