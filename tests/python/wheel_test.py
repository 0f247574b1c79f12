"""The wheel, as scripts/python-wheel builds it: installed from its file alone, it finds its own library."""

import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = """
import maskd, numpy
logits = numpy.zeros((1, 64), dtype=numpy.float32)
maskd.Applier("cpu").apply(logits, [maskd.Row.allowed(0, [7])])
print(maskd.__file__, numpy.flatnonzero(numpy.isfinite(logits[0])))
"""

FIRST_MASK = """
import maskd
client = maskd.Client("local:")
with client.open_stream(logits_width=320) as stream:
    result = stream.run(maskd.Step().open(1, maskd.Grammar.json_schema({"const": "Lima"}), wait_s=20))
    print([token for token in range(257) if result.allows(1, token)])
mapped = open("/proc/self/maps").read()
print([name for name in ("grpc", "protobuf", "absl", "re2", "prometheus") if "lib" + name in mapped])
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if os.environ.get("MASKD_LIBRARY_ALONE") == "OFF":
        pytest.skip("NOT TESTED HERE: libmaskd is linked to the installed packages")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([ROOT / "scripts/python-wheel", os.environ["MASKD_LIBRARY"], folder], check=True)
    (built,) = folder.glob("maskd-*.whl")
    return built


def test_the_wheel_is_of_its_platform_and_whole(wheel):
    version = re.escape((ROOT / "VERSION").read_text("utf-8").strip())
    tag = re.fullmatch(rf"maskd-{version}-py3-none-manylinux_2_(\d+)_\w+\.whl", wheel.name)
    assert tag is not None and int(tag[1]) <= 35  # Ubuntu 22.04's glibc
    assert wheel.stat().st_size < 20 << 20
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {f"maskd/{path.name}" for path in (ROOT / "client/python/maskd").glob("*.py")}
    stubs = {f"maskd/v1/{path.stem}_pb2.py" for path in (ROOT / "protos/maskd/v1").glob("*.proto")}
    assert names >= sources | stubs | {"maskd/libmaskd.so.1", "maskd/py.typed"}


def test_the_wheel_carries_the_licences_of_what_is_in_its_library(wheel):
    archive = zipfile.ZipFile(wheel)
    texts = {name.rsplit("/", 1)[1]: archive.read(name).decode() for name in archive.namelist()
             if ".dist-info/" in name}
    assert texts["LICENSE"] == (ROOT / "LICENSE").read_text("utf-8")
    for part in ("abseil", "c-ares", "grpc", "openssl", "protobuf", "re2", "zlib", "Unicode Character Database"):
        assert re.search(rf"^\* {part} \S+.*: \S+", texts["THIRD_PARTY_NOTICES"], re.MULTILINE), part


def test_the_wheel_installs_from_its_file(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
                    "--disable-pip-version-check", "--target", tmp_path, wheel], check=True)
    environment = {key: value for key, value in os.environ.items() if key != "MASKD_LIBRARY"}
    environment["PYTHONPATH"] = str(tmp_path)
    printed = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True,
                             capture_output=True, text=True).stdout
    assert printed.split() == [f"{tmp_path}/maskd/__init__.py", "[7]"]


def test_a_first_mask_needs_the_wheel_and_numpy_alone(wheel, tmp_path):
    """No server, no package of the system's: nothing else of its kind is mapped."""
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
                    "--disable-pip-version-check", "--target", tmp_path, wheel], check=True)
    environment = {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", FIRST_MASK], env=environment, check=False,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[34]", "[]"]
