#!/usr/bin/env python3
"""Compares thresholds with docs/design/thresholds.md, which says what chose each.

A constant of a number in one of ROOMS is a threshold, and has a row in the page with its value, or
it is a fact: what the number is follows from something else, and its name is in FACTS below. So no
number that somebody chose stands without a reason, and none is changed without a look at it.

ROOMS are those of the engine that make and bound states and masks, and those of the service that
decide who waits for whom. A row of the engine's names a file below grammar_core.

    tools/dev/check_thresholds.py [ROOT]

Exit status: 0, or 1 with one line a finding.
"""

import pathlib
import re
import sys

PAGE = "docs/design/thresholds.md"
CORE = "grammar_core/"
ROOMS = [CORE + room for room in (
    "terms", "intersection", "derivatives", "automaton", "mask_routes", "unique_items", "rows",
    "completion", "compile", "ir/facts", "mask", "matcher")]
# Files of a room of other things that have such numbers.
ROOMS += [CORE + file for file in ("base/index_table.h", "base/tight_blocks.h", "base/tight_vector.h")]
ROOMS += ["cache", "cpu", "ring", "service/calls", "service/grammars", "service/streams"]

FACTS = {
    # No value, no node, no state: numbers that stand for none, or for a special one.
    "kNothingTerm", "kEmptyTerm", "kUnknownTerm", "kFailedTerm", "kNoObject", "kNone", "kUnknown", "kNotMade", "kNoMask",
    "kOpen", "kEveryText", "kRefused", "kNoRule", "kSeed", "kDead", "kFailed", "kConditions", "kNoTail",
    "kRoot", "kAllNodes", "kNoToken", "kAnyLength", "kFirstOwn",
    # Bits of a packed word, and seeds of hashes.
    "kShort", "kLong", "kPacked", "kSingle", "kRest", "kRests", "kIds", "kOffsetBits", "kOffsets", "kFree", "kNowhere", "kCodeMask", "kTags", "kHasTwins", "kIdMask", "kBitsPerWord", "kBitsOfMarks", "kHashBytes", "kBits", "kDepthSeed",
    "kNamedAsTerms", "kCut", "kSignature", "kPassed", "kEndOfText", "kAnyEnd", "kHolding", "kPlace",
    "kRun",
    # Unicode, UTF-8, JSON's escapes and punctuation, and symbols of a table.
    "kAsciiEnd", "kFirstBeyondAscii", "kAscii", "kSpaces", "kBeyond", "kFirst", "kContinuationBits", "kHexBits",
    "kHexDigits", "kHighFirst", "kLowFirst", "kLowLast", "kAstralFirst", "kHalfBits", "kHalfMask",
    "kBackslashAndU", "kBrace", "kLineFeedBrace", "kQuote", "kQuoteColon", "kBraces", "kThree",
    "kMemberPunctuation", "kBlockPunctuation", "kItemPunctuation",
    # Sizes: of registers, of rows of a table, of what an entry takes.
    "kLanes", "kBlock", "kBlockWords", "kMaskRoutes", "kWordBytes", "kMostNumbers", "kMostShort", "kLineBytes",
    "kEmptyDeques", "kBytesAnEntry", "kAllocationBytes", "kCounterBytes",
    "kAllocation", "kInPlace", "kBytesAKnown", "kBytesAState", "kBytesASize", "kBytesATail",
    "kBytesACharacter", "kOwners", "kBytes", "kTopPlaces",
    # The lengths that an index tells apart; no end, no tokens, a place that is filled up.
    "kIndexedCharacters", "kLongestToken", "kEnd", "kNever", "kNoEnd", "kNoTokens", "kPadding",
    # The service and the ring: digits of an id, what a message or a file begins with, units.
    "kCaller", "kIdDigits", "kLengthBytes", "kSeals", "kSecond", "kTokenBytes", "kWordsBytes",
}  # fmt: skip

CONSTANT = re.compile(
    r"^[ \t]*(?:static |inline )*constexpr (?:const )?[\w:]+ (k\w+)(?:\{| *= *)([^;{}]+?)\}?;",
    re.MULTILINE)
ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)


def constants(root: pathlib.Path) -> list[tuple[str, str, str]]:
    """File as rows name it, name and value of each constant of a number in ROOMS."""
    found = []
    for room in ROOMS:
        place = root / room
        for path in sorted(place.iterdir()) if place.is_dir() else [place]:
            if path.suffix not in (".h", ".cc"):
                continue
            for name, value in CONSTANT.findall(path.read_text(encoding="utf-8")):
                if not value.startswith(('"', "'", "[", "R\"")):
                    file = path.relative_to(root).as_posix().removeprefix(CORE)
                    found.append((file, name, value.replace("'", "")))
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
    # Where one file's fact has the name of another's threshold, the row says so.
    thresholds = {f"{file} {name}": value for file, name, value in in_code
                  if name not in FACTS or f"{file} {name}" in rows}
    for constant, value in thresholds.items():
        if constant not in rows:
            found.append(f"{constant}: {PAGE} has no row; or it is a fact (see FACTS)")
        elif rows[constant] != value:
            found.append(f"{constant} is {value}, {PAGE} says {rows[constant]}")
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
