#!/usr/bin/env python3
"""Writes grammar_core/frontend/regex/unicode_tables.cc.

    tools/dev/gen_unicode_tables.py > grammar_core/frontend/regex/unicode_tables.cc

Source: the Unicode Character Database that perl's Unicode::UCD carries. Python's unicodedata must have the
same version and agree on every general category, or nothing is written.
"""

import subprocess
import sys
import unicodedata

BINARY = ["Alphabetic", "Emoji", "Emoji_Presentation", "Extended_Pictographic", "ID_Continue", "ID_Start",
          "Lowercase", "Uppercase", "White_Space"]
NO_CHARACTER = ("Cs", "Surrogate")

PERL = r"""
use Unicode::UCD qw(prop_invmap prop_invlist prop_value_aliases);
print "version ", Unicode::UCD::UnicodeVersion(), "\n";
for my $property ("gc", "sc") {
  my ($starts, $values) = prop_invmap($property);
  for my $i (0 .. $#$starts - 1) {
    my ($short, $long) = prop_value_aliases($property, $values->[$i]);
    print join(" ", $property, $starts->[$i], $starts->[$i + 1] - 1, $short, $long), "\n";
  }
}
for my $name (@ARGV) {
  my @list = prop_invlist($name);
  push @list, 0x110000 if @list % 2;
  while (my ($lo, $end) = splice(@list, 0, 2)) { print "bin $lo ", $end - 1, " $name $name\n"; }
}
my ($starts, $values, $format) = prop_invmap("Simple_Case_Folding");
for my $i (0 .. $#$starts - 1) {
  next unless $values->[$i];
  for my $c ($starts->[$i] .. $starts->[$i + 1] - 1) {
    print "fold $c ", $values->[$i] + $c - $starts->[$i], "\n";
  }
}
"""


def read_database():
    """Version, ranges by property and value, and simple case folds, as perl prints them."""
    lines = subprocess.run(["perl", "-e", PERL, *BINARY], check=True, capture_output=True, text=True).stdout
    version, ranges, folds = "", {}, {}
    for line in lines.splitlines():
        kind, *rest = line.split()
        if kind == "version":
            version = rest[0]
        elif kind == "fold":
            folds[int(rest[0])] = int(rest[1])
        else:
            lo, hi, short, long = int(rest[0]), int(rest[1]), rest[2], rest[3]
            ranges.setdefault((kind, short, long), []).append((lo, min(hi, 0x10FFFF)))
    return version, ranges, folds


def check_categories(version, ranges):
    """Ends the program where Python's own table says another category of any character."""
    if unicodedata.unidata_version != version:
        sys.exit(f"perl has Unicode {version}, python {unicodedata.unidata_version}")
    for (kind, short, _), pairs in ranges.items():
        if kind != "gc":
            continue
        for lo, hi in pairs:
            for c in range(lo, hi + 1):
                if unicodedata.category(chr(c)) != short:
                    sys.exit(f"U+{c:04X}: perl says {short}, python {unicodedata.category(chr(c))}")


def orbits(folds):
    """Each character with others of its fold, and the next of them in a ring."""
    classes = {}
    for c, folded in folds.items():
        classes.setdefault(folded, {folded}).add(c)
    ring = {}
    for members in classes.values():
        ordered = sorted(members)
        for i, c in enumerate(ordered):
            ring[c] = ordered[(i + 1) % len(ordered)]
    return sorted(ring.items())


def print_list(header, items, per_line=5):
    """A list of C++ over several lines."""
    print(header)
    for i in range(0, len(items), per_line):
        print("    " + " ".join(items[i:i + per_line]))
    print("};\n")


def main():
    version, ranges, folds = read_database()
    check_categories(version, ranges)
    flat, sets = [], []
    for (kind, short, long), pairs in sorted(ranges.items()):
        if short in NO_CHARACTER:
            pairs = []
        sets.append(f'{{UnicodeSetKind::k{ {"gc": "Category", "sc": "Script", "bin": "Binary"}[kind] }, '
                    f'"{short}", "{long}", {len(flat)}, {len(pairs)}}},')
        flat += [f"{{0x{lo:X}, 0x{hi:X}}}," for lo, hi in pairs]
    print(f"// Written by tools/dev/gen_unicode_tables.py from Unicode {version}. Do not edit.\n"
          '#include "grammar_core/frontend/regex/unicode_tables.h"\n\n'
          "// clang-format off\nnamespace maskd {\nnamespace {\n")
    print_list("constexpr CharRange kRanges[] = {", flat)
    print_list("constexpr UnicodeSet kSets[] = {", sets, 1)
    print_list("constexpr FoldStep kFoldSteps[] = {", [f"{{0x{c:X}, 0x{n:X}}}," for c, n in orbits(folds)], 6)
    print("}  // namespace\n\n"
          "absl::Span<const CharRange> UnicodeRanges() { return kRanges; }\n"
          "absl::Span<const UnicodeSet> UnicodeSets() { return kSets; }\n"
          "absl::Span<const FoldStep> UnicodeFoldSteps() { return kFoldSteps; }\n\n"
          "}  // namespace maskd\n// clang-format on")


if __name__ == "__main__":
    main()
