"""maskd-sglang over SGLang's interface: its registry, its batch fill, its gate of reasoning, a
server that goes.

With ENGINE_SGLANG=real (docs/engines.md) SGLang's own classes are under it, and its GrammarManager
and SamplingBatchInfo drive it; else those of fake_sglang.py, which say no more than the interface
that wheel_interface_test.py holds the newest release to.
"""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import types

import fake_sglang
import numpy as np
import pytest
from conftest import hang

from maskd._vocabulary import _BYTES

END = 256
WIDTH = 257
IS_REAL = os.environ.get("ENGINE_SGLANG") == "real"


class Tokenizer:
    added_tokens_decoder = {END: "<|end|>"}
    eos_token_id = END

    def get_vocab(self):
        return dict(_BYTES)

    def encode(self, text, **_):
        return list(text.encode())

    def decode(self, ids, **_):
        return bytes(ids).decode()

    def convert_tokens_to_ids(self, token):
        return _BYTES.get(token)


@pytest.fixture
def sglang(address, client, monkeypatch):
    """The package registered; its server is there."""
    monkeypatch.setenv("MASKD_ADDRESS", address)
    monkeypatch.setenv("MASKD_STEP_MS", "5000")
    if not IS_REAL:
        for name in [each for each in sys.modules if each.startswith("maskd_sglang")]:
            monkeypatch.delitem(sys.modules, name)
        fake_sglang.install(monkeypatch)
        monkeypatch.setattr(fake_sglang, "SERVING", types.SimpleNamespace(**vars(fake_sglang.SERVING)))
    else:
        publish()
    import maskd_sglang  # noqa: PLC0415

    maskd_sglang.register()
    import maskd_sglang._backend as backend  # noqa: PLC0415

    return backend


def publish(**arguments):
    from sglang.srt.runtime_context import SpawnRanks, publish, reset_context  # noqa: PLC0415
    from sglang.srt.server_args import ServerArgs  # noqa: PLC0415

    reset_context()
    given = ServerArgs(model_path="dummy", device="cpu", grammar_backend="maskd", **arguments)
    publish(given, role="test", ranks=SpawnRanks(world_rank=0, dp_rank=None))
    return given


@pytest.fixture
def backend(sglang):
    made = sglang.create(None, Tokenizer(), WIDTH, {END})
    yield made
    made.rows.close()


def ready(backend, kind, text, reasoning=False, **request):
    """A request's grammar, as GrammarManager makes it."""
    value, is_cached = backend.get_cached_or_future_value((kind, text), reasoning)
    if not is_cached:
        value = value.result()
        backend.set_cache((kind, text), value.copy())
    if request:
        from maskd_sglang._grammar import inner_of  # noqa: PLC0415

        inner_of(value).tell(request.get("max_new_tokens"), request.get("stops", ()), False)
    return value


def entries(*grammars):
    return [types.SimpleNamespace(row=i, grammar=each) for i, each in enumerate(grammars)]


def masks(*grammars):
    table = grammars[0].allocate_vocab_mask(WIDTH, len(grammars), "cpu")
    grammars[0].fill_vocab_mask_batched(entries(*grammars), table)
    return [allowed(row) for row in np.asarray(table)]


def allowed(words):
    bits = np.unpackbits(np.asarray(words).view(np.uint8), bitorder="little")
    return bytes(np.flatnonzero(bits[:END]).tolist())


def test_the_choice_is_there(sglang):
    if IS_REAL:
        from sglang.srt.arg_groups.choices import GRAMMAR_BACKEND_CHOICES as choices  # noqa: PLC0415
        from sglang.srt.constrained.base_grammar_backend import (  # noqa: PLC0415
            GRAMMAR_BACKEND_REGISTRY as registry,
        )
    else:
        choices, registry = fake_sglang.CHOICES, fake_sglang.REGISTRY
    assert "maskd" in choices and registry["maskd"] is sglang.create


