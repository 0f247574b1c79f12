#!/usr/bin/env python3
"""Compares the engine's thresholds with docs/design/thresholds.md, which says what chose each.

A constant of a number in one of ROOMS is a threshold, and has a row in the page with its value, or
it is a fact: what the number is follows from something else, and its name is in FACTS below. So no
number that somebody chose stands without a reason, and none is changed without a look at it.

    tools/dev/check_thresholds.py [ROOT]

Exit status: 0, or 1 with one line a finding.
"""

import pathlib
import re
import sys

PAGE = "docs/design/thresholds.md"
CORE = "grammar_core/"
ROOMS = ["terms", "intersection", "derivatives", "automaton", "mask_routes", "unique_items", "rows",
         "completion", "compile", "ir/facts", "mask"]

FACTS = {
    # No value, no node, no state: numbers that stand for none, or for a special one.
    "kNothingTerm", "kEmptyTerm", "kUnknownTerm", "kFailedTerm", "kNoObject", "kNone", "kUnknown", "kNotMade", "kNoMask",
    "kOpen", "kEveryText", "kRefused", "kNoRule", "kSeed", "kDead", "kFailed", "kConditions", "kNoTail",
    "kRoot", "kAllNodes", "kNoToken", "kAnyLength", "kFirstOwn",
    # Bits of a packed word, and seeds of hashes.
    "kShort", "kLong", "kPacked", "kSingle", "kRest", "kRests", "kIds", "kOffsetBits", "kOffsets", "kFree", "kNowhere", "kCodeMask", "kTags", "kHasTwins", "kIdMask", "kBitsPerWord", "kBits", "kDepthSeed",
    "kNamedAsTerms", "kCut", "kSignature", "kPassed", "kEndOfText", "kAnyEnd", "kHolding", "kOdd", "kPlace", "kEvenSeed", "kOddSeed",
    # Unicode, UTF-8, JSON's escapes and punctuation, and symbols of a table.
    "kAsciiEnd", "kFirstBeyondAscii", "kAscii", "kSpaces", "kBeyond", "kFirst", "kContinuationBits", "kHexBits",
    "kHexDigits", "kHighFirst", "kLowFirst", "kLowLast", "kAstralFirst", "kHalfBits", "kHalfMask",
    "kBackslashAndU", "kBrace", "kLineFeedBrace", "kQuote", "kQuoteColon", "kBraces", "kThree",
    "kMemberPunctuation", "kBlockPunctuation", "kItemPunctuation",
    # Sizes: of registers, of rows of a table, of what an entry takes.
    "kLanes", "kBlock", "kBlockWords", "kMaskRoutes", "kWordBytes", "kMostNumbers",
    "kEmptyDeques", "kBytesAnEntry", "kAllocationBytes", "kCounterBytes",
    "kAllocation", "kInPlace",
}  # fmt: skip

CONSTANT = re.compile(
    r"^[ \t]*(?:static |inline )*constexpr (?:const )?[\w:]+ (k\w+)(?:\{| *= *)([^;{}]+?)\}?;",
    re.MULTILINE)
ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def constants(root: pathlib.Path) -> list[tuple[str, str, str]]:
    """File below CORE, name and value of each constant of a number in ROOMS."""
    found = []
    for room in ROOMS:
        for path in sorted((root / CORE / room).iterdir()):
            if path.suffix not in (".h", ".cc"):
                continue
            for name, value in CONSTANT.findall(path.read_text(encoding="utf-8")):
                if not value.startswith(('"', "'", "[", "R\"")):
                    place = path.relative_to(root / CORE).as_posix()
                    found.append((place, name, value.replace("'", "")))
    return found


def findings(root: pathlib.Path) -> list[str]:
    """Constants without a row, rows without a constant, and values that differ."""
    rows = {}
    text = (root / PAGE).read_text(encoding="utf-8")
    found = []
    for constant, value, decides, chosen_by in ROW.findall(text):
        if constant in rows:
            found.append(f"{PAGE}: {constant} has two rows")
        if not decides.strip() or not chosen_by.strip():
            found.append(f"{PAGE}: {constant} lacks what it decides, or what chose it")
        rows[constant] = value
    in_code = constants(root)
    thresholds = {f"{file} {name}": value for file, name, value in in_code if name not in FACTS}
    for constant, value in thresholds.items():
        if constant not in rows:
            found.append(f"{CORE}{constant}: {PAGE} has no row; or it is a fact (see FACTS)")
        elif rows[constant] != value:
            found.append(f"{CORE}{constant} is {value}, {PAGE} says {rows[constant]}")
    found += [f"{PAGE}: {constant} is in no code" for constant in rows.keys() - thresholds.keys()]
    unused = FACTS - {name for _, name, _ in in_code}
    return sorted(found) + [f"FACTS: there is no {name}" for name in sorted(unused)]


def main() -> int:
    found = findings(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
