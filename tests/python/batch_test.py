"""One engine's rows: a step is one message, waits are bounded, and what is lost is lost for constrained
rows alone."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time
import weakref

import numpy as np
import pytest
from conftest import hang

import maskd
from maskd import batch as batch_module
from maskd._api import PLAIN
from maskd._endpoints import Endpoints, Settings
from maskd._vocabulary import _BYTES, check_vocabulary
from maskd.batch import BatchRows

END = 256
WIDTH = 320
ENDS_AS = "<|end|>"  # the end of the embedded vocabulary
VOCABULARIES = pathlib.Path(__file__).parents[2] / "build/vocab"


@contextlib.contextmanager
def serving(folder, name, *flags):
    socket = pathlib.Path(folder) / name
    with subprocess.Popen([os.environ["MASKD_SERVER"], f"--listen=unix:{socket}",
                           "--metrics_listen=", *flags], stdin=subprocess.DEVNULL) as server:
        try:
            with maskd.Client(f"unix:{socket}", timeout_s=20):
                pass
            yield server, f"unix:{socket}"
        finally:
            server.send_signal(signal.SIGCONT)
            server.kill()


class InOrder(maskd.FailoverStream):
    """That begins at the first address."""

    def __init__(self, *given, **options):
        super().__init__(*given, **options, in_order=True)


class Waits:
    """How often a stream is waited for."""

    def __init__(self, rows):
        self.count = 0
        stream = rows._link.stream  # noqa: SLF001
        for name in ("collect",) if PLAIN else ("collect", "collect_masks"):
            setattr(stream, name, self._counting(getattr(stream, name)))

    def _counting(self, collect):
        def counted(*arguments):
            self.count += 1
            return collect(*arguments)

        return counted


def settings(address, **more):
    return Settings(tuple(address.split(",")), **{"step_s": 5.0, **more})


@pytest.fixture
def rows(address, client):
    made = BatchRows(settings(address), WIDTH)  # `client` has waited until there is a server
    yield made
    made.close()


def opened(rows, pattern, **options):
    grammar = maskd.Grammar.regex(pattern)
    return rows.open(grammar, rows.endpoints.compile(grammar), **options)


def allowed(words):
    bits = np.unpackbits(np.asarray(words).view(np.uint8), bitorder="little")
    return bytes(np.flatnonzero(bits[:END]).tolist())


def step(rows, drafts=()):
    rows.send(drafts)
    rows.receive()


def table_of(rows, batch):
    return rows.table_of([0 if row is None else row.id for row in batch])


def test_a_batch_is_one_message_a_step(rows):
    batch = [opened(rows, "a[bc]d") for _ in range(5)]
    assert rows.messages == 0  # open() says nothing yet
    step(rows)
    assert [allowed(row.masks[0]) for row in batch] == [b"a"] * 5
    for text in (b"a", b"c", b"d"):
        assert all(row.accept(list(text)) for row in batch)
        step(rows)
    assert rows.messages == 4
    assert all(row.accept([END]) and row.finished for row in batch)


def test_a_token_that_the_mask_lacks_is_refused_without_a_trip(rows):
    row = opened(rows, "ab")
    step(rows)
    assert not row.accept([ord("b")]) and not row.accept([-1]) and not row.accept([10**6])
    assert row.accept([ord("a")]) and rows.messages == 1
    step(rows)
    assert allowed(row.masks[0]) == b"b"


def test_drafts_travel_with_the_tokens(rows):
    row, other = opened(rows, "ab[cd]e"), opened(rows, "xyz")
    step(rows)
    row.accept(list(b"a"))
    other.accept(list(b"x"))
    step(rows, [(row, list(b"bcx"))])
    assert rows.messages == 2
    assert row.known == 3 and [allowed(mask) for mask in row.masks[:3]] == [b"b", b"cd", b"e"]
    assert other.known == 1 and allowed(other.masks[0]) == b"y"
    assert row.accept(list(b"bc")) and not row.accept([ord("x")]) and row.accept([ord("e")])
    step(rows)
    assert row.accept([END]) and row.finished


def test_a_whole_answer_is_one_table_in_the_engines_order(rows):
    batch = [opened(rows, pattern) for pattern in ("ab", "xy", "mn")]
    step(rows)
    assert [allowed(words) for words in table_of(rows, batch)] == [b"a", b"x", b"m"]
    assert table_of(rows, batch[::-1]) is None and table_of(rows, [*batch[:2], None]) is None
    assert batch[0].accept(list(b"a")) and table_of(rows, batch) is None  # a token that was not sent
    step(rows)
    assert table_of(rows, batch) is None and table_of(rows, batch[:1]) is not None
    for row in batch:
        row.ask()
    step(rows)
    assert [allowed(words) for words in table_of(rows, batch)] == [b"b", b"x", b"m"]


CHAINS = [(b"bcx", 3), (b"", 1), (b"yz", 3), (b"q", 1)]  # drafts, and how many masks a row then has


def drafted(rows):
    """Rows that have taken a token and are asked about the drafts of CHAINS."""
    batch = [opened(rows, pattern) for pattern in ("ab[cd]e", "mno", "xyz", "kl")]
    step(rows)
    assert all(row.accept_one(token) for row, token in zip(batch, b"amxk", strict=True))
    step(rows, [(row, list(drafts)) for row, (drafts, _) in zip(batch, CHAINS, strict=True) if drafts])
    assert [row.known for row in batch] == [known for _, known in CHAINS]
    return batch


def chains_of(rows, batch, drafts):
    return rows.table_of([row.id for row in batch], [list(each) for each in drafts])


def test_a_table_with_drafts_has_as_many_masks_of_a_row_as_there_are(rows):
    batch = drafted(rows)
    drafts = [each[:known - 1] for each, known in CHAINS]
    table = chains_of(rows, batch, drafts)
    assert [allowed(words) for words in table] == [b"b", b"cd", b"e", b"n", b"y", b"z", b"", b"l"]
    for other in ([b"b", *drafts[1:]], [b"bd", *drafts[1:]], [drafts[0], b"n", *drafts[2:]], drafts[::-1]):
        assert chains_of(rows, batch, other) is None
    assert chains_of(rows, batch[::-1], drafts[::-1]) is None and table_of(rows, batch) is None
    assert batch[1].accept([ord("n")]) and chains_of(rows, batch, drafts) is None


def test_a_table_of_blocks_is_all_ones_where_a_row_has_no_mask(rows, address):
    rows = BatchRows(settings(address), WIDTH, block=4)
    batch = drafted(rows)
    table = chains_of(rows, batch, [each[:known - 1] for each, known in CHAINS])
    for words, row, (_, known) in zip(table.reshape(4, 4, -1), batch, CHAINS, strict=True):
        assert (words[:known] == row.masks).all() and (words[known:] == -1).all() and (words[0] != -1).any()
    step(rows)
    for row in batch:
        row.ask()
    step(rows)
    assert table_of(rows, batch) is None  # it has one mask a row, where the engine has a block
    rows.close()


def test_a_row_that_fails_under_its_drafts_fails_alone(rows):
    batch = drafted(rows)
    batch[0].rollback(10)  # which the server refuses
    assert batch[2].accept(list(b"y")) and batch[1].accept(list(b"no"))
    step(rows, [(row, [ord("z")]) for row in batch[:3]])
    assert [row.failed is None for row in batch] == [False, True, True, True]
    assert [allowed(mask) for mask in batch[2].masks] == [b"z", b""] and batch[1].known == 1
    assert batch[2].accept(list(b"z"))


def test_rows_that_open_are_the_last_of_the_answer_as_of_the_batch(rows):
    batch = [opened(rows, "a*") for _ in range(3)]
    step(rows)
    for text in (b"b", b"c"):
        assert all(row.accept_one(ord("a")) for row in batch[:3])
        for row in batch[3:]:
            row.ask()
        batch.append(opened(rows, text.decode()))
        step(rows)
        assert [allowed(words) for words in table_of(rows, batch)][-1] == text


def usual(rows, batch, token):
    """Each takes the token, and the step is one message: whether it was of the last one's rows again."""
    assert all(row.accept_one(token) for row in batch)
    before = rows._link.last  # noqa: SLF001
    step(rows)
    return rows._link.last is before  # noqa: SLF001


