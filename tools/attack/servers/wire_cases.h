// Operations below the RPC library: messages as bytes, frames of HTTP/2, connections that are
// silent.
//
// Threads  one thread.
#ifndef MASKD_TOOLS_ATTACK_SERVERS_WIRE_CASES_H_
#define MASKD_TOOLS_ATTACK_SERVERS_WIRE_CASES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "ring/unique_fd.h"
#include "tools/attack/servers/outcome.h"
#include "tools/attack/targets/raw_http2.h"
#include "tools/attack/targets/server_access.h"

namespace maskd::attack {

// Makes its connections itself; no other case shares them.
class WireCases {
 public:
  // `vocab_size` is that of the server's tokenizer.
  WireCases(ServerAccess server, std::int64_t vocab_size)
      : server_(std::move(server)), vocab_size_(vocab_size) {}

  // What one operation came to. Connections that it needs stay until CloseConnections().
  Outcome Run(const nlohmann::json& step);
  // Opens `count` calls that say nothing, as many a connection as the server lets it have.
  Outcome OpenCalls(const std::string& method, std::int64_t count);
  void CloseConnections();

 private:
  using Json = nlohmann::json;
  using Handler = Outcome (WireCases::*)(const Json& step);
  static const std::map<std::string, Handler>& Handlers();

  Outcome RawMessage(const Json& step);
  Outcome RawFrame(const Json& step);
  Outcome Metadata(const Json& step);
  Outcome RapidReset(const Json& step);
  Outcome PingFlood(const Json& step);
  Outcome ZeroWindow(const Json& step);
  Outcome ConnectSilent(const Json& step);
  Outcome Tls(const Json& step);

  // A connection whose settings have come; null: there is none to be had.
  RawHttp2* Connect(std::uint32_t window);

  Outcome OpenWithTokens(std::int64_t count) const;

  const ServerAccess server_;
  const std::int64_t vocab_size_;
  std::vector<std::unique_ptr<RawHttp2>> connections_;
  std::vector<ring::UniqueFd> silent_;
};

}  // namespace maskd::attack

#endif  // MASKD_TOOLS_ATTACK_SERVERS_WIRE_CASES_H_