@pytest.mark.parametrize(("kind", "text", "accepted"), [
    ("json", '{"type": "integer"}', b"12"), ("json", "$$ANY$$", b'{"x": [1]}'), ("regex", "a+b", b"aab"),
    ("ebnf", 'root ::= "x" root | "y"', b"xxy"), ("full_assistant_ebnf", 'root ::= "x"', b"x"),
    ("structural_tag", json.dumps({"structures": [{"begin": "<f>", "schema": {"type": "integer"}, "end": "</f>"}],
                                   "triggers": ["<f"]}), b"a<f>1</f>")])
def test_every_kind_compiles_and_ends(backend, kind, text, accepted):
    grammar = ready(backend, kind, text)
    for token in [*accepted, END]:
        masks(grammar)
        grammar.accept_token(token)
    assert grammar.is_terminated()
    grammar.rollback(1)
    assert not grammar.is_terminated()


def test_a_batch_is_one_message_a_step(backend):
    batch = [ready(backend, "regex", "a[bc]d") for _ in range(6)]
    before = backend.rows.messages
    assert masks(*batch) == [b"a"] * 6
    for token in b"ac":
        for grammar in batch:
            grammar.accept_token(token)
        masks(*batch)
    assert backend.rows.messages == before + 3
    assert masks(*batch) == [b"d"] * 6 and backend.rows.messages == before + 3  # nothing has happened since


def test_a_wrong_token_is_an_error_and_copies_begin_anew(backend):
    first = ready(backend, "regex", "ab")
    masks(first)
    with pytest.raises(ValueError, match="token 120 is refused"):
        first.accept_token(ord("x"))
    first.accept_token(ord("a"))
    second = first.copy()
    assert masks(first, second) == [b"b", b"a"]
    first.rollback(1)
    assert masks(first, second) == [b"a", b"a"]


def test_a_tree_of_drafts_is_walked(backend):
    grammar = ready(backend, "regex", "a(bc|de)")
    table = grammar.allocate_vocab_mask(WIDTH, 4, "cpu")
    for i, path in enumerate([b"", b"a", b"ab", b"ad"]):
        for token in path:
            grammar.fill_vocab_mask(table, i)
            grammar.accept_token(token)
        grammar.fill_vocab_mask(table, i)
        grammar.rollback(len(path))
    assert [allowed(row) for row in np.asarray(table)] == [b"a", b"bd", b"c", b"e"]


def test_the_mask_is_applied_in_host_memory(backend):
    grammar = ready(backend, "regex", "[ab]c")
    table = grammar.allocate_vocab_mask(WIDTH, 2, "cpu")
    grammar.fill_vocab_mask(table, 1)
    table = grammar.move_vocab_mask(table, "cpu")
    logits = np.zeros((2, WIDTH), np.float32)
    given = logits
    if not isinstance(table, np.ndarray):
        import torch  # noqa: PLC0415

        given = torch.from_numpy(logits)
    grammar.apply_vocab_mask(logits=given, vocab_mask=table)
    assert (logits[0] == 0).all()
    assert bytes(np.flatnonzero(np.isfinite(logits[1])).tolist()) == b"ab"
    grammar.reset_vocab_mask(table)
    assert (np.asarray(table) == -1).all()


def test_a_request_says_its_stop_ids_and_how_long_it_may_be(backend):
    grammar = ready(backend, "regex", '"[ab]*"', max_new_tokens=3, stops=[ord("!")])
    assert masks(grammar) == [b'"']
    grammar.accept_token(ord('"'))
    assert masks(grammar) == [b'"']  # two tokens are left, the last of them ends it
    grammar.accept_token(ord('"'))
    assert masks(grammar) == [b"!"]
    grammar.accept_token(ord("!"))
    assert grammar.is_terminated()


@pytest.mark.parametrize(("kind", "text", "place"), [
    ("json", '{"type": 3}', "/type"), ("regex", "(a", "1:1"), ("json", "{", "1:2")])
