"""bench/peers/compare: what it selects, and what becomes of an engine that hangs or dies."""

import gzip
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Answers every case but those whose schema says what else to do.
WORKER = """
import json, sys, time
for line in sys.stdin:
    case = json.loads(line)
    if case["schema"] == "hang":
        time.sleep(60)
    if case["schema"] == "die":
        sys.exit(3)
    print(json.dumps({"id": case["id"], "status": "ok"}), flush=True)
"""


@pytest.fixture(name="compare")
def load_compare():
    loader = importlib.machinery.SourceFileLoader("compare", str(ROOT / "bench/peers/compare"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("compare", loader))
    loader.exec_module(module)
    return module


def case_line(case_id: str, schema: str = "true") -> str:
    return json.dumps({"id": case_id, "schema": schema, "tests": []}) + "\n"


def test_the_sample_is_the_one_of_the_programs_in_cpp(compare, tmp_path):
    """SHA-256: c 2e7d..., b 3e23..., a ca97..., as in cases_test.cc."""
    path = tmp_path / "cases.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.writelines(map(case_line, "abc"))
    assert [case_id for case_id, _ in compare.read_cases(path, 2)] == ["b", "c"]
    assert [case_id for case_id, _ in compare.read_cases(path, 0)] == ["a", "b", "c"]


def test_an_engine_that_hangs_or_dies_is_started_anew(compare, monkeypatch):
    monkeypatch.setattr(compare, "START_SECONDS", 5)
    engine = compare.Engine("some", [sys.executable, "-c", WORKER], timeout=0.5)
    statuses = []
    for schema in ("fine", "hang", "fine", "die", "fine"):
        statuses.append(engine.answer("x", case_line("x", schema))["status"])
    engine.stop()
    assert statuses == ["ok", "timeout", "ok", "crash", "ok"]


def test_results_are_one_file_an_engine_in_the_order_of_the_cases(compare, tmp_path):
    engines = [compare.Engine(name, [sys.executable, "-c", WORKER], timeout=20) for name in "pq"]
    cases = [(case_id, case_line(case_id)) for case_id in "abc"]
    named = compare.run(engines, cases, tmp_path)
    assert named == [f"p={tmp_path}/p.jsonl", f"q={tmp_path}/q.jsonl"]
    for name in "pq":
        lines = (tmp_path / f"{name}.jsonl").read_text().splitlines()
        assert [json.loads(line)["id"] for line in lines] == ["a", "b", "c"]


def test_maskbench_answers_as_an_engine(compare):
    engine = compare.Engine(
        "maskd", [os.environ["MASKD_MASKBENCH"], "--cases", "-", "--stop", ""], timeout=20)
    tests = [{"valid": True, "text": "12", "tokens": [49, 50]}]
    for case_id in "ab":
        result = engine.answer(
            case_id, json.dumps({"id": case_id, "schema": '{"const": 12}', "tests": tests}) + "\n")
        assert (result["id"], result["status"]) == (case_id, "ok")
        assert result["tests"] == [{"valid": True, "got": "accept", "at": 2, "tokens": 2}]
    engine.stop()
