"""A real control plane for tests: etcd, kube-apiserver, scheduler, controller-manager, a Prometheus and its adapter.

The programs are those of scripts/kube-tools and scripts/fetch-prometheus. All of it lives in a network namespace of
the test's own, with an address for each pod, so ports are what they are in a cluster and nothing is reached from outside.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import pytest
import yaml

import prometheus

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOLS = ROOT / "build/kube-tools"
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "prometheus-adapter")
PATIENCE_S = 300
HOST = "10.77.0.1"
_TOKEN = "of-the-test"
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
PORTS = {"etcd": 2379, "etcd-peers": 2380, "kube-apiserver": 6443, "kube-controller-manager": 10257,
         "kube-scheduler": 10259, "prometheus": 9090, "prometheus-adapter": 7443}


def need_programs() -> None:
    """Ends the run as skipped, said aloud (77), where they are not."""
    lacking = [name for name in PROGRAMS if not (TOOLS / name).is_file()]
    if lacking:
        pytest.exit(f"NOT TESTED: no {', '.join(lacking)}; scripts/kube-tools builds them", returncode=77)
    prometheus.program("prometheus")


def enter_own_network() -> None:
    """For this thread and all that it starts from here on."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK) != 0:
        pytest.exit(f"NOT TESTED: no network of its own: {os.strerror(ctypes.get_errno())}", returncode=77)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    add_address(HOST)


def add_address(address: str) -> None:
    subprocess.run(["ip", "addr", "add", f"{address}/16", "dev", "lo"], check=True)


def until(ask: Callable[[], Any], what: str, patience_s: float = PATIENCE_S) -> Any:
    """The first answer that counts."""
    end = time.monotonic() + patience_s
    while True:
        answer = ask()
        if answer:
            return answer
        assert time.monotonic() < end, what
        time.sleep(0.5)


class Api:
    """The API server's REST."""

    def __init__(self) -> None:
        self.address = f"https://{HOST}:{PORTS['kube-apiserver']}"
        self._context = ssl._create_unverified_context()  # noqa: S323: a certificate of the test's own

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        request = urllib.request.Request(
            self.address + path, None if body is None else json.dumps(body).encode(), method=method,
            headers={"Authorization": f"Bearer {_TOKEN}", "Content-Type": kind})
        with urllib.request.urlopen(request, context=self._context, timeout=60) as answer:
            text = answer.read()
        return json.loads(text) if text[:1] in b"{[" and text else text

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def merge(self, path: str, patch: Any) -> Any:
        return self.call("PATCH", path, patch, "application/merge-patch+json")

    def is_there(self, path: str) -> bool:
        try:
            self.get(path)
        except (OSError, urllib.error.URLError):
            return False
        return True


class Plane(NamedTuple):
    api: Api
    folder: pathlib.Path
    kubeconfig: pathlib.Path

    def kubectl(self, *arguments: str, text: str | None = None) -> subprocess.CompletedProcess:
        return subprocess.run(["kubectl", f"--kubeconfig={self.kubeconfig}", *arguments], input=text,
                              capture_output=True, text=True, check=False, timeout=PATIENCE_S)

    def apply(self, manifests: Sequence[dict]) -> None:
        done = self.kubectl("apply", "-f", "-", text=yaml.safe_dump_all(manifests))
        assert done.returncode == 0, done.stderr


def _certificates(folder: pathlib.Path) -> None:
    """A key for accounts, and an authority with the certificate by which the API server asks the adapter."""
    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    openssl("genrsa", "-out", "sa.key", "2048")
    openssl("rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.crt", "-days", "2",
            "-subj", "/CN=authority")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", "proxy.key", "-out", "proxy.csr",
            "-subj", "/CN=aggregator")
    openssl("x509", "-req", "-in", "proxy.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
            "-out", "proxy.crt", "-days", "2")
    (folder / "tokens.csv").write_text(f"{_TOKEN},admin,admin,system:masters\n")


def _kubeconfig(folder: pathlib.Path, api: Api) -> pathlib.Path:
    path = folder / "kubeconfig"
    path.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": api.address, "insecure-skip-tls-verify": True}}],
        "users": [{"name": "test", "user": {"token": _TOKEN}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}]}))
    return path


def _apiserver_flags(folder: pathlib.Path) -> list[str]:
    return [f"--etcd-servers=http://{HOST}:{PORTS['etcd']}", f"--bind-address={HOST}",
            f"--advertise-address={HOST}", "--endpoint-reconciler-type=none",
            f"--secure-port={PORTS['kube-apiserver']}", f"--cert-dir={folder}/certificates",
            "--service-cluster-ip-range=10.78.0.0/16", "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={folder}/sa.pub", f"--service-account-signing-key-file={folder}/sa.key",
            f"--token-auth-file={folder}/tokens.csv", f"--client-ca-file={folder}/ca.crt",
            f"--requestheader-client-ca-file={folder}/ca.crt", "--requestheader-allowed-names=aggregator",
            "--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={folder}/proxy.crt", f"--proxy-client-key-file={folder}/proxy.key"]


