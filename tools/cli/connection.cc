// With --local a whole server starts in this process, on a Unix socket in a new directory, and the
// client connects to it as to any other. So a command has one way to ask, whatever the server is.
//
// Invariant  the client goes before the server, and the server before its directory.
// Cost       --local loads the vocabulary at each start.
#include "tools/cli/connection.h"

#include <array>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "service/base/log.h"
#include "service/config/config.h"
#include "service/config/tokenizer_flag.h"
#include "tools/cli/command.h"

namespace maskd::cli {
namespace {

// A path alone is a vocabulary file, named after itself; else the server's own form of the flag.
std::string AsServerFlag(const std::string& value) {
  const std::string first = value.substr(0, value.find(','));
  if (absl::StrContains(first, "=") || first == service::kEmbeddedTokenizer) return value;
  return absl::StrCat(std::filesystem::path(first).stem().string(), "=", value);
}

absl::Status CheckForm(absl::string_view said_by, absl::string_view address) {
  if (absl::StrContains(address, ":")) return absl::OkStatus();
  return UsageError(
      absl::StrCat(said_by, ": \"", address, "\" is neither unix:/path nor host:port"));
}

absl::StatusOr<std::filesystem::path> MakeDirectory() {
  std::error_code error;
  const std::filesystem::path temp = std::filesystem::temp_directory_path(error);
  std::string name = (temp / "maskctl.XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot make a directory in ", temp.string(), " for the local server"));
  }
  return name;
}

// A flag, and the variable of the client library that it stands for.
struct SecurityFlag {
  const char* flag;
  const char* variable;
};

constexpr std::array kSecurityFlags = {
    SecurityFlag{"tls_ca", "MASKD_TLS_CA"},         SecurityFlag{"tls_cert", "MASKD_TLS_CERT"},
    SecurityFlag{"tls_key", "MASKD_TLS_KEY"},       SecurityFlag{"tls_name", "MASKD_TLS_NAME"},
    SecurityFlag{"token_file", "MASKD_TOKEN_FILE"},
};

// What to do where no server answers.
absl::Status WithAdvice(const absl::Status& status) {
  return absl::UnavailableError(
      absl::StrCat(status.message(),
                   "; --server or MASKD_ADDRESS says where the server is, --local needs none"));
}

}  // namespace

void SetSecurity(const Flags& flags) {
  for (const SecurityFlag& each : kSecurityFlags) {
    const std::string value = flags.Get(each.flag);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before the first connection and its threads
    if (!value.empty()) setenv(each.variable, value.c_str(), 1);
  }
}

absl::StatusOr<std::string> AddressOf(const Flags& flags, const char* variable) {
  // The program has not changed this variable.
  const char* const address = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  const bool is_used = address != nullptr && *address != '\0' && !flags.Has("server");
  const std::string& said = is_used ? address : flags.Get("server");
  absl::Status checked = CheckForm(is_used ? variable : "--server", said);
  if (!checked.ok()) return checked;
  return said;
}

absl::StatusOr<std::string> ServerAddress(const Flags& flags) {
  return AddressOf(flags, "MASKD_ADDRESS");
}

std::vector<Flag> WithServerFlags(Flag server, std::vector<Flag> more) {
  const std::vector<Flag> flags = {
      server,
      {"tls_ca", "PATH",
       "who may have signed the server's certificate, PEM, or \"system\": the server is reached\n"
       "        over TLS [MASKD_TLS_CA; none: in plain text]"},
      {"tls_cert", "PATH", "this client's certificate, PEM [MASKD_TLS_CERT]"},
      {"tls_key", "PATH", "its private key [MASKD_TLS_KEY]"},
      {"tls_name", "NAME", "the name in the server's certificate [MASKD_TLS_NAME, the host]"},
      {"token_file", "PATH", "a file that holds a bearer token, for TLS [MASKD_TOKEN_FILE]"},
  };
  more.insert(more.end(), flags.begin(), flags.end());
  return more;
}

std::vector<Flag> WithConnectionFlags(std::vector<Flag> more) {
  const std::vector<Flag> flags = {
      {"json", "", "print JSON instead of lines"},
      {"tokenizer", "NAME",
       "a tokenizer of the server [its default one]; with --local the vocabulary to load: "
       "PATH, or\n"
       "        NAME=PATH[,format=F][,special=TEXT:ID...][,stop=TEXT...] [the embedded bytes]"},
      {"local", "", "ask a server inside this program instead"},
  };
  more.insert(more.end(), flags.begin(), flags.end());
  return WithServerFlags(
      {"server", "ADDRESS", "the server to ask, unix:/path or host:port; MASKD_ADDRESS says it too",
       "unix:/tmp/maskd.sock"},
      std::move(more));
}

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const Flags& flags) {
  return Open(flags, "");
}

absl::StatusOr<std::unique_ptr<Connection>> Connection::OpenWithMetrics(const Flags& flags) {
  return Open(flags, "127.0.0.1:0");
}

std::string Connection::metrics_address() const {
  const int port = server_ == nullptr ? 0 : server_->metrics_port();
  return port == 0 ? "" : absl::StrCat("127.0.0.1:", port);
}

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(const Flags& flags,
                                                             const std::string& metrics_listen) {
  std::unique_ptr<Connection> connection(new Connection());
  if (flags.Has("local") && flags.Has("server"))
    return UsageError("--server: has no meaning with --local");
  absl::Status status;
  if (flags.Has("local")) {
    status = connection->StartLocal(flags.Get("tokenizer"), metrics_listen);
  } else {
    SetSecurity(flags);
    connection->tokenizer_ = flags.Get("tokenizer");
    const absl::StatusOr<std::string> address = ServerAddress(flags);
    if (!address.ok()) return address.status();
    status = connection->Connect(*address);
    if (absl::IsUnavailable(status)) status = WithAdvice(status);
  }
  if (!status.ok()) return status;
  return connection;
}

Connection::~Connection() {
  client_.reset();
  server_.reset();
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

absl::Status Connection::StartLocal(const std::string& tokenizer_flag,
                                    const std::string& metrics_listen) {
  service::Config config;
  if (!tokenizer_flag.empty()) {
    auto source = service::ParseTokenizerFlag(AsServerFlag(tokenizer_flag));
    if (!source.ok()) return UsageError(absl::StrCat("--tokenizer: ", source.status().message()));
    config.tokenizers = {*std::move(source)};
  }
  auto directory = MakeDirectory();
  if (!directory.ok()) return directory.status();
  directory_ = *std::move(directory);
  const std::string address = absl::StrCat("unix:", (directory_ / "maskd.sock").string());
  config.listen = {address};
  config.metrics_listen = metrics_listen;
  service::SilenceLog();
  auto server = service::Server::Start(config);
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  return Connect(address);
}

absl::Status Connection::Connect(const std::string& address) {
  auto client = client::Client::Connect({.address = address});
  if (!client.ok()) return client.status();
  client_ = *std::move(client);
  return absl::OkStatus();
}

}  // namespace maskd::cli
