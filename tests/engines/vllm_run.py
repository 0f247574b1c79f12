"""A real `vllm serve` on a CPU with maskd-vllm: requests, bad inputs, and servers that die or hang.

    tests/engines/vllm_run.py --vllm build/engines/vllm/bin/vllm --model build/engines/smollm2 \\
        --maskd build/release/service/maskd [--subjects N] [--url URL] [--address local:...]
        [--family NAME] [PART...]

Starts maskd and vLLM, prints a line for each part and exits with 1 when one of them failed. Parts:
requests, kinds, bad, abort, kill, hang; all of them when none is named. `--family`: the engine reads its
answers with `--tool-call-parser maskd` and MASKD_FAMILY, and the part is family. `--two`: two servers, and
the part is two. `--drafts N`: n-grams of the prompt are proposed. `--url`: an engine that runs already, with
MASKD_ADDRESS=unix:SOCKET (--socket). docs/engines.md says how such an engine is installed. `--address`: in
place of the server's; of `local:` there is nothing to kill or to hang.
`--dtype float32`: quicker where there is no AVX-512.
"""

import argparse
import concurrent.futures
import contextlib
import json
import pathlib
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from vllm_engine import Engine, Server, satisfies, serving, text_of

_ROOT = pathlib.Path(__file__).parents[2]
_REQUESTS = json.loads((_ROOT / "examples/model_loop_python/requests.json").read_text())
_NUMBER = 'root ::= [0-9] [0-9]'
_STORY = {"json": {"type": "array", "items": {"type": "string"}, "minItems": 40}}  # a long one
_HANG_S = 5
_BAD: list[dict[str, Any]] = [
    {"json": {"not": {}}}, {"json": {"type": "string", "minLength": -1}}, {"json": {"type": 3}},
    {"json": "{"}, {"json": {"$ref": "#/nowhere"}}, {"json": {"enum": []}},
    {"json": {"type": "string", "pattern": "("}}, {"json": {"type": "string", "format": 7}},
    {"json": {"properties": 3}}, {"json": {"allOf": [{"type": "integer"}, {"type": "string"}]}},
    {"regex": "(a"}, {"regex": "[z-a]"}, {"regex": "a{3,1}"}, {"choice": []},
    {"grammar": "root ::= missing"}, {"structural_tag": '{"type": "structural_tag"}'},
]


def _is_json(text: str) -> bool:
    with contextlib.suppress(ValueError):
        json.loads(text)
        return True
    return False


def run_requests(engine: Engine, _server: Server, arguments: argparse.Namespace) -> bool:
    """The schemas of examples/model_loop_python, judged by jsonschema: all are finished and valid."""
    cases = [(entry, subject) for entry in _REQUESTS
             for subject in entry["subjects"][:arguments.subjects]]

    def one(case: tuple[Any, str]) -> str:
        entry, subject = case
        status, answer = engine.chat(entry["ask"].format(subject), {"json": entry["schema"]})
        if status != 200:
            return f"status {status}"
        if answer["choices"][0]["finish_reason"] != "stop":
            return "cut"
        if not satisfies(text_of(answer), entry["schema"]):
            return "invalid"
        tokens.append(answer["usage"]["completion_tokens"])
        return "valid"

    tokens: list[int] = []
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        verdicts = Counter(pool.map(one, cases))
    mean = sum(tokens) / max(1, len(tokens))
    print(f"requests: {dict(verdicts)} of {len(cases)}, {mean:.1f} tokens a valid one")
    return verdicts["valid"] == len(cases)


