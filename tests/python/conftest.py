"""A server with the embedded vocabulary: ids 0 to 255 are the bytes, 256 is the end. MASKD_TEST_ADDRESS in
its place: the engine in this process, "local:".
"""

import os
import pathlib
import signal
import subprocess
import time

import pytest

import maskd

_SKIPPED = 77  # what ctest knows


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A file of which nothing ran is skipped as a whole; the reasons are in pytest's summary."""
    counts = session.config.pluginmanager.getplugin("terminalreporter").stats
    ran = any(counts.get(each) for each in ("passed", "failed", "error", "xfailed", "xpassed"))
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and counts.get("skipped") and not ran:
        session.exitstatus = _SKIPPED


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory):
    if given := os.environ.get("MASKD_TEST_ADDRESS"):
        yield given
        return
    socket = pathlib.Path(tmp_path_factory.mktemp("maskd")) / "s"
    with subprocess.Popen([os.environ["MASKD_SERVER"], f"--listen=unix:{socket}",
                           "--metrics_listen="], stdin=subprocess.DEVNULL) as server:
        maskd.Client(f"unix:{socket}", timeout_s=20).close()
        yield f"unix:{socket}"
        server.terminate()


@pytest.fixture(scope="session")
def client(address: str):
    with maskd.Client(address, timeout_s=20) as connected:
        yield connected


def hang(server: subprocess.Popen[bytes]) -> None:
    """SIGSTOP, and until all of its threads stand still."""
    server.send_signal(signal.SIGSTOP)
    threads = pathlib.Path(f"/proc/{server.pid}/task")
    while any((each / "stat").read_text().rpartition(")")[2].split()[0] != "T"
              for each in threads.iterdir()):
        time.sleep(0.01)
