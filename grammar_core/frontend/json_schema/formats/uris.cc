// uri and uri-reference (RFC 3986, appendix A), iri and iri-reference (RFC 3987, section 2.2),
// uri-template (RFC 6570, section 2, with erratum 6937: the apostrophe is a literal). A
// template has the operators with a meaning; the reserved ones are left out.
#include <string>

#include "absl/strings/str_cat.h"

#include "grammar_core/frontend/json_schema/formats/addresses.h"
#include "grammar_core/frontend/json_schema/formats/format.h"

namespace maskd {
namespace {

constexpr absl::string_view kScheme = R"([A-Za-z][A-Za-z0-9+.\-]*)";
constexpr absl::string_view kPercent = "%[0-9A-Fa-f]{2}";
// Insides of classes.
constexpr absl::string_view kUnreserved = R"(A-Za-z0-9\-._~)";
constexpr absl::string_view kSubDelims = "!$&'()*+,;=";
constexpr absl::string_view kUcsChar =
    R"(\u{A0}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFEF}\u{10000}-\u{1FFFD}\u{20000}-\u{2FFFD})"
    R"(\u{30000}-\u{3FFFD}\u{40000}-\u{4FFFD}\u{50000}-\u{5FFFD}\u{60000}-\u{6FFFD})"
    R"(\u{70000}-\u{7FFFD}\u{80000}-\u{8FFFD}\u{90000}-\u{9FFFD}\u{A0000}-\u{AFFFD})"
    R"(\u{B0000}-\u{BFFFD}\u{C0000}-\u{CFFFD}\u{D0000}-\u{DFFFD}\u{E1000}-\u{EFFFD})";
constexpr absl::string_view kPrivate =
    R"(\u{E000}-\u{F8FF}\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD})";

// The rules of the two specifications, which differ in the characters beside ASCII alone.
class Uris {
 public:
  // `more`: the characters of unreserved beside ASCII. `in_query`: those of the query.
  Uris(absl::string_view more, absl::string_view in_query)
      : plain_(absl::StrCat(kUnreserved, kSubDelims, more)), in_query_(in_query) {}

  [[nodiscard]] std::string Absolute() const {
    return absl::StrCat(kScheme, ":(?:", Rooted(), "|", Some(":@"), Segments(), ")?", Tail());
  }

  // Without a scheme the first segment of a path has no colon, unless a slash is before it.
  [[nodiscard]] std::string Reference() const {
    return absl::StrCat("(?:(?:", kScheme, ":)?(?:", Rooted(), ")?|(?:", kScheme, ":", Some(":@"),
                        "|", Some("@"), ")", Segments(), ")", Tail());
  }

 private:
  // One character of plain_ and `more`, or one percent-encoded, as often as `times` says.
  [[nodiscard]] std::string Of(absl::string_view more, absl::string_view times) const {
    return absl::StrCat("(?:[", plain_, more, "]|", kPercent, ")", times);
  }
  [[nodiscard]] std::string Some(absl::string_view more) const { return Of(more, "+"); }
  [[nodiscard]] std::string Any(absl::string_view more) const { return Of(more, "*"); }

  [[nodiscard]] std::string Segments() const { return absl::StrCat("(?:/", Any(":@"), ")*"); }

  // An authority and a path, or a path that begins with a slash.
  [[nodiscard]] std::string Rooted() const {
    return absl::StrCat("//", Authority(), Segments(), "|/(?:", Some(":@"), Segments(), ")?");
  }

  [[nodiscard]] std::string Authority() const {
    const std::string literal = absl::StrCat(R"(\[(?:)", Ipv6Pattern(1), R"(|[Vv][0-9A-Fa-f]+\.[)",
                                             kUnreserved, kSubDelims, R"(:]+)\])");
    return absl::StrCat("(?:", Any(":"), "@)?(?:", literal, "|", Any(""), R"()(?::\d*)?)");
  }

  [[nodiscard]] std::string Tail() const {
    return absl::StrCat(R"((?:\?)", Any(absl::StrCat(":@/?", in_query_)), ")?(?:#", Any(":@/?"),
                        ")?");
  }

  const std::string plain_;
  const absl::string_view in_query_;
};

NodeId UriTemplate(absl::string_view operators, FormatMaker& maker) {
  const std::string literal = absl::StrCat(R"([!#$&-;=?-\[\]_a-z~)", kUcsChar, kPrivate, "]");
  const std::string name_char = absl::StrCat("(?:\\w|", kPercent, ")");
  const std::string variable =
      absl::StrCat(name_char, R"((?:\.?)", name_char, R"()*(?::[1-9]\d{0,3}|\*)?)");
  return maker.Regex(absl::StrCat("(?:", literal, "|", kPercent, R"(|\{)", operators, "?", variable,
                                  "(?:,", variable, R"()*\})*)"));
}

}  // namespace

NodeId MakeUri(FormatMaker& maker) { return maker.Regex(Uris("", "").Absolute()); }

NodeId MakeUriReference(FormatMaker& maker) { return maker.Regex(Uris("", "").Reference()); }

NodeId MakeIri(FormatMaker& maker) { return maker.Regex(Uris(kUcsChar, kPrivate).Absolute()); }

NodeId MakeIriReference(FormatMaker& maker) {
  return maker.Regex(Uris(kUcsChar, kPrivate).Reference());
}

NodeId MakeUriTemplate(FormatMaker& maker) { return UriTemplate("[+#./;?&]", maker); }

NodeId MakeMostUriTemplates(FormatMaker& maker) { return UriTemplate("[+#./;?&=,!@|]", maker); }

}  // namespace maskd
