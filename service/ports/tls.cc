// gRPC reads the files itself, again and again, so that a new certificate is used without a
// restart. It says nothing of a file that is wrong; so they are read here first, at the start,
// where an error can still be told.
#include "service/ports/tls.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "service/callers/token_table.h"

namespace maskd::service {
namespace {

constexpr unsigned int kRefreshSeconds = 1;

struct Freer {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
template <typename T>
using Owned = std::unique_ptr<T, Freer>;

// A thing of a PEM file, by `read`.
template <typename Read>
auto ReadPem(const std::string& flag, const std::string& path, const char* what, const Read& read)
    -> absl::StatusOr<decltype(read(nullptr))> {
  const absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (!text.ok())
    return absl::InvalidArgumentError(absl::StrCat("--", flag, ": ", text.status().message()));
  const Owned<BIO> bio(BIO_new_mem_buf(text->data(), static_cast<int>(text->size())));
  auto found = read(bio.get());
  // OpenSSL keeps errors by thread: one left here would be told of a later, unrelated call.
  ERR_clear_error();
  if (found != nullptr) return found;
  return absl::InvalidArgumentError(absl::StrCat("--", flag, ": ", path, ": has no ", what));
}

Owned<X509> ReadCertificate(BIO* bio) {
  return Owned<X509>(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr));
}

// A key with a password is none: nobody is there to ask.
Owned<EVP_PKEY> ReadKey(BIO* bio) {
  const auto no_password = [](char* /*buffer*/, int /*size*/, int /*to_write*/, void* /*of*/) {
    return -1;
  };
  return Owned<EVP_PKEY>(PEM_read_bio_PrivateKey(bio, nullptr, no_password, nullptr));
}

}  // namespace

absl::Status CheckTlsFiles(const Config& config) {
  if (config.tls_cert.empty()) return absl::OkStatus();
  const auto certificate =
      ReadPem("tls_cert", config.tls_cert, "certificate in PEM", &ReadCertificate);
  if (!certificate.ok()) return certificate.status();
  const auto key = ReadPem("tls_key", config.tls_key, "private key in PEM", &ReadKey);
  if (!key.ok()) return key.status();
  if (X509_check_private_key(certificate->get(), key->get()) != 1) {
    ERR_clear_error();
    return absl::InvalidArgumentError(
        absl::StrCat("--tls_key: ", config.tls_key, ": is not the key of ", config.tls_cert));
  }
  if (config.tls_client_ca.empty()) return absl::OkStatus();
  return ReadPem("tls_client_ca", config.tls_client_ca, "certificate in PEM", &ReadCertificate)
      .status();
}

// With --tls_client_ca the handshake refuses a client without a certificate, so no call of it
// arrives.
std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(const Config& config) {
  using grpc::experimental::FileWatcherCertificateProvider;
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<FileWatcherCertificateProvider>(config.tls_key, config.tls_cert,
                                                       config.tls_client_ca, kRefreshSeconds));
  options.watch_identity_key_cert_pairs();
  if (config.tls_client_ca.empty()) {
    options.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  } else {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

}  // namespace maskd::service
