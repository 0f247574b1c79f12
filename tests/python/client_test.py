"""The client from Python against a real server: calls, the decode stream, asyncio."""

import asyncio
import os
import pickle
import socket
import subprocess
import threading
import time

import numpy as np
import pytest

import maskd
from maskd._api import PLAIN
from maskd._base import Ids

WIDTH = 320
END = 256


@pytest.fixture(params=[False, True], ids=["grpc", "memory"])
def stream(client, request):
    with client.open_stream(WIDTH, shared_memory=request.param) as opened:
        expected = "shared_memory" if request.param and not PLAIN else "grpc"
        assert opened.transport == ("local" if os.environ.get("MASKD_TEST_ADDRESS") else expected)
        yield opened


def finite(row):
    return np.flatnonzero(np.isfinite(row)).tolist()


def test_compile_says_what_it_made(client):
    first = client.compile(maskd.Grammar.regex("[ab]c compile"))
    again = client.compile(maskd.Grammar.regex("[ab]c compile"))
    assert len(first.id) == 64
    assert (first.from_cache, again.from_cache) == (False, True)
    assert first.id == again.id


def test_options_are_part_of_a_grammar(client):
    schema = {"type": "array", "items": {"const": 1}}
    flexible = client.compile(maskd.Grammar.json_schema(schema))
    compact = client.compile(maskd.Grammar.json_schema(schema, white_space="WHITE_SPACE_COMPACT"))
    assert flexible.id != compact.id
    assert client.check(maskd.Grammar.json_schema(schema), "[1, 1]")["accepted"]
    strict = maskd.Grammar.json_schema(schema, white_space="WHITE_SPACE_COMPACT")
    assert not client.check(strict, b"[1, 1]")["accepted"]


@pytest.mark.parametrize(("grammar", "code", "place"), [
    (maskd.Grammar.json_schema({"type": 3}), "INVALID_ARGUMENT", "/type"),
    (maskd.Grammar.regex("(a"), "INVALID_ARGUMENT", None),
    (maskd.Grammar("guidance", "x"), "INVALID_ARGUMENT", None),
])
def test_errors_have_code_and_place(client, grammar, code, place):
    with pytest.raises(maskd.MaskdError) as error:
        client.compile(grammar)
    assert error.value.code == code
    assert place is None or error.value.place == place
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


def test_nobody_there():
    with pytest.raises(maskd.MaskdError) as error:
        maskd.Client("unix:/nowhere/maskd.sock", timeout_s=0.2)
    assert error.value.code == "UNAVAILABLE"


def test_where_nobody_listens_that_is_said_at_once(tmp_path):
    """Without "within": the system's word ends the wait, not the time."""
    abandoned = f"unix:{tmp_path}/maskd.sock"
    with socket.socket(socket.AF_UNIX) as gone, socket.socket() as bound:
        gone.bind(f"{tmp_path}/maskd.sock")
        bound.bind(("127.0.0.1", 0))  # and nobody listens
        refusing = f"127.0.0.1:{bound.getsockname()[1]}"
        for address, reason in [(refusing, "Connection refused"), (abandoned, "Connection refused"),
                                ("unix:/nowhere/maskd.sock", "No such file or directory")]:
            with pytest.raises(maskd.MaskdError) as error:
                maskd.Client(address)
            assert error.value.code == "UNAVAILABLE"
            assert str(error.value).startswith(f"UNAVAILABLE: no server at {address}: ")
            assert reason in str(error.value)


@pytest.mark.skipif(PLAIN, reason="several addresses need the library")
def test_one_of_several_servers_is_enough(client, address):
    """In a process where nothing else drives gRPC."""
    for addresses in ([address, "unix:/nowhere/s"], ["unix:/nowhere/s", address], ["127.0.0.1:1", address]):
        with maskd.Client(addresses) as of_several:
            assert of_several.tokenizers() == client.tokenizers()


