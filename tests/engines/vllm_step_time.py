"""Time in grammar code a step of vLLM: its manager of structured outputs in the order of EngineCore.step, over
recorded texts, the forward pass a sleep of 5 ms.

    python tests/engines/vllm_step_time.py --model build/engines/smollm2 [--address unix:/s] [--steps N]
        [--texts FILE] [--ways maskd,xgrammar,guidance] [ROWS...]

Runs in the engine's environment (docs/clients.md). The texts are answers of a model to the requests of
examples/model_loop_python, as vllm_answers.py --texts keeps them; without a file those of recorded.json, which
was made so. A row that ends is followed by a new one, which is opened with the next step. The ways take turns,
a hundred steps each, so that all of them see the same machine, after each text once, untimed. For each: p50, p90 and p99 of the steps in
microseconds: accept_tokens(), what is sent, and grammar_bitmask() with its wait. Beside it the processor time
of the process in them, which other work on the machine does not change much.
"""

import argparse
import itertools
import json
import os
import pathlib
import time
from typing import Any

import numpy as np

_HERE = pathlib.Path(__file__).parent
_REQUESTS = json.loads((_HERE.parents[1] / "examples/model_loop_python/requests.json").read_text())
_TURN = 100
_FORWARD_S = 0.005


def recorded(path: pathlib.Path) -> list[tuple[str, str]]:
    """(schema in JSON, text) of each valid answer, of each schema in turn."""
    schemas = {entry["name"]: json.dumps(entry["schema"]) for entry in _REQUESTS}
    ways = json.loads(path.read_text())
    answers = ways if isinstance(ways, list) else ways["maskd"]
    by_schema: dict[str, list[str]] = {}
    for each in answers:
        if each["verdict"] == "valid":
            by_schema.setdefault(each["schema"], []).append(each["text"])
    # What every library takes.
    for name in [name for name, schema in schemas.items() if "multipleOf" in schema or "uniqueItems" in schema]:
        by_schema.pop(name, None)
    turns = itertools.zip_longest(*by_schema.values())
    return [(schemas[name], text) for turn in turns
            for name, text in zip(by_schema, turn, strict=True) if text is not None]


def _clock() -> np.ndarray:
    return np.array([time.perf_counter(), time.process_time()])


class Rows:
    """The running requests of one manager."""

    def __init__(self, way: str, manager: Any, texts: list[tuple[str, list[int]]], count: int) -> None:
        self.way = way
        self.manager = manager
        self.texts = texts
        self.count = count
        self.made = 0
        self.running: dict[str, Any] = {}
        self.left: dict[str, list[int]] = {}
        self.times: list[np.ndarray] = []
        self.forward_s = _FORWARD_S
        for i in range(count):
            self.add()
            for _ in range(i % 8):  # so that rows are at different places
                self.step(list(self.running)[-1:])
        self.times.clear()

    def add(self) -> None:
        from vllm import SamplingParams  # noqa: PLC0415
        from vllm.sampling_params import StructuredOutputsParams  # noqa: PLC0415
        from vllm.v1.request import Request  # noqa: PLC0415

        schema, tokens = self.texts[self.made % len(self.texts)]
        self.made += 1
        parameters = SamplingParams(max_tokens=160,
                                    structured_outputs=StructuredOutputsParams(json=schema))
        parameters.structured_outputs._backend = self.way if self.way != "maskd" else "xgrammar"  # noqa: SLF001
        parameters._all_stop_token_ids = {tokens[-1]}  # noqa: SLF001
        request = Request(f"r{self.made}", [1, 2, 3], parameters, None)
        self.manager.grammar_init(request)
        waited = time.monotonic() + 30
        while (grammar := request.structured_output_request.grammar) is None:
            assert time.monotonic() < waited, "no grammar in 30 s"
            time.sleep(0.0002)
        assert not isinstance(grammar, Exception), grammar
        self.running[request.request_id] = request
        self.left[request.request_id] = list(tokens)

    def step(self, names: list[str] | None = None) -> None:
        """One step of the engine for these requests; all when None."""
        manager = self.manager
        ours = hasattr(manager, "is_scheduled")
        names = list(self.running) if names is None else names
        begin = _clock()
        if ours:
            manager.is_scheduled()
        taken = _clock() - begin
        time.sleep(self.forward_s)
        begin = _clock()
        assert manager.grammar_bitmask(self.running, names, {}) is not None
        taken += _clock() - begin
        sampled = [(self.running[name], [self.left[name].pop(0)]) for name in names]
        begin = _clock()
        for request, tokens in sampled:
            assert manager.accept_tokens(request, tokens), (request.request_id, tokens)
        if ours:
            manager.step_is_over(True)
        self.times.append(1e6 * (taken + _clock() - begin))
        for name in [name for name in names if not self.left[name]]:
            self.finish(name)
            if len(names) == self.count:
                self.add()

    def end(self) -> None:
        for name in list(self.running):
            self.finish(name)

    def finish(self, name: str) -> None:
        del self.left[name]
        grammar = self.running.pop(name).structured_output_request.grammar
        if hasattr(grammar, "row"):
            grammar.row.leave()


