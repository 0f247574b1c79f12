#include "tests/e2e/certificates.h"

#include <atomic>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace maskd::service {
namespace {

constexpr long kLifeSeconds = 3600;  // NOLINT(google-runtime-int): OpenSSL's

std::shared_ptr<EVP_PKEY> NewKey() { return {EVP_EC_gen("P-256"), &EVP_PKEY_free}; }

template <typename Write>
std::string PemOf(const Write& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), &BIO_free);
  EXPECT_EQ(write(bio.get()), 1);
  char* data = nullptr;
  const auto size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  ASSERT_NE(extension, nullptr) << value;
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

std::shared_ptr<X509> NewCertificate(const std::string& name, EVP_PKEY* key) {
  static std::atomic<int> serial = 1;
  std::shared_ptr<X509> made(X509_new(), &X509_free);
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -kLifeSeconds);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), kLifeSeconds);
  X509_set_pubkey(made.get(), key);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(name.c_str());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC, bytes, -1, -1,
                             0);
  return made;
}

std::string CertificatePem(X509* certificate) {
  return PemOf([certificate](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

}  // namespace

Authority::Authority(const std::string& name)
    : key_(NewKey()), certificate_(NewCertificate(name, key_.get())) {
  X509_set_issuer_name(certificate_.get(), X509_get_subject_name(certificate_.get()));
  AddExtension(certificate_.get(), certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
  EXPECT_GT(X509_sign(certificate_.get(), key_.get(), EVP_sha256()), 0);
  pem_ = CertificatePem(certificate_.get());
}

PemPair Authority::Sign(const std::string& common_name, const std::string& dns_name) const {
  const std::shared_ptr<EVP_PKEY> key = NewKey();
  const std::shared_ptr<X509> made = NewCertificate(common_name, key.get());
  X509_set_issuer_name(made.get(), X509_get_subject_name(certificate_.get()));
  if (!dns_name.empty()) {
    AddExtension(made.get(), certificate_.get(), NID_subject_alt_name,
                 absl::StrCat("DNS:", dns_name));
  }
  EXPECT_GT(X509_sign(made.get(), key_.get(), EVP_sha256()), 0);
  return {CertificatePem(made.get()), PemOf([&key](BIO* bio) {
            return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

}  // namespace maskd::service
