"""The kernels of the torch applier "cuda" without torch and without a GPU: compiled by g++ they give the bits of
the library's kernels, and NVRTC compiles them for real architectures.

Arrays end at a page that nobody may touch, so that one element too much ends the test.
"""

import ctypes
import mmap
import pathlib
import struct
import subprocess

import cuda_on_host
import numpy as np
import pytest

import maskd
from maskd import _torch, _torch_cuda
from maskd._errors import MaskdError

ROOT = pathlib.Path(__file__).parents[2]
TYPES = {"float32": (np.uint32, 0xFF800000), "float16": (np.uint16, 0xFC00), "bfloat16": (np.uint16, 0xFF80)}
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_kept = []


def guarded(array):
    """A copy, the end of which is the end of what may be touched."""
    array = np.ascontiguousarray(array)
    pages = -(-max(array.nbytes, 1) // mmap.PAGESIZE)
    memory = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
    whole = np.frombuffer(memory, np.uint8)
    assert _libc.mprotect(whole.ctypes.data + pages * mmap.PAGESIZE, mmap.PAGESIZE, 0) == 0
    _kept.append(memory)
    begin = pages * mmap.PAGESIZE - array.nbytes
    copy = whole[begin:begin + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return cuda_on_host.build(tmp_path_factory.mktemp("cuda"))


@pytest.fixture
def fake(library, monkeypatch):
    return cuda_on_host.install(monkeypatch, library)


def words_of(allowed):
    packed = np.packbits(allowed, bitorder="little")
    return np.pad(packed, (0, -packed.size % 4)).view(np.int32)


def plane_of(random, shape, gap, offset, dtype):
    """Random bits as logits, with a gap between rows and so many elements before the first; and all of it."""
    rows, width = shape
    memory = random.integers(0, 2**16, size=offset + rows * (width + gap)).astype(dtype)
    memory |= dtype(1)  # in no pattern a NaN's only bit
    whole = guarded(memory)
    return whole[offset:].reshape(rows, width + gap)[:, :width], whole


def expected_of(plane, name, rows, words, vocab):
    """By the library's portable kernel."""
    logits = np.array(plane)
    shown = logits.view(np.float32) if name == "float32" else logits
    if name == "bfloat16":  # which numpy has not: as float32 of the same upper half
        shown = (logits.astype(np.uint32) << 16).view(np.float32)
    elif name == "float16":
        shown = logits.view(np.float16)
    maskd.Applier("cpu:portable").apply(
        shown, [maskd.Row.dense(int(row), line) for row, line in zip(rows, words, strict=True)], vocab)
    return (shown.view(np.uint32) >> 16).astype(np.uint16) if name == "bfloat16" else shown.view(logits.dtype)


CASES = [(width, vocab, gap, offset)
         for width, vocab in [(1, 1), (7, 5), (31, 31), (320, 320), (333, 257), (4_100, 4_097)]
         for gap, offset in [(0, 0), (0, 3), (1, 1), (8, 4)]]
CASES += [(1_022, 1_022, 3, 0), (2_046, 2_046, 3, 0)]  # one run more than fills the threads of a block


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize(("width", "vocab", "gap", "offset"), CASES)
def test_the_kernels_give_the_bits_of_the_library(fake, name, width, vocab, gap, offset):
    dtype, minus_infinity = TYPES[name]
    random = np.random.default_rng(width + vocab + gap + offset)
    kernels = _torch_cuda.Kernels(0)
    count, lines, words = 6, 4, (width + 31) // 32
    plane, whole = plane_of(random, (count + 3, width), gap, offset, dtype)
    before = whole.copy()
    rows = random.permutation(count + 3)[:count].astype(np.int32)
    table = np.zeros((lines, words), np.int32)
    for line, density in enumerate((0.0, 1.0, 0.5, 0.99)):
        made = words_of(random.random(vocab) < density)
        table[line, :made.size] = made
    base = random.integers(0, lines, size=count).astype(np.int32)
    ids = [np.sort(random.choice(vocab, random.integers(0, min(vocab, 40) + 1), replace=False)) for _ in range(count)]
    masks = table[base]
    joined = [_torch._joined(each.astype(np.int32)) for each in ids]
    for mask, (at, bits) in enumerate(joined):
        masks[mask, at] ^= bits
    needed = (vocab + 31) // 32
    expected = expected_of(plane, name, rows, masks[:, :needed], vocab)
    at = guarded(np.concatenate([at + mask * words for mask, (at, _) in enumerate(joined)]).astype(np.int32))
    bits = guarded(np.concatenate([bits for _, bits in joined]).astype(np.int32))
    arrays = [guarded(each) for each in (rows, base, table[:2])]
    new = guarded(table[2:])
    resident = guarded(np.concatenate([table[:2], np.full((2, words), 0x5A5A5A5A, np.int32)]))
    places = guarded(np.array([2, 3], np.int32))
    kernels.place(resident.ctypes.data, places.ctypes.data, new.ctypes.data, (2, words), 0)
    np.testing.assert_array_equal(resident, table)
    kernels.mask(_torch_cuda.Masks(
        logits=plane.ctypes.data, rows=arrays[0].ctypes.data, base=arrays[1].ctypes.data,
        lines=resident.ctypes.data, at=at.ctypes.data, bits=bits.ctypes.data, row_stride=width + gap,
        line_stride=words, row_count=count + 3, width=width, vocab_size=vocab, words=words, pairs=at.size,
        minus_infinity=minus_infinity), count, plane.itemsize, 0)
    np.testing.assert_array_equal(plane, expected)
    untouched = np.ones(whole.size, bool)
    untouched[offset:].reshape(count + 3, width + gap)[rows, :width] = False
    np.testing.assert_array_equal(whole[untouched], before[untouched])
    assert fake.fake_launches() >= 2


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize(("vocab", "width"), [(64, 100), (50, 64), (199, 200), (31, 97)])
def test_a_bitmask_of_the_engines(fake, name, vocab, width):
    """Has no word behind the vocabulary, and any bits there; a row that the logits have not is passed over."""
    dtype, minus_infinity = TYPES[name]
    random = np.random.default_rng(vocab)
    kernels, words = _torch_cuda.Kernels(0), (vocab + 31) // 32
    for offset in range(8):
        plane, _ = plane_of(random, (3, width), 1, offset, dtype)
        bitmask = guarded(random.integers(-2**31, 2**31, size=(4, words)).astype(np.int32))
        rows = guarded(np.array([2, 3, -1, 0], np.int32))
        expected = expected_of(plane, name, [2, 0], [bitmask[0], bitmask[3]], vocab)
        kernels.mask(_torch_cuda.Masks(
            logits=plane.ctypes.data, rows=rows.ctypes.data, lines=bitmask.ctypes.data, row_stride=width + 1,
            line_stride=words, row_count=3, width=width, vocab_size=vocab, words=(width + 31) // 32,
            minus_infinity=minus_infinity), 4, plane.itemsize, 0)
        np.testing.assert_array_equal(plane, expected)


def test_compiled_at_the_start_and_never_after(fake):
    before = fake.fake_compiles()
    kernels = _torch_cuda.Kernels(0)
    plane, words = guarded(np.zeros((1, 64), np.float32)), guarded(np.zeros((1, 2), np.int32))
    for _ in range(3):
        kernels.mask(_torch_cuda.Masks(
            logits=plane.ctypes.data, lines=words.ctypes.data, row_stride=64, line_stride=2, row_count=1, width=64,
            vocab_size=64, words=2, minus_infinity=0xFF800000), 1, 4, 0)
    assert fake.fake_compiles() == before + 1
    assert fake.fake_options() == b"--gpu-architecture=sm_90 --std=c++17 "


def test_no_driver_no_nvrtc_no_device(library, fake, monkeypatch, tmp_path):
    with pytest.raises(MaskdError, match="cuDeviceGet: as the fake has it"):
        _torch_cuda.Kernels(1)
    assert _torch_cuda.why_not() == ""
    monkeypatch.setenv("MASKD_NVRTC_LIBRARY", str(tmp_path / "libnvrtc.so.9"))
    assert "libnvrtc.so.9: cannot open shared object file" in _torch_cuda.why_not()
    monkeypatch.setenv("MASKD_NVRTC_LIBRARY", str(library))
    monkeypatch.setattr(_torch_cuda, "_DRIVER", "libcuda.so.0")
    assert "libcuda.so.0: cannot open shared object file" in _torch_cuda.why_not()


@pytest.mark.parametrize("wheel", ["nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12==12.9.86"])
def test_nvrtc_compiles_them_for_real_devices(wheel, monkeypatch):
    done = subprocess.run([ROOT / "scripts/engine-sources", "--whole", wheel], capture_output=True, text=True,
                          check=False)
    if done.returncode == 77:
        pytest.skip(f"SKIPPED: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    found = sorted(pathlib.Path(done.stdout.strip()).glob("nvidia/*/lib/libnvrtc.so.1?"))
    monkeypatch.setenv("MASKD_NVRTC_LIBRARY", str(found[0]))
    for capability in (80, 90):
        code = _torch_cuda.compiled(capability)
        machine = struct.unpack_from("<H", code, 18)[0]
        assert code[:4] == b"\x7fELF" and machine == 190, "EM_CUDA"
        assert all(name in code for name in (b"maskd_mask16", b"maskd_mask32", b"maskd_place"))
    ahead = _torch_cuda.compiled(999)
    assert b".entry maskd_mask16" in ahead and b".target sm_" in ahead
    with pytest.raises(MaskdError, match="NVRTC compiles for"):
        _torch_cuda.compiled(10)
    monkeypatch.setattr(_torch_cuda, "source", lambda: b"no kernel")
    with pytest.raises(MaskdError, match=r"NVRTC: NVRTC_ERROR_COMPILATION maskd_torch.cu\(1\): error"):
        _torch_cuda.compiled(90)
