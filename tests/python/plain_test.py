"""maskd.plain beside the library: stubs that others generated, every row form, numpy's applier."""

import collections
import os
import random
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import maskd
from maskd import _abi, _client, _grammar, _plain_applier, plain
from maskd._plain_masks import FORM_INVALID, MaskReader
from maskd.v1 import grammar_pb2
from maskd.v1 import mask_service_pb2 as pb

WIDTH = 320
END = 256
VOCAB = 257
GRAMMARS = [
    maskd.Grammar.json_schema({"type": "object", "properties": {"name": {"type": "string"}, "n": {
        "type": "array", "items": {"type": "number"}}}, "required": ["name", "n"]}),
    maskd.Grammar.regex("(foo|[^x]{0,9}bar)+[0-9]*"),
    maskd.Grammar.choice(["yes", "no", "maybe"]),
    maskd.Grammar("lark", 'start: <[^7,200-203]>~4 "end" /[b-y]/~6'),
    maskd.Grammar.json_object(),
]


def allowed(words):
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    return np.flatnonzero(bits).tolist()


@pytest.fixture
def forms(monkeypatch):
    """How often each form came over the wire."""
    seen = collections.Counter()
    read = MaskReader.read

    def counted(self, position):
        seen[position.WhichOneof("form")] += 1
        return read(self, position)

    monkeypatch.setattr(MaskReader, "read", counted)
    return seen


def test_a_wait_for_a_server_does_not_go_by_the_clock_of_the_day(monkeypatch):
    """The clock goes back by an hour while there is no server."""
    begin, now = time.monotonic(), time.time
    monkeypatch.setattr(time, "time", lambda: now() - (3600 if time.monotonic() - begin > 0.1 else 0))
    said = []

    def connect():
        with pytest.raises(maskd.MaskdError) as error:
            plain.Client("unix:/nowhere/maskd.sock", timeout_s=0.5)
        said.append(str(error.value))

    connecting = threading.Thread(target=connect, daemon=True)
    connecting.start()
    connecting.join(60)
    assert said
    assert "no server at unix:/nowhere/maskd.sock within 0.5s" in said[0]


def test_who_finds_no_server_is_told_why():
    with pytest.raises(maskd.MaskdError, match="last error: .*unix:/nowhere/maskd.sock: "):
        plain.Client("unix:/nowhere/maskd.sock", timeout_s=0.5)


def place_left_out(welcome):
    """What the server says of itself; a stream's place among the others is its own."""
    return {name: value for name, value in welcome.items()
            if name not in ("open_streams", "stream_number")}


def test_every_row_form_is_read_as_the_library_reads_it(client, address, forms):
    """Random walks of the same rows on two streams, one each client's, with a draft that is often
    refused; the masks are the same words."""
    dice = random.Random(7)
    with plain.Client(address) as plain_client, client.open_stream(WIDTH) as ours, \
            plain_client.open_stream(WIDTH) as theirs:
        assert place_left_out(theirs.welcome) == place_left_out(ours.welcome)
        assert theirs.mask_words == ours.mask_words
        ids = [client.compile(grammar).id for grammar in GRAMMARS]
        for walk in range(60):
            rows = [walk * len(ids) + i for i in range(len(ids))]
            steps = [kind() for kind in (maskd.Step, plain.Step)]
            for step in steps:
                for row, grammar_id in zip(rows, ids, strict=True):
                    step.open(row, grammar_id)
            for _ in range(25):
                ours_now, theirs_now = ours.run(steps[0]), theirs.run(steps[1])
                assert theirs_now.rows == ours_now.rows
                masks = ours_now.masks(rows)
                np.testing.assert_array_equal(theirs_now.masks(rows), masks)
                taken = [dice.choice(allowed(mask)[:VOCAB]) for mask in masks]
                drafts = [[dice.randrange(VOCAB) for _ in range(2)] for _ in rows]
                for step in steps:
                    step.clear().take_each(rows, taken)
                    for row, draft in zip(rows, drafts, strict=True):
                        step.draft(row, draft)
            for step in steps:
                step.clear()
                for row in rows:
                    step.close(row)
            ours.run(steps[0])
            theirs.run(steps[1])
    # A delta is no shorter than a mask of so few tokens; deltas are read below.
    assert set(forms) == {"full", "invalid", "dense", "same_as", "allowed_ids", "forbidden_ids"}


