"""Where Prometheus' programs are: on the PATH, or where scripts/fetch-prometheus puts them."""

import pathlib
import shutil

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def program(name: str) -> str:
    """The path of `name`; without it the run ends as skipped, said aloud (77). For tests to call: where pytest still
    collects, it makes an error of that."""
    unpacked = ROOT / "build/prometheus/usr/bin" / name
    found = shutil.which(name) or (str(unpacked) if unpacked.is_file() else None)
    if found is None:
        pytest.exit(f"NOT TESTED: no {name}; scripts/fetch-prometheus gets it", returncode=77)
    return found
