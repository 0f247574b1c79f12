#!/usr/bin/env python3
"""Writes grammar_core/frontend/json_schema/formats/idna_tables.cc.

    build/venv/bin/python tools/dev/gen_idna_tables.py > \
        grammar_core/frontend/json_schema/formats/idna_tables.cc

Sources: the derived properties of RFC 5892, scripts and joining types in the data of the Python package
idna (BSD-3-Clause; of the version pinned in scripts/requirements-test.txt), and categories, combining
classes, directions and compositions in Python's unicodedata. Only characters that both know.
"""
import unicodedata

import idna
from idna import idnadata

# First and last combining class of each group of marks.
GROUPS = [(1, 8), (9, 9), (10, 103), (107, 240)]
RTL = {"R", "AL"}


def ranges_of(packed):
    """Pairs of idna's packed form: first character, and one behind the last."""
    for packed_range in packed:
        yield packed_range >> 32, packed_range & 0xFFFFFFFF


def characters(packed):
    """The same as a set of characters."""
    return {c for first, end in ranges_of(packed) for c in range(first, end)}


def is_mark(c):
    return unicodedata.category(chr(c)).startswith("M")


def compositions():
    """The characters that begin a primary composite or are one, and those that end one.

    Of a composite too the first part may compose with a mark that comes after it.
    """
    begin, end = set(), set()
    for c in range(0x110000):
        parts = unicodedata.decomposition(chr(c)).split()
        if len(parts) != 2 or parts[0].startswith("<"):
            continue
        begin.add(c)
        pair = "".join(chr(int(part, 16)) for part in parts)
        if unicodedata.normalize("NFC", pair) == chr(c):
            begin.add(ord(pair[0]))
            end.add(ord(pair[1]))
    return begin, end


def joining(kind):
    """Characters of a joining type; the package has had two forms of that table."""
    types = idnadata.joining_types
    return characters(types[kind]) if isinstance(types, dict) else {
        c for c, value in types.items() if value == ord(kind)}


def tables():
    """The sets of IdnaSet by name."""
    valid = {c for c in characters(idnadata.codepoint_classes["PVALID"])
             if unicodedata.category(chr(c)) != "Cn" and c != ord("-")}
    begin, end = compositions()
    zero = {c for c in valid if unicodedata.combining(chr(c)) == 0}
    direction = {c: unicodedata.bidirectional(chr(c)) for c in valid}
    rtl = {c for c in valid if direction[c] in RTL}
    both = {c for c in zero if direction[c] not in RTL | {"AN"}} - (end & begin)
    starters = {c for c in both if not is_mark(c)}
    vowels = both - starters
    result = {
        "kStarters": starters - begin - end,
        "kComposingStarters": (starters & begin) - end,
        "kVowels": vowels - begin - end,
        "kComposingVowels": (vowels & begin) - end,
        "kJoiningVowels": (both & end) - begin,
        "kRtlStarters": {c for c in zero & rtl if not is_mark(c)} - begin - end,
        "kRtlComposingStarters": ({c for c in zero & rtl if not is_mark(c)} & begin) - end,
        "kComposingMarks": {c for c in valid - zero if c in end},
        "kNonspacingMarks": {c for c in valid - zero if direction[c] == "NSM"},
        "kTransparent": joining("T") & valid,
        "kDualJoining": joining("D") & valid,
        "kRightJoining": joining("R") & valid,
        "kGreek": characters(idnadata.scripts["Greek"]) & valid,
        "kHebrew": characters(idnadata.scripts["Hebrew"]) & valid,
        "kKanaAndHan": valid & set().union(*(characters(idnadata.scripts[name])
                                             for name in ("Hiragana", "Katakana", "Han"))),
    }
    for index, (first, last) in enumerate(GROUPS):
        result[f"kMarks{index}"] = {c for c in valid
                                    if first <= unicodedata.combining(chr(c)) <= last}
    return result


def joined(members):
    """Ascending ranges that do not touch, of a set of characters."""
    ranges = []
    for c in sorted(members):
        if ranges and ranges[-1][1] == c - 1:
            ranges[-1][1] = c
        else:
            ranges.append([c, c])
    return ranges


def main():
    print(f"// Written by tools/dev/gen_idna_tables.py from Unicode {unicodedata.unidata_version} and idna "
          f"{idna.__version__}. Do not edit.\n"
          '#include "grammar_core/frontend/json_schema/formats/idna_tables.h"\n\n'
          "// clang-format off\nnamespace maskd {\nnamespace {\n")
    names = []
    for name, members in tables().items():
        names.append(name)
        pieces = [f"{{0x{lo:X}, 0x{hi:X}}}" for lo, hi in joined(members)]
        print(f"constexpr CharRange {name}[] = {{")
        for i in range(0, len(pieces), 5):
            print("    " + ", ".join(pieces[i:i + 5]) + ",")
        print("};\n")
    print("constexpr absl::Span<const CharRange> kSets[] = {\n    " + ",\n    ".join(names) + ",\n};\n\n"
          "}  // namespace\n\n"
          "absl::Span<const CharRange> IdnaRanges(IdnaSet set) { return kSets[static_cast<int>(set)]; }\n\n"
          "}  // namespace maskd\n// clang-format on")


if __name__ == "__main__":
    main()
