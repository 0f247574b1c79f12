#!/usr/bin/env python3
"""Makes an image in the form of the Open Container Initiative: one archive for all architectures.

    packaging/oci_image.py OUTPUT ARCHITECTURE=ROOT...     such as amd64=FOLDER: what scripts/image-root laid out

How it is run (user, ports, entry point, labels) is what the Dockerfile's last stage says. The same roots give the same
bytes: files are in order of their names, of user 0, and of the time SOURCE_DATE_EPOCH (default: the last commit's).
"""

import dataclasses
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shlex
import string
import sys
import tarfile

import parts

VERSION = (parts.ROOT / "VERSION").read_text("utf-8").strip()
TYPE = "application/vnd.oci.image."


@dataclasses.dataclass(frozen=True)
class Blob:
    """A part of the image, named by its digest."""
    kind: str  # the rest of its media type
    content: bytes

    @property
    def digest(self) -> str:
        """The hexadecimal digits."""
        return hashlib.sha256(self.content).hexdigest()

    def descriptor(self, **more: object) -> dict:
        """How other blobs name it."""
        return {"mediaType": TYPE + self.kind, "digest": f"sha256:{self.digest}", "size": len(self.content), **more}


def text(value: object) -> bytes:
    """A JSON value, always by the same bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def archive(entries: list, seconds: int) -> bytes:
    """A tar of (name, the file on disk or its bytes)."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, source in entries:
            if isinstance(source, bytes):
                entry, content = tarfile.TarInfo(name), source
                entry.size = len(source)
            else:
                entry = tar.gettarinfo(str(source), name)
                content = source.read_bytes() if entry.isreg() else b""
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime = seconds
            tar.addfile(entry, io.BytesIO(content))
    return written.getvalue()


def last_stage() -> list:
    """The Dockerfile's instructions behind its last FROM, as (name, arguments)."""
    dockerfile = (parts.ROOT / "Dockerfile").read_text("utf-8")
    stage = dockerfile[dockerfile.rindex("\nFROM "):].replace("\\\n", " ")
    return re.findall(r"^([A-Z]+) +(.*)$", stage, re.MULTILINE)


def config(revision: str) -> dict:
    """How the image is run. An OCI image has no HEALTHCHECK: Kubernetes asks by its own probes."""
    variables = {}
    said: dict = {"Labels": {}, "ExposedPorts": {}}
    for name, arguments in last_stage():
        if name == "ARG":
            variable, _, value = arguments.partition("=")
            variables[variable] = revision if variable == "REVISION" else value
        elif name == "LABEL":
            for pair in shlex.split(arguments):
                label, _, value = pair.partition("=")
                said["Labels"][label] = string.Template(value).substitute(variables)
        elif name == "EXPOSE":
            said["ExposedPorts"] = {f"{port}/tcp": {} for port in arguments.split()}
        elif name == "USER":
            said["User"] = arguments
        elif name == "STOPSIGNAL":
            said["StopSignal"] = arguments
        elif name == "ENTRYPOINT":
            said["Entrypoint"] = json.loads(arguments)
        elif name not in ("FROM", "COPY", "HEALTHCHECK"):
            raise SystemExit(f"oci_image: the Dockerfile's last stage has {name}, which is not known here")
    return said


def image(architecture: str, root: pathlib.Path, run: dict, seconds: int) -> list:
    """The blobs of one architecture's image; its manifest is the last."""
    files = sorted(root.rglob("*"), key=lambda path: path.relative_to(root).as_posix())
    layer = archive([(path.relative_to(root).as_posix(), path) for path in files], seconds)
    packed = Blob("layer.v1.tar+gzip", gzip.compress(layer, 9, mtime=0))
    time = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat().replace("+00:00", "Z")
    settings = Blob("config.v1+json", text({
        "architecture": architecture, "os": "linux", "created": time, "config": run,
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created": time, "created_by": "packaging/oci_image.py"}]}))
    manifest = Blob("manifest.v1+json", text({
        "schemaVersion": 2, "mediaType": TYPE + "manifest.v1+json",
        "config": settings.descriptor(), "layers": [packed.descriptor()]}))
    return [packed, settings, manifest]


def main() -> None:
    """Writes the archive, and prints the digest that an image is pulled by."""
    output, roots = pathlib.Path(sys.argv[1]), [each.split("=", 1) for each in sys.argv[2:]]
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or parts.run("git", "log", "-1", "--format=%ct"))
    run = config(parts.run("git", "rev-parse", "HEAD").strip())
    blobs, manifests = [], []
    for architecture, root in roots:
        made = image(architecture, pathlib.Path(root), run, seconds)
        blobs += made
        manifests.append(made[-1].descriptor(platform={"architecture": architecture, "os": "linux"}))
    index = Blob("index.v1+json", text({
        "schemaVersion": 2, "mediaType": TYPE + "index.v1+json", "manifests": manifests}))
    named = index.descriptor(annotations={"org.opencontainers.image.ref.name": VERSION})
    contents = {f"blobs/sha256/{blob.digest}": blob.content for blob in [*blobs, index]}
    contents["index.json"] = text({"schemaVersion": 2, "manifests": [named]})
    contents["oci-layout"] = text({"imageLayoutVersion": "1.0.0"})
    output.write_bytes(archive(sorted(contents.items()), seconds))
    print(named["digest"])


if __name__ == "__main__":
    main()
