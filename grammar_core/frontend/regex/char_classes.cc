// Names of sets are looked up in Unicode's tables, after an alias or a short name has been
// resolved. A category of one letter is the union of all that begin with it. What ECMA-262 has and
// the tables have not is a list of its own, so that it is told as unsupported and not as unknown.
//
// Invariant  characters that fold alike form a ring of steps, so FoldCase() reaches all from any
//            one.
// Cost       a property passes over all sets of the tables once; a fold searches one step for each
//            character that is added. The shorthands are made once for the process.
// Source     Unicode's data files (unicode_tables.h); ECMA-262; RE2; Python's re.
#include "grammar_core/frontend/regex/char_classes.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/strip.h"

#include "grammar_core/frontend/regex/unicode_tables.h"

namespace maskd {
namespace {

struct NamedRanges {
  absl::string_view name;
  std::array<CharRange, 4> ranges;  // ends at the first of {1, 0}
};
constexpr CharRange kNoRange = {1, 0};

constexpr std::array kPosix = {
    NamedRanges{"alnum", {{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, kNoRange}}},
    NamedRanges{"alpha", {{{'A', 'Z'}, {'a', 'z'}, kNoRange, kNoRange}}},
    NamedRanges{"ascii", {{{0, 0x7F}, kNoRange, kNoRange, kNoRange}}},
    NamedRanges{"blank", {{{'\t', '\t'}, {' ', ' '}, kNoRange, kNoRange}}},
    NamedRanges{"cntrl", {{{0, 0x1F}, {0x7F, 0x7F}, kNoRange, kNoRange}}},
    NamedRanges{"digit", {{{'0', '9'}, kNoRange, kNoRange, kNoRange}}},
    NamedRanges{"graph", {{{'!', '~'}, kNoRange, kNoRange, kNoRange}}},
    NamedRanges{"lower", {{{'a', 'z'}, kNoRange, kNoRange, kNoRange}}},
    NamedRanges{"print", {{{' ', '~'}, kNoRange, kNoRange, kNoRange}}},
    NamedRanges{"punct", {{{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}}},
    NamedRanges{"space", {{{'\t', '\r'}, {' ', ' '}, kNoRange, kNoRange}}},
    NamedRanges{"upper", {{{'A', 'Z'}, kNoRange, kNoRange, kNoRange}}},
    NamedRanges{"word", {{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}}},
    NamedRanges{"xdigit", {{{'0', '9'}, {'A', 'F'}, {'a', 'f'}, kNoRange}}},
};

// Binary properties of ECMA-262 that the tables leave out.
constexpr absl::string_view kWithoutTable[] = {"ASCII_Hex_Digit",
                                               "AHex",
                                               "Bidi_Control",
                                               "Bidi_C",
                                               "Bidi_Mirrored",
                                               "Bidi_M",
                                               "Case_Ignorable",
                                               "CI",
                                               "Cased",
                                               "Changes_When_Casefolded",
                                               "CWCF",
                                               "Changes_When_Casemapped",
                                               "CWCM",
                                               "Changes_When_Lowercased",
                                               "CWL",
                                               "Changes_When_NFKC_Casefolded",
                                               "CWKCF",
                                               "Changes_When_Titlecased",
                                               "CWT",
                                               "Changes_When_Uppercased",
                                               "CWU",
                                               "Dash",
                                               "Default_Ignorable_Code_Point",
                                               "DI",
                                               "Deprecated",
                                               "Dep",
                                               "Diacritic",
                                               "Dia",
                                               "Emoji_Component",
                                               "EComp",
                                               "Emoji_Modifier",
                                               "EMod",
                                               "Emoji_Modifier_Base",
                                               "EBase",
                                               "Extender",
                                               "Ext",
                                               "Grapheme_Base",
                                               "Gr_Base",
                                               "Grapheme_Extend",
                                               "Gr_Ext",
                                               "Hex_Digit",
                                               "Hex",
                                               "IDS_Binary_Operator",
                                               "IDSB",
                                               "IDS_Trinary_Operator",
                                               "IDST",
                                               "Ideographic",
                                               "Ideo",
                                               "Join_Control",
                                               "Join_C",
                                               "Logical_Order_Exception",
                                               "LOE",
                                               "Math",
                                               "Noncharacter_Code_Point",
                                               "NChar",
                                               "Pattern_Syntax",
                                               "Pat_Syn",
                                               "Pattern_White_Space",
                                               "Pat_WS",
                                               "Quotation_Mark",
                                               "QMark",
                                               "Radical",
                                               "Regional_Indicator",
                                               "RI",
                                               "Sentence_Terminal",
                                               "STerm",
                                               "Soft_Dotted",
                                               "SD",
                                               "Terminal_Punctuation",
                                               "Term",
                                               "Unified_Ideograph",
                                               "UIdeo",
                                               "Variation_Selector",
                                               "VS",
                                               "XID_Continue",
                                               "XIDC",
                                               "XID_Start",
                                               "XIDS"};

// Long and short names of unions of categories, and of binary properties.
struct Alias {
  absl::string_view name;
  absl::string_view means;
};
constexpr Alias kAliases[] = {{"Other", "C"},
                              {"Letter", "L"},
                              {"Cased_Letter", "LC"},
                              {"Mark", "M"},
                              {"Combining_Mark", "M"},
                              {"Number", "N"},
                              {"Punctuation", "P"},
                              {"punct", "P"},
                              {"Symbol", "S"},
                              {"Separator", "Z"},
                              {"digit", "Nd"},
                              {"cntrl", "Cc"},
                              {"Alpha", "Alphabetic"},
                              {"Lower", "Lowercase"},
                              {"Upper", "Uppercase"},
                              {"space", "White_Space"},
                              {"IDS", "ID_Start"},
                              {"IDC", "ID_Continue"},
                              {"EPres", "Emoji_Presentation"},
                              {"ExtPict", "Extended_Pictographic"},
                              {"Qaac", "Copt"},
                              {"Qaai", "Zinh"}};

absl::string_view Resolved(absl::string_view name) {
  for (const Alias& alias : kAliases)
    if (alias.name == name) return alias.means;
  return name;
}

// One letter stands for all categories that begin with it, LC for the cased letters.
bool IsOfCategory(const UnicodeSet& set, absl::string_view name) {
  if (name == "LC")
    return IsOfCategory(set, "Lu") || IsOfCategory(set, "Ll") || IsOfCategory(set, "Lt");
  return name.size() == 1 ? set.short_name[0] == name[0]
                          : set.short_name == name || set.long_name == name;
}

bool Matches(const UnicodeSet& set, UnicodeSetKind kind, absl::string_view name) {
  if (set.kind != kind) return false;
  if (kind == UnicodeSetKind::kCategory) return IsOfCategory(set, name);
  return set.short_name == name || set.long_name == name;
}

std::optional<CharSet> FindSet(UnicodeSetKind kind, absl::string_view name) {
  std::vector<CharRange> ranges;
  bool found = false;
  for (const UnicodeSet& set : UnicodeSets()) {
    if (!Matches(set, kind, name)) continue;
    const auto part = UnicodeRanges().subspan(set.first, set.count);
    ranges.insert(ranges.end(), part.begin(), part.end());
    found = true;
  }
  if (!found) return std::nullopt;
  return CharSet(std::move(ranges));
}

std::optional<CharSet> FindBare(absl::string_view name) {
  if (name == "Any") return CharSet::All();
  if (name == "ASCII") return CharSet({{0, 0x7F}});
  if (name == "Assigned") return FindSet(UnicodeSetKind::kCategory, "Cn")->Complement();
  for (const UnicodeSetKind kind :
       {UnicodeSetKind::kCategory, UnicodeSetKind::kBinary, UnicodeSetKind::kScript}) {
    if (std::optional<CharSet> set = FindSet(kind, name)) return set;
  }
  return std::nullopt;
}

CharSet Category(absl::string_view name) { return *FindSet(UnicodeSetKind::kCategory, name); }

CharSet AsciiDigits() { return CharSet({{'0', '9'}}); }

}  // namespace

const CharSet& WordChars() {
  static const CharSet* const chars = new CharSet({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
  return *chars;
}

const Shorthands& EcmaShorthands() {
  static const Shorthands* const sets = new Shorthands{
      AsciiDigits(), WordChars(),
      Category("Zs").Union(CharSet({{'\t', '\r'}, {0x2028, 0x2029}, {0xFEFF, 0xFEFF}})),
      CharSet({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}).Complement()};
  return *sets;
}

const Shorthands& PythonShorthands() {
  static const Shorthands* const sets = new Shorthands{
      Category("Nd"), Category("L").Union(Category("N")).Union(CharSet::One('_')),
      FindBare("White_Space")->Union(CharSet({{0x1C, 0x1F}})), CharSet::One('\n').Complement()};
  return *sets;
}

const Shorthands& AsciiShorthands() {
  static const Shorthands* const sets =
      new Shorthands{AsciiDigits(), WordChars(), CharSet({{'\t', '\r'}, {' ', ' '}}),
                     CharSet::One('\n').Complement()};
  return *sets;
}

std::optional<CharSet> PosixChars(absl::string_view name) {
  for (const NamedRanges& posix : kPosix) {
    if (posix.name != name) continue;
    const auto end = std::find(posix.ranges.begin(), posix.ranges.end(), kNoRange);
    return CharSet(std::vector<CharRange>(posix.ranges.begin(), end));
  }
  return std::nullopt;
}

std::optional<CharSet> PropertyChars(absl::string_view property) {
  if (absl::ConsumePrefix(&property, "General_Category=") || absl::ConsumePrefix(&property, "gc="))
    return FindSet(UnicodeSetKind::kCategory, Resolved(property));
  if (absl::ConsumePrefix(&property, "Script=") || absl::ConsumePrefix(&property, "sc="))
    return FindSet(UnicodeSetKind::kScript, Resolved(property));
  return FindBare(Resolved(property));
}

bool IsPropertyWithoutTable(absl::string_view property) {
  if (absl::ConsumePrefix(&property, "Script_Extensions=") ||
      absl::ConsumePrefix(&property, "scx="))
    return FindSet(UnicodeSetKind::kScript, Resolved(property)).has_value();
  return std::find(std::begin(kWithoutTable), std::end(kWithoutTable), property) !=
         std::end(kWithoutTable);
}

// From a step's character to its next, as long as that adds something, reaches all that fold alike:
// every character of a ring has a step.
CharSet FoldCase(const CharSet& chars) {
  const absl::Span<const FoldStep> steps = UnicodeFoldSteps();
  const auto before = [](const FoldStep& step, std::uint32_t c) { return step.c < c; };
  std::vector<CharRange> ranges = chars.ranges();
  for (const CharRange& range : chars.ranges()) {
    auto step = std::lower_bound(steps.begin(), steps.end(), range.lo, before);
    for (; step != steps.end() && step->c <= range.hi; ++step) {
      for (std::uint32_t c = step->next; c != step->c;) {
        ranges.push_back({c, c});
        c = std::lower_bound(steps.begin(), steps.end(), c, before)->next;
      }
    }
  }
  return CharSet(std::move(ranges));
}

}  // namespace maskd
