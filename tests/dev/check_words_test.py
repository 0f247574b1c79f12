"""tools/dev/check_words.py: what it takes for a sentence, what it reports, and its exceptions."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/dev/check_words.py"
LONG = " ".join(["word"] * 36)


@pytest.fixture(name="words")
def load_words():
    spec = importlib.util.spec_from_file_location("check_words", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name, text, found", [
    ("a.md", LONG, ["36 words, and at most 35 are easily read"]),
    ("a.md", LONG[5:], []),
    ("a.md", f"{LONG[:90]}\n{LONG[90:]}", ["36 words, and at most 35 are easily read"]),
    ("a.md", f"{LONG[:90]}.\n{LONG[90:]}", []),
    ("a.md", f"{LONG[:89]}\n\n{LONG[90:]}", []),
    ("a.md", f"| {LONG} |\n# {LONG}", []),
    ("a.md", f"```sh\n{LONG}\n```", []),
    ("a.md", f"```sh\n{LONG}\n```\n{LONG}", ["36 words, and at most 35 are easily read"]),
    ("a.md", f"- {LONG[:89]}\n- {LONG[90:]}", []),
    ("a.md", f"1. {LONG[:89]}\n   {LONG[90:]}", ["36 words, and at most 35 are easily read"]),
    ("a.md", "All but for\none.", ["'but for' has a plainer word"]),
    ("a.md", "Made anew.", ["'anew' has a plainer word"]),
    ("a.md", "First. Of the two the last.", ["it begins with Of: say first what it speaks of"]),
    ("a.md", "Nothing is said of the two.", []),
    ("a.h", f"int a;  // {LONG}", []),
    ("a.h", f"int {LONG.replace(' ', '_')};", []),
    ("a.h", "  // Each has a lock of its\n  // own.\n  int a;",
     ["'of its own' has a plainer word"]),
    ("a.h", "// Rule    the one\n//         that comes first.",
     ["'one that comes' has a plainer word"]),
    ("a.proto", "  // Of a row.\n  int64 row = 1;",
     ["it begins with Of: say first what it speaks of"]),
])
def test_findings(words, name, text, found):
    assert [fault for _, fault, _ in words.findings(pathlib.Path(name), text)] == found


def tree(folder, page, exceptions) -> subprocess.CompletedProcess:
    (folder / "docs").mkdir()
    (folder / "docs/a.md").write_text(page, "utf-8")
    (folder / "tools/dev").mkdir(parents=True)
    (folder / "tools/dev/words_exceptions.txt").write_text(exceptions, "utf-8")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "add", "."], cwd=folder, check=True)
    return subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True,
                          check=False)


def test_a_finding_fails_with_its_line(tmp_path):
    done = tree(tmp_path, "# A\n\nAll but for one.\n", "")
    assert (done.returncode, done.stdout) == (
        1, "docs/a.md:3: 'but for' has a plainer word: All but for one.\n")


def test_an_exception_may_stay(tmp_path):
    done = tree(tmp_path, "All but for one.\n", "# Why.\n\ndocs/a.md | All but | a quotation\n")
    assert (done.returncode, done.stdout) == (0, "")


def test_an_exception_that_meets_nothing_fails(tmp_path):
    done = tree(tmp_path, "All.\n", "docs/a.md | All but | a quotation\n")
    assert (done.returncode, done.stdout) == (
        1, "tools/dev/words_exceptions.txt:1: no such finding in docs/a.md: take the line out\n")


def test_the_tree_reads_plainly():
    done = subprocess.run([sys.executable, SCRIPT, ROOT], capture_output=True, text=True,
                          check=False)
    assert done.stdout == ""