def walk(way: str, manager: Any, text: tuple[str, list[int]]) -> bool:
    """Whether it takes the text, token by token."""
    rows = Rows(way, manager, [text], 1)
    rows.forward_s = 0
    try:
        while rows.made == 1:
            rows.step()
    except AssertionError:
        return False
    finally:
        rows.end()
    return True


def manager_of(way: str, arguments: argparse.Namespace) -> Any:
    from vllm.engine.arg_utils import EngineArgs  # noqa: PLC0415

    from maskd_vllm._manager import MaskdManager  # noqa: PLC0415

    backend = "guidance" if way == "guidance" else "xgrammar"
    config = EngineArgs(model=arguments.model, enforce_eager=True, max_model_len=2048, max_num_seqs=64,
                        dtype="bfloat16", structured_outputs_config={
                            "backend": backend}).create_engine_config()
    # Where the plugin is loaded, vLLM's own class is ours by its name.
    return (MaskdManager if way == "maskd" else MaskdManager.__bases__[0])(config)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--address", default="")
    parser.add_argument("--texts", type=pathlib.Path, default=_HERE / "recorded.json")
    parser.add_argument("--ways", default="maskd,xgrammar,guidance")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("rows", nargs="*", type=int)
    arguments = parser.parse_args()
    os.environ["MASKD_ADDRESS"] = arguments.address or f"local:model={arguments.model}/tokenizer.json"
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    managers = {way: manager_of(way, arguments) for way in arguments.ways.split(",")}
    tokenizer = next(iter(managers.values())).tokenizer
    texts = [(schema, [*tokenizer.encode(text), tokenizer.eos_token_id])
             for schema, text in recorded(arguments.texts)]
    taken = [text for text in texts
             if all([walk(way, manager, text) for way, manager in managers.items()])]
    print(f"{len(taken)} of {len(texts)} texts, that all of them take")
    for count in arguments.rows or [1, 8, 32]:
        runs = [Rows(way, manager, taken, count) for way, manager in managers.items()]
        for _ in range(arguments.steps // _TURN):
            for run in runs:
                for _ in range(_TURN):
                    run.step()
        for run in runs:
            wall, own = np.array(run.times).T
            p50, p90, p99 = np.percentile(wall, [50, 90, 99])
            print(f"{count:3} rows, {run.way:9} p50 {p50:6.0f} us, p90 {p90:6.0f}, p99 {p99:6.0f}; processor time p50 "
                  f"{np.percentile(own, 50):6.0f} us, p90 {np.percentile(own, 90):6.0f}", flush=True)
            run.end()
    for manager in managers.values():
        manager.clear_backend()
    os._exit(0)  # vLLM's executors have threads that do not end


if __name__ == "__main__":
    main()
