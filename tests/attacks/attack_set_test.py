"""The attack set by `maskctl attack`, every case of it: through the engine, and through a server.

What is held here are answers, deaths and memory. A machine that is busy is late, so time is not.
"""

import base64
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(os.environ.get("MASKD_SHARED_DIR", ROOT.parent / "shared")) / "attacks"
KNOWN = pathlib.Path(__file__).with_name("known_faults.txt")
OF_A_SERVER = ("service", "wire")
# library; server: the same cases; a family of a server's own; churn: the longest case of one.
PART = os.environ["MASKD_PART"]
CHURN = "service-cache-churn"
# What there is not yet. A case that needs anything else fails.
ABSENT = {"service-idle-session", "wire-plaintext-on-tls", "wire-cert-other-ca", "wire-no-credentials"}
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"NOT TESTED: no attack set at {FOLDER}")


def families(of_a_server: bool) -> list:
    return sorted(path for path in FOLDER.glob("*.jsonl")
                  if (path.stem in OF_A_SERVER) == of_a_server)


def known() -> list:
    lines = KNOWN.read_text(encoding="utf-8").splitlines()
    return [line.split()[0] for line in lines if not line.startswith("#")]


def runs() -> list:
    """For each server: the files, and which of their cases (none: all)."""
    if PART == "server":
        return [(families(of_a_server=False), [])]
    path = FOLDER / f"{'service' if PART == 'churn' else PART}.jsonl"
    ids = [json.loads(line)["id"] for line in path.read_text(encoding="utf-8").splitlines()]
    if PART == "churn":
        return [([path], [CHURN])]
    alone = [case for case in ids if case in known()]
    return [([path], [case for case in ids if case not in alone and case != CHURN]),
            *(([path], [case]) for case in alone)]


def attack(*arguments):
    done = subprocess.run(
        [os.environ["MASKD_MASKCTL"], "attack", "--clock=none", f"--known={KNOWN}", *arguments],
        capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
    absent = {line.split(":")[0] for line in done.stdout.splitlines() if ": absent: " in line}
    assert absent <= ABSENT
    return done


def passed(done) -> bool:
    """A run of nothing but a case that is known to fail has passed if the server lives."""
    return done.returncode == 0 or ("known, " in done.stdout and "deaths: 0" in done.stdout)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_vocabulary(path: pathlib.Path):
    """Another vocabulary: the bytes in the other order, as a file of ranks."""
    lines = [f"{base64.b64encode(bytes([255 - rank])).decode()} {rank}" for rank in range(256)]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


@contextlib.contextmanager
def running_server(folder: pathlib.Path):
    """A server in little memory, none of it touched ahead: arguments that name it."""
    address, port, log = f"unix:{folder}/s", free_port(), folder / "log"
    write_vocabulary(folder / "other.tiktoken")
    with log.open("wb") as output, subprocess.Popen(
            [os.environ["MASKD_SERVER"], f"--listen={address}", f"--metrics_listen=127.0.0.1:{port}",
             "--memory_bytes=900MiB", "--cache_bytes=16MiB", "--heap_mib=0", "--tokenizer=bytes", f"--tokenizer=other={folder}/other.tiktoken,special=<|end|>:256,stop=<|end|>"],
            stdin=subprocess.DEVNULL, stderr=output) as server:
        try:
            while b"metrics" not in log.read_bytes() and server.poll() is None:
                time.sleep(0.05)
            yield [f"--server={address}", f"--metrics=127.0.0.1:{port}", f"--log={log}"]
            assert server.poll() is None, log.read_text(encoding="utf-8")
        finally:
            server.terminate()


@pytest.mark.skipif(PART != "library", reason="another test's part")
def test_the_library_answers_each_case_as_it_must():
    done = attack("--library", *families(of_a_server=False))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(PART == "library", reason="another test's part")
@pytest.mark.parametrize("files, only", [] if PART == "library" or not FOLDER.is_dir() else runs())
def test_a_server_answers_each_case_as_it_must(tmp_path, files, only):
    with running_server(tmp_path) as server:
        done = attack(*server, f"--only={','.join(only)}", *files)
        assert passed(done) if only and set(only) <= set(known()) else done.returncode == 0
