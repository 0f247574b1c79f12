"""A real model of 135 million parameters behind maskd: see README.md.

    maskd --tokenizer "$(scripts/fetch-vocab --print-flag smollm2)" &
    python main.py --subjects 1                  20 schemas and 10 other grammars, each once
    python main.py --subjects 10 --free 200      the run of bench/results/notebook.md
"""

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import sys
import time

# A pass of a small model is many small products: threads that wait for each other by spinning lose more
# than they win beside a server on the same cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import cases
import maskd
import numpy as np
from engine import Engine, Request, Times
from gguf_model import Cache, Model, Span

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "build/vocab/smollm2/smollm2-135m-instruct.gguf"
MAX_TOKENS = 100
LENGTH = 256


@dataclasses.dataclass
class Answer:
    case: cases.Case
    text: str
    ended: bool  # by its end, not by max_tokens
    sampled: bool  # not greedy

    @property
    def valid(self) -> bool:
        return self.ended and self.case.is_valid(self.text)


def generate(model: Model, client: maskd.Client, stream: maskd.Stream, asked: list[cases.Case],
             free: list[cases.Case], batch: int = 16, drafts: int = 4) -> tuple[list[Answer], Times]:
    """Answers to `asked`, held to their grammars, and behind them to `free`, held to nothing; one batch
    has both. Every second request of each is sampled, the others are greedy."""
    tokenizer = stream.welcome["tokenizer"]["name"]
    compiled = [(case, client.compile(case.grammar, tokenizer)) for case in asked]
    both = compiled + [(case, None) for case in free]
    requests = []
    for i, (case, grammar) in enumerate(both):
        number = i if grammar is not None else i - len(asked)
        requests.append(Request(model.tokenizer.encode(cases.chat(case.prompt)), MAX_TOKENS, grammar,
                                temperature=0.7 * (number % 2), seed=number))
    engine = Engine(model, stream, batch, LENGTH, drafts)
    engine.run(_shuffled(requests))
    answers = [Answer(case, model.tokenizer.decode(request.tokens), request.ended,
                      request.temperature > 0)
               for (case, _), request in zip(both, requests, strict=True)]
    return answers, engine.times


def _shuffled(requests: list[Request]) -> list[Request]:
    """So that constrained and free rows share the batch."""
    order = np.random.default_rng(1).permutation(len(requests))
    return [requests[i] for i in order]


def token_90(model: Model, stream: maskd.Stream) -> dict[str, int]:
    """A mask that allows token 90 alone, on the logits of a real prompt: what greedy sampling takes with
    and without it. Of three rows of logits only the middle one is masked."""
    prompt = np.array(model.tokenizer.encode(cases.chat("What is the capital of France?")))
    last = np.full(3, len(prompt) - 1)
    logits = model.forward(prompt, [Span(0, 0, len(prompt))], last, Cache(model, 1, LENGTH))
    before = logits.copy()
    row = 1 << 40
    result = stream.run(maskd.Step().open(row, maskd.Grammar("lark", "start: <[90]>"), wait_s=10))
    result.apply(maskd.Applier(), logits, {row: 1})
    stream.run(maskd.Step().close(row))
    return {"masked": int(logits[1].argmax()), "free": int(before[1].argmax()),
            "finite": int(np.isfinite(logits[1]).sum()),
            "others_changed": int((logits[[0, 2]] != before[[0, 2]]).sum())}


def tally(answers: list[Answer]) -> dict[str, str]:
    """Kind -> valid of all."""
    counts: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    for answer in answers:
        counts[answer.case.kind][0] += answer.valid
        counts[answer.case.kind][1] += 1
    return {kind: f"{valid} of {total}" for kind, (valid, total) in counts.items()}


def _print(title: str, answers: list[Answer], shown: int) -> None:
    print(f"\n{title}")
    for answer in answers[:shown]:
        print(f"  {'ok ' if answer.valid else 'BAD'} {answer.case.name[:14]:14} {answer.text!r}")
    for kind, valid in tally(answers).items():
        print(f"  {kind}: {valid} valid")


def _print_times(times: Times, wall: float) -> None:
    print(f"\n{times.steps} steps in {wall:.1f} s, {times.sampled} tokens sampled, "
          f"{times.masked} positions masked")
    print(f"drafts: {times.drafted}, right: {times.kept}")
    print(f"a step: {1e3 * times.step / times.steps:.1f} ms; masks {1e6 * times.masks / times.steps:.0f} us, "
          f"of it waiting {1e6 * times.waiting / times.steps:.0f} us: "
          f"{100 * times.masks / times.step:.2f} % of the step")


def main() -> int:
    parser = argparse.ArgumentParser(description="A real model held to grammars by maskd.")
    parser.add_argument("--server", default="unix:/tmp/maskd.sock")
    parser.add_argument("--tokenizer", default="", help="the server's name of the model's vocabulary")
    parser.add_argument("--model", default=str(MODEL))
    parser.add_argument("--subjects", type=int, default=1, help="of each schema, up to 10")
    parser.add_argument("--free", type=int, default=5, help="of the schemas' prompts, without a grammar")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--drafts", type=int, default=4, help="tokens of a draft; 0: none")
    parser.add_argument("--show", type=int, default=40, help="answers to print")
    arguments = parser.parse_args()

    model = Model(arguments.model)
    of_schemas = cases.schema_cases(arguments.subjects)
    asked = of_schemas + cases.other_cases()
    with maskd.Client(arguments.server, timeout_s=10) as client:
        with client.open_stream(model.vocab_size, arguments.tokenizer) as stream:
            started = time.perf_counter()
            answers, times = generate(model, client, stream, asked, of_schemas[:arguments.free],
                                      arguments.batch, arguments.drafts)
            wall = time.perf_counter() - started
            only_90 = token_90(model, stream)
    held, free = answers[:len(asked)], answers[len(asked):]
    _print("held to their grammars", held, arguments.show)
    _print("the same prompts, held to nothing", free, arguments.show)
    _print_times(times, wall)
    print(f"token 90 alone: {json.dumps(only_90)}")
    return 0 if all(answer.valid for answer in held) else 1


if __name__ == "__main__":
    sys.exit(main())
