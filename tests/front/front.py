"""maskd behind the nginx of k8s/overlays/proxy, by its two files as they are shipped.

What differs from the overlay: folders, ports, and the user, who is the one that runs this.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ROOT / "k8s/overlays/proxy"
CLIENT = "engine.maskd"  # whose certificate maskd.conf lets in
PATIENCE_S = 60


def nginx() -> str | None:
    """The program, where it is installed."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


def openssl(folder: pathlib.Path, *arguments) -> None:
    subprocess.run(["openssl", *map(str, arguments)], cwd=folder, capture_output=True, check=True)


def make_authority(folder: pathlib.Path, name: str) -> None:
    """NAME.crt and NAME.key of an authority."""
    openssl(folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-subj", f"/CN={name}", "-days", 2, "-keyout", f"{name}.key", "-out", f"{name}.crt")


def make_certificate(folder: pathlib.Path, authority: str, file: str, subject: str, host: str = "") -> None:
    """FILE.crt and FILE.key, signed by the authority; for a server with the name of its host."""
    openssl(folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-subj", subject, "-keyout", f"{file}.key", "-out", f"{file}.csr")
    extension = folder / f"{file}.ext"
    extension.write_text(f"subjectAltName=DNS:{host}\n" if host else "keyUsage=digitalSignature\n")
    openssl(folder, "x509", "-req", "-in", f"{file}.csr", "-CA", f"{authority}.crt", "-CAkey", f"{authority}.key",
            "-CAcreateserial", "-days", 2, "-extfile", extension, "-out", f"{file}.crt")


def make_certificates(folder: pathlib.Path) -> None:
    """The Secret's files, and certificates of clients: known, of no tenant, of another authority."""
    folder.mkdir()
    make_authority(folder, "ca")
    make_certificate(folder, "ca", "tls", "/CN=maskd", "localhost")
    make_certificate(folder, "ca", "engine", f"/CN={CLIENT}")
    make_certificate(folder, "ca", "nobody", "/CN=nobody")
    make_authority(folder, "other")
    make_certificate(folder, "other", "stranger", f"/CN={CLIENT}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Front(NamedTuple):
    folder: pathlib.Path
    port: int  # of TLS
    health_port: int
    metrics_port: int
    plain_port: int  # of maskd itself without TLS, which no overlay has; 0: none
    maskd: subprocess.Popen
    nginx: subprocess.Popen

    @property
    def address(self) -> str:
        return f"localhost:{self.port}"

    @property
    def socket(self) -> str:
        return f"unix:{self.folder}/run/maskd.sock"

    @property
    def tls(self) -> pathlib.Path:
        return self.folder / "tls"

    def environment(self, client: str = "engine") -> dict:
        """For a client of ours, with that certificate; with none where it is empty."""
        variables = {**os.environ, "MASKD_TLS_CA": f"{self.tls}/ca.crt"}
        if client:
            variables.update(MASKD_TLS_CERT=f"{self.tls}/{client}.crt", MASKD_TLS_KEY=f"{self.tls}/{client}.key")
        return variables

    def reload(self) -> None:
        self.nginx.send_signal(signal.SIGHUP)

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")


# Who comes without nginx has no certificate.
PLAIN = 'tenant { name: "plain" identity: "address:127.0.0.1" identity: "address:127.0.0.2" }\n'


def write_files(folder: pathlib.Path, port: int, health_port: int, plain: bool) -> None:
    (folder / "run").mkdir()
    user, group = os.getuid(), os.getgid()
    for name in ("nginx.conf", "maskd.conf"):
        text = (FILES / name).read_text(encoding="utf-8")
        text = text.replace("/etc/maskd/tls", f"{folder}/tls").replace("/run/maskd", f"{folder}/run")
        text = text.replace("0.0.0.0:7411", f"127.0.0.1:{port}").replace("0.0.0.0:7412", f"127.0.0.1:{health_port}")
        text = text.replace('"65532"', f'"{group}"').replace('"101"', f'"{user}"')
        (folder / name).write_text(text + (PLAIN if plain and name == "maskd.conf" else ""), encoding="utf-8")


def start(folder: pathlib.Path, log: str, *command, limit: str = "") -> subprocess.Popen:
    shell = f"ulimit -n {limit}; " if limit else ""
    with (folder / f"{log}.log").open("w") as output:
        return subprocess.Popen(["bash", "-c", f'{shell}exec "$@"', "bash", *map(str, command)],
                                stdin=subprocess.DEVNULL, stderr=output, stdout=output)


def await_port(port: int, *processes: subprocess.Popen) -> None:
    end = time.monotonic() + PATIENCE_S
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        assert time.monotonic() < end and all(each.poll() is None for each in processes), "it does not listen"
        time.sleep(0.02)


@contextlib.contextmanager
def running(folder: pathlib.Path, *flags: str, maskd: str, plain: bool = False, descriptors: str = ""):
    """Both programs. `descriptors`: as many may maskd open."""
    make_certificates(folder / "tls")
    ports = [free_port() for _ in range(4)]
    port, health_port, metrics_port, plain_port = ports[0], ports[1], ports[2], ports[3] if plain else 0
    write_files(folder, port, health_port, plain)
    as_user = " user root;" if os.getuid() == 0 else ""  # its workers read the folder of a test
    proxy = start(folder, "nginx", nginx(), "-e", "stderr", "-c", folder / "nginx.conf", "-g", f"daemon off;{as_user}")
    insecure = [f"--insecure_listen=127.0.0.1:{plain_port}"] if plain else []
    server = start(folder, "maskd", maskd, f"--config={folder}/maskd.conf", "--heap_mib=0",
                   f"--metrics_listen=127.0.0.1:{metrics_port}", *insecure, *flags, limit=descriptors)
    try:
        for each in (port, health_port, metrics_port, *([plain_port] if plain else [])):
            await_port(each, proxy, server)
        yield Front(folder, port, health_port, metrics_port, plain_port, server, proxy)
    finally:
        for process in (server, proxy):
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(30)
            process.kill()
            process.wait()


def write_result(path: pathlib.Path, columns: list, rows: list) -> None:
    """Columns and rows of a file of bench/results, a row a line; what else stands there stays."""
    written = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    head = json.dumps({**written, "columns": columns, "rows": []}, indent=1)
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    path.write_text(head.replace('"rows": []', f'"rows": [\n{lines}\n ]') + "\n", encoding="utf-8")


def figure(front: Front, name: str) -> float:
    """The sum of a metric of maskd's over its labels."""
    page = urllib.request.urlopen(f"http://127.0.0.1:{front.metrics_port}/metrics", timeout=20).read().decode()
    values = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", page, re.MULTILINE)
    assert values, f"{name}: no such metric"
    return sum(map(float, values))
