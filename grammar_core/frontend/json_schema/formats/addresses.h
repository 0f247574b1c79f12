// Patterns of IP addresses, for the formats that hold them within.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_FORMATS_ADDRESSES_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_FORMATS_ADDRESSES_H_

#include <string>

namespace maskd {

// Four decimal numbers up to 255 without leading zeros (RFC 2673, section 3.2).
std::string Ipv4Pattern();

// RFC 4291, section 2.2, without zones. "::" stands for at least `least_zeros` groups: 1, or 2 in
// the mail addresses of RFC 5321.
std::string Ipv6Pattern(int least_zeros);

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_FORMATS_ADDRESSES_H_
