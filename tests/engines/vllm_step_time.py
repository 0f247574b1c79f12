"""Time in grammar code a step of vLLM: its manager of structured outputs in the order of EngineCore.step, over
recorded texts, the forward pass a sleep of 5 ms.

    python tests/engines/vllm_step_time.py --model build/engines/smollm2 [--address unix:/s] [--steps N]
        [--texts FILE] [--ways maskd,xgrammar,guidance] [--drafts N] [ROWS...]

Runs in the engine's environment (docs/engines.md). The texts are answers of a model to the requests of
examples/model_loop_python, as vllm_answers.py --texts keeps them; without a file those of recorded.json, which
was made so. A row that ends is followed by a new one, which is opened with the next step. The ways take turns,
a hundred steps each, so that all of them see the same machine, after each text once, untimed. For each: p50, p90 and p99 of the steps in
microseconds: accept_tokens(), what is sent, and grammar_bitmask() with its wait. Beside it the processor time
of the process in them, which other work on the machine does not change much; it is read outside of the other.
`--drafts`: so many tokens of the text are proposed to each row and judged before the forward pass, whose time
counts too; every other time the last one is wrong.
"""

import argparse
import itertools
import json
import os
import pathlib
import time
import types
from typing import Any

import numpy as np

_HERE = pathlib.Path(__file__).parent
_REQUESTS = json.loads((_HERE.parents[1] / "examples/model_loop_python/requests.json").read_text())
_TURN = 100
_FORWARD_S = 0.005
_WRONG = 35  # a token that most masks lack


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


class Watch:
    """Time between start() and stop(), added up. After a sleep even a clock takes microseconds: so the wall's is
    read innermost."""

    def __init__(self) -> None:
        self.wall_s = self.own_s = 0.0

    def start(self) -> None:
        self._own = time.process_time()
        self._wall = time.perf_counter()

    def stop(self) -> None:
        wall = time.perf_counter()
        self.own_s += time.process_time() - self._own
        self.wall_s += wall - self._wall


class Rows:
    """The running requests of one manager."""

    def __init__(self, way: str, manager: Any, texts: list[tuple[str, list[int]]], count: int,
                 drafts: int = 0) -> None:
        self.way = way
        self.manager = manager
        self.is_ours = hasattr(manager, "is_scheduled")
        self.drafts = 0
        self.proposed = 0
        self.texts = texts
        self.count = count
        self.made = 0
        self.running: dict[str, Any] = {}
        self.left: dict[str, list[int]] = {}
        self.times: list[tuple[float, float]] = []
        self.forward_s = _FORWARD_S
        for i in range(count):
            self.add()
            for _ in range(i % 8):  # so that rows are at different places
                self.step(list(self.running)[-1:])
        self.times.clear()
        self.drafts = drafts

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
        names = list(self.running) if names is None else names
        watch = Watch()
        drafts = self.propose(names, watch) if self.drafts else {}
        watch.start()
        if self.is_ours:
            self.manager.is_scheduled()
        watch.stop()
        time.sleep(self.forward_s)
        watch.start()
        table = self.manager.grammar_bitmask(self.running, names, drafts)
        watch.stop()
        assert table is not None
        sampled = [(self.running[name], self.sample(name, drafts.get(name, []))) for name in names]
        watch.start()
        for request, tokens in sampled:
            assert self.manager.accept_tokens(request, tokens), (request.request_id, tokens)
        if self.is_ours:
            self.manager.step_is_over(True)
        watch.stop()
        self.times.append((1e6 * watch.wall_s, 1e6 * watch.own_s))
        for name in [name for name in names if not self.left[name]]:
            self.finish(name)
            if len(names) == self.count:
                self.add()

    def propose(self, names: list[str], watch: Watch) -> dict[str, list[int]]:
        """The drafts that the grammar allows of each, as Scheduler.update_draft_token_ids() asks it."""
        self.proposed += 1
        asked = {name: self.left[name][:min(self.drafts, len(self.left[name]) - 1)] for name in names}
        if self.proposed % 2:
            asked = {name: [*tokens[:-1], _WRONG] if tokens else [] for name, tokens in asked.items()}
        message = types.SimpleNamespace(req_ids=names, draft_token_ids=list(asked.values()))
        watch.start()
        if self.is_ours:
            self.manager.ask_for_drafts(message, self.running)
        valid = {name: self.manager.validate_tokens(self.running[name], tokens)
                 for name, tokens in asked.items()}
        watch.stop()
        return {name: tokens for name, tokens in valid.items() if tokens}

    def sample(self, name: str, drafts: list[int]) -> list[int]:
        """The text's next tokens: as many drafts as it has, and one more."""
        left = self.left[name]
        same = next((i for i, token in enumerate(drafts) if token != left[i]), len(drafts))
        tokens, self.left[name] = left[:same + 1], left[same + 1:]
        return tokens

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
    speculative = {"method": "ngram", "num_speculative_tokens": arguments.drafts,
                   "prompt_lookup_max": 4, "prompt_lookup_min": 2}
    config = EngineArgs(model=arguments.model, enforce_eager=True, max_model_len=2048, max_num_seqs=64,
                        dtype="bfloat16", structured_outputs_config={"backend": backend},
                        speculative_config=speculative if arguments.drafts else None,
                        ).create_engine_config()
    # Where the plugin is loaded, vLLM's own class is ours by its name.
    return (MaskdManager if way == "maskd" else MaskdManager.__bases__[0])(config)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--address", default="")
    parser.add_argument("--texts", type=pathlib.Path, default=_HERE / "recorded.json")
    parser.add_argument("--ways", default="maskd,xgrammar,guidance")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--drafts", type=int, default=0)
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
        runs = [Rows(way, manager, taken, count, arguments.drafts) for way, manager in managers.items()]
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