def test_the_usual_step_is_the_last_ones_rows_again(rows):
    batch = [opened(rows, "[ab]{9}") for _ in range(3)]
    step(rows)
    assert usual(rows, batch, ord("a")) and usual(rows, batch, ord("b"))
    assert not usual(rows, batch[::-1], ord("a"))  # another order
    assert usual(rows, batch[::-1], ord("b"))
    assert not usual(rows, batch[:2], ord("a"))  # one takes none
    assert usual(rows, batch[:2], ord("a"))
    assert not usual(rows, batch, ord("b"))  # and is back
    for row, left in zip(batch, (2, 2, 4), strict=True):
        for _ in range(left):
            assert allowed(row.masks[0]) == b"ab"
            assert row.accept_one(ord("a"))
            step(rows)
    assert [allowed(row.masks[0]) for row in batch] == [b""] * 3


def test_a_row_that_takes_more_than_one_token_takes_them_in_order(rows):
    batch = [opened(rows, "abc"), opened(rows, "abc")]
    step(rows)
    assert all(row.accept_one(ord("a")) for row in batch)
    assert not any(row.is_current for row in batch) and all(row.allows(ord("z")) for row in batch)
    assert batch[0].accept([ord("b")])  # behind the one that is noted: the server judges it
    batch[1].rollback(1)
    step(rows)
    assert [allowed(row.masks[0]) for row in batch] == [b"c", b"a"]
    assert batch[0].accept_one(ord("c")) and batch[1].accept_one(ord("a"))
    batch[1].remaining = 9
    step(rows)
    assert [allowed(row.masks[0]) for row in batch] == [b"", b"b"]


