// email: the Mailbox of RFC 5321, section 4.1.2. Of address literals those that are registered:
// IPv4 and IPv6.
#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/json_schema/formats/addresses.h"
#include "grammar_core/frontend/json_schema/formats/format.h"

namespace maskd {

namespace {

NodeId Mailbox(absl::string_view label, absl::string_view literal, FormatMaker& maker) {
  const absl::string_view atom = "[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~]+";
  const absl::string_view quoted = R"("(?:[ !#-\[\]-~]|\\[ -~])*")";
  return maker.Regex(absl::StrCat("(?:", atom, R"((?:\.)", atom, ")*|", quoted, ")@(?:", label,
                                  R"((?:\.)", label, ")*|", R"(\[)", literal, R"(\])", ")"));
}

}  // namespace

NodeId MakeEmail(FormatMaker& maker) {
  return Mailbox("[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?",
                 absl::StrCat("(?:", Ipv4Pattern(), "|[Ii][Pp][Vv]6:", Ipv6Pattern(2), ")"), maker);
}

NodeId MakeMostEmails(FormatMaker& maker) {
  return Mailbox("[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?", R"([!-Z^-~]*)", maker);
}

}  // namespace maskd
