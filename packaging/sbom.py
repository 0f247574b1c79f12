#!/usr/bin/env python3
"""Prints a bill of materials (CycloneDX 1.6, JSON) of a release's artefacts.

    packaging/sbom.py BUILD FOLDER     FOLDER: the artefacts, whose digests it has
    packaging/sbom.py --image BUILD    of the container's image: the server and its shared libraries

It has what is linked into maskd, maskctl and libmaskd, what they need of Debian, and what stands in this
repository and was written elsewhere, as parts.py finds it. The clients of other languages are sources: what
they need is in their own manifests. SOURCE_DATE_EPOCH is its time.
"""

import datetime
import hashlib
import json
import os
import pathlib
import sys
import urllib.parse
import uuid

import parts

# Ours to be found in several artefacts.
PROGRAMS = {"maskd": "application", "maskctl": "application", "libmaskd": "library"}


def licences(licence: str) -> list:
    """CycloneDX's form of a licence: an expression, an SPDX id, or a name."""
    if " WITH " in licence or " OR " in licence:
        return [{"expression": licence}]
    known = licence in {*parts.LICENCES.values(), *parts.KNOWN_LICENCES.values(), "Apache-2.0", "Unicode-DFS-2016"}
    return [{"license": {"id" if known else "name": licence}}]


def purl(part: parts.Part) -> str:
    """The package's URL; "" for what was copied."""
    if not part.package:
        return ""
    return f"pkg:deb/debian/{part.name}@{urllib.parse.quote(part.version)}?arch=source"


def reference(part: parts.Part) -> str:
    """What other entries name the part by."""
    return purl(part) or f"copied/{part.name} {part.version}"


def component(part: parts.Part) -> dict:
    """A part as CycloneDX has it; fields that are empty are left out."""
    said = {"type": "data" if part.how == "copied" else "library", "bom-ref": reference(part), "name": part.name,
            "version": part.version, "licenses": licences(part.licence), "purl": purl(part)}
    return {key: value for key, value in said.items() if value}


def artefact(path: pathlib.Path) -> dict:
    """A file of the release, with its digest."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return {"type": "file", "bom-ref": f"file/{path.name}", "name": path.name,
            "hashes": [{"alg": "SHA-256", "content": digest}]}


def bill(build: pathlib.Path, files: list, what: str, programs: dict) -> dict:
    """The whole bill of a build's `programs` and of files; `what` names all that together."""
    version = (parts.ROOT / "VERSION").read_text("utf-8").strip()
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or parts.run("git", "log", "-1", "--format=%ct"))
    time = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    components, dependencies = [], []
    for name in programs:
        target = parts.targets()[name]
        inside = parts.linked_in(build, target)
        outside = parts.needed(build / target)
        components += [part for part in inside + outside if reference(part) not in map(reference, components)]
        dependencies.append({"ref": name, "dependsOn": sorted({reference(part) for part in inside + outside})})
    ours = [{"type": kind, "bom-ref": name, "name": name, "version": version, "licenses": licences("Apache-2.0")}
            for name, kind in programs.items()]
    digests = [artefact(path) for path in files]
    whole = {"type": "application", "bom-ref": "whole", "name": what, "version": version}
    dependencies.append({"ref": "whole", "dependsOn": [*programs, *(each["bom-ref"] for each in digests)]})
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([what, digests]))}",
        "metadata": {"timestamp": time.isoformat().replace("+00:00", "Z"), "component": whole},
        "components": ours + [component(part) for part in components] + digests,
        "dependencies": dependencies,
    }


def main() -> None:
    """Prints JSON to standard output."""
    if sys.argv[1] == "--image":
        build = pathlib.Path(sys.argv[2]).resolve()
        said = bill(build, [], f"maskd image {build.name}", {"maskd": PROGRAMS["maskd"]})
    else:
        build, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
        files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "SHA256SUMS")
        said = bill(build, files, "maskd release", PROGRAMS)
    print(json.dumps(said, indent=1))


if __name__ == "__main__":
    main()
