"""The same model in llama-cpp-python, held to grammars by maskd.LlamaCppProcessor.

    maskd --tokenizer "$(scripts/fetch-vocab --print-flag smollm2)" &
    pip install llama-cpp-python gguf tokenizers 'jsonschema[format-nongpl]'    # builds llama.cpp
    python llama_cpp_run.py --subjects 3     20 schemas and 10 other grammars; the schemas' prompts free
    python llama_cpp_run.py --compare        its logits beside those of gguf_model.py; needs no server

Exit status 1: an answer under a grammar is not valid, or the two models say different things.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile
import time
from typing import Any

import cases
import llama_cpp
import maskd
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "build/vocab/smollm2/smollm2-135m-instruct.gguf"
MAX_TOKENS = 100
LENGTH = 256
# What is asked of --compare. Of the file as it is llama.cpp rounds activations to 8 bits; of one in
# float32 only the order of sums differs.
SAME, SAME_IN_FLOAT32, APART_IN_FLOAT32 = 0.9, 0.99, 1e-3
FLOAT32 = 0  # GGML_TYPE_F32


class Timed:
    """A processor, with the seconds of each of its calls."""

    def __init__(self, processor: maskd.LlamaCppProcessor) -> None:
        self.seconds: list[float] = []
        self._processor = processor

    def __call__(self, input_ids: np.ndarray, scores: np.ndarray) -> np.ndarray:
        started = time.perf_counter()
        masked = self._processor(input_ids, scores)
        self.seconds.append(time.perf_counter() - started)
        return masked


class Runner:
    def __init__(self, model: Any, client: maskd.Client, tokenizer: str) -> None:
        self.model = model
        self.first_calls: list[float] = []  # which open the stream
        self.calls: list[float] = []
        self.seconds = 0.0  # of answers that are held to a grammar
        self._client = client
        self._tokenizer = tokenizer

    def held(self, case: cases.Case, temperature: float) -> bool:
        started = time.perf_counter()
        with maskd.LlamaCppProcessor(self._client, case.grammar, self._tokenizer,
                                     max_new_tokens=MAX_TOKENS) as processor:
            timed = Timed(processor)
            valid = self._answer(case, temperature, [timed])
        self.seconds += time.perf_counter() - started
        self.first_calls += timed.seconds[:1]
        self.calls += timed.seconds[1:]
        return valid

    def free(self, case: cases.Case, temperature: float) -> bool:
        return self._answer(case, temperature, None)

    def _answer(self, case: cases.Case, temperature: float, processors: list[Timed] | None) -> bool:
        made = self.model.create_completion(
            cases.chat(case.prompt), max_tokens=MAX_TOKENS, temperature=temperature,
            logits_processor=processors and llama_cpp.LogitsProcessorList(processors))
        (choice,) = made["choices"]
        valid = choice["finish_reason"] == "stop" and case.is_valid(choice["text"])
        print(f"  {'ok ' if valid else 'BAD'} {case.name[:14]:14} {choice['text']!r}", flush=True)
        return valid

    def run(self, asked: list[cases.Case], free: list[cases.Case]) -> bool:
        """Every second answer is sampled. Whether all that are held are valid."""
        print("held to their grammars")
        valid = sum(self.held(case, 0.7 * (i % 2)) for i, case in enumerate(asked))
        print("the same prompts, held to nothing")
        by_chance = sum(self.free(case, 0.7 * (i % 2)) for i, case in enumerate(free))
        print(f"{valid} of {len(asked)} valid; held to nothing, {by_chance} of {len(free)}")
        tokens = len(self.first_calls) + len(self.calls)
        print(f"{tokens} tokens, {1e3 * self.seconds / tokens:.1f} ms each; of it the processor: "
              f"{1e6 * statistics.median(self.calls):.0f} us (p50), "
              f"{100 * sum(self.first_calls + self.calls) / self.seconds:.1f} % of all; a generation's first "
              f"{1e6 * statistics.median(self.first_calls):.0f} us (p50)")
        return valid == len(asked)


def load(path: pathlib.Path, threads: int, **options: Any) -> Any:
    return llama_cpp.Llama(str(path), n_ctx=LENGTH, n_threads=threads, n_threads_batch=threads, seed=1,
                           verbose=False, **options)


def dequantised(path: pathlib.Path, folder: str) -> pathlib.Path:
    """The file with every tensor in float32, as llama.cpp itself converts them."""
    made = pathlib.Path(folder) / "float32.gguf"
    options = llama_cpp.llama_model_quantize_default_params()
    options.ftype, options.allow_requantize = llama_cpp.LLAMA_FTYPE_ALL_F32, True
    if llama_cpp.llama_model_quantize(str(path).encode(), str(made).encode(), options) != 0:
        raise OSError(f"llama.cpp could not convert {path}")
    return made


class Comparison:
    """gguf_model.py and llama.cpp on every position of the schemas' prompts."""

    def __init__(self, path: pathlib.Path, subjects: int) -> None:
        from gguf_model import Cache, Model, Span  # needs gguf and tokenizers

        self._tokens, self._logits = [], []
        model = Model(str(path))
        self.prompts = [cases.chat(case.prompt) for case in cases.schema_cases(subjects)]
        for prompt in self.prompts:
            tokens = np.array(model.tokenizer.encode(prompt))
            self._tokens.append(tokens.tolist())
            self._logits.append(model.forward(tokens, [Span(0, 0, len(tokens))], np.arange(len(tokens)),
                                              Cache(model, 1, LENGTH)))

    def with_file(self, name: str, model: Any) -> tuple[float, float]:
        """The share of positions with the same likeliest token, and the greatest difference of a logit."""
        apart, same = [], []
        for prompt, tokens, logits in zip(self.prompts, self._tokens, self._logits, strict=True):
            theirs = model.tokenize(prompt.encode(), add_bos=False, special=True)
            if theirs != tokens:
                raise ValueError(f"llama.cpp has other tokens of {prompt!r}: {theirs}, not {tokens}")
            model.reset()
            model.eval(tokens)
            expected = model.scores[:len(tokens)]
            same += (logits.argmax(axis=1) == expected.argmax(axis=1)).tolist()
            apart += np.abs(logits - expected).max(axis=1).tolist()
        print(f"{name}: {sum(same)} of {len(same)} positions have the same likeliest token; the greatest "
              f"difference of a logit is {max(apart):.4f}, that of a position p50 {statistics.median(apart):.4f}")
        return sum(same) / len(same), max(apart)


