"""Masks onto torch tensors: every way of masking gives the bits of the library's kernels. On CPU devices, where
triton runs in its interpreter and cuda's kernels are compiled by g++ (cuda_on_host.py).

Needs torch, which the tests' own environment lacks (its wheels are of gigabytes): with an interpreter that has it,

    MASKD_TORCH_PYTHON=/path/to/python ctest --test-dir build/release -R python_torch

On a GPU, with nothing built but the library: tests/python/on_gpu (times follow).
"""

import os

os.environ.setdefault("TRITON_INTERPRET", "1" if os.environ.get("MASKD_TEST_DEVICE", "cpu") == "cpu" else "0")

import cuda_on_host  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402

torch = pytest.importorskip("torch")

import maskd  # noqa: E402
from maskd import _torch, _torch_cuda, _torch_kernels  # noqa: E402
from maskd._torch import TorchMask  # noqa: E402

DEVICE = os.environ.get("MASKD_TEST_DEVICE", "cpu")
ON_GPU = DEVICE.startswith("cuda")
NAMES = ["cpu", "torch_native", "torch_compile", "triton", "cuda"]
TYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.fixture(scope="session")
def cuda_library(tmp_path_factory):
    return cuda_on_host.build(tmp_path_factory.mktemp("cuda"))


@pytest.fixture(autouse=not ON_GPU)
def cuda(cuda_library, monkeypatch):
    return cuda_on_host.install(monkeypatch, cuda_library)


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


def few_words():
    """Of 100 tokens: mask i allows token i and all from 32 on."""
    words = torch.full((3, 4), -1, dtype=torch.int32, device=DEVICE)
    words[:, 0] = torch.tensor([1, 2, 4], dtype=torch.int32)
    return words


@pytest.mark.parametrize("name", NAMES)
def test_a_bitmask_without_rows_is_of_the_first_rows(name):
    logits = torch.zeros((4, 100), device=DEVICE)
    applier = applier_of(name, 100)
    applier.apply_bitmask(logits, few_words())
    finite = torch.isfinite(logits[:, :32]).sum(dim=1).tolist()
    assert finite == [1, 1, 1, 32] and int(logits[2].argmax()) == 2
    with pytest.raises(maskd.MaskdError, match="rows: are not all of the 2 rows"):
        applier.apply_bitmask(logits[:2], few_words())
    with pytest.raises(maskd.MaskdError, match="do not lie side by side"):
        applier.apply_bitmask(torch.zeros((100, 4), device=DEVICE).t(), few_words())


@pytest.mark.parametrize("name", ["cuda", "triton"])
def test_rows_that_nobody_looked_at_are_passed_over(name, monkeypatch):
    """As while a graph is captured, in which the device is not asked."""
    monkeypatch.setattr(_torch.TorchApplier, "_check_order", lambda *_: None)
    logits, rows = torch.zeros((2, 100), device=DEVICE), torch.tensor([1, 2, -1], device=DEVICE)
    applier_of(name, 100).apply_bitmask(logits, few_words(), rows)
    assert int(torch.isfinite(logits[0]).sum()) == 100 and int(torch.isfinite(logits[1, :32]).sum()) == 1


@pytest.mark.skipif(not ON_GPU, reason="NOT TESTED: CUDA graphs need a GPU (MASKD_TEST_DEVICE=cuda)")
@pytest.mark.parametrize("name", ["cuda", "triton", "torch_native"])
def test_a_cuda_graph_masks_by_the_words_of_each_replay(name):
    random = np.random.default_rng(5)
    applier = applier_of(name, 4_097)
    logits = torch.zeros((8, 4_097), dtype=torch.bfloat16, device=DEVICE)
    words = torch.full((4, 129), -1, dtype=torch.int32, device=DEVICE)
    rows = torch.arange(4, device=DEVICE, dtype=torch.int32)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        applier.apply_bitmask(logits, words, rows)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        applier.apply_bitmask(logits, words, rows)
    for _ in range(3):
        given = torch.from_numpy(random.normal(size=(8, 4_097)).astype(np.float32)).to(torch.bfloat16)
        bitmask, order = random.integers(-2**31, 2**31, size=(4, 129)).astype(np.int32), random.permutation(8)[:4]
        expected = given.clone()
        maskd.Applier("cpu").apply_bitmask(expected, bitmask, rows=order, vocab_size=4_097)
        logits.copy_(given)
        words.copy_(torch.from_numpy(bitmask))
        rows.copy_(torch.from_numpy(order.astype(np.int32)))
        graph.replay()
        np.testing.assert_array_equal(bits_of(logits), bits_of(expected))


@pytest.mark.parametrize("name", ["torch_native", "cuda"])
def test_masks_that_come_again_are_kept(name):
    """More masks than there are places, some of them twice in one batch: each row has its own."""
    random = np.random.default_rng(3)
    applier, library = applier_of(name, 640, masks=4), maskd.Applier("cpu")
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


