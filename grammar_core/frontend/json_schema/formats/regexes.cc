// regex: the Pattern of ECMA-262, section 22.2.1, without the u flag and without annex B.
// Groups in groups are no regular set, so they nest to a depth. What the early errors of the
// specification forbid is kept out by taking less. Bounds of a quantifier and ends of a range must
// show their order in few characters; where they are rare, steps are larger. There are no
// references by number. There is one named group at most, in no other group. References to it stand
// in none either, and its name is one letter then.
//
// Invariant  every text of the set is a valid pattern; some valid ones are left out.
// Cost       a fixed number of nodes, linear in kDepth.
// Bounds     groups to a depth of kDepth.
// Source     ECMA-262, section 22.2.1.
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "grammar_core/base/char_set.h"
#include "grammar_core/frontend/json_schema/formats/format.h"

namespace maskd {
namespace {

constexpr int kDepth = 8;

// Characters and what may be the end of a range that begins with one of them, as classes.
struct Rise {
  absl::string_view low;
  absl::string_view high;
};

constexpr std::array kRisingDigits = {Rise{"0", "[1-9A-Fa-f]"},    Rise{"1", "[2-9A-Fa-f]"},
                                      Rise{"[23]", "[4-9A-Fa-f]"}, Rise{"[4-7]", "[89A-Fa-f]"},
                                      Rise{"[89]", "[A-Fa-f]"},    Rise{"[Aa-d]", "[EeFf]"}};

// From a printable character of ASCII. What a class must escape is no end, and a caret, which may
// negate the class, no beginning.
constexpr std::array kRisingCharacters = {
    Rise{" ", R"([^\\\]\x00-\x1f])"},    Rise{"[!-,./]", R"([^\\\]\x00-/])"},
    Rise{"0", R"([^\\\]\x00-0])"},       Rise{"1", R"([^\\\]\x00-1])"},
    Rise{"[2-4]", R"([^\\\]\x00-4])"},   Rise{"[5-7]", R"([^\\\]\x00-7])"},
    Rise{"[89:-@]", R"([^\\\]\x00-@])"}, Rise{"A", R"([^\\\]\x00-A])"},
    Rise{"[B-E]", R"([^\\\]\x00-E])"},   Rise{"[F-O]", R"([^\\\]\x00-O])"},
    Rise{"[P-Y]", R"([^\\\]\x00-Y])"},   Rise{"[Z\\[_`]", R"([^\\\]\x00-`])"},
    Rise{"a", R"([^\\\]\x00-a])"},       Rise{"[b-e]", R"([^\\\]\x00-e])"},
    Rise{"[f-o]", R"([^\\\]\x00-o])"},   Rise{"[p-y]", R"([^\\\]\x00-y])"},
    Rise{"[z-~]", R"([^\\\]\x00-~])"},
};

// From one beyond ASCII, by scripts.
constexpr std::array kBlocks = {
    0x80U,   0xC0U,   0x100U,  0x370U,  0x3A0U,  0x3C0U,  0x400U,  0x430U,  0x440U,  0x5D0U,
    0x5E0U,  0x600U,  0x640U,  0x700U,  0x900U,  0xE00U,  0xE20U,  0x1100U, 0x2000U, 0x3000U,
    0x3050U, 0x30A0U, 0x30B0U, 0x3400U, 0x4E00U, 0x4F00U, 0x9000U, 0xAC00U, 0xAD00U, 0xE000U};

// Escapes in ascending order: `before`, a digit and `after`, twice.
std::string RisingEscapes(absl::string_view before, absl::string_view after) {
  std::string pairs;
  for (const Rise& rise : kRisingDigits)
    absl::StrAppend(&pairs, "|", before, rise.low, after, "-", before, rise.high, after);
  return pairs;
}

// {n}, {n,} and {n,m}: n of fewer digits than m, or of as many and less in the first of them, or
// both of two digits with the first in common.
std::string Bounds() {
  std::string pairs;
  for (int digits = 1; digits < 6; ++digits)
    absl::StrAppendFormat(&pairs, R"(|\d{%d},[1-9]\d{%d,})", digits, digits);
  for (int low = 0; low < 10; ++low) {
    absl::StrAppendFormat(&pairs, "|%d,[%d-9]|%d0,%d\\d|%d[1-4],%d[5-9]", low, low, low, low, low,
                          low);
    if (low == 9) continue;
    absl::StrAppendFormat(&pairs, R"(|%d\d{1},[%d-9]\d{1}|%d\d{2},[%d-9]\d{2})", low, low + 1, low,
                          low + 1);
  }
  return absl::StrCat(R"(\{(?:\d+,?)", pairs, R"()\})");
}

class Patterns {
 public:
  explicit Patterns(FormatMaker& maker)
      : maker_(maker),
        b_(maker.builder()),
        quantifier_(b_.Optional(maker.Regex(absl::StrCat("(?:[*+?]|", Bounds(), ")\\??")))),
        flat_(Flat()) {}