def welcome(dictionary_size=2):
    made = pb.Welcome(mask_words=4, dictionary_size=dictionary_size)
    made.tokenizer.vocab_size = 100
    return made


def test_positions_that_are_made_of_earlier_ones():
    reader = MaskReader(welcome())
    first = reader.read(pb.Position(allowed_ids=pb.IdList(ids=[3, 90]), dictionary_slot=1))
    assert allowed(first.dense(4, 100)) == [3, 90]
    same = reader.read(pb.Position(same_as=1))
    assert same == first
    delta = pb.MaskDelta(base=1, word_indices=[0, 2], words=[1 << 31, 0])
    changed = reader.read(pb.Position(delta=delta, dictionary_slot=1))
    assert allowed(changed.dense(4, 100)) == [31]
    assert allowed(reader.read(pb.Position(same_as=1)).dense(4, 100)) == [31]
    most = reader.read(pb.Position(forbidden_ids=pb.IdList(ids=[0, 99])))
    assert allowed(most.dense(4, 100)) == list(range(1, 99))
    assert reader.read(pb.Position(invalid=True)).form == FORM_INVALID


@pytest.mark.parametrize("position", [
    pb.Position(dense=b"123"), pb.Position(same_as=0), pb.Position(same_as=9), pb.Position(),
    pb.Position(allowed_ids=pb.IdList(ids=[2, 2])), pb.Position(allowed_ids=pb.IdList(ids=[100])),
    pb.Position(forbidden_ids=pb.IdList(ids=[-1])), pb.Position(full=True, dictionary_slot=0),
    pb.Position(dense=bytes(16), dictionary_slot=2),
    pb.Position(delta=pb.MaskDelta(base=1, word_indices=[4], words=[1])),
    pb.Position(delta=pb.MaskDelta(base=1, word_indices=[0], words=[]))])
def test_what_a_server_may_not_send_is_an_error(position):
    reader = MaskReader(welcome())
    reader.read(pb.Position(dense=bytes(16), dictionary_slot=1))
    with pytest.raises(maskd.MaskdError, match="INTERNAL"):
        reader.read(position)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_numpys_applier_writes_what_the_librarys_does(dtype):
    dice = np.random.default_rng(3)
    vocab, width = 1000, 1030
    appliers = [maskd.Applier("cpu"), _plain_applier.Applier("cpu")]
    words = dice.integers(-2**31, 2**31, (3, 32), dtype=np.int32)
    words[:, -1] &= 0xFF
    ids = np.unique(dice.integers(0, vocab, 40))
    rows = [maskd.Row.allowed(0, ids), maskd.Row.forbidden(7, ids), maskd.Row.dense(1, words[0]),
            maskd.Row.dense(5, words[1], changed=ids), maskd.Row.same(2, 1),
            maskd.Row.same(3, 1, changed=ids), maskd.Row.full(6), maskd.Row.allowed(8, [])]
    planes = []
    start = dice.standard_normal((9, width + 5)).astype(dtype)
    for applier in appliers:
        dictionary = applier.dictionary(vocab, 2)
        dictionary.set(1, words[2])
        planes.append(start.copy())
        applier.apply(planes[-1][:, :width], rows, vocab_size=vocab, dictionary=dictionary)
    assert planes[0].tobytes() == planes[1].tobytes()
    assert planes[0].tobytes() != start.tobytes()


def run(**environment):
    return subprocess.run(
        [sys.executable, "-c", "import maskd._api as a; print(a.PLAIN, a.Client.__module__)"],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False)


PACKAGE = os.environ["PYTHONPATH"].split(":")[0]  # without the stubs


