"""maskd behind vLLM's interface of grammar libraries: every method with the arguments and results that its
loop has (read from vLLM's v1/structured_output/backend_types.py and its manager; wheel_interface_test.py compares
them with the newest release). Names such as C6 are promises of the engines' own backends."""

import enum
import inspect
import json
import os
import pickle
import re
import subprocess
import sys
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import maskd
from maskd import engines
from maskd._dialects import grammar_of

VOCAB = 257
END = 256

Options = enum.Enum("StructuredOutputOptions",
                    "JSON JSON_OBJECT REGEX GRAMMAR CHOICE STRUCTURAL_TAG")

# Method -> its parameters after self, as the engines call them.
VLLM_GRAMMAR = {"find_jump_string": [], "accept_tokens": ["request_id", "tokens"],
                "validate_tokens": ["tokens"], "rollback": ["num_tokens"],
                "fill_bitmask": ["bitmask", "batch_index"], "is_terminated": [], "reset": []}
VLLM_BACKEND = {"__init__": ["vllm_config", "tokenizer", "vocab_size"],
                "compile_grammar": ["request_type", "grammar_spec", "stop_token_ids"],
                "allocate_token_bitmask": ["max_num_seqs"], "destroy": []}


@pytest.mark.parametrize(("cls", "methods"), [
    (engines.VllmGrammar, VLLM_GRAMMAR), (engines.VllmBackend, VLLM_BACKEND)])
def test_the_recorded_interface_is_there(cls, methods):
    for name, parameters in methods.items():
        function = getattr(cls, name)
        own = [each for each in inspect.signature(function).parameters if each != "self"]
        assert own[:len(parameters)] == parameters, name


@pytest.fixture
def vllm(address, client, monkeypatch):  # `client` has waited until there is a server
    monkeypatch.setenv("MASKD_ADDRESS", address)
    backend = engines.VllmBackend(None, None, VOCAB)
    yield backend
    backend.destroy()


def allowed(words):
    bits = np.unpackbits(np.asarray(words).view(np.uint8), bitorder="little")
    return bytes(np.flatnonzero(bits[:END]).tolist())


def masks_with_drafts(grammar, bitmask, first, drafts):
    """A request's 1 + k rows as vLLM's manager fills them; how many drafts were taken."""
    taken = 0
    for i, draft in enumerate([*drafts, None]):
        grammar.fill_bitmask(bitmask, first + i)
        if draft is None or draft < 0 or not grammar.accept_tokens("r", [draft]):
            break
        taken += 1
    grammar.rollback(taken)
    return taken


def test_c2_a_backend_that_is_not_known_is_an_error_with_those_that_are(vllm):
    with pytest.raises(maskd.MaskdError) as error:
        vllm.compile_grammar(Options.REGEX, "a", backend="guided")
    assert error.value.message == ('backend: "guided" is not one of xgrammar, guidance, outlines, '
                                   "lm-format-enforcer")
    with pytest.raises(maskd.MaskdError):
        engines.VllmBackend(None, None, VOCAB, backend="auto")


@pytest.mark.parametrize(("backend", "text", "accepted"), [
    ("xgrammar", '{"a":1,  "b":2}', True), ("xgrammar", '{"b":2,"a":1}', False),
    ("guidance", '{"a":1,  "b":2}', True), ("guidance", '{"b":2,"a":1}', False),
    ("outlines", '{"a":1, "b":2}', True), ("outlines", '{"a":1,  "b":2}', False),
    ("lm-format-enforcer", '{"b":2,"a":1}', True),
    ("lm-format-enforcer", '{"a":1,' + " " * 12 + '"b":2}', True),
    ("lm-format-enforcer", '{"a":1,' + " " * 13 + '"b":2}', False),
])
def test_c3_each_request_has_the_defaults_of_the_library_it_names(vllm, backend, text, accepted):
    schema = ('{"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, '
              '"required": ["a", "b"], "additionalProperties": false}')
    grammar = vllm.compile_grammar(Options.JSON, schema, backend=backend)
    assert grammar.accept_tokens("r", list(text.encode())) is accepted


TAG = json.dumps({"type": "structural_tag", "format": {
    "type": "triggered_tags", "triggers": ["<f="], "at_least_one": False, "stop_after_first": False,
    "tags": [{"type": "tag", "begin": "<f=a>", "end": "</f>",
              "content": {"type": "json_schema", "json_schema": {"type": "integer"}}}]}})
OLD_TAG = json.dumps({"structures": [{"begin": "<f=a>", "schema": {"type": "integer"}, "end": "</f>"}],
                      "triggers": ["<f="]})


@pytest.mark.parametrize(("kind", "spec", "text"), [
    (Options.STRUCTURAL_TAG, TAG, b"x<f=a>1</f>y"), (Options.STRUCTURAL_TAG, OLD_TAG, b"x<f=a>1</f>"),
    (Options.JSON, '{"type": "integer"}', b"12"), (Options.JSON_OBJECT, "", b'{"x": [1]}'),
    (Options.REGEX, "a+b", b"aab"), (Options.GRAMMAR, 'root ::= "x" root | "y"', b"xxy"),
    (Options.GRAMMAR, 'start: "x"+ "y"', b"xxy"), (Options.CHOICE, '["p", "q"]', b"q")])
