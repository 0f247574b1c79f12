"""A server with the embedded vocabulary: ids 0 to 255 are the bytes, 256 is the end. MASKD_TEST_ADDRESS in
its place: the engine in this process, "local:".
"""

import os
import pathlib
import subprocess

import pytest

import maskd


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory):
    if given := os.environ.get("MASKD_TEST_ADDRESS"):
        yield given
        return
    socket = pathlib.Path(tmp_path_factory.mktemp("maskd")) / "s"
    with subprocess.Popen([os.environ["MASKD_SERVER"], f"--listen=unix:{socket}",
                           "--metrics_listen="], stdin=subprocess.DEVNULL) as server:
        yield f"unix:{socket}"
        server.terminate()


@pytest.fixture(scope="session")
def client(address: str):
    with maskd.Client(address, timeout_s=20) as connected:
        yield connected
