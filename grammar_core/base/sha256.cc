#include "grammar_core/base/sha256.h"

#include <cassert>

#include "absl/strings/escaping.h"
#include <openssl/evp.h>

namespace maskd {

std::string Sha256Hex(absl::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int digest_bytes = 0;
  [[maybe_unused]] const int done =
      EVP_Digest(bytes.data(), bytes.size(), digest, &digest_bytes, EVP_sha256(), nullptr);
  assert(done == 1);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest), digest_bytes));
}

}  // namespace maskd