  NodeId Make() {
    NodeId inside = Sequence({flat_});
    for (int depth = 1; depth < kDepth; ++depth) inside = Sequence({flat_, Group(inside)});
    const NodeId all = Sequence({flat_, Group(inside)});
    return b_.Concat({all, b_.Optional(NamedGroup(inside, all))});
  }

 private:
  // Terms and bars in any order are what a Disjunction consists of.
  NodeId Sequence(std::vector<NodeId> terms) {
    terms.push_back(b_.Text("|"));
    return b_.Repeat(b_.Alt(std::move(terms)), 0, kUnbounded);
  }

  // Look-around has no quantifier.
  NodeId Group(NodeId inside) {
    const NodeId rest = b_.Concat({inside, b_.Text(")")});
    return b_.Alt({b_.Concat({maker_.Regex(R"(\((?:\?:)?)"), rest, quantifier_}),
                   b_.Concat({maker_.Regex(R"(\(\?<?[=!])"), rest})});
  }

  // A group with a name, and all that follows it.
  NodeId NamedGroup(NodeId inside, NodeId all) {
    const NodeId rest = b_.Concat({b_.Text(">"), inside, b_.Text(")"), quantifier_, all});
    std::vector<NodeId> ways = {b_.Concat({maker_.Regex("[A-Za-z_$][A-Za-z0-9_$]*"), rest})};
    for (char name = 'A'; name <= 'z'; name = name == 'Z' ? 'a' : static_cast<char>(name + 1)) {
      const NodeId letter = b_.Text(std::string(1, name));
      const NodeId reference = b_.Concat({b_.Text("\\k<"), letter, b_.Text(">"), quantifier_, all});
      ways.push_back(b_.Concat({letter, rest, b_.Repeat(reference, 1, kUnbounded)}));
    }
    return b_.Concat({b_.Text("(?<"), b_.Alt(std::move(ways))});
  }

  // A term without groups.
  NodeId Flat() {
    const NodeId assertion = maker_.Regex(R"([\^$]|\\[bB])");
    const NodeId character = maker_.Regex(R"([^\^$\\.*+?()\[\]{}|]|\.)");
    const NodeId escape = b_.Concat({b_.Text("\\"), Escape()});
    return b_.Alt({assertion, b_.Concat({b_.Alt({character, escape, Class()}), quantifier_})});
  }

  // What may follow a backslash, in and outside of classes.
  NodeId Escape() {
    return maker_.Regex(absl::StrCat(R"([dDsSwWfnrtv]|c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|)",
                                     R"([!-/:-@\[-\^`{-~ ])"));
  }

  // A dash is itself at the beginning, at the end and behind a range.
  NodeId Class() {
    const NodeId dash = b_.Optional(b_.Text("-"));
    const NodeId plain = maker_.Regex(R"([^\\\]\-])");
    const NodeId escape = b_.Concat({b_.Text("\\"), b_.Alt({Escape(), b_.Text("b")})});
    const NodeId items = b_.Alt({plain, escape, b_.Concat({Range(), dash})});
    const NodeId inside = b_.Concat({dash, b_.Repeat(items, 0, kUnbounded), dash, b_.Text("]")});
    return b_.Concat({b_.Text("["), b_.Optional(b_.Text("^")), inside});
  }

  NodeId Range() {
    const absl::string_view hex = "[0-9A-Fa-f]";
    const std::string escapes = absl::StrCat(
        RisingEscapes(R"(\\x)", hex), RisingEscapes(R"(\\x0)", ""),
        RisingEscapes(R"(\\u)", "[0-9A-Fa-f]{3}"), RisingEscapes(R"(\\u0)", "[0-9A-Fa-f]{2}"),
        RisingEscapes(R"(\\u00)", hex), RisingEscapes(R"(\\u04)", hex),
        RisingEscapes(R"(\\u06)", hex), RisingEscapes(R"(\\u000)", ""));
    std::vector<NodeId> ranges = {maker_.Regex(absl::string_view(escapes).substr(1))};
    // From a character to an escape that is not among ASCII.
    const NodeId beyond =
        maker_.Regex(R"(\\u(?:0[1-9A-Fa-f]|[1-9A-Fa-f][0-9A-Fa-f])[0-9A-Fa-f]{2})");
    for (const Rise& rise : kRisingCharacters) {
      ranges.push_back(b_.Concat(
          {maker_.Regex(rise.low), b_.Text("-"), b_.Alt({maker_.Regex(rise.high), beyond})}));
    }
    for (std::size_t i = 0; i + 1 < kBlocks.size(); ++i) {
      ranges.push_back(
          b_.Concat({b_.Chars(CharSet({{kBlocks[i], kBlocks[i + 1] - 1}})), b_.Text("-"),
                     b_.Chars(CharSet({{kBlocks[i + 1], kMaxCodePoint}}))}));
    }
    return b_.Alt(std::move(ranges));
  }

  FormatMaker& maker_;
  IrBuilder& b_;
  const NodeId quantifier_;
  const NodeId flat_;
};

}  // namespace

NodeId MakeRegex(FormatMaker& maker) { return Patterns(maker).Make(); }

}  // namespace maskd
