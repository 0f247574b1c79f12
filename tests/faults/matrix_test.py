"""tools/dev/fault_matrix.py: every test of the matrix is there, and the page's table is the matrix."""

import json
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/dev"))
import fault_matrix  # noqa: E402

FAULT = {"fault": "a fault", "holds": "it", "tests": ["ATest", "BTest.Does", "front"]}


def test_the_matrix_is_what_the_build_and_the_page_have():
    faults = json.loads(fault_matrix.MATRIX.read_text())
    assert fault_matrix.check(pathlib.Path(os.environ["MASKD_BUILD"]), faults, fault_matrix.PAGE.read_text()) == []


def test_a_name_stands_for_its_tests_with_and_without_parameters():
    names = ["ATest.One", "Ways/BTest.Does/Grpc", "front"]
    assert fault_matrix.missing([FAULT], names) == []
    assert fault_matrix.missing([FAULT], ["AnATest.One", "BTest.DoesMore", "frontier"]) == FAULT["tests"]


def test_what_failed_and_what_was_skipped_is_told():
    statuses = {"ATest.One": "run", "ATest.Two": "run", "Ways/BTest.Does/Grpc": "fail", "front": "notrun", "CTest.Other": "fail"}
    assert fault_matrix.outcome(FAULT, statuses) == "2 passed, 1 skipped, `Ways/BTest.Does/Grpc` failed"


def test_a_table_with_another_fault_is_not_the_matrix():
    page = f"<!-- fault matrix -->\n{fault_matrix.table([FAULT], ['1 passed'], '1 May 2026')}<!-- end of fault matrix -->"
    written = fault_matrix.BLOCK.search(page).group(2)
    assert fault_matrix.without_outcomes(written) == fault_matrix.without_outcomes(fault_matrix.table([FAULT], [""], ""))
    other = FAULT | {"holds": "something else"}
    assert fault_matrix.without_outcomes(written) != fault_matrix.without_outcomes(fault_matrix.table([other], [""], ""))
