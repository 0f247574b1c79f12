"""checkov, kube-score and kube-linter find nothing in the base and the overlays but what REASONS answers; and Helm gets
out of the chart of k8s/README.md what kustomize has put in.

Each finding that is left standing has its reason there, and a reason whose finding is gone fails too. A linter is
build/kube-linters/NAME (scripts/kube-linters), or on the path; one that is not there is skipped, said aloud.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
REASONS = yaml.safe_load((ROOT / "tests/k8s/linters.yaml").read_text(encoding="utf-8"))
FOLDERS = ["base", *sorted(f"overlays/{path.parent.name}" for path in (ROOT / "k8s/overlays").glob("*/kustomization.yaml"))]


def program(name: str) -> str:
    places = os.pathsep.join([str(ROOT / "build/kube-linters"), str(ROOT / "build/kube-linters/venv/bin"), os.environ["PATH"]])
    found = shutil.which(name, path=places)
    if not found or not shutil.which("kubectl"):
        pytest.skip(f"{name if not found else 'kubectl'} is not installed")
    return found


def built(folder: str, into: pathlib.Path) -> pathlib.Path:
    file = into / f"{FOLDERS.index(folder)}.yaml"
    file.write_bytes(subprocess.run(["kubectl", "kustomize", ROOT / "k8s" / folder], capture_output=True, check=True).stdout)
    return file


def run(command: list) -> dict | list:
    """What it says in JSON; that it found something is no failure of its own."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(("{", "[")), done.stderr[-2000:]
    return json.loads(done.stdout)


# Each gives pairs of a check with a kind of object, and the number of the folder.

def checkov(files: pathlib.Path) -> set:
    said = run([program("checkov"), "--directory", files, "--framework", "kubernetes", "--skip-download", "--quiet",
                "--output", "json"])
    return {(each["check_id"], each["resource"].split(".")[0], pathlib.Path(each["file_path"]).stem)
            for each in said.get("results", {}).get("failed_checks", [])}


def kube_score(files: pathlib.Path) -> set:
    """Grades below 10 are warnings (5) and critical ones (1). It takes objects of one name for one, so file by file."""
    return {(check["check"]["id"], each["type_meta"]["kind"], file.stem) for file in files.iterdir()
            for each in run([program("kube-score"), "score", "--output-format", "json", file])
            for check in each["checks"] or [] if not check["skipped"] and check["grade"] < 10}


def kube_linter(files: pathlib.Path) -> set:
    said = run([program("kube-linter"), "lint", "--format", "json", files])
    return {(each["Check"], each["Object"]["K8sObject"]["GroupVersionKind"]["Kind"],
             pathlib.Path(each["Object"]["Metadata"]["FilePath"]).stem) for each in said["Reports"] or []}


LINTERS = {"checkov": checkov, "kube-score": kube_score, "kube-linter": kube_linter}


@pytest.mark.parametrize("linter", LINTERS)
def test_each_finding_has_a_reason_and_each_reason_a_finding(linter, tmp_path):
    for folder in FOLDERS:
        built(folder, tmp_path)
    found = {}
    for check, kind, number in LINTERS[linter](tmp_path):
        found.setdefault((check, kind), []).append(FOLDERS[int(number)])
    answered = {}
    for reason in REASONS[linter]:
        for kind in reason.get("kinds", ["Deployment"]):
            assert reason["why"].strip()
            answered[reason["check"], kind] = reason.get("only", FOLDERS)
    unanswered = {finding: folders for finding, folders in found.items() if set(folders) - set(answered.get(finding, []))}
    assert not unanswered, f"{linter} finds, and tests/k8s/linters.yaml does not say why it stays: {unanswered}"
    assert not answered.keys() - found.keys(), "reasons of findings that are gone"


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_chart_of_the_readme_is_the_overlay(folder, tmp_path):
    helm = program("helm")
    text = (ROOT / "k8s/README.md").read_text(encoding="utf-8")
    block = re.search(r"^## With Helm\n.*?^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]
    (tmp_path / "k8s").symlink_to(ROOT / "k8s")
    assert "helm upgrade --install maskd chart" in block
    block = block.replace("k8s/overlays/mine", f"k8s/{folder}").replace("helm upgrade --install", f"{helm} template")
    said = subprocess.run(["bash", "-euc", block], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert sorted(map(json.dumps, filter(None, yaml.safe_load_all(said)))) == sorted(
        map(json.dumps, yaml.safe_load_all(built(folder, tmp_path).read_bytes())))
