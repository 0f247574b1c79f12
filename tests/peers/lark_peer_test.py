"""Grammars of kind lark have the language that Python Lark gives them."""

import os
import pathlib
import random
import re
import sys

import pytest

pytest.importorskip("lark", reason="SKIPPED: the package lark is not installed (scripts/python-env)")
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import lark  # noqa: E402
import lark_oracle  # noqa: E402
import random_grammars  # noqa: E402
from engine import Engine  # noqa: E402

# Ours begins with no ignored text by default; Python Lark allows it.
FIRST_SKIP = '%llguidance {"allow_initial_skip": true}\n'
TEXTS = random_grammars.texts("ab", 4, ["é", "aé", " a", "a b", "ab ", "  ", "_a_b", "a-b-b", "b--a", "-a-", "B", "aB", "AB"])


@pytest.fixture(scope="module")
def engine():
    running = Engine()
    yield running
    running.close()


def compare(engine, grammar: str) -> bool:
    """Whether Python Lark reads the grammar; the verdicts are equal where it does."""
    try:
        theirs = lark_oracle.parser(grammar)
    except lark.exceptions.LarkError:
        return False
    ours = engine.verdicts("lark", FIRST_SKIP + grammar, TEXTS)
    for text, verdict in zip(TEXTS, ours):
        assert verdict == lark_oracle.accepts(theirs, text), f"{text!r}, ours: {verdict}\n{grammar}"
    return True


@pytest.mark.parametrize("seed", range(10 if os.environ.get("MASKD_LONG") else 4))
def test_random_grammars(engine, seed):
    rnd = random.Random(seed)
    read = sum(compare(engine, random_grammars.lark(rnd)) for _ in range(60))
    assert read >= 20


SAMPLES = {
    "INT": ["", "0", "12", "-1"],
    "SIGNED_INT": ["+1", "-20", "1", "+", "1-"],
    "DECIMAL": ["1.", ".5", "1.5", ".", "1", "1..2"],
    "FLOAT": ["1e5", "1.5E-3", ".5", "1", "1.e2", "e5"],
    "SIGNED_FLOAT": ["-1.5", "+1e2", "1", "--1.0"],
    "NUMBER": ["1", "1.5", "1e5", "-1", "."],
    "SIGNED_NUMBER": ["-1", "+2.5e10", "1", "-"],
    "ESCAPED_STRING": ['""', '"a"', '"a\\"b"', '"\\\\"', '"\\"', '"a"b"', '"a\nb"', '"', '"\\\\\\""', "a"],
    "CNAME": ["a", "_a1", "1a", "é", "a-b"],
    "WORD": ["ab", "aB", "a1", ""],
    "WS": [" ", "\t\f\r\n", "\v", ""],
    "WS_INLINE": [" \t", "\n", ""],
    "NEWLINE": ["\n", "\r\n\n", "\r"],
    "CR": ["\r", "\n"],
    "LF": ["\n", "\r"],
    "SH_COMMENT": ["#", "# a", "# a\n", "a"],
    "CPP_COMMENT": ["//", "// a", "// a\n", "/"],
    "C_COMMENT": ["/**/", "/* a \n*/", "/***/", "/* */ */", "/*/", "/*a**/", "/*a"],
    "SQL_COMMENT": ["--", "-- a", "-- a\n", "-"],
    "DIGIT": ["1", "12", "a"],
    "HEXDIGIT": ["a", "F", "0", "g", "aa"],
    "LETTER": ["a", "Z", "1", "é"],
    "LCASE_LETTER": ["a", "A"],
    "UCASE_LETTER": ["A", "a"],
    "_EXP": ["e5", "E-3", "e", "e+"],
}


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_imported_terminals(engine, name):
    grammar = f"%import common.{name}\nstart: {name}\n"
    theirs = lark_oracle.parser(grammar, complete=False)
    rnd = random.Random(name)
    letters = sorted(set("".join(SAMPLES[name])))
    texts = SAMPLES[name] + ["".join(rnd.choices(letters, k=rnd.randint(1, 6))) for _ in range(300)]
    for text, verdict in zip(texts, engine.verdicts("lark", grammar, texts)):
        assert verdict == lark_oracle.accepts(theirs, text), repr(text)


def test_every_terminal_of_common_is_there(engine):
    source = pathlib.Path(lark.__file__).parent / "grammars/common.lark"
    names = set(re.findall(r"^(_?[A-Z_]+)\s*:", source.read_text(), re.MULTILINE))
    # The inner parts of strings match no text, or look at what stands before them.
    assert names - {"_STRING_INNER", "_STRING_ESC_INNER"} == set(SAMPLES)


@pytest.mark.parametrize("pattern", [r"\d", r"\w", r"\s", r".", r"\D", r"[\W\d]", r"(?i:k|\xe9)"])
def test_sets_of_characters_are_those_of_re(engine, pattern):
    # Characters that are the same in every version of Unicode from 5.0 on.
    every = [chr(c) for c in range(0x10FFFF) if not 0xD800 <= c < 0xE000 and c < 0x3000 or c % 0x1001 == 0]
    texts = [c for c in every if re.match(r"\w|\s|[\x00-\xff]", c) or ord(c) % 17 == 0]
    verdicts = engine.verdicts("lark", f"start: /{pattern}/\n", texts)
    different = [hex(ord(c)) for c, verdict in zip(texts, verdicts) if verdict != bool(re.fullmatch(pattern, c))]
    assert different == []
