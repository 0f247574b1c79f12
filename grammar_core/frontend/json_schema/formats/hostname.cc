// hostname: RFC 1123, section 2.1, of labels of up to 63 characters and 253 in all, without a dot
// at the end; idn-hostname: such names, and those of IDNA 2008.
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/json_schema/formats/format.h"
#include "grammar_core/frontend/json_schema/formats/idn_names.h"

namespace maskd {
namespace {

constexpr std::uint32_t kMaxHostname = 253;

// A label of letters, digits and inner hyphens that does not begin with "xn--": behind that stands
// Punycode (RFC 5891), and what that may decode to is no regular set.
std::string PlainLabel() {
  const absl::string_view more = "[A-Za-z0-9-]";
  const absl::string_view end = "[A-Za-z0-9]";
  const auto rest = [&](int most) {
    return absl::StrCat("(?:", more, "{0,", most, "}", end, ")?");
  };
  return absl::StrCat("(?:[A-WYZa-wyz0-9]", rest(61), "|[Xx](?:[A-MO-Za-mo-z0-9]", rest(60), "|-",
                      more, "{0,60}", end, "|[Nn](?:", end, rest(59), "|-", end, rest(58), ")?)?)");
}

NodeId NamesOf(NodeId label, IrBuilder& b) {
  const NodeId names = b.Concat({label, b.Repeat(b.Concat({b.Text("."), label}), 0, kUnbounded)});
  return b.And({names, b.Repeat(b.AnyChar(), 1, kMaxHostname)});
}

}  // namespace

NodeId MakeHostname(FormatMaker& maker) {
  return NamesOf(maker.Regex(PlainLabel()), maker.builder());
}

NodeId MakeIdnHostname(FormatMaker& maker) {
  const NodeId dot = maker.Regex(R"([.\u{3002}\u{FF0E}\u{FF61}])");
  return maker.builder().Alt({MakeHostname(maker), IdnNames(dot, Composition::kNfc, maker)});
}

NodeId MakeMostHostnames(FormatMaker& maker) {
  const NodeId label = maker.Regex("[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?");
  return NamesOf(label, maker.builder());
}

}  // namespace maskd
