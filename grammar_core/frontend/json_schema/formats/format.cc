#include "grammar_core/frontend/json_schema/formats/format.h"

#include <array>

#include "absl/status/statusor.h"

#include "grammar_core/frontend/regex/regex.h"

namespace maskd {
namespace {

constexpr std::array kFormats = {
    Format{"date", &MakeDate, &MakeMostDates},
    Format{"date-time", &MakeDateTime, &MakeMostDateTimes},
    Format{"duration", &MakeDuration},
    Format{"email", &MakeEmail, &MakeMostEmails},
    Format{"hostname", &MakeHostname, &MakeMostHostnames},
    Format{"idn-email", &MakeIdnEmail, &MakeMostIdnEmails},
    Format{"idn-hostname", &MakeIdnHostname, &MakeMost},
    Format{"ipv4", &MakeIpv4},
    Format{"ipv6", &MakeIpv6},
    Format{"iri", &MakeIri},
    Format{"iri-reference", &MakeIriReference},
    Format{"json-pointer", &MakeJsonPointer},
    Format{"regex", &MakeRegex, &MakeMost},
    Format{"relative-json-pointer", &MakeRelativeJsonPointer, &MakeMostRelativeJsonPointers},
    Format{"time", &MakeTime, &MakeMostTimes},
    Format{"uri", &MakeUri},
    Format{"uri-reference", &MakeUriReference},
    Format{"uri-template", &MakeUriTemplate, &MakeMostUriTemplates},
    Format{"uuid", &MakeUuid},
};

}  // namespace

const Format* FindFormat(absl::string_view name) {
  for (const Format& format : kFormats)
    if (format.name == name) return &format;
  return nullptr;
}

NodeId FormatMaker::Regex(absl::string_view pattern) {
  const absl::StatusOr<NodeId> node = ReadRegex(pattern, {}, limits_, budget_, builder_);
  if (node.ok()) return *node;
  status_.Update(node.status());
  return builder_.Nothing();
}

NodeId MakeMost(FormatMaker& maker) {
  IrBuilder& b = maker.builder();
  return b.Repeat(b.AnyChar(), 0, kUnbounded);
}

}  // namespace maskd
