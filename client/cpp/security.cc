#include "client/cpp/security.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "grpcpp/security/tls_certificate_provider.h"
#include "grpcpp/security/tls_credentials_options.h"

#include "client/cpp/resolve.h"
#include "client/cpp/socket_path.h"

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

absl::Status CheckFile(const char* variable) {
  const std::string path = Variable(variable);
  if (path.empty() || (variable == kCa && path == kSystem)) return absl::OkStatus();
  errno = 0;
  return std::ifstream(path) ? absl::OkStatus()
                             : Wrong(variable, absl::StrCat(path, ": ", std::strerror(errno)));
}

// The token's file, read for each call, so that a new token is used at once.
class TokenOfFile : public grpc::MetadataCredentialsPlugin {
 public:
  explicit TokenOfFile(std::string path) : path_(std::move(path)) {}

  grpc::Status GetMetadata(grpc::string_ref /*url*/, grpc::string_ref /*method*/,
                           const grpc::AuthContext& /*channel*/,
                           std::multimap<grpc::string, grpc::string>* metadata) override {
    std::string token;
    std::ifstream file(path_);
    if (!file || !std::getline(file, token))
      return {grpc::StatusCode::UNAUTHENTICATED, absl::StrCat(kTokenFile, ": cannot be read")};
    metadata->emplace("authorization", absl::StrCat("Bearer ", absl::StripAsciiWhitespace(token)));
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
  for (const char* variable : {kCa, kCert, kKey, kTokenFile})
    if (absl::Status checked = CheckFile(variable); !checked.ok()) return checked;
  return absl::OkStatus();
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
