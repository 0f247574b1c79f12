"""The Debian packages: what is in them, what they need, and the service that they install."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
VERSION = (ROOT / "VERSION").read_text("utf-8").strip()
BUILD = pathlib.Path(os.environ["MASKD_BUILD"])
PACKAGES = ("maskd", "maskctl", "libmaskd1", "libmaskd-dev", "libmaskd-cpp-dev")


def run(*command, **options) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True,
                          **options).stdout


@pytest.fixture(scope="module")
def debs(tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("debs")
    run(ROOT / "scripts/debs", BUILD, folder, env={**os.environ, "MASKD_DEB_COMPRESSION": "none"})
    return {path.name.split("_")[0]: path for path in folder.glob("*.deb")}


@pytest.fixture(scope="module")
def root(debs, tmp_path_factory) -> pathlib.Path:
    """All packages unpacked over each other."""
    folder = tmp_path_factory.mktemp("root")
    for path in debs.values():
        run("dpkg-deb", "-x", path, folder)
    return folder


def field(path: pathlib.Path, name: str) -> str:
    return run("dpkg-deb", "-f", path, name).strip()


def files(path: pathlib.Path) -> set:
    lines = run("dpkg-deb", "-c", path).splitlines()
    return {line.split()[5].removeprefix("./") for line in lines if not line.startswith("d")}


def test_there_are_the_packages_in_the_version_of_the_release(debs):
    assert set(debs) == set(PACKAGES)
    assert {field(path, "Version") for path in debs.values()} == {f"{VERSION}-1"}


def test_dependencies_are_those_of_the_programs(debs):
    for package, library in (("maskd", "libgrpc++"), ("maskctl", "libprotobuf"), ("libmaskd1", "libc6")):
        assert library in field(debs[package], "Depends"), package
    assert "grpc" not in field(debs["libmaskd1"], "Depends")  # it has its own
    assert field(debs["libmaskd-dev"], "Depends") == f"libmaskd1 (= {VERSION}-1)"
    assert "libgrpc++-dev" in field(debs["libmaskd-cpp-dev"], "Depends")


def test_each_file_is_in_one_package(debs):
    listed = [name for path in debs.values() for name in files(path)]
    assert len(listed) == len(set(listed))
    for name in ("usr/bin/maskd", "usr/bin/maskctl", "usr/include/maskd.h",
                 "usr/include/maskd_client/client/cpp/client.h", "etc/maskd/maskd.conf",
                 "lib/systemd/system/maskd.service", "usr/lib/sysusers.d/maskd.conf",
                 "usr/share/man/man1/maskd.1.gz", "usr/share/man/man1/maskctl-lint.1.gz",
                 "usr/share/bash-completion/completions/maskctl", "usr/share/zsh/vendor-completions/_maskctl",
                 "usr/share/fish/vendor_completions.d/maskctl.fish",
                 "usr/share/doc/libmaskd1/third-party-notices.gz"):
        assert name in listed, name


def test_programs_and_library_say_the_version(root):
    assert run(root / "usr/bin/maskd", "--version") == f"maskd {VERSION}\n"
    assert run(root / "usr/bin/maskctl", "version") == f"maskctl {VERSION}\n"
    (library,) = root.glob("usr/lib/*/libmaskd.so.1")
    program = "import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).maskd_version; " \
              "f.restype = ctypes.c_char_p; print(f().decode())"
    assert run(sys.executable, "-c", program, library) == f"{VERSION}\n"


def test_the_library_is_found_by_pkg_config_and_by_cmake(root, tmp_path):
    (folder,) = root.glob("usr/lib/*/pkgconfig")
    flags = run("pkg-config", "--cflags", "--libs", "maskd", env={**os.environ, "PKG_CONFIG_PATH": str(folder)})
    source = tmp_path / "main.c"
    source.write_text('#include <stdio.h>\n#include <maskd.h>\nint main(void) { return !puts(maskd_version()); }\n')
    run("cc", source, *flags.split(), f"-Wl,-rpath,{folder.parent}", "-o", tmp_path / "by_pkg_config")
    assert run(tmp_path / "by_pkg_config") == f"{VERSION}\n"
    minor = VERSION.rpartition(".")[0]
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES C)\nfind_package(maskd "
        f"{minor} REQUIRED)\n"
        "add_executable(by_cmake main.c)\ntarget_link_libraries(by_cmake PRIVATE maskd::maskd)\n")
    # CMake looks in lib/<architecture> of a prefix where it is told which that is.
    run("cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={root}/usr")
    run("cmake", "--build", tmp_path / "b")
    assert run(tmp_path / "b/by_cmake") == f"{VERSION}\n"


def unit(root: pathlib.Path) -> pathlib.Path:
    return root / "lib/systemd/system/maskd.service"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="NOT TESTED: there is no systemd-analyze here")
def test_systemd_finds_no_fault_in_the_unit(root, tmp_path):
    # The program where it is: verify wants to see it.
    text = unit(root).read_text("utf-8").replace("/usr/bin/maskd", str(root / "usr/bin/maskd"))
    copy = tmp_path / "maskd.service"
    copy.write_text(text)
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(copy)], capture_output=True, text=True,
                          check=False)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "maskd" in line]) == (0, [])
    # 0 to 10, of which more is less guarded.
    run("systemd-analyze", "security", "--offline=yes", "--threshold=20", copy)


class Supervisor:
    """What stands in for systemd."""

    def __init__(self, path: pathlib.Path):
        self.path = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(60)

    def hears(self, wanted: str) -> None:
        while not self.socket.recv(256).decode().startswith(wanted):
            pass


def test_the_service_starts_reloads_and_ends_as_its_unit_says(root, tmp_path):
    text = unit(root).read_text("utf-8")
    assert "\nType=notify\n" in text
    command = re.search(r"^ExecStart=(.*)$", text, re.MULTILINE)[1].split()
    conf = tmp_path / "maskd.conf"
    conf.write_text((root / "etc/maskd/maskd.conf").read_text("utf-8")
                    .replace("/run/maskd/", f"{tmp_path}/").replace("127.0.0.1:9411", "127.0.0.1:0")
                    .replace('socket_group: "maskd"', f'socket_group: "{os.getgid()}"'))
    command = [word.replace("/usr/bin", f"{root}/usr/bin").replace("/etc/maskd/maskd.conf", str(conf))
               for word in command]
    supervisor = Supervisor(tmp_path / "notify")
    with subprocess.Popen(command, env={"NOTIFY_SOCKET": supervisor.path}, stderr=subprocess.PIPE) as server:
        supervisor.hears("READY=1")
        assert run(*command, "--health=readiness") == "SERVING\n"
        server.send_signal(signal.SIGHUP)  # ExecReload
        supervisor.hears("RELOADING=1\nMONOTONIC_USEC=")
        supervisor.hears("READY=1")
        supervisor.hears("WATCHDOG=1")
        server.terminate()
        supervisor.hears("STOPPING=1")
        assert server.wait(timeout=60) == 0
