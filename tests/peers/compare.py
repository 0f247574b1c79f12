#!/usr/bin/env python3
"""Random grammars, here and in a peer: same verdicts, or the grammar is printed.

  tests/peers/compare.py xgrammar              kind ebnf, its macros, structural tags
  tests/peers/compare.py llguidance            kind lark: what only llguidance has; package llguidance
  tests/peers/compare.py llama_cpp             kind gbnf; node, and node-llama-cpp in the folder that
                                               MASKD_NODE_MODULES names
  options: --count N, --seed S

A peer that is missing ends it with 77. Grammars that the peer refuses are counted and left out:
llama.cpp has bounds on repetition, xgrammar on nesting. Differences that the peer's list gives a
reason for are counted, too; any other is printed, and the exit status is 1.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import random_grammars  # noqa: E402
import xgrammar_peer  # noqa: E402
from engine import Engine  # noqa: E402

NODE_PROGRAM = """
import {getLlama, LlamaGrammar} from "node-llama-cpp";
import readline from "readline";
const llama = await getLlama({gpu: false, build: "never", skipDownload: true, logLevel: "disabled",
                              progressLogs: false});
for await (const line of readline.createInterface({input: process.stdin})) {
  const {grammar, texts} = JSON.parse(line);
  let answer = null;
  try {
    const compiled = new LlamaGrammar(llama, {grammar});
    answer = texts.map(text => compiled._testText(text));
  } catch (error) {}
  process.stdout.write(JSON.stringify(answer) + "\\n");
}
process.exit(0);
"""


class LlamaCpp:
    """llama.cpp, by node-llama-cpp. A grammar may end its process, which is then started again."""

    kinds = {"gbnf": random_grammars.gbnf}

    def __init__(self):
        self._folder = os.environ.get("MASKD_NODE_MODULES", "")
        if not (pathlib.Path(self._folder) / "node_modules/node-llama-cpp").is_dir():
            print("SKIPPED: no node-llama-cpp in MASKD_NODE_MODULES", file=sys.stderr)
            sys.exit(77)
        # A file beside the package: node looks for it from there.
        self._program = tempfile.NamedTemporaryFile("w", suffix=".mjs", dir=self._folder)
        self._program.write(NODE_PROGRAM)
        self._program.flush()
        self._process = None

    def verdicts(self, grammar: str, texts: list):
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                ["node", self._program.name],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self._process.stdin.write(json.dumps({"grammar": grammar, "texts": texts}) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            self._process.kill()
            self._process.wait()
        return json.loads(answer or "null")


class Llguidance:
    """llguidance, a token a byte."""

    kinds = {
        "lark sets": random_grammars.lark_sets, "lark index": random_grammars.lark_index,
        "lark lazy": random_grammars.lark_lazy}

    def __init__(self):
        try:
            import llguidance
        except ImportError as error:
            print(f"SKIPPED: {error}", file=sys.stderr)
            sys.exit(77)
        self._llguidance = llguidance
        self._tokenizer = llguidance.LLTokenizer("byte")

    def _verdict(self, matcher, text: str) -> bool:
        matcher.reset()
        return all(matcher.try_consume_tokens([byte]) for byte in text.encode()) and matcher.is_accepting()

    def verdicts(self, grammar: str, texts: list):
        source = self._llguidance.grammar_from("lark", grammar)
        matcher = self._llguidance.LLMatcher(self._tokenizer, source)
        if matcher.is_error():
            return None
        answer = [self._verdict(matcher, text) for text in texts]
        return None if matcher.is_error() else answer


PEERS = {"llama_cpp": LlamaCpp, "llguidance": Llguidance, "xgrammar": xgrammar_peer.Xgrammar}
LETTERS = {"ebnf macros": "<ab>", "lark lazy": "ab!", "structural_tag": "<ab>"}
MORE = ["-a", "b-", "a b", "b-ab", "B", "ab_!"]


def texts_for(kind: str) -> list:
    letters = LETTERS.get(kind, "ab")
    texts = random_grammars.texts(letters, 5 if len(letters) < 4 else 4, MORE)
    # llguidance's ~ has texts that are no characters; tokens may be halves of them.
    return texts + ([] if kind in ("lark sets", "structural_tag") else ["é", "aé"])


def compared(peer, engine: Engine, kind: str, count: int, rnd: random.Random):
    """Of each random grammar that the peer reads: it, the texts that differ, and the listed reason or ""."""
    texts = texts_for(kind)
    for _ in range(count):
        grammar = peer.kinds[kind](rnd)
        theirs = peer.verdicts(grammar, texts)
        if theirs is None:
            continue
        ours = engine.verdicts(kind.split()[0], grammar, texts)
        wrong = [text for text, mine, its in zip(texts, ours, theirs) if mine != its]
        listed = hasattr(peer, "reason") and wrong
        yield grammar, wrong, peer.reason(grammar, texts, ours, theirs) if listed else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("peer", choices=sorted(PEERS))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    flags = parser.parse_args()
    try:
        peer = PEERS[flags.peer]()
    except xgrammar_peer.Missing as missing:
        print(missing, file=sys.stderr)
        sys.exit(77)
    engine = Engine()
    rnd = random.Random(flags.seed)
    different = 0
    listed = collections.Counter()
    for kind in peer.kinds:
        read = 0
        for grammar, wrong, why in compared(peer, engine, kind, flags.count, rnd):
            read += 1
            listed[kind, why] += bool(why)
            if wrong and not why:
                different += 1
                print(f"{kind}: {wrong[:5]}\n{grammar}")
        print(f"{kind}: {read} of {flags.count} grammars read by {flags.peer}, {len(texts_for(kind))} texts each")
    for (kind, why), count in listed.items():
        if count:
            print(f"{kind}: {count} differ as listed: {why}")
    print(f"{different} grammars differ otherwise")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
