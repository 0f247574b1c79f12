"""Masks onto torch tensors: every way of masking gives the bits of the library's kernels. On CPU devices, where
triton runs in its interpreter; MASKD_TEST_DEVICE names another.

Needs torch, which the tests' own environment lacks (its wheels are of gigabytes): with an interpreter that has it,

    MASKD_TORCH_PYTHON=/path/to/python ctest --test-dir build/release -R python_torch
"""

import os

os.environ.setdefault("TRITON_INTERPRET", "1" if os.environ.get("MASKD_TEST_DEVICE", "cpu") == "cpu" else "0")

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import maskd  # noqa: E402
from maskd import _torch  # noqa: E402
from maskd._torch import TorchMask  # noqa: E402

DEVICE = os.environ.get("MASKD_TEST_DEVICE", "cpu")
NAMES = ["cpu", "torch_native", "torch_compile", "triton"]
TYPES = [torch.float32, torch.float16, torch.bfloat16]


def applier_of(name, width, **options):
    return maskd.TorchApplier(width, device=DEVICE, name=name, anywhere=True, **options)


def bits_of(tensor):
    kind = torch.int32 if tensor.dtype == torch.float32 else torch.int16
    return tensor.detach().cpu().contiguous().view(kind).numpy()


def words_of(allowed):
    packed = np.packbits(allowed, bitorder="little")
    return np.pad(packed, (0, -packed.size % 4)).view(np.int32)


def random_row(random, logits_row, vocab):
    kind = random.integers(5)
    ids = np.sort(random.choice(vocab, random.integers(0, min(vocab, 40) + 1), replace=False))
    words = words_of(random.random(vocab) < random.choice([0.001, 0.5, 0.999]))
    if kind == 0:
        return maskd.Row.full(logits_row)
    row = [None, lambda: maskd.Row.allowed(logits_row, ids), lambda: maskd.Row.forbidden(logits_row, ids),
           lambda: maskd.Row.dense(logits_row, words),
           lambda: maskd.Row.dense(logits_row, words, changed=ids)][kind]()
    if random.random() < 0.3:
        biases = {int(t): float(random.normal()) for t in ids[:5]}
        row.tuned(biases, float(random.choice([0, -0.0, 1e-45, 0.5, 0.7, 1, 1.3])))
    return row


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_all_give_the_bits_of_the_library(name, dtype):
    random = np.random.default_rng(26)
    library = maskd.Applier("cpu")
    for width, vocab in [(320, 320), (333, 257), (4_100, 4_097), (100, 100)]:
        applier = applier_of(name, width, vocab_size=vocab)
        for _ in range(6):
            count = int(random.integers(1, 12))
            logits = torch.from_numpy(random.normal(size=(count + 3, width)).astype(np.float32)).to(dtype)
            order = random.permutation(count + 3)[:count]
            rows = [random_row(random, int(at), vocab) for at in order]
            expected = logits.clone()
            library.apply(expected, rows, vocab_size=vocab)
            given = logits.to(DEVICE)
            applier.apply(given, rows)
            np.testing.assert_array_equal(bits_of(given), bits_of(expected))


@pytest.mark.parametrize("name", NAMES)
def test_a3_only_the_rows_named_are_touched(name):
    logits = torch.zeros((128, 320), device=DEVICE)
    applier = applier_of(name, 320)
    applier.apply(logits, [maskd.Row.allowed(3, [90]), maskd.Row.forbidden(127, [0])])
    assert int(logits[3].argmax()) == 90
    touched = {i for i, row in enumerate(logits.cpu()) if not bool(torch.isfinite(row).all())}
    assert touched == {3, 127}
    assert applier.traffic.logits_touched == 2 * 320


@pytest.mark.parametrize("name", NAMES)
def test_a_bitmask_of_the_engines(name):
    random = np.random.default_rng(7)
    logits = torch.from_numpy(random.normal(size=(5, 200)).astype(np.float32))
    bitmask = random.integers(-2**31, 2**31, size=(3, 7)).astype(np.int32)
    expected = logits.clone()
    maskd.Applier("cpu").apply_bitmask(expected, bitmask, rows=[4, 0, 2], vocab_size=199)
    given = logits.to(DEVICE)
    applier_of(name, 200, vocab_size=199).apply_bitmask(given, torch.from_numpy(bitmask), rows=[4, 0, 2])
    np.testing.assert_array_equal(bits_of(given), bits_of(expected))


def test_masks_that_come_again_are_kept():
    """More masks than there are places, some of them twice in one batch: each row has its own."""
    random = np.random.default_rng(3)
    applier, library = applier_of("torch_native", 640, masks=4), maskd.Applier("cpu")
    words = [words_of(random.random(640) < 0.5) for _ in range(9)]
    for _ in range(40):
        picked = random.integers(0, 9, size=int(random.integers(1, 8)))
        logits = torch.from_numpy(random.normal(size=(8, 640)).astype(np.float32))
        rows = [maskd.Row.dense(i, words[at]) for i, at in enumerate(picked)]
        expected = logits.clone()
        library.apply(expected, rows)
        given = logits.to(DEVICE)
        applier.apply(given, [TorchMask(row, int(at) + 1) for row, at in zip(rows, picked)])
        np.testing.assert_array_equal(bits_of(given), bits_of(expected))


