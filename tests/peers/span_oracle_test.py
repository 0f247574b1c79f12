"""Random EBNF grammars and structural tags have the language that span_oracle finds by trying every span."""

import os
import pathlib
import random
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import random_grammars  # noqa: E402
import random_tags  # noqa: E402
import span_oracle  # noqa: E402
from engine import Engine  # noqa: E402

LETTERS = random_grammars.texts("ab", 5, ["-a", "b-ab", "B", "é", "aé"])
MARKS = random_grammars.texts("<ab>", 4, ["b-ab", "<ab><"])
# How many grammars of a seed: rules are slow to try.
KINDS = {"ebnf": (random_grammars.ebnf, 12, LETTERS), "ebnf macros": (random_grammars.ebnf_macros, 100, MARKS),
         "structural_tag": (random_tags.structural_tag, 100, MARKS)}
# Which the makers make, too.
REFUSED = "begins with more than one trigger"


@pytest.mark.parametrize("seed", range(4 if os.environ.get("MASKD_LONG") else 1))
@pytest.mark.parametrize("kind", KINDS)
def test_random_grammars(kind, seed):
    make, count, texts = KINDS[kind]
    engine, rnd = Engine(), random.Random(seed)
    read = 0
    for _ in range(count):
        grammar = make(rnd)
        answer = engine.ask(kind.split()[0], grammar, texts)
        if not answer["ok"] and "no text satisfies" not in answer["error"]:
            assert REFUSED in answer["error"]
            continue
        read += 1
        ours = answer["verdicts"] if answer["ok"] else [False] * len(texts)
        for text, mine, true in zip(texts, ours, span_oracle.verdicts(grammar, texts)):
            assert mine == true, f"{text!r}, ours: {mine}\n{grammar}"
    engine.close()
    assert read >= count * 0.9


def _as_pattern(grammar: str) -> str:
    """Of a grammar without names."""
    source = grammar.removeprefix("root ::= ").replace('""', "(?:)").replace("[^]", r"[\s\S]")
    return source.replace(" ", "").replace('"', "").replace("(", "(?:").replace("(?:?:)", "(?:)").strip()


def test_the_oracle_reads_grammars_without_names_as_re_does():
    rnd = random.Random(1)
    for _ in range(60):
        grammar = random_grammars.ebnf_without_names(rnd)
        read = re.compile(_as_pattern(grammar))
        assert span_oracle.verdicts(grammar, LETTERS) == [bool(read.fullmatch(text)) for text in LETTERS], grammar
