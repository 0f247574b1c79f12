"""Which row of the logits a position of a row is, for batches as engines lay them out.

An engine's pass runs some tokens of each sequence, one sequence's behind the other's: one of a sequence
that decodes, 1 + k where k drafts are judged, a prompt or a part of one. What is sampled are the last
1 + k of them, nothing of a part that others follow.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Scheduled(NamedTuple):
    """A sequence in one pass.

        Scheduled(7)                       decodes
        Scheduled(7, 1 + k, drafts=k)      decodes with k drafts
        Scheduled(8, 300)                  a prompt, or the last part of one
        Scheduled(8, 256, sampled=False)   a part of a prompt that others follow
        Scheduled(None)                    held to no grammar
    """

    row: int | None
    tokens: int = 1
    drafts: int = 0
    sampled: bool = True


def row_map(batch: Iterable[Scheduled], every_token: bool = False,
            accepted: Mapping[int, int] | None = None) -> list[tuple[int, int, int]]:
    """(row, position, logits row) of each position that has a mask, for StepResult.apply().

    `batch`: in the engine's order, the sequences that decode first or any other. `every_token`: the
    logits have a row for each token of the pass, as they come out of it; else only for those that are
    sampled. `accepted`: drafts of a row that have a mask (RowResult.accepted_drafts); positions behind
    them are left out. None: all have.
    """
    targets = []
    end = 0  # of the sequence's rows of logits
    for sequence in batch:
        positions = 1 + sequence.drafts if sequence.sampled else 0
        if positions > sequence.tokens:
            raise ValueError(f"row {sequence.row}: {positions} positions of {sequence.tokens} tokens")
        end += sequence.tokens if every_token else positions
        if sequence.row is None:
            continue
        valid = positions if accepted is None else min(
            positions, 1 + accepted.get(sequence.row, sequence.drafts))
        first = end - positions
        targets += [(sequence.row, position, first + position) for position in range(valid)]
    return targets
