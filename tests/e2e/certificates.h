// Keys and certificates that a test makes for itself.
#ifndef MASKD_TESTS_E2E_CERTIFICATES_H_
#define MASKD_TESTS_E2E_CERTIFICATES_H_

#include <memory>
#include <string>

#include <openssl/evp.h>
#include <openssl/x509.h>

namespace maskd::service {

struct PemPair {
  std::string certificate;
  std::string key;
};

// Who signs certificates, for an hour, of P-256 keys.
class Authority {
 public:
  explicit Authority(const std::string& name);

  // A certificate for `common_name`, with a DNS name beside it unless that is empty.
  [[nodiscard]] PemPair Sign(const std::string& common_name, const std::string& dns_name) const;
  // Its own certificate.
  [[nodiscard]] const std::string& pem() const { return pem_; }

 private:
  std::shared_ptr<EVP_PKEY> key_;
  std::shared_ptr<X509> certificate_;
  std::string pem_;
};

}  // namespace maskd::service

#endif  // MASKD_TESTS_E2E_CERTIFICATES_H_
