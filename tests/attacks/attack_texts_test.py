"""The runner's payloads and texts are those of the attack set's own reader, expand.py."""

import hashlib
import importlib.util
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(os.environ.get("MASKD_SHARED_DIR", ROOT.parent / "shared")) / "attacks"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def reference(path: pathlib.Path) -> dict:
    """Id: bytes and digest of the payload, digest of the texts; by expand.py."""
    spec = importlib.util.spec_from_file_location("expand", FOLDER / "expand.py")
    expand = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(expand)
    facts = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if case["format"] == "service":
            continue
        payload = expand.payload(case)
        texts = [b"\n".join(map(expand.expand, case.get(name, []))) for name in ("accept", "reject")]
        facts[case["id"]] = [str(len(payload)), digest(payload), digest(b"\n".join(texts))]
    return facts


def families() -> list:
    return sorted(FOLDER.glob("*.jsonl")) or [None]


@pytest.mark.parametrize("path", families(), ids=lambda path: path.stem if path else "missing")
def test_payloads_are_those_of_the_reference_reader(path):
    if path is None:
        pytest.skip(f"NOT TESTED: no attack set at {FOLDER}")
    done = subprocess.run(
        [os.environ["MASKD_MASKCTL"], "attack", "--expand", path], capture_output=True, text=True, check=True)
    ours = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
    assert ours == reference(path)
