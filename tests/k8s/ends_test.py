"""A client that was killed is counted as one that left, and one that closed its stream is not.

A killed client's connection ends as a closed stream does: its half first, and only then the call.
"""

import os
import subprocess

import pytest

import server

pytestmark = pytest.mark.skipif("MASKD_BINARY" not in os.environ, reason="this build has no server")

LEFT = 'maskd_refused_total{code="CANCELLED",reason="CANCELLED"} '


@pytest.mark.parametrize("configuration", ["", server.tenants(compiles_per_minute=60)], ids=["open", "tenants"])
def test_who_was_killed_has_left(tmp_path, configuration):
    with server.running(tmp_path, configuration) as maskd:
        simulate = [os.environ["MASKD_MASKCTL"], "simulate", f"--server={maskd.address}", "--schemas=examples/schemas"]
        subprocess.run(simulate, check=True, stdout=subprocess.DEVNULL, timeout=60)
        assert f"{LEFT}0" in server.await_line(maskd, "maskd_streams_open 0")
        endless = [*simulate, "--budget=1048576", "--max_tokens=1048576"]
        with subprocess.Popen(endless, stdout=subprocess.DEVNULL) as client:
            server.await_line(maskd, "maskd_streams_open 1")
            client.kill()
        server.await_line(maskd, f"{LEFT}1")
    # Of a server that has ended: lines are written behind what they speak of.
    assert "code=CANCELLED" in (tmp_path / "log").read_text()
