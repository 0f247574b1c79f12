"""The manifests of k8s are what Kubernetes accepts, hang together, and start a maskd.

Built with `kubectl kustomize` where kubectl is installed; otherwise the resources that the base's
kustomization.yaml lists are read as they lie there, and the overlays are skipped. Which of the two is in
the test's name. tests/k8s/overlays_test.py has the overlays.
"""

import copy
import os
import pathlib
import re
import shutil
import subprocess

import kubernetes_validate
import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASE = ROOT / "k8s" / "base"
# The newest that the pinned validator knows, and the oldest that has the native preStop sleep on.
VERSIONS = ["1.37", "1.30"]
BUILDERS = ["kustomize"] if shutil.which("kubectl") else ["as_they_lie"]


def build(builder: str) -> list:
    if builder == "kustomize":
        built = subprocess.run(
            ["kubectl", "kustomize", str(BASE)], capture_output=True, text=True, check=True)
        return list(yaml.safe_load_all(built.stdout))
    kustomization = yaml.safe_load((BASE / "kustomization.yaml").read_text())
    return [yaml.safe_load((BASE / name).read_text()) for name in kustomization["resources"]]


@pytest.fixture(name="manifests", scope="module", params=BUILDERS)
def built_manifests(request) -> dict:
    documents = build(request.param)
    manifests = {document["kind"]: document for document in documents}
    assert len(manifests) == len(documents), "one of each kind"
    return manifests


def validate(manifest: dict, version: str) -> None:
    kubernetes_validate.validate(copy.deepcopy(manifest), version, strict=True)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", [
    "Namespace", "ServiceAccount", "Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy"])
def test_kubernetes_accepts(manifests, kind, version):
    validate(manifests[kind], version)


def test_the_validator_refuses_a_misspelt_field(manifests):
    wrong = copy.deepcopy(manifests["Deployment"])
    wrong["spec"]["template"]["spec"]["containers"][0]["readinesProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError, match="readinesProbe"):
        validate(wrong, VERSIONS[0])


def test_every_kind_is_one_that_each_cluster_has(manifests):
    """So that `kubectl apply -k k8s/base` succeeds on a stock cluster."""
    groups = {manifest["apiVersion"] for manifest in manifests.values()}
    assert groups <= {"v1", "apps/v1", "policy/v1", "networking.k8s.io/v1"}


def pod(manifests: dict) -> dict:
    return manifests["Deployment"]["spec"]["template"]["spec"]


def container(manifests: dict) -> dict:
    (only,) = pod(manifests)["containers"]
    return only


def test_the_pod_is_as_the_restricted_profile_asks(manifests):
    context = pod(manifests)["securityContext"]
    assert context["runAsNonRoot"] is True
    assert context["runAsUser"] == 65532
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container(manifests)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert manifests["Namespace"]["metadata"]["labels"][
        "pod-security.kubernetes.io/enforce"] == "restricted"


def test_no_token_of_a_service_account_is_mounted(manifests):
    assert pod(manifests)["automountServiceAccountToken"] is False
    assert manifests["ServiceAccount"]["automountServiceAccountToken"] is False


def test_whole_cores_are_requested_and_the_processor_is_not_limited(manifests):
    resources = container(manifests)["resources"]
    assert re.fullmatch(r"[1-9][0-9]*", resources["requests"]["cpu"])
    assert "cpu" not in resources["limits"]
    assert resources["requests"]["memory"] == resources["limits"]["memory"]


def test_compiles_run_on_the_cores_that_are_requested(manifests):
    (variable,) = container(manifests)["env"]
    assert variable["name"] == "MASKD_COMPILE_THREADS"
    assert variable["valueFrom"]["resourceFieldRef"]["resource"] == "requests.cpu"


def test_every_probe_asks_the_grpc_port_and_liveness_is_a_name_of_its_own(manifests):
    ports = {port["name"]: port["containerPort"] for port in container(manifests)["ports"]}
    probes = {kind: container(manifests)[f"{kind}Probe"]["grpc"]
              for kind in ("startup", "readiness", "liveness")}
    assert {probe["port"] for probe in probes.values()} == {ports["grpc"]}
    assert probes["startup"]["service"] == probes["readiness"]["service"]
    assert probes["liveness"]["service"] != probes["readiness"]["service"]


def flags(manifests: dict) -> dict:
    return dict(argument.removeprefix("--").split("=", 1) for argument in container(manifests)["args"])


def test_the_drain_ends_before_the_pod_is_killed(manifests):
    drain = int(flags(manifests)["drain_ms"]) / 1000
    asleep = container(manifests)["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert asleep + drain < pod(manifests)["terminationGracePeriodSeconds"]


def test_the_ports_are_those_the_flags_name(manifests):
    ports = {port["name"]: port["containerPort"] for port in container(manifests)["ports"]}
    assert flags(manifests)["listen"] == ""
    assert flags(manifests)["insecure_listen"] == f"0.0.0.0:{ports['grpc']}"
    assert flags(manifests)["metrics_listen"] == f"0.0.0.0:{ports['metrics']}"


def test_the_service_is_headless_and_names_the_ports(manifests):
    spec = manifests["Service"]["spec"]
    assert spec["clusterIP"] == "None"
    assert {port["name"] for port in spec["ports"]} == {"grpc", "metrics"}


def test_every_selector_finds_the_pods(manifests):
    labels = manifests["Deployment"]["spec"]["template"]["metadata"]["labels"].items()
    for selector in (
            manifests["Deployment"]["spec"]["selector"]["matchLabels"],
            manifests["Service"]["spec"]["selector"],
            manifests["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
            manifests["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"]):
        assert selector.items() <= labels
        assert "app.kubernetes.io/instance" in selector


def test_only_labelled_pods_may_connect_and_maskd_connects_to_nothing(manifests):
    spec = manifests["NetworkPolicy"]["spec"]
    assert set(spec["policyTypes"]) == {"Ingress", "Egress"}
    assert not spec.get("egress")
    for rule in spec["ingress"]:
        assert rule["ports"]
        assert all(peer["podSelector"]["matchLabels"] for peer in rule["from"])


def test_the_image_has_the_version_of_the_project():
    version = (ROOT / "VERSION").read_text().strip()
    (image,) = yaml.safe_load((BASE / "kustomization.yaml").read_text())["images"]
    assert image["newTag"] == version


def test_maskd_takes_the_flags(manifests):
    binary = os.environ.get("MASKD_BINARY")
    if not binary:
        pytest.skip("MASKD_BINARY is not set: this build has no server")
    done = subprocess.run(
        [binary, "--check_config", *container(manifests)["args"]],
        capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
