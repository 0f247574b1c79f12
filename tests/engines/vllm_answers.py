"""What the same model answers in a real `vllm serve` under maskd and under vLLM's own grammar libraries.

    build/venv/bin/python tests/engines/vllm_answers.py [--dtype float32] [--texts FILE] [WAY...]

The 200 requests of examples/model_loop_python, greedy, at most 160 tokens each, 32 at once, compact JSON.
One engine after the other, one line each; the ways, all of them when none is named:

    maskd        a maskd server, texts closed within their tokens
    maskd-local  the engine of maskd inside vLLM's processes (MASKD_ADDRESS=local:), closed too
    maskd-cut    a maskd server, max_tokens may cut a text (MASKD_CLOSE_IN_TIME=0)
    xgrammar, guidance   vLLM's own

Exits with 1 when maskd or maskd-local has less than every answer finished and valid, or when a text of
maskd's has an escape that JSON does not ask for. --texts keeps every text, for vllm_step_time.py. 77: there is
no vLLM here (docs/engines.md says how one is installed).
"""

import argparse
import concurrent.futures
import contextlib
import dataclasses
import json
import pathlib
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from vllm_engine import Engine, Server, satisfies, serving, text_of

_ROOT = pathlib.Path(__file__).parents[2]
REQUESTS = json.loads((_ROOT / "examples/model_loop_python/requests.json").read_text())
_WAYS = ("maskd", "maskd-local", "maskd-cut", "xgrammar", "guidance")
# An escape of what may stand for itself: a slash, or a printable character by its number.
_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(.))', re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Answer:
    schema: str  # its name
    verdict: str  # valid, refused, cut, invalid, failed
    text: str = ""
    tokens: int = 0


def has_needless_escape(text: str) -> bool:
    """Whether a serializer would have written one of its characters without an escape."""
    for match in _ESCAPE.finditer(text):
        if match[2] == "/" or (match[1] and chr(int(match[1], 16)).isprintable()):
            return True
    return False


def ask(engine: Engine, entry: dict[str, Any], subject: str) -> Answer:
    status, answer = engine.chat(entry["ask"].format(subject), {"json": entry["schema"]})
    name = entry["name"]
    if status != 200:
        return Answer(name, "refused" if status == 400 else f"failed ({status})")
    text, tokens = text_of(answer), answer["usage"]["completion_tokens"]
    if answer["choices"][0]["finish_reason"] != "stop":
        return Answer(name, "cut", text, tokens)
    return Answer(name, "valid" if satisfies(text, entry["schema"]) else "invalid", text, tokens)


@contextlib.contextmanager
def running(way: str, arguments: argparse.Namespace, variables: Mapping[str, str] | None = None,
            **engine: Any) -> Iterator[str]:
    """vLLM as the way has it: its URL. `engine`: more arguments of serving()."""
    variables = {"MASKD_ADDRESS": "", "MASKD_STEP_MS": "20000", "MASKD_HANG_MS": "60000",  # a busy machine too
                 **(variables or {})}
    server = None
    if way == "maskd-local":
        variables["MASKD_ADDRESS"] = f"local:model={arguments.model}/tokenizer.json"
    elif way.startswith("maskd"):
        server = Server(arguments.maskd, arguments.socket, arguments.model)
        variables["MASKD_ADDRESS"] = f"unix:{arguments.socket}"
    variables["MASKD_CLOSE_IN_TIME"] = "0" if way == "maskd-cut" else "1"
    backend = "xgrammar" if way.startswith("maskd") else way
    try:
        with serving(arguments.vllm, arguments.model, arguments.port, f"{arguments.log}.{way}", variables,
                     backend, arguments.dtype, **engine) as url:
            yield url
    finally:
        if server is not None:
            server.kill()


def report(way: str, answers: list[Answer], seconds: float) -> bool:
    """Prints the way's line; whether it is as maskd promises it."""
    verdicts = Counter(each.verdict for each in answers)
    answered = [each for each in answers if each.tokens]
    tokens = sum(each.tokens for each in answered) / max(1, len(answered))
    escapes = sum(has_needless_escape(each.text) for each in answered)
    print(f"{way:12} {verdicts['valid']:3} of {len(answers)} finished and valid, "
          f"{dict(sorted(verdicts.items()))}, {tokens:.1f} tokens a request, "
          f"{escapes} texts with a needless escape, {seconds:.0f} s", flush=True)
    for each in answers:
        if each.verdict.startswith("failed") or each.verdict == "invalid":
            print(f"  {each.verdict} {each.schema}: {each.text[:200]}")
    if not way.startswith("maskd"):
        return True
    return escapes == 0 and (way == "maskd-cut" or verdicts["valid"] == len(answers))


def run(way: str, arguments: argparse.Namespace) -> tuple[list[Answer], bool]:
    cases = [(entry, subject) for entry in REQUESTS for subject in entry["subjects"][:arguments.subjects]]
    with running(way, arguments) as url, concurrent.futures.ThreadPoolExecutor(32) as pool:
        engine, begun = Engine(url), time.monotonic()
        answers = list(pool.map(lambda case: ask(engine, *case), cases))
        return answers, report(way, answers, time.monotonic() - begun)


def parser_of(text: str, name: str, port: int, subjects: int) -> argparse.ArgumentParser:
    """The arguments of programs that start engines by running()."""
    parser = argparse.ArgumentParser(description=text.partition("\n")[0])
    parser.add_argument("--vllm", default=str(_ROOT / "build/engines/vllm/bin/vllm"))
    parser.add_argument("--model", default=str(_ROOT / "build/engines/smollm2"))
    parser.add_argument("--maskd", default=str(_ROOT / "build/release/service/maskd"))
    parser.add_argument("--socket", default=f"/tmp/maskd-{name}.sock")
    parser.add_argument("--port", type=int, default=port)
    parser.add_argument("--log", default=f"/tmp/{name}.log")
    parser.add_argument("--dtype", default="auto")  # float32 is 5 times faster where there is no AVX-512
    parser.add_argument("--subjects", type=int, default=subjects)
    return parser


def need(arguments: argparse.Namespace) -> None:
    """Ends with 77 where there is no vLLM."""
    if not pathlib.Path(arguments.vllm).exists():
        print(f"{pathlib.Path(sys.argv[0]).stem}: SKIPPED, there is no {arguments.vllm}", file=sys.stderr)
        sys.exit(77)


def main() -> None:
    parser = parser_of(__doc__, "vllm-answers", 8312, 10)
    parser.add_argument("--texts", type=pathlib.Path)
    parser.add_argument("ways", nargs="*", metavar="WAY")
    arguments = parser.parse_args()
    for way in set(arguments.ways) - set(_WAYS):
        parser.error(f"{way} is not one of {', '.join(_WAYS)}")
    need(arguments)
    good, texts = True, {}
    for way in arguments.ways or _WAYS:
        answers, is_good = run(way, arguments)
        good = good and is_good
        texts[way] = [dataclasses.asdict(each) for each in answers]
        if arguments.texts:
            arguments.texts.write_text(json.dumps(texts, indent=1, ensure_ascii=False))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