def run_kinds(engine: Engine, _server: Server, _arguments: argparse.Namespace) -> bool:
    """Every kind of structured output, several answers, streams, stop ids, a tool."""
    age = {"type": "object", "properties": {"age": {"type": "integer", "maximum": 99}},
           "required": ["age"], "additionalProperties": False}
    tool = {"type": "function", "function": {"name": "add", "parameters": age}}
    asked: dict[str, tuple[tuple[int, Any], Any]] = {
        "regex": (engine.chat("Letters?", {"regex": "[a-c]{3}"}), lambda t: len(t) == 3),
        "choice": (engine.chat("Blue?", {"choice": ["yes", 'n"o']}), lambda t: t in ("yes", 'n"o')),
        "grammar": (engine.chat("A number?", {"grammar": _NUMBER}), lambda t: len(t) == 2),
        "json_object": (engine.chat("JSON?", {"json_object": True}), json.loads),
        "response_format": (engine.chat("Age?", response_format={
            "type": "json_schema", "json_schema": {"name": "a", "schema": age}}), json.loads),
        "n": (engine.chat("Age?", {"json": age}, n=3, temperature=1), json.loads),
        "stop_token_ids": (engine.chat("Age?", {"json": age}, stop_token_ids=[33, 34, 35]), json.loads),
        "max_tokens": (engine.chat("Tell a story", {"json": {"type": "string"}}, max_tokens=12), json.loads),
    }
    failed = []
    for name, ((status, answer), judge) in asked.items():
        try:
            assert status == 200, answer
            assert all(judge(choice["message"]["content"]) is not False for choice in answer["choices"])
        except (AssertionError, ValueError) as error:
            failed.append(f"{name}: {str(error)[:200]} {str(answer)[:300]}")
    status, answer = engine.chat("Add 7.", tools=[tool], tool_choice={
        "type": "function", "function": {"name": "add"}})
    calls = answer["choices"][0]["message"].get("tool_calls") if status == 200 else None
    if not calls or not _is_json(calls[0]["function"]["arguments"]):  # any JSON, as vLLM asks for it
        failed.append(f"tool: {status} {calls or answer}")
    again = [engine.chat("Your age, please. " * 60, {"json": age}) for _ in range(2)]  # the prefix is cached
    if again[0][0] != 200 or text_of(again[0][1]) != text_of(again[1][1]):
        failed.append(f"again: {again}")
    print(f"kinds: {len(asked) + 2 - len(failed)} of {len(asked) + 2} {failed or ''}")
    return not failed


def run_family(engine: Engine, _server: Server, _arguments: argparse.Namespace) -> bool:
    """Calls that are asked for are held to by masks, and read back out of the tokens, whole and streamed."""
    schemas = {
        "add": {"type": "object", "properties": {"age": {"type": "integer", "maximum": 99}},
                "required": ["age"], "additionalProperties": False},
        "look_up": {"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}, "days": {
            "type": "array", "items": {"type": "integer", "maximum": 9}, "maxItems": 3}},
            "required": ["city", "days"], "additionalProperties": False},
    }
    tools = [{"type": "function", "function": {"name": name, "parameters": schema}}
             for name, schema in schemas.items()]
    named = {"type": "function", "function": {"name": "look_up"}}
    failed, count = [], 0
    for choice, text in (("required", "Add 7."), ("required", "The weather in Rome?"), (named, "Paris?")):
        asked = {"tools": tools, "tool_choice": choice, "parallel_tool_calls": False}
        status, answer = engine.chat(text, **asked)
        message = answer["choices"][0]["message"] if status == 200 else {}
        whole = [call["function"] for call in message.get("tool_calls") or ()]
        content, streamed = engine.streamed(text, **asked)
        for calls, beside in ((whole, message.get("content")), (streamed, content)):
            count += 1
            good = len(calls) == 1 and not beside and satisfies(calls[0]["arguments"],
                                                                schemas[calls[0]["name"]])
            if not good or (choice is named and calls[0]["name"] != "look_up"):
                failed.append(f"{text} {status} {calls} {beside!r}")
        print(f"  {text} {streamed}")
    print(f"family: {count - len(failed)} of {count} answers are one call {failed or ''}")
    return not failed


