#!/usr/bin/env python3
"""Checks that every C++ file includes only what its room may see.

The order of the rooms is the table below; a room's link edges in its CMakeLists.txt are the same
edges, but a header needs no link, so includes are read here too. Refused are: an include of a room
that is not allowed, a folder the table does not know, an include of ours that is not written from
the root of the repository, and, in rooms that may not, a header of gRPC, protobuf or Prometheus.

    tools/dev/check_layers.py [ROOT]

Exit status: 0, or 1 with one line a finding, "FILE:LINE: what".
"""

import pathlib
import re
import subprocess
import sys

CORE = "grammar_core/"
PROCESS = "service/"
CLIENT = "client/cpp/"
C_LIBRARY = "client/c"  # libmaskd: the client's, and the engine's for addresses "local:"
C_HEADER = "maskd_applier.h"  # installed beside maskd.h, which includes it

# Room -> the rooms it may include, itself left out. Inside the grammar core, a room sees what its
# dependencies see: that is written out, so that this table is the whole truth.
CPU = {"cpu"}
RING = {"ring"}
BASE = CPU | {CORE + "base"}
IR = BASE | {CORE + "ir"}
TOKENIZER = BASE | {CORE + "tokenizer"}
MASK = TOKENIZER | CPU | {CORE + "mask"}
TERMS = IR | MASK | {CORE + "terms"}
INTERSECTION = TERMS | {CORE + "intersection"}
DERIVATIVES = INTERSECTION | {CORE + "derivatives"}
AUTOMATON = DERIVATIVES | {CORE + "automaton"}
MASK_ROUTES = AUTOMATON | {CORE + "mask_routes"}
UNIQUE_ITEMS = AUTOMATON | {CORE + "unique_items"}
ROWS = MASK_ROUTES | UNIQUE_ITEMS | {CORE + "rows"}
COMPLETION = ROWS | {CORE + "completion"}
FRONTEND = IR | TOKENIZER | {CORE + "frontend"}
COMPILE = FRONTEND | COMPLETION | {CORE + "compile"}
GRAMMAR_CORE = COMPILE | {CORE + "matcher"}
# What those above the core see of it: the one row (matcher), its grammar (compile) and what these
# speak in. The engine's rooms between are hidden, by headers of headers too: check_hidden_headers.py.
HIDDEN = {CORE + room for room in ("terms", "intersection", "derivatives", "automaton", "mask_routes",
                                   "unique_items", "rows", "completion")}
REASONS = FRONTEND | {"reasons"}
CACHE = GRAMMAR_CORE - HIDDEN | {"cache", "metrics"}
MEMORY = BASE | {"memory"}
SERVICE_BASE = BASE | {"metrics", PROCESS + "base"}
CONFIG = SERVICE_BASE | GRAMMAR_CORE - HIDDEN | MEMORY | {PROCESS + "config"}
CALLERS = CONFIG | CACHE | RING | {PROCESS + "callers"}
GRAMMARS = CALLERS | {PROCESS + "grammars"}
SEQUENCES = GRAMMARS | REASONS | {PROCESS + "sequences"}
STREAMS = SEQUENCES | {PROCESS + "streams"}
WIRE = STREAMS | {"protos", PROCESS + "wire"}
PORTS = CALLERS | {PROCESS + "ports"}
CALLS = WIRE | PORTS | {PROCESS + "calls"}
ADMIN = CALLS | {PROCESS + "admin"}
SERVICE = ADMIN | {PROCESS + "process"}
APPLY = CPU | {"client/apply"}
CLIENT_BASE = {"protos", CLIENT + "base"}
CONNECT = CLIENT_BASE | {CLIENT + "connect"}
MASKS = APPLY | CLIENT_BASE | {CLIENT + "masks"}
STEPS = MASKS | {CLIENT + "steps"}
CLIENT_CALLS = STEPS | CONNECT | RING | {CLIENT + "calls"}
CLIENT_STREAMS = CLIENT_CALLS | {CLIENT + "streams"}
FAILOVER = CLIENT_STREAMS | {CLIENT + "failover"}
CPP_CLIENT = FAILOVER | {"client/cpp"}
LOCAL = WIRE | CPP_CLIENT | {"local"}
PLAYGROUND = SERVICE | CPP_CLIENT | {"playground"}
EVERYTHING = LOCAL | PLAYGROUND | HIDDEN
# What puts rooms together that do not know each other; in a room's folder, and no part of it.
PROGRAM = "service/main.cc"

