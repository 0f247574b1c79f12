"""tools/dev/check_thresholds.py: a number of the engine has a row that says what chose it."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/dev/check_thresholds.py"
ROW = "| `terms/a.cc kMaxDepth` | `{value}` | levels | a run |\n"


@pytest.fixture(name="tree")
def make_tree(tmp_path):
    """All rooms, empty; and every fact, so that none is one too many."""
    spec = importlib.util.spec_from_file_location("check_thresholds", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for room in module.ROOMS:
        (tmp_path / room).mkdir(parents=True)
    facts = "".join(f"constexpr int {name} = 1;\n" for name in sorted(module.FACTS))
    (tmp_path / "grammar_core/mask/facts.h").write_text(facts, encoding="utf-8")
    (tmp_path / "docs/design").mkdir(parents=True)
    return tmp_path


def check(tree, code: str, page: str) -> list[str]:
    (tree / "grammar_core/terms/a.cc").write_text(code, encoding="utf-8")
    (tree / "docs/design/thresholds.md").write_text(page, encoding="utf-8")
    done = subprocess.run([sys.executable, SCRIPT, tree], capture_output=True, text=True,
                          check=False)
    assert done.returncode == (1 if done.stdout else 0), done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("code", [
    "constexpr int kMaxDepth = 1'000;\n",
    "  static constexpr std::size_t kMaxDepth = 1000;  // levels\n",
    "inline constexpr std::uint32_t kMaxDepth = 1'000;\n",
])
def test_a_threshold_with_its_row_passes(tree, code):
    assert check(tree, code, ROW.format(value="1000")) == []


def test_a_number_without_a_row_is_found(tree):
    found = check(tree, "constexpr int kMaxDepth = 1'000;\n", "")
    assert len(found) == 1 and "terms/a.cc kMaxDepth" in found[0] and "no row" in found[0]


def test_another_value_is_found(tree):
    found = check(tree, "constexpr int kMaxDepth = 1'001;\n", ROW.format(value="1000"))
    assert found == ["terms/a.cc kMaxDepth is 1001, docs/design/thresholds.md says 1000"]


def test_a_row_of_no_constant_is_found(tree):
    found = check(tree, "", ROW.format(value="1000"))
    assert found == ["docs/design/thresholds.md: terms/a.cc kMaxDepth is in no code"]


def test_a_row_that_does_not_say_what_chose_it_is_found(tree):
    page = "| `terms/a.cc kMaxDepth` | `1` | levels |   |\n"
    assert any("lacks" in line for line in check(tree, "constexpr int kMaxDepth = 1;\n", page))


def test_a_number_of_the_service_has_a_row_that_names_its_whole_path(tree):
    (tree / "service/streams/a.h").write_text("  static constexpr std::chrono::milliseconds kTurn{5};\n",
                                              encoding="utf-8")
    assert "service/streams/a.h kTurn: docs/design/thresholds.md has no row" in check(tree, "", "")[0]
    assert check(tree, "", "| `service/streams/a.h kTurn` | `5` | how long a turn is | a run |\n") == []


def test_texts_are_no_numbers(tree):
    assert check(tree, 'constexpr absl::string_view kName = "x";\nconstexpr char kC = \'c\';\n',
                 "") == []


def test_a_fact_that_is_gone_is_found(tree):
    (tree / "grammar_core/mask/facts.h").write_text("", encoding="utf-8")
    assert "FACTS: there is no kNothingTerm" in check(tree, "", "")