def test_the_environment_names_the_client():
    assert run(MASKD_CLIENT="plain").stdout == "True maskd.plain\n"
    assert run(MASKD_CLIENT="library").stdout == "False maskd._client\n"
    without = run(MASKD_CLIENT="", MASKD_LIBRARY="/nowhere/libmaskd.so.1")
    assert without.stdout == "True maskd.plain\n"
    assert "MASKD_LIBRARY: /nowhere/libmaskd.so.1: there is no such file" in without.stderr
    neither = run(MASKD_CLIENT="", MASKD_LIBRARY="/nowhere/libmaskd.so.1", PYTHONPATH=PACKAGE)
    last = neither.stderr.splitlines()[-1]
    assert last.startswith("ImportError: maskd: without libmaskd.so.1 (MASKD_LIBRARY: /nowhere/libmaskd.so.1: there is no such file)")
    unknown = run(MASKD_CLIENT="rust")
    assert unknown.returncode != 0 and '"rust" is not one of library, plain' in unknown.stderr


def test_a_library_of_another_release_is_named_before_its_functions_are_looked_up(tmp_path):
    for name, text, said in (("abi", "int maskd_abi_version(void) { return 7; }", "has ABI 7, this package needs 1"),
                             ("old", "int maskd_abi_version(void) { return 1; }", "is older than this package, it has no maskd_")):
        library = tmp_path / f"lib{name}.so"
        (tmp_path / f"{name}.c").write_text(text)
        subprocess.run(["cc", "-shared", "-o", library, tmp_path / f"{name}.c"], check=True)
        failed = run(MASKD_CLIENT="", MASKD_LIBRARY=str(library))
        assert failed.returncode != 0 and f"{library}: {said}" in failed.stderr


@pytest.mark.parametrize("name, value, said", [
    ("whitespace", "compact", "whitespace: is not one of additional_properties, "),
    ("white_space", "tight", 'white_space: "tight" is not one of flexible, compact'),
])
def test_a_misspelt_option_of_a_grammar_is_named_where_it_is_written(name, value, said):
    with pytest.raises(maskd.MaskdError, match=re.escape(said)):
        maskd.Grammar.json_schema({}, **{name: value})


def test_every_option_of_a_grammar_is_known_by_name():
    fields = grammar_pb2.GrammarOptions.DESCRIPTOR.fields
    assert {*_grammar._NAMED, *_grammar._OTHERS} == {field.name for field in fields}
    for field in fields:
        if field.enum_type is not None:
            begin, names = _grammar._NAMED[field.name]
            assert {begin + name.upper() for name in (*names, "unspecified")} == set(field.enum_type.values_by_name)


@pytest.mark.parametrize("written", ["compact", "COMPACT", "WHITE_SPACE_COMPACT"])
def test_an_options_value_has_its_short_name_too(written):
    assert maskd.Grammar.json_schema({}, white_space=written).to_json()["options"] == {"white_space": "WHITE_SPACE_COMPACT"}


BELOW_0 = {
    "open": lambda step: step.open(-1, maskd.Grammar.choice(["a"])),
    "take": lambda step: step.take(-1, [1]),
    "take_each": lambda step: step.take_each([3, -1], [1, 1]),
    "take_each of an array": lambda step: step.take_each(np.array([3, -1]), np.array([1, 1])),
    "rollback": lambda step: step.rollback(-1, 1),
    "draft": lambda step: step.draft(-1, [1]),
    "draft_each": lambda step: step.draft_each([-1], [[1]], [[2]]),
    "set_remaining": lambda step: step.set_remaining(-1, 3),
    "want_forced": lambda step: step.want_forced(-1),
    "snapshot": lambda step: step.snapshot(-1),
    "fork of": lambda step: step.fork(-1, 3),
    "fork as": lambda step: step.fork(3, -1),
    "close": lambda step: step.close(-1),
}


@pytest.mark.parametrize("verb", BELOW_0.values(), ids=BELOW_0)
@pytest.mark.parametrize("client", ["plain", "library"])
def test_a_row_below_0_is_refused_where_it_is_written(client, verb):
    if client == "library" and _abi.why_no_library():
        pytest.skip(_abi.why_no_library())
    step = plain.Step() if client == "plain" else _client.Step()
    with pytest.raises(maskd.MaskdError, match="row: -1 is below 0"):
        verb(step)


def test_the_librarys_functions_are_looked_up_once():
    assert not _abi.why_no_library()
    assert "maskd_apply" in vars(_abi.lib)