def test_c1_every_kind_compiles_and_ends(vllm, kind, spec, text):
    grammar = vllm.compile_grammar(kind, spec)
    assert not grammar.is_terminated()
    assert grammar.accept_tokens("r", [*text, END])
    assert grammar.is_terminated()


def test_c1_grammars_compile_in_a_pool_once_for_each_type_and_spec(vllm):
    specs = [(Options.REGEX, f"a{{{n}}}") for n in range(1, 9)] * 4
    with ThreadPoolExecutor(8) as pool:
        grammars = list(pool.map(lambda spec: vllm.compile_grammar(*spec), specs))
    for (_, spec), grammar in zip(specs, grammars, strict=True):
        assert grammar.accept_tokens("r", [ord("a")] * int(spec[2:-1]) + [END])
    engine = vllm._engine  # noqa: SLF001
    for kind, spec in specs[:8]:
        again = engine.client.compile(grammar_of(kind.name.lower(), spec, "xgrammar"))
        assert again.from_cache
    other_type = engine.client.compile(grammar_of("choice", '["a{1}"]', "xgrammar"))
    assert not other_type.from_cache


def test_c1_a_request_goes_on_while_another_compiles(vllm):
    heavy = '{"type": "object", "properties": {' + ", ".join(
        f'"p{n}": {{"type": "string", "pattern": "^(a|b{n})*c{{{n}}}$"}}' for n in range(200)) + "}}"
    running = vllm.compile_grammar(Options.REGEX, "(ab)*")
    with ThreadPoolExecutor(1) as pool:
        compiled = pool.submit(vllm.compile_grammar, Options.JSON, heavy)
        steps = 0
        while not compiled.done():
            assert running.accept_tokens("r", [ord("ab"[steps % 2])])
            steps += 1
        assert compiled.result().accept_tokens("r", list(b'{"p0":"c"}'[:5]))
    assert steps > 0


def test_c12_destroy_lets_go_of_everything(address, monkeypatch):
    monkeypatch.setenv("MASKD_ADDRESS", address)
    backend = engines.VllmBackend(None, None, VOCAB)
    grammar = backend.compile_grammar(Options.REGEX, "a")
    backend.destroy()
    with pytest.raises(maskd.MaskdError):
        grammar.accept_tokens("r", [ord("a")])
    with pytest.raises(maskd.MaskdError):
        backend.compile_grammar(Options.REGEX, "a")
    monkeypatch.setenv("MASKD_TOKENIZER", "nobody's")
    with pytest.raises(maskd.MaskdError, match="nobody's"):
        engines.VllmBackend(None, None, VOCAB)


def test_c4_the_bitmask_is_all_ones_at_first(vllm):
    bitmask = np.asarray(vllm.allocate_token_bitmask(3))
    assert bitmask.shape == (3, 9) and bitmask.dtype == np.int32 and (bitmask == -1).all()


def test_c5_c6_a_request_owns_one_row_and_one_a_draft(vllm):
    bitmask = np.asarray(vllm.allocate_token_bitmask(5))
    first = vllm.compile_grammar(Options.REGEX, "ab[cd]e")
    second = vllm.compile_grammar(Options.CHOICE, '["q"]')
    assert masks_with_drafts(first, bitmask, 0, list(b"ab")) == 2
    assert masks_with_drafts(second, bitmask, 3, []) == 0
    assert [allowed(row) for row in bitmask[:4]] == [b"a", b"b", b"cd", b"q"]
    assert (bitmask[4] == -1).all()
    first.fill_bitmask(bitmask, 4)
    assert allowed(bitmask[4]) == b"a"  # rolled back to where it was


def test_c5_what_was_filled_is_a_prefix_and_the_rest_is_left_alone(vllm):
    """The engine hands on the rows up to the batch's end, so nothing behind them may be written."""
    bitmask = np.asarray(vllm.allocate_token_bitmask(8))
    at = 0
    for pattern, drafts in (("ab[cd]e", b"ab"), ("xyz", b""), ("mno", b"m")):
        grammar = vllm.compile_grammar(Options.REGEX, pattern)
        at += masks_with_drafts(grammar, bitmask, at, list(drafts)) + 1
    filled = bitmask[:at]
    assert [allowed(row) for row in filled] == [b"a", b"b", b"cd", b"x", b"m", b"n"]
    assert (bitmask[at:] == -1).all()