def test_a_grammar_that_fails_says_where(backend, kind, text, place):
    made = ready(backend, kind, text)
    assert place in made.error_message


def test_a_server_that_is_gone_ends_constrained_requests_alone(sglang, tmp_path, monkeypatch):
    socket = tmp_path / "s"
    server = subprocess.Popen([os.environ["MASKD_SERVER"], f"--listen=unix:{socket}",
                               "--metrics_listen="], stdin=subprocess.DEVNULL)
    monkeypatch.setenv("MASKD_ADDRESS", f"unix:{socket}")
    backend = sglang.create(None, Tokenizer(), WIDTH, {END})
    grammar = ready(backend, "regex", "abc")
    masks(grammar)
    grammar.accept_token(ord("a"))
    server.kill()
    server.wait()
    assert masks(grammar) == [bytes(range(256))]  # left as it was: the next token says why
    with pytest.raises(ValueError, match="maskd: UNAVAILABLE"):
        grammar.accept_token(ord("b"))
    made = ready(backend, "regex", "xyz")
    assert "not available" in made.error_message and ("regex", "xyz") not in backend.cache


def test_a_server_that_hangs_is_waited_for_in_one_step_alone(sglang, tmp_path, monkeypatch):
    """That of a batch with a free sequence, MASKD_STEP_MS; MASKD_HANG_MS is for batches without."""
    socket = tmp_path / "s"
    for name, value in {"ADDRESS": f"unix:{socket}", "HANG_MS": "600000", "STEP_MS": "10000"}.items():
        monkeypatch.setenv(f"MASKD_{name}", value)
    with subprocess.Popen([os.environ["MASKD_SERVER"], f"--listen=unix:{socket}", "--metrics_listen="],
                          stdin=subprocess.DEVNULL) as server:
        try:
            backend = sglang.create(None, Tokenizer(), WIDTH, {END})
            batch = [ready(backend, "regex", "abc") for _ in range(4)]
            assert masks(*batch) == [b"a"] * 4
            backend.rows.settings = dataclasses.replace(backend.rows.settings, step_s=0.1)
            hang(server)
            for grammar in batch:
                grammar.accept_token(ord("a"))
            table = batch[0].allocate_vocab_mask(WIDTH, 5, "cpu")
            batch[0].fill_vocab_mask_batched(entries(*batch), table)  # not in ten minutes
            assert [allowed(row) for row in np.asarray(table)] == [bytes(range(256))] * 5
            assert backend.rows.late == 1
            messages = backend.rows.messages
            for grammar in batch:
                with pytest.raises(ValueError, match="maskd: DEADLINE_EXCEEDED"):
                    grammar.accept_token(ord("b"))
            masks(*batch)
            assert backend.rows.late == 1 and backend.rows.messages == messages
        finally:
            server.send_signal(signal.SIGCONT)
            server.terminate()


def test_an_engine_without_a_server_does_not_start(sglang, monkeypatch):
    monkeypatch.setenv("MASKD_ADDRESS", "unix:/nowhere/s")
    monkeypatch.setenv("MASKD_START_MS", "100")
    with pytest.raises(RuntimeError, match="maskd at unix:/nowhere/s: UNAVAILABLE"):
        sglang.create(None, Tokenizer(), WIDTH, {END})


def test_an_engine_with_another_vocabulary_does_not_start(sglang):
    other = Tokenizer()
    other.added_tokens_decoder = {END: "<another>"}
    with pytest.raises(RuntimeError, match="the engine's vocabulary is not the server's"):
        sglang.create(None, other, WIDTH, {END})


def test_a7_an_engine_on_a_device_without_a_kernel_does_not_start(sglang):
    """Refused as the backend is made, not in the first constrained step."""
    serving = types.SimpleNamespace(device="hpu")
    with pytest.raises(RuntimeError, match="no kernel masks logits on hpu; supported: cpu, cuda, xpu, musa, npu"):
        sglang.create(serving, Tokenizer(), WIDTH, {END})


