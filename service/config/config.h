// What a server is told at its start: flags and environment, read and checked once.
//
// Sources  a flag "--name=value" or "--name value"; without it the environment variable MASKD_NAME;
//          without both the file of --config (config_file.h); else the default.
// Errors   INVALID_ARGUMENT; the message starts with the flag, or the variable, that is wrong.
// Threads  plain values.
#ifndef MASKD_SERVICE_CONFIG_CONFIG_H_
#define MASKD_SERVICE_CONFIG_CONFIG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grammar_core/base/limits.h"
#include "grammar_core/tokenizer/loader.h"
#include "service/config/tenant_rule.h"
#include "service/config/tokenizer_flag.h"

namespace maskd::service {

// Config::mask_threads: one for each usable core, but two at least.
inline constexpr std::int64_t kMaskThreadACore = -1;

// Everything that flags, environment and file can say, checked.
struct Config {
  // --config: the file; empty for none.
  std::string config;
  // --listen: addresses to serve gRPC on, "unix:/absolute/path", or "host:port" with TLS.
  std::vector<std::string> listen = {"unix:/tmp/maskd.sock"};
  // --insecure_listen: "host:port" without.
  std::vector<std::string> insecure_listen;
  // --admin_listen, --insecure_admin_listen: the same for whoever runs the server; empty for none.
  std::vector<std::string> admin_listen;
  std::vector<std::string> insecure_admin_listen;
  // --admin_callers: identities (see tenant_rule.h) that may call there; empty: who may connect.
  std::vector<std::string> admin_callers;
  // --tls_cert, --tls_key, --tls_client_ca: PEM files; empty for none.
  std::string tls_cert;
  std::string tls_key;
  std::string tls_client_ca;
  // --tokens: a file of bearer tokens; empty for none.
  std::string tokens;
  // --proxy_metadata, --proxy_users: where proxies say whose call it is, and who they are.
  std::string proxy_metadata;
  std::vector<std::int64_t> proxy_users;
  // From the file: who has which limits; empty: everybody, none.
  std::vector<TenantRule> tenants;
  // --audit: whether who had which grammar is logged.
  bool audit = false;
  // --socket_users: who may connect over Unix sockets; empty: who has the right.
  std::vector<std::int64_t> socket_users;
  // --socket_mode: rights of the Unix sockets' files; nothing: see ports.h.
  std::optional<std::int64_t> socket_mode;
  // --socket_group: id of the group that owns them; nothing: the process's.
  std::optional<std::int64_t> socket_group;
  // --max_connections: connections open at once.
  std::int64_t max_connections = 1024;
  // --max_peer_connections: those of one peer, a user of this machine or an address.
  std::int64_t max_peer_connections = 512;
  // --metrics_listen: "host:port" of the Prometheus endpoint; empty for none.
  std::string metrics_listen = "127.0.0.1:9411";
  // --playground_listen: "host:port" of the playground, this machine's own; empty for none.
  std::string playground_listen;
  // --insecure_playground_listen: the same, for whoever reaches it; one of the two at most.
  std::string insecure_playground_listen;
  // --playground_names: what the page may be asked for by, beside addresses and localhost.
  std::vector<std::string> playground_names;
  // --tokenizer: vocabularies, the default one first; empty for the embedded "bytes".
  std::vector<VocabularySource> tokenizers;
  // --grammars: a folder of grammars that are there from the start; empty for none.
  std::string grammars;
  // --memory_bytes: what the process may hold in all; nothing: see memory_plan.h, as for the next.
  std::optional<std::int64_t> memory_bytes;
  // --cache_bytes: compiled grammars kept.
  std::optional<std::int64_t> cache_bytes;
  // --mask_store_bytes: masks kept for each tokenizer.
  std::optional<std::int64_t> mask_store_bytes;
  // --compile_threads: compiles at once; 0 for one a core.
  std::int64_t compile_threads = 0;
  // --warm_up_ms: time for masks made ahead for each new grammar, at a low priority; 0: none.
  std::int64_t warm_up_ms = 10;
  // --look_ahead_masks: masks made behind the place of each row between two steps; 0: none.
  std::int64_t look_ahead_masks = 16;
  // --heap_mib: heap touched at the start, so that no answer waits for fresh pages.
  std::int64_t heap_mib = 256;
  // --compile_queue: compiles that may wait for a thread; one more is refused.
  std::int64_t compile_queue = 256;
  // --stream_threads: threads that serve the Decode streams.
  std::int64_t stream_threads = 1;
  // --mask_threads: threads that make masks for steps while the stream's own thread answers the
  // others, and beside the step's own thread where many rows lack theirs; 0: it makes them itself.
  std::int64_t mask_threads = kMaskThreadACore;
  // --max_streams: Decode streams open at once.
  std::int64_t max_streams = 64;
  // --max_peer_streams: those of one peer; 0: as many as there may be in all.
  std::int64_t max_peer_streams = 0;
  // --hello_ms: how long a stream may take to say hello.
  std::int64_t hello_ms = 5'000;
  // --idle_ms: how long a stream may send nothing; 0: for ever.
  std::int64_t idle_ms = 0;
  // --shared_memory: whether streams over a Unix socket may have shared memory.
  bool shared_memory = true;
  // --awake_us: how long a stream's thread looks for the next step before it sleeps.
  std::int64_t awake_us = 20;
  // --max_rows: rows open at once in one stream.
  std::int64_t max_rows = 4096;
  // --max_row_tokens: tokens of one row.
  std::int64_t max_row_tokens = std::int64_t{1} << 20;
  // --max_message_bytes: one message of a client.
  std::int64_t max_message_bytes = std::int64_t{16} << 20;
  // --max_reply_bytes: the reply to one step, in masks and snapshots.
  std::int64_t max_reply_bytes = std::int64_t{64} << 20;
  // --max_receiving_bytes: messages of other calls than Decode that are being received, together.
  std::int64_t max_receiving_bytes = std::int64_t{256} << 20;
  // --max_unread_reply_bytes: replies of other calls that were made and not sent, all together.
  std::int64_t max_unread_reply_bytes = std::int64_t{128} << 20;
  // --max_wait_for_compile_ms: longest that a step may wait for its compiling rows.
  std::int64_t max_wait_for_compile_ms = 10'000;
  // --max_source_bytes, --max_compile_work, --max_grammar_bytes: the grammar core's bounds.
  Limits limits;
  // --drain_ms: how long open calls are still answered after SIGTERM.
  std::int64_t drain_ms = 5'000;
  // --stall_ms: how long a thread may make no progress before liveness says so.
  std::int64_t stall_ms = 30'000;
  // --cpu_kernels: for UseWordKernels(), which takes it.
  std::string cpu_kernels = "auto";

  // What was given, by flag: value and where. For a reload, which may change some flags only.
  struct Given {
    std::string value;
    std::string where;  // "--max_rows", "MASKD_MAX_ROWS", "PATH:3: max_rows"
  };
  std::map<std::string, Given> given;

  // What to do instead of serving.
  enum class Action { kServe, kHelp, kVersion, kCheckConfig, kHealth };
  Action action = Action::kServe;
  std::string health;  // the name that kHealth asks for
};

}  // namespace maskd::service

#endif  // MASKD_SERVICE_CONFIG_CONFIG_H_
