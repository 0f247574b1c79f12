#!/usr/bin/env python3
"""Finds sentences that a reader must read twice, in the pages, the headers and the protos.

    tools/dev/check_words.py [ROOT]

Read: all pages but the notebook of measurements, and the comments of all headers and protos but
those of third_party. Blocks of code in a page are not read. Reported, with file and line:

- a sentence of more than LONGEST words; it ends at '.', '!', '?' or ':' before white space, or with
  its paragraph;
- a phrase of ODD, which hides its subject or has a usual word;
- a sentence that begins with "Of a", "Of the" and so on: what it speaks of comes too late.

Tables in a comment look like long sentences. Each stands in words_exceptions.txt: the file, how the place begins, and why it may stay. A line there that meets
nothing is an error too.

Exit status: 0, or 1 with one line a finding.
"""

import argparse
import pathlib
import re
import subprocess
import sys
from typing import Iterator

LONGEST = 35
ODD = re.compile(
    r"\b(but for|anew|of its own|is no matter|beforehand known|one that (?:is|has|comes|waits)"
    r"|those that (?:are|have)|what (?:is|has) (?:of|behind)|which few|stands for what)\b", re.I)
OF_FIRST = re.compile(r"Of (?:a|an|the|each|these|those)\b")
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+")
WORD = re.compile(r"[A-Za-z][\w'-]*")
NO_PROSE = ("|", "#")
FENCE = "```"
ITEM = re.compile(r"(?:[-*]|\d+\.)\s")
FILES = ["*.h", "*.proto", "*.md", ":!bench/results/notebook.md"]
EXCEPTIONS = pathlib.Path("tools/dev/words_exceptions.txt")


def prose(path: pathlib.Path, line: str) -> str:
    """What a reader reads of one line; "" where a paragraph ends."""
    text = line.strip()
    if path.suffix == ".md":
        return "" if text.startswith(NO_PROSE) else text
    return text.lstrip("/").strip() if text.startswith("//") else ""


def paragraphs(path: pathlib.Path, text: str) -> Iterator[tuple[int, str]]:
    """Each with the number of its first line. An item of a page's list is a paragraph."""
    lines: list[str] = []
    in_code = False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        is_fence = path.suffix == ".md" and line.strip().startswith(FENCE)
        in_code ^= is_fence
        words = "" if in_code or is_fence else prose(path, line)
        is_item = path.suffix == ".md" and ITEM.match(words)
        if lines and (is_item or not words):
            yield number - len(lines), " ".join(lines)
            lines = []
        if words:
            lines.append(words)


def fault(sentence: str) -> str:
    """What is wrong with it; "" if nothing is."""
    count = len(WORD.findall(sentence))
    if count > LONGEST:
        return f"{count} words, and at most {LONGEST} are easily read"
    odd = ODD.search(sentence)
    if odd:
        return f"'{odd[0]}' has a plainer word"
    return "it begins with Of: say first what it speaks of" if OF_FIRST.match(sentence) else ""


def findings(path: pathlib.Path, text: str) -> Iterator[tuple[int, str, str]]:
    """The line of each one's paragraph, its fault, and the sentence."""
    for number, paragraph in paragraphs(path, text):
        for sentence in SENTENCE_END.split(paragraph):
            found = fault(sentence)
            if found:
                yield number, found, sentence


def read_exceptions(root: pathlib.Path) -> dict[tuple[str, str], int]:
    """For each file and beginning of a sentence, the line that says so."""
    exceptions = {}
    for number, line in enumerate((root / EXCEPTIONS).read_text("utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            path, begin, reason = line.split(" | ")
            assert reason, f"{EXCEPTIONS}:{number}: no reason"
            exceptions[path, begin] = number
    return exceptions


def check(root: pathlib.Path) -> list[str]:
    """One line for each finding that is no exception, and for each exception that meets nothing."""
    tracked = subprocess.run(["git", "-C", str(root), "ls-files", "--", *FILES], check=True,
                             capture_output=True, text=True).stdout.split()
    exceptions = read_exceptions(root)
    unmet = dict(exceptions)
    faults = []
    for name in tracked:
        if name.startswith("third_party/"):
            continue
        path = pathlib.Path(name)
        for line, found, sentence in findings(path, (root / path).read_text("utf-8")):
            known = [one for one in exceptions if one[0] == name and sentence.startswith(one[1])]
            for one in known:
                unmet.pop(one, None)
            if not known:
                faults.append(f"{name}:{line}: {found}: {sentence[:90]}")
    faults += [f"{EXCEPTIONS}:{number}: no such finding in {path}: take the line out"
               for (path, _), number in unmet.items()]
    return faults


def main() -> int:
    """Prints what check() finds."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path("."))
    faults = check(parser.parse_args().root)
    for line in faults:
        print(line)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
