"""The appliers from Python: numpy and DLPack, every form, what is refused."""

import sys
import threading
import time

import numpy as np
import pytest

import maskd
from maskd import _buffers
from maskd._api import PLAIN

VOCAB = 100
NAMES = ["cpu"] if PLAIN else ["cpu", "cpu:portable"]


def mask_of(tokens, vocab=VOCAB):
    words = np.zeros((vocab + 31) // 32, dtype=np.uint32)
    for token in tokens:
        words[token // 32] |= np.uint32(1 << (token % 32))
    return words.view(np.int32)


def finite(row):
    return np.flatnonzero(np.isfinite(row.astype(np.float32))).tolist()


class OnlyDlpack:
    """A tensor of a library that numpy knows nothing of."""

    def __init__(self, array, bfloat16=False):
        self._array = array
        self._bfloat16 = bfloat16

    def __dlpack__(self, **_):
        capsule = self._array.__dlpack__()
        if self._bfloat16:
            pointer = _buffers._capsule_pointer(capsule, b"dltensor")
            _buffers._DLTensor.from_address(pointer).code = 4
        return capsule

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


@pytest.fixture(params=NAMES)
def applier(request):
    return maskd.Applier(request.param)


def test_a1_token_ninety_of_128_is_word_two(applier):
    assert mask_of([90], 128).tolist() == [0, 0, 67_108_864, 0]
    logits = np.ones((1, 128), dtype=np.float32)
    assert logits[0].argmax() == 0
    applier.apply(logits, [maskd.Row.dense(0, [0, 0, 67_108_864, 0])])
    assert logits[0].argmax() == 90


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_every_form(applier, dtype):
    logits = np.zeros((8, 120), dtype=dtype)
    dictionary = applier.dictionary(VOCAB, 3)
    dictionary.set(2, mask_of([4, 5]))
    applier.apply(logits, [
        maskd.Row.allowed(0, [3, 99]), maskd.Row.forbidden(1, [0, 98]),
        maskd.Row.dense(2, mask_of([7])), maskd.Row.dense(3, mask_of([7]), changed=[7, 8]),
        maskd.Row.same(4, 2), maskd.Row.same(5, 2, changed=[5, 6]), maskd.Row.full(6),
    ], vocab_size=VOCAB, dictionary=dictionary)
    expected = [[3, 99], [*range(1, 98), 99], [7], [8], [4, 5], [4, 6]]
    assert [finite(row) for row in logits[:6]] == expected
    assert (logits[6:] == 0).all()


def test_rows_of_a_larger_array_are_masked_in_place(applier):
    plane = np.zeros((4, 3, 150), dtype=np.float32)
    applier.apply(plane[:, 1, :VOCAB], [maskd.Row.allowed(2, [9])])
    assert finite(plane[2, 1]) == [9, *range(VOCAB, 150)]
    plane[2, 1] = 0
    assert (plane == 0).all()


def test_one_dimension_is_one_row(applier):
    logits = np.zeros(VOCAB, dtype=np.float32)
    applier.apply(logits, [maskd.Row.allowed(0, [1])])
    assert finite(logits) == [1]


def test_dlpack_is_masked_in_place(applier):
    logits = np.zeros((2, VOCAB), dtype=np.float32)
    applier.apply(OnlyDlpack(logits), [maskd.Row.allowed(1, [5])])
    assert finite(logits[1]) == [5]
    assert (logits[0] == 0).all()


def test_dlpack_bfloat16(applier):
    bits = np.zeros((1, VOCAB), dtype=np.uint16)
    applier.apply(OnlyDlpack(bits, bfloat16=True), [maskd.Row.allowed(0, [5])])
    assert np.flatnonzero(bits[0] != 0xFF80).tolist() == [5]


@pytest.mark.parametrize(("logits", "message"), [
    (np.zeros((1, VOCAB)), "logits: are float64, not one of float32, float16, bfloat16"),
    (np.zeros((VOCAB, 2), dtype=np.float32).T, "logits: the elements of a row do not lie side by side"),
    (np.zeros((2, VOCAB), dtype=np.float32)[::-1], "logits: rows overlap, or go backwards"),
    (np.zeros((1, 1, VOCAB), dtype=np.float32), "logits: have 3 dimensions, not rows and width"),
    (np.broadcast_to(np.float32(0), (1, VOCAB)), "logits: cannot be written"),
    ([0.0] * VOCAB, "logits: are a list, neither a numpy array nor a DLPack tensor"),
])
def test_logits_that_cannot_be_masked_are_refused(logits, message):
    with pytest.raises(maskd.MaskdError) as error:
        maskd.Applier("cpu").apply(logits, [maskd.Row.allowed(0, [1])])
    assert error.value.message == message
    assert error.value.code == "INVALID_ARGUMENT"


@pytest.mark.parametrize(("row", "message"), [
    (maskd.Row.allowed(3, [1]), "masks.rows[0].logits_row: 3 is not one of the 2 rows of logits"),
    (maskd.Row.allowed(0, [2, 1]), "masks.rows[0].ids[1]: 1 does not come after 2"),
    (maskd.Row.allowed(0, [VOCAB]), "masks.rows[0].ids[0]: 100 is not one of the 100 tokens"),
    (maskd.Row.same(0, 1), "masks.rows[0].slot: there is no dictionary"),
    (maskd.Row.dense(1, [0]),
     "rows: of logits row 1, words: are 1, a vocabulary of 100 needs 4"),
])
def test_a8_a_mismatch_is_an_error_and_nothing_is_written(row, message):
    logits = np.zeros((2, VOCAB), dtype=np.float32)
    with pytest.raises(maskd.MaskdError) as error:
        maskd.Applier("cpu").apply(logits, [row])
    assert error.value.message == message
    assert (logits == 0).all()


def test_d4_an_unknown_applier_is_refused_with_the_supported_list():
    with pytest.raises(maskd.MaskdError) as error:
        maskd.Applier("cuda")
    assert error.value.code == "INVALID_ARGUMENT"
    assert error.value.message.startswith('applier "cuda" is not known on cpu (')
    assert "; supported: auto, cpu" in error.value.message


def test_d2_the_environment_names_the_applier(monkeypatch):
    monkeypatch.setenv("MASKD_APPLIER", NAMES[-1])
    assert maskd.Applier().name == "cpu"
    monkeypatch.setenv("MASKD_APPLIER", "triton")
    with pytest.raises(maskd.MaskdError, match='applier "triton" is not known'):
        maskd.Applier()


def test_d5_an_applier_is_settled_once(monkeypatch):
    monkeypatch.setenv("MASKD_APPLIER", "cpu")
    applier = maskd.Applier()
    monkeypatch.setenv("MASKD_APPLIER", "triton")
    logits = np.zeros((1, VOCAB), dtype=np.float32)
    applier.apply(logits, [maskd.Row.allowed(0, [1])])
    assert applier.name == "cpu" and finite(logits[0]) == [1]


def test_d7_rows_and_vocabulary_size_are_arguments(applier):
    logits = np.zeros((4, 120), dtype=np.float32)
    applier.apply(logits, [maskd.Row.forbidden(2, [0]), maskd.Row.forbidden(0, [1])], vocab_size=VOCAB)
    assert finite(logits[2]) == list(range(1, VOCAB)) and finite(logits[0])[:2] == [0, 2]
    assert (logits[[1, 3]] == 0).all()
    applier.apply(logits, [maskd.Row.forbidden(3, [0])])  # by default the logits' width
    assert finite(logits[3]) == list(range(1, 120))


def test_opencl_equals_cpu():
    try:
        device = maskd.Applier("opencl")
    except maskd.MaskdError as error:
        if error.code != "UNIMPLEMENTED":
            raise
        pytest.skip(f"NOT TESTED HERE: {error}")
    device.warm_up(VOCAB, VOCAB, "float32", 2)
    planes = [np.ones((2, VOCAB), dtype=np.float32) for _ in range(2)]
    for applier, logits in zip([device, maskd.Applier("cpu")], planes, strict=True):
        applier.apply(logits, [maskd.Row.forbidden(1, [3, 50]), maskd.Row.dense(0, mask_of([8]))])
    assert planes[0].tobytes() == planes[1].tobytes()


def test_the_gil_is_free_while_a_mask_is_applied(applier):
    """Another thread has a turn within a call: that of a busy machine may not come at the first one."""
    logits = np.zeros((512, 128_256), dtype=np.float32)
    rows = [maskd.Row.dense(i, np.zeros(4008)) for i in range(512)]
    turns, stop = [], threading.Event()

    def count():
        while not stop.is_set():
            turns.append(time.perf_counter())
            time.sleep(0.0002)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(100)  # so that nothing but the call itself gives the GIL up
    thread = threading.Thread(target=count)
    try:
        thread.start()
        time.sleep(0.01)
        for _ in range(200):
            begin = time.perf_counter()
            applier.apply(logits, rows)
            end = time.perf_counter()
            if any(begin < turn < end for turn in turns[-1000:]):
                break
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        thread.join()
    assert any(begin < turn < end for turn in turns), end - begin


def random_masks(rows, vocab):
    bits = np.random.default_rng(3).random((rows, vocab)) < 0.3
    return np.packbits(np.pad(bits, ((0, 0), (0, -vocab % 32))), axis=1, bitorder="little").view(np.int32)


@pytest.mark.parametrize("vocab", [VOCAB, 96, 97])
@pytest.mark.parametrize("rows", [None, [2, 0, 1], np.array([5, 1, 3], dtype=np.int32)])
def test_a_bitmask_masks_as_its_rows_do(applier, vocab, rows):
    words = random_masks(3, vocab)
    at = [0, 1, 2] if rows is None else list(rows)
    count = 3 if rows is None else 6
    for dtype in (np.float32, np.float16):
        expected = np.arange(count * VOCAB).reshape(count, VOCAB).astype(dtype)
        logits = expected.copy()
        applier.apply(expected, [maskd.Row.dense(*each) for each in zip(at, words, strict=True)], vocab)
        applier.apply_bitmask(logits, words, rows, vocab)
        np.testing.assert_array_equal(logits, expected)


def test_a_bitmask_may_be_wider_strided_read_only_and_of_another_library(applier):
    words = np.full((4, 9), -1, dtype=np.int32)
    words[::2, :4] = mask_of([7])
    words.flags.writeable = False
    for bitmask in (words[::2], words[::2, :4], words[[0, 2]], OnlyDlpack(np.array(words[::2]))):
        logits = np.ones((2, VOCAB), dtype=np.float32)
        applier.apply_bitmask(logits, bitmask)
        assert [finite(row) for row in logits] == [[7], [7]]
    one = np.ones(VOCAB, dtype=np.float32)
    applier.apply_bitmask(one, words[0])
    assert finite(one) == [7]


@pytest.mark.parametrize(("bitmask", "rows", "message"), [
    (np.zeros((2, 3), np.int32), None, "bitmask: has rows of 3 words, a vocabulary of 100 needs 4"),
    (np.zeros((1, 4), np.int32), None, "bitmask: has 1 rows, the logits have 2; name them by rows="),
    (np.zeros((2, 4), np.int32), [0], "rows: are 1, the bitmask has 2"),
    (np.zeros((2, 4), np.int32), [0, 0], "masks.rows: logits row 0 is named twice"),
    (np.zeros((2, 4), np.int64), None, "bitmask: are int64, not one of int32"),
    (np.zeros((2, 4), ">i4"), None, "bitmask: are >i4, not one of int32")])
def test_a_bitmask_that_does_not_fit_is_refused(applier, bitmask, rows, message):
    logits = np.ones((2, VOCAB), dtype=np.float32)
    with pytest.raises(maskd.MaskdError) as error:
        applier.apply_bitmask(logits, bitmask, rows)
    assert error.value.message == message
    assert np.isfinite(logits).all()


def test_torchs_tensors_are_taken_without_dlpack(applier):
    array = np.ones((2, VOCAB), dtype=np.float32)
    tensor = type("Tensor", (), {
        "__module__": "torch", "dtype": "torch.float32", "shape": array.shape, "is_cpu": True,
        "requires_grad": False, "device": "cuda:0", "data_ptr": lambda self: array.ctypes.data,
        "stride": lambda self: (VOCAB, 1)})
    applier.apply(tensor(), [maskd.Row.allowed(1, [3])])
    assert finite(array[1]) == [3] and np.isfinite(array[0]).all()
    for name, value, message in [
            ("is_cpu", False, "logits: lie on cuda:0, not in host memory"),
            ("requires_grad", True, "logits: are recorded for gradients; detach() them"),
            ("dtype", "torch.float64", "logits: are float64, not one of float32, float16, bfloat16")]:
        refused = tensor()
        setattr(refused, name, value)
        with pytest.raises(maskd.MaskdError) as error:
            applier.apply(refused, [])
        assert error.value.message == message
