"""A cell that is small enough to know what must happen to it."""

import os
import subprocess

# A step takes 10 ms of a core, whatever it has.
SIZING = """{"rows": [["step by gRPC, whatever it has, us", 10000], ["row of a step by gRPC, us", 0], ["token taken again, us", 1],
 ["token taken again, first on its server, us", 6], ["token in new states, us", 0], ["compile, ms", 2]]}"""


def simulated(tmp_path, *flags: str) -> dict[str, list[str]]:
    """Of each scenario the columns. The program fails when an answer of a session was wrong."""
    (tmp_path / "sizing.json").write_text(SIZING, encoding="utf-8")
    out = subprocess.run(
        [os.environ["MASKD_CELL_SIMULATION"], f"--sizing={tmp_path}/sizing.json", "--engines=12", "--servers=3", "--rows=8",
         "--grammars=20", "--steps_per_s=20", *flags], capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in out]
    return {row[0]: dict(zip(rows[0][1:], row[1:], strict=True)) for row in rows[2:]}


def silence_of_all(row: dict[str, str]) -> float:
    (value,) = (cell for name, cell in row.items() if name.startswith("longest silence"))
    return float(value.split(", ")[1])


def test_nothing_happens(tmp_path):
    (row,) = simulated(tmp_path, "--scenario=usual").values()
    # 4 engines x 20 steps x 10 ms on two cores
    assert row["busiest server, %"] == "40"
    assert (row["streams lost"], row["rows refused"], row["openings turned away"]) == ("0", "0", "0")
    assert row["streams uneven for, s"] == "0.0"
    assert silence_of_all(row) < 0.2


def test_a_zone_that_says_nothing_is_left_after_the_steps_timeout(tmp_path):
    (row,) = simulated(tmp_path, "--scenario=zone_lost").values()
    assert 2 <= silence_of_all(row) < 5
    assert row["streams lost"] == "0"
    # 6 engines on each of the two that are left
    assert 55 <= int(row["busiest server, %"]) <= 60


def test_servers_without_places_for_all_turn_engines_away(tmp_path):
    (row,) = simulated(tmp_path, "--scenario=zone_lost", "--max_streams=5").values()
    assert int(row["openings turned away"]) > 0, "two servers of five places have no room for twelve"
    assert silence_of_all(row) > 10


def test_the_same_seed_is_the_same_cell(tmp_path):
    flags = ("--scenario=reopen_cold,mad_limited", "--seed=7")
    assert simulated(tmp_path, *flags) == simulated(tmp_path, *flags)
