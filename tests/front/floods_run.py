#!/usr/bin/env python3
"""What floods of HTTP/2 do to a bystander, with nginx in front of maskd and without.

    tests/front/floods_run.py [--seconds 8] [--only rapid_reset,calls] [--ways nginx,none] [--result bench/results/floods.json]

For each flood and way both programs are started anew. A bystander (client_loop_bench, 8 rows, a pause of 2 ms between two
steps) and a health check every 100 ms are timed alone, and again while the flood lasts; an attacker that is closed
comes again at once. It has a certificate that maskd lets in, and runs at a lower priority, so that it takes little of the
processor from those that it attacks. When it has gone the server has 30 s to be as before. "silent" has maskd at `ulimit -n 1024`. On a
machine that others use: `chrt -f 10 tests/front/floods_run.py`, which all programs then inherit.

A mark is met when health always answers within 1 s, the bystander's p99 is at most 3 times that alone, maskd grows by at
most 256 MiB, and streams and connections are gone afterwards. Exit status: 1 when one is missed with nginx.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import floods
import front

CHECK = "/grpc.health.v1.Health/Check"
READINESS = b"\x0a\x09readiness"
PAUSE_US = 2000
GROWTH_MIB = 256
RATIO = 3
SETTLE_S = 30
KEPT = 2 * 16  # of the upstream, for each worker of nginx


def memory(process: subprocess.Popen, field: str) -> int:
    """MiB; of one that has died 0."""
    path = pathlib.Path(f"/proc/{process.pid}/status")
    lines = path.read_text().splitlines() if path.exists() else []
    return sum(int(line.split()[1]) for line in lines if line.startswith(field)) >> 10


class Way:
    """How clients reach a running maskd."""

    def __init__(self, running: front.Front, name: str):
        self.running = running
        self.files = [f"{running.tls}/{file}" for file in ("ca.crt", "engine.crt", "engine.key")]
        self.through = name == "nginx"
        self.port = running.port if self.through else running.plain_port

    def flood(self, name: str, seconds: float) -> subprocess.Popen:
        real_time = os.sched_getscheduler(0) == os.SCHED_FIFO
        below = ["chrt", "-f", "5"] if real_time else ["nice", "-n", "19"]
        return subprocess.Popen([*below, sys.executable, floods.__file__, name, str(self.port), str(seconds),
                                 *(self.files if self.through else [])], stdout=subprocess.PIPE, text=True)

    def bystander(self, build: pathlib.Path, seconds: float) -> list:
        """p50, p99 and longest of its steps in milliseconds; none where its stream has ended."""
        environment = self.running.environment() if self.through else None
        done = subprocess.run(
            [build / "bench/client_loop_bench", f"localhost:{self.port}", "320", "8",
             str(int(seconds * 1e6 / PAUSE_US)), "grpc", str(PAUSE_US)],
            env=environment, capture_output=True, text=True, check=False)
        return [float(number) / 1000 for number in done.stdout.split()]

    def health(self, seconds: float) -> list:
        """Milliseconds of each check; infinite where there was no answer within a second."""
        times, end = [], time.monotonic() + seconds
        credentials = grpc.ssl_channel_credentials(*(pathlib.Path(self.files[at]).read_bytes() for at in (0, 2, 1)))
        address = f"localhost:{self.port}"
        made = grpc.secure_channel(address, credentials) if self.through else grpc.insecure_channel(address)
        with made:
            check = made.unary_unary(CHECK, request_serializer=bytes, response_deserializer=bytes)
            while (start := time.monotonic()) < end:
                try:
                    check(READINESS, timeout=1)
                    times.append(1000 * (time.monotonic() - start))
                except grpc.RpcError:
                    times.append(float("inf"))
                time.sleep(0.1)
        return times


def left(running: front.Front) -> list:
    return [front.figure(running, f"maskd_{what}_open") for what in ("streams", "connections")]


def settle(running: front.Front) -> None:
    """Until streams and connections are gone, but for those that nginx keeps."""
    end = time.monotonic() + SETTLE_S
    while running.maskd.poll() is None and time.monotonic() < end:
        streams, connections = left(running)
        if streams == 0 and connections <= KEPT:
            return
        time.sleep(0.5)


def measure(name: str, way_name: str, build: pathlib.Path, seconds: float) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        with front.running(pathlib.Path(folder), maskd=str(build / "service/maskd"), plain=way_name == "none",
                           descriptors="1024" if name == "silent" else "") as running:
            way = Way(running, way_name)
            alone = way.bystander(build, seconds)
            before = memory(running.maskd, "VmRSS")
            with concurrent.futures.ThreadPoolExecutor() as pool:
                attacker = way.flood(name, seconds)
                steps = pool.submit(way.bystander, build, seconds)
                health = pool.submit(way.health, seconds).result()
                flood = json.loads(attacker.communicate()[0])
                flooded = steps.result()
            settle(running)
            alive = running.maskd.poll() is None
            return {
                "flood": name, "way": way_name, **flood, "alive": alive,
                "step_ms_alone": alone, "step_ms": flooded, "health_ms": max(health, default=float("inf")),
                "health_late": sum(each > 1000 for each in health), "health_checks": len(health),
                "grown_mib": memory(running.maskd, "VmHWM") - before,
                "held_mib": memory(running.maskd, "VmRSS") - before,
                "left": left(running) if alive else [0, 0],
                "serves": bool(alive and way.bystander(build, 0.5)),
            }


def faults(result: dict) -> list:
    """Marks that are missed."""
    if not result["alive"]:
        return ["dead"]
    missed = []
    if result["health_late"]:
        missed.append(f"{result['health_late']} of {result['health_checks']} health checks late")
    if not result["step_ms"] or result["step_ms"][1] > RATIO * result["step_ms_alone"][1]:
        missed.append("steps late")
    if result["grown_mib"] > GROWTH_MIB:
        missed.append("memory")
    if result["left"][0] or result["left"][1] > KEPT or not result["serves"]:
        missed.append("not back")
    return missed


def line(result: dict) -> str:
    step = " ".join(f"{each:.2f}" for each in result["step_ms"]) or "ended"
    alone = " ".join(f"{each:.2f}" for each in result["step_ms_alone"])
    first = "open" if result["first closed"] is None else f"{result['first closed']:.2f} s"
    return (f"| {result['flood']} | {result['way']} | {result['closed']} of {result['connections']}, {first} | {alone} | {step} "
            f"| {result['health_ms']:.0f} | {result['grown_mib']}, {result['held_mib']} | {', '.join(faults(result)) or 'met'} |")


NAMES = {"rapid_reset": "rapid reset", "continuation": "CONTINUATION", "empty_data": "empty DATA frames", "gzip": "gzip bomb",
         "half_open": "half-open streams, 800", "calls": "60,000 calls", "silent": "1,100 silent connections"}
COLUMNS = ["first closed, ms", "step p99 alone, ms", "flooded", "longest health, ms", "memory, MiB"]


def cells(result: dict) -> list:
    """Of COLUMNS; a health check that is late is not longer than its second."""
    late = result["health_late"]
    health = [1000, f"{late} of {result['health_checks']} late"] if late else round(result["health_ms"], 1)
    first = None if result["first closed"] is None or result["closed"] == 0 else round(1000 * result["first closed"], 1)
    steps = [round(each[1], 2) if each else None for each in (result["step_ms_alone"], result["step_ms"])]
    return [first, *steps, health, result["grown_mib"] if result["alive"] else [result["grown_mib"], "dead"]]


def write_result(path: pathlib.Path, results: list) -> None:
    found = {(each["flood"], each["way"]): each for each in results}
    rows = [[NAMES[name], *cells(found[name, "nginx"]), *cells(found[name, "none"])] for name in floods.FLOODS]
    columns = [f"nginx: {column}" for column in COLUMNS] + [f"without: {column}" for column in COLUMNS]
    front.write_result(path, columns, rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=front.ROOT / "build/release")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--only", default=",".join(floods.FLOODS))
    parser.add_argument("--ways", default="nginx,none")
    parser.add_argument("--result", type=pathlib.Path, help="a result file, for all floods and both ways")
    arguments = parser.parse_args()
    if front.nginx() is None:
        print("floods_run: nginx is not installed (apt-get install nginx-core)", file=sys.stderr)
        return 77
    results = []
    print("| flood | in front | closed, the first after | step alone, p50 p99 longest ms | flooded | longest health ms | MiB more at most, then | marks |")
    print("| --- | --- | --- | --- | --- | --: | --- | --- |")
    for name in arguments.only.split(","):
        for way in arguments.ways.split(","):
            results.append(measure(name, way, arguments.build, arguments.seconds))
            print(line(results[-1]), flush=True)
    if arguments.result:
        write_result(arguments.result, results)
    return any(faults(each) for each in results if each["way"] == "nginx")


if __name__ == "__main__":
    sys.exit(main())
