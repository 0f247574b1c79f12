#!/usr/bin/env python3
"""A rolling restart of real servers under engines of several languages, as README.md ("Rolling restart") says it.

    scripts/test-clients rolling [LANGUAGE...]          builds the engines and runs this
    tests/interop/rolling_restart.py LANGUAGE=COMMAND... [--rounds 2] [--signal TERM|KILL] ...

COMMAND is an engine's program, to which its arguments are added. MASKD_SERVER is the server's (build/release/service/maskd).
The servers are restarted in turn, each once streams are even again. Then the same engines run on one server to which
nothing happens. Exit status 1 where a step failed, a mask differs from the undisturbed run's, engines of one seed differ, or
streams do not become even: by maskd_streams_open each server must have the mean, give or take 20 % or what does not divide.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
BINARY = os.environ.get("MASKD_SERVER", HERE.parents[1] / "build/release/service/maskd")
WIDTH = 2080
GRAMMARS = ("json_schema", '{"properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, '
                           '"required": ["name", "age"], "additionalProperties": false}',
            "regex", "([a-z][a-m]?[0-9]?)*", "choice", '["red", "rose", "rosemary", "blue"]', "json_object", "")
# How long something may take that has no time of its own: then it never comes.
PATIENCE_S = 120


class Fault(Exception):
    """What must not happen did."""


class Server:
    """A maskd at a path of its own, started as often as wanted."""

    def __init__(self, folder: pathlib.Path, name: str):
        self.address, self.log = f"unix:{folder}/{name}", folder / f"{name}.log"
        self.start()

    def start(self) -> None:
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [BINARY, f"--listen={self.address}", "--metrics_listen=127.0.0.1:0", "--heap_mib=0",
                 f"--tokenizer=pairs={HERE}/pairs.tiktoken,special=<end>:256,stop=<end>"],
                stdin=subprocess.DEVNULL, stderr=log)
        wait_for("a server", lambda: self.port() or self.process.poll() is not None)
        if self.process.poll() is not None:
            raise Fault(f"a server does not start: {self.log.read_text()}")

    def port(self) -> str | None:
        found = re.search(r" metrics .*port=(\d+)\n", self.log.read_text())
        return found and found[1]

    def streams(self) -> int:
        page = urllib.request.urlopen(f"http://127.0.0.1:{self.port()}/metrics", timeout=20).read().decode()
        return int(float(re.search(r"^maskd_streams_open (\S+)$", page, re.MULTILINE)[1]))

    def stop(self, by: signal.Signals) -> None:
        self.process.send_signal(by)
        self.process.wait(PATIENCE_S)


class Engine:
    """A program of a language, and what it has said: by its steps the digest of all masks until there."""

    def __init__(self, language: str, command: str, seed: int, addresses: list[str], pause_ms: int):
        self.name, self.seed, self.moves = f"{language} {seed}", seed, 0
        self.digests: dict[int, str] = {}
        self.errors = ""
        self.process = subprocess.Popen([*shlex.split(command), ",".join(addresses), str(WIDTH), str(seed), str(pause_ms), *GRAMMARS],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for read in (self._read, self._read_errors):
            threading.Thread(target=read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            steps, moves, digest = line.split()
            self.digests[int(steps)], self.moves = digest, int(moves)

    def _read_errors(self) -> None:
        self.errors = self.process.stderr.read()

    @property
    def steps(self) -> int:
        return max(self.digests, default=0)

    def check(self) -> None:
        """An engine ends by itself where a step fails, and only there."""
        if self.process.poll() is not None:
            time.sleep(0.2)  # for its last words
            raise Fault(f"{self.name}: a step failed after {self.steps} or more: {self.errors.strip()}")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def wait_for(what: str, condition, engines: list[Engine] = ()) -> float:
    """The seconds until `condition`."""
    begin = time.monotonic()
    while not condition():
        for engine in engines:
            engine.check()
        if time.monotonic() > begin + PATIENCE_S:
            raise Fault(f"{what}: not within {PATIENCE_S} s")
        time.sleep(0.05)
    return time.monotonic() - begin


def are_even(streams: list[int], engines: int) -> bool:
    mean = engines / len(streams)
    near = all(abs(each - mean) <= 0.2 * mean for each in streams)
    return sum(streams) == engines and (near or max(streams) <= min(streams) + 1)


def await_even(servers: list[Server], engines: list[Engine], since: str) -> None:
    seen: list[int] = []

    def look() -> bool:
        seen[:] = [server.streams() for server in servers]
        return are_even(seen, len(engines))

    try:
        seconds = wait_for("even streams", look, engines)
    except Fault as fault:
        raise Fault(f"{since}: {fault}; streams {seen}") from None
    print(f"{since}: streams {' '.join(map(str, seen))} after {seconds:.1f} s", flush=True)


@contextlib.contextmanager
def running(engines: list[Engine]):
    try:
        yield engines
    finally:
        for engine in engines:
            engine.end()


def started(arguments: argparse.Namespace, servers: list[Server], pause_ms: int):
    commands = [each.split("=", 1) for each in arguments.engine]
    addresses = [server.address for server in servers]
    return running([Engine(*each, seed, addresses, pause_ms) for each in commands for seed in range(1, arguments.engines + 1)])


def roll(arguments: argparse.Namespace, servers: list[Server]) -> list[Engine]:
    """Restarts each server in turn, and gives the engines that lived through it."""
    with started(arguments, servers, arguments.pause_ms) as engines:
        wait_for("first steps", lambda: all(engine.steps for engine in engines), engines)
        await_even(servers, engines, "at the start")
        for i, server in arguments.rounds * list(enumerate(servers, 1)):
            server.stop(signal.Signals[f"SIG{arguments.signal}"])
            await_even([each for each in servers if each is not server], engines, f"without server {i}")
            server.start()
            await_even(servers, engines, f"with server {i} again")
        goals = {engine.name: engine.steps + 20 for engine in engines}
        wait_for("more steps", lambda: all(engine.steps >= goals[engine.name] for engine in engines), engines)
    return engines


def undisturbed(arguments: argparse.Namespace, server: Server, goals: dict[str, int]) -> dict[str, Engine]:
    with started(arguments, [server], 0) as engines:
        wait_for("as many steps", lambda: all(engine.steps >= goals[engine.name] for engine in engines), engines)
    return {engine.name: engine for engine in engines}


def compare(engines: list[Engine], alone: dict[str, Engine]) -> list[str]:
    """Prints a line for each engine, and gives what is wrong."""
    wrong = []
    for engine in engines:
        differ = [steps for steps, digest in engine.digests.items() if alone[engine.name].digests[steps] != digest]
        same = "differ" if differ else "as undisturbed"
        print(f"{engine.name}: {engine.steps} steps, 0 failed, {engine.moves} moves, masks {same} {engine.digests[engine.steps]}")
        wrong += [f"{engine.name}: the masks differ within the first {min(differ)} steps"] if differ else []
    for seed in sorted({engine.seed for engine in engines}):
        twins = [engine for engine in engines if engine.seed == seed]
        common = min(engine.steps for engine in twins)
        digests = {engine.digests[common] for engine in twins}
        wrong += [f"seed {seed}: languages differ after {common} steps"] if len(digests) > 1 else []
    return wrong


def run(arguments: argparse.Namespace, folder: pathlib.Path) -> list[str]:
    servers = []
    try:
        for i in range(arguments.servers + 1):
            servers.append(Server(folder, f"s{i}"))
        engines = roll(arguments, servers[:-1])
        alone = undisturbed(arguments, servers[-1], {engine.name: engine.steps for engine in engines})
    finally:
        for server in servers:
            server.process.kill()
            server.process.wait()
    return compare(engines, alone)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("engine", nargs="+", metavar="LANGUAGE=COMMAND")
    parser.add_argument("--engines", type=int, default=2, help="of each language [2]")
    parser.add_argument("--servers", type=int, default=3, help="[3]")
    parser.add_argument("--rounds", type=int, default=2, help="how often each server is restarted [2]")
    parser.add_argument("--signal", choices=["TERM", "KILL"], default="TERM", help="how a server is ended [TERM]")
    parser.add_argument("--pause_ms", type=int, default=20, help="between two steps of an engine [20]")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            wrong = run(arguments, pathlib.Path(folder))
        except Fault as fault:
            wrong = [str(fault)]
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
