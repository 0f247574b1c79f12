#!/usr/bin/env python3
"""What a step costs in each language beside C++: the same loop against one server, in turn.

    chrt -f 10 bench/client_languages.py go=build/go_bench "TypeScript=node client/typescript/out/bench/loop.js"

Each argument is a language's own loop as NAME=COMMAND, behind which come ADDRESS, LOGITS_WIDTH, ROWS and STEPS. They
are built by: go build ./bench, cargo build --release --example bench, npm run build and tsc -p tsconfig.test.json,
mvn test-compile (io.maskd.examples.Bench). C++ is bench/client_loop_bench. p50 in microseconds, the median of --runs
runs over one Unix socket, the ratio to C++, and the least and the most of the runs.
"""

import argparse
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(__file__).resolve().parents[1] / "build/release"
WIDTH = 320


def loop(command: list[str], address: str, rows: int, steps: int) -> float:
    """The p50 of a step."""
    behind = ["grpc"] if command[0].endswith("client_loop_bench") else []
    out = subprocess.run([*command, address, str(WIDTH), str(rows), str(steps), *behind], check=True,
                         capture_output=True, text=True).stdout
    return float(out.split()[0])


def report(address: str, rows: int, loops: dict[str, list[str]], arguments: argparse.Namespace) -> None:
    runs = [{name: loop(command, address, rows, arguments.steps) for name, command in loops.items()}
            for _ in range(arguments.runs)]
    medians = {name: statistics.median(run[name] for run in runs) for name in loops}
    print(f"{rows} rows: " + ", ".join(
        f"{name} {value:.1f} us ({value / medians['C++']:.2f}x; {min(r[name] for r in runs):.1f} to "
        f"{max(r[name] for r in runs):.1f})" for name, value in medians.items()), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="A step from many languages and from C++.")
    parser.add_argument("loops", nargs="+", metavar="NAME=COMMAND")
    parser.add_argument("--rows", default="1,8,64")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--server", default=BUILD / "service/maskd", type=pathlib.Path)
    parser.add_argument("--cpp", default=BUILD / "bench/client_loop_bench", type=pathlib.Path)
    arguments = parser.parse_args()
    loops = {"C++": [str(arguments.cpp)]}
    for each in arguments.loops:
        name, _, command = each.partition("=")
        loops[name] = shlex.split(command)
    with tempfile.TemporaryDirectory() as folder:
        address = f"unix:{folder}/s"
        command = [arguments.server, f"--listen={address}", "--metrics_listen="]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            try:
                while not pathlib.Path(folder, "s").exists():
                    time.sleep(0.05)
                for rows in map(int, arguments.rows.split(",")):
                    report(address, rows, loops, arguments)
            finally:
                server.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
