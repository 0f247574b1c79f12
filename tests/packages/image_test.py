"""The container's image: what its build has of the repository, and the root that it is made of."""

import os
import pathlib
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).parents[2]
VERSION = (ROOT / "VERSION").read_text("utf-8").strip()
SERVER = os.environ["MASKD_SERVER"]
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
    for script in ("scripts/install-deps", "scripts/image-root", "packaging/notices.py"):
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
    with subprocess.Popen([*inside, "--metrics_listen="], env=PLAIN, stderr=subprocess.DEVNULL) as server:
        for _ in range(300):
            asked = subprocess.run([*inside, "--health=readiness"], env=PLAIN, capture_output=True, text=True,
                                   check=False)
            if asked.returncode == 0:
                break
            time.sleep(0.1)
        assert asked.stdout == "SERVING\n"
        assert run(*inside, "--health=liveness", env=PLAIN) == "SERVING\n"
        server.terminate()
        assert server.wait(timeout=60) == 0
    asked = subprocess.run([*inside, "--health=readiness"], env=PLAIN, capture_output=True, text=True, check=False)
    assert asked.returncode == 1
