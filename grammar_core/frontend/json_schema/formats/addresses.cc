// ipv4 and ipv6.
#include "grammar_core/frontend/json_schema/formats/addresses.h"

#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/json_schema/formats/format.h"

namespace maskd {
namespace {

constexpr int kGroups = 8;
constexpr absl::string_view kGroup = "[0-9A-Fa-f]{1,4}";

// Up to `most` groups before "::".
std::string Before(int most) {
  if (most == 0) return "";
  return absl::StrCat("(?:", kGroup, "(?::", kGroup, "){0,", most - 1, "})?");
}

}  // namespace

std::string Ipv4Pattern() {
  const std::string number = R"((?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d))";
  return absl::StrCat("(?:", number, R"((?:\.)", number, "){3})");
}

// After "::" stand `after` groups, and before it as many as are left at most; the last two groups
// may be written as an IPv4 address.
std::string Ipv6Pattern(int least_zeros) {
  const std::string last_two = absl::StrCat("(?:", kGroup, ":", kGroup, "|", Ipv4Pattern(), ")");
  std::string pattern = absl::StrCat("(?:(?:", kGroup, ":){", kGroups - 2, "}", last_two);
  for (int after = kGroups - least_zeros; after >= 0; --after) {
    absl::StrAppend(&pattern, "|", Before(kGroups - least_zeros - after), "::");
    if (after > 2) absl::StrAppend(&pattern, "(?:", kGroup, ":){", after - 2, "}");
    if (after >= 2) absl::StrAppend(&pattern, last_two);
    if (after == 1) absl::StrAppend(&pattern, kGroup);
  }
  return absl::StrCat(pattern, ")");
}

NodeId MakeIpv4(FormatMaker& maker) { return maker.Regex(Ipv4Pattern()); }

NodeId MakeIpv6(FormatMaker& maker) { return maker.Regex(Ipv6Pattern(1)); }

}  // namespace maskd
