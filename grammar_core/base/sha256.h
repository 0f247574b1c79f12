// SHA-256 of a byte string, by OpenSSL's libcrypto.
#ifndef MASKD_GRAMMAR_CORE_BASE_SHA256_H_
#define MASKD_GRAMMAR_CORE_BASE_SHA256_H_

#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"

namespace maskd {

// 64 lower-case hexadecimal digits.
std::string Sha256Hex(absl::string_view bytes);
// The same of all pieces, one behind the other.
std::string Sha256Hex(std::initializer_list<absl::string_view> pieces);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_BASE_SHA256_H_