@pytest.mark.skipif(IS_REAL, reason="SGLang's own gate has a test of its own")
def test_the_gate_of_reasoning_holds_the_grammar_back(sglang, monkeypatch):
    monkeypatch.setattr(fake_sglang.SERVING, "reasoning_parser", "of a model")
    backend = sglang.create(None, Tokenizer(), WIDTH, {END})
    inner = backend.grammar_backend
    thinking = ready(backend, "regex", "[a-z]+", reasoning=True, max_new_tokens=8)
    plain = ready(backend, "regex", "[a-z]+")
    assert masks(thinking, plain) == [bytes(range(256)), bytes(range(97, 123))]
    before = inner.rows.messages
    for token in b"hm|":
        thinking.accept_token(token)
        plain.accept_token(ord("a"))
        masks(thinking, plain)
    assert inner.rows.messages == before + 3
    assert masks(thinking)[0] == bytes(range(97, 123))
    inner.rows.close()


# --- SGLang's own loop


def manager_of(arguments):
    from sglang.srt.constrained.grammar_manager import GrammarManager  # noqa: PLC0415

    group = types.SimpleNamespace(world_size=1, first_rank=0, is_first_rank=True)
    model = types.SimpleNamespace(vocab_size=WIDTH, hf_eos_token_id={END}, think_end_ids=None)
    return GrammarManager(types.SimpleNamespace(
        server_args=arguments, tokenizer=Tokenizer(), model_config=model, dp_tp_cpu_group=None,
        dp_tp_group=group, pp_group=None))


def info_of(batch):
    import torch  # noqa: PLC0415
    from sglang.srt.sampling.sampling_batch_info import SamplingBatchInfo  # noqa: PLC0415

    info = object.__new__(SamplingBatchInfo)
    info.grammars = [each.grammar for each in batch]
    info.temperatures, info.vocab_size, info.device = torch.ones(len(batch), 1), WIDTH, "cpu"
    return info


def ready_of(manager):
    done = []
    while manager.has_waiting_grammars():
        done += manager.get_ready_grammar_requests()
    return done


@pytest.mark.skipif(not IS_REAL, reason="ENGINE_SGLANG=real: SGLang itself is not here")
def test_sglangs_manager_and_batch_drive_it(sglang):
    import torch  # noqa: PLC0415
    from sglang.srt.sampling.sampling_params import SamplingParams  # noqa: PLC0415

    manager = manager_of(publish())
    assert type(manager.grammar_backend).__name__ == "MaskdBackend"
    requests = [request(SamplingParams(regex="a[bc]d", max_new_tokens=9)), request(None),
                request(SamplingParams(json_schema='{"type": "boolean"}', max_new_tokens=9)),
                request(SamplingParams(regex="(", max_new_tokens=9))]
    waiting = [each for each in requests if each.sampling_params is not None]
    assert all(manager.process_req_with_grammar(each) for each in waiting)
    assert len(ready_of(manager)) == 3 and requests[3].aborted.startswith("Failed to compile regex grammar: 1:1")
    batch = requests[:3]
    info = info_of(batch)
    texts = [b"", b"", b""]
    before = manager.grammar_backend.rows.messages
    for steps in range(4):
        info.update_regex_vocab_mask()
        assert manager.grammar_backend.rows.messages == before + steps + 1
        logits = torch.zeros(3, WIDTH)
        info.grammar_mask.apply(logits)
        assert torch.isfinite(logits[1]).all()
        for i in (0, 2):
            token = int(torch.isfinite(logits[i]).nonzero()[-1])
            batch[i].grammar.accept_token(token)
            texts[i] += bytes([token]) if token != END else b"$"
    assert texts[0] == b"acd$" and texts[2] == b"true"
    assert batch[0].grammar.is_terminated()
    manager.grammar_backend.rows.close()


