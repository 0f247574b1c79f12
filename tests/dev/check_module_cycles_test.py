"""tools/dev/check_module_cycles.py finds circles of modules, through .cc files too."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(folder: pathlib.Path, files: dict[str, str]) -> subprocess.CompletedProcess:
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    for name, included in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f'#include "{to}"\n' for to in included.split()), encoding="utf-8")
    return subprocess.run(
        [sys.executable, ROOT / "tools/dev/check_module_cycles.py", folder],
        capture_output=True, text=True, check=False)


def test_this_tree_has_none():
    done = subprocess.run(
        [sys.executable, ROOT / "tools/dev/check_module_cycles.py", ROOT],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_circle_through_sources_is_found(tmp_path):
    done = check(tmp_path, {
        "room/a.h": "", "room/a.cc": "room/a.h room/b.h",
        "room/b.h": "room/c.h", "room/c.h": "", "room/c.cc": "room/c.h room/a.h",
        "room/d.h": "room/a.h",
    })
    assert done.returncode == 1
    assert done.stdout == "3 modules in a circle: room/a, room/b, room/c\n"


def test_two_modules_are_a_circle_too(tmp_path):
    done = check(tmp_path, {"a.h": "b.h", "b.h": "", "b.cc": "b.h a.h", "c.h": "a.h b.h"})
    assert (done.returncode, done.stdout) == (1, "2 modules in a circle: a, b\n")


def test_a_module_above_both_opens_it(tmp_path):
    done = check(tmp_path, {"a.h": "b.h", "b.h": "", "c.h": "", "c.cc": "c.h a.h b.h", "b.cc": "b.h"})
    assert (done.returncode, done.stdout) == (0, "")


def test_tests_are_no_modules(tmp_path):
    done = check(tmp_path, {"tests/a.h": "tests/b.h", "tests/b.h": "tests/c.h", "tests/c.h": "tests/a.h"})
    assert (done.returncode, done.stdout) == (0, "")
