"""Row maps: where each position of a batch lies in the logits. Names such as A6 are promises of the engines'
own backends."""

import numpy as np
import pytest

import maskd
from maskd import Scheduled, row_map

WIDTH = 320


@pytest.mark.parametrize(("batch", "every_token", "expected"), [
    ([Scheduled(7), Scheduled(9)], False, [(7, 0, 0), (9, 0, 1)]),
    ([Scheduled(7), Scheduled(None), Scheduled(9)], False, [(7, 0, 0), (9, 0, 2)]),
    # Prompts of 5 and 3 tokens: each one's last, at the sum of the lengths so far less one.
    ([Scheduled(1, 5), Scheduled(2, 3)], True, [(1, 0, 4), (2, 0, 7)]),
    ([Scheduled(1, 5), Scheduled(2, 3)], False, [(1, 0, 0), (2, 0, 1)]),
    # Two that decode, one of them free, then prompts.
    ([Scheduled(7), Scheduled(None), Scheduled(1, 5), Scheduled(2, 3)], True,
     [(7, 0, 0), (1, 0, 6), (2, 0, 9)]),
    ([Scheduled(7, 3, drafts=2), Scheduled(8)], True, [(7, 0, 0), (7, 1, 1), (7, 2, 2), (8, 0, 3)]),
    # Drafts behind the last token of a prompt's own.
    ([Scheduled(7, 6, drafts=2), Scheduled(8)], True, [(7, 0, 3), (7, 1, 4), (7, 2, 5), (8, 0, 6)]),
    ([Scheduled(7, 6, drafts=2), Scheduled(8)], False, [(7, 0, 0), (7, 1, 1), (7, 2, 2), (8, 0, 3)]),
    # A part of a prompt is not sampled.
    ([Scheduled(1, 256, sampled=False), Scheduled(2, 3)], True, [(2, 0, 258)]),
    ([Scheduled(1, 256, sampled=False), Scheduled(2, 3)], False, [(2, 0, 0)]),
    ([], True, []),
])
def test_a6_rows_of_decode_prefill_mixed_and_draft_batches(batch, every_token, expected):
    assert row_map(batch, every_token) == expected


def test_positions_behind_a_refused_draft_have_no_mask():
    batch = [Scheduled(7, 4, drafts=3), Scheduled(8, 3, drafts=2)]
    assert row_map(batch, accepted={7: 1, 8: 2}) == [(7, 0, 0), (7, 1, 1), (8, 0, 4), (8, 1, 5), (8, 2, 6)]


def test_more_positions_than_tokens_are_an_error():
    with pytest.raises(ValueError, match="row 7: 3 positions of 2 tokens"):
        row_map([Scheduled(7, 2, drafts=2)])


def test_a3_a_mixed_batch_masks_its_own_rows_and_no_other(client):
    """Decode with a draft, a free row, a prompt, a part of a prompt, in one plane of all tokens."""
    grammar = client.compile(maskd.Grammar.regex("ab[cd]"))
    batch = [Scheduled(1, 3, drafts=2), Scheduled(None), Scheduled(2, 4), Scheduled(3, 2, sampled=False)]
    logits = np.zeros((10, WIDTH), dtype=np.float32)
    with client.open_stream(WIDTH) as stream:
        step = maskd.Step().open(1, grammar, [ord("a")]).open(2, grammar).draft(1, b"bX")
        result = stream.run(step)
        accepted = {row.row: row.accepted_drafts or 0 for row in result.rows}
        result.apply(maskd.Applier(), logits, row_map(batch, True, accepted))
    finite = {i: bytes(np.flatnonzero(np.isfinite(row)).tolist())
              for i, row in enumerate(logits) if not (row == 0).all()}
    assert finite == {0: b"b", 1: b"cd", 7: b"a"}
