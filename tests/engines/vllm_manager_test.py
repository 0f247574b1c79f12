"""MaskdManager under vLLM's own classes, in the order in which EngineCore calls it, without a model that
runs: drafts, reasoning, preemption, requests that are over.

In the environment of docs/engines.md, which has pytest:
ENGINE_VLLM_MODEL=build/engines/smollm2 MASKD_SERVER=... python -m pytest -rs tests/engines
"""

import os
import pathlib
import queue
import signal
import subprocess
import time
import types

import numpy as np
import pytest

MODEL = os.environ.get("ENGINE_VLLM_MODEL", "")
vllm = pytest.importorskip("vllm", reason="SKIPPED: there is no vLLM here")
if not MODEL:
    pytest.skip("SKIPPED: ENGINE_VLLM_MODEL names no folder of a model", allow_module_level=True)

from vllm import SamplingParams  # noqa: E402
from vllm.engine.arg_utils import EngineArgs  # noqa: E402
from vllm.sampling_params import StructuredOutputsParams  # noqa: E402
from vllm.v1.engine import EngineCoreRequestType  # noqa: E402
from vllm.v1.request import Request, RequestStatus  # noqa: E402

from maskd_vllm._manager import MaskdManager  # noqa: E402

DRAFTS = 3


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    socket = pathlib.Path(tmp_path_factory.mktemp("maskd")) / "s"
    with subprocess.Popen([os.environ["MASKD_SERVER"], f"--listen=unix:{socket}", "--metrics_listen=",
                           f"--tokenizer=model={MODEL}/tokenizer.json"],
                          stdin=subprocess.DEVNULL) as server:
        yield f"unix:{socket}"
        server.terminate()


@pytest.fixture(scope="session", params=[0, DRAFTS], ids=["plain", "drafts"])
def manager(request, address):
    os.environ.update(MASKD_ADDRESS=address, MASKD_STEP_MS="10000")
    speculative = {"method": "ngram", "num_speculative_tokens": request.param,
                   "prompt_lookup_max": 4, "prompt_lookup_min": 2}
    config = EngineArgs(model=MODEL, enforce_eager=True, max_model_len=512, max_num_seqs=8,
                        speculative_config=speculative if request.param else None).create_engine_config()
    made = MaskdManager(config)
    yield made
    made.clear_backend()


def hang(server):
    """SIGSTOP, and until all of its threads stand still."""
    server.send_signal(signal.SIGSTOP)
    threads = pathlib.Path(f"/proc/{server.pid}/task")
    while any((each / "stat").read_text().rpartition(")")[2].split()[0] != "T"
              for each in threads.iterdir()):
        time.sleep(0.01)


class Batch:
    """Requests, and one step of an engine."""

    def __init__(self, manager, *patterns, **options):
        self.manager = manager
        self.tokenizer = manager.tokenizer
        self.requests = {}
        for i, pattern in enumerate(patterns):
            parameters = SamplingParams(max_tokens=options.get("max_tokens", 64),
                                        structured_outputs=StructuredOutputsParams(regex=pattern))
            parameters.structured_outputs._backend = "xgrammar"  # noqa: SLF001
            parameters._all_stop_token_ids = {self.tokenizer.eos_token_id}  # noqa: SLF001
            made = Request(f"r{i}", [1, 2, 3], parameters, None)
            made.num_computed_tokens = 3
            manager.grammar_init(made)
            made.structured_output_request._grammar.result(30)  # noqa: SLF001
            self.requests[made.request_id] = made

    def ids(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False)

    def masks(self, drafts=None):
        table = self.manager.grammar_bitmask(self.requests, list(self.requests), drafts or {})
        return [self.allowed(row) for row in table]

    def allowed(self, words):
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")[:len(self.tokenizer)]
        if bits.all():
            return None
        return {self.tokenizer.decode([i]) for i in np.flatnonzero(bits)}

    def sampled(self, **tokens):
        for name, ids in tokens.items():
            request = self.requests[name]
            request.append_output_token_ids(ids)
            assert self.manager.accept_tokens(request, ids)
        self.manager.step_is_over()

    def drafted(self, **tokens):
        """As Scheduler.update_draft_token_ids() has it."""
        given = types.SimpleNamespace(req_ids=list(tokens), draft_token_ids=list(tokens.values()))
        self.manager.ask_for_drafts(given, self.requests)
        return {name: self.manager.validate_tokens(self.requests[name], ids)
                for name, ids in tokens.items()}


