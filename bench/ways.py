#!/usr/bin/env python3
"""A step by each way to a server, in one run: a Unix socket, TCP, TLS, mutual TLS, and nginx in front with mutual TLS.

    bench/ways.py [--runs 7] [--steps 2000] [--result bench/results/ways.json]

bench/client_loop_bench times the steps; each row writes [a-z]* over the embedded vocabulary, so what is measured is the
way. All servers run all the time, and the ways are taken in turn. Prints the medians of the runs' p50 and p99 in
microseconds; --result writes them into a result file.
"""

import argparse
import contextlib
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/front"))
import front  # noqa: E402  (a neighbour, wherever this is run from)

WIDTH = 320
ROWS = (1, 64)


class Way:
    def __init__(self, name: str, address: str, environment: dict):
        self.name, self.address, self.environment = name, address, environment

    def time(self, build: pathlib.Path, rows: int, steps: int) -> list:
        """p50, p99 and longest in microseconds."""
        done = subprocess.run(
            [build / "bench/client_loop_bench", self.address, str(WIDTH), str(rows), str(steps), "grpc"],
            env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"ways: {self.name}: {done.stderr}")
        return [float(number) for number in done.stdout.split()]


@contextlib.contextmanager
def servers(build: pathlib.Path):
    """Gives the ways to three servers: without and with TLS, with mutual TLS, behind nginx."""
    with contextlib.ExitStack() as stack:
        folders = [pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
        maskd = str(build / "service/maskd")
        proxied = stack.enter_context(front.running(folders[0], maskd=maskd))
        tls = [f"--tls_cert={proxied.tls}/tls.crt", f"--tls_key={proxied.tls}/tls.key"]
        ports = [front.free_port() for _ in range(3)]
        started = [
            front.start(folders[1], "a", maskd, f"--listen=unix:{folders[1]}/s,127.0.0.1:{ports[1]}", *tls,
                        f"--insecure_listen=127.0.0.1:{ports[0]}", "--metrics_listen="),
            front.start(folders[1], "b", maskd, f"--listen=127.0.0.1:{ports[2]}", *tls,
                        f"--tls_client_ca={proxied.tls}/ca.crt", "--metrics_listen="),
        ]
        for process in started:
            stack.callback(process.wait)
            stack.callback(process.terminate)
        for port in ports:
            front.await_port(port, *started)
        plain = {name: value for name, value in os.environ.items() if not name.startswith("MASKD_TLS_")}
        yield [
            Way("Unix socket", f"unix:{folders[1]}/s", plain),
            Way("TCP", f"localhost:{ports[0]}", plain),
            Way("TLS", f"localhost:{ports[1]}", proxied.environment("")),
            Way("mutual TLS", f"localhost:{ports[2]}", proxied.environment()),
            Way("nginx, mutual TLS", proxied.address, proxied.environment()),
        ]


def measure(ways: list, build: pathlib.Path, runs: int, steps: int) -> list:
    """Rows of a result file: [name, a number for each way]."""
    found = {(rows, way.name): [] for rows in ROWS for way in ways}
    for _ in range(runs):
        for rows in ROWS:
            for way in ways:
                found[rows, way.name].append(way.time(build, rows, steps))
    name = {1: "1 row", 64: "64 rows"}
    return [[f"{name[rows]}, {percentile}",
             *(round(statistics.median(run[at] for run in found[rows, way.name]), 1) for way in ways)]
            for rows in ROWS for at, percentile in enumerate(("p50", "p99"))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--result", type=pathlib.Path)
    arguments = parser.parse_args()
    if front.nginx() is None:
        print("ways: nginx is not installed (apt-get install nginx-core)", file=sys.stderr)
        return 77
    with servers(arguments.build) as ways:
        rows = measure(ways, arguments.build, arguments.runs, arguments.steps)
    names = [way.name for way in ways]
    print(f"{'':12}", *(f"{name:>18}" for name in names))
    for row in rows:
        print(f"{row[0]:12}", *(f"{number:18.1f}" for number in row[1:]))
    if arguments.result:
        front.write_result(arguments.result, names, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