ALLOWED = {
    "cpu": CPU,
    "ring": RING,
    CORE + "base": BASE,
    CORE + "ir": IR,
    CORE + "tokenizer": TOKENIZER,
    CORE + "mask": MASK,
    CORE + "frontend": FRONTEND,
    CORE + "terms": TERMS,
    CORE + "intersection": INTERSECTION,
    CORE + "derivatives": DERIVATIVES,
    CORE + "automaton": AUTOMATON,
    CORE + "mask_routes": MASK_ROUTES,
    CORE + "unique_items": UNIQUE_ITEMS,
    CORE + "rows": ROWS,
    CORE + "completion": COMPLETION,
    CORE + "compile": COMPILE,
    CORE + "matcher": GRAMMAR_CORE,
    "reasons": REASONS,
    "memory": MEMORY,
    "metrics": {"metrics"},
    "cache": CACHE,
    "protos": {"protos"},
    PROCESS + "base": SERVICE_BASE,
    PROCESS + "config": CONFIG,
    PROCESS + "callers": CALLERS,
    PROCESS + "grammars": GRAMMARS,
    PROCESS + "sequences": SEQUENCES,
    PROCESS + "streams": STREAMS,
    PROCESS + "wire": WIRE,
    PROCESS + "ports": PORTS,
    PROCESS + "calls": CALLS,
    PROCESS + "admin": ADMIN,
    PROCESS + "process": SERVICE,
    "client/apply": APPLY,
    CLIENT + "base": CLIENT_BASE,
    CLIENT + "connect": CONNECT,
    CLIENT + "masks": MASKS,
    CLIENT + "steps": STEPS,
    CLIENT + "calls": CLIENT_CALLS,
    CLIENT + "streams": CLIENT_STREAMS,
    CLIENT + "failover": FAILOVER,
    "client/cpp": CPP_CLIENT,
    "local": LOCAL,
    C_LIBRARY: CPP_CLIENT | {"local", C_LIBRARY},
    "playground": PLAYGROUND,
    PROGRAM: PLAYGROUND,
    "tools": EVERYTHING | {"tools"},
    "bench": EVERYTHING | {"bench", "tests"},
    "examples": EVERYTHING | {"examples"},
    "tests": EVERYTHING | {"tests", "tools", "bench", C_LIBRARY},
}

# Generated from protos/maskd/v1/*.proto, so included without the folder.
GENERATED = re.compile(r"^maskd/v\d+/.*\.pb\.h$")

# Package headers that only some rooms may see.
SERVERS = {PROCESS + room for room in ("wire", "ports", "calls", "admin", "process")}
CLIENTS = {"client/cpp"} | {CLIENT + room for room in ("base", "connect", "steps", "calls", "streams", "failover")}
PACKAGES = {
    re.compile(r"^(grpc|grpcpp|grpc\+\+)/"): SERVERS | CLIENTS | {"local", C_LIBRARY, "playground", PROGRAM, "tools", "bench", "examples", "tests"},
    re.compile(r"^google/(protobuf|rpc)/"): SERVERS | CLIENTS | {"protos", "local", C_LIBRARY, "playground", PROGRAM, "tools", "bench", "examples", "tests"},
    re.compile(r"^prometheus/"): {"metrics", PROCESS + "ports", "tests"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def room_of(path: str) -> str:
    """The room a path from the root lies in, or its first folder when no room has it."""
    if path == PROGRAM:
        return PROGRAM
    parts = path.split("/")
    if parts[0] + "/" in (CORE, PROCESS) and len(parts) > 2:
        return parts[0] + "/" + parts[1]
    if path.startswith(CLIENT) and len(parts) > 3:
        return CLIENT + parts[2]
    if parts[0] == "client" and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0]


def package_fault(room: str, header: str) -> str:
    """Why the room may not include that header of a package; "" where it may."""
    for pattern, rooms in PACKAGES.items():
        if pattern.match(header) and room not in rooms:
            return f"{room} may not include <{header}>"
    return ""


def include_fault(root: pathlib.Path, room: str, header: str, quoted: bool) -> str:
    """What is wrong with one include, or nothing."""
    if GENERATED.match(header):
        return "" if "protos" in ALLOWED[room] else f"{room} may not include protos ({header})"
    if not quoted and "/" not in header:
        return ""  # of the system: <memory> is no room
    target = room_of(header)
    if target in ALLOWED or (root / header).is_file():
        if target in ALLOWED[room]:
            return ""
        return f"{room} may not include {target} ({header})"
    if room == C_LIBRARY and header == C_HEADER:
        return ""
    if quoted and "/" not in header:
        return f'"{header}" is not written from the root of the repository'
    return package_fault(room, header)


def file_faults(root: pathlib.Path, path: str):
    """Each include of the file that breaks the order, as "FILE:LINE: why"."""
    room = room_of(path)
    if room not in ALLOWED:
        yield f"{path}:1: {room} is not a room that tools/dev/check_layers.py knows"
        return
    text = (root / path).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            fault = include_fault(root, room, match.group(2), match.group(1) == '"')
            if fault:
                yield f"{path}:{number}: {fault}"


def sources(root: pathlib.Path):
    """Tracked files, or every file where ROOT is no repository (a source archive, a test)."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "--", "*.h", "*.cc"], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return [path for path in listed.stdout.splitlines() if (root / path).is_file()]
    return sorted(str(path.relative_to(root)) for end in ("*.h", "*.cc") for path in root.rglob(end))


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    if root.is_file():
        root = root.parents[2]
    paths = sources(root)
    faults = [fault for path in paths for fault in file_faults(root, path)]
    for fault in faults:
        print(fault)
    print(f"layers: {len(paths)} files, {len(faults)} findings")
    return 1 if faults or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