def test_a_step_is_one_message(manager):
    batch = Batch(manager, "ab[cd]", "xy", "ab[cd]")
    first = batch.masks()
    step = 1 + manager._drafts if manager._has_blocks else 1  # noqa: SLF001
    assert {"a", "ab"} <= first[0] == first[2 * step] and first[step] == {"x", "xy"}
    before = manager.rows.messages
    batch.sampled(r0=batch.ids("a"), r1=batch.ids("x"), r2=batch.ids("ab"))
    second = batch.masks()
    assert manager.rows.messages == before + 1
    assert "b" in second[0] and [second[step], second[2 * step]] == [{"y"}, {"c", "d"}]
    assert batch.masks() == second and manager.rows.messages == before + 1  # preempted, and back


def test_c5_the_array_ends_with_the_batch_and_is_none_where_nothing_is_held(manager):
    batch = Batch(manager, "ab", "xy", "mn")
    rows = 1 + manager._drafts if manager._has_blocks else 1  # noqa: SLF001
    for count in (3, 1, 2):
        asked = list(batch.requests)[:count]
        table = manager.grammar_bitmask(batch.requests, asked, {})
        assert len(table) == count * rows
        firsts = [batch.allowed(row) for row in table[::rows]]
        assert [letter in first for letter, first in zip("axm", firsts)] == [True] * count
    assert manager.grammar_bitmask(batch.requests, [], {}) is None


def test_a_token_that_was_not_allowed_ends_its_request(manager):
    batch = Batch(manager, "ab", "xy")
    batch.masks()
    assert not manager.accept_tokens(batch.requests["r0"], batch.ids("q"))
    assert manager.accept_tokens(batch.requests["r1"], batch.ids("x"))


def test_drafts_travel_with_the_tokens(manager):
    if manager._drafts == 0:  # noqa: SLF001
        pytest.skip("an engine without drafts")
    batch = Batch(manager, "a b c d e", "x y")
    batch.masks()
    batch.sampled(r0=batch.ids("a"), r1=batch.ids("x"))
    before = manager.rows.messages
    good, bad = batch.ids(" b") + batch.ids(" c"), batch.ids(" z")
    valid = batch.drafted(r0=[*good, -1], r1=[*bad, *bad])
    assert valid == {"r0": good, "r1": []}
    masks = batch.masks(valid)
    assert manager.rows.messages == before + 1
    assert [" b" in masks[0], " c" in masks[1], " d" in masks[2]] == [True] * 3
    assert " y" in masks[1 + DRAFTS if manager._has_blocks else 3]  # noqa: SLF001
    batch.sampled(r0=[*good, *batch.ids(" d")], r1=batch.ids(" y"))
    valid = batch.drafted(r0=[])
    masks = batch.masks(valid)
    assert " e" in masks[0] and manager.rows.messages == before + 2


def test_an_answer_with_drafts_is_the_engines_table_as_it_lies(manager):
    if manager._drafts == 0:  # noqa: SLF001
        pytest.skip("an engine without drafts")
    batch = Batch(manager, "a b c d e", "x y", "m n o")
    batch.masks()
    batch.sampled(r0=batch.ids("a"), r1=batch.ids("x"), r2=batch.ids("m"))
    valid = batch.drafted(r0=batch.ids(" b") + batch.ids(" z"), r1=[], r2=batch.ids(" n") + batch.ids(" o"))
    assert [len(each) for each in valid.values()] == [1, 0, 2]
    requests = list(batch.requests.values())
    rows = [each.structured_output_request.grammar.row for each in requests]

    def asked(drafts):
        """What the engine gets, and what is put together row by row."""
        given = {name: tokens for name, tokens in drafts.items() if tokens}
        table = manager.grammar_bitmask(batch.requests, list(batch.requests), given)
        return table, manager._table(requests, rows, list(drafts.values()))  # noqa: SLF001

    table, wanted = asked(valid)
    assert (table == wanted).all() and all(np.shares_memory(table, row.masks) for row in rows)
    for other in ({**valid, "r2": valid["r2"][:1]}, {**valid, "r1": [-1]}, {**valid, "r2": [*valid["r2"], -1]}):
        table, wanted = asked(other)
        assert (table == wanted).all()


def test_requests_that_are_over_are_closed(manager):
    batch = Batch(manager, "ab")
    batch.masks()
    request = batch.requests["r0"]
    request.status = RequestStatus.FINISHED_ABORTED
    assert manager.accept_tokens(request, batch.ids("a"))
    number = request.structured_output_request.grammar.row.id
    other = Batch(manager, "xy")
    other.masks()
    assert number not in manager.rows._link.opened  # noqa: SLF001


def test_a_text_is_complete_within_its_tokens(manager):
    batch = Batch(manager, '"[a-z]*"', max_tokens=3)
    batch.masks()
    batch.sampled(r0=batch.ids('"'))
    if manager._drafts:  # noqa: SLF001
        batch.drafted(r0=[])
    assert batch.masks()[0] == {'"'}