def test_c7_a_terminated_request_has_all_ones(vllm):
    bitmask = np.zeros((1, 9), dtype=np.int32)
    grammar = vllm.compile_grammar(Options.CHOICE, '["q"]')
    assert grammar.accept_tokens("r", [ord("q"), END])
    grammar.fill_bitmask(bitmask, 0)
    assert (bitmask == -1).all()
    assert grammar.accept_tokens("r", [5])  # tokens after the end are success and change nothing
    grammar.rollback(1)
    assert not grammar.is_terminated()
    grammar.fill_bitmask(bitmask, 0)
    assert bitmask[0, END // 32] == 1 << END % 32


def test_c10_a_refused_draft_is_no_failure(vllm):
    bitmask = np.asarray(vllm.allocate_token_bitmask(4))
    grammar = vllm.compile_grammar(Options.REGEX, "abc")
    assert masks_with_drafts(grammar, bitmask, 0, [ord("a"), ord("x"), -1]) == 1
    assert [allowed(row) for row in bitmask[:2]] == [b"a", b"b"]


def test_c13_a_grammar_that_fails_fails_alone(vllm):
    other = vllm.compile_grammar(Options.REGEX, "a")
    for kind, spec in [(Options.REGEX, "(a"), (Options.JSON, '{"type": 3}'), (Options.JSON, "{")]:
        with pytest.raises(maskd.MaskdError) as error:
            vllm.compile_grammar(kind, spec)
        assert error.value.code == "INVALID_ARGUMENT"
    assert other.accept_tokens("r", [ord("a")])


def test_validate_tokens_gives_the_prefix_and_changes_nothing(vllm):
    grammar = vllm.compile_grammar(Options.REGEX, "abc")
    assert grammar.validate_tokens(list(b"abx")) == list(b"ab")
    assert grammar.validate_tokens([ord("a"), -1, ord("b")]) == [ord("a")]
    assert grammar.validate_tokens(list(b"x")) == []
    assert grammar.validate_tokens([]) == []
    assert grammar.accept_tokens("r", list(b"abc"))


def test_accept_takes_all_tokens_or_none(vllm):
    grammar = vllm.compile_grammar(Options.REGEX, "abc")
    assert not grammar.accept_tokens("r", list(b"abx"))
    assert not grammar.accept_tokens("r", [-1]) and not grammar.accept_tokens("r", [9999])
    assert grammar.accept_tokens("r", list(b"abc"))
    with pytest.raises(maskd.MaskdError, match="rollback: 4 tokens, the row has taken 3"):
        grammar.rollback(4)
    grammar.reset()
    assert grammar.accept_tokens("r", list(b"ab"))


def test_b5_an_engine_depends_on_no_grammar_library():
    loaded = "import sys, maskd.engines; print(*sys.modules)"
    names = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert not {"torch", "vllm", "sglang", "xgrammar", "llguidance"} & set(names.stdout.split())


def test_b5_the_library_is_linked_to_no_grammar_library():
    """What the loader maps beside libmaskd: the system's own libraries, in a build for other machines
    nothing else; in one for this machine the packages that docs/architecture.md names."""
    linked = subprocess.run(["ldd", os.environ["MASKD_LIBRARY"]], capture_output=True, text=True, check=True)
    names = re.findall(r"^\s*(\S+)", linked.stdout, re.MULTILINE)
    assert any(name.startswith("libc.so") for name in names)
    grammars = re.compile(r"grammar|guidance|outlines|llama|torch|python|antlr|icu|onig", re.IGNORECASE)
    assert [name for name in names if grammars.search(name)] == []
    if os.environ["MASKD_LIBRARY_ALONE"] == "ON":
        system = re.compile(r"(linux-vdso|libc|libm|libdl|librt|libpthread|libgcc_s)\.so|.*/ld-linux")
        assert [name for name in names if not system.match(name)] == []


def test_b10_what_a_batch_carries_survives_the_way_to_a_worker(vllm):
    """Masks are plain arrays, row maps plain numbers; whoever gets them masks with them alone."""
    bitmask = np.asarray(vllm.allocate_token_bitmask(2))
    vllm.compile_grammar(Options.CHOICE, '["q"]').fill_bitmask(bitmask, 1)
    sent = pickle.dumps((bitmask, maskd.row_map([maskd.Scheduled(None), maskd.Scheduled(7)])))
    words, targets = pickle.loads(sent)
    logits = np.zeros((2, VOCAB), dtype=np.float32)
    maskd.Applier().apply(logits, [maskd.Row.dense(at, words[1]) for _, _, at in targets])
    assert np.flatnonzero(np.isfinite(logits[1])).tolist() == [ord("q")]
    assert (logits[0] == 0).all()


def test_stop_ids_of_a_request_end_its_text(vllm):
    grammar = vllm.compile_grammar(Options.REGEX, "[a-z]+", stop_token_ids={ord("!")})
    bitmask = np.asarray(vllm.allocate_token_bitmask(1))
    assert grammar.accept_tokens("r", [ord("q")])
    grammar.fill_bitmask(bitmask, 0)
    assert b"!" in allowed(bitmask[0]) and not grammar.accept_tokens("r", [END])
    assert grammar.accept_tokens("r", [ord("!")]) and grammar.is_terminated()


def test_vllms_flag_for_white_space_is_obeyed(address, monkeypatch):
    monkeypatch.setenv("MASKD_ADDRESS", address)
    config = types.SimpleNamespace(
        structured_outputs_config=types.SimpleNamespace(disable_any_whitespace=True))
    backend = engines.VllmBackend(config, None, VOCAB)
    assert not backend.compile_grammar(Options.JSON_OBJECT, "").accept_tokens("r", list(b'{ "a"'))
    backend.destroy()
