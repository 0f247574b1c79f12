#include "grammar_core/base/sha256.h"

#include <cassert>
#include <memory>

#include "absl/strings/escaping.h"
#include <openssl/evp.h>

namespace maskd {

namespace {

using Context = std::unique_ptr<EVP_MD_CTX, decltype([](EVP_MD_CTX* c) { EVP_MD_CTX_free(c); })>;

}  // namespace

std::string Sha256Hex(absl::string_view bytes) {
  return Sha256Hex(std::initializer_list<absl::string_view>{bytes});
}

std::string Sha256Hex(std::initializer_list<absl::string_view> pieces) {
  // Looking the algorithm up and making a context take longer than hashing a schema.
  static const EVP_MD* const kSha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  thread_local const Context context(EVP_MD_CTX_new());
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int digest_bytes = 0;
  bool done = EVP_DigestInit_ex2(context.get(), kSha256, nullptr) == 1;
  for (const absl::string_view piece : pieces)
    done = done && EVP_DigestUpdate(context.get(), piece.data(), piece.size()) == 1;
  done = done && EVP_DigestFinal_ex(context.get(), digest, &digest_bytes) == 1;
  assert(done);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), digest_bytes));
}

}  // namespace maskd
