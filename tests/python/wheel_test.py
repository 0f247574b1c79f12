"""The wheel, as scripts/python-wheel builds it: installed from its file alone, it finds its own library."""

import os
import pathlib
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


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([ROOT / "scripts/python-wheel", os.environ["MASKD_LIBRARY"], folder], check=True)
    (built,) = folder.glob("maskd-*.whl")
    return built


def test_the_wheel_is_of_its_platform_and_whole(wheel):
    assert wheel.name.startswith("maskd-0.1.0-py3-none-linux_")
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {f"maskd/{path.name}" for path in (ROOT / "client/python/maskd").glob("*.py")}
    stubs = {f"maskd/v1/{path.stem}_pb2.py" for path in (ROOT / "protos/maskd/v1").glob("*.proto")}
    assert names >= sources | stubs | {"maskd/libmaskd.so.1", "maskd/py.typed"}


def test_the_wheel_installs_from_its_file(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index",
                    "--disable-pip-version-check", "--target", tmp_path, wheel], check=True)
    environment = {key: value for key, value in os.environ.items() if key != "MASKD_LIBRARY"}
    environment["PYTHONPATH"] = str(tmp_path)
    printed = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True,
                             capture_output=True, text=True).stdout
    assert printed.split() == [f"{tmp_path}/maskd/__init__.py", "[7]"]
