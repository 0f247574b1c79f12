"""Time in grammar code a step of vLLM: MaskdManager in the order of EngineCore.step, the forward pass a sleep
of 5 ms.

    ENGINE_VLLM_MODEL=build/engines/smollm2 MASKD_ADDRESS=unix:/s \\
        python tests/engines/vllm_step_time.py [ROWS...]

A text of JSON over and over; each row that ends is followed by a new one, which is opened with the next
step. Prints p50, p90 and p99 of 400 steps, in microseconds: all of accept_tokens(), the message, and
grammar_bitmask() with its wait.
"""

import json
import os
import sys
import time

import numpy as np
from vllm import SamplingParams
from vllm.engine.arg_utils import EngineArgs
from vllm.sampling_params import StructuredOutputsParams
from vllm.v1.request import Request

from maskd_vllm._manager import MaskdManager

_SCHEMA = {"type": "object", "required": ["name", "age", "tags"], "additionalProperties": False,
           "properties": {"name": {"type": "string", "maxLength": 40}, "age": {"type": "integer"},
                          "tags": {"type": "array", "items": {"type": "string"}}}}
_TEXT = '{"name": "Ada Lovelace", "age": 36, "tags": ["first", "programmer", "of an engine"]}'
_STEPS = 400


class Rows:
    def __init__(self, manager: MaskdManager, count: int) -> None:
        self.manager = manager
        self.ids = [*manager.tokenizer.encode(_TEXT), manager.tokenizer.eos_token_id]
        self.made = 0
        self.running = {}
        self.at = {}
        for i in range(count):
            self.add(i * len(self.ids) // count)

    def add(self, at: int = 0) -> None:
        parameters = SamplingParams(max_tokens=512, structured_outputs=StructuredOutputsParams(
            json=json.dumps(_SCHEMA)))
        parameters.structured_outputs._backend = "xgrammar"  # noqa: SLF001
        parameters._all_stop_token_ids = {self.ids[-1]}  # noqa: SLF001
        self.made += 1
        request = Request(f"r{self.made}", [1, 2, 3], parameters, None)
        self.manager.grammar_init(request)
        request.structured_output_request._grammar.result(30)  # noqa: SLF001
        self.running[request.request_id] = request
        self.at[request.request_id] = 0
        for token in self.ids[:at]:  # so that rows are at different places
            self.manager.grammar_bitmask({request.request_id: request}, [request.request_id], {})
            assert self.manager.accept_tokens(request, [token])
            self.at[request.request_id] += 1

    def step(self) -> float:
        clock = time.perf_counter
        begin = clock()
        assert self.manager.grammar_bitmask(self.running, list(self.running), {}) is not None
        taken = clock() - begin
        tokens = {name: self.ids[self.at[name]] for name in self.running}
        begin = clock()
        for name, request in self.running.items():
            assert self.manager.accept_tokens(request, [tokens[name]])
        over = [name for name, token in tokens.items() if token == self.ids[-1]]
        for name in over:
            self.running.pop(name).structured_output_request.grammar.row.leave()
        self.manager.step_is_over()
        taken += clock() - begin
        for name in self.running:
            self.at[name] += 1
        for _ in over:
            self.add()
        return taken


def main() -> None:
    config = EngineArgs(model=os.environ["ENGINE_VLLM_MODEL"], enforce_eager=True, max_model_len=2048,
                        max_num_seqs=64).create_engine_config()
    manager = MaskdManager(config)
    for count in [int(each) for each in sys.argv[1:]] or [1, 8, 32]:
        rows = Rows(manager, count)
        times = []
        for _ in range(_STEPS):
            times.append(1e6 * rows.step())
            time.sleep(0.005)
        p50, p90, p99 = np.percentile(times, [50, 90, 99])
        print(f"{count} rows: p50 {p50:.0f} us, p90 {p90:.0f}, p99 {p99:.0f}", flush=True)
    manager.clear_backend()


if __name__ == "__main__":
    main()
