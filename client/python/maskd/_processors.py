"""Logits processors of transformers and llama-cpp-python: a model's own generate() with a grammar.

One processor serves one generation: its first call sees the prompts, each later one a token more. The
server must have the model's vocabulary. `max_new_tokens` is the generation's own: the masks lead to a
complete text within it; 0: the text may be cut off.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from maskd import _buffers
from maskd._api import Applier, Client, Step
from maskd._errors import MaskdError
from maskd._grammar import Compiled, Grammar

_COMPILE_S = 60.0

History = tuple[int, ...]


class _Rows:
    """The sequences of one generation as rows of a stream, found again by what they have taken."""

    def __init__(self, client: Client, grammar: Grammar | Compiled, tokenizer: str,
                 applier: Applier | None, stop_ids: Iterable[int], max_new_tokens: int) -> None:
        self._client = client
        self._grammar = grammar
        self._tokenizer = tokenizer
        self._applier = applier or Applier()
        self._stop_ids = list(stop_ids)
        self._max_new_tokens = max_new_tokens
        self._stream: Any = None
        self._step = Step()
        self._prompt_tokens = 0
        self._next_row = 0
        self._rows: list[int] = []
        self._histories: list[History] = []
        self._leaving: set[int] = set()

    def mask(self, sequences: Sequence[Sequence[int]], logits: Any) -> None:
        """Masks a batch's logits in place. `sequences` are whole, prompts included."""
        if self._stream is None:
            width = int(logits.shape[-1])
            self._stream = self._client.open_stream(width, tokenizer=self._tokenizer)
            self._prompt_tokens = len(sequences[0])
        histories = [tuple(int(token) for token in sequence[self._prompt_tokens:])
                     for sequence in sequences]
        self._move(histories)
        result = self._stream.run(self._step, _COMPILE_S)
        for answer in result.rows:
            if answer.error is not None:
                raise answer.error
        result.apply(self._applier, logits, {row: i for i, row in enumerate(self._rows)})

    def _move(self, histories: list[History]) -> None:
        """Fills the step: each sequence goes on from the row that has its tokens but the last."""
        before = dict(zip(self._histories, self._rows, strict=True))
        own = list(zip(self._histories, self._rows, strict=True))
        self._step.clear()
        rows = []
        for i, history in enumerate(histories):
            if i < len(own) and own[i][0] == history[:-1] and history:
                row = own[i][1]
            elif history and history[:-1] in before:  # a beam that was taken over
                row = self._new_row()
                self._step.fork(before[history[:-1]], row)
            else:
                row = self._new_row()
                self._step.open(row, self._grammar, history[:-1], self._stop_ids, _COMPILE_S,
                                remaining_tokens=self._remaining(history[:-1]))
            self._step.take(row, history[-1:])
            rows.append(row)
        self._rows, self._histories = rows, histories
        self._close({row for _, row in own} - set(rows))

    def _remaining(self, taken: History) -> int | None:
        left = self._max_new_tokens - len(taken)
        return left if left > 0 else None

    def _close(self, rows: set[int]) -> None:
        # In the next step: the server closes before it forks.
        for row in self._leaving:
            self._step.close(row)
        self._leaving = rows

    def _new_row(self) -> int:
        self._next_row += 1
        return self._next_row

    def close(self) -> None:
        """Ends the stream; the next mask() would open a new one."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


class _Processor:
    """What serves one generation. Its grammar and its server are looked at when it is made."""

    def __init__(self, client: Client, grammar: Grammar | Compiled, tokenizer: str = "",
                 applier: Applier | None = None, stop_ids: Iterable[int] = (),
                 max_new_tokens: int = 0) -> None:
        self._rows = _Rows(client, grammar, tokenizer, applier, stop_ids, max_new_tokens)

    def close(self) -> None:
        """Ends the generation's stream."""
        self._rows.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class TransformersProcessor(_Processor):
    """A LogitsProcessor of transformers, for a batch, with sampling or beams.

        with maskd.TransformersProcessor(client, maskd.Grammar.json_schema(schema)) as processor:
            model.generate(**prompt, logits_processor=[processor])
    """

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        on_host = _is_on_host(scores)
        logits = scores if on_host else scores.cpu()
        self._rows.mask(input_ids.tolist(), logits)
        return scores if on_host else scores.copy_(logits)


class LlamaCppProcessor(_Processor):
    """A logits processor of llama-cpp-python, for one sequence without a draft model.

        with maskd.LlamaCppProcessor(client, grammar) as processor:
            llm(prompt, logits_processor=LogitsProcessorList([processor]))

    From its version 0.3 on, llama-cpp-python calls it out of C, where Python prints an exception and
    goes on: so one ends the text at once, and close(), which the end of `with` calls, raises it again.
    """

    def __init__(self, client: Client, grammar: Grammar | Compiled, tokenizer: str = "",
                 applier: Applier | None = None, stop_ids: Iterable[int] = (),
                 max_new_tokens: int = 0) -> None:
        stops = list(stop_ids)
        super().__init__(client, _compiled(client, grammar, tokenizer), tokenizer, applier, stops,
                         max_new_tokens)
        self._ends = stops or client.call("GetTokenizer", {"name": tokenizer})["tokenizer"]["stop_ids"]
        self._error: Exception | None = None

    def __call__(self, input_ids: np.ndarray, scores: np.ndarray) -> np.ndarray:
        try:
            if self._error is not None:
                raise self._error
            # The logits of its candidates are a member of a struct: they do not lie side by side.
            logits = np.ascontiguousarray(scores)
            self._rows.mask([input_ids.tolist()], logits)
        except Exception as error:
            self._error = error
            scores[:] = -np.inf
            scores[self._ends] = 0
            raise
        return logits

    def close(self) -> None:
        """Ends the generation's stream. Raises what a call has raised."""
        super().close()
        error, self._error = self._error, None
        if error is not None:
            raise error


def _compiled(client: Client, grammar: Grammar | Compiled, tokenizer: str) -> Compiled:
    return grammar if isinstance(grammar, Compiled) else client.compile(grammar, tokenizer)


def _is_on_host(scores: Any) -> bool:
    if isinstance(scores, np.ndarray):
        return True
    if not hasattr(scores, "__dlpack_device__"):
        raise MaskdError("INVALID_ARGUMENT",
                         f"scores: are a {type(scores).__name__}, which has no DLPack")
    return int(scores.__dlpack_device__()[0]) in _buffers.HOST_DEVICES
