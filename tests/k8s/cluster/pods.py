"""Nodes without kubelets, whose pods are real processes: each pod of maskd has an address and a maskd that listens there.

What a kubelet does is done here, as far as maskd's manifests need it: the container's arguments are those of the pod, its
readiness is asked as the probe does, and a pod that is deleted ends by SIGTERM.
"""

import itertools
import os
import subprocess
import urllib.error
from typing import Any

from cluster.control_plane import HOST, Api, Plane, add_address

_READY = ("Initialized", "PodScheduled", "ContainersReady", "Ready")


def add_node(api: Api, name: str, zone: str) -> None:
    """A node with room for everything."""
    api.call("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": {
        "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}}})
    room = {"cpu": "16", "memory": "64Gi", "ephemeral-storage": "64Gi", "pods": "100"}
    api.merge(f"/api/v1/nodes/{name}/status", {"status": {
        "capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}})
    api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})


class _Pod:
    def __init__(self, address: str, arguments: list[str], cores: str, log: Any) -> None:
        self.address = address
        self.is_ready = False
        listens = [word.replace("0.0.0.0", address) for word in arguments]
        environment = {"PATH": os.environ["PATH"], "MASKD_COMPILE_THREADS": cores}
        self._probe = [os.environ["MASKD_BINARY"], *listens, "--health=readiness"]
        self._process = subprocess.Popen([os.environ["MASKD_BINARY"], *listens], env=environment,
                                         stdin=subprocess.DEVNULL, stderr=log)

    def answers(self) -> bool:
        """Whether the probe of readiness passes."""
        return subprocess.run(self._probe, env={"PATH": os.environ["PATH"]}, capture_output=True,
                              check=False).returncode == 0

    def end(self) -> bool:
        """Asks it to end; whether it has."""
        if self._process.poll() is None:
            self._process.terminate()
        return self._process.poll() is not None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


class Pods:
    """The pods of the namespace maskd. step() does what a kubelet would have done since the last one."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._path = "/api/v1/namespaces/maskd/pods"
        self._numbers = itertools.count(2)
        self._pods: dict[str, _Pod] = {}

    def addresses(self) -> dict[str, str]:
        """Of the pods that are ready, by name."""
        return {name: pod.address for name, pod in self._pods.items() if pod.is_ready}

    def step(self) -> None:
        for pod in self._plane.api.get(self._path)["items"]:
            name = pod["metadata"]["name"]
            if "deletionTimestamp" in pod["metadata"]:
                self._end(name)
            elif pod["spec"].get("nodeName"):
                self._go_on(name, pod)

    def _go_on(self, name: str, pod: dict) -> None:
        if name not in self._pods:
            address = f"10.77.1.{next(self._numbers)}"
            add_address(address)
            (container,) = pod["spec"]["containers"]
            with (self._plane.folder / f"{name}.log").open("w") as log:
                self._pods[name] = _Pod(address, container["args"], container["resources"]["requests"]["cpu"], log)
        here = self._pods[name]
        if not here.is_ready and here.answers():
            here.is_ready = True
            self._plane.api.merge(f"{self._path}/{name}/status", {"status": _status(here.address, pod)})

    def _end(self, name: str) -> None:
        here = self._pods.get(name)
        if here is None or here.end():
            self._pods.pop(name, None)
            try:
                self._plane.api.call("DELETE", f"{self._path}/{name}", {"gracePeriodSeconds": 0})
            except urllib.error.HTTPError as error:
                assert error.code == 404, error

    def close(self) -> None:
        for pod in self._pods.values():
            pod.kill()


def _status(address: str, pod: dict) -> dict:
    (container,) = pod["spec"]["containers"]
    now = pod["metadata"]["creationTimestamp"]
    return {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "hostIP": HOST, "startTime": now,
            "conditions": [{"type": kind, "status": "True", "lastTransitionTime": now} for kind in _READY],
            "containerStatuses": [{"name": container["name"], "ready": True, "started": True, "restartCount": 0,
                                   "image": container["image"], "imageID": "", "state": {"running": {"startedAt": now}}}]}
