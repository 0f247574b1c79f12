// The formats of JSON Schema as sets of strings: each a node of characters, so that it meets
// pattern, lengths, enum and escapes of JSON text as every other facet of strings does.
//
// A format is one function in the file of its family and one row of the table in format.cc.
// Exactness  docs/grammars.md says where `make` holds fewer strings than the specification; none
//            holds more. What must not be of a format is outside of `make_most`, so that strings
//            between the two pass neither way.
// Errors     a limit that is met: RESOURCE_EXHAUSTED, in FormatMaker::status().
// Threads    one thread a FormatMaker; the table is constant.
#ifndef MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_FORMATS_FORMAT_H_
#define MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_FORMATS_FORMAT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

#include "grammar_core/base/budget.h"
#include "grammar_core/base/limits.h"
#include "grammar_core/ir/ir_builder.h"

namespace maskd {

// What formats are made with.
class FormatMaker {
 public:
  // All of them must outlive this.
  FormatMaker(const Limits& limits, Budget& budget, IrBuilder& builder)
      : limits_(limits), budget_(budget), builder_(builder) {}

  // That of the grammar; nodes that a format makes are its own.
  [[nodiscard]] IrBuilder& builder() const { return builder_; }

  // The strings that match `pattern` as a whole (docs/regex.md); Nothing after an error.
  NodeId Regex(absl::string_view pattern);

  // The first error.
  [[nodiscard]] const absl::Status& status() const { return status_; }

 private:
  const Limits& limits_;
  Budget& budget_;
  IrBuilder& builder_;
  absl::Status status_;
};

// A row of the table. `make` and `make_most` are called once a grammar at most.
struct Format {
  absl::string_view name;
  NodeId (*make)(FormatMaker& maker);
  // A set that holds all strings of the format, where `make` leaves some out; else null.
  NodeId (*make_most)(FormatMaker& maker) = nullptr;
};

// Null for a name that is not of the standard.
const Format* FindFormat(absl::string_view name);

// One function a format, in the file of its family.
NodeId MakeDate(FormatMaker& maker);                      // date_time.cc
NodeId MakeMostDates(FormatMaker& maker);                 // date_time.cc
NodeId MakeTime(FormatMaker& maker);                      // date_time.cc
NodeId MakeMostTimes(FormatMaker& maker);                 // date_time.cc
NodeId MakeDateTime(FormatMaker& maker);                  // date_time.cc
NodeId MakeMostDateTimes(FormatMaker& maker);             // date_time.cc
NodeId MakeDuration(FormatMaker& maker);                  // date_time.cc
NodeId MakeIpv4(FormatMaker& maker);                      // addresses.cc
NodeId MakeIpv6(FormatMaker& maker);                      // addresses.cc
NodeId MakeHostname(FormatMaker& maker);                  // hostname.cc
NodeId MakeMostHostnames(FormatMaker& maker);             // hostname.cc
NodeId MakeEmail(FormatMaker& maker);                     // email.cc
NodeId MakeMostEmails(FormatMaker& maker);                // email.cc
NodeId MakeIdnEmail(FormatMaker& maker);                  // email.cc
NodeId MakeMostIdnEmails(FormatMaker& maker);             // email.cc
NodeId MakeIdnHostname(FormatMaker& maker);               // hostname.cc
NodeId MakeMost(FormatMaker& maker);                      // format.cc: every string
NodeId MakeUri(FormatMaker& maker);                       // uris.cc
NodeId MakeUriReference(FormatMaker& maker);              // uris.cc
NodeId MakeIri(FormatMaker& maker);                       // uris.cc
NodeId MakeIriReference(FormatMaker& maker);              // uris.cc
NodeId MakeUriTemplate(FormatMaker& maker);               // uris.cc
NodeId MakeMostUriTemplates(FormatMaker& maker);          // uris.cc
NodeId MakeJsonPointer(FormatMaker& maker);               // identifiers.cc
NodeId MakeRelativeJsonPointer(FormatMaker& maker);       // identifiers.cc
NodeId MakeMostRelativeJsonPointers(FormatMaker& maker);  // identifiers.cc
NodeId MakeRegex(FormatMaker& maker);                     // regexes.cc
NodeId MakeUuid(FormatMaker& maker);                      // identifiers.cc

}  // namespace maskd

#endif  // MASKD_GRAMMAR_CORE_FRONTEND_JSON_SCHEMA_FORMATS_FORMAT_H_
