"""The questions of docs/observing.md, asked of a real Prometheus that scrapes a maskd to which things happen.

A server, a Prometheus beside it, and one fault after the other: a grammar that is wrong, twice, a tenant
past its limit, and a client that is killed. Each time the query, as the page has it, gives the answer, and did not before.
A second server, without tenants and with one thread that compiles, is asked where time goes and how masks are sent.
Without Prometheus nothing is tested, said aloud (77). No verdict depends on time: an answer is waited for.
"""

import contextlib
import functools
import json
import math
import os
import pathlib
import socket
import subprocess
import time
import urllib.parse
import urllib.request

import pytest

import prometheus
import queries
import server

if "MASKD_BINARY" in os.environ:  # with a server there is the library, too
    import maskd as library

pytestmark = pytest.mark.skipif("MASKD_BINARY" not in os.environ, reason="this build has no server")

PATIENCE_S = 60
STEP_S = 0.2


class Prometheus:
    def __init__(self, address: str) -> None:
        self._address = address

    def get(self, path: str, **parameters: str) -> dict:
        url = f"{self._address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=20) as answer:
            return json.load(answer)["data"]

    def answer(self, question: str) -> dict:
        """Of each series its value, by the values of its labels but the target's."""
        result = self.get("query", query=queries.questions()[question])["result"]
        return {tuple(value for label, value in sorted(series["metric"].items())
                      if label not in queries.TARGET_LABELS | {"__name__"}): float(series["value"][1])
                for series in result}

    def until(self, question: str, is_right) -> dict:
        """The first answer that is right."""
        return until(functools.partial(self.answer, question), is_right, question)


