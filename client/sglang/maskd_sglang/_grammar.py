"""One request's grammar, and a batch of them: a step is one message.

Tokens are noted when they are accepted, tested by the mask that they were sampled under;
fill_vocab_mask_batched(), which SGLang calls once a step, sends all rows' tokens in one message and
writes the masks. A row opens with the first mask that is asked of it, so that a cached grammar
costs the server nothing. A tree of drafts is walked by SGLang one node at a time: each is a
message.

A row that has failed leaves its mask as it is, and its next token is refused with a ValueError, for
which SGLang ends that request alone.
"""

import dataclasses
import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sglang.srt.constrained.base_grammar_backend import BaseGrammarObject, GrammarStats
from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarObject

from maskd._api import Applier
from maskd._errors import MaskdError
from maskd._grammar import Compiled, Grammar
from maskd.batch import BatchRow, BatchRows

_ALL = -1


class MaskdGrammar(BaseGrammarObject):  # type: ignore[misc]
    """A request's place in its grammar."""

    def __init__(self, rows: BatchRows, grammar: Grammar, compiled: Compiled,
                 stop_ids: frozenset[int], stats: Any = None) -> None:
        super().__init__()
        self.rows = rows
        self.grammar = grammar
        self.compiled = compiled
        self.stop_ids = stop_ids
        self.grammar_stats = stats
        self.accepted = 0
        self._remaining: int | None = None
        self._stops = stop_ids
        self._row: BatchRow | None = None
        self._failed: MaskdError | None = None

    def tell(self, max_new_tokens: int | None, stop_token_ids: Iterable[int], ignore_eos: bool) -> None:
        """What its request has, before its first token."""
        if self.rows.settings.close_in_time:
            self._remaining = max_new_tokens
        self._stops = frozenset(stop_token_ids) | (frozenset() if ignore_eos else self.stop_ids)

    # --- the engine's calls

    def row(self) -> BatchRow | None:
        """Its row, opened when there is none; None: it has failed."""
        if self._row is None and self._failed is None:
            try:
                self._row = self.rows.open_now(self.grammar, self.compiled, self._stops, self._remaining)
            except MaskdError as error:
                self._failed = error
        return self._row if self._row is None or self._row.failed is None else None

    def reasoned(self, tokens: int) -> None:
        """So many of the request's tokens were none of the text: before its first."""
        if self._remaining is not None and self._row is not None:
            self._row.remaining = max(1, self._remaining - tokens)
        elif self._remaining is not None:
            self._remaining = max(1, self._remaining - tokens)

    def accept_token(self, token: int) -> None:
        """Notes the token for the next message; raises where the mask did not allow it."""
        if self.is_terminated():
            return
        row = self.row()
        if row is None:
            failed = self._failed or (self._row.failed if self._row is not None else None)
            raise ValueError(f"maskd: {failed}")
        if not row.accept([int(token)]):
            raise ValueError(f"token {token} is refused by its grammar after {self.accepted} tokens")
        self.current_token = token
        self.accepted += 1

    def rollback(self, k: int) -> None:
        """Takes back the last `k` tokens, also such as were not sent yet."""
        if self._row is not None:
            self._row.rollback(k)
        self.accepted -= k

    def is_terminated(self) -> bool:
        """Whether the text has ended; a row that is not open has not."""
        return self._row is not None and self._row.finished

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> Any:
        """On the host, a row of words a request; `device` is where it goes later."""
        return allocate(vocab_size, batch_size)

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        """One request's mask: a message of its own."""
        collect([self])
        self.write(vocab_mask, idx)

    def write(self, vocab_mask: Any, idx: int) -> None:
        """The mask that collect() has brought."""
        row = self._row
        if row is not None and row.failed is None and row.masks is not None and not row.finished:
            table = np.asarray(vocab_mask)
            words = min(table.shape[1], row.masks.shape[1])
            table[idx, :words] = row.masks[0, :words]

    @staticmethod
    def fill_vocab_mask_batched(entries: Sequence[Any], vocab_mask: Any) -> None:
        """The masks of the whole batch: one message."""
        fill_all(entries, vocab_mask)

    @staticmethod
    def reset_vocab_mask(vocab_mask: Any) -> None:
        """All ones, so that rows without a grammar stay free."""
        vocab_mask[:] = _ALL

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        """One copy for the batch, which the engine does not wait for."""
        return move(vocab_mask, device)

    @staticmethod
    def apply_vocab_mask(logits: Any, vocab_mask: Any) -> None:
        """Minus infinity for what the words do not allow, where the logits lie."""
        apply(logits, vocab_mask)

    def copy(self) -> "MaskdGrammar":
        """Of its grammar, at the beginning, as SGLang's cache wants it."""
        stats = self.grammar_stats
        if stats is not None:
            stats = dataclasses.replace(stats, is_cache_hit=True, tree_traversal_time=[])
        return MaskdGrammar(self.rows, self.grammar, self.compiled, self.stop_ids, stats)

    def try_jump_forward(self, tokenizer: Any) -> None:
        """None: forced text is not asked for."""
        return None

    def jump_forward_str_state(self, helper: Any) -> tuple[str, int]:
        """Nothing to jump over, as try_jump_forward() finds nothing."""
        return "", -1

    def jump_and_retokenize(self, old_output_ids: list[int], new_output_ids: list[int],
                            next_state: int) -> None:
        """Takes back the tokens that differ and gives the new ones."""
        same = 0
        for old, new in zip(old_output_ids, new_output_ids, strict=False):
            if old != new:
                break
            same += 1
        self.rollback(len(old_output_ids) - same)
        for token in new_output_ids[same:]:
            collect([self])
            self.accept_token(token)