def run_bad(engine: Engine, _server: Server, _arguments: argparse.Namespace) -> bool:
    """What no grammar can be made of is the client's error, with words."""
    statuses: Counter[int] = Counter()
    for structured in _BAD:
        status, answer = engine.chat("x", structured)
        statuses[status] += 1
        words = answer.get("error", {}).get("message", "") if isinstance(answer, dict) else answer
        print(f"  {status} {json.dumps(structured)}: {words}"[:160])
    print(f"bad: {dict(statuses)} of {len(_BAD)}")
    return statuses[400] == len(_BAD)


def run_abort(engine: Engine, server: Server, arguments: argparse.Namespace) -> bool:
    """Clients that hang up leave no row behind, and nobody else notices."""
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        left = [pool.submit(engine.hung_up, f"Write {i} words", _STORY, 4 + i) for i in range(8)]
        others = [pool.submit(engine.chat, f"Age {i}?", {"regex": "[0-9]{40}"}) for i in range(4)]
        parts = [each.result() for each in left]
        answers = [each.result() for each in others]
    good = sum(status == 200 and len(text_of(answer)) == 40 for status, answer in answers)
    engine.chat("Age?", {"regex": "[0-9]{2}"})  # its steps close the rows
    rows = sum(each.open_rows() for each in (server, arguments.second) if each is not None)
    print(f"abort: {len(parts)} hung up, {good} of {len(answers)} others whole, {rows:.0f} rows left")
    return good == len(answers) and rows <= 1


def run_two(engine: Engine, server: Server, arguments: argparse.Namespace) -> bool:
    """Of two servers one is drained, killed or stopped: no request ends."""
    good = True
    for way in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
        for each in (server, arguments.second):  # one of them has the rows
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                held = [pool.submit(engine.chat, f"Write {i} words", _STORY, max_tokens=200)
                        for i in range(6)]
                in_time = _until_on_their_way(held, [server, arguments.second])
                each.process.send_signal(way)
                answers = [story.result() for story in held]
            whole = sum(status == 200 and satisfies(text_of(answer), _STORY["json"])
                        for status, answer in answers)
            good = good and in_time and whole == len(answers)
            print(f"two: {way.name} of one, {whole} of {len(answers)} answers whole "
                  f"{Counter(status for status, _ in answers)}", flush=True)
            each.kill()
            each.start()
            time.sleep(5)  # it reads its vocabulary, and streams may come back
    return good


def _until_on_their_way(held: list[concurrent.futures.Future[Any]], servers: list[Server],
                        others: Sequence[concurrent.futures.Future[Any]] = ()) -> bool:
    """Waits until all of them have a row and a few tokens. False, and a line, where one is over by then: nothing
    would be tested."""
    while sum(each.open_rows() for each in servers) < len(held) and not any(each.done() for each in held):
        time.sleep(0.05)
    time.sleep(1)
    over = sum(each.done() for each in [*held, *others])
    if over:
        print(f"  {over} answers were over before the signal")
    return not over


