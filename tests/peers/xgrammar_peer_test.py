"""Random grammars have the language that xgrammar gives them; where it differs, a third tells who is right.

compare.py does the same with other seeds and more grammars.
"""

import pathlib
import random
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import compare  # noqa: E402
import xgrammar_peer  # noqa: E402
from engine import Engine  # noqa: E402

COUNT = 60


@pytest.fixture(scope="session")
def peer():
    try:
        return xgrammar_peer.Xgrammar()
    except xgrammar_peer.Missing as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("kind", xgrammar_peer.Xgrammar.kinds)
def test_random_grammars(peer, kind):
    engine = Engine()
    rows = list(compare.compared(peer, engine, kind, COUNT, random.Random(2)))
    engine.close()
    assert len(rows) >= COUNT * 0.9
    for grammar, wrong, why in rows:
        assert not wrong or why, f"{wrong[:5]}\n{grammar}"
    # What is listed is a difference still.
    assert xgrammar_peer.TOO_EARLY in [why for _, _, why in rows]


@pytest.mark.parametrize(("grammar", "text"), [
    ("root ::= [^a]+\n", ""),
    ('root ::= TagDispatch(("ab", r), loop_after_dispatch=true)\nr ::= "<"\n', "ab"),
    ('{"type": "structural_tag", "format": {"type": "exclude_token", "exclude_tokens": []}}', ""),
    ('{"type": "structural_tag", "format": {"type": "tag", "begin": "<b", "content": {"type": "any_text"}, "end": ">"}}',
     "<b"),
])
def test_smallest_difference_of_a_kind(peer, grammar, text):
    engine = Engine()
    kind = "structural_tag" if grammar.startswith("{") else "ebnf"
    ours, theirs = engine.verdicts(kind, grammar, [text]), peer.verdicts(grammar, [text])
    engine.close()
    assert (ours, theirs) == ([False], [True])
    assert peer.reason(grammar, [text], ours, theirs) == xgrammar_peer.TOO_EARLY
