"""What the C++ client can say and read, the C library and Python can: by name, and by what it does."""

import base64
import os
import pathlib
import re
import subprocess

import numpy as np
import pytest

import maskd
from maskd import _abi
from maskd._api import PLAIN

ROOT = pathlib.Path(__file__).parents[2]
WIDTH = 320
END = 256

# A method of client/cpp, the function of client/c/maskd.h, the method of Python.
STEP = {
    "Open": (["step_open", "step_open_grammar", "step_open_snapshot"], ["open", "open_snapshot"]),
    "Take": (["step_take", "step_take_each"], ["take", "take_each"]),
    "Rollback": (["step_rollback"], ["rollback"]),
    "SetRemaining": (["step_set_remaining"], ["set_remaining"]),
    "Draft": (["step_draft", "step_draft_each"], ["draft", "draft_each"]),
    "WantForced": (["step_want_forced"], ["want_forced"]),
    "Snapshot": (["step_snapshot"], ["snapshot"]),
    "Fork": (["step_fork"], ["fork"]),
    "Close": (["step_close"], ["close"]),
    "WaitForCompile": (["step_wait_for_compile"], ["open"]),  # wait_s
}
# A field of client/cpp's RowResult and where Python has it.
ROW = {
    "row": "row", "state": "state", "masks": "position_count", "error": "error",
    "refused_token": "refused", "token_count": "token_count", "may_end": "may_end",
    "grammar_id": "grammar_id", "accepted_drafts": "accepted_drafts",
    "forced_bytes": "forced_bytes", "forced_tokens": "forced_tokens",
    "forced_draft": "forced_draft", "answer": "answer",
}
# A field of client/cpp's OpenOptions and Python's name of it.
OPEN = {
    "tokens": "tokens", "stop_ids": "stop_ids", "reasoning": "reasoning",
    "min_tokens": "min_tokens", "remaining_tokens": "remaining_tokens",
    "temperature": "temperature", "biases": "biases", "want_answer": "want_answer",
    "observe": "observe",
}


def header(path, begin, end):
    text = (ROOT / path).read_text()
    return text[text.index(begin):].split(end)[0]


def fields(path, struct):
    body = re.sub(r"//.*", "", header(path, f"struct {struct} {{", "\n};"))
    return set(re.findall(r"(\w+)(?: = [^;]*)?;", re.sub(r"\[\[nodiscard\]\][^}]*}", "", body)))


def test_every_verb_of_a_step_is_in_c_and_in_python():
    said = set(re.findall(r"Step& (\w+)\(", header("client/cpp/steps/step.h", "class Step {", "\n};")))
    assert said == STEP.keys()
    for functions, methods in STEP.values():
        assert all(function in _abi._FUNCTIONS for function in functions)
        assert all(hasattr(maskd.Step, method) for method in methods)


def test_every_field_of_a_rows_answer_is_in_python():
    assert fields("client/cpp/steps/step_result.h", "RowResult") == ROW.keys()
    assert set(ROW.values()) <= set(maskd.RowResult.__dataclass_fields__)


def test_every_option_of_a_row_is_in_python():
    assert fields("client/cpp/steps/step.h", "OpenOptions") == OPEN.keys()
    assert set(OPEN.values()) <= set(maskd.Step.open.__annotations__)


def test_every_function_of_the_library_is_bound():
    headers = [(ROOT / "client/c" / name).read_text() for name in ("maskd_applier.h", "maskd.h")]
    declared = re.findall(r"^MASKD_API .*?maskd_(\w+)\(", "".join(headers), re.MULTILINE)
    assert set(declared) - set(_abi._FUNCTIONS) == {
        "applier_new_on_queue",  # takes a cl_command_queue, of which Python has none
    }
    assert set(_abi._FUNCTIONS) <= set(declared)


@pytest.fixture
def stream(client):
    with client.open_stream(WIDTH) as opened:
        yield opened


def ids(result, row, position=0):
    return result.position(row, position).ids.tolist()


def test_forced_text_is_said_when_asked_for(stream):
    step = maskd.Step().open(1, maskd.Grammar.choice(["abcx", "abcy"]), wait_s=20).want_forced(1)
    (row,) = stream.run(step).rows
    assert row.forced_bytes == b"abc"
    assert bytes(row.forced_draft) == b"abc"
    assert row.forced_tokens == row.forced_draft[:len(row.forced_tokens)]
    (row,) = stream.run(maskd.Step().take(1, b"a")).rows
    assert (row.forced_bytes, row.forced_tokens, row.forced_draft) == (b"", (), ())


