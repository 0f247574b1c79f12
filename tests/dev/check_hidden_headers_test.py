"""tools/dev/check_hidden_headers.py finds a header of the engine's rooms however far it is away."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INNER = "grammar_core/terms/term.h"
MATCHER = "grammar_core/matcher/matcher.h"


def check(folder: pathlib.Path, files: dict) -> subprocess.CompletedProcess:
    """Runs the check over files that include what they are mapped to."""
    for path, included in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f'#include "{header}"\n' for header in included), encoding="utf-8")
    return subprocess.run(
        [sys.executable, ROOT / "tools/dev/check_hidden_headers.py", folder],
        capture_output=True, text=True, check=False)


@pytest.mark.parametrize("user", ["service/a.cc", "service/streams/a.cc",
                                  "client/cpp/a.h", "client/cpp/masks/a.h", "cache/a.h", "memory/a.cc",
                                  "local/a.cc", "client/c/a.cc"])
def test_a_header_that_is_included_is_found(tmp_path, user):
    done = check(tmp_path, {INNER: [], user: [INNER]})
    assert done.returncode == 1
    assert f"{user}: sees {INNER}\n" in done.stdout


def test_a_header_behind_others_is_found_with_the_way(tmp_path):
    done = check(tmp_path, {INNER: [], MATCHER: [INNER], "service/b.h": [MATCHER],
                            "service/a.cc": ["service/b.h"]})
    assert done.returncode == 1
    assert f"service/a.cc: sees {INNER}, by way of service/b.h, {MATCHER}\n" in done.stdout
    assert "2 findings" in done.stdout


def test_the_matcher_s_own_sources_may_see_it(tmp_path):
    done = check(tmp_path, {INNER: [], "grammar_core/matcher/matcher.cc": [MATCHER, INNER],
                            MATCHER: [], "service/a.cc": [MATCHER]})
    assert done.returncode == 0, done.stdout


def test_headers_that_include_one_another_end(tmp_path):
    done = check(tmp_path, {"service/a.h": ["service/b.h"], "service/b.h": ["service/a.h"]})
    assert done.returncode == 0, done.stdout


def test_this_repository_hides_them():
    done = subprocess.run([sys.executable, ROOT / "tools/dev/check_hidden_headers.py", ROOT],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