def compare(path: pathlib.Path, subjects: int, threads: int) -> bool:
    comparison = Comparison(path, subjects)
    options = {"threads": threads, "logits_all": True, "type_k": FLOAT32, "type_v": FLOAT32}
    share, _ = comparison.with_file("the file as it is", load(path, **options))
    with tempfile.TemporaryDirectory() as folder:
        exact, apart = comparison.with_file("in float32", load(dequantised(path, folder), **options))
    return share >= SAME and exact >= SAME_IN_FLOAT32 and apart <= APART_IN_FLOAT32


def main() -> int:
    parser = argparse.ArgumentParser(description="llama-cpp-python held to grammars by maskd.")
    parser.add_argument("--server", default="unix:/tmp/maskd.sock")
    parser.add_argument("--tokenizer", default="", help="the server's name of the model's vocabulary")
    parser.add_argument("--model", type=pathlib.Path, default=MODEL)
    parser.add_argument("--subjects", type=int, default=1, help="of each schema, up to 10")
    parser.add_argument("--threads", type=int, default=1,
                        help="of llama.cpp; more of them spin on the server's cores")
    parser.add_argument("--compare", action="store_true", help="logits, not answers")
    arguments = parser.parse_args()
    if arguments.compare:
        return 0 if compare(arguments.model, arguments.subjects, arguments.threads) else 1
    of_schemas = cases.schema_cases(arguments.subjects)
    with maskd.Client(arguments.server, timeout_s=10) as client:
        runner = Runner(load(arguments.model, arguments.threads), client, arguments.tokenizer)
        return 0 if runner.run(of_schemas + cases.other_cases(), of_schemas) else 1


if __name__ == "__main__":
    sys.exit(main())
