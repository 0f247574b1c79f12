"""Peers behind one interface: each is used through its own Python package, as its documents say.

A call from Python costs some 0.1 to 0.3 us by itself; bench/peers/ops.py measures that too.
"""

import base64
import json
import pathlib
import sys
import types

# Llama 3's split of text into words; only llguidance's forced tokens depend on it.
WORDS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
         r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


class CompileError(Exception):
    """The engine refuses the schema."""


class Vocabulary:
    """A rank file of scripts/fetch-vocab with the special tokens beside it."""

    def __init__(self, path: pathlib.Path, stop: str):
        facts = json.loads(path.with_suffix(".special.json").read_text(encoding="utf-8"))
        self.special = facts["special"]
        self.stop = self.special[stop]
        lines = [line.split() for line in path.read_bytes().splitlines() if line]
        self.ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
        self.size = max([*self.ranks.values(), *self.special.values()]) + 1

    def words(self) -> int:
        return (self.size + 31) // 32


class Llguidance:
    """LLMatcher, defaults of the package: white space free, limits and slices its own."""

    def __init__(self, vocabulary: Vocabulary):
        import llguidance

        self.matcher_class = llguidance.LLMatcher
        self.executor_class = llguidance.LLExecutor
        self.tokenizer = llguidance.LLTokenizer.from_tiktoken(
            encoder=vocabulary.ranks, special_tokens=vocabulary.special, pattern=WORDS,
            eos_token=vocabulary.stop, n_vocab=vocabulary.size)

    def compile(self, schema: str):
        grammar = self.matcher_class.grammar_from_json_schema(schema)
        matcher = self.matcher_class(self.tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise CompileError(matcher.get_error())
        return matcher

    # A compiled grammar is a matcher at its start.
    def start(self, grammar):
        return grammar.deep_copy()

    def fill(self, matcher, plane, row: int) -> None:
        line = plane[row]
        matcher.unsafe_compute_mask_ptr(line.ctypes.data, line.nbytes)
        if matcher.is_error():
            raise RuntimeError(matcher.get_error())

    def accept(self, matcher, token: int) -> bool:
        return matcher.consume_token(token)

    def rollback(self, matcher, count: int) -> None:
        matcher.rollback(count)

    def fork(self, matcher):
        return matcher.deep_copy()

    def memory(self, grammar):
        return None  # not told

    def batch(self, threads: int):
        """A function that takes a token of each matcher and fills all masks."""
        executor = self.executor_class(num_threads=threads)

        def step(matchers, tokens, plane):
            executor.consume_token_par(list(zip(matchers, tokens)))
            executor.unsafe_compute_mask_ptr(
                [(matcher, row) for row, matcher in enumerate(matchers)], plane.ctypes.data,
                plane.shape[1] * 4, plane.shape[0])

        return step


def import_xgrammar():
    """The package without torch and transformers: of both it only names types."""
    import tvm_ffi  # looks for a real torch, so before the ones below  # noqa: F401

    class Anything:
        def __init__(self, *_, **__):
            pass

    for name in ("torch", "transformers"):
        module = types.ModuleType(name)
        module.__getattr__ = lambda attribute: type(attribute, (Anything,), {})
        sys.modules[name] = module
    import xgrammar

    return xgrammar


class Xgrammar:
    """GrammarCompiler and GrammarMatcher, one thread, compile cache on. As the standard has it: what
    a schema does not forbid is allowed (strict_mode=False)."""

    options = {"strict_mode": False}

    def __init__(self, vocabulary: Vocabulary):
        self.xgrammar = import_xgrammar()
        tokens = [b""] * vocabulary.size  # a special token has no text
        for token, rank in vocabulary.ranks.items():
            tokens[rank] = token
        info = self.xgrammar.TokenizerInfo(
            tokens, vocab_type=self.xgrammar.VocabType.RAW, vocab_size=vocabulary.size,
            stop_token_ids=[vocabulary.stop])
        self.compiler = self.xgrammar.GrammarCompiler(
            info, max_threads=1, cache_limit_bytes=1 << 30)

    def compile(self, schema: str):
        try:
            return self.compiler.compile_json_schema(schema, **self.options)
        except Exception as error:
            raise CompileError(str(error)) from error

    def start(self, grammar):
        return self.xgrammar.GrammarMatcher(grammar)

    def fill(self, matcher, plane, row: int) -> None:
        if not matcher.fill_next_token_bitmask(plane, row):
            plane[row] = -1

    def accept(self, matcher, token: int) -> bool:
        return matcher.accept_token(token)

    def rollback(self, matcher, count: int) -> None:
        matcher.rollback(count)

    def fork(self, matcher):
        return matcher.fork()

    def memory(self, grammar):
        return grammar.memory_size_bytes

    def batch(self, threads: int):
        filler = self.xgrammar.BatchGrammarMatcher(max_threads=threads)

        def step(matchers, tokens, plane):
            for matcher, token in zip(matchers, tokens):
                matcher.accept_token(token)
            filler.batch_fill_next_token_bitmask(matchers, plane)

        return step


class XgrammarDefaults(Xgrammar):
    """As above with the package's own defaults: objects and arrays closed where the schema is
    silent."""

    options = {}


ENGINES = {"llguidance": Llguidance, "xgrammar": Xgrammar, "xgrammar-strict": XgrammarDefaults}