def run_kill(engine: Engine, server: Server, _arguments: argparse.Namespace) -> bool:
    """A killed server ends constrained requests alone, and the next one serves again."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        held = [pool.submit(engine.chat, f"Write {i} words", _STORY, max_tokens=400) for i in range(6)]
        free = [pool.submit(engine.chat, f"Tell story {i}", None, max_tokens=300, ignore_eos=True)
                for i in range(2)]
        in_time = _until_on_their_way(held, [server], free)
        server.kill()
        ended = Counter(each.result()[0] for each in held)
        went_on = Counter(each.result()[0] for each in free)
    without = engine.chat("Age?", {"regex": "[0-9]{3}"})[0]
    server.start()
    tries: list[int] = []
    while len(tries) < 30 and tries[-1:] != [200]:  # it reads its vocabulary first
        time.sleep(2)
        tries.append(engine.chat("Age?", {"regex": "[0-9]{2}"})[0])
    print(f"kill: constrained {dict(ended)}, free {dict(went_on)}, without a server {without}, "
          f"after it {tries}")
    return in_time and went_on == {200: 2} and ended == {500: 6} and without == 503 and tries[-1] == 200


def run_hang(engine: Engine, server: Server, _arguments: argparse.Namespace) -> bool:
    """A server that hangs for some seconds: how long a free answer stands still."""
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        held = [pool.submit(engine.chat, f"Write {i} words", _STORY, max_tokens=400) for i in range(3)]
        seen = threading.Event()
        free = pool.submit(engine.times, "Tell a long story", 1500, seen.is_set)
        in_time = _until_on_their_way(held, [server], [free])
        server.process.send_signal(signal.SIGSTOP)
        stopped = time.monotonic()
        timer = threading.Timer(_HANG_S, server.process.send_signal, (signal.SIGCONT,))
        timer.start()
        timer.join()
        seen.set()
        times = free.result()
        ended = Counter(each.result()[0] for each in held)
    gaps = [(after - before, before < stopped + _HANG_S and after > stopped)
            for before, after in zip(times, times[1:], strict=False)]
    during = [gap for gap, is_during in gaps if is_during]
    usual = sorted(gap for gap, _ in gaps)[len(gaps) // 2]
    last = engine.chat("Age?", {"regex": "[0-9]{2}"})[0]
    print(f"hang: constrained {dict(ended)}; a free answer's longest wait of {len(during)} is "
          f"{1000 * max(during, default=0):.0f} ms, its usual one {1000 * usual:.0f} ms; after it {last}")
    return in_time and len(during) > 10 and last == 200 and ended == {500: 3}


_PARTS = {"requests": run_requests, "kinds": run_kinds, "bad": run_bad, "abort": run_abort, "kill": run_kill,
          "hang": run_hang}
_ALL = {**_PARTS, "family": run_family, "two": run_two}


@contextlib.contextmanager
def _running(arguments: argparse.Namespace) -> Iterator[str]:
    if arguments.url:
        yield arguments.url
        return
    sockets = [arguments.socket, f"{arguments.socket}.2"] if arguments.two else [arguments.socket]
    variables = {"MASKD_ADDRESS": arguments.address or ",".join(f"unix:{each}" for each in sockets)}
    if arguments.family:
        variables["MASKD_FAMILY"] = arguments.family
    with serving(arguments.vllm, arguments.model, arguments.port, arguments.log, variables,
                 dtype=arguments.dtype, tools="maskd" if arguments.family else "hermes",
                 drafts=arguments.drafts) as url:
        yield url


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--vllm", default=str(_ROOT / "build/engines/vllm/bin/vllm"))
    parser.add_argument("--model", default=str(_ROOT / "build/engines/smollm2"))
    parser.add_argument("--maskd", default=str(_ROOT / "build/release/service/maskd"))
    parser.add_argument("--socket", default="/tmp/maskd-vllm-run.sock")
    parser.add_argument("--port", type=int, default=8311)
    parser.add_argument("--log", default="/tmp/vllm-run.log")
    parser.add_argument("--url", default="")
    parser.add_argument("--address", default="")
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--subjects", type=int, default=1)
    parser.add_argument("--family", default="")
    parser.add_argument("--two", action="store_true")
    parser.add_argument("--drafts", type=int, default=0)
    parser.add_argument("parts", nargs="*")
    arguments = parser.parse_args()
    parts = ["family"] if arguments.family else ["two"] if arguments.two else list(_PARTS)
    if not arguments.url and not pathlib.Path(arguments.vllm).exists():
        print(f"vllm_run: SKIPPED, there is no {arguments.vllm}", file=sys.stderr)
        sys.exit(77)
    servers = [Server(arguments.maskd, f"{arguments.socket}{ending}", arguments.model,
                      f"127.0.0.1:{arguments.port + 1 + i}")
               for i, ending in enumerate(["", ".2"] if arguments.two else [""])]
    arguments.second = servers[1] if arguments.two else None
    try:
        with _running(arguments) as url:
            good = [_ALL[part](Engine(url), servers[0], arguments) for part in arguments.parts or parts]
    finally:
        for each in servers:
            each.kill()
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
