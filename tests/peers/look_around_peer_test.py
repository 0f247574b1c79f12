"""Regular expressions with look-around have the language that Python's re and JavaScript give them.

Every pattern of up to SIZE atoms and operators, and random larger ones, on every short text: as a
whole (kind regex), and as a JSON Schema's pattern, which searches. Python refuses look-behind of a
varying width, and JavaScript is asked where there is a `node`; a pattern that neither reads is not
compared.
"""

import functools
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import warnings

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from engine import Engine  # noqa: E402

SIZE = 4
ATOMS = ["a", "b", "[ab]", ".", "^", "$", r"\b"]
AROUND = ["(?:%s)*", "(?:%s)?", "(?:%s){2}", "(?=%s)", "(?!%s)", "(?<=%s)", "(?<!%s)"]
MORE_AROUND = AROUND + ["(?:%s)+", "(?:%s){1,3}", "(?=.*%s)", "(?!.*%s)", r"\B%s", "%s-",
                        "(?:(?!ab)%s)*", "(?:(?!aa|b-)%s)*aa", "(?:(?!-b-)%s){1,3}-b-"]
TEXTS = ["".join(text) for length in range(5) for text in itertools.product("ab-", repeat=length)]

JAVASCRIPT = """
const lines = require('readline').createInterface({input: process.stdin});
lines.on('line', line => {
  const {pattern, texts, search} = JSON.parse(line);
  let answer = null;
  try {
    const read = new RegExp(search ? pattern : '^(?:' + pattern + ')$', 'u');
    answer = texts.map(text => read.test(text));
  } catch (error) {}
  console.log(JSON.stringify(answer));
});
"""


@functools.lru_cache(None)
def patterns(size: int) -> tuple:
    if size == 1:
        return tuple(ATOMS)
    made = [around % part for part in patterns(size - 1) for around in AROUND]
    for left in range(1, size - 1):
        for x, y in itertools.product(patterns(left), patterns(size - 1 - left)):
            made += [x + y, f"(?:{x}|{y})"]
    return tuple(made)


def random_pattern(rnd: random.Random, size: int) -> str:
    if size == 1:
        return rnd.choice(ATOMS)
    if size == 2 or rnd.random() < 0.4:
        return rnd.choice(MORE_AROUND) % random_pattern(rnd, size - 1)
    left = rnd.randint(1, size - 2)
    x, y = random_pattern(rnd, left), random_pattern(rnd, size - 1 - left)
    return x + y if rnd.random() < 0.7 else f"(?:{x}|{y})"


def repeated_exclusion(rnd: random.Random) -> str:
    """As in a comment and what ends it: <(?:(?!>).)*>"""
    def text(size):
        return "".join(rnd.choices("ab-", k=rnd.randint(1, size)))

    looks = "".join(f"(?!{rnd.choice([text(3), text(3) + '|' + text(2)])})" for _ in range(rnd.randint(1, 2)))
    rounds = f"(?:{looks}{rnd.choice(['.', '[ab]', 'a'])}){rnd.choice(['*', '+', '{1,3}', '{2,}', '?'])}"
    behind = ["$", "", text(3), text(2) + ".*", f"(?:{text(2)}|{text(3)})", f"(?:{text(3)})?", text(3) + "$"]
    return rnd.choice(["", "a", "-?", "b*"]) + rounds + rnd.choice(behind)


class Node:
    def __init__(self, program: str):
        self._process = subprocess.Popen(
            [program, "-e", JAVASCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def verdicts(self, pattern: str, search: bool):
        self._process.stdin.write(
            json.dumps({"pattern": pattern, "texts": TEXTS, "search": search}) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def python_verdicts(pattern: str, search: bool):
    if r"\B" in pattern:  # which does not match the empty text there, before Python 3.14
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read = re.compile(pattern)
    except re.error:
        return None
    match = read.search if search else read.fullmatch
    return [match(text) is not None for text in TEXTS]


class Comparison:
    def __init__(self, engine: Engine, node):
        self._engine = engine
        self._node = node
        self.compared = 0
        self.refused = 0
        self.unread = 0

    def compare(self, pattern: str, search: bool):
        oracles = [python_verdicts(pattern, search)]
        if self._node is not None:
            oracles.append(self._node.verdicts(pattern, search))
        oracles = [oracle for oracle in oracles if oracle is not None]
        if not oracles:
            self.unread += 1
            return
        ours = self._ours(pattern, search)
        if ours is None:
            self.refused += 1
            return
        self.compared += 1
        for oracle in oracles:
            for text, verdict, expected in zip(TEXTS, ours, oracle):
                assert verdict == expected, f"{pattern!r} on {text!r}, search: {search}"

    def _ours(self, pattern: str, search: bool):
        if search:
            schema = json.dumps({"type": "string", "pattern": pattern})
            answer = self._engine.ask("json_schema", schema, [json.dumps(text) for text in TEXTS])
        else:
            answer = self._engine.ask("regex", pattern, TEXTS)
        if answer["ok"]:
            return answer["verdicts"]
        if "not supported" in answer["error"]:
            return None
        assert re.search("no (text|string)", answer["error"]), f"{pattern!r}: {answer['error']}"
        return [False] * len(TEXTS)

    def summary(self) -> str:
        return f"{self.compared} patterns compared, {self.refused} refused, {self.unread} not read by an oracle"


@pytest.fixture(scope="module")
def comparison():
    engine = Engine()
    program = shutil.which("node")
    if program is None:
        print("JavaScript is not asked: there is no node")
    node = None if program is None else Node(program)
    yield Comparison(engine, node)
    engine.close()
    if node is not None:
        node.close()


@pytest.mark.parametrize("search", [False, True], ids=["whole", "search"])
def test_every_small_pattern(comparison, search):
    # A search is compared on the smaller ones: it is the same pattern between two others.
    for size in range(1, SIZE + 1 - search):
        for pattern in patterns(size):
            comparison.compare(pattern, search)
    print(comparison.summary())
    assert comparison.refused < comparison.compared / 3


@pytest.mark.parametrize("seed", range(4 if os.environ.get("MASKD_LONG") else 2))
def test_random_patterns(comparison, seed):
    rnd = random.Random(seed)
    before = comparison.compared
    for _ in range(500):
        comparison.compare(random_pattern(rnd, rnd.randint(4, 10)), rnd.random() < 0.3)
    print(comparison.summary())
    assert comparison.compared - before > 250


def test_repeated_exclusion(comparison):
    rnd = random.Random(5)
    before = comparison.compared
    for _ in range(1000):
        comparison.compare(repeated_exclusion(rnd), rnd.random() < 0.3)
    print(comparison.summary())
    assert comparison.compared - before > 800


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-s"]))
