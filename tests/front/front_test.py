"""The front as it is shipped: who comes in and as whom, what it passes on, and floods of HTTP/2 that it ends.

Nothing here is timed: tests/front/floods_run.py measures.
"""

import os
import pathlib
import shutil
import socket
import ssl
import subprocess
import sys
import time

import grpc
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import floods
import front

COMPILE = "/maskd.v1.CompileService/Compile"
CHECK = "/grpc.health.v1.Health/Check"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
SERVING = b"\x08\x01"
LIVENESS = b"\x0a\x08liveness"
PATIENCE_S = 60
# Those that it closes. Of the others the calls are refused, or end where they are.
CLOSED = {"rapid_reset", "continuation", "empty_data", "calls", "silent"}


@pytest.fixture(scope="module", autouse=True)
def programs():
    """Here and not above: while pytest collects, it makes an error of an exit."""
    if front.nginx() is None or not shutil.which("openssl"):
        pytest.exit("NOT TESTED: the front needs nginx and openssl (apt-get install nginx-core)", returncode=77)


@pytest.fixture(name="running", scope="module")
def running_front(tmp_path_factory):
    folder = tmp_path_factory.mktemp("front")
    with front.running(folder, maskd=os.environ["MASKD_BINARY"]) as made:
        yield made


def channel(running, client: str = "engine"):
    read = [(running.tls / name).read_bytes() for name in ("ca.crt", f"{client}.key", f"{client}.crt")]
    return grpc.secure_channel(running.address, grpc.ssl_channel_credentials(*read))


def code(made, method: str, metadata=(), request: bytes = b"") -> grpc.StatusCode:
    """What a call ends with."""
    call = made.unary_unary(method, request_serializer=bytes, response_deserializer=bytes)
    try:
        call(request, metadata=metadata, timeout=PATIENCE_S)
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def compiled(running, client: str) -> subprocess.CompletedProcess:
    text = running.folder / "pattern"
    text.write_text("[a-z]+")
    return subprocess.run(
        [os.environ["MASKD_MASKCTL"], "compile", f"--server={running.address}", "--kind=regex", text],
        env=running.environment(client), capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def is_healthy(running) -> bool:
    with grpc.insecure_channel(f"127.0.0.1:{running.health_port}") as plain:
        call = plain.unary_unary(CHECK, request_serializer=bytes, response_deserializer=bytes)
        return call(LIVENESS, timeout=PATIENCE_S, wait_for_ready=True) == SERVING


@pytest.mark.parametrize("client, error", [
    ("engine", ""),
    ("nobody", "PERMISSION_DENIED (NO_TENANT)"),
    ("stranger", "UNAUTHENTICATED: a certificate of this server's authority is needed"),
    ("", "UNAUTHENTICATED: a certificate of this server's authority is needed"),
])
def test_the_certificate_says_who_it_is(running, client, error):
    done = compiled(running, client)
    assert (done.returncode == 0) == (error == "")
    assert error in done.stderr


def test_no_client_says_itself_who_it_is(running):
    with channel(running, "nobody") as made:
        claimed = (("x-maskd-client", f"CN={front.CLIENT}"),)
        assert code(made, COMPILE, claimed) == grpc.StatusCode.PERMISSION_DENIED
    with channel(running) as made:
        claimed = (("x-maskd-client", "CN=nobody"),)
        assert code(made, COMPILE, claimed) == grpc.StatusCode.INVALID_ARGUMENT  # an empty request


def test_other_services_are_not_passed_on(running):
    with channel(running) as made:
        assert code(made, REFLECTION) == grpc.StatusCode.UNIMPLEMENTED
        assert code(made, CHECK, request=LIVENESS) == grpc.StatusCode.OK


def test_in_plain_text_there_is_health_and_nothing_else(running):
    assert is_healthy(running)
    with grpc.insecure_channel(f"127.0.0.1:{running.health_port}") as plain:
        assert code(plain, COMPILE) == grpc.StatusCode.UNIMPLEMENTED


def certificate(running) -> bytes:
    """The one that is shown."""
    unchecked = ssl.create_default_context()
    unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", running.port), timeout=PATIENCE_S) as made, \
            unchecked.wrap_socket(made) as shaken:
        return shaken.getpeercert(binary_form=True)


def test_a_new_certificate_needs_no_reload_and_open_connections_go_on(running):
    before = certificate(running)
    with channel(running) as made:
        assert code(made, CHECK, request=LIVENESS) == grpc.StatusCode.OK
        front.make_certificate(running.tls, "ca", "next", "/CN=maskd", "localhost")
        for kind in ("key", "crt"):
            (running.tls / f"next.{kind}").replace(running.tls / f"tls.{kind}")
        assert certificate(running) != before
        assert code(made, CHECK, request=LIVENESS) == grpc.StatusCode.OK
    assert compiled(running, "engine").returncode == 0


def peak_mib(process: subprocess.Popen) -> int:
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("VmHWM")) >> 10


@pytest.mark.parametrize("name", floods.FLOODS)
def test_a_flood_ends_and_leaves_nothing(running, name):
    peak = peak_mib(running.maskd)
    tls = floods.context(*(f"{running.tls}/{file}" for file in ("ca.crt", "engine.crt", "engine.key")))
    result = floods.run(name, running.port, PATIENCE_S if name in CLOSED else 1, tls)
    if name in CLOSED:
        assert result["closed"] == result["connections"], result
    assert is_healthy(running)
    assert compiled(running, "engine").returncode == 0
    assert peak_mib(running.maskd) <= peak + 64
    await_nothing(running)


def await_nothing(running) -> None:
    """Of the flood's calls none is left; connections that nginx keeps are few (keepalive, for each worker)."""
    end = time.monotonic() + PATIENCE_S
    while True:
        left = front.figure(running, "maskd_streams_open"), front.figure(running, "maskd_connections_open")
        if left[0] == 0 and left[1] <= 2 * 16:
            return
        assert time.monotonic() < end, left
        time.sleep(0.05)


def test_without_maskd_a_call_is_unavailable(tmp_path):
    with front.running(tmp_path, maskd=os.environ["MASKD_BINARY"]) as running:
        running.maskd.terminate()
        running.maskd.wait(PATIENCE_S)
        with channel(running) as made:
            assert code(made, COMPILE) == grpc.StatusCode.UNAVAILABLE