def test_what_ends_and_what_begins_do_not_change_the_others(rows):
    batch = [opened(rows, "[ab]*") for _ in range(4)]
    step(rows)
    assert all(row.accept_one(token) for row, token in zip(batch, (END, *b"aaa"), strict=True))
    batch[0].leave()
    gone = batch[3].id
    batch = [*batch[1:3], opened(rows, "xy")]  # the fourth is dropped with its token
    messages = rows.messages
    step(rows)
    assert rows.messages == messages + 1 and gone not in rows._link.opened  # noqa: SLF001
    assert [allowed(words) for words in table_of(rows, batch)] == [b"ab", b"ab", b"x"]
    assert all(row.accept_one(token) for row, token in zip(batch, b"abx", strict=True))
    step(rows)
    assert [allowed(words) for words in table_of(rows, batch)] == [b"ab", b"ab", b"y"]


def test_a_token_noted_before_an_older_answer_comes_is_not_lost(rows):
    first, other = opened(rows, "abc"), opened(rows, "xyz")
    step(rows)
    assert first.accept_one(ord("a"))
    rows.send()
    assert other.accept_one(ord("x"))
    rows.send()
    rows.receive()  # two answers; `first` has the older one
    assert first.accept_one(ord("b")) and other.accept_one(ord("y"))
    step(rows)
    assert [allowed(row.masks[0]) for row in (first, other)] == [b"c", b"z"]


def test_drafts_are_tested_as_far_as_they_are_followed(rows):
    row = opened(rows, "a[bc]de*")
    step(rows)
    row.accept(list(b"a"))
    step(rows, [(row, list(b"bde"))])
    assert row.known == 4 and row.drafts == tuple(b"bde")
    assert row.accept(list(b"bd")) and not row.accept([ord("z")])
    row.rollback(1)
    assert not row.accept([ord("e")]) and row.accept([ord("d")]) and row.accept([ord("e")])
    row.rollback(3)
    assert row.accept([ord("c")]) and row.accept([ord("z")])  # another way than the drafts': the server judges
    step(rows)
    assert row.failed is not None and not row.accept([ord("d")])


def test_masks_that_somebody_holds_stay_as_they_are(rows):
    row = opened(rows, "[ab]*c")
    step(rows)
    held = [row.masks]
    seen = [row.masks.copy()]
    late = opened(rows, "xy")
    step(rows)  # `row` was not in it: its masks lie where they lay
    for token in b"abababac":
        assert row.accept_one(token)
        step(rows)
        held.append(table_of(rows, [row]))
        seen.append(held[-1].copy())
    assert all((mine == then).all() for mine, then in zip(held, seen, strict=True))
    assert not late.accept_one(ord("y")) and late.accept_one(ord("x"))
    assert len({each.ctypes.data for each in held}) == len(held)


def test_rows_are_let_go_of_when_the_engine_lets_go_of_them(rows):
    row = opened(rows, "ab")
    step(rows)
    gone = weakref.ref(row)
    del row
    assert gone() is None  # an answer holds none, in no circle that waits for a collection


def test_rollback_takes_back_what_was_sent_and_what_was_not(rows):
    row = opened(rows, "abc")
    step(rows)
    row.accept([ord("a")])
    step(rows)
    row.accept([ord("b")])
    row.rollback(2)
    step(rows)
    assert allowed(row.masks[0]) == b"a"
    row.accept(list(b"a"))
    step(rows)
    row.accept(list(b"b"))
    step(rows)
    row.accept(list(b"c"))
    step(rows)
    row.accept([END])
    row.rollback(1)
    assert not row.finished and row.is_current


