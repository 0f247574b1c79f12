// The server that a command asks: the one at --server, or one inside this program (--local).
//
// Local    the same services on a Unix socket in a new directory, so the answers are a
//          server's answers; it ends with the connection.
// Threads  as Client.
#ifndef MASKD_TOOLS_CLI_CONNECTION_H_
#define MASKD_TOOLS_CLI_CONNECTION_H_

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "client/cpp/client.h"
#include "service/process/server.h"
#include "tools/cli/flags.h"

namespace maskd::cli {

// The server to ask: --server, else the variable, else the default of --server. Errors: that of a
// wrong command line, where it has no form of an address.
absl::StatusOr<std::string> AddressOf(const Flags& flags, const char* variable);
// With the variable MASKD_ADDRESS.
absl::StatusOr<std::string> ServerAddress(const Flags& flags);

// `more`, a command's own, then `server`, which says where to ask, and the flags of TLS and tokens.
std::vector<Flag> WithServerFlags(Flag server, std::vector<Flag> more);
// Has the client library connect as those flags say. Before the first connection.
void SetSecurity(const Flags& flags);

// `more`, a command's own, then --json, --tokenizer, --local and --server.
std::vector<Flag> WithConnectionFlags(std::vector<Flag> more);

// Made from a command's flags; holds the server of --local for as long as it lives.
class Connection {
 public:
  // Errors: those of Client::Connect(), with what to do; of loading the vocabulary; of a wrong
  // command line.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const Flags& flags);
  // The same; a local server has a metrics page, too, at a free port of loopback.
  static absl::StatusOr<std::unique_ptr<Connection>> OpenWithMetrics(const Flags& flags);

  // Ends the local server, if there is one.
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Connected; calls wait as the client's options say.
  [[nodiscard]] const client::Client& client() const { return *client_; }
  // The tokenizer's name for requests; empty is the server's default.
  [[nodiscard]] const std::string& tokenizer() const { return tokenizer_; }
  // host:port of the local server's metrics page; empty without one.
  [[nodiscard]] std::string metrics_address() const;

 private:
  Connection() = default;
  static absl::StatusOr<std::unique_ptr<Connection>> Open(const Flags& flags,
                                                          const std::string& metrics_listen);
  absl::Status StartLocal(const std::string& tokenizer_flag, const std::string& metrics_listen);
  absl::Status Connect(const std::string& address);

  std::filesystem::path directory_;  // of the local server's socket; empty without one
  std::string tokenizer_;
  std::unique_ptr<service::Server> server_;
  std::unique_ptr<client::Client> client_;
};

}  // namespace maskd::cli

#endif  // MASKD_TOOLS_CLI_CONNECTION_H_
