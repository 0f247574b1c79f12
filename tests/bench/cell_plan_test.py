"""docs/scale.md has what bench/cell_plan.py prints, and that is arithmetic which can be done by hand."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import cell_plan  # noqa: E402

ROUND = """{"rows": [["vocabulary, MiB", 40], ["stream over gRPC, KiB", 64], ["row of 500 tokens, KiB", 8],
 ["grammar, KiB", 32], ["compile, ms", 2], ["token in new states, us", 10], ["token taken again, us", 1],
 ["token taken again, first on its server, us", 6], ["step by gRPC, whatever it has, us", 100], ["row of a step by gRPC, us", 1], ["bytes of a row on the wire, bytes", 40]]}"""


def printed(*arguments: object) -> list[str]:
    return subprocess.run([sys.executable, ROOT / "bench/cell_plan.py", *map(str, arguments)],
                          capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("arguments", [[], ["--constants"]])
def test_the_page_has_what_is_printed(arguments):
    assert "\n".join(printed(*arguments)) in (ROOT / "docs/scale.md").read_text(encoding="utf-8")


def test_a_cell_of_round_numbers(tmp_path):
    """10 engines of 100 rows on 3 replicas: 4 on one, and 5 when one is lost."""
    (tmp_path / "sizing.json").write_text(ROUND, encoding="utf-8")
    lines = printed("--sizing", tmp_path / "sizing.json", "--engines", 10, "--rows", 100, "--replicas", 3, "--tokens_per_s", 100,
                    "--row_tokens", 1000, "--new_states", 0.1, "--grammars", 32, "--cores", 2)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line]
    rows = {cell[0]: cell[1:] for cell in cells}
    assert rows["engines, rows"] == ["4, 400", "5, 500"]
    # 4 engines x 100 steps x (100 us + 100 rows x 1 us + 10 new states x 10 us)
    assert rows["cores busy with steps, of 2"] == ["0.12", "0.15"]
    # 40 MiB + 4 x 64 KiB + 400 x 16 KiB + 32 x 32 KiB
    assert rows["MiB held, beside masks and what grammars learn"] == ["48", "49"]
    assert rows["MB a second on the wire"] == ["1.6", "2.0"]
    # 400 rows x 1,000 tokens x 1 us on two cores; and cold 32 x (2 ms + 1,000 x 5 us) more
    assert rows["everybody reopens at once, grammars known"] == ["0.20"]
    assert rows["everybody reopens at once on new servers, nothing known"] == ["0.31"]
    assert rows["a zone is lost: 1 engines more on each replica that is left"] == ["0.05"]


def test_writing_the_page_again_changes_nothing():
    page = (ROOT / "docs/scale.md").read_text(encoding="utf-8")
    constants, plan = ("\n".join(printed(*arguments)) for arguments in (["--constants"], []))
    assert cell_plan.with_tables(page, constants, plan) == page