def test_a_row_ends_within_its_tokens(rows):
    row = opened(rows, '"[ab]*"', remaining_tokens=4)
    step(rows)
    for token in b'"aa"':
        assert row.accept([token]) is (token != ord("a") or row.known == 1)
        step(rows)
        if allowed(row.masks[0]) == b'"':
            break
    assert allowed(row.masks[0]) == b'"'


def test_stop_ids_of_a_request_end_its_text(rows):
    row = opened(rows, "[a-z]+", stop_ids=[ord("!"), END, 10**6])
    assert row.stop_ids == {ord("!"), END}
    step(rows)
    assert row.accept([ord("q")])
    step(rows)
    assert b"!" in allowed(row.masks[0]) and row.accept([ord("!")]) and row.finished


def test_a_failing_row_fails_alone(rows):
    good = opened(rows, "a")
    bad = rows.open(maskd.Grammar("regex", "("), maskd.Compiled("no such id", False, []))
    step(rows)
    assert allowed(good.masks[0]) == b"a" and good.failed is None
    assert bad.failed is not None and not bad.accept([1])


def test_a_grammar_that_the_server_has_forgotten_is_sent_as_text(rows):
    row = rows.open(maskd.Grammar.regex("xy"), maskd.Compiled("ff" * 32, False, []))
    step(rows)
    assert row.failed is None and allowed(row.masks[0]) == b"x"


def test_rows_that_are_dropped_are_closed(rows):
    for _ in range(3):
        opened(rows, "a")
        step(rows)
    del _
    step(rows)
    assert not rows._link.opened or len(rows._link.opened) <= 1  # noqa: SLF001


def test_a_killed_server_fails_its_rows_and_the_next_one_serves_anew(tmp_path):
    with serving(tmp_path, "s") as (server, address):
        rows = BatchRows(settings(address), WIDTH)
        row = opened(rows, "ab")
        step(rows)
        server.kill()
        server.wait()
        row.accept([ord("a")])
        step(rows)
        assert row.failed is not None and not row.accept([ord("b")])
        with pytest.raises(maskd.MaskdError):
            opened(rows, "ab")
    with serving(tmp_path, "s"):
        rows.connect(wait_s=20)
        again = opened(rows, "ab")
        step(rows)
        assert allowed(again.masks[0]) == b"a"
        rows.close()


@pytest.mark.parametrize("shared_memory", [True, False])
def test_a_hung_server_is_waited_for_in_one_step_alone(tmp_path, shared_memory):
    with serving(tmp_path, "s") as (server, address):
        rows = BatchRows(settings(address, shared_memory=shared_memory), WIDTH)
        batch = [opened(rows, "ab") for _ in range(8)]
        step(rows)
        assert [row.failed for row in batch] == [None] * 8
        rows.settings = settings(address, step_s=0.1)
        waits = Waits(rows)
        hang(server)
        assert all(row.accept([ord("a")]) for row in batch)
        begin = time.monotonic()
        step(rows)
        taken = time.monotonic() - begin
        assert {row.failed.code for row in batch} == {"DEADLINE_EXCEEDED"}
        assert waits.count == rows.late == 1
        assert taken < 5, taken  # 0.1 s on a machine that has time
        assert not any(row.accept([ord("b")]) for row in batch)
        messages = rows.messages
        for _ in range(3):
            step(rows, [(row, [ord("b")]) for row in batch])
        assert waits.count == 1 and rows.messages == messages


def test_while_a_server_hangs_no_step_waits_for_a_new_row(tmp_path):
    with serving(tmp_path, "s") as (server, address):
        rows = BatchRows(settings(address, step_s=0.1), WIDTH)
        row = opened(rows, "ab")
        step(rows)
        hang(server)
        row.accept([ord("a")])
        step(rows)
        assert row.failed is not None
        rows.settings = settings(address, step_s=60.0)  # what a step that waited would take
        begin = time.monotonic()
        for _ in range(5):
            with pytest.raises(maskd.MaskdError, match="no server at unix:.* yet"):
                rows.open_now(row.grammar, row.compiled)
        assert time.monotonic() - begin < 30
        server.send_signal(signal.SIGCONT)
        again = None
        while again is None and time.monotonic() - begin < 60:
            with contextlib.suppress(maskd.MaskdError):
                again = rows.open_now(row.grammar, row.compiled)
            time.sleep(0.05)
        step(rows)
        assert allowed(again.masks[0]) == b"a"
        rows.close()


