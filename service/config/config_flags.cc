// All flags, each with its name, its help and what sets it, in one table: the command line, the
// environment and the file of --config are read by it.
//
// Invariant  a value is checked where it is read, and its error names the flag, so that whoever
//            uses a Config may trust every field. A flag that is gone stays in the table of retired
//            ones, with what replaced it.
// Threads    main's alone: at the start, and again for a reload on SIGHUP.
// To add one a field in config.h with its default, a row here, the same name in
//            server_config.proto. A test compares the names of the two.
#include "service/config/config_flags.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "cpu/level.h"
#include "grammar_core/base/error.h"
#include "grammar_core/mask/word_kernels.h"
#include "memory/byte_size.h"
#include "service/base/duration_value.h"
#include "service/config/addresses.h"
#include "service/config/tenant_rule.h"

namespace maskd::service {
namespace {

// The value is wrong. Where it was given is added by who reads it (Apply() in config_reader.cc):
// the same setter serves the command line, the environment and the file.
absl::Status Wrong(absl::string_view message) {
  return absl::InvalidArgumentError(std::string(message));
}

// A number in [kMin, kMax] for one field.
// The field and its range are template arguments, so that each row of the table is a plain function
// pointer and the table a constant: nothing runs before main() to build it. After an error the
// field is as it was.
template <std::int64_t Config::* kField, std::int64_t kMin, std::int64_t kMax>
absl::Status SetNumber(absl::string_view value, Config* config) {
  std::int64_t number = 0;
  if (!absl::SimpleAtoi(value, &number) || number < kMin || number > kMax)
    return Wrong(absl::StrCat("\"", value, "\" is not a number from ", kMin, " to ", kMax));
  config->*kField = number;
  return absl::OkStatus();
}

// A time in units of kUnitUs microseconds.
// The range is in the same unit, which is the one that the flag's name ends with.
template <std::int64_t Config::* kField, std::int64_t kUnitUs, std::int64_t kMin, std::int64_t kMax>
absl::Status SetTime(absl::string_view value, Config* config) {
  const std::optional<std::int64_t> time = ParseDuration(value, kUnitUs);
  if (!time.has_value() || *time < kMin || *time > kMax) {
    constexpr const char* kUnit = kUnitUs == 1 ? "us" : "ms";
    constexpr const char* kLikely = kUnitUs == 1 ? "5ms" : "5s";
    return Wrong(absl::StrCat("\"", value, "\" is not a whole number of ", kUnit, " from ", kMin,
                              " to ", kMax, ", such as 500 or ", kLikely));
  }
  config->*kField = *time;
  return absl::OkStatus();
}

// A number of bytes in [kMin, kMax] for one field, of any type.
template <auto kField, std::int64_t kMin, std::int64_t kMax, typename Owner>
absl::Status SetBytesOf(absl::string_view value, Owner* owner) {
  const std::optional<std::int64_t> bytes = memory::ParseByteSize(value);
  if (!bytes.has_value() || *bytes < kMin || *bytes > kMax) {
    return Wrong(absl::StrCat("\"", value, "\" is not a number of bytes from ", kMin, " to ", kMax,
                              ", such as 1048576 or 512MiB"));
  }
  owner->*kField = *bytes;
  return absl::OkStatus();
}

// Both are SetBytesOf() with an owner: the Config itself, or the limits of one compile in it.
template <auto kField, std::int64_t kMin, std::int64_t kMax>
absl::Status SetBytes(absl::string_view value, Config* config) {
  return SetBytesOf<kField, kMin, kMax>(value, config);
}

template <auto kField, std::int64_t kMin, std::int64_t kMax>
absl::Status SetByteLimit(absl::string_view value, Config* config) {
  return SetBytesOf<kField, kMin, kMax>(value, &config->limits);
}

// Of one compile: grammar_core takes the limits as they are.
template <std::int64_t Limits::* kField, std::int64_t kMin, std::int64_t kMax>
absl::Status SetLimit(absl::string_view value, Config* config) {
  std::int64_t number = 0;
  if (!absl::SimpleAtoi(value, &number) || number < kMin || number > kMax)
    return Wrong(absl::StrCat("\"", value, "\" is not a number from ", kMin, " to ", kMax));
  config->limits.*kField = number;
  return absl::OkStatus();
}

absl::Status SetBool(absl::string_view value, bool* field) {
  if (!absl::SimpleAtob(value, field))
    return Wrong(absl::StrCat("\"", value, "\" is neither true nor false"));
  return absl::OkStatus();
}

template <bool Config::* kField>
absl::Status SetSwitch(absl::string_view value, Config* config) {
  return SetBool(value, &(config->*kField));
}

// "--help=false" is no action, and takes none back. Of several actions the last one read counts.
absl::Status SetAction(absl::string_view value, Config::Action action, Config* config) {
  bool wanted = false;
  absl::Status read = SetBool(value, &wanted);
  if (read.ok() && wanted) config->action = action;
  return read;
}

// The form alone. Whether an address is guarded depends on other flags, which may come later:
// CheckAddresses() decides when all are read.
template <std::vector<std::string> Config::* kField>
absl::Status SetAddresses(absl::string_view value, Config* config) {
  absl::StatusOr<std::vector<std::string>> addresses = ParseAddresses(value);
  if (!addresses.ok()) return addresses.status();
  config->*kField = *std::move(addresses);
  return absl::OkStatus();
}

template <std::optional<std::int64_t> Config::* kField, auto kParse>
absl::Status SetParsed(absl::string_view value, Config* config) {
  const absl::StatusOr<std::int64_t> parsed = kParse(value);
  if (!parsed.ok()) return parsed.status();
  config->*kField = *parsed;
  return absl::OkStatus();
}

template <std::vector<std::string> Config::* kField>
absl::Status SetIdentities(absl::string_view value, Config* config) {
  const std::vector<std::string> identities = absl::StrSplit(value, ',', absl::SkipEmpty());
  for (const std::string& identity : identities) {
    if (IsIdentity(identity)) continue;
    return Wrong(absl::StrCat("\"", identity,
                              "\" is not one of uid:, token:, cert:, proxy: and address:, and a "
                              "name"));
  }
  config->*kField = identities;
  return absl::OkStatus();
}

// Names become ids here, once. A user whose id changes later is the old id until a reload.
template <std::vector<std::int64_t> Config::* kField>
absl::Status SetUsers(absl::string_view value, Config* config) {
  absl::StatusOr<std::vector<std::int64_t>> users = ParseUsers(value);
  if (!users.ok()) return users.status();
  config->*kField = *std::move(users);
  return absl::OkStatus();
}

template <std::string Config::* kField>
absl::Status SetText(absl::string_view value, Config* config) {
  config->*kField = std::string(value);
  return absl::OkStatus();
}

// Keys that gRPC uses for itself, or whose values are bytes and come as text in base64.
bool IsOfGrpc(absl::string_view key) {
  constexpr std::array<absl::string_view, 4> kOfGrpc = {"authorization", "content-type", "te",
                                                        "user-agent"};
  return absl::StartsWith(key, "grpc-") || absl::EndsWith(key, "-bin") ||
         std::ranges::find(kOfGrpc, key) != kOfGrpc.end();
}

// What gRPC takes as a key of metadata. A key of another form would match no call: the proxy's
// callers would all be refused, and nothing would say why.
absl::Status SetProxyMetadata(absl::string_view value, Config* config) {
  if (IsOfGrpc(value))
    return Wrong(absl::StrCat("\"", value, "\" means something else to gRPC: take a key such as ",
                              "x-maskd-client"));
  for (const char c : value)
    if (!absl::ascii_islower(c) && !absl::ascii_isdigit(c) && c != '-' && c != '_' && c != '.')
      return Wrong(absl::StrCat("\"", value, "\" is no key of metadata, in lower case"));
  return SetText<&Config::proxy_metadata>(value, config);
}

// Empty turns the port off, so it is a value of its own and not a missing one.
template <std::string Config::* kField>
absl::Status SetHostPort(absl::string_view value, Config* config) {
  if (absl::Status checked = CheckHostPort(value); !value.empty() && !checked.ok()) return checked;
  return SetText<kField>(value, config);
}

// Whoever reaches the page may use the server through it.
absl::Status SetPlaygroundListen(absl::string_view value, Config* config) {
  if (!value.empty() && CheckHostPort(value).ok() && !IsLoopback(value)) {
    return Wrong(absl::StrCat("\"", value,
                              "\" is reached from other machines: that is given with "
                              "--insecure_playground_listen"));
  }
  return SetHostPort<&Config::playground_listen>(value, config);
}

absl::Status SetPlaygroundNames(absl::string_view value, Config* config) {
  config->playground_names = absl::StrSplit(value, ',', absl::SkipEmpty());
  for (std::string& name : config->playground_names) absl::AsciiStrToLower(&name);
  return absl::OkStatus();
}

// Adds, where all others replace: the flag may be repeated. The reader clears the list when a
// stronger source gives its first one. ";" is for the environment, where a variable has one value.
absl::Status AddTokenizers(absl::string_view value, Config* config) {
  for (absl::string_view one : absl::StrSplit(value, ';', absl::SkipEmpty())) {
    absl::StatusOr<VocabularySource> source = ParseTokenizerFlag(one);
    if (!source.ok()) return source.status();
    for (const VocabularySource& other : config->tokenizers)
      if (other.name == source->name)
        return Wrong(absl::StrCat("the name \"", source->name, "\" is given twice"));
    config->tokenizers.push_back(*std::move(source));
  }
  return absl::OkStatus();
}

// Refuses also what this processor cannot run, so that a wrong level ends the start and not the
// first mask. It is only looked up here; main() puts it to use.
absl::Status SetCpuKernels(absl::string_view value, Config* config) {
  if (const auto found = cpu::Find(AllWordKernels(), value); !found.ok())
    return Wrong(found.status().message());
  config->cpu_kernels = std::string(value);
  return absl::OkStatus();
}

constexpr std::int64_t kMaxBytes = std::numeric_limits<std::int64_t>::max();
// Far above what is of use: days of one compile.
constexpr std::int64_t kMaxWork = 1'000'000'000'000;
constexpr std::int64_t kUs = 1;
constexpr std::int64_t kMs = 1'000;
// For what protobuf or gRPC counts in int32: the bytes of a message, the tokens of a row.
constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();

// Rows stand in the order of --help, grouped by what they are about. The default stands in [] in
// the help text and is set in config.h: whoever changes one changes both.
constexpr std::array kFlags = {
    Flag{"config", "PATH",
         "a file that says flags, and tenants; flags and environment go before it",
         &SetText<&Config::config>},
    // Where to listen, who may connect, and as whom a caller counts. What may change with a reload
    // is listed in CheckReload().
    Flag{"listen", "ADDRESS[,ADDRESS...]",
         "where to serve gRPC: unix:/path, or host:port with TLS [unix:/tmp/maskd.sock]",
         &SetAddresses<&Config::listen>},
    Flag{"insecure_listen", "HOST:PORT[,HOST:PORT...]",
         "where to serve gRPC in plain text to whoever comes [nowhere]",
         &SetAddresses<&Config::insecure_listen>},
    // Another address, so that whoever reaches the server for masks cannot ask who else does.
    Flag{"admin_listen", "ADDRESS[,ADDRESS...]",
         "addresses of AdminService, reflection and channelz, such as --listen has them [none]",
         &SetAddresses<&Config::admin_listen>},
    Flag{"insecure_admin_listen", "HOST:PORT[,HOST:PORT...]",
         "those in plain text, for whoever can reach them [none]",
         &SetAddresses<&Config::insecure_admin_listen>},
    Flag{"admin_callers", "IDENTITY[,IDENTITY...]",
         "who may call there, such as uid:0, token:NAME, cert:NAME [whoever may connect]",
         &SetIdentities<&Config::admin_callers>},
    Flag{"tls_cert", "PATH",
         "certificate chain of the TCP addresses of --listen, PEM; read again when it changes",
         &SetText<&Config::tls_cert>},
    Flag{"tls_key", "PATH", "its private key", &SetText<&Config::tls_key>},
    Flag{"tls_client_ca", "PATH",
         "certificates of who may sign those of clients, PEM; each client then needs one",
         &SetText<&Config::tls_client_ca>},
    Flag{"tokens", "PATH",
         "names and bearer tokens, one a line; over TCP each call then needs one, or a "
         "client's certificate; read again when it changes",
         &SetText<&Config::tokens>},
    Flag{"proxy_metadata", "KEY", "metadata in which proxies of --proxy_users say whose call it is",
         &SetProxyMetadata},
    Flag{"proxy_users", "USER[,USER...]", "users of the trusted proxies, over Unix sockets",
         &SetUsers<&Config::proxy_users>},
    Flag{"audit", "BOOL", "log who had which grammar compiled or opened [false]",
         &SetSwitch<&Config::audit>},
    Flag{"socket_users", "USER[,USER...]",
         "users that may connect over Unix sockets, of those who have the right [all of them]",
         &SetUsers<&Config::socket_users>},
    Flag{"socket_mode", "MODE",
         "rights of the Unix sockets' files, octal; who may write may connect [0700, with "
         "socket_group 0770]",
         &SetParsed<&Config::socket_mode, &ParseSocketMode>},
    Flag{"socket_group", "GROUP", "group of the Unix sockets' files, by name or id [the process's]",
         &SetParsed<&Config::socket_group, &ParseGroup>},
    // A connection costs a descriptor before it says anything, so these hold before any call does.
    Flag{"max_connections", "COUNT", "connections open at once [1024]",
         &SetNumber<&Config::max_connections, 1, 1'000'000>},
    Flag{"max_peer_connections", "COUNT",
         "those of one user of this machine, over Unix sockets, or of one address [512]",
         &SetNumber<&Config::max_peer_connections, 1, 1'000'000>},
    Flag{"metrics_listen", "HOST:PORT",
         "where to serve Prometheus metrics, empty for nowhere [127.0.0.1:9411]",
         &SetHostPort<&Config::metrics_listen>},
    Flag{"playground_listen", "HOST:PORT",
         "where to serve the playground to this machine, empty for nowhere [nowhere]",
         &SetPlaygroundListen},
    Flag{"insecure_playground_listen", "HOST:PORT",
         "where to serve the playground in plain text to whoever comes [nowhere]",
         &SetHostPort<&Config::insecure_playground_listen>},
    Flag{"playground_names", "NAME[,NAME...]",
         "names that the playground may be asked for by, beside addresses and localhost [none]",
         &SetPlaygroundNames},
    // What is loaded and compiled before the server says that it is ready.
    Flag{"tokenizer", "NAME=PATH[,format=F][,preset=NAME][,special=TEXT:ID...][,stop=TEXT...]",
         "a vocabulary file; may repeat, the first is the default; in the environment separated "
         "by ';' [the embedded vocabulary \"bytes\"]",
         &AddTokenizers},
    Flag{"grammars", "FOLDER",
         "grammars compiled before readiness, and kept: files NAME.KIND with a grammar's text "
         "[none]",
         &SetText<&Config::grammars>},
    // Memory. The shares that are not given follow from memory_bytes (memory_plan.h).
    Flag{"memory_bytes", "BYTES",
         "what the process may hold in all, such as 1GiB [90 % of the control group's limit, else "
         "of "
         "the machine's memory]",
         &SetBytes<&Config::memory_bytes, std::int64_t{64} << 20, kMaxBytes>},
    Flag{"cache_bytes", "BYTES", "compiled grammars kept [a third of memory_bytes]",
         &SetBytes<&Config::cache_bytes, 0, kMaxBytes>},
    Flag{"mask_store_bytes", "BYTES",
         "masks kept for each tokenizer [256 MiB, for all at most an eighth of memory_bytes]",
         &SetBytes<&Config::mask_store_bytes, 0, kMaxBytes>},
    // Threads and the work made ahead; docs/design/threads.md says who runs what.
    Flag{"compile_threads", "COUNT", "compiles at once, 0 for one a usable core [0]",
         &SetNumber<&Config::compile_threads, 0, 1024>},
    Flag{"warm_up_ms", "MS",
         "time for masks made ahead for each new grammar, at a low priority; 0 for none [10]",
         &SetTime<&Config::warm_up_ms, kMs, 0, 10'000>},
    Flag{"look_ahead_masks", "COUNT",
         "masks made behind the place of each row between two steps; 0 for none [16]",
         &SetNumber<&Config::look_ahead_masks, 0, 10'000>},
    Flag{"heap_mib", "MIB",
         "heap touched at the start, so that no answer waits for fresh pages, at most an eighth of "
         "memory_bytes; 0 for none [256]",
         &SetNumber<&Config::heap_mib, 0, 1'000'000>},
    Flag{"compile_queue", "COUNT", "compiles that may wait for a thread [256]",
         &SetNumber<&Config::compile_queue, 1, 1'000'000>},
    Flag{"stream_threads", "COUNT", "threads that serve the Decode streams [1]",
         &SetNumber<&Config::stream_threads, 1, 256>},
    Flag{"mask_threads", "COUNT",
         "threads that make the masks that a step lacks where its stream's thread has other "
         "streams, or many rows lack theirs; 0: that thread makes them; -1 for one a usable core, "
         "but two at least [-1]",
         &SetNumber<&Config::mask_threads, kMaskThreadACore, 256>},
    // Bounds of the Decode streams. Those of one peer keep one engine from taking all places.
    Flag{"max_streams", "COUNT", "Decode streams open at once [64]",
         &SetNumber<&Config::max_streams, 1, 10'000>},
    Flag{"max_peer_streams", "COUNT",
         "those of one user of this machine, or of one address; 0: as many as max_streams [0]",
         &SetNumber<&Config::max_peer_streams, 0, 10'000>},
    Flag{"hello_ms", "MS", "how long a Decode stream may take to say hello [5000]",
         &SetTime<&Config::hello_ms, kMs, 1, 3'600'000>},
    Flag{"idle_ms", "MS",
         "after how long without a step a Decode stream ends, at the latest after twice that; 0 "
         "for never [0]",
         &SetTime<&Config::idle_ms, kMs, 0, 86'400'000>},
    Flag{"shared_memory", "BOOL",
         "lend memory to streams over a Unix socket that ask for it [true]",
         &SetSwitch<&Config::shared_memory>},
    Flag{"awake_us", "US",
         "how long a stream's thread looks for the next step before it sleeps [20]",
         &SetTime<&Config::awake_us, kUs, 0, 1'000'000>},
    Flag{"max_rows", "COUNT", "rows open at once in one stream [4096]",
         &SetNumber<&Config::max_rows, 1, 1'000'000>},
    Flag{"max_row_tokens", "COUNT", "tokens of one row [1048576]",
         &SetNumber<&Config::max_row_tokens, 1, kMaxInt32>},
    // Bounds of messages: by their bytes, since a client decides how large they are.
    Flag{"max_message_bytes", "BYTES", "one message of a client [16777216]",
         &SetBytes<&Config::max_message_bytes, 4096, kMaxInt32>},
    Flag{"max_reply_bytes", "BYTES",
         "the reply to one step; rows whose masks would not fit have an error [67108864]",
         &SetBytes<&Config::max_reply_bytes, 1 << 20, kMaxInt32>},
    Flag{"max_receiving_bytes", "BYTES",
         "messages of calls other than Decode that are being received, all together [268435456]",
         &SetBytes<&Config::max_receiving_bytes, 4096, kMaxBytes>},
    Flag{"max_unread_reply_bytes", "BYTES",
         "replies of calls other than Decode that their callers have not read, all together "
         "[134217728]",
         &SetBytes<&Config::max_unread_reply_bytes, 1 << 20, kMaxBytes>},
    Flag{"max_wait_for_compile_ms", "MS", "longest wait of a step for compiling rows [10000]",
         &SetTime<&Config::max_wait_for_compile_ms, kMs, 0, 600'000>},
    // Bounds of one compile. Its work is counted in units and not in time, so the same text is
    // refused on a slow machine and on a fast one alike.
    Flag{"max_source_bytes", "BYTES", "one grammar's source text [4194304]",
         &SetByteLimit<&Limits::source_bytes, 1, kMaxInt32>},
    Flag{"max_compile_work", "UNITS",
         "units of work of one compile, 2 to 5 million a second [5000000]",
         &SetLimit<&Limits::compile_work, 1, kMaxWork>},
    Flag{"max_grammar_bytes", "BYTES", "memory of one compiled grammar [268435456]",
         &SetByteLimit<&Limits::grammar_bytes, 1 << 16, kMaxBytes>},
    Flag{"drain_ms", "MS", "how long open calls are answered after SIGTERM [5000]",
         &SetTime<&Config::drain_ms, kMs, 0, 3'600'000>},
    Flag{"stall_ms", "MS",
         "how long a compile, a stream's thread or the accept loop may be at one piece of work "
         "before "
         "liveness is NOT_SERVING [30000]",
         &SetTime<&Config::stall_ms, kMs, 100, 3'600'000>},
    Flag{"cpu_kernels", "LEVEL",
         "instructions for the loops over masks: auto, avx512, avx2, neon, portable [auto]",
         &SetCpuKernels},
    Flag{"check_config", "",
         "read flags, file, certificates, tokens and vocabularies, say what is wrong, and exit",
         [](absl::string_view value, Config* config) {
           return SetAction(value, Config::Action::kCheckConfig, config);
         }},
    Flag{"health", "NAME",
         "ask the server that runs with these flags for readiness or liveness; exit status 0 when "
         "it says SERVING",
         [](absl::string_view value, Config* config) {
           config->action = Config::Action::kHealth;
           return SetText<&Config::health>(value, config);
         }},
    Flag{"version", "", "print the version and exit",
         [](absl::string_view value, Config* config) {
           return SetAction(value, Config::Action::kVersion, config);
         }},
    Flag{"help", "", "print this and exit",
         [](absl::string_view value, Config* config) {
           return SetAction(value, Config::Action::kHelp, config);
         }},
};

// An old name is an error with advice. To ignore it would run the server without a bound that its
// operator relies on.
constexpr std::array kRetiredFlags = {
    RetiredFlag{"max_compile_ms", "a compile is bounded by its work, --max_compile_work"},
    RetiredFlag{"reflection", "the addresses of --admin_listen have it, and no other"},
};

}  // namespace

std::span<const Flag> AllFlags() { return kFlags; }

std::span<const RetiredFlag> RetiredFlags() { return kRetiredFlags; }

}  // namespace maskd::service
