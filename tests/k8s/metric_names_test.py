"""Alerts, dashboard and docs name metrics, labels and labels' values that a server shows, and the docs name every one.

All of it is there before anything has happened: what a query names is never missing for want of an event.
"""

import os
import re
import urllib.request

import pytest

import queries
import server

# Reasons that no call or stream ends with: what is wrong with a file at the start, what clients say themselves, and what
# a row has.
OF_FILES = {"INVALID_TOKENIZER", "NO_SUCH_FILE", "FILE_CHANGED"}
OF_CLIENTS = {"SERVERS_ENDED"}
OF_ADMINS = {"NO_ADMIN"}  # what is refused at that address is not counted
OF_ROWS = {"TOKEN_REFUSED", "ROLLBACK_OUT_OF_RANGE", "DRAFT_IS_NO_TREE", "ROW_NOT_FOUND", "ROW_ALREADY_OPEN",
           "ROW_NOT_READY", "NO_ANSWER", "NOT_ASKED_FOR"}
VOCABULARY = queries.ROOT / "tests/interop/pairs.tiktoken"

pytestmark = pytest.mark.skipif("MASKD_BINARY" not in os.environ, reason="this build has no server")


@pytest.fixture(name="shown", scope="module")
def shown_by_a_server(tmp_path_factory) -> dict:
    """Of each series' name its labels, and their values: {name: {label: {value}}}."""
    with server.running(tmp_path_factory.mktemp("maskd"), server.tenants(compiles_per_minute=60)) as maskd:
        return labels_of(scrape(maskd))


def scrape(maskd: server.Maskd) -> str:
    with urllib.request.urlopen(f"{maskd.metrics}/metrics", timeout=20) as page:
        return page.read().decode()


def labels_of(page: str) -> dict:
    shown: dict = {}
    for name, labels in re.findall(r"^([a-z_]+)(?:\{(.*)\})? \S+$", page, re.MULTILINE):
        of = shown.setdefault(name, {})
        for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
            of.setdefault(label, set()).add(value)
    return shown


def test_there_are_queries_of_every_place():
    assert len(queries.alerts()) >= 11
    assert len(queries.panels()) >= 30
    assert len(queries.questions()) >= 20


@pytest.mark.parametrize("place", sorted(queries.every()))
def test_a_query_names_what_a_server_shows(place, shown):
    query = queries.every()[place]
    labels = set(queries.TARGET_LABELS)
    names = queries.named(query)
    assert names or query.startswith("up{"), query
    for name, matchers in names:
        assert name in shown, f"no series {name}"
        labels |= shown[name].keys()
        for label, (operator, value) in matchers.items():
            if label in queries.TARGET_LABELS:
                continue
            assert label in shown[name], f"{name} has no label {label}"
            if operator in ("=", "!="):
                assert value in shown[name][label], f"{name} has no {label} {value}"
    assert queries.grouped(query) <= labels, query


def test_a_name_or_label_that_is_wrong_would_be_found(shown):
    ((name, matchers),) = queries.named('rate(maskd_refuse_total{cod="INTERNAL"}[5m])')
    assert name not in shown and matchers == {"cod": ("=", "INTERNAL")}
    assert queries.grouped("sum by (le, kind) (x) / on (job) y") == {"le", "kind", "job"}


def test_the_dashboard_says_values_of_labels_that_there_are(shown):
    """A legend is {{label}}: of its own query."""
    for panel in queries.dashboard()["panels"]:
        for target in panel.get("targets", []):
            labels = queries.grouped(target["expr"]) | queries.TARGET_LABELS
            assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= labels, panel["title"]


def family(name: str, shown: dict) -> str:
    """The name that the docs have: a histogram's without its suffix."""
    base = re.sub(r"_(bucket|count|sum)$", "", name)
    return base if f"{base}_bucket" in shown else name


def test_every_metric_has_its_row_in_the_docs_and_every_row_its_metric(shown):
    page = (queries.ROOT / "docs/operations.md").read_text()
    table = page.split("\n## Metrics\n")[1].split("\n## ")[0]
    first_cells = re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
    documented = {name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)}
    assert documented == {family(name, shown) for name in shown}


def test_every_reason_of_an_error_that_a_call_may_have_is_a_label(shown):
    page = (queries.ROOT / "docs/errors.md").read_text()
    reasons = set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE))
    of_calls = shown["maskd_refused_total"]["reason"] - {"other"}
    assert of_calls <= reasons
    assert reasons - of_calls == OF_FILES | OF_CLIENTS | OF_ADMINS | OF_ROWS


def test_the_page_is_bounded(tmp_path):
    """The figures of docs/observing.md: of three tokenizers, and of as many tenants as have labels, and one more."""
    names = "".join(f'tenant {{ name: "tenant-{i}" identity: "token:{i}" }}\n' for i in range(65))
    tokenizers = [f"--tokenizer={name}={VOCABULARY},special=<end>:2048,stop=<end>" for name in ("one", "two", "three")]
    with server.running(tmp_path, names, *tokenizers) as maskd:
        page = scrape(maskd)
        maskd.compile("a")
        maskd.compile("(")
        assert series(scrape(maskd)) == series(page), "an event makes no series"
    said = re.search(r"three tokenizers and 65 tenants .*? ([\d,]+) series in (\d+) KiB",
                     (queries.ROOT / "docs/observing.md").read_text(), re.DOTALL)
    assert len(series(page)) == int(said[1].replace(",", ""))
    assert abs(len(page) / 1024 - int(said[2])) < 3


def series(page: str) -> list:
    return [line.rpartition(" ")[0] for line in page.splitlines() if not line.startswith("#")]


def test_every_metric_that_the_code_names_is_shown(shown):
    names = set(re.findall(r'"((?:maskd|process)_[a-z_]+)"', (queries.ROOT / "metrics/names.h").read_text()))
    assert names == {family(name, shown) for name in shown}


@pytest.mark.parametrize("page", ["observing.md", "operations.md"])
def test_a_metric_that_a_page_names_is_there(page, shown):
    text = (queries.ROOT / "docs" / page).read_text()
    names = set(re.findall(r"`((?:maskd|process)_[a-z_]+)[`{\[]", text))
    assert names
    assert names <= shown.keys() | {family(name, shown) for name in shown}


def test_every_metric_is_drawn(shown):
    """On the dashboard, but for the version and for sizes that say nothing about masks."""
    drawn = {family(name, shown) for each in queries.panels().values() for query in each
             for name, _ in queries.named(query)}
    undrawn = {family(name, shown) for name in shown} - drawn
    assert undrawn == {"maskd_build_info", "maskd_cache_bytes", "process_virtual_memory_bytes"}