def test_a_server_that_is_gone_is_found_again_in_the_step_of_a_new_row(tmp_path):
    with serving(tmp_path, "s") as (server, address):
        rows = BatchRows(settings(address), WIDTH)
        row = opened(rows, "ab")
        step(rows)
        server.kill()
        server.wait()
        row.accept([ord("a")])
        step(rows)
        with pytest.raises(maskd.MaskdError, match="no server at unix:.* yet"):
            rows.open_now(row.grammar, row.compiled)
    with serving(tmp_path, "s"):
        again = rows.open_now(row.grammar, row.compiled)
        step(rows)
        assert allowed(again.masks[0]) == b"a"
        rows.close()


@pytest.mark.skipif(PLAIN, reason="a stream over several addresses needs libmaskd")
@pytest.mark.parametrize("end", [subprocess.Popen.kill, hang])
@pytest.mark.parametrize("shared_memory", [True, False])
def test_with_two_servers_nobody_ends(tmp_path, monkeypatch, end, shared_memory):
    monkeypatch.setattr(batch_module, "FailoverStream", InOrder)
    with serving(tmp_path, "a") as (first, one), serving(tmp_path, "b") as (_, two):
        rows = BatchRows(settings(f"{one},{two}", shared_memory=shared_memory), WIDTH)
        batch = [opened(rows, "abc") for _ in range(8)]
        step(rows)
        assert all(row.accept([ord("a")]) for row in batch)
        end(first)
        step(rows)
        assert [row.failed for row in batch] == [None] * 8
        assert rows._link.stream.moves == 1  # noqa: SLF001
        assert [allowed(row.masks[0]) for row in batch] == [b"b"] * 8
        late = opened(rows, "xy")  # compiled by the second
        step(rows)
        assert allowed(late.masks[0]) == b"x"
        rows.close()


@pytest.mark.skipif(PLAIN, reason="a stream over several addresses needs libmaskd")
def test_two_servers_that_hang_are_waited_for_in_one_step_alone(tmp_path):
    with serving(tmp_path, "a") as (first, one), serving(tmp_path, "b") as (second, two):
        rows = BatchRows(settings(f"{one},{two}", step_s=0.3), WIDTH)
        batch = [opened(rows, "abc") for _ in range(8)]
        step(rows)
        waits = Waits(rows)
        hang(first)
        hang(second)
        assert all(row.accept([ord("a")]) for row in batch)
        begin = time.monotonic()
        step(rows)
        assert time.monotonic() - begin < 5  # 0.3 s
        assert None not in [row.failed for row in batch] and waits.count == rows.late == 1
        step(rows)
        assert waits.count == 1


def test_a_grammar_is_compiled_at_the_server_that_answers(tmp_path):
    with serving(tmp_path, "a") as (first, one), serving(tmp_path, "b") as (_, two):
        endpoints = Endpoints(settings(f"{one},{two}", compile_s=100.0))
        hang(first)
        begin = time.monotonic()
        for pattern in ("ab", "cd"):
            assert endpoints.compile(maskd.Grammar.regex(pattern)).id
        assert time.monotonic() - begin < 60
        assert endpoints._order() == [two, one]  # noqa: SLF001


class Tokenizer:
    """Of an engine, as Hugging Face's are asked: the server's embedded vocabulary."""

    def __init__(self, changed=None):
        self._vocabulary = dict(_BYTES)
        if changed is not None:
            self._vocabulary = {changed.get(i, text): i for text, i in self._vocabulary.items()}
        self.added_tokens_decoder = {}

    def get_vocab(self):
        return self._vocabulary


def test_the_vocabulary_is_compared_by_its_hash(client):
    (tokenizer,) = client.tokenizers()
    engine = Tokenizer()
    engine.added_tokens_decoder = {END: ENDS_AS}
    check_vocabulary(engine, tokenizer)
    other = Tokenizer(changed={65: "longer"})
    other.added_tokens_decoder = engine.added_tokens_decoder
    with pytest.raises(maskd.MaskdError, match="its tokens have other bytes"):
        check_vocabulary(other, tokenizer)
    other.get_vocab()["more"] = 400
    with pytest.raises(maskd.MaskdError, match="1 tokens have ids from 257 on"):
        check_vocabulary(other, tokenizer)
    with pytest.raises(maskd.MaskdError, match="MASKD_TOKENIZER_HASH"):
        check_vocabulary(object(), tokenizer)


