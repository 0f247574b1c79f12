"""One engine as a service for compare: a case of MaskBench in, its result line out.

    worker.py ENGINE TOKENIZER STOP

Each schema is compiled, each instance taken token by token: the mask into a row, the next token's
bit, and, if it is set, the acceptance; after the last token the mask must allow the stop id. Errors
are parts of the result line. A crash or a hang is for the caller to see.
"""

import json
import pathlib
import resource
import sys
import time

import numpy as np

import engines

ADDRESS_SPACE = 8 << 30
LONGEST_ERROR = 400
BITS = 32


def micros(start: int) -> float:
    return round((time.perf_counter_ns() - start) / 1000, 1)


def is_set(plane, token: int) -> bool:
    return bool(int(plane[0, token // BITS]) >> (token % BITS) & 1)


class Run:
    """One schema's run."""

    def __init__(self, engine, vocabulary):
        self.engine = engine
        self.stop = vocabulary.stop
        self.plane = np.zeros((1, vocabulary.words()), dtype=np.int32)
        self.mask_us = []
        self.accept_us = []

    def fill(self, matcher) -> None:
        start = time.perf_counter_ns()
        try:
            self.engine.fill(matcher, self.plane, 0)
        finally:
            self.mask_us.append(micros(start))

    def accept(self, matcher, token: int) -> bool:
        start = time.perf_counter_ns()
        try:
            return self.engine.accept(matcher, token)
        finally:
            self.accept_us.append(micros(start))

    def instance(self, grammar, test: dict) -> dict:
        result = {"valid": test["valid"], "got": "accept", "at": 0, "tokens": len(test["tokens"])}
        matcher = self.engine.start(grammar)
        try:
            for token in test["tokens"]:
                self.fill(matcher)
                if not is_set(self.plane, token):
                    return result | {"got": "reject"}
                if not self.accept(matcher, token):
                    return result | {"got": "error", "error": "did not accept a token of its mask"}
                result["at"] += 1
            self.engine.fill(matcher, self.plane, 0)
        except Exception as error:  # the engine's, of whatever type
            return result | {"got": "error", "at": -1, "error": str(error)[:LONGEST_ERROR]}
        return result if is_set(self.plane, self.stop) else result | {"got": "no_eos"}

    def case(self, case: dict) -> dict:
        result = {"id": case["id"], "split": "open", "status": "ok", "n_tests": len(case["tests"])}
        start = time.perf_counter_ns()
        try:
            grammar = self.engine.compile(case["schema"])
            result["compile_us"] = micros(start)
            self.engine.fill(self.engine.start(grammar), self.plane, 0)
            result["ttfm_us"] = micros(start)
        except MemoryError:
            return result | {"status": "oom", "error": "MemoryError"}
        except Exception as error:  # the engine's, of whatever type
            return result | {"status": "compile_error", "error": str(error)[:LONGEST_ERROR]}
        result["mem_bytes"] = self.engine.memory(grammar)
        tests = [self.instance(grammar, test) for test in case["tests"]]
        return result | {"mask_us": self.mask_us, "accept_us": self.accept_us, "tests": tests}


def main() -> None:
    name, tokenizer, stop = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    vocabulary = engines.Vocabulary(pathlib.Path(tokenizer), stop)
    engine = engines.ENGINES[name](vocabulary)
    for line in sys.stdin:
        result = Run(engine, vocabulary).case(json.loads(line)) | {"engine": name}
        sys.stdout.write(json.dumps(result, separators=(",", ":")) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
