// Files are read before gRPC is given their names: gRPC says of a wrong one no more than that it
// cannot connect, and ends the process over a folder. What it watches it reads again by itself.
//
// Invariant  credentials are made of an environment that CheckSecurity() has no error for, or not
//            at all.
// Cost       the files are read at each connection, the token's at each call.
#include "client/cpp/connect/security.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/security/tls_certificate_provider.h"
#include "grpcpp/security/tls_credentials_options.h"

#include "client/cpp/connect/resolve.h"
#include "client/cpp/connect/socket_path.h"

namespace maskd::client {
namespace {

using grpc::experimental::CertificateProviderInterface;
using grpc::experimental::FileWatcherCertificateProvider;

constexpr unsigned int kRefreshSeconds = 60;
constexpr char kCa[] = "MASKD_TLS_CA";
constexpr char kCert[] = "MASKD_TLS_CERT";
constexpr char kKey[] = "MASKD_TLS_KEY";
constexpr char kName[] = "MASKD_TLS_NAME";
constexpr char kTokenFile[] = "MASKD_TOKEN_FILE";
constexpr absl::string_view kSystem = "system";

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr ? std::string() : std::string(value);
}

absl::Status Wrong(absl::string_view variable, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(variable, ": ", why));
}

// The file's text. Errors: INVALID_ARGUMENT with the variable (it cannot be read, or is empty).
absl::StatusOr<std::string> ReadFile(const char* variable, const std::string& path) {
  errno = 0;
  std::ifstream file(path);
  std::string text;
  // An empty file has nothing to give, a folder cannot be read.
  if (file && file.peek() != std::ifstream::traits_type::eof())
    text.assign(std::istreambuf_iterator<char>(file), {});
  if (!text.empty()) return text;
  return Wrong(variable, absl::StrCat(path, ": ", errno == 0 ? "is empty" : std::strerror(errno)));
}

// What a file of PEM holds at least: gRPC says no more than that it cannot connect.
absl::Status CheckPem(const char* variable) {
  const std::string path = Variable(variable);
  if (path.empty() || (variable == kCa && path == kSystem)) return absl::OkStatus();
  const auto text = ReadFile(variable, path);
  if (!text.ok()) return text.status();
  return absl::StrContains(*text, "-----BEGIN ")
             ? absl::OkStatus()
             : Wrong(variable, absl::StrCat(path, ": is no PEM"));
}

// The first line of the file, without white space around.
absl::StatusOr<std::string> ReadToken(const std::string& path) {
  const auto text = ReadFile(kTokenFile, path);
  if (!text.ok()) return text.status();
  const absl::string_view line = absl::string_view(*text).substr(0, text->find('\n'));
  std::string token(absl::StripAsciiWhitespace(line));
  if (token.empty())
    return Wrong(kTokenFile, absl::StrCat(path, ": has no token in its first line"));
  return token;
}

// The token's file, read for each call, so that a new token is used at once.
class TokenOfFile : public grpc::MetadataCredentialsPlugin {
 public:
  explicit TokenOfFile(std::string path) : path_(std::move(path)) {}

  grpc::Status GetMetadata(grpc::string_ref /*url*/, grpc::string_ref /*method*/,
                           const grpc::AuthContext& /*channel*/,
                           std::multimap<grpc::string, grpc::string>* metadata) override {
    const absl::StatusOr<std::string> token = ReadToken(path_);
    if (!token.ok())
      return {grpc::StatusCode::UNAUTHENTICATED, std::string(token.status().message())};
    metadata->emplace("authorization", absl::StrCat("Bearer ", *token));
    return grpc::Status::OK;
  }
  bool IsBlocking() const override { return false; }  // a line of a file

 private:
  const std::string path_;
};

// One for the same files in a process: each has a thread. Null where there is no file to watch.
std::shared_ptr<CertificateProviderInterface> Provider(const std::string& ca,
                                                       const std::string& certificate,
                                                       const std::string& key) {
  if (ca.empty() && certificate.empty()) return nullptr;
  static std::mutex mutex;
  static auto* const all =
      new std::map<std::string, std::shared_ptr<CertificateProviderInterface>>();
  const std::lock_guard lock(mutex);
  auto& provider = (*all)[absl::StrCat(ca, "\n", certificate, "\n", key)];
  if (provider == nullptr) {
    provider =
        std::make_shared<FileWatcherCertificateProvider>(key, certificate, ca, kRefreshSeconds);
  }
  return provider;
}

std::shared_ptr<grpc::ChannelCredentials> TlsOfEnvironment() {
  const std::string ca = Variable(kCa) == kSystem ? std::string() : Variable(kCa);
  const std::string certificate = Variable(kCert);
  grpc::experimental::TlsChannelCredentialsOptions options;
  if (const auto provider = Provider(ca, certificate, Variable(kKey)); provider != nullptr) {
    options.set_certificate_provider(provider);
    if (!ca.empty()) options.watch_root_certs();
    if (!certificate.empty()) options.watch_identity_key_cert_pairs();
  }
  return grpc::experimental::TlsCredentials(options);
}

}  // namespace

absl::Status CheckSecurity() {
  if (Variable(kCa).empty()) {
    for (const char* variable : {kCert, kKey, kName, kTokenFile})
      if (!Variable(variable).empty()) return Wrong(variable, absl::StrCat("needs ", kCa));
    return absl::OkStatus();
  }
  if (Variable(kCert).empty() != Variable(kKey).empty())
    return Wrong(kCert, absl::StrCat("and ", kKey, " are given together"));
  for (const char* variable : {kCa, kCert, kKey})
    if (absl::Status checked = CheckPem(variable); !checked.ok()) return checked;
  const std::string token_file = Variable(kTokenFile);
  return token_file.empty() ? absl::OkStatus() : ReadToken(token_file).status();
}

std::shared_ptr<grpc::ChannelCredentials> MakeCredentials(absl::string_view address,
                                                          grpc::ChannelArguments* arguments) {
  if (SocketPathOf(address).has_value()) return grpc::InsecureChannelCredentials();
  if (!CheckSecurity().ok()) return nullptr;
  if (Variable(kCa).empty()) return grpc::InsecureChannelCredentials();
  std::string name = Variable(kName);
  if (name.empty()) name = SplitName(address).name;
  if (!name.empty()) arguments->SetSslTargetNameOverride(name);
  std::shared_ptr<grpc::ChannelCredentials> credentials = TlsOfEnvironment();
  const std::string token_file = Variable(kTokenFile);
  if (token_file.empty()) return credentials;
  return grpc::CompositeChannelCredentials(
      credentials, grpc::MetadataCredentialsFromPlugin(std::make_unique<TokenOfFile>(token_file)));
}

}  // namespace maskd::client