def test_a_step_sends_bytes_and_not_planes():
    """What is packed for the device, whatever the device: ids by word, a mask that is new once."""
    width = 128_256
    applier = applier_of("torch_native", width)
    words = words_of(np.ones(width, dtype=bool))

    def sent(rows):
        return applier._pack(rows).packed().nbytes

    ids = TorchMask(maskd.Row.allowed(0, range(0, 64 * 32, 32)))
    dense = TorchMask(maskd.Row.dense(1, words), serial=5)
    assert sent([ids]) == 8 + 64 * 8
    assert sent([dense]) == 8 + 4 + width // 8
    assert sent([dense]) == 8
    assert sent([TorchMask(maskd.Row.allowed(i, [i])) for i in range(64)]) == 64 * 16


def test_after_warm_up_nothing_compiles():
    torch._dynamo.reset()
    counters = torch._dynamo.utils.counters
    applier = applier_of("torch_compile", 640)
    applier.warm_up([1, 8, 64], [torch.bfloat16])
    counters.clear()
    logits = torch.zeros((64, 640), dtype=torch.bfloat16, device=DEVICE)
    for count in (1, 5, 8, 33, 64, 64):
        applier.apply(logits, [maskd.Row.allowed(i, [i]) for i in range(count)])
        applier.apply(logits[:count], [maskd.Row.dense(0, words_of(np.ones(640, dtype=bool)))])
    assert counters["stats"]["unique_graphs"] == 0 and not counters["recompiles"]


@pytest.mark.parametrize(("name", "code", "words"), [
    ("metal", "INVALID_ARGUMENT", 'applier "metal" is not known on cpu; supported: auto, cpu'),
    ("triton", "UNIMPLEMENTED", 'applier "triton" is not supported on cpu; supported: auto, cpu'),
    ("cuda", "UNIMPLEMENTED", 'applier "cuda" is not supported'),
])
def test_d4_what_is_not_supported_is_refused_at_the_start(name, code, words, monkeypatch):
    with pytest.raises(maskd.MaskdError) as raised:
        maskd.TorchApplier(320, device="cpu", name=name)
    assert raised.value.code == code and words in str(raised.value)
    monkeypatch.setenv("MASKD_APPLIER", name)
    with pytest.raises(maskd.MaskdError):
        maskd.TorchApplier(320, device="cpu")


def test_d3_lists_by_platform(monkeypatch):
    assert _torch.supported("cpu") == ("auto", "cpu") == _torch.supported("xpu")
    monkeypatch.setattr(torch.version, "hip", None)
    assert _torch.supported("cuda:1") == ("auto", "cpu", "triton", "torch_compile", "torch_native")
    monkeypatch.setattr(torch.version, "hip", "7.0")
    assert "triton" not in _torch.supported("cuda")
    assert maskd.TorchApplier(320, device="cpu").name == "cpu"


@pytest.mark.parametrize(("rows", "words"), [
    ([maskd.Row.allowed(9, [1])], "is not one of the 2 rows"),
    ([maskd.Row.allowed(0, [1]), maskd.Row.allowed(0, [2])], "named twice"),
    ([maskd.Row.allowed(0, [320])], "do not ascend within"),
    ([maskd.Row.dense(0, [1])], "words: are 1"),
])
def test_a8_a_mismatch_is_an_error_and_nothing_is_written(rows, words):
    logits = torch.zeros((2, 320), device=DEVICE)
    with pytest.raises(maskd.MaskdError, match=words):
        applier_of("torch_native", 320).apply(logits, rows)
    assert bool((logits == 0).all())


@pytest.mark.parametrize("name", NAMES)
def test_a_steps_result_on_the_device(name):
    with maskd.Client("local:") as client, client.open_stream(320) as stream:
        step = maskd.Step().open(1, maskd.Grammar.regex("[ab]c"), wait_s=20)
        step.open(2, maskd.Grammar.regex("[^a]"), wait_s=20)
        logits, expected = torch.zeros((4, 320), device=DEVICE), torch.zeros((4, 320))
        applier = applier_of(name, 320, vocab_size=257)
        for result in (stream.run(step), stream.run(maskd.Step().take(1, [97]))):
            rows = {row.row: 3 - row.row for row in result.rows if row.has_mask}
            result.apply(maskd.Applier("cpu"), expected, rows)
            result.apply(applier, logits, rows)
            np.testing.assert_array_equal(bits_of(logits), bits_of(expected))