def test_the_gate_of_reasoning_is_vllms(manager):
    end = manager.tokenizer.encode("|", add_special_tokens=False)[0]
    manager.reasoner_cls = lambda tokenizer, **_: types.SimpleNamespace(
        is_reasoning_end=lambda ids: False,
        is_reasoning_end_streaming=lambda ids, delta: end in delta)
    try:
        batch = Batch(manager, '"[a-z]*"', max_tokens=6)
        assert batch.masks()[0] is None
        batch.sampled(r0=batch.ids("hm"))
        assert batch.masks()[0] is None
        batch.sampled(r0=[end])
        if manager._drafts:  # noqa: SLF001
            batch.drafted(r0=[])
        assert '"' in batch.masks()[0]
        batch.sampled(r0=batch.ids('"'))
        assert batch.masks()[0] is not None
    finally:
        manager.reasoner_cls = None


def test_a_hung_server_holds_up_one_step_and_no_free_request_that_arrives(manager, monkeypatch, tmp_path):
    socket = tmp_path / "s"
    for name, value in {"ADDRESS": f"unix:{socket}", "STEP_MS": "100", "HANG_MS": "600000"}.items():
        monkeypatch.setenv(f"MASKD_{name}", value)
    with subprocess.Popen([os.environ["MASKD_SERVER"], f"--listen=unix:{socket}", "--metrics_listen=",
                           f"--tokenizer=model={MODEL}/tokenizer.json"], stdin=subprocess.DEVNULL) as server:
        try:
            mine = MaskdManager(manager.vllm_config)
            batch = Batch(mine, "ab", "ab")
            batch.masks()
            hang(server)
            mine.arrivals = queue.Queue()
            mine.arrivals.put((EngineCoreRequestType.ADD, (batch.requests["r0"], 0)))
            assert mine._nobody_else_waits()  # noqa: SLF001
            free = Request("free", [1, 2, 3], SamplingParams(max_tokens=8), None)
            mine.arrivals.put((EngineCoreRequestType.ADD, (free, 0)))
            batch.sampled(r0=batch.ids("a"), r1=batch.ids("a"))
            batch.masks()  # not in ten minutes
            assert mine.rows.late == 1
            for request in batch.requests.values():
                assert not mine.accept_tokens(request, batch.ids("b"))
            messages = mine.rows.messages
            batch.masks()
            assert mine.rows.late == 1 and mine.rows.messages == messages
            mine.clear_backend()
        finally:
            server.send_signal(signal.SIGCONT)
            server.terminate()


def test_an_engine_without_a_server_or_with_another_vocabulary_does_not_start(
        manager, monkeypatch, tmp_path):
    monkeypatch.setenv("MASKD_START_MS", "100")
    monkeypatch.setenv("MASKD_ADDRESS", "unix:/nowhere/s")
    with pytest.raises(RuntimeError, match="maskd at unix:/nowhere/s: UNAVAILABLE"):
        MaskdManager(manager.vllm_config)
    socket = tmp_path / "s"
    monkeypatch.setenv("MASKD_START_MS", "20000")
    monkeypatch.setenv("MASKD_ADDRESS", f"unix:{socket}")
    with subprocess.Popen([os.environ["MASKD_SERVER"], f"--listen=unix:{socket}", "--metrics_listen="],
                          stdin=subprocess.DEVNULL) as server:
        with pytest.raises(RuntimeError, match='is not the server\'s "bytes"'):
            MaskdManager(manager.vllm_config)
        server.terminate()


def test_a_diffusion_model_has_no_structured_outputs(manager, monkeypatch):
    monkeypatch.setitem(manager.vllm_config.model_config.__dict__, "is_diffusion", True)
    monkeypatch.setenv("MASKD_ADDRESS", "unix:/nowhere/s")
    mine = MaskdManager(manager.vllm_config)  # asks no server
    free = Request("free", [1, 2, 3], SamplingParams(max_tokens=8), None)
    mine.is_scheduled()
    assert mine.grammar_bitmask({"free": free}, [], {}) is None
    assert mine.accept_tokens(free, [1, 2]) and mine.validate_tokens(free, [3]) == [3]
    mine.step_is_over()
    with pytest.raises(ValueError, match="no structured outputs"):
        Batch(mine, "ab")
    mine.clear_backend()


def test_a_plugin_that_cannot_be_used_says_so(monkeypatch):
    import maskd_vllm  # noqa: PLC0415

    monkeypatch.setenv("MASKD_ADDRESS", "unix:/s")
    monkeypatch.setenv("VLLM_USE_RUST_FRONTEND", "1")
    with pytest.raises(RuntimeError, match="VLLM_USE_RUST_FRONTEND"):
        maskd_vllm.register()
    monkeypatch.delenv("VLLM_USE_RUST_FRONTEND")
    monkeypatch.setattr(vllm, "__version__", "0.34.1")
    with pytest.raises(RuntimeError, match="cannot use maskd: vLLM 0.34.1 is not one of 0.32, 0.33"):
        maskd_vllm.register()