@pytest.mark.skipif(ON_GPU, reason="counts the fake driver's launches")
def test_cuda_is_one_launch_a_step_two_where_a_mask_is_new_and_compiles_once(cuda):
    applier = applier_of("cuda", 640)
    compiles = cuda.fake_compiles()
    applier.warm_up([1, 8], TYPES)
    logits, words = torch.zeros((8, 640)), words_of(np.ones(640, dtype=bool))
    launches = []
    for rows in ([maskd.Row.allowed(i, [i]) for i in range(8)], [TorchMask(maskd.Row.dense(3, words), 7)],
                 [TorchMask(maskd.Row.dense(3, words), 7), TorchMask(maskd.Row.forbidden(1, [2]))], []):
        before = cuda.fake_launches()
        applier.apply(logits, rows)
        launches.append(cuda.fake_launches() - before)
    assert launches == [1, 2, 1, 0]
    assert cuda.fake_compiles() == compiles


@pytest.mark.parametrize(("name", "code", "words"), [
    ("metal", "INVALID_ARGUMENT", 'applier "metal" is not known on cpu; supported: auto, cpu'),
    ("triton", "UNIMPLEMENTED", 'applier "triton" is not supported on cpu; supported: auto, cpu'),
    ("cuda", "UNIMPLEMENTED", 'applier "cuda" is not supported on cpu; supported: auto, cpu'),
])
def test_d4_what_is_not_supported_is_refused_at_the_start(name, code, words, monkeypatch):
    with pytest.raises(maskd.MaskdError) as raised:
        maskd.TorchApplier(320, device="cpu", name=name)
    assert raised.value.code == code and words in str(raised.value)
    monkeypatch.setenv("MASKD_APPLIER", name)
    with pytest.raises(maskd.MaskdError):
        maskd.TorchApplier(320, device="cpu")


@pytest.mark.parametrize(("missing", "words"), [
    ("driver", "libcuda.so.0: cannot open shared object file: No such file or directory"),
    ("nvrtc", "libnvrtc.so.0: cannot open shared object file: No such file or directory"),
])
def test_d4_cuda_without_a_driver_or_a_compiler_is_refused_at_the_start(missing, words, monkeypatch):
    monkeypatch.setattr(torch.version, "hip", None)
    if missing == "driver":
        monkeypatch.setattr(_torch_cuda, "_DRIVER", "libcuda.so.0")
    else:
        monkeypatch.setenv("MASKD_NVRTC_LIBRARY", "libnvrtc.so.0")
    with pytest.raises(maskd.MaskdError) as raised:
        maskd.TorchApplier(320, device="cuda:0", name="cuda")
    assert str(raised.value) == (f'UNIMPLEMENTED: applier "cuda" is not supported ({words}) on cuda:0; supported: '
                                 "auto, cpu, cuda, triton, torch_compile, torch_native")


@pytest.mark.skipif(ON_GPU, reason="the library that fails is the fake one")
def test_d4_a_driver_that_refuses_is_an_error_at_the_start(monkeypatch):
    monkeypatch.setattr(_torch_kernels._Cuda, "_index", lambda _self: 1)  # which the fake has not
    with pytest.raises(maskd.MaskdError, match=r'"cuda" is not supported \(cuDeviceGet: as the fake has it\) on cpu'):
        applier_of("cuda", 320)


def test_d3_lists_by_platform(monkeypatch):
    """vLLM's issue 37650 has the lists: auto and cpu everywhere, on CUDA all six, on ROCm no triton."""
    assert _torch.supported("cpu") == ("auto", "cpu") == _torch.supported("xpu")
    monkeypatch.setattr(torch.version, "hip", None)
    assert _torch.supported("cuda:1") == ("auto", "cpu", "cuda", "triton", "torch_compile", "torch_native")
    monkeypatch.setattr(torch.version, "hip", "7.0")
    assert _torch.supported("cuda") == ("auto", "cpu", "torch_compile", "torch_native")
    assert maskd.TorchApplier(320, device="cpu").name == "cpu"


@pytest.mark.parametrize(("hip", "has_triton", "chosen"), [
    (None, True, "triton"), (None, False, "torch_native"), ("7.0", True, "torch_native")])
def test_d3_auto_by_platform(hip, has_triton, chosen, monkeypatch):
    monkeypatch.setattr(torch.version, "hip", hip)
    monkeypatch.setattr(_torch_kernels, "why_not", lambda name: "" if has_triton or name != "triton" else "none")
    assert _torch._choose("auto", torch.device("cuda"), anywhere=False) == chosen
    assert _torch._choose("auto", torch.device("cpu"), anywhere=False) == "cpu"
    assert _torch._choose("auto", torch.device("xpu"), anywhere=False) == "cpu"


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