def until(ask, is_right, what: str):
    end = time.monotonic() + PATIENCE_S
    while True:
        answer = ask()
        if is_right(answer):
            return answer
        assert time.monotonic() < end, f"{what}: {answer}"
        time.sleep(STEP_S)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def scraping(folder: pathlib.Path, target: str):
    """A Prometheus that has scraped `target`, under the job's name that the operator gives."""
    program, port = prometheus.program("prometheus"), free_port()
    (folder / "prometheus.yml").write_text(json.dumps({
        "global": {"scrape_interval": "250ms", "scrape_timeout": "250ms"},
        "scrape_configs": [{"job_name": "maskd", "static_configs": [{"targets": [target]}]}]}))
    with (folder / "prometheus.log").open("w") as log, subprocess.Popen(
            [program, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address=127.0.0.1:{port}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process:
        try:
            running = Prometheus(f"http://127.0.0.1:{port}")
            until(lambda: ups(process, running), lambda up: up == ["1"], "up")
            yield running
        finally:
            process.terminate()


def ups(process: subprocess.Popen, running: Prometheus) -> list:
    assert process.poll() is None, "Prometheus has ended: its log lies beside its configuration"
    try:
        return [series["value"][1] for series in running.get("query", query="up")["result"]]
    except OSError:  # it does not listen yet
        return []


@pytest.fixture(name="world", scope="module")
def maskd_and_prometheus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questions")
    with server.running(folder, server.tenants(compiles_per_minute=1), "--max_streams=2") as maskd:
        with scraping(folder, maskd.metrics.removeprefix("http://")) as asked:
            yield maskd, asked


def test_a_server_to_which_nothing_happened_has_an_answer_to_what_is_always_there(world):
    _, asked = world
    (limit,) = asked.until("How near is the memory's limit?", len).values()
    assert 0 < limit < 1
    assert ("vocabularies",) in asked.answer("What holds the memory?")
    assert sum(asked.answer("What holds the memory?").values()) > 1 << 20
    (share,) = asked.answer("Are there descriptors left?").values()
    assert 0 < share < 1
    (age,) = asked.answer("Since when does it run?").values()
    assert age > 0
    assert asked.until("Is the log whole?", len) == {(): 0}
    for question in ("Which compiles failed, and with what code?", "What did it refuse, and why?", "Did clients vanish?",
                     "Which tenant is at its limit?", "Who is turned away at the door?",
                     "Was something refused for want of memory?", "Which limits are nearly met?"):
        assert asked.answer(question) == {}, question


def is_one(increase: float) -> bool:
    """An increase is an estimate between scrapes."""
    return 0.9 < increase < 1.5


def test_a_compile_that_fails_is_counted_the_first_time_and_then_as_a_repeat(world):
    maskd, asked = world
    assert maskd.compile("(").returncode == 1
    found = asked.until("Which compiles failed, and with what code?", len)
    assert found.keys() == {("INVALID_ARGUMENT", "regex")}
    assert is_one(*found.values())
    refused = asked.until("What did it refuse, and why?", len)
    assert refused.keys() == {("INVALID_ARGUMENT", "INVALID_GRAMMAR")}
    assert is_one(*refused.values())
    assert asked.answer("Does somebody send the same mistake again and again?") == {(): 0}
    assert maskd.compile("(").returncode == 1
    asked.until("Does somebody send the same mistake again and again?", lambda answer: answer.get((), 0) > 0)
    again = asked.answer("Which compiles failed, and with what code?")
    assert again.keys() == found.keys()
    assert is_one(*again.values())


def test_a_limit_that_is_nearly_met_is_named(world):
    """Two streams of the two that there may be."""
    maskd, asked = world
    with contextlib.ExitStack() as clients:
        for count in (1, 2):
            clients.enter_context(server.endless_client(maskd))
            server.await_line(maskd, f"maskd_streams_open {count}")
        shares = asked.until("Which limits are nearly met?", len)
        assert shares[("streams",)] == 1
        assert ("connections",) not in shares
    asked.until("Which limits are nearly met?", lambda answer: ("streams",) not in answer)


def test_a_tenant_at_its_limit_is_named_and_no_other(world):
    """The one compile a minute has been begun, and maskctl asks again when it is refused."""
    maskd, asked = world
    assert asked.answer("Which tenant is at its limit?") == {}
    waiting = [maskd.begin_compile(f"a{i}") for i in range(4)]
    try:
        assert asked.until("Which tenant is at its limit?", len).keys() == {("small",)}
        busiest = asked.until("Which tenant does most?", lambda answer: answer.get(("small",), 0) > 0)
        assert busiest[("large",)] == 0
    finally:
        for process in waiting:
            process.kill()
            process.wait()


def test_clients_that_are_killed_have_vanished(world):
    maskd, asked = world
    before = asked.answer("Did clients vanish?").get((), 0)
    with server.endless_client(maskd):
        server.await_line(maskd, "maskd_streams_open 1")
    asked.until("Did clients vanish?", lambda answer: answer.get((), 0) > before)


@pytest.fixture(name="engine", scope="module")
def maskd_prometheus_and_client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("engine")
    with server.running(folder, "", "--compile_threads=1") as maskd:
        with scraping(folder, maskd.metrics.removeprefix("http://")) as asked, \
                library.Client(maskd.address, timeout_s=20) as client:
            yield maskd, asked, client


# A width of the embedded vocabulary, and its ids: a byte is a token.
WIDTH = 257


def is_number(answer: dict) -> bool:
    return bool(answer) and not any(math.isnan(value) for value in answer.values())


def slow_schema() -> dict:
    """All of eight times one of eight."""
    return {"allOf": [{"oneOf": [{"properties": {f"p{i}": {"const": j}}} for j in range(8)]} for i in range(8)]}


def test_compiles_that_wait_for_the_one_thread_are_seen(engine):
    maskd, asked, _ = engine
    question = "How long do compiles wait for a thread?"
    assert not is_number(asked.answer(question))
    slow = maskd.folder / "slow.json"
    slow.write_text(json.dumps(slow_schema()))
    with subprocess.Popen([os.environ["MASKD_MASKCTL"], "compile", f"--server={maskd.address}", slow],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
        server.await_line(maskd, 'maskd_pool_in_use{pool="compile_threads"} 1')
        busy = asked.until("Which limits are nearly met?", lambda answer: ("compile_threads",) in answer)
        assert busy[("compile_threads",)] == 1
        waiting = [maskd.begin_compile(f"w{i}") for i in range(4)]
        server.await_line(maskd, 'maskd_pool_in_use{pool="compile_queue"} 4')
        first.kill()
        assert [process.wait() for process in waiting] == [0] * 4
    # The first compile waited for nothing, and may be scraped alone.
    asked.until(question, lambda answer: is_number(answer) and min(answer.values()) > 0.0001)
    phases = asked.until("Where do compiles spend their time?", lambda answer: sum(answer.values()) > 0)
    assert phases.keys() == {("parse",), ("reduce",), ("automaton",), ("first_mask",)}


def test_steps_say_where_their_time_went_and_how_long_they_waited(engine):
    _, asked, client = engine
    assert not is_number(asked.answer("How long did it wait for that thread?"))
    with client.open_stream(WIDTH) as stream:
        stream.run(library.Step().open(1, library.Grammar.regex("[a-z]*"), wait_s=20))
        for _ in range(100):
            stream.run(library.Step().take(1, [ord("a")]))
        (waited,) = asked.until("How long did it wait for that thread?", is_number).values()
        (took,) = asked.until("How long does a step take?", is_number).values()
        assert 0 <= waited < 1 and 0 < took < 1
        phases = asked.until("Where does a step spend its time?", is_number)
        assert phases.keys() == {("read",), ("apply",), ("masks",), ("write",)}
        assert 0 < sum(phases.values()) < 1


def test_a_token_that_the_grammar_does_not_allow_is_a_row_in_error(engine):
    _, asked, client = engine
    assert asked.answer("Why were rows in error?") == {}
    with client.open_stream(WIDTH) as stream:
        stream.run(library.Step().open(1, library.Grammar.choice(["yes", "no"]), wait_s=20))
        stream.run(library.Step().take(1, [ord("q")]))
        found = asked.until("Why were rows in error?", len)
    assert found.keys() == {("TOKEN_REFUSED",)}
    assert is_one(*found.values())


def test_of_two_drafts_the_grammar_takes_one(engine):
    _, asked, client = engine
    question = "Which share of draft tokens does the grammar take?"
    assert not is_number(asked.answer(question))
    with client.open_stream(WIDTH) as stream:
        stream.run(library.Step().open(1, library.Grammar.choice(["yes", "no"]), wait_s=20))
        result = stream.run(library.Step().draft(1, [ord("y"), ord("q")]))
        assert result.rows[0].accepted_drafts == 1
        assert asked.until(question, is_number) == {(): 0.5}


def test_masks_have_forms_and_a_tokenizer_its_store(engine):
    _, asked, client = engine
    with client.open_stream(WIDTH) as stream:
        stream.run(library.Step().open(1, library.Grammar.regex("[a-m]*"), wait_s=20))
        for _ in range(20):
            stream.run(library.Step().take(1, [ord("a")]))
        forms = asked.until("In which forms are masks sent?", lambda answer: sum(answer.values()) > 0)
    assert forms.keys() == {("full",), ("same_as",), ("allowed_ids",), ("forbidden_ids",), ("delta",), ("dense",)}
    assert asked.answer("Which tokenizer holds how much?")[("bytes",)] > 1024
    share = asked.until("Does a tokenizer's store have the masks of new states?", is_number)
    assert share.keys() == {("bytes",)} and 0 <= share[("bytes",)] <= 1


def test_refusals_have_their_reasons(engine):
    """Each of a limit or a mistake of its own."""
    _, asked, client = engine
    with pytest.raises(library.MaskdError):
        client.open_stream(WIDTH - 1)
    with pytest.raises(library.MaskdError):
        client.open_stream(WIDTH, tokenizer="nobody")
    reasons = {("INVALID_ARGUMENT", "WIDTH_BELOW_VOCABULARY"), ("NOT_FOUND", "TOKENIZER_NOT_FOUND")}
    asked.until("What did it refuse, and why?", lambda answer: reasons <= answer.keys())
