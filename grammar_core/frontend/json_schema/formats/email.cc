// email: the Mailbox of RFC 5321, section 4.1.2; idn-email: with the characters that RFC 6531 adds.
// The registered address literals are IPv4 and IPv6.
#include <string>

#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/json_schema/formats/addresses.h"
#include "grammar_core/frontend/json_schema/formats/format.h"
#include "grammar_core/frontend/json_schema/formats/idn_names.h"

namespace maskd {

namespace {

constexpr absl::string_view kLabel = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
constexpr absl::string_view kAnyLabel = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
constexpr absl::string_view kAnyLiteral = "[!-Z^-~]*";
// Characters beyond ASCII, inside of a class.
constexpr absl::string_view kMore = R"(\u{80}-\u{10FFFF})";

std::string Literal() {
  return absl::StrCat("(?:", Ipv4Pattern(), "|[Ii][Pp][Vv]6:", Ipv6Pattern(2), ")");
}

// `more`: of the characters beyond ASCII.
std::string LocalPart(absl::string_view more) {
  const std::string atom = absl::StrCat("[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~", more, "]+");
  return absl::StrCat("(?:", atom, R"((?:\.)", atom, R"()*|"(?:[ !#-\[\]-~)", more,
                      R"(]|\\[ -~])*"))");
}

std::string Domain(absl::string_view label, absl::string_view literal) {
  return absl::StrCat("(?:", label, R"((?:\.)", label, R"()*|\[)", literal, R"(\]))");
}

}  // namespace

NodeId MakeEmail(FormatMaker& maker) {
  return maker.Regex(absl::StrCat(LocalPart(""), "@", Domain(kLabel, Literal())));
}

NodeId MakeMostEmails(FormatMaker& maker) {
  return maker.Regex(absl::StrCat(LocalPart(""), "@", Domain(kAnyLabel, kAnyLiteral)));
}

NodeId MakeIdnEmail(FormatMaker& maker) {
  IrBuilder& b = maker.builder();
  return b.Concat({maker.Regex(absl::StrCat(LocalPart(kMore), "@")),
                   b.Alt({maker.Regex(Domain(kLabel, Literal())),
                          IdnNames(b.Text("."), Composition::kAny, maker)})});
}

NodeId MakeMostIdnEmails(FormatMaker& maker) {
  return maker.Regex(absl::StrCat(LocalPart(kMore), "@[^@]+"));
}

}  // namespace maskd
