"""Time a token in a real `vllm serve`: constrained requests beside free ones in the same engine.

    build/venv/bin/python tests/engines/vllm_tpot.py [--dtype float32] [--at-once N] [--tokens N]
        [--rounds N] [WAY...]

For each way a `vllm serve` of its own; the ways are maskd, maskd-local and vLLM's xgrammar and guidance
(vllm_answers.py), maskd alone when none is named. In it a round of free requests and a round of constrained
ones take turns, `--rounds` of each, after one of each that is not timed. A round is `--at-once` requests at
the same moment, each of about `--tokens` tokens: a free one ignores the end of its text, a constrained one
must write about as much. So both have about as many sequences in each step.

TPOT of a request: from its first token to its last, over the tokens between. A line for each way: the median
of a round's requests, as the median of the rounds, its least and its most, and what constrained ones take
more, as the median of the turns. Run it with what else the machine does, and say so: it is a matter of a
hundredth. 77: there is no vLLM here (docs/engines.md says how one is installed).
"""

import argparse
import concurrent.futures
import pathlib
import statistics
import sys
from typing import Any

from vllm_answers import running
from vllm_engine import Engine

_ROOT = pathlib.Path(__file__).parents[2]


def schemas(tokens: int) -> list[dict[str, Any]]:
    """Of texts that take a model's usual words some `tokens` tokens, and fit into them with longer ones."""
    text = {"type": "string", "minLength": 4 * tokens}
    role = {"type": "object", "additionalProperties": False, "required": ["role", "about"], "properties": {
        "role": {"enum": ["author", "editor", "reader"]}, "about": {**text, "minLength": 3 * tokens}}}
    return [text, role, {"type": "array", "minItems": 4, "items": {"type": "string", "minLength": tokens}}]


def tpot_ms(engine: Engine, number: int, tokens: int, is_free: bool) -> float:
    """Of one streamed answer."""
    known = schemas(tokens)
    asked = ({"ignore_eos": True} if is_free
             else {"structured_outputs": {"json": known[number % len(known)]}})
    seconds, count = engine.pace(f"Write text number {number}, a long one, of people and what they do.",
                                 tokens, **asked)
    assert count > tokens // 2, f"an answer of {count} tokens"
    return 1000 * seconds / (count - 1)


def round_ms(engine: Engine, arguments: argparse.Namespace, is_free: bool) -> float:
    """The median of requests that begin at the same moment."""
    with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
        return statistics.median(pool.map(
            lambda number: tpot_ms(engine, number, arguments.tokens, is_free), range(arguments.at_once)))


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ms ({min(values):.2f} to {max(values):.2f})"


def measure(way: str, arguments: argparse.Namespace) -> None:
    free, constrained = [], []
    with running(way, arguments) as url:
        engine = Engine(url)
        for turn in range(1 + arguments.rounds):
            pair = [round_ms(engine, arguments, is_free) for is_free in (True, False)]
            if turn:
                free.append(pair[0])
                constrained.append(pair[1])
    more = statistics.median(100 * (b / a - 1) for a, b in zip(free, constrained, strict=True))
    print(f"{way:12} {arguments.at_once} at once, {arguments.rounds} rounds of each: free {spread(free)}, "
          f"constrained {spread(constrained)}, {more:+.1f} %", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--vllm", default=str(_ROOT / "build/engines/vllm/bin/vllm"))
    parser.add_argument("--model", default=str(_ROOT / "build/engines/smollm2"))
    parser.add_argument("--maskd", default=str(_ROOT / "build/release/service/maskd"))
    parser.add_argument("--socket", default="/tmp/maskd-vllm-tpot.sock")
    parser.add_argument("--port", type=int, default=8314)
    parser.add_argument("--log", default="/tmp/vllm-tpot.log")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--at-once", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=96)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("ways", nargs="*")
    arguments = parser.parse_args()
    if not pathlib.Path(arguments.vllm).exists():
        print(f"vllm_tpot: SKIPPED, there is no {arguments.vllm}", file=sys.stderr)
        sys.exit(77)
    for way in arguments.ways or ["maskd"]:
        measure(way, arguments)


if __name__ == "__main__":
    main()
