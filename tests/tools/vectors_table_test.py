"""docs/vectors.md has the table that maskctl vectors prints today."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_table_in_the_docs_is_the_one_of_a_run():
    done = subprocess.run(
        [sys.executable, ROOT / "tools/dev/vectors_table.py", "--check",
         "--maskctl", os.environ["MASKD_MASKCTL"]],
        capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip(done.stdout)
    assert done.returncode == 0, f"run tools/dev/vectors_table.py\n{done.stdout}{done.stderr}"
