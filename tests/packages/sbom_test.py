"""The bill of materials: valid by CycloneDX's own schema, and as the build is."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = pathlib.Path(__file__).parents[2]
BUILD = os.environ["MASKD_BUILD"]
ALONE = os.environ["MASKD_LIBRARY_ALONE"] == "ON"


@pytest.fixture(scope="module")
def bill(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("artefacts")
    (folder / "maskd.deb").write_bytes(b"a package")
    return subprocess.run([sys.executable, ROOT / "packaging/sbom.py", BUILD, folder], check=True,
                          capture_output=True, text=True, env={**os.environ, "SOURCE_DATE_EPOCH": "0"}).stdout


def needs(bill: str, name: str) -> set:
    (found,) = [each["dependsOn"] for each in json.loads(bill)["dependencies"] if each["ref"] == name]
    return set(found)


def test_it_is_valid(bill):
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill) is None
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill.replace("CycloneDX", "x")) is not None


def test_what_something_needs_is_a_component_of_it(bill):
    read = json.loads(bill)
    known = {each["bom-ref"] for each in read["components"]}
    assert len(known) == len(read["components"])
    assert {each for said in read["dependencies"] for each in said["dependsOn"]} <= known


def test_what_is_linked_into_the_library_is_in_it(bill):
    if not ALONE:
        pytest.skip("NOT TESTED HERE: libmaskd is linked to the installed packages")
    inside = {re.match(r"pkg:deb/debian/([^@]+)@\S+", each)[1] for each in needs(bill, "libmaskd")
              if each.startswith("pkg:")}
    assert inside >= {"abseil", "c-ares", "grpc", "nlohmann-json3", "openssl", "protobuf", "re2", "zlib", "glibc"}


def test_what_stands_here_and_is_of_others_is_in_it(bill):
    copied = {each for each in needs(bill, "maskd") if each.startswith("copied/")}
    assert len(copied) == len(list((ROOT / "packaging/notices").iterdir()))


def test_each_artefact_is_in_it_with_its_digest(bill):
    (found,) = [each for each in json.loads(bill)["components"] if each["name"] == "maskd.deb"]
    assert found["hashes"][0]["content"] == hashlib.sha256(b"a package").hexdigest()


def test_every_licence_is_one_by_name(bill):
    for each in json.loads(bill)["components"]:
        for said in each.get("licenses", []):
            assert "expression" in said or "id" in said["license"], each
