"""xgrammar by its own package, out of its wheel: of torch and transformers it only names types.

The versions are those of bench/peers/requirements-alone.txt and requirements.txt.
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests/peers"), str(ROOT / "bench/peers")]

import numpy  # noqa: E402
import random_grammars  # noqa: E402
import random_tags  # noqa: E402
import span_oracle  # noqa: E402

# What 0.2.9 gets wrong, 0.2.8 did not. Smallest: root ::= [^a]+, which it lets be empty. The same in
# TagDispatch(("ab", r), loop_after_dispatch=true) with r ::= "<", which it ends behind "ab", and in
# {"type": "tag", "begin": "<b", "content": {"type": "any_text"}, "end": ">"}, behind "<b".
TOO_EARLY = "xgrammar takes texts that have to go on, and refuses none"
# Rules that hold themselves in a loop, such as r ::= (r r | "a")* [^]*.
OUR_LIMIT = "the engine stops at its limit step_work, and is right about the other texts"


class Missing(Exception):
    """There is no registry here."""


def _wheels() -> list:
    lines = [line for name in ("requirements.txt", "requirements-alone.txt")
             for line in (ROOT / "bench/peers" / name).read_text().splitlines()]
    return [line for line in lines if line.startswith(("xgrammar==", "apache-tvm-ffi=="))]


def _import():
    done = subprocess.run([ROOT / "scripts/engine-sources", "--whole", *_wheels()], capture_output=True, text=True)
    if done.returncode == 77:
        raise Missing(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    sys.path[:0] = done.stdout.split()
    from engines import import_xgrammar
    return import_xgrammar()


class Xgrammar:
    """Each grammar in a process of its own: some end it. Errors: Missing."""

    kinds = {"ebnf": random_grammars.ebnf, "ebnf macros": random_grammars.ebnf_macros,
             "structural_tag": random_tags.structural_tag}

    def __init__(self):
        self.package = _import()
        vocabulary = [bytes([byte]) for byte in range(256)] + [b"<end>"]
        tokens = self.package.TokenizerInfo(
            vocabulary, self.package.VocabType.RAW, vocab_size=257, stop_token_ids=[256])
        self._compiler = self.package.GrammarCompiler(tokens, max_threads=1, cache_enabled=False)

    def verdict(self, compiled, text: str) -> bool:
        """By the masks: without them counts of tokens are not held."""
        matcher = self.package.GrammarMatcher(compiled)
        mask = numpy.zeros((1, 9), dtype=numpy.int32)
        for token in [*text.encode(), 256]:
            mask.fill(-1)
            matcher.fill_next_token_bitmask(mask, 0)
            if not int(mask[0][token // 32]) >> token % 32 & 1 or not matcher.accept_token(token):
                return False
        return True

    def compile(self, grammar: str):
        if grammar.startswith("{"):
            return self._compiler.compile_structural_tag(grammar)
        return self._compiler.compile_grammar(self.package.Grammar.from_ebnf(grammar))

    def verdicts(self, grammar: str, texts: list):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                compiled = self.compile(grammar)
                answer = "".join("01"[self.verdict(compiled, text)] for text in texts)
            except Exception:  # Whatever it is: the peer refuses the grammar.
                answer = ""
            os.write(writer, answer.encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as stream:
            answer = stream.read()
        os.waitpid(child, 0)
        return [verdict == "1" for verdict in answer] if len(answer) == len(texts) else None

    def reason(self, grammar: str, texts: list, ours: list, theirs: list) -> str:
        """Why these verdicts differ, if it is known and the engine is right; else ""."""
        truth = span_oracle.verdicts(grammar, texts)
        limits = [mine for mine in ours if isinstance(mine, str)]
        if any(mine not in (true, *limits) for mine, true in zip(ours, truth)):
            return ""
        if any(true and not its for its, true in zip(theirs, truth)):
            return ""
        if theirs != truth:
            return TOO_EARLY
        return OUR_LIMIT if all(limit.startswith("limit step_work ") for limit in limits) else ""
