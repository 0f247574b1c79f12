// A server: grammars are compiled by its Compile call, rows live in one Decode stream of it.
//
// Threads  one thread.
#ifndef MASKD_TOOLS_ATTACK_TARGETS_SERVICE_TARGET_H_
#define MASKD_TOOLS_ATTACK_TARGETS_SERVICE_TARGET_H_

#include <memory>
#include <string>
#include <vector>

#include "client/cpp/client.h"
#include "tools/attack/targets/row_stream.h"
#include "tools/attack/targets/server_access.h"
#include "tools/attack/targets/target.h"

namespace maskd::attack {

// One client and one stream at a time, as an engine has them.
class ServiceTarget final : public Target {
 public:
  // Errors: those of the client's calls.
  static absl::StatusOr<std::unique_ptr<ServiceTarget>> Connect(const ServerAccess& server);

  // As Target says. The vocabulary was asked for when it connected.
  [[nodiscard]] const Tokens& tokens() const override { return tokens_; }
  absl::StatusOr<std::unique_ptr<Grammar>> Compile(const std::string& format,
                                                   std::string payload) override;
  [[nodiscard]] std::string ReasonOf(const absl::Status& refusal) const override;
  // By the server's metrics: its grammars and masks, and masks still to be made.
  std::int64_t CachedBytes() override;
  void EndCase() override;

  // For operations that are no grammar's.
  [[nodiscard]] const client::Client& client() const { return *client_; }
  // The stream that lives now; a new one where the last has ended.
  absl::StatusOr<RowStream*> Stream();

 private:
  explicit ServiceTarget(ServerAccess server) : server_(std::move(server)) {}
  absl::Status ReadTokens();

  const ServerAccess server_;
  std::unique_ptr<client::Client> client_;
  std::vector<v1::Token> token_texts_;  // the splitter's
  Tokens tokens_;
  std::unique_ptr<RowStream> stream_;
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_TARGETS_SERVICE_TARGET_H_
