"""Answers read back where nothing is masked: what a parser of an engine does, by a server's rows.

    reader = maskd.AnswerReader(stream, maskd.Grammar.chat("qwen_3", request, reasoning="auto"))
    reader.take(tokens)         # an AnswerDelta, or None: nothing new
    reader.end()
    reader.message()            # OpenAI's message
"""

import codecs
import dataclasses
from collections.abc import Iterable, Iterator

from maskd._answers import Answer, AnswerDelta, RowResult, RowState
from maskd._grammar import Compiled, Grammar
from maskd._matcher import MatcherStream

_TIMEOUT_S = 30.0


class AnswerReader:
    """One answer. Any thread, one at a time. Errors: those of the grammar, when it is made; a server that
    has gone."""

    def __init__(self, stream: MatcherStream, grammar: Grammar | Compiled) -> None:
        self._stream = stream
        self._answer = Answer()
        self._finished = False
        row = stream.new_row()
        opened, _ = stream.move(
            row, lambda step: step.open(row, grammar, observe=True, wait_s=_TIMEOUT_S))
        self._row = row  # from here on it is closed
        self._apply(opened)

    def take(self, tokens: Iterable[int]) -> AnswerDelta | None:
        """What they say. A stop id of the vocabulary ends the answer; tokens behind it say nothing."""
        given = list(tokens)
        answer, _ = self._stream.move(self._row, lambda step: step.take(self._row, given))
        return self._apply(answer)

    def rollback(self, token_count: int) -> AnswerDelta | None:
        """Takes the last tokens back, an end too."""
        answer, _ = self._stream.move(
            self._row, lambda step: step.rollback(self._row, token_count).take(self._row, ()))
        return self._apply(answer)

    def end(self) -> AnswerDelta | None:
        """That nothing follows: what was held back is what it looks like."""
        return None if self._finished else self.take(self._stream.stop_ids[:1])

    @property
    def finished(self) -> bool:
        """Whether the answer has ended, so that no token is expected."""
        return self._finished

    def message(self) -> dict[str, object]:
        """As far as it goes."""
        return self._answer.message()

    def _apply(self, row: RowResult) -> AnswerDelta | None:
        if row.error is not None:
            raise row.error
        self._finished = row.state == RowState.FINISHED
        self._answer.apply(row.answer)
        return row.answer

    def __del__(self) -> None:
        if hasattr(self, "_row"):
            self._stream.drop(self._row)


@dataclasses.dataclass(frozen=True)
class CallText:
    """More of one call, as text."""

    index: int
    id: str  # of a call that is new
    name: str  # the same
    arguments: str


class AnswerTexts:
    """Deltas as texts, for who passes them on at once: a character that is not whole yet waits for its rest.
    Nothing can be taken back."""

    def __init__(self) -> None:
        self._reasoning = codecs.getincrementaldecoder("utf-8")("replace")
        self._content = codecs.getincrementaldecoder("utf-8")("replace")
        self._arguments: list[codecs.IncrementalDecoder] = []

    def reasoning(self, delta: AnswerDelta | None) -> str:
        """More of the reasoning, as far as whole characters go."""
        return "" if delta is None else self._reasoning.decode(delta.reasoning_content)

    def content(self, delta: AnswerDelta | None) -> str:
        """More of the content, as far as whole characters go."""
        return "" if delta is None else self._content.decode(delta.content)

    def calls(self, delta: AnswerDelta | None) -> Iterator[CallText]:
        """More of each call, in order; arguments are cut between characters."""
        for call in () if delta is None else delta.tool_calls:
            if call.index == len(self._arguments):
                self._arguments.append(codecs.getincrementaldecoder("utf-8")("replace"))
            yield CallText(call.index, call.id, call.name,
                           self._arguments[call.index].decode(call.arguments))


__all__ = ["AnswerReader", "AnswerTexts", "CallText"]