class MaskdReasonerGrammar(ReasonerGrammarObject):  # type: ignore[misc]
    """SGLang's gate of reasoning over a MaskdGrammar, filled as a batch."""

    @staticmethod
    def fill_vocab_mask_batched(entries: Sequence[Any], vocab_mask: Any) -> None:
        """The masks of the whole batch: one message."""
        fill_all(entries, vocab_mask)

    @staticmethod
    def reset_vocab_mask(vocab_mask: Any) -> None:
        """All ones, so that rows without a grammar stay free."""
        vocab_mask[:] = _ALL

    def accept_token(self, token: int) -> None:
        """Tells the row how long the reasoning was, once it has ended."""
        was_open = self._grammar_active()
        super().accept_token(token)
        if not was_open and self._grammar_active() and self.grammar is not None:
            self.grammar.reasoned(self.tokens_in_think + len(self.think_end_ids))

    def copy(self) -> "MaskdReasonerGrammar":
        """A copy that stands where this does, with the same gate."""
        copied = super().copy()
        copied.__class__ = MaskdReasonerGrammar
        return copied  # type: ignore[no-any-return]


def inner_of(grammar: Any) -> MaskdGrammar | None:
    """The MaskdGrammar of a request, behind a gate or not."""
    if isinstance(grammar, ReasonerGrammarObject):
        grammar = grammar.grammar
    return grammar if isinstance(grammar, MaskdGrammar) else None


def _active(grammar: Any) -> MaskdGrammar | None:
    if isinstance(grammar, ReasonerGrammarObject) and not grammar._grammar_active():  # noqa: SLF001
        return None
    return inner_of(grammar)


def collect(grammars: Iterable[MaskdGrammar], nobody_else_waits: bool = False) -> None:
    """One message of what has happened; all of these have their masks then, or have failed."""
    opened = [(grammar.rows, grammar.row()) for grammar in grammars]
    owners = {id(rows): rows for rows, _ in opened}
    for _, row in opened:
        if row is not None and not row.is_current:
            row.ask()
    for rows in owners.values():
        rows.send()
        rows.receive(lambda: nobody_else_waits)


def fill_all(entries: Sequence[Any], vocab_mask: Any) -> None:
    """A batch's masks: one message, then each row as its gate has it."""
    active = [_active(entry.grammar) for entry in entries]
    collect([grammar for grammar in active if grammar is not None], len(entries) == len(vocab_mask))
    for entry, grammar in zip(entries, active, strict=True):
        if grammar is not None and grammar is entry.grammar:
            grammar.write(vocab_mask, entry.row)
        else:
            entry.grammar.fill_vocab_mask(vocab_mask, entry.row)


def allocate(vocab_size: int, batch_size: int) -> Any:
    """All ones, in pinned memory where there is any: a tensor, or an array where torch is not."""
    shape = (batch_size, (vocab_size + 31) // 32)
    try:
        import torch  # noqa: PLC0415
    except ImportError:
        return np.full(shape, _ALL, np.int32)
    return torch.full(shape, _ALL, dtype=torch.int32, pin_memory=torch.cuda.is_available())


def move(vocab_mask: Any, device: Any) -> Any:
    """One copy for the batch, which the engine does not wait for; numpy stays on the host."""
    return vocab_mask if isinstance(vocab_mask, np.ndarray) else vocab_mask.to(device, non_blocking=True)


# Where logits may lie, by torch's types: SGLang's kernels, NPU's, and maskd's in host memory.
_BY_KERNEL = ("cuda", "xpu", "musa")
DEVICES = ("cpu", *_BY_KERNEL, "npu")
_appliers: list[Applier] = []


def apply(logits: Any, vocab_mask: Any) -> None:
    """By SGLang's own kernel on a device, by maskd's appliers in host memory."""
    kind = "cpu" if isinstance(logits, np.ndarray) else logits.device.type
    if kind in _BY_KERNEL:
        _device_kernel()(logits, vocab_mask)
    elif kind == "npu":
        import sgl_kernel_npu  # noqa: F401, PLC0415
        import torch  # noqa: PLC0415

        torch.ops.npu.apply_token_bitmask(logits, vocab_mask)
    elif kind == "cpu":
        if not _appliers:
            _appliers.append(Applier())
        table = np.asarray(vocab_mask)
        vocab = min(32 * table.shape[1], int(logits.shape[-1]))
        table = table[:, :(vocab + 31) // 32]
        constrained = np.flatnonzero((table != _ALL).any(axis=1))
        _appliers[0].apply_bitmask(logits, table[constrained], constrained, vocab)
    else:
        raise RuntimeError(f"maskd-sglang: no kernel for logits on {kind}")


def _device_kernel() -> Any:
    from sglang.srt.utils import is_hip  # noqa: PLC0415

    if is_hip():
        from sgl_kernel import apply_token_bitmask_inplace_cuda  # noqa: PLC0415

        return apply_token_bitmask_inplace_cuda
    from sglang.kernels.ops.grammar.bitmask_ops import (  # noqa: PLC0415
        apply_token_bitmask_inplace_triton,
    )

    return apply_token_bitmask_inplace_triton


def stats_of(kind: str, begun: float) -> Any:
    """What SGLang reports of a compile; `begun` is of time.perf_counter()."""
    return GrammarStats(dispatch_type=kind, compilation_time=time.perf_counter() - begun)
