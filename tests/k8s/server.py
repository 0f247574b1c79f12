"""A maskd of the test's own: at a Unix socket, its metrics at a port that the system picks, its configuration in a file."""

import contextlib
import os
import pathlib
import re
import subprocess
import time
from typing import NamedTuple

# A tenant, this user, that may begin three compiles a minute; and one that is nobody.
TENANTS = f"""
tenant {{ name: "small" identity: "uid:{os.getuid()}" compiles_per_minute: 3 }}
tenant {{ name: "large" identity: "token:large" }}
"""


class Maskd(NamedTuple):
    address: str
    metrics: str  # http://127.0.0.1:PORT
    folder: pathlib.Path

    def compile(self, pattern: str) -> subprocess.CompletedProcess:
        """Has the server compile a regular expression."""
        file = self.folder / "pattern"
        file.write_text(pattern)
        return subprocess.run([os.environ["MASKD_MASKCTL"], "compile", f"--server={self.address}", "--kind=regex", file],
                              capture_output=True, text=True, timeout=60, check=False)

    def decode_without_end(self) -> subprocess.Popen:
        """An engine that decodes until it is ended."""
        return subprocess.Popen(
            [os.environ["MASKD_MASKCTL"], "simulate", f"--server={self.address}", "--kind=regex", "--sequences=2",
             "--constrained=2", "--budget=100000000", "--max_tokens=100000000", self.endless()],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def endless(self) -> pathlib.Path:
        file = self.folder / "endless"
        file.write_text("[ab]{1000,}")
        return file


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


def port(process: subprocess.Popen, log: pathlib.Path) -> str:
    """Of the metrics, which the server logs."""
    while not (found := re.search(r" metrics .*port=(\d+)\n", log.read_text())):
        assert process.poll() is None, log.read_text()
        time.sleep(0.02)
    return found[1]