def of_file(path):
    """An engine's tokenizer, as Hugging Face's library reads the file."""
    tokenizers = pytest.importorskip("tokenizers", reason="NOT TESTED HERE: there are no tokenizers")
    read = tokenizers.Tokenizer.from_file(str(path))
    engine = Tokenizer()
    engine._vocabulary = read.get_vocab()  # noqa: SLF001
    engine.added_tokens_decoder = read.get_added_tokens_decoder()
    return engine


def test_markers_of_text_are_compared_too(tmp_path):
    file = tmp_path / "tokenizer.json"
    added = [{"id": 256 + i, "content": text, "special": text == ENDS_AS, "normalized": False, "lstrip": False,
              "rstrip": False, "single_word": False} for i, text in enumerate([ENDS_AS, "<think>", "<tool_call>"])]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    file.write_text(json.dumps({
        "version": "1.0", "added_tokens": added, "normalizer": None, "pre_tokenizer": level, "post_processor": None,
        "decoder": level, "model": {"type": "BPE", "vocab": dict(_BYTES), "merges": []}}))
    with serving(tmp_path, "s", f"--tokenizer=model={file}") as (_, address), maskd.Client(address) as client:
        (tokenizer,) = client.tokenizers()
    assert tokenizer["special_ids"] == [256]
    check_vocabulary(of_file(file), tokenizer)
    other = of_file(file)
    other.added_tokens_decoder[257] = "<thinks>"
    with pytest.raises(maskd.MaskdError, match="its tokens have other bytes"):
        check_vocabulary(other, tokenizer)


@pytest.mark.parametrize("name", ["deepseek", "gpt_oss", "qwen3"])
def test_the_vocabularies_of_models_are_those_of_their_engines(tmp_path, name):
    file = VOCABULARIES / name / "tokenizer.json"
    if not file.exists():
        pytest.skip(f"NOT TESTED HERE: {file} is not fetched (scripts/fetch-vocab)")
    with serving(tmp_path, "s", f"--tokenizer=model={file}") as (_, address), maskd.Client(
            address, timeout_s=60) as client:
        check_vocabulary(of_file(file), client.tokenizers()[0])


@pytest.mark.parametrize(("variable", "value", "words"), [
    ("MASKD_ADDRESS", "", "MASKD_ADDRESS: names no server"),
    ("MASKD_STEP_MS", "soon", 'MASKD_STEP_MS: "soon" is not a number of milliseconds'),
    ("MASKD_SHARED_MEMORY", "yes", 'MASKD_SHARED_MEMORY: "yes" is neither 0 nor 1'),
    ("MASKD_GRAMMAR_OPTIONS", "[]", "MASKD_GRAMMAR_OPTIONS: is not an object")])
def test_settings_that_are_wrong_are_named(variable, value, words):
    with pytest.raises(maskd.MaskdError, match=words):
        Settings.from_environment({"MASKD_ADDRESS": "unix:/s", variable: value})


def test_options_of_the_environment_are_the_last_word():
    given = Settings.from_environment({"MASKD_ADDRESS": "unix:/a, unix:/b", "MASKD_STEP_MS": "50",
                                       "MASKD_GRAMMAR_OPTIONS": '{"max_number_digits": 9}'})
    assert given.addresses == ("unix:/a", "unix:/b") and given.step_s == 0.05
    grammar = given.with_options(maskd.Grammar.json_object(), white_space="WHITE_SPACE_COMPACT")
    assert grammar.options == {"white_space": "WHITE_SPACE_COMPACT", "max_number_digits": 9}
    assert given.with_options(maskd.Grammar.regex("a"), white_space="X").options == {}


def test_a_late_server_is_waited_for_while_nobody_else_waits(tmp_path):
    with serving(tmp_path, "s") as (server, address):
        rows = BatchRows(settings(address), WIDTH)
        row = opened(rows, "ab")
        step(rows)
        rows.settings = settings(address, step_s=0.05, hang_s=20.0)
        hang(server)
        row.accept([ord("a")])
        rows.send()
        asked = []

        def nobody():
            asked.append(0)
            if len(asked) == 4:
                server.send_signal(signal.SIGCONT)
            return True

        rows.receive(nobody)
        assert len(asked) >= 4 and row.failed is None and allowed(row.masks[0]) == b"b"
        rows.close()
