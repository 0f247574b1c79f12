"""tools/dev/check_heads.py finds a long file without a head, and what a head lacks."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

WHOLE = "// The idea,\n// in two lines.\n//\n// Invariant  what holds.\n"


def check(folder: pathlib.Path) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, ROOT / "tools/dev/check_heads.py", folder],
                          capture_output=True, text=True, check=False)


def write(tree: pathlib.Path, head: str, name: str = "ring/a.cc", lines: int = 151) -> None:
    body = '#include "ring/a.h"\n' + "int a;\n" * lines
    text = head + "\n".join(body.splitlines()[: lines - head.count("\n")]) + "\n"
    assert text.count("\n") == lines
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text(text, encoding="utf-8")


def test_this_tree_has_all_its_heads():
    done = check(ROOT)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("mark", ["Invariant", "Cost", "Source", "Threads", "Bounds"])
def test_an_idea_and_any_mark_make_a_head(tmp_path, mark):
    write(tmp_path, WHOLE.replace("Invariant", mark))
    assert check(tmp_path).returncode == 0


def test_a_title_counts_as_a_line_of_the_idea(tmp_path):
    write(tmp_path, "// A title.\n//\n// The idea.\n//\n// Cost       none.\n")
    assert check(tmp_path).returncode == 0


@pytest.mark.parametrize(("head", "expected"), [
    ("", "its head has 0 lines of an idea, 2 at least"),
    ("// One line.\n//\n// Cost       none.\n", "its head has 1 lines of an idea, 2 at least"),
    # What a mark goes on with is no idea.
    ("// One line.\n//\n// Cost       much,\n//            and more.\n",
     "its head has 1 lines of an idea, 2 at least"),
    # A sentence that begins with a word of the marks is no mark.
    ("// The idea.\n// Cost is no matter.\n",
     "its head has none of the marks Invariant, Cost, Source, Threads, Bounds"),
    ("\n" + WHOLE, "its head has 0 lines of an idea, 2 at least"),
])
def test_what_a_head_lacks_is_told(tmp_path, head, expected):
    write(tmp_path, head)
    done = check(tmp_path)
    assert (done.returncode, done.stdout) == (1, f"ring/a.cc: {expected}\n")


@pytest.mark.parametrize(("name", "lines"), [
    ("ring/b.cc", 150), ("ring/b_tables.cc", 400), ("ring/b.h", 400), ("tests/ring/b.cc", 400)])
def test_who_needs_no_head(tmp_path, name, lines):
    write(tmp_path, WHOLE)
    write(tmp_path, "", name, lines)
    assert check(tmp_path).returncode == 0


def test_a_tree_without_long_files_fails(tmp_path):
    assert check(tmp_path).returncode == 1