def allowed_after(info, tokens):
    """What each request may have next, once it has taken its token of `tokens`, -1 for none."""
    import torch  # noqa: PLC0415

    for grammar, token in zip(info.grammars, tokens, strict=True):
        if token >= 0:
            grammar.accept_token(token)
    info.update_regex_vocab_mask()
    logits = torch.zeros(len(tokens), WIDTH)
    info.grammar_mask.apply(logits)
    return [bytes(torch.isfinite(row[:END]).nonzero().flatten().tolist()) for row in logits]


@pytest.mark.skipif(not IS_REAL, reason="ENGINE_SGLANG=real: SGLang itself is not here")
@pytest.mark.parametrize("is_strict", [False, True])
def test_sglangs_gate_of_reasoning_drives_it(sglang, is_strict, monkeypatch):
    from sglang.srt.sampling.sampling_params import SamplingParams  # noqa: PLC0415

    if is_strict:
        monkeypatch.setenv("SGLANG_MAX_THINK_TOKENS", "50")
    manager = manager_of(publish(reasoning_parser="deepseek-r1", enable_strict_thinking=is_strict))
    assert type(manager.grammar_backend).__name__ == "MaskdReasonerBackend"
    inner = manager.grammar_backend.grammar_backend
    anything, end = bytes(range(256)), b"</think>"
    batch = [request(SamplingParams(regex='"[a-z]*"', max_new_tokens=14), require_reasoning=True),
             request(SamplingParams(regex="[a-z]+", max_new_tokens=90))]
    if is_strict:
        batch[0].sampling_params.custom_params = {"thinking_budget": 2}
    assert all(manager.process_req_with_grammar(each) for each in batch)
    assert len(ready_of(manager)) == 2
    info = info_of(batch)
    letters = bytes(range(97, 123))
    assert allowed_after(info, [-1, -1]) == [anything, letters]
    before = inner.rows.messages
    thinking, plain = allowed_after(info, [ord("h"), ord("a")])
    assert thinking == anything and plain == letters
    thinking, _ = allowed_after(info, [ord("m"), ord("a")])
    assert thinking == (end[:1] if is_strict else anything)  # two tokens were its budget
    for token, then in zip(end[:-1], end[1:], strict=True):
        thinking, _ = allowed_after(info, [token, ord("a")])
        assert thinking == (bytes([then]) if is_strict else anything)
    assert allowed_after(info, [end[-1], ord("a")]) == [b'"', letters]  # the gate is open
    assert inner.rows.messages == before + 2 + len(end)  # a step is one message, of both
    # Of its fourteen tokens three are left: one letter at most.
    assert allowed_after(info, [ord('"'), ord("a")])[0] == b'"' + letters
    assert allowed_after(info, [ord("x"), ord("a")])[0] == b'"'
    batch[0].grammar.rollback(3)  # into the reasoning, as drafts that were refused
    batch[1].grammar.rollback(1)
    thinking, _ = allowed_after(info, [-1, -1])
    assert thinking == (end[-1:] if is_strict else anything)
    assert allowed_after(info, [end[-1], ord("b")])[0] == b'"'
    again = request(SamplingParams(regex="[a-z]+", max_new_tokens=9), require_reasoning=True)
    assert not manager.process_req_with_grammar(again), "it is in SGLang's cache"
    assert type(again.grammar).__name__ == "MaskdReasonerGrammar"
    assert allowed_after(info_of([again]), [-1]) == [anything]
    inner.rows.close()


def request(parameters, **more):
    made = types.SimpleNamespace(sampling_params=parameters, origin_input_ids=[1], require_reasoning=False,
                                 grammar=None, grammar_key=None, grammar_wait_ct=0, rid="r", aborted="")
    vars(made).update(more)
    made.finished = lambda: bool(made.aborted)
    made.set_finish_with_abort = lambda words: setattr(made, "aborted", words)
    return made
