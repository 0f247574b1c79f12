// An engine inside this process, behind the calls of a server: what an address "local:..." names.
// Who implements it is not known here; local/local_engines.h tells.
//
// Errors   as from a server's wire: FromWire()'s.
// Threads  every method from any thread.
#ifndef MASKD_CLIENT_CPP_CALLS_LOCAL_ENGINE_H_
#define MASKD_CLIENT_CPP_CALLS_LOCAL_ENGINE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "client/cpp/base/steady_time.h"
#include "client/cpp/calls/step_call.h"
#include "maskd/v1/compile_service.pb.h"
#include "maskd/v1/mask_service.pb.h"
#include "maskd/v1/tokenizer_service.pb.h"

namespace maskd::client {

// Calls are those of the services, with `deadline` as their timeout; each blocks.
class LocalEngine {
 public:
  virtual ~LocalEngine() = default;

  virtual absl::Status Compile(const v1::CompileRequest& request, SteadyTime deadline,
                               v1::CompileResponse* response) = 0;
  virtual absl::Status Check(const v1::CheckRequest& request, SteadyTime deadline,
                             v1::CheckResponse* response) = 0;
  virtual absl::Status Explain(const v1::ExplainRequest& request, SteadyTime deadline,
                               v1::ExplainResponse* response) = 0;
  virtual absl::Status ListTokenizers(const v1::ListTokenizersRequest& request, SteadyTime deadline,
                                      v1::ListTokenizersResponse* response) = 0;
  virtual absl::Status GetTokenizer(const v1::GetTokenizerRequest& request, SteadyTime deadline,
                                    v1::GetTokenizerResponse* response) = 0;
  virtual absl::Status ListTokens(const v1::ListTokensRequest& request, SteadyTime deadline,
                                  v1::ListTokensResponse* response) = 0;

  // Answers a stream's hello; its steps go through the call, which keeps the engine.
  virtual absl::StatusOr<std::unique_ptr<StepCall>> OpenCall(const v1::DecodeRequest& hello,
                                                             v1::Welcome* welcome) = 0;
};

// Whether the address begins with "local:".
bool IsLocal(absl::string_view address);

// The engine of such an address, made if there is none. UNIMPLEMENTED in a program without any.
absl::StatusOr<std::shared_ptr<LocalEngine>> FindLocalEngine(const std::string& address);

// Where those come from, once a process; any thread.
using LocalEngines = absl::StatusOr<std::shared_ptr<LocalEngine>> (*)(const std::string& address);
void UseLocalEngines(LocalEngines engines);

}  // namespace maskd::client

#endif  // MASKD_CLIENT_CPP_CALLS_LOCAL_ENGINE_H_
