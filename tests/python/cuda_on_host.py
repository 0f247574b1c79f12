"""The applier "cuda" without a GPU: its kernels by g++, behind a driver and an NVRTC that are functions of one
library (fake_cuda.cc)."""

import ctypes
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).parents[2]
KERNELS = ROOT / "client/python/maskd/_torch_cuda.cu"


def build(folder: pathlib.Path) -> pathlib.Path:
    """The library, made in that folder."""
    made = folder / "libfake_cuda.so"
    subprocess.run(["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-shared",
                    "-fPIC", f'-DMASKD_KERNELS="{KERNELS}"', "-o", made, ROOT / "tests/python/fake_cuda.cc"], check=True)
    return made


def install(monkeypatch, library: pathlib.Path) -> ctypes.CDLL:
    """It in the place of the driver and of NVRTC."""
    from maskd import _torch_cuda  # noqa: PLC0415

    monkeypatch.setattr(_torch_cuda, "_DRIVER", str(library))
    monkeypatch.setenv("MASKD_NVRTC_LIBRARY", str(library))
    fake = ctypes.CDLL(library)
    fake.fake_launches.restype = fake.fake_compiles.restype = ctypes.c_size_t
    fake.fake_options.restype = ctypes.c_char_p
    return fake
