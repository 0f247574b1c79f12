"""A maskd of the test's own: at a Unix socket, its metrics at a port that the system picks, its configuration in a file."""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import NamedTuple

PATIENCE_S = 60


def tenants(compiles_per_minute: int) -> str:
    """A configuration with a tenant who is this user, and one who never comes."""
    return f"""
tenant {{ name: "small" identity: "uid:{os.getuid()}" compiles_per_minute: {compiles_per_minute} }}
tenant {{ name: "large" identity: "token:large" }}
"""


class Maskd(NamedTuple):
    address: str
    metrics: str  # http://127.0.0.1:PORT
    folder: pathlib.Path

    def compile(self, pattern: str) -> subprocess.CompletedProcess:
        """Has the server compile a regular expression. Waits, and asks again, where a limit is met."""
        with self.begin_compile(pattern) as process:
            out, error = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, out, error)

    def begin_compile(self, pattern: str) -> subprocess.Popen:
        file = self.folder / f"pattern{pattern.encode().hex()}"
        file.write_text(pattern)
        return subprocess.Popen(
            [os.environ["MASKD_MASKCTL"], "compile", f"--server={self.address}", "--kind=regex", file],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@contextlib.contextmanager
def running(folder: pathlib.Path, configuration: str, *flags: str):
    (folder / "conf").write_text(configuration)
    address, log = f"unix:{folder}/s", folder / "log"
    with log.open("w") as written, subprocess.Popen(
            [os.environ["MASKD_BINARY"], f"--listen={address}", "--metrics_listen=127.0.0.1:0",
             f"--config={folder}/conf", "--heap_mib=0", "--shared_memory=false", *flags],
            stdin=subprocess.DEVNULL, stderr=written) as process:
        try:
            yield Maskd(address, f"http://127.0.0.1:{port(process, log)}", folder)
        finally:
            process.terminate()


# Holds a stream.
HOLDER = """
import sys, time, maskd
client = maskd.Client(sys.argv[1])
stream = client.open_stream(320)
time.sleep(3600)
"""


@contextlib.contextmanager
def endless_client(maskd: Maskd) -> Iterator[subprocess.Popen]:
    """A process that has a stream open until it is killed, at the latest behind the block."""
    with subprocess.Popen([sys.executable, "-c", HOLDER, maskd.address]) as client:
        try:
            yield client
        finally:
            client.kill()


def port(process: subprocess.Popen, log: pathlib.Path) -> str:
    """Of the metrics, which the server logs."""
    while not (found := re.search(r" metrics .*port=(\d+)\n", log.read_text())):
        assert process.poll() is None, log.read_text()
        time.sleep(0.02)
    return found[1]


def await_line(maskd: Maskd, line: str) -> str:
    """The page of metrics, once it has that line."""
    end = time.monotonic() + PATIENCE_S
    while True:
        page = urllib.request.urlopen(f"{maskd.metrics}/metrics", timeout=20).read().decode()
        if line in page.splitlines():
            return page
        assert time.monotonic() < end, page
        time.sleep(0.02)
