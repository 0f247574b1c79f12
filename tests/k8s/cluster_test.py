"""k8s/ on a real control plane: every overlay is admitted, and overlays/autoscaled goes from two replicas to four by its
metric.

API server, scheduler, controllers, Prometheus and its adapter are real, and so is the maskd in each pod; nodes and
kubelet are cluster/pods.py. The adapter's rule, the autoscaler and the interval of scrapes are those of the manifests. Engines
keep the two replicas at work, and what is waited for is what the controllers do. Without the programs nothing is
tested, said aloud (77).
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

import pytest
import yaml

from cluster import control_plane, pods

pytestmark = pytest.mark.skipif("MASKD_BINARY" not in os.environ, reason="this build has no server")

ROOT = pathlib.Path(__file__).resolve().parents[2]
AUTOSCALING = ROOT / "k8s/components/autoscaling"
OVERLAYS = sorted(path.parent.name for path in (ROOT / "k8s/overlays").glob("*/kustomization.yaml"))
TARGET = yaml.safe_load((AUTOSCALING / "horizontal_pod_autoscaler.yaml").read_text())["spec"]["metrics"][0]["pods"]
METRIC = TARGET["metric"]["name"]
OF_PODS = f"/apis/custom.metrics.k8s.io/v1beta1/namespaces/maskd/pods/*/{METRIC}"
AUTOSCALER = "/apis/autoscaling/v2/namespaces/maskd/horizontalpodautoscalers/maskd"
DEPLOYMENT = "/apis/apps/v1/namespaces/maskd/deployments/maskd"
ENGINES_A_POD = 2


def kinds_of_the_operator() -> list[dict]:
    """The Prometheus operator's kinds that are used; their fields are checked in manifests_test.py."""
    def kind(name: str) -> dict:
        plural = f"{name.lower()}s"
        return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": f"{plural}.monitoring.coreos.com"},
                "spec": {"group": "monitoring.coreos.com", "scope": "Namespaced",
                         "names": {"kind": name, "plural": plural},
                         "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                             "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
    return [kind("ServiceMonitor"), kind("PrometheusRule")]


class Cluster:
    def __init__(self, plane: control_plane.Plane) -> None:
        self.plane = plane
        self.pods = pods.Pods(plane)
        self.prometheus = ""

    def until(self, ask, what: str):
        """The first answer that counts, while the pods go on."""
        def look():
            self.pods.step()
            control_plane.write_targets(self.plane, "maskd", "metrics")
            return ask()
        return control_plane.until(look, what)

    def available(self) -> int:
        """Replicas, where all that there are are available."""
        status = self.plane.api.get(DEPLOYMENT)["status"]
        return status.get("replicas", 0) if status.get("replicas") == status.get("availableReplicas") else 0

    def autoscaler(self) -> dict:
        return self.plane.api.get(AUTOSCALER)

    def metric(self) -> dict[str, float]:
        """What the API of custom metrics says of each pod."""
        try:
            items = self.plane.api.get(OF_PODS)["items"]
        except urllib.error.HTTPError as error:
            assert error.code in (404, 503), error
            return {}
        return {item["describedObject"]["name"]: quantity(item["value"]) for item in items}

    def query(self, text: str) -> dict[str, float]:
        url = f"{self.prometheus}/api/v1/query?{urllib.parse.urlencode({'query': text})}"
        with urllib.request.urlopen(url, timeout=20) as answer:
            result = json.load(answer)["data"]["result"]
        return {series["metric"]["pod"]: float(series["value"][1]) for series in result}


def quantity(text: str) -> float:
    number, unit = re.fullmatch(r"([0-9.]+)(m?)", text).groups()
    return float(number) / (1000 if unit else 1)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    control_plane.need_programs()
    control_plane.enter_own_network()
    folder = tmp_path_factory.mktemp("cluster")
    with control_plane.running(folder) as (plane, programs):
        for name, zone in (("node-1", "a"), ("node-2", "b")):
            pods.add_node(plane.api, name, zone)
        plane.apply([*kinds_of_the_operator(), yaml.safe_load((ROOT / "k8s/base/namespace.yaml").read_text())])
        made = Cluster(plane)
        monitor = yaml.safe_load((ROOT / "k8s/components/monitoring/service_monitor.yaml").read_text())
        made.prometheus = control_plane.start_prometheus(plane, programs, monitor["spec"]["endpoints"][0]["interval"])
        control_plane.start_adapter(plane, programs, made.prometheus,
                                    yaml.safe_load((AUTOSCALING / "adapter_rule.yaml").read_text()))
        try:
            yield made
        finally:
            made.pods.close()


@contextlib.contextmanager
def engines(cluster: Cluster):
    """Engines that keep the pods that are here at work."""
    with contextlib.ExitStack() as stack:
        for address in list(cluster.pods.addresses().values()) * ENGINES_A_POD:
            engine = stack.enter_context(subprocess.Popen(
                [sys.executable, ROOT / "tests/k8s/cluster/load.py", f"{address}:7411"], stdin=subprocess.DEVNULL))
            stack.callback(engine.kill)
        yield


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_api_server_admits(cluster, overlay):
    done = cluster.plane.kubectl("apply", "--dry-run=server", "-k", str(ROOT / "k8s/overlays" / overlay))
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr, "Pod Security, or something that is old"


def test_two_replicas_are_run_and_their_metric_is_known(cluster):
    applied = cluster.plane.kubectl("apply", "-k", str(ROOT / "k8s/overlays/autoscaled"))
    assert applied.returncode == 0, applied.stderr
    cluster.until(lambda: cluster.available() == 2, "two replicas")
    of_pods = cluster.until(lambda: len(cluster.metric()) == 2 and cluster.metric(), "the metric of two pods")
    assert of_pods.keys() == cluster.pods.addresses().keys()
    assert max(of_pods.values()) < quantity(TARGET["target"]["averageValue"])
    active = cluster.until(lambda: reason(cluster.autoscaler(), "ScalingActive"), "the autoscaler has read the metric")
    assert active == "ValidMetricFound"
    assert cluster.autoscaler()["status"]["desiredReplicas"] == 2


def reason(autoscaler: dict, condition: str) -> str:
    """Why the condition is true; nothing where it is not."""
    conditions = autoscaler.get("status", {}).get("conditions", [])
    return next((each["reason"] for each in conditions if (each["type"], each["status"]) == (condition, "True")), "")


def test_four_replicas_are_run_once_steps_keep_the_threads_busy(cluster):
    with engines(cluster):
        cluster.until(lambda: cluster.available() >= 4, "four replicas")
        scaled = cluster.autoscaler()["status"]
        events = cluster.plane.api.get("/api/v1/namespaces/maskd/events")["items"]
        of_pods, asked = cluster.metric(), cluster.query("sum by (pod) (rate(maskd_step_seconds_sum[2m]))")
    said = [event["message"] for event in events if event["reason"] == "SuccessfulRescale"]
    print(f"{said}; {scaled['currentMetrics']}; by pod {of_pods}, asked of Prometheus {asked}")
    assert scaled["desiredReplicas"] >= 4, "the policy adds two a minute"
    assert f"New size: 4; reason: pods metric {METRIC} above target" in said
    for name, value in of_pods.items():
        assert value == pytest.approx(asked[name], abs=0.1), "both look at a minute or two, some seconds apart"


def test_one_replica_may_be_evicted_at_a_time(cluster):
    def evict(name: str) -> int:
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "maskd"}}
        try:
            cluster.plane.api.call("POST", f"/api/v1/namespaces/maskd/pods/{name}/eviction", eviction)
        except urllib.error.HTTPError as error:
            return error.code
        return 201

    first, second, *_ = cluster.pods.addresses()
    assert (evict(first), evict(second)) == (201, 429)
    cluster.until(lambda: first not in cluster.pods.addresses() and cluster.available() >= 4, "another in its place")


def test_a_rollout_replaces_every_pod(cluster):
    before = cluster.pods.addresses().keys()
    assert cluster.plane.kubectl("-n", "maskd", "rollout", "restart", "deployment/maskd").returncode == 0
    cluster.until(lambda: cluster.available() >= 4 and before.isdisjoint(cluster.pods.addresses()), "the rollout")