def test_a_snapshot_opens_the_row_on_another_stream(client, stream):
    grammar = maskd.Grammar.regex("ab[cd]e")
    stream.run(maskd.Step().open(1, grammar, wait_s=20, min_tokens=2, remaining_tokens=9))
    result = stream.run(maskd.Step().take(1, b"ab").snapshot(1))
    (snapshot,) = result.snapshots
    assert bytes(snapshot["tokens"]) == b"ab"
    assert (snapshot["min_tokens"], snapshot["remaining_tokens"]) == (2, 7)
    with client.open_stream(WIDTH) as other:
        moved = other.run(maskd.Step().open_snapshot(snapshot, wait_s=20))
        assert moved.masks([1]).tolist() == result.masks([1]).tolist()
        assert moved.rows[0].token_count == 2


@pytest.mark.parametrize(("remaining", "at_open"), [(4, True), (4, False), (3, True)])
def test_a_budget_closes_the_text_in_time(stream, remaining, at_open):
    step = maskd.Step().open(1, maskd.Grammar.regex("a*b"), wait_s=20,
                             remaining_tokens=remaining if at_open else None)
    if not at_open:
        step.set_remaining(1, remaining)
    result = stream.run(step)
    taken = b""
    while result.rows[0].state != maskd.RowState.FINISHED:
        assert len(taken) < remaining
        token = ids(result, 1)[0]  # "a" as long as it may be
        result = stream.run(maskd.Step().take(1, [token]))
        taken += b"" if token == END else bytes([token])
    assert taken == b"a" * (remaining - 2) + b"b"


def test_all_positions_as_words(stream):
    step = maskd.Step().open(1, maskd.Grammar.regex("ab"), wait_s=20).draft(1, b"aX")
    out = np.full((3, stream.mask_words), 5, dtype=np.int32)
    stream.run(step).masks([1], out, positions=3)
    bits = np.unpackbits(out.view(np.uint8), bitorder="little").reshape(3, -1)
    assert [np.flatnonzero(row).tolist() for row in bits[:2]] == [[ord("a")], [ord("b")]]
    assert (out[2] == 5).all()


def test_a_positions_form_is_as_it_came(client):
    with client.open_stream(WIDTH, dense_only=True) as dense:
        step = maskd.Step().open(1, maskd.Grammar.choice(["a"]), wait_s=20).draft(1, b"aX")
        result = dense.run(step)
        assert result.position(1).form == maskd.Position.WORDS
        assert result.position(1, 2).invalid
        with pytest.raises(maskd.MaskdError, match="position: 3 is not one of the row's 3"):
            result.position(1, 3)
        with pytest.raises(maskd.MaskdError, match="row 9: has no answer"):
            result.position(9)


def test_options_of_a_stream_are_checked(client):
    with pytest.raises(maskd.MaskdError, match="want_biases: is not one of"):
        client.open_stream(WIDTH, want_biases=True)
    with pytest.raises(maskd.MaskdError) as error:
        client.open_stream(WIDTH, tokenizer_hash="00")
    assert error.value.code == "FAILED_PRECONDITION"


