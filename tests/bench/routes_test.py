"""maskbench --routes, --mask_route and --without_routes: which routes made the masks of one case."""

import json
import os
import re
import subprocess

import pytest

TEXT = '{"alpha": 1, "beta": "text"}'
CASE = {
    "id": "names",
    "schema": json.dumps({
        "type": "object",
        "properties": {"alpha": {"type": "integer"}, "beta": {"type": "string"}},
        "additionalProperties": False,
    }),
    # A token a byte.
    "tests": [{"valid": True, "text": TEXT, "tokens": list(TEXT.encode())}],
}


@pytest.fixture(name="run")
def make_run(tmp_path):
    cases = tmp_path / "cases.jsonl"
    cases.write_text(json.dumps(CASE) + "\n", encoding="utf-8")

    def run(*flags: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [os.environ["MASKD_MASKBENCH"], "--cases", cases, "--heap_mib", "1", "--stop", "",
             "--warm_up_ms", "0", "--look_ahead=false", "--routes", *flags],
            capture_output=True, text=True, check=False)

    return run


def masks_made(done: subprocess.CompletedProcess) -> dict:
    """Route -> the masks it made, of the table behind "route"."""
    assert done.returncode == 0, done.stderr
    table = done.stderr.partition("\nroute ")[2]
    made = {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+) ", table, re.MULTILINE)}
    return {name: count for name, count in made.items() if count > 0}


def test_a_route_alone_leaves_walks_and_closures(run):
    usual = masks_made(run())
    assert {"names", "exits"} <= usual.keys()
    alone = masks_made(run("--mask_route", "names"))
    assert "names" in alone
    assert alone.keys() <= {"names", "walk", "closure"}
    assert masks_made(run("--mask_route", "walk")).keys() == {"walk"}


def test_routes_can_be_left_out(run):
    made = masks_made(run("--without_routes", "names,exits"))
    assert made and not made.keys() & {"names", "exits"}


@pytest.mark.parametrize("flag", ["--mask_route", "--without_routes"])
def test_a_route_that_there_is_not_is_named(run, flag):
    done = run(flag, "tunnel")
    assert done.returncode == 1
    assert "no route tunnel; there are" in done.stderr and "closure" in done.stderr
