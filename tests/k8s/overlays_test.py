"""Each overlay builds, is what Kubernetes accepts, and keeps what its name says."""

import copy
import json
import os
import pathlib
import re
import shutil
import subprocess

import jsonschema
import kubernetes_validate
import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
OVERLAYS = sorted(path.parent.name for path in (ROOT / "k8s/overlays").glob("*/kustomization.yaml"))
VERSIONS = ["1.37", "1.30"]
OPERATORS = {"ServiceMonitor", "PrometheusRule"}  # of the Prometheus operator, no core kind

pytestmark = pytest.mark.skipif(not shutil.which("kubectl"), reason="kubectl, which builds them, is not installed")


def build_folder(folder: pathlib.Path) -> list:
    built = subprocess.run(["kubectl", "kustomize", str(folder)], capture_output=True, text=True, check=True)
    return list(yaml.safe_load_all(built.stdout))


def build(overlay: str) -> list:
    return build_folder(ROOT / "k8s/overlays" / overlay)


def kinds(overlay: str) -> dict:
    return {manifest["kind"]: manifest for manifest in build(overlay)}


def pod(manifest: dict) -> dict:
    return manifest["spec"]["template"]["spec"]


def maskd_of(manifest: dict) -> dict:
    spec = pod(manifest)
    (only,) = [each for each in [*spec["containers"], *spec.get("initContainers", [])]
               if each["name"] == "maskd"]
    return only


def test_the_overlays_are_these():
    assert OVERLAYS == ["autoscaled", "monitoring", "proxy", "replicated", "sidecar", "single", "tls"]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_kubernetes_accepts(overlay, version):
    for manifest in build(overlay):
        if manifest["kind"] not in OPERATORS:
            kubernetes_validate.validate(copy.deepcopy(manifest), version, strict=True)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_container_is_as_the_restricted_profile_asks(overlay):
    spec = pod(kinds(overlay)["Deployment"])
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in [*spec["containers"], *spec.get("initContainers", [])]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert context["readOnlyRootFilesystem"] is True