@pytest.mark.parametrize("shared_memory", [False, True])
def test_an_error_of_a_connection_says_which(tmp_path, shared_memory):
    address = f"unix:{tmp_path}/s"
    command = [os.environ["MASKD_SERVER"], "--metrics_listen=", f"--listen={address}"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as server:
        client = maskd.Client(address, timeout_s=60)
        stream = client.open_stream(WIDTH, shared_memory=shared_memory)
        server.kill()
    with pytest.raises(maskd.MaskdError) as error:
        stream.run(maskd.Step().open(7, maskd.Grammar.regex("a")))
    assert error.value.code == "UNAVAILABLE"
    assert address in str(error.value)


def test_a_server_that_is_yet_to_come_is_waited_for(tmp_path):
    command = 'sleep 0.2; exec "$MASKD_SERVER" --metrics_listen= --listen="$0"'
    address = f"unix:{tmp_path}/s"
    with subprocess.Popen(["sh", "-c", command, address], stdin=subprocess.DEVNULL) as server:
        try:
            with maskd.Client(address, timeout_s=60) as client:
                assert client.tokenizers()
        finally:
            server.terminate()


@pytest.mark.parametrize("address, right", [
    ("/run/maskd.sock", "unix:/run/maskd.sock"), ("http://maskd:7411/", "maskd:7411")])
def test_a_misspelt_address_is_refused_at_once(address, right):
    with pytest.raises(maskd.MaskdError) as error:
        maskd.Client(address, timeout_s=3600)
    assert error.value.code == "INVALID_ARGUMENT"
    assert f'"{right}"' in str(error.value)


def test_tokenizers(client):
    (tokenizer,) = client.tokenizers()
    assert tokenizer["name"] == "bytes"
    assert tokenizer["stop_ids"] == [END]


def test_the_loop_of_an_engine(stream):
    assert stream.vocab_size == 257
    assert stream.stop_ids == [END]
    applier = maskd.Applier()
    logits = np.zeros((2, WIDTH), dtype=np.float32)
    step = maskd.Step().open(7, maskd.Grammar.regex("[ab]c"), wait_s=20)
    text = b""
    while True:
        number = stream.submit(step)
        assert stream.in_flight == 1
        logits[:] = 0
        result = stream.collect()
        assert result.step == number
        result.apply(applier, logits, {7: 1})
        assert finite(logits[0]) == list(range(WIDTH))
        token = int(logits[1].argmax())
        if token == END:
            break
        text += bytes([token])
        step.clear().take(7, [token])
    assert text == b"ac"


def test_rows_have_their_own_answers(stream):
    step = maskd.Step()
    step.open(1, maskd.Grammar.regex("a*"), wait_s=20).open(2, maskd.Grammar.choice(["x", "y"]))
    step.open(3, maskd.Grammar("gbnf", "root ::= nowhere"))
    rows = {row.row: row for row in stream.run(step).rows}
    assert rows[1].state == maskd.RowState.ACTIVE and rows[1].may_end and rows[1].has_mask
    assert rows[1].refused is None and rows[2].error is None and not rows[2].may_end and len(rows[2].grammar_id) == 64
    assert rows[3].state == maskd.RowState.FAILED and rows[3].error.code == "INVALID_ARGUMENT"


def test_a_refused_token_leaves_its_row_where_it_was(stream):
    stream.run(maskd.Step().open(1, maskd.Grammar.regex("abc"), wait_s=20))
    (row,) = stream.run(maskd.Step().take(1, [ord("a"), ord("x")])).rows
    assert row.refused == maskd.RefusedToken(1, ord("x"))
    assert row.token_count == 1 and row.state == maskd.RowState.ACTIVE


@pytest.mark.skipif("MASKD_TEST_ADDRESS" in os.environ, reason="local: has no connection to ping")
def test_a_stream_outlives_an_engine_that_says_nothing_for_long(client):
    """The server pings after 10 s and waits 5 s for the answer, which nobody gives who waits for nothing."""
    with client.open_stream(WIDTH) as stream:
        stream.run(maskd.Step().open(1, maskd.Grammar.regex("abc"), wait_s=20))
        time.sleep(25)
        (row,) = stream.run(maskd.Step().take(1, [ord("a")])).rows
        assert row.error is None


def test_rollback_and_fork(stream):
    stream.run(maskd.Step().open(1, maskd.Grammar.regex("ab[cd]"), [ord("a")], wait_s=20))
    result = stream.run(maskd.Step().fork(1, 2).take(1, [ord("b")]).take(2, []))
    masks = result.masks([1, 2])
    assert allowed(masks[0]) == [ord("c"), ord("d")]
    assert allowed(masks[1]) == [ord("b")]
    result = stream.run(maskd.Step().rollback(1, 1).take(1, []))
    assert allowed(result.masks([1])[0]) == [ord("b")]


def test_a6_draft_positions_mask_their_own_logits_rows(client, stream):
    step = maskd.Step().open(5, client.compile(maskd.Grammar.regex("ab[cd]e"))).draft(5, b"abX")
    result = stream.run(step)
    (row,) = result.rows
    assert (row.position_count, row.accepted_drafts, row.token_count) == (4, 2, 0)
    logits = np.zeros((4, WIDTH), dtype=np.float32)
    applier = maskd.Applier()
    result.apply(applier, logits, [(5, position, 3 - position) for position in range(3)])
    assert [finite(logits[i]) for i in (3, 2, 1)] == [[ord("a")], [ord("b")], [ord("c"), ord("d")]]
    assert len(finite(logits[0])) == WIDTH
    with pytest.raises(maskd.MaskdError, match="position 3 comes after a draft that was refused"):
        result.apply(applier, logits, [(5, 3, 0)])


def test_a_batch_of_sampled_tokens_in_one_call(client, stream):
    grammar = client.compile(maskd.Grammar.regex("[ab][cd]"))
    step = maskd.Step()
    for row in range(3):
        step.open(row, grammar)
    stream.run(step)
    sampled = np.array([ord("a"), ord("x"), ord("b")])
    rows = stream.run(step.clear().take_each([0, 1, 2], sampled)).rows
    assert [row.token_count for row in rows] == [1, 0, 1]
    assert [row.refused is None for row in rows] == [True, False, True]
    with pytest.raises(maskd.MaskdError, match="tokens: are 1, there are 2 rows"):
        step.take_each([0, 1], [5])


def test_a_batch_of_sampled_tokens_is_a_step_of_its_own(client, stream):
    step = maskd.Step()
    for row in range(3):
        step.open(row, maskd.Grammar.regex("[ab][cd]{2}"), wait_s=20)
    stream.run(step)
    number = stream.submit_each([0, 2], [ord("a"), ord("b")])
    stream.submit_each(np.array([2, 0]), np.array([ord("c"), ord("x")]))
    result = stream.collect()
    assert result.step == number
    assert [(row.row, row.token_count) for row in result.rows] == [(0, 1), (2, 1)]
    by_row = {row.row: row for row in stream.collect().rows}
    assert by_row[2].token_count == 2 and by_row[2].refused is None
    assert by_row[0].token_count == 1 and by_row[0].refused.id == ord("x")
    with pytest.raises(maskd.MaskdError, match="tokens: are 1, there are 2 rows"):
        stream.submit_each([0, 1], [5])
    assert stream.in_flight == 0


def packed(kind, values):
    """An array of that type whose elements do not lie side by side."""
    return np.repeat(np.array(values, kind), 2)[::2]


@pytest.mark.parametrize("array", [
    list, tuple, np.array, lambda values: np.array(values, np.int64),
    lambda values: np.array(values, ">i4"), lambda values: packed(np.int32, values),
    lambda values: np.array(values, np.int32).reshape(-1, 1)])
@pytest.mark.parametrize("rows", [np.uint64, np.int64])
def test_a_batch_of_any_type_and_size_says_the_same(client, stream, array, rows):
    step = maskd.Step()
    for row in range(4):
        step.open(row, maskd.Grammar.regex("[ab]*"), wait_s=20)
    stream.run(step)
    for count in (4, 1, 3):
        stream.submit_each(packed(rows, range(count)), array([ord("ab"[row % 2]) for row in range(count)]))
        assert [row.row for row in stream.collect(timeout_s=20).rows] == list(range(count))
        with pytest.raises(maskd.MaskdError, match=f"tokens: are {count}, there are {count + 1} rows"):
            stream.submit_each(packed(rows, range(count + 1)), array([ord("a")] * count))
    taken = stream.run(step.clear().take_each(range(4), [ord("a")] * 4)).rows
    assert [row.token_count for row in taken] == [4, 3, 3, 2]


def test_tokens_and_drafts_of_a_batch_in_one_call(client, stream):
    grammar = client.compile(maskd.Grammar.regex("[ab][cd]{2}e"))
    step = maskd.Step()
    for row in range(3):
        step.open(row, grammar)
    stream.run(step)
    rows = stream.run(step.clear().draft_each([2, 0, 1], [b"ac", [], b"bdc"], [b"de", [], b"x"])).rows
    assert [(row.row, row.token_count, row.accepted_drafts) for row in rows] == [
        (2, 2, 2), (0, 0, None), (1, 3, 0)]
    for tokens, drafts in (([[], []], [[]]), ([[]], [[]])):
        with pytest.raises(maskd.MaskdError, match=r"tokens and drafts: are \d and 1, there are 2 rows"):
            step.draft_each([0, 1], tokens, drafts)


def test_a_tree_of_drafts(client, stream):
    step = maskd.Step().open(5, client.compile(maskd.Grammar.regex("a(bc|de)")))
    result = stream.run(step.draft(5, b"abd", [-1, 0, 0]))
    logits = np.zeros((4, WIDTH), dtype=np.float32)
    result.apply(maskd.Applier(), logits, [(5, position, position) for position in range(4)])
    assert [bytes(finite(row)) for row in logits] == [b"a", b"bd", b"c", b"e"]
    with pytest.raises(maskd.MaskdError, match="parents: are 1, there are 2 drafts"):
        step.draft(5, b"ab", [0])


def test_a_row_that_has_few_tokens_left_is_led_to_its_end(client, stream):
    grammar = client.compile(maskd.Grammar.regex("(ab)*c?"))
    result = stream.run(maskd.Step().open(1, grammar, remaining_tokens=3).open(2, grammar))
    assert [allowed(mask) for mask in result.masks([1, 2])] == [list(b"ac") + [END]] * 2
    step = maskd.Step().take(1, b"ab").take(2, b"ab").set_remaining(2, 2)
    masks = stream.run(step).masks([1, 2])
    assert allowed(masks[0]) == [END] and allowed(masks[1]) == [ord("c"), END]


def test_reasoning_is_free_text_before_the_grammar(stream):
    step = maskd.Step().open(5, maskd.Grammar.choice(["x"]), wait_s=20,
                             reasoning={"end_tokens": list(b"|")})
    (row,) = stream.run(step).rows
    assert row.state == maskd.RowState.FREE and not row.has_mask
    result = stream.run(maskd.Step().take(5, b"hm|"))
    assert allowed(result.masks([5])[0]) == [ord("x")]


def allowed(words):
    bits = np.unpackbits(words.view(np.uint8), bitorder="little")
    return np.flatnonzero(bits).tolist()


def test_a_bitmask_that_stays_from_step_to_step(client, stream):
    step = maskd.Step()
    for row, pattern in enumerate(["[a-e]*z", "a[b-d]{3}", ".*"]):
        step.open(row, maskd.Grammar.regex(pattern), wait_s=20)
    kept = np.full((4, stream.mask_words + 1), 7, dtype=np.int32)
    plane = maskd.MaskPlane(kept)
    order = [2, 0, 1]
    for number in range(6):
        if number == 3:
            kept[:3] = number
            plane.forget()
        result = stream.run(step)
        plane.write(result, order)
        assert np.array_equal(kept[:3, :-1], result.masks(order)), number
        assert not kept[:3, -1].any() and (kept[3] == 7).all()
        step.clear().take_each([0, 1, 2], list(b"abcdbbza"[number:number + 3]))
    step.clear().take(0, []).draft(0, b"ab")
    result = stream.run(step)
    plane.write(result, [0], positions=3)
    assert np.array_equal(kept[:3, :-1], result.masks([0], positions=3))
    for wrong, message in [(kept[:, :-1], "side by side"), (kept.astype(np.int64), "are int64"),
                           (kept[:, ::2], "side by side")]:
        with pytest.raises(maskd.MaskdError, match=message):
            maskd.MaskPlane(wrong)
    with pytest.raises(maskd.MaskdError, match="row 9: .*no answer"):
        plane.write(result, [9])


def test_masks_into_the_engines_own_array(stream):
    result = stream.run(maskd.Step().open(1, maskd.Grammar.choice(["q"]), wait_s=20))
    out = np.full((3, 12), 5, dtype=np.int32)
    result.masks([1], out)
    assert allowed(out[0]) == [ord("q")]
    assert (out[1:] == 5).all()
    with pytest.raises(maskd.MaskdError, match="out: is not a writable int32 array of 1 rows"):
        result.masks([1], np.zeros((1, 12), dtype=np.int64))
    with pytest.raises(maskd.MaskdError, match=f"of {stream.mask_words} words or more"):
        result.masks([1], np.zeros((1, stream.mask_words - 1), dtype=np.int32))
    with pytest.raises(maskd.MaskdError) as error:
        result.masks([9])
    assert error.value.code == "NOT_FOUND"


def test_a_closed_stream_says_so(client):
    stream = client.open_stream(WIDTH)
    stream.close()
    stream.close()
    calls = [lambda: stream.submit(maskd.Step()), lambda: stream.submit_each([1], [2])]
    if not PLAIN:
        one = Ids(b"\0" * 8, 1)
        calls += [stream.collect, lambda: stream.submit_packed(one, one)]
    for call in calls:
        with pytest.raises(maskd.MaskdError, match="Stream: is closed") as error:
            call()
        assert error.value.code == "FAILED_PRECONDITION"


def test_a_closed_client_says_so(address):
    client = maskd.Client(address)
    client.close()
    for call in (client.tokenizers, lambda: client.compile(maskd.Grammar.regex("a")),
                 lambda: client.open_stream(300)):
        with pytest.raises(maskd.MaskdError, match="Client: is closed") as error:
            call()
        assert error.value.code == "FAILED_PRECONDITION"


def test_a_width_below_the_vocabulary_is_refused_before_any_step(client):
    with pytest.raises(maskd.MaskdError) as error:
        client.open_stream(100)
    assert error.value.code == "INVALID_ARGUMENT"


def test_asyncio_goes_on_while_a_step_is_awaited(client):
    async def run():
        compiled = await client.compile_async(maskd.Grammar.regex("[ab]"))
        streams = [client.open_stream(WIDTH) for _ in range(3)]
        results = await asyncio.gather(
            *(stream.run_async(maskd.Step().open(1, compiled)) for stream in streams))
        masks = [allowed(result.masks([1])[0]) for result in results]
        for stream in streams:
            stream.close()
        return masks

    assert asyncio.run(run()) == [[ord("a"), ord("b")]] * 3


def test_threads_share_a_client(client):
    failures = []

    def work(number):
        try:
            with client.open_stream(WIDTH) as stream:
                for i in range(20):
                    grammar = maskd.Grammar.choice([f"{number % 10}{i}"])
                    result = stream.run(maskd.Step().open(i, grammar, wait_s=20))
                    assert allowed(result.masks([i])[0]) == [ord(str(number % 10))]
        except Exception as error:  # noqa: BLE001  # shown by the assertion below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