class Programs:
    """Programs that run until the block ends, each with its log in the folder."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self._running: list[subprocess.Popen] = []

    def start(self, name: str, command: Sequence[Any]) -> None:
        with (self._folder / f"{name}.log").open("w") as log:
            self._running.append(subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                                  stdout=log, stderr=log, cwd=self._folder))

    def stop(self) -> None:
        """The last first: an API server does not end once etcd has."""
        for process in reversed(self._running):
            process.terminate()
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start_core(programs: Programs, folder: pathlib.Path, api: Api) -> pathlib.Path:
    client, peers = f"http://{HOST}:{PORTS['etcd']}", f"http://{HOST}:{PORTS['etcd-peers']}"
    programs.start("etcd", [TOOLS / "etcd", f"--data-dir={folder}/etcd", f"--listen-client-urls={client}",
                            f"--advertise-client-urls={client}", f"--listen-peer-urls={peers}",
                            f"--initial-advertise-peer-urls={peers}", f"--initial-cluster=default={peers}",
                            "--unsafe-no-fsync"])
    programs.start("kube-apiserver", [TOOLS / "kube-apiserver", *_apiserver_flags(folder)])
    until(lambda: api.is_there("/readyz"), "the API server is not ready")
    kubeconfig = _kubeconfig(folder, api)
    common = [f"--kubeconfig={kubeconfig}", "--leader-elect=false", f"--bind-address={HOST}",
              f"--authentication-kubeconfig={kubeconfig}", f"--authorization-kubeconfig={kubeconfig}"]
    # Nodes here have no kubelet that would report.
    programs.start("kube-controller-manager", [
        TOOLS / "kube-controller-manager", *common, f"--cert-dir={folder}/certificates-controllers",
        "--controllers=*,-node-lifecycle-controller", "--use-service-account-credentials",
        f"--service-account-private-key-file={folder}/sa.key"])
    programs.start("kube-scheduler", [TOOLS / "kube-scheduler", *common, f"--cert-dir={folder}/certificates-scheduler"])
    return kubeconfig


@contextlib.contextmanager
def running(folder: pathlib.Path) -> Iterator[tuple[Plane, Programs]]:
    """The API server, ready, with scheduler and controllers; in this thread's own network."""
    api, programs = Api(), Programs(folder)
    _certificates(folder)
    try:
        yield Plane(api, folder, _start_core(programs, folder, api)), programs
    finally:
        programs.stop()


def start_prometheus(plane: Plane, programs: Programs, interval: str) -> str:
    """One that scrapes what write_targets() says. Its address."""
    address = f"{HOST}:{PORTS['prometheus']}"
    write_targets(plane, "maskd", "metrics")
    (plane.folder / "prometheus.yml").write_text(json.dumps({
        "global": {"scrape_interval": interval, "scrape_timeout": "10s"},
        "scrape_configs": [{"job_name": "maskd", "file_sd_configs": [{"files": [str(_targets(plane))]}]}]}))
    programs.start("prometheus", [prometheus.program("prometheus"), f"--config.file={plane.folder}/prometheus.yml",
                                  f"--storage.tsdb.path={plane.folder}/tsdb", f"--web.listen-address={address}"])
    return f"http://{address}"


def _targets(plane: Plane) -> pathlib.Path:
    return plane.folder / "targets.json"


def write_targets(plane: Plane, namespace: str, port_name: str) -> None:
    """What a Prometheus in a cluster finds by a ServiceMonitor, with the labels that the operator makes of it: Debian's
    cannot ask an API server. Ready endpoints alone: as long as a pod starts, the operator's is refused there."""
    slices = plane.api.get(f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices")["items"]
    targets = [{"targets": [f"{endpoint['addresses'][0]}:{port['port']}"],
                "labels": {"namespace": namespace, "pod": endpoint["targetRef"]["name"],
                           "service": each["metadata"]["labels"]["kubernetes.io/service-name"]}}
               for each in slices for port in each["ports"] or [] for endpoint in each["endpoints"] or []
               if port["name"] == port_name and endpoint["conditions"].get("ready")]
    beside = _targets(plane).with_suffix(".new")
    beside.write_text(json.dumps(targets))
    beside.rename(_targets(plane))


def start_adapter(plane: Plane, programs: Programs, prometheus_address: str, rules: list) -> None:
    """The adapter with these rules, as the API of custom metrics."""
    (plane.folder / "adapter.yaml").write_text(yaml.safe_dump({"rules": rules}))
    port = PORTS["prometheus-adapter"]
    programs.start("prometheus-adapter", [
        TOOLS / "prometheus-adapter", f"--lister-kubeconfig={plane.kubeconfig}",
        f"--authentication-kubeconfig={plane.kubeconfig}", f"--authorization-kubeconfig={plane.kubeconfig}",
        f"--prometheus-url={prometheus_address}", f"--config={plane.folder}/adapter.yaml", f"--bind-address={HOST}",
        f"--secure-port={port}", f"--cert-dir={plane.folder}/certificates-adapter", "--metrics-relist-interval=10s"])
    plane.apply([
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "adapter", "namespace": "default"},
         "spec": {"type": "ExternalName", "externalName": HOST, "ports": [{"port": port}]}},
        {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
         "metadata": {"name": "v1beta1.custom.metrics.k8s.io"},
         "spec": {"group": "custom.metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100,
                  "versionPriority": 100, "insecureSkipTLSVerify": True,
                  "service": {"name": "adapter", "namespace": "default", "port": port}}}])