def bytes_of(quantity: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(Mi|Gi)", quantity).groups()
    return int(number) << {"Mi": 20, "Gi": 30}[unit]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_maskd_asks_for_the_memory_that_it_takes(overlay):
    """--memory_bytes is 90 % of the limit where no flag says otherwise; 64 MiB is the least it may be."""
    container = maskd_of(kinds(overlay)["Deployment"])
    resources = container["resources"]
    assert resources["requests"]["memory"] == resources["limits"]["memory"]
    assert bytes_of(resources["limits"]["memory"]) * 9 // 10 >= 64 << 20
    assert not [argument for argument in container["args"]
                if re.match(r"--(memory|cache|mask_store)_bytes=", argument)]


def mount(overlay: str, folder: pathlib.Path) -> None:
    """Puts into `folder` what the overlay mounts at /etc/maskd: its configuration and a certificate."""
    (folder / "config").mkdir()
    (folder / "tls").mkdir()
    for name, text in kinds(overlay).get("ConfigMap", {"data": {}})["data"].items():
        (folder / "config" / name).write_text(text.replace("/etc/maskd", str(folder)))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-subj", "/CN=maskd", "-keyout", folder / "tls/tls.key",
                    "-out", folder / "tls/tls.crt"], capture_output=True, check=True)
    shutil.copy(folder / "tls/tls.crt", folder / "tls/ca.crt")


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_maskd_takes_the_flags(overlay, tmp_path):
    binary = os.environ.get("MASKD_BINARY")
    if not binary:
        pytest.skip("MASKD_BINARY is not set: this build has no server")
    mount(overlay, tmp_path)
    flags = [flag.replace("/etc/maskd", str(tmp_path)) for flag in maskd_of(kinds(overlay)["Deployment"])["args"]]
    done = subprocess.run([binary, "--check_config", *flags],
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_with_tls_health_alone_is_asked_in_plain_text_and_no_pod_reaches_it():
    manifests = kinds("tls")
    container = maskd_of(manifests["Deployment"])
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    conf = manifests["ConfigMap"]["data"]["maskd.conf"]
    assert f'insecure_listen: "0.0.0.0:{ports["health"]}"' in conf
    assert f'listen: "0.0.0.0:{ports["grpc"]}"' in conf
    assert "tls_client_ca:" in conf
    assert 'identity: "*"' not in conf
    for probe in ("startup", "readiness", "liveness"):
        assert container[f"{probe}Probe"]["grpc"]["port"] == ports["health"]
    opened = {port["port"] for rule in manifests["NetworkPolicy"]["spec"]["ingress"] for port in rule["ports"]}
    assert opened == {"grpc", "metrics"}


@pytest.mark.parametrize("beneath", ["base", "overlays/tls"])
def test_the_admin_component_listens_on_the_loopback_and_changes_nothing_else(beneath, tmp_path):
    base, component = (os.path.relpath(ROOT / "k8s" / name, tmp_path.resolve())
                       for name in (beneath, "components/admin"))
    (tmp_path / "kustomization.yaml").write_text(
        yaml.safe_dump({"resources": [base], "components": [component]}))
    without, with_it = build_folder(ROOT / "k8s" / beneath), build_folder(tmp_path)
    (deployment,) = [each for each in with_it if each["kind"] == "Deployment"]
    assert maskd_of(deployment)["args"].pop() == "--insecure_admin_listen=127.0.0.1:7413"
    assert sorted(map(json.dumps, with_it)) == sorted(map(json.dumps, without))


def proxy() -> tuple:
    """The overlay's manifests, maskd and nginx, and their files."""
    manifests = kinds("proxy")
    deployment = manifests["Deployment"]
    (nginx,) = [each for each in pod(deployment)["initContainers"] if each["name"] == "nginx"]
    return manifests, maskd_of(deployment), nginx, manifests["ConfigMap"]["data"]


def test_behind_the_proxy_maskd_has_no_port_of_grpc():
    manifests, maskd, nginx, data = proxy()
    assert [port["name"] for port in maskd["ports"]] == ["metrics"]
    assert not re.search(r"^(insecure_listen|reflection: true)", data["maskd.conf"], re.MULTILINE)
    ports = {port["name"]: port["containerPort"] for port in nginx["ports"]}
    listens = {int(port): rest for port, rest in re.findall(r"listen 0\.0\.0\.0:(\d+) ([^;]*);", data["nginx.conf"])}
    assert listens == {ports["grpc"]: "ssl http2 rcvbuf=16k", ports["health"]: "http2"}
    assert re.search(r"^  http2_recv_buffer_size 2k;$", data["nginx.conf"], re.MULTILINE)
    for probe in ("startup", "readiness", "liveness"):
        assert maskd[f"{probe}Probe"]["grpc"]["port"] == ports["health"]
    rules = manifests["NetworkPolicy"]["spec"]["ingress"]
    assert {port["port"] for rule in rules for port in rule["ports"]} == {ports["grpc"], "metrics"}
    (target,) = [port["targetPort"] for port in manifests["Service"]["spec"]["ports"] if port["name"] == "grpc"]
    assert target == ports["grpc"]


def test_the_proxy_alone_may_connect_and_it_says_whose_call_it_is():
    manifests, maskd, nginx, data = proxy()
    spec, conf = pod(manifests["Deployment"]), data["maskd.conf"]
    user = nginx["securityContext"]["runAsUser"]
    assert f'socket_users: "{user}"' in conf
    assert f'proxy_users: "{user}"' in conf
    assert user != spec["securityContext"]["runAsUser"]
    assert f'socket_group: "{spec["securityContext"]["fsGroup"]}"' in conf, "nginx is in the volume's group"
    (key,) = re.findall(r'proxy_metadata: "([^"]+)"', conf)
    assert f"grpc_set_header {key} $maskd_client;" in data["nginx.conf"]
    assert "ssl_verify_client on;" in data["nginx.conf"]
    assert 'identity: "*"' not in conf
    (address,) = re.findall(r'^listen: "unix:([^"]+)"', conf, re.MULTILINE)
    assert f"server unix:{address} " in data["nginx.conf"]
    for container in (maskd, nginx):
        assert str(pathlib.PurePosixPath(address).parent) in {
            mount["mountPath"] for mount in container["volumeMounts"]}


def test_the_proxy_starts_before_maskd_and_ends_behind_it():
    _, _, nginx, _ = proxy()
    assert nginx["restartPolicy"] == "Always", "a sidecar is ended when the others have ended"
    assert nginx["command"][:3] == ["nginx", "-c", "/etc/maskd/config/nginx.conf"]
    assert nginx["command"][3:] == ["-g", "daemon off;"]


def test_the_files_are_those_that_are_tested_and_documented():
    """tests/front runs them, docs/proxy.md names them."""
    _, _, _, data = proxy()
    assert data == {name: (ROOT / "k8s/overlays/proxy" / name).read_text() for name in ("maskd.conf", "nginx.conf")}
    page = (ROOT / "docs/proxy.md").read_text()
    for name in data:
        assert f"k8s/overlays/proxy/{name}" in page


def test_one_replica_needs_no_disruption_budget_which_would_guard_nothing():
    manifests = kinds("single")
    assert manifests["Deployment"]["spec"]["replicas"] == 1
    assert "PodDisruptionBudget" not in manifests


def test_replicas_are_spread_over_zones_and_nodes():
    manifest = kinds("replicated")["Deployment"]
    assert manifest["spec"]["replicas"] == 3
    labels = manifest["spec"]["template"]["metadata"]["labels"].items()
    spread = pod(manifest)["topologySpreadConstraints"]
    assert {each["topologyKey"] for each in spread} == {
        "kubernetes.io/hostname", "topology.kubernetes.io/zone"}
    assert all(each["labelSelector"]["matchLabels"].items() <= labels for each in spread)


def test_the_autoscaler_alone_says_how_many_replicas_there_are():
    manifests = kinds("autoscaled")
    autoscaler, deployment = manifests["HorizontalPodAutoscaler"]["spec"], manifests["Deployment"]
    assert "replicas" not in deployment["spec"], "each apply would put it back"
    assert autoscaler["scaleTargetRef"] == {
        "apiVersion": deployment["apiVersion"], "kind": "Deployment", "name": deployment["metadata"]["name"]}
    assert autoscaler["minReplicas"] >= 2, "the disruption budget guards one of two"
    (metric,) = autoscaler["metrics"]
    (rule,) = yaml.safe_load((ROOT / "k8s/components/autoscaling/adapter_rule.yaml").read_text())
    assert metric["pods"]["metric"]["name"] == rule["name"]["as"]
    assert set(rule["resources"]["overrides"]) == {"namespace", "pod"}


def test_an_engine_of_another_user_reaches_its_sidecar():
    manifest = kinds("sidecar")["Deployment"]
    spec = pod(manifest)
    maskd, (engine,) = maskd_of(manifest), spec["containers"]
    assert maskd["restartPolicy"] == "Always"
    assert maskd["securityContext"]["runAsUser"] != engine["securityContext"]["runAsUser"]
    (group,) = [argument.split("=")[1] for argument in maskd["args"] if argument.startswith("--socket_group=")]
    assert int(group) in spec["securityContext"]["supplementalGroups"]
    assert int(group) == spec["securityContext"]["fsGroup"]
    (address,) = [argument.split("=")[1] for argument in maskd["args"] if argument.startswith("--listen=")]
    assert {"name": "MASKD_ADDRESS", "value": address} in engine["env"]
    mounts = [{mount["mountPath"] for mount in each["volumeMounts"]} for each in (maskd, engine)]
    assert mounts[0] == mounts[1] == {str(pathlib.PurePosixPath(address.removeprefix("unix:")).parent)}


@pytest.mark.parametrize("kind", sorted(OPERATORS))
def test_what_the_operator_reads_has_its_shape(kind):
    name = {"ServiceMonitor": "service_monitor", "PrometheusRule": "prometheus_rule"}[kind]
    schema = json.loads((pathlib.Path(__file__).parent / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(kinds("monitoring")[kind])


def test_the_monitor_finds_the_service_and_its_port():
    manifests = kinds("monitoring")
    monitor = manifests["ServiceMonitor"]["spec"]
    assert monitor["selector"]["matchLabels"].items() <= manifests["Service"]["metadata"]["labels"].items()
    spaces = {manifests[kind]["metadata"]["namespace"] for kind in [*OPERATORS, "Service", "ConfigMap"]}
    assert len(spaces) == 1, "a ServiceMonitor looks in its own namespace"
    (endpoint,) = monitor["endpoints"]
    assert endpoint["port"] in {port["name"] for port in manifests["Service"]["spec"]["ports"]}


def test_the_job_that_alerts_ask_for_is_the_name_that_the_operator_gives():
    manifests = kinds("monitoring")
    rules = manifests["PrometheusRule"]["spec"]["groups"][0]["rules"]
    jobs = {job for rule in rules for job in re.findall(r'job="([^"]*)"', rule["expr"])}
    assert jobs == {manifests["Service"]["metadata"]["name"]}


def test_every_alert_has_an_entry_of_the_runbook_and_leads_there():
    rules = kinds("monitoring")["PrometheusRule"]["spec"]["groups"][0]["rules"]
    page = (ROOT / "docs/operations.md").read_text()
    entries = set(re.findall(r"^\| `(Maskd\w+)` \|", page, re.MULTILINE))
    assert entries == {rule["alert"] for rule in rules}
    for rule in rules:
        assert rule["annotations"]["runbook"] == "docs/operations.md#runbook", rule["alert"]


def test_grafana_finds_the_dashboard_as_it_is_imported_by_hand():
    dashboard = kinds("monitoring")["ConfigMap"]
    assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert dashboard["data"] == {
        "maskd.json": (ROOT / "k8s/components/monitoring/dashboard.json").read_text()}
