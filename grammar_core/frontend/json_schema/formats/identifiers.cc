// uuid (RFC 4122, section 3), json-pointer (RFC 6901, section 3) and relative-json-pointer, which
// is here as drafts up to 2019-09 have it: without index manipulation.
#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/json_schema/formats/format.h"

namespace maskd {
namespace {

constexpr absl::string_view kJsonPointer = "(?:/(?:[^~/]|~[01])*)*";

}  // namespace

NodeId MakeUuid(FormatMaker& maker) {
  return maker.Regex("[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}");
}

NodeId MakeJsonPointer(FormatMaker& maker) { return maker.Regex(kJsonPointer); }

NodeId MakeRelativeJsonPointer(FormatMaker& maker) {
  return maker.Regex(absl::StrCat(R"((?:0|[1-9]\d*)(?:#|)", kJsonPointer, ")"));
}

NodeId MakeMostRelativeJsonPointers(FormatMaker& maker) {
  return maker.Regex(absl::StrCat(R"((?:0|[1-9]\d*)(?:[+\-]\d+)?(?:#|)", kJsonPointer, ")"));
}

}  // namespace maskd
