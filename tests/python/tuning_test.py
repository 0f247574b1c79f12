"""Temperatures, biases and outputs of their own: numpy by hand is the oracle."""

import numpy as np
import pytest

import maskd

WIDTH = 320
VOCAB = 257


def by_hand(logits, allowed, biases, temperature):
    """Computed in float32, rounded once."""
    numbers = logits.astype(np.float32)
    for token, bias in biases.items():
        numbers[token] += np.float32(bias)
    if temperature > 1e-30:  # below it, 1 / temperature is no float32: the greatest is to be taken
        numbers *= np.float32(1) / np.float32(temperature)
    tuned = numbers.astype(logits.dtype)
    untouched = np.ones(logits.size, dtype=bool)
    untouched[list(biases)] = False
    if temperature <= 1e-30 or temperature == 1:
        tuned[untouched] = logits[untouched]
    result = np.full(logits.size, -np.inf, dtype=logits.dtype)
    result[allowed] = tuned[allowed]
    return result


def rows_of(allowed):
    """The same mask in each form."""
    bits = np.zeros(-(-VOCAB // 32) * 32, dtype=np.uint8)
    bits[allowed] = 1
    words = np.packbits(bits, bitorder="little").view(np.int32)
    others = np.setdiff1d(np.arange(VOCAB), allowed)
    return {
        "allowed": maskd.Row.allowed(1, allowed),
        "forbidden": maskd.Row.forbidden(1, others),
        "dense": maskd.Row.dense(1, words),
        "delta": maskd.Row.dense(1, np.zeros_like(words), changed=allowed),
    }


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("form", ["allowed", "forbidden", "dense", "delta"])
@pytest.mark.parametrize("name", ["cpu", "cpu:portable", "opencl"])
@pytest.mark.parametrize("temperature", [0, -0.0, 1e-45, 1e-50, 0.3, 1, 1.7])
def test_logits_that_stay_are_biased_then_divided(name, form, dtype, temperature):
    try:
        applier = maskd.Applier(name)
    except maskd.MaskdError as error:
        pytest.skip(f"NOT TESTED HERE: {error}")
    random = np.random.default_rng(5)
    logits = (random.standard_normal((3, WIDTH)) * 8).astype(dtype)
    before = logits.copy()
    allowed = np.flatnonzero(random.random(VOCAB) < 0.4).astype(np.int32)
    biases = {0: 3.25, 17: -100.0, int(allowed[3]): 0.1, 256: 1e-3}
    row = rows_of(allowed)[form].tuned(biases, temperature)
    applier.apply(logits, [row], vocab_size=VOCAB)
    assert np.array_equal(logits[1], by_hand(before[1], allowed, biases, temperature))
    assert np.array_equal(logits[[0, 2]], before[[0, 2]])


def test_an_output_of_its_own_leaves_the_logits():
    random = np.random.default_rng(6)
    logits = random.standard_normal((2, WIDTH)).astype(np.float32)
    logits.flags.writeable = False
    out = np.full_like(logits, 7)
    row = maskd.Row.allowed(1, [3, 5]).tuned({3: 1.0}, 2.0)
    maskd.Applier("cpu").apply(logits, [row], vocab_size=VOCAB, out=out)
    assert np.array_equal(out[1], by_hand(logits[1], [3, 5], {3: 1.0}, 2.0))
    assert (out[0] == 7).all()
    with pytest.raises(maskd.MaskdError, match="logits: cannot be written"):
        maskd.Applier("cpu").apply(logits, [row], vocab_size=VOCAB)


def test_an_output_that_overlaps_is_refused():
    plane = np.zeros((4, WIDTH), dtype=np.float32)
    with pytest.raises(maskd.MaskdError, match="output.data: shares memory with the logits"):
        maskd.Applier("cpu").apply(plane[:3], [maskd.Row.allowed(0, [1])], out=plane[1:])
    assert not plane.any()


@pytest.mark.parametrize(("temperature", "biases", "message"), [
    (-1, {}, "masks.rows[0].temperature: -1 is not a finite number from 0 on"),
    (float("nan"), {}, "masks.rows[0].temperature"),
    (1, {257: 1.0}, "masks.rows[0].biases[0]: of token 257"),
    (1, {3: float("inf")}, "masks.rows[0].biases[0]: of token 3 by inf"),
])
def test_what_cannot_be_is_refused(temperature, biases, message):
    logits = np.zeros((1, WIDTH), dtype=np.float32)
    with pytest.raises(maskd.MaskdError) as error:
        maskd.Applier("cpu").apply(
            logits, [maskd.Row.allowed(0, [1]).tuned(biases, temperature)], vocab_size=VOCAB)
    assert error.value.message.startswith(message)
    assert not logits.any()


def test_rows_carry_them_from_the_step_that_opens_them(client):
    with client.open_stream(WIDTH, want_temperature=True, want_bias=True) as stream:
        step = maskd.Step().open(1, maskd.Grammar.regex("[a-d]+"), wait_s=20, temperature=0.5,
                                 biases={ord("a"): 3.0, ord("z"): 100.0})
        step.open(2, maskd.Grammar("lark", "start[temperature=0.7]: /[ab]/"))
        result = stream.run(step)
        position = result.position(1)
        assert (position.temperature, position.biases) == (0.5, {ord("a"): 3.0})
        assert position.form == maskd.Position.ALLOWED
        assert position.ids.tolist() == list(b"abcd")
        assert result.position(2).temperature == pytest.approx(0.7)
        logits = np.ones((1, WIDTH), dtype=np.float32)
        out = np.empty_like(logits)
        result.apply(maskd.Applier("cpu"), logits, {1: 0}, out=out)
        assert np.array_equal(out[0], by_hand(logits[0], list(b"abcd"), {ord("a"): 3.0}, 0.5))
        assert (logits == 1).all()


def test_a_stream_that_did_not_ask_refuses_the_row(client):
    with client.open_stream(WIDTH) as stream:
        step = maskd.Step().open(1, maskd.Grammar.regex("a"), wait_s=20, temperature=0.5)
        (row,) = stream.run(step).rows
        assert (row.state, row.error.place) == (maskd.RowState.FAILED, "temperature")
