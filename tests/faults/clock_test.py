"""The clock of the day jumps under a server, or under its client, while steps go on.

The library of moved_clock.cc moves the clock of one process, and the waits that end by it. What a
time-out of gRPC's own does then is not looked at.
"""

import os
import pathlib
import struct
import subprocess
import time
from collections.abc import Iterator

import grpc
import pytest

DAY = 86_400
JUMPS = {
    "5 s on": 5,
    "40 s on": 40,
    "a day on": DAY,
    "5 s back": -5,
    "40 s back": -40,
    "two days back": -2 * DAY,
}
DRAIN_S = 1
ROUNDS = 400
PAUSE_US = 2000
PATIENCE_S = 5
CHECK = "/grpc.health.v1.Health/Check"
SERVING = b"\x08\x01"


class Clock:
    """The clock of a process that is started with `environment`."""

    def __init__(self, file: pathlib.Path):
        self.file = file
        self.move(0)
        self.environment = {
            **os.environ,
            "LD_PRELOAD": os.environ["MASKD_MOVED_CLOCK"],
            "MOVED_CLOCK": str(file),
        }

    def move(self, seconds: int) -> None:
        with open(self.file, "r+b" if self.file.exists() else "w+b") as file:
            file.write(struct.pack("=q", seconds))


def is_healthy(address: str) -> bool:
    with grpc.insecure_channel(address) as channel:
        call = channel.unary_unary(CHECK, request_serializer=bytes, response_deserializer=bytes)
        return call(b"", timeout=PATIENCE_S) == SERVING


@pytest.fixture(name="clock")
def _clock(tmp_path: pathlib.Path) -> Clock:
    return Clock(tmp_path / "moved")


@pytest.fixture(name="server")
def _server(
    tmp_path: pathlib.Path, clock: Clock, who: str
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    socket = tmp_path / "s"
    with subprocess.Popen(
        [
            os.environ["MASKD_BINARY"],
            f"--listen=unix:{socket}",
            "--metrics_listen=",
            f"--drain_ms={DRAIN_S * 1000}",
        ],
        stderr=subprocess.DEVNULL,
        env=clock.environment if who == "server" else None,
    ) as server:
        while not socket.exists():
            assert server.poll() is None
            time.sleep(0.02)
        yield server, f"unix:{socket}"
        server.kill()


@pytest.mark.parametrize("way", ["grpc", "memory"])
@pytest.mark.parametrize("who", ["server", "client"])
@pytest.mark.parametrize("jump", JUMPS)
def test_steps_go_on_and_the_drain_ends(
    clock: Clock, server: tuple[subprocess.Popen[bytes], str], who: str, jump: str, way: str
) -> None:
    process, address = server
    with subprocess.Popen(
        [os.environ["MASKD_LOOP"], address, "320", "8", str(ROUNDS), way, str(PAUSE_US)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=clock.environment if who == "client" else None,
    ) as client:
        time.sleep(0.6)
        assert client.poll() is None, "it must still be at its steps"
        clock.move(JUMPS[jump])
        assert is_healthy(address)
        said = client.communicate()[0]
    assert client.returncode == 0, said
    process.terminate()
    assert process.wait() == 0, "0: the drain has ended in time, by the server's own verdict"
