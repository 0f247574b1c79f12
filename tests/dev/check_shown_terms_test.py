"""tools/dev/check_shown_terms.py: a test that names terms prints them where an assertion fails."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRINTER = "tests/rooms/shown_terms.h"


def check(folder: pathlib.Path, files: dict) -> subprocess.CompletedProcess:
    """Runs the check over files of these texts, beside the printer."""
    for path, text in {PRINTER: "", **files}.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return subprocess.run([sys.executable, ROOT / "tools/dev/check_shown_terms.py", folder],
                          capture_output=True, text=True, check=False)


@pytest.mark.parametrize("named", ["TermId at;", "CharTerm(5)", "EXPECT_NE(at, kNothingTerm);"])
def test_a_test_that_does_not_see_the_printer_is_found(tmp_path, named):
    done = check(tmp_path, {"tests/terms/a_test.cc": named})
    assert done.returncode == 1
    assert "tests/terms/a_test.cc: names terms" in done.stdout


def test_a_header_that_leads_there_is_enough(tmp_path):
    done = check(tmp_path, {"tests/rooms/parts.h": f'#include "{PRINTER}"\n',
                            "tests/a_test.cc": '#include "tests/rooms/parts.h"\nTermId at;\n'})
    assert done.returncode == 0, done.stdout


def test_tests_of_other_things_and_the_code_need_none(tmp_path):
    done = check(tmp_path, {"tests/a_test.cc": "int KeptTermIds;\n", "grammar_core/a.cc": "TermId at;\n",
                            "tests/b_test.cc": f'#include "{PRINTER}"\nTermId at;\n'})
    assert done.returncode == 0, done.stdout


def test_a_tree_without_such_a_test_is_an_error(tmp_path):
    assert check(tmp_path, {}).returncode == 1


def test_this_repository_prints_them():
    done = subprocess.run([sys.executable, ROOT / "tools/dev/check_shown_terms.py", ROOT],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
