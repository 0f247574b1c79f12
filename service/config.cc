#include "service/config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include <grp.h>

#include "cpu/level.h"
#include "grammar_core/base/error.h"
#include "grammar_core/mask/word_kernels.h"
#include "memory/byte_size.h"

namespace maskd::service {
namespace {

absl::Status Wrong(absl::string_view message) {
  return absl::InvalidArgumentError(std::string(message));
}

using Setter = absl::Status (*)(absl::string_view value, Config* config);

// A number in [kMin, kMax] for one field.
template <std::int64_t Config::* kField, std::int64_t kMin, std::int64_t kMax>
absl::Status SetNumber(absl::string_view value, Config* config) {
  std::int64_t number = 0;
  if (!absl::SimpleAtoi(value, &number) || number < kMin || number > kMax) {
    return Wrong(absl::StrCat("\"", value, "\" is not a number from ", kMin, " to ", kMax));
  }
  config->*kField = number;
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

template <auto kField, std::int64_t kMin, std::int64_t kMax>
absl::Status SetBytes(absl::string_view value, Config* config) {
  return SetBytesOf<kField, kMin, kMax>(value, config);
}

template <auto kField, std::int64_t kMin, std::int64_t kMax>
absl::Status SetByteLimit(absl::string_view value, Config* config) {
  return SetBytesOf<kField, kMin, kMax>(value, &config->limits);
}

template <std::int64_t Limits::* kField, std::int64_t kMin, std::int64_t kMax>
absl::Status SetLimit(absl::string_view value, Config* config) {
  std::int64_t number = 0;
  if (!absl::SimpleAtoi(value, &number) || number < kMin || number > kMax) {
    return Wrong(absl::StrCat("\"", value, "\" is not a number from ", kMin, " to ", kMax));
  }
  config->limits.*kField = number;
  return absl::OkStatus();
}

absl::Status SetBool(absl::string_view value, bool* field) {
  if (!absl::SimpleAtob(value, field)) {
    return Wrong(absl::StrCat("\"", value, "\" is neither true nor false"));
  }
  return absl::OkStatus();
}

absl::Status SetAction(absl::string_view value, Config::Action action, Config* config) {
  bool wanted = false;
  absl::Status read = SetBool(value, &wanted);
  if (read.ok() && wanted) {
    config->action = action;
  }
  return read;
}

absl::Status CheckHostPort(absl::string_view address) {
  const std::size_t colon = address.rfind(':');
  std::int64_t port = 0;
  if (colon == absl::string_view::npos || colon == 0 ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return Wrong(absl::StrCat("\"", address, "\" is not host:port"));
  }
  return absl::OkStatus();
}

absl::Status CheckListenAddress(absl::string_view address) {
  const std::optional<absl::string_view> path = SocketPathOf(address);
  if (!path.has_value()) return CheckHostPort(address);
  // sun_path of Linux: 108 bytes with the final 0.
  constexpr std::size_t kMaxSocketPath = 107;
  if (!absl::StartsWith(*path, "/") || path->size() > kMaxSocketPath) {
    return Wrong(absl::StrCat("\"", address, "\" is not unix: and an absolute path of at most ",
                              kMaxSocketPath, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status SetListen(absl::string_view value, Config* config) {
  config->listen.clear();
  for (absl::string_view address : absl::StrSplit(value, ',', absl::SkipEmpty())) {
    if (absl::Status checked = CheckListenAddress(address); !checked.ok()) {
      return checked;
    }
    config->listen.emplace_back(address);
  }
  return config->listen.empty() ? Wrong("at least one address is needed") : absl::OkStatus();
}

absl::Status SetSocketMode(absl::string_view value, Config* config) {
  constexpr int kOctal = 8;
  constexpr std::int64_t kMostRights = 0777;
  std::int64_t mode = 0;
  for (const char digit : value) {
    if (digit < '0' || digit >= '0' + kOctal || mode > kMostRights) mode = kMostRights + 1;
    if (mode <= kMostRights) mode = kOctal * mode + (digit - '0');
  }
  if (value.empty() || mode > kMostRights) {
    return Wrong(absl::StrCat("\"", value, "\" is not an octal number up to 0777, such as 0770"));
  }
  config->socket_mode = mode;
  return absl::OkStatus();
}

absl::Status SetSocketGroup(absl::string_view value, Config* config) {
  std::int64_t id = 0;
  if (!absl::SimpleAtoi(value, &id)) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread yet
    const group* const found = getgrnam(std::string(value).c_str());
    id = found == nullptr ? -1 : static_cast<std::int64_t>(found->gr_gid);
  }
  if (id < 0 || id >= std::numeric_limits<gid_t>::max()) {
    return Wrong(absl::StrCat("\"", value, "\" is neither a group of this machine nor an id"));
  }
  config->socket_group = id;
  return absl::OkStatus();
}

absl::Status SetMetricsListen(absl::string_view value, Config* config) {
  config->metrics_listen = std::string(value);
  return value.empty() ? absl::OkStatus() : CheckHostPort(value);
}

absl::Status AddTokenizers(absl::string_view value, Config* config) {
  for (absl::string_view one : absl::StrSplit(value, ';', absl::SkipEmpty())) {
    absl::StatusOr<VocabularySource> source = ParseTokenizerFlag(one);
    if (!source.ok()) {
      return source.status();
    }
    for (const VocabularySource& other : config->tokenizers) {
      if (other.name == source->name) {
        return Wrong(absl::StrCat("the name \"", source->name, "\" is given twice"));
      }
    }
    config->tokenizers.push_back(*std::move(source));
  }
  return absl::OkStatus();
}

absl::Status SetCpuKernels(absl::string_view value, Config* config) {
  if (const auto found = cpu::Find(AllWordKernels(), value); !found.ok()) {
    return Wrong(found.status().message());
  }
  config->cpu_kernels = std::string(value);
  return absl::OkStatus();
}

struct Flag {
  absl::string_view name;
  absl::string_view shape;  // of its value, for --help; empty for a switch
  absl::string_view help;
  Setter set;
};

constexpr std::int64_t kMaxBytes = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMaxWork = 1'000'000'000'000;
constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();

constexpr std::array kFlags = {
    Flag{"listen", "ADDRESS[,ADDRESS...]",
         "where to serve gRPC, unix:/path or host:port [unix:/tmp/maskd.sock,127.0.0.1:7411]",
         &SetListen},
    Flag{"socket_mode", "MODE",
         "rights of the Unix sockets' files, octal; who may write may connect [0700, with "
         "socket_group 0770]",
         &SetSocketMode},
    Flag{"socket_group", "GROUP", "group of the Unix sockets' files, by name or id [the process's]",
         &SetSocketGroup},
    Flag{"max_connections", "COUNT", "connections open at once [1024]",
         &SetNumber<&Config::max_connections, 1, 1'000'000>},
    Flag{"max_peer_connections", "COUNT",
         "those of one user of this machine, over Unix sockets, or of one address [512]",
         &SetNumber<&Config::max_peer_connections, 1, 1'000'000>},
    Flag{"metrics_listen", "HOST:PORT",
         "where to serve Prometheus metrics, empty for nowhere [127.0.0.1:9411]",
         &SetMetricsListen},
    Flag{"tokenizer", "NAME=PATH[,format=F][,preset=NAME][,special=TEXT:ID...][,stop=TEXT...]",
         "a vocabulary file; may repeat, the first is the default; in the environment separated "
         "by ';' [the embedded vocabulary \"bytes\"]",
         &AddTokenizers},
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
    Flag{"compile_threads", "COUNT", "compiles at once, 0 for one a usable core [0]",
         &SetNumber<&Config::compile_threads, 0, 1024>},
    Flag{"warm_up_ms", "MS",
         "time for masks made ahead for each new grammar, at a low priority; 0 for none [10]",
         &SetNumber<&Config::warm_up_ms, 0, 10'000>},
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
         "streams; 0: that thread makes them [2]",
         &SetNumber<&Config::mask_threads, 0, 256>},
    Flag{"max_streams", "COUNT", "Decode streams open at once [64]",
         &SetNumber<&Config::max_streams, 1, 10'000>},
    Flag{"max_peer_streams", "COUNT",
         "those of one user of this machine, or of one address; 0: as many as max_streams [0]",
         &SetNumber<&Config::max_peer_streams, 0, 10'000>},
    Flag{"hello_ms", "MS", "how long a Decode stream may take to say hello [5000]",
         &SetNumber<&Config::hello_ms, 1, 3'600'000>},
    Flag{"idle_ms", "MS",
         "how long a Decode stream may send no step, twice that at most; 0 for ever [0]",
         &SetNumber<&Config::idle_ms, 0, 86'400'000>},
    Flag{"shared_memory", "BOOL",
         "lend memory to streams over a Unix socket that ask for it [true]",
         [](absl::string_view value, Config* config) {
           return SetBool(value, &config->shared_memory);
         }},
    Flag{"awake_us", "US",
         "how long a stream's thread looks for the next step before it sleeps [20]",
         &SetNumber<&Config::awake_us, 0, 1'000'000>},
    Flag{"max_rows", "COUNT", "rows open at once in one stream [4096]",
         &SetNumber<&Config::max_rows, 1, 1'000'000>},
    Flag{"max_row_tokens", "COUNT", "tokens of one row [1048576]",
         &SetNumber<&Config::max_row_tokens, 1, kMaxInt32>},
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
         &SetNumber<&Config::max_wait_for_compile_ms, 0, 600'000>},
    Flag{"max_source_bytes", "BYTES", "one grammar's source text [4194304]",
         &SetByteLimit<&Limits::source_bytes, 1, kMaxInt32>},
    Flag{"max_compile_work", "UNITS",
         "units of work of one compile, 2 to 5 million a second [5000000]",
         &SetLimit<&Limits::compile_work, 1, kMaxWork>},
    Flag{"max_grammar_bytes", "BYTES", "memory of one compiled grammar [268435456]",
         &SetByteLimit<&Limits::grammar_bytes, 1 << 16, kMaxBytes>},
    Flag{"drain_ms", "MS", "how long open calls are answered after SIGTERM [5000]",
         &SetNumber<&Config::drain_ms, 0, 3'600'000>},
    Flag{"stall_ms", "MS",
         "how long a compile, a stream's thread or the accept loop may be at one piece of work "
         "before "
         "liveness is NOT_SERVING [30000]",
         &SetNumber<&Config::stall_ms, 100, 3'600'000>},
    Flag{"cpu_kernels", "LEVEL",
         "instructions for the loops over masks: auto, avx512, avx2, neon, portable [auto]",
         &SetCpuKernels},
    Flag{"reflection", "BOOL", "serve gRPC reflection [true]",
         [](absl::string_view value, Config* config) {
           return SetBool(value, &config->reflection);
         }},
    Flag{"check_config", "", "read the flags and the vocabularies, then exit",
         [](absl::string_view value, Config* config) {
           return SetAction(value, Config::Action::kCheckConfig, config);
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

const Flag* FindFlag(absl::string_view name) {
  for (const Flag& flag : kFlags) {
    if (flag.name == name) {
      return &flag;
    }
  }
  return nullptr;
}

// Flags of earlier releases, and what took their place.
struct RetiredFlag {
  absl::string_view name;
  absl::string_view instead;
};

constexpr std::array kRetiredFlags = {
    RetiredFlag{"max_compile_ms", "a compile is bounded by its work, --max_compile_work"},
};

std::string VariableOf(absl::string_view flag) {
  return absl::StrCat("MASKD_", absl::AsciiStrToUpper(flag));
}

absl::Status NoSuchFlag(absl::string_view name) {
  for (const RetiredFlag& retired : kRetiredFlags) {
    if (retired.name == name) {
      return Wrong(absl::StrCat("--", name, ": no such flag any more: ", retired.instead));
    }
  }
  return Wrong(absl::StrCat("--", name, ": no such flag; see maskd --help"));
}

absl::Status Apply(const Flag& flag, absl::string_view spelling, absl::string_view value,
                   Config* config) {
  const absl::Status applied = flag.set(value, config);
  return applied.ok() ? applied : Wrong(absl::StrCat(spelling, ": ", applied.message()));
}

absl::Status ReadEnvironment(const Environment& environment, Config* config) {
  for (const RetiredFlag& retired : kRetiredFlags) {
    const std::string variable = VariableOf(retired.name);
    if (environment(variable).has_value()) {
      return Wrong(absl::StrCat(variable, ": not read any more: ", retired.instead));
    }
  }
  for (const Flag& flag : kFlags) {
    const std::string variable = VariableOf(flag.name);
    const std::optional<std::string> value = environment(variable);
    if (!value.has_value()) {
      continue;
    }
    if (absl::Status applied = Apply(flag, variable, *value, config); !applied.ok()) {
      return applied;
    }
  }
  return absl::OkStatus();
}

// One argument of the command line: its flag and its value.
struct Given {
  const Flag* flag;
  std::string value;
};

absl::StatusOr<Given> ReadArgument(const std::vector<std::string>& arguments, std::size_t* at) {
  absl::string_view argument = arguments[(*at)++];
  if (!absl::ConsumePrefix(&argument, "--")) {
    return Wrong(absl::StrCat(argument, ": flags begin with --; see maskd --help"));
  }
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(argument, absl::MaxSplits('=', 1));
  const Flag* flag = FindFlag(parts.first);
  if (flag == nullptr) {
    return NoSuchFlag(parts.first);
  }
  if (absl::StrContains(argument, "=")) {
    return Given{flag, std::string(parts.second)};
  }
  if (flag->shape.empty()) {
    return Given{flag, "true"};
  }
  if (*at == arguments.size()) {
    return Wrong(absl::StrCat("--", flag->name, ": needs a value, ", flag->shape));
  }
  return Given{flag, arguments[(*at)++]};
}

absl::Status ReadArguments(const std::vector<std::string>& arguments, Config* config) {
  bool tokenizer_given = false;
  for (std::size_t at = 0; at < arguments.size();) {
    absl::StatusOr<Given> given = ReadArgument(arguments, &at);
    if (!given.ok()) {
      return given.status();
    }
    if (given->flag->name == "tokenizer" && !std::exchange(tokenizer_given, true)) {
      config->tokenizers.clear();  // the command line replaces the environment's list
    }
    absl::Status applied =
        Apply(*given->flag, absl::StrCat("--", given->flag->name), given->value, config);
    if (!applied.ok()) {
      return applied;
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<absl::string_view> SocketPathOf(absl::string_view address) {
  if (!absl::ConsumePrefix(&address, "unix:")) return std::nullopt;
  return address;
}

absl::StatusOr<Config> ReadConfig(const std::vector<std::string>& arguments,
                                  const Environment& environment) {
  Config config;
  if (absl::Status read = ReadEnvironment(environment, &config); !read.ok()) {
    return read;
  }
  if (absl::Status read = ReadArguments(arguments, &config); !read.ok()) {
    return read;
  }
  return config;
}

std::string ConfigHelp() {
  std::string help =
      "maskd: turns grammars into token masks for inference engines, over gRPC.\n\n"
      "  maskd [--flag=value ...]\n\n"
      "Each flag can be given as an environment variable too: --max_rows is MASKD_MAX_ROWS.\n\n";
  for (const Flag& flag : kFlags) {
    absl::StrAppend(&help, "  --", flag.name, flag.shape.empty() ? "" : "=", flag.shape,
                    "\n        ", flag.help, "\n");
  }
  absl::StrAppend(&help, "\nVocabulary formats: ", absl::StrJoin(VocabularyFormats(), ", "),
                  "\nPresets of special tokens: ", absl::StrJoin(SpecialPresets(), ", "), "\n");
  return help;
}

}  // namespace maskd::service