CHAT = maskd.Grammar.chat("qwen_3", {"tools": [{"type": "function", "function": {
    "name": "get_weather", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]})
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Trondheim é"}}\n</tool_call>'
CALLED = [{"id": "call_0", "type": "function",
           "function": {"name": "get_weather", "arguments": '{"city": "Trondheim é"}'}}]


def test_a_check_says_what_the_text_says(client):
    reply = client.check(CHAT, f"Hm.\n{CALL}")
    assert reply["accepted"]
    assert reply["message"] == {
        "reasoning_content": "", "content": "Hm.",
        "tool_calls": [{"id": "call_0", "name": "get_weather",
                        "arguments": '{"city": "Trondheim é"}'}]}
    assert "message" not in client.check(maskd.Grammar.regex("a"), "a")


@pytest.mark.parametrize("memory", [False, True], ids=["grpc", "memory"])
@pytest.mark.parametrize("at_once", [1, 3, 1000])
def test_a_rows_answer_is_told_as_it_becomes_certain(client, memory, at_once):
    text = f"Hm é.\n{CALL}".encode()
    with client.open_stream(WIDTH, shared_memory=memory) as opened:
        answer = maskd.Answer()
        step = maskd.Step().open(1, CHAT, tokens=text[:4], want_answer=True, wait_s=20)
        first = opened.run(step).rows[0].answer
        assert first.cut == (0, 0, 0, 0, 0) and first.content == text[:4]  # half a character
        answer.apply(first)
        assert answer.message() == {"role": "assistant", "content": "Hm \ufffd"}
        for at in range(4, len(text), at_once):
            answer.apply(opened.run(maskd.Step().take(1, text[at:at + at_once])).rows[0].answer)
        whole = {"role": "assistant", "content": "Hm é.", "tool_calls": CALLED}
        assert answer.message() == whole
        assert opened.run(maskd.Step().take(1, [])).rows[0].answer is None
        (end,) = opened.run(maskd.Step().take(1, [END])).rows
        answer.apply(end.answer)
        assert answer.message() == whole


def test_a_rollback_cuts_the_answer(stream):
    answer = maskd.Answer()
    step = maskd.Step().open(1, CHAT, want_answer=True, wait_s=20)
    answer.apply(stream.run(step.take(1, [])).rows[0].answer)
    (row,) = stream.run(maskd.Step().take(1, f"Hm.\n{CALL}".encode())).rows
    answer.apply(row.answer)
    back = len(' é"}}\n</tool_call>'.encode())
    (row,) = stream.run(maskd.Step().rollback(1, back).take(1, b"!")).rows
    assert row.answer.cut == (0, 3, 1, 6, len('{"city": "Trondheim'))
    answer.apply(row.answer)
    assert answer.message()["tool_calls"][0]["function"]["arguments"] == '{"city": "Trondheim!'
    (row,) = stream.run(maskd.Step().rollback(1, row.token_count - 1)).rows
    assert row.answer == (maskd.AnswerSize(0, 1, 0, 0, 0), b"", b"", ())
    answer.apply(row.answer)
    assert answer.message() == {"role": "assistant", "content": "H"}
    result = stream.run(maskd.Step().fork(1, 2).take(1, b"a").take(2, b"b"))
    told = {row.row: row.answer for row in result.rows}
    assert (told[1].cut, told[1].content) == (None, b"a")
    assert (told[2].cut, told[2].content) == ((0, 0, 0, 0, 0), b"Hb")


def test_a_snapshot_has_the_answer_too(client, stream):
    stream.run(maskd.Step().open(1, CHAT, tokens=b"Hm.", want_answer=True, wait_s=20))
    (snapshot,) = stream.run(maskd.Step().take(1, b" So").snapshot(1)).snapshots
    with client.open_stream(WIDTH) as other:
        (row,) = other.run(maskd.Step().open_snapshot(snapshot, wait_s=20)).rows
        assert row.answer.content == b"Hm. So"


def test_a_row_that_is_only_read_takes_any_token(stream):
    answer = maskd.Answer()
    step = maskd.Step().open(1, CHAT, observe=True, wait_s=20)
    (row,) = stream.run(step.take(1, b"Hm.\n<tool_call>\n")).rows
    assert row.state == maskd.RowState.FREE and not row.has_mask
    answer.apply(row.answer)
    assert answer.message()["content"] == "Hm."
    (row,) = stream.run(maskd.Step().take(1, b'{"name": "get_weather", "arguments": {"city": 3}}')).rows
    answer.apply(row.answer)
    assert answer.message()["tool_calls"][0]["function"]["arguments"] == '{"city": 3}'
    (row,) = stream.run(maskd.Step().take(1, b"?").draft(1, [ord("a"), END, -1])).rows
    assert row.accepted_drafts == 2
    answer.apply(row.answer)
    assert answer.message()["content"] == "Hm.}?"  # from where it leaves the family
    (row,) = stream.run(maskd.Step().rollback(1, 1).take(1, [*b"\n</tool_call>", END])).rows
    assert row.state == maskd.RowState.FINISHED
    answer.apply(row.answer)
    assert answer.message()["content"] == "Hm."


def test_an_answer_reader_reads_what_was_written(client):
    opened = maskd.MatcherStream(client, WIDTH)
    reader = maskd.AnswerReader(opened, CHAT)
    assert reader.take(b"Hm.\n<tool").content == b"Hm."
    assert reader.rollback(5) is None  # nothing of it was said
    reader.take(f"\n{CALL}".encode()[1:])
    assert reader.message()["tool_calls"] == CALLED
    reader.take(b"<")
    assert not reader.finished
    assert reader.end().content == b"<"
    assert reader.finished and reader.end() is None
    with pytest.raises(maskd.MaskdError, match="say.* nothing of answers|says nothing of answers"):
        maskd.AnswerReader(opened, maskd.Grammar.regex("a"))
    opened.close()


def test_other_kinds_say_nothing(stream):
    (row,) = stream.run(maskd.Step().open(1, maskd.Grammar.regex("a"), want_answer=True, wait_s=20)).rows
    assert row.state == maskd.RowState.FAILED
    assert (row.error.code, row.error.reason) == ("FAILED_PRECONDITION", "NO_ANSWER")
    (row,) = stream.run(maskd.Step().open(2, CHAT, tokens=b"Hm", wait_s=20)).rows
    assert row.answer is None  # not asked for


of_the_library = pytest.mark.skipif(PLAIN, reason="a stream over several addresses is the library's alone")


def serve(socket, *flags):
    return subprocess.Popen([os.environ["MASKD_SERVER"], f"--listen=unix:{socket}",
                             "--metrics_listen=", *flags], stdin=subprocess.DEVNULL)


@of_the_library
def test_a_stream_over_two_servers_outlives_the_first(tmp_path):
    sockets = [tmp_path / "a", tmp_path / "b"]
    servers = [serve(socket) for socket in sockets]
    try:
        for socket in sockets:
            maskd.Client(f"unix:{socket}", timeout_s=20).close()
        with maskd.FailoverStream([f"unix:{socket}" for socket in sockets], WIDTH,
                                  step_timeout_ms=5000, in_order=True) as stream:
            grammar = maskd.Grammar.regex("ab[cd]e")
            result = stream.run(maskd.Step().open(1, grammar, wait_s=20))
            stream.remember(result.rows[0].grammar_id, grammar)
            stream.run(maskd.Step().take(1, b"a"))
            servers[0].kill()
            servers[0].wait()
            result = stream.run(maskd.Step().take(1, b"b"), timeout_s=30)
            assert stream.moves == 1
            assert ids(result, 1) == list(b"cd")
            assert result.rows[0].token_count == 2
    finally:
        for server in servers:
            server.kill()
            server.wait()


@of_the_library
def test_a_server_with_another_vocabulary_of_the_same_name_is_refused(tmp_path):
    ranks = tmp_path / "other.tiktoken"
    texts = [bytes([byte]) for byte in range(255, -1, -1)]
    ranks.write_bytes(b"".join(base64.b64encode(text) + b" %d\n" % i for i, text in enumerate(texts)))
    sockets = [tmp_path / "a", tmp_path / "b"]
    servers = [serve(sockets[0]), serve(sockets[1], f"--tokenizer=bytes={ranks},special=<end>:256,stop=<end>")]
    try:
        for socket in sockets:
            maskd.Client(f"unix:{socket}", timeout_s=20).close()
        with maskd.FailoverStream([f"unix:{socket}" for socket in sockets], WIDTH, tokenizer="bytes",
                                  step_timeout_ms=5000, give_up_after_ms=300, in_order=True) as stream:
            stream.run(maskd.Step().open(1, maskd.Grammar.regex("ab[cd]e"), wait_s=20))
            first = stream.welcome["tokenizer"]["hash"]
            servers[0].kill()
            servers[0].wait()
            with pytest.raises(maskd.MaskdError, match=f"hash .*{first}") as error:
                stream.run(maskd.Step().take(1, b"a"), timeout_s=30)
            assert error.value.code == "FAILED_PRECONDITION"
    finally:
        for server in servers:
            server.kill()
            server.wait()


@of_the_library
def test_only_streams_that_move_remember(stream):
    assert maskd.FailoverStream.moves.fget(stream) == 0
    with pytest.raises(maskd.MaskdError, match="stream: is of one server"):
        maskd.FailoverStream.remember(stream, "x", maskd.Grammar.choice(["a"]))
