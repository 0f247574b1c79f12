"""What others made that is inside a program or library of ours, or that it needs to run.

Linked in: the archives of the link command, as ninja has it, by the Debian package each is of. Needed: the
shared libraries that the loader finds. Copied: the table below. So the list follows the build.

MASKD_SYSROOT is the root that the build's libraries are in, for a build of another architecture
(scripts/arm64-sysroot); absent: this machine's.

    packaging/parts.py BINARY     prints the shared libraries it needs, as paths in that root, each with its package
"""

import dataclasses
import functools
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SYSROOT = pathlib.Path(os.environ.get("MASKD_SYSROOT", "/")).resolve()

# Packages whose code is in headers alone, so that no link command names them.
IN_HEADERS = ("nlohmann-json3-dev",)

LICENCES = {"Expat": "MIT", "BSD-3-clause": "BSD-3-Clause", "BSD-2-clause": "BSD-2-Clause", "Zlib": "Zlib",
            "Apache-2": "Apache-2.0", "GPL-2+": "GPL-2.0-or-later", "GPL-3+": "GPL-3.0-or-later"}
# Where Debian's file has no first licence that a program can read, or that of the whole source, not of the part.
KNOWN_LICENCES = {"gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1", "glibc": "LGPL-2.1-or-later",
                  "protobuf": "BSD-3-Clause", "re2": "BSD-3-Clause", "openssl": "Apache-2.0",
                  "zlib": "Zlib", "c-ares": "MIT", "systemd": "LGPL-2.1-or-later"}


@dataclasses.dataclass(frozen=True, order=True)
class Part:
    """One source package that a program holds or needs."""
    name: str
    version: str
    licence: str  # an SPDX expression, or the words of Debian's file
    how: str  # linked, headers, copied, needed
    package: str = ""  # Debian's, where it is one
    notice: str = ""  # the file with its copyright


# What stands in this repository and was written elsewhere.
COPIED = tuple(
    Part(name, version, licence, "copied", notice=str(ROOT / "packaging/notices" / notice))
    for name, version, licence, notice in (
        ("googleapis google/rpc", "v1", "Apache-2.0", "google_rpc.txt"),
        ("grpc-proto grpc/health", "v1", "Apache-2.0", "grpc_health.txt"),
        ("Unicode Character Database", "14.0.0", "Unicode-DFS-2016", "unicode.txt"),
        ("idna", "3", "BSD-3-Clause", "idna.txt"),
        ("JSON Schema meta-schemas", "draft-04 to 2020-12", "BSD-3-Clause", "json_schema.txt")))


def run(*command: str, where: pathlib.Path = ROOT) -> str:
    """What the command prints; another exit status than 0 is an error."""
    return subprocess.run(command, cwd=where, capture_output=True, text=True, check=True).stdout


def inside(path: str) -> pathlib.Path:
    """Where a file of the root is on this machine."""
    return SYSROOT / path.lstrip("/")


def dpkg_query() -> list:
    """The command that asks the root's database."""
    return ["dpkg-query", f"--admindir={inside('/var/lib/dpkg')}"]


@functools.cache
def package_of(path: str) -> str:
    """The Debian package of a file; its database has some paths from before /lib became /usr/lib."""
    real = "/" + str(inside(path).resolve().relative_to(SYSROOT))
    for each in (real, real.removeprefix("/usr")):
        found = subprocess.run([*dpkg_query(), "-S", each], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return found.stdout.split(":")[0].split(",")[0]
    raise SystemExit(f"parts: no package has {path}")


def licence_of(source: str, notice: pathlib.Path) -> str:
    """The SPDX expression for a package, or the words of its notice, where that names one."""
    if source in KNOWN_LICENCES:
        return KNOWN_LICENCES[source]
    found = re.search(r"^Files: \*$.*?^License: *(\S+)", notice.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return LICENCES.get(found[1], found[1]) if found else "see the notice"


@functools.cache
def part_of(package: str, how: str) -> Part:
    """The source package, since that is what has versions, faults and licences."""
    source, version = run(
        *dpkg_query(), "-W", "-f", "${source:Package} ${source:Version}\n", package).splitlines()[0].split()
    notice = inside(f"/usr/share/doc/{package}/copyright")
    return Part(source, version, licence_of(source, notice), how, package, str(notice))


def one_a_source(parts: list) -> list:
    """Packages of one source and version are one part."""
    found = {}
    for part in sorted(parts):
        found.setdefault((part.name, part.version), part)
    return list(found.values())


def linked_in(build: pathlib.Path, target: str) -> list:
    """Of a target's file, named as ninja names it."""
    command = run("ninja", "-C", str(build), "-t", "commands", "-s", target)
    archives = sorted(set(re.findall(r"/usr/lib/\S+\.a\b", command)))
    if "-static-libstdc++" in command:
        archives.append(run("g++", "-print-file-name=libstdc++.a").strip())
    parts = [part_of(package_of(archive), "linked") for archive in archives]
    return one_a_source(parts + [part_of(package, "headers") for package in IN_HEADERS] + list(COPIED))


def dynamic_names(binary: pathlib.Path) -> list:
    """The names of the libraries that a program or library asks for by itself."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", str(binary)))


def libraries(binary: pathlib.Path) -> list:
    """The shared libraries that the loader finds for it, and the loader, as paths in the root.

    In another architecture's root no loader of this machine can be asked: the names are looked up in its folders.
    """
    if SYSROOT == pathlib.Path("/"):
        said = run("ldd", str(binary))
        if "not found" in said:
            raise SystemExit(f"parts: a library of {binary} is missing:\n{said}")
        return re.findall(r"(/\S+\.so\S*)", said)
    (loader,) = re.findall(r"interpreter: (\S+)\]", run("readelf", "-l", str(binary)))
    folder = inside(loader).resolve().parent
    found = {pathlib.Path(loader).name: loader}
    names = dynamic_names(binary)
    while names:
        name = names.pop()
        if name in found:
            continue
        places = [each / name for each in (folder, inside("/usr/lib") / folder.name) if (each / name).exists()]
        if not places:
            raise SystemExit(f"parts: {SYSROOT} has no {name}, which {binary} needs")
        found[name] = "/" + str(places[0].relative_to(SYSROOT))
        names += dynamic_names(places[0])
    return sorted(found.values())


def needed(binary: pathlib.Path) -> list:
    """The packages of those libraries."""
    return one_a_source([part_of(package_of(library), "needed") for library in libraries(binary)])


# Our own, by the name that artefacts have for it: the target's file in the build.
def targets() -> dict:
    """Our programs and the files that ninja makes of them."""
    version = (ROOT / "VERSION").read_text("utf-8").strip()
    return {"maskd": "service/maskd", "maskctl": "tools/maskctl", "libmaskd": f"client/libmaskd.so.{version}"}


def main() -> None:
    """What scripts/image-root asks."""
    for library in libraries(pathlib.Path(sys.argv[1])):
        print(library, package_of(library))


if __name__ == "__main__":
    main()
