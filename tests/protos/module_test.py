"""What is published as maskd.v1: files that each language can take as they are, and every field in the
table of versions. scripts/test-protos compiles them; this needs no compiler but protoc."""

import pathlib
import re
import subprocess
import sys

import pytest
from google.protobuf import descriptor_pb2

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROTOS = ROOT / "protos"
OPTIONS = {
    "csharp_namespace": "Maskd.V1",
    "go_package": "maskd.io/protos/maskd/v1;maskdv1",
    "java_multiple_files": True,
    "java_package": "io.maskd.v1",
    "objc_class_prefix": "MKD",
    "php_metadata_namespace": "Maskd\\V1\\Metadata",
    "php_namespace": "Maskd\\V1",
    "ruby_package": "Maskd::V1",
    "swift_prefix": "Maskd_V1_",
}


def published() -> list:
    return sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list:
    out = tmp_path_factory.mktemp("protos") / "set.pb"
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", "-I", str(PROTOS), f"--descriptor_set_out={out}",
                    *published()], check=True, cwd=PROTOS)
    return list(descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file)


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def java_names(field) -> set:
    """What Java's builder is given for a field, behind get and set."""
    name = camel(field.name)
    names = {name, name + "Builder"}
    if field.type == field.TYPE_STRING:
        names.add(name + "Bytes")
    if field.type == field.TYPE_ENUM:
        names.add(name + "Value")
    if field.label == field.LABEL_REPEATED:
        names |= {name + "Count", name + "List"}
    return names


def test_nothing_of_others_is_published():
    assert published() and all(path.startswith("maskd/v1/") for path in published())


def test_imports_are_of_the_module_or_of_protobuf(files):
    for file in files:
        assert all(name.startswith(("maskd/v1/", "google/protobuf/")) for name in file.dependency), file.name


def test_every_file_says_where_its_code_lies(files):
    for file in files:
        assert {name: getattr(file.options, name) for name in OPTIONS} == OPTIONS, file.name
        assert file.options.java_outer_classname == camel(pathlib.Path(file.name).stem) + "Proto"


def test_no_two_fields_of_a_message_have_one_name_in_java(files):
    for file in files:
        for message in file.message_type:
            seen: dict = {}
            for field in message.field:
                for name in java_names(field):
                    assert name not in seen, f"{message.name}: {seen[name]} and {field.name} both give {name}"
                    seen[name] = field.name


def test_no_message_has_the_name_of_its_files_java_class(files):
    for file in files:
        types = [*file.message_type, *file.enum_type, *file.service]
        assert file.options.java_outer_classname not in {each.name for each in types}


def test_every_field_has_its_version(files):
    page = (ROOT / "docs/protocol_versions.md").read_text(encoding="utf-8")
    named: set = set()
    for message, fields in re.findall(r"^\| `(\w+)` \| ((?:`\w+`(?:, )?)+) \| \d+\.\d+\.\d+ \|$", page, re.MULTILINE):
        for field in re.findall(r"`(\w+)`", fields):
            assert (message, field) not in named, f"{message}.{field} is there twice"
            named.add((message, field))
    assert named == {(message.name, field.name)
                     for file in files for message in file.message_type for field in message.field}
