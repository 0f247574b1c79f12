"""Whatever has a version has that of the file VERSION."""

import json
import pathlib
import re
import tomllib

import pytest

ROOT = pathlib.Path(__file__).parents[2]
VERSION = (ROOT / "VERSION").read_text("utf-8").strip()


def text(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


def of_toml(path: str, table: str) -> str:
    return tomllib.loads(text(path))[table]["version"]


SAID = {
    **{f"client/{package}/pyproject.toml": lambda path: of_toml(path, "project")
       for package in ("python", "vllm", "sglang")},
    "client/rust/Cargo.toml": lambda path: of_toml(path, "package"),
    "client/rust/Cargo.lock": lambda path: re.search(r'name = "maskd"\nversion = "(.*?)"', text(path))[1],
    "client/typescript/package.json": lambda path: json.loads(text(path))["version"],
    "client/typescript/package-lock.json": lambda path: json.loads(text(path))["version"],
    "client/java/pom.xml": lambda path: re.search(r"<version>(.*?)</version>", text(path))[1],
    "Dockerfile": lambda path: re.search(r"^ARG VERSION=(\S+)$", text(path), re.MULTILINE)[1],
    "k8s/base/kustomization.yaml": lambda path: re.search(r"newTag: (\S+)", text(path))[1],
    "k8s/overlays/sidecar/kustomization.yaml": lambda path: re.search(r"newTag: (\S+)", text(path))[1],
    "CHANGELOG.md": lambda path: re.search(r"^## ([\d.]+)", text(path), re.MULTILINE)[1],
}


@pytest.mark.parametrize("path", SAID)
def test_says_the_version_of_the_release(path):
    assert SAID[path](path) == VERSION
