"""bench/slowest.py: which schemas its three lists name, and in what order."""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def result_line(name, compile_us, mask_us, mem_bytes):
    return {
        "id": f"{name}.json",
        "status": "ok",
        "compile_us": compile_us,
        "mask_us": mask_us,
        "mem_bytes": mem_bytes,
    }


def test_each_list_is_in_the_order_of_its_measure(tmp_path):
    lines = [
        result_line("quick", 1_000, [900.0, 1.0], 2**20),
        result_line("slow", 9_000, [2.0, 2_000.0], 3 * 2**20),
        result_line("no-instances", 5_000, [], 2 * 2**20),
        {"id": "refused.json", "status": "compile_error"},
    ]
    results = tmp_path / "results.jsonl"
    results.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, ROOT / "bench/slowest.py", results, "--count", "2"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout == (
        "| compile, ms | schema |\n| --: | --- |\n| 9.0 | slow |\n| 5.0 | no-instances |\n\n"
        "14 of 15 ms, 93 %\n\n"
        "| slowest mask, ms | schema |\n| --: | --- |\n| 2.0 | slow |\n| 0.9 | quick |\n\n"
        "3 of 3 ms, 100 %\n\n"
        "| memory, MiB | schema |\n| --: | --- |\n| 3.0 | slow |\n| 2.0 | no-instances |\n\n"
        "5 of 6 MiB, 83 %\n"
    )
