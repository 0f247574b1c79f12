"""The performance page, its charts and the figures in other pages are what the script makes of bench/results."""

import json
import os
import pathlib
import re
import sys
import xml.etree.ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import performance_page  # noqa: E402

RESULTS = sorted((ROOT / "bench" / "results").glob("*.json"))


@pytest.mark.parametrize("path, content", performance_page.made().items())
def test_what_is_committed_is_what_the_script_makes(path, content):
    assert (ROOT / path).is_file(), "run bench/performance_page.py"
    assert (ROOT / path).read_text(encoding="utf-8") == content, "run bench/performance_page.py"


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_file_says_where_when_and_how(path):
    result = json.loads(path.read_text(encoding="utf-8"))
    for key in ("title", "command", "machine", "conditions", "recorded_in", "unit"):
        assert result[key], key
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", result["date"])
    assert isinstance(result["old"], str)
    assert len({row[0] for row in result["rows"]}) == len(result["rows"])
    assert {len(row) for row in result["rows"]} == {len(result["columns"]) + 1}


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_the_programs_of_a_command_are_there_and_can_be_run(path):
    for command in json.loads(path.read_text(encoding="utf-8"))["command"].split("; "):
        words = command.split()
        for word in words:
            if re.match(r"(?:bench|tests|scripts)/", word):
                assert (ROOT / word).is_file(), word
        if re.match(r"(?:bench|tests|scripts)/", words[0]):
            assert os.access(ROOT / words[0], os.X_OK), f"{words[0]} is not executable"


def test_every_result_file_is_on_the_page():
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert len(RESULTS) > 8
    assert [path.name for path in RESULTS if f"({path.relative_to(ROOT)})" not in page.replace("](../", "](")] == []


def test_there_are_six_tables_each_with_a_chart_that_is_xml():
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    charts = re.findall(r"\]\((pictures/performance-\w+\.svg)\)", page)
    assert len(charts) == len(re.findall(r"^\| ---", page, re.MULTILINE)) == 6
    for chart in charts:
        text = (ROOT / "docs" / chart).read_text(encoding="utf-8")
        assert xml.etree.ElementTree.fromstring(text).tag.endswith("svg")
        assert "prefers-color-scheme: dark" in text


def test_a_figure_that_is_changed_by_hand_is_found():
    results = performance_page.load()
    page = performance_page.page(results)
    results["peers_masks"].rows[0][1] = 0.1
    assert performance_page.page(results) != page


def test_the_pages_have_the_marks_between_which_figures_stand():
    found = [name for path in performance_page.PAGES
             for _, name, _, _ in performance_page.BLOCK.findall((ROOT / path).read_text(encoding="utf-8"))]
    assert sorted(found) == ["apply", "client_languages", "client_python", "floods", "speed", "vllm_answers", "vllm_steps", "ways"]
