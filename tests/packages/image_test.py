"""The container's image: what its build has of the repository, and the root that it is made of."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import stat
import subprocess
import tarfile
import time
import urllib.request

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = pathlib.Path(__file__).parents[2]
VERSION = (ROOT / "VERSION").read_text("utf-8").strip()
SERVER = os.environ["MASKD_SERVER"]
BUILD = os.environ["MASKD_BUILD"]
MOST_BYTES = 40 << 20
PLAIN = {"PATH": os.environ["PATH"]}  # no flag of maskd's


def run(*command, **options) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True,
                          **options).stdout


def test_what_the_build_of_the_image_is_given_can_be_configured(tmp_path):
    taken = [line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
             if line.startswith("!")]
    for name in taken:
        (tmp_path / name).symlink_to(ROOT / name)
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "build", "-DMASKD_BUILD_TESTS=OFF",
        "-DMASKD_BUILD_BENCH=OFF", "-DMASKD_LIBRARY_ALONE=OFF")
    for script in ("scripts/install-deps", "scripts/image-root", "packaging/notices.py", "packaging/sbom.py"):
        assert script in (ROOT / "Dockerfile").read_text("utf-8")
        assert (tmp_path / script).is_file()


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("image")
    folder.chmod(0o755)  # for the image's user
    run(ROOT / "scripts/image-root", SERVER, folder)
    return folder


def test_the_root_is_small_and_has_one_program(image):
    size = sum(path.stat().st_size for path in image.rglob("*") if path.is_file() and not path.is_symlink())
    print(f"{size / 2**20:.1f} MiB")
    assert size < MOST_BYTES
    assert [path.name for path in (image / "usr/local/bin").iterdir()] == ["maskd"]
    assert not [path for path in image.rglob("*") if path.name in ("sh", "bash", "busybox", "dpkg", "apt")]


@pytest.mark.skipif(os.geteuid() != 0,
                    reason="NOT TESTED: another root needs root")
def test_the_image_serves_a_socket_and_says_how_it_stands(image):
    inside = ["chroot", "--userspec=65532:65532", str(image), "/usr/local/bin/maskd"]
    assert run(*inside, "--version") == f"maskd {VERSION}\n"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # Only a Unix socket is served; who cannot ask it, as a kubelet, asks at the port of the metrics.
    with subprocess.Popen([*inside, f"--metrics_listen=127.0.0.1:{port}"], env=PLAIN,
                          stderr=subprocess.DEVNULL) as server:
        for _ in range(300):
            asked = subprocess.run([*inside, "--health=readiness"], env=PLAIN, capture_output=True, text=True,
                                   check=False)
            if asked.returncode == 0:
                break
            time.sleep(0.1)
        assert asked.stdout == "SERVING\n"
        assert run(*inside, "--health=liveness", env=PLAIN) == "SERVING\n"
        for page, expected in (("readyz", "SERVING"), ("livez", "SERVING"), ("metrics", "maskd_build_info")):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=30) as answer:
                assert expected in answer.read().decode()
        server.terminate()
        assert server.wait(timeout=60) == 0
    asked = subprocess.run([*inside, "--health=readiness"], env=PLAIN, capture_output=True, text=True, check=False)
    assert asked.returncode == 1


def contents(archive: pathlib.Path) -> dict:
    """The files of a tar by their names."""
    with tarfile.open(archive) as tar:
        return {entry.name: tar.extractfile(entry).read() for entry in tar if entry.isreg()}


@pytest.fixture(scope="module")
def small_root(image, tmp_path_factory) -> pathlib.Path:
    """The image's root without its programs, which take long to pack."""
    return shutil.copytree(image, tmp_path_factory.mktemp("small") / "root", symlinks=True,
                           ignore=shutil.ignore_patterns("*.so*", "bin"))


@pytest.fixture(scope="module")
def archives(small_root, tmp_path_factory) -> list:
    """Two archives of one root, made one after the other; the second of a copy that has other times."""
    folder = tmp_path_factory.mktemp("archives")
    copy = shutil.copytree(small_root, folder / "copy", symlinks=True, copy_function=shutil.copy)
    made = []
    for name, root in (("first", small_root), ("second", copy)):
        made.append(folder / name)
        digest = run("packaging/oci_image.py", made[-1], f"amd64={root}", f"arm64={root}", cwd=ROOT,
                     env={**os.environ, "SOURCE_DATE_EPOCH": "1000000000"})
        (named,) = json.loads(contents(made[-1])["index.json"])["manifests"]
        assert named["digest"] == digest.strip()
    return made


def test_two_archives_of_one_root_are_the_same_bytes(archives):
    assert archives[0].read_bytes() == archives[1].read_bytes()


def test_every_part_of_the_archive_is_what_its_digest_says(archives):
    blobs = {name: content for name, content in contents(archives[0]).items() if name.startswith("blobs/")}
    for name, content in blobs.items():
        assert hashlib.sha256(content).hexdigest() == pathlib.PurePath(name).name
    named = set(re.findall(r"sha256:([0-9a-f]{64})", contents(archives[0])["index.json"].decode()))
    while True:
        more = {digest for each in named for digest in re.findall(
            rb'"digest":"sha256:([0-9a-f]{64})"', blobs[f"blobs/sha256/{each}"])}
        if {each.decode() for each in more} <= named:
            break
        named |= {each.decode() for each in more}
    assert {f"blobs/sha256/{each}" for each in named} == set(blobs)


@pytest.mark.skipif(shutil.which("skopeo") is None, reason="NOT TESTED HERE: there is no skopeo")
@pytest.mark.parametrize("architecture", ["amd64", "arm64"])
def test_another_program_reads_the_archive_as_the_dockerfile_has_it(archives, small_root, tmp_path, architecture):
    read = ["skopeo", "--override-arch", architecture]
    said = json.loads(run(*read, "inspect", "--config", f"oci-archive:{archives[0]}"))
    assert said["architecture"] == architecture
    assert said["config"]["User"] == "65532:65532"
    assert said["config"]["Entrypoint"] == ["/usr/local/bin/maskd"]
    assert said["config"]["Labels"]["org.opencontainers.image.version"] == VERSION
    # Unpacked by that program, the layer is the root.
    run(*read, "copy", f"oci-archive:{archives[0]}", f"dir:{tmp_path / 'dir'}")
    manifest = json.loads((tmp_path / "dir/manifest.json").read_text("utf-8"))
    (layer,) = manifest["layers"]
    run("tar", "-xpf", tmp_path / "dir" / layer["digest"].removeprefix("sha256:"), "--one-top-level=root", cwd=tmp_path)
    run("diff", "-r", small_root, tmp_path / "root")
    assert stat.filemode((tmp_path / "root/tmp").stat().st_mode) == "drwxrwxrwt"


def test_the_bill_of_the_image_names_what_it_holds(image):
    said = json.loads(run("packaging/sbom.py", "--image", BUILD, cwd=ROOT))
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(said)) is None
    named = {re.search(r"^pkg:deb/debian/([^@]+)@", each["purl"])[1] for each in said["components"] if "purl" in each}
    assert named >= {"glibc", "gcc-12", "grpc", "protobuf", "abseil", "openssl"}
    packages = run("dpkg-query", "-W", "-f", "${Package} ${source:Package}\n").split("\n")
    source = dict(line.split() for line in packages if line)
    held = {path.parent.name for path in image.rglob("copyright")}
    assert {source[package] for package in held} <= named
