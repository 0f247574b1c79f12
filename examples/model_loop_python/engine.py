"""A small engine: continuous batching, drafts, sampling; some of its rows are held to grammars.

A step:  sampled tokens and drafts go to the server -> forward pass, while the server makes the masks ->
         masks onto the logits, in place -> sampling, which also judges the drafts.

The batch is ragged: a row that decodes brings its last token and its drafts, a new row its prompt. Rows
that decode come first. Logits are made for the positions that are sampled alone: 1 + drafts of a row
that decodes, the last of a prompt.
"""

import dataclasses
import time
from collections import deque
from collections.abc import Iterable

import maskd
import numpy as np
from gguf_model import Cache, Model, Span

STEP_S = 10.0


@dataclasses.dataclass
class Request:
    prompt: list[int]
    max_tokens: int
    grammar: maskd.Compiled | None = None  # None: free, never mentioned to the server
    temperature: float = 0.0  # 0: greedy
    seed: int = 0
    tokens: list[int] = dataclasses.field(default_factory=list)  # the answer, without its end
    ended: bool = False  # by its end, not by max_tokens


@dataclasses.dataclass
class Times:
    """Seconds, summed over all steps."""

    step: float = 0.0
    masks: float = 0.0  # saying the step, waiting for the masks and applying them
    waiting: float = 0.0  # of it: for the server, after the forward pass
    steps: int = 0
    sampled: int = 0  # tokens
    masked: int = 0  # positions
    drafted: int = 0
    kept: int = 0  # drafts that were right


class _Row:
    """A request that runs, in a slot of the cache."""

    def __init__(self, number: int, slot: int, request: Request) -> None:
        self.number = number
        self.slot = slot
        self.request = request
        self.past = 0  # tokens in the cache
        self.fed = request.prompt  # what the next pass runs
        self.taken: list[int] = []  # sampled in the last pass
        self.drafts: list[int] = []
        self.random = np.random.default_rng(request.seed)

    @property
    def constrained(self) -> bool:
        return self.request.grammar is not None

    @property
    def done(self) -> bool:
        return self.request.ended or len(self.request.tokens) >= self.request.max_tokens

    def pick(self, logits: np.ndarray) -> int:
        """The likeliest token, or one by its probability."""
        if self.request.temperature == 0:
            return int(logits.argmax())
        weights = np.exp((logits - logits.max()) / self.request.temperature)
        sums = np.cumsum(weights, dtype=np.float64)
        return int(np.searchsorted(sums, self.random.random() * sums[-1], side="right"))


class Engine:
    """One thread. `stream` may be None where no request has a grammar."""

    def __init__(self, model: Model, stream: maskd.Stream | None, batch: int, length: int,
                 draft_tokens: int = 0) -> None:
        self.times = Times()
        self._model = model
        self._stream = stream
        self._ends = {model.tokenizer.end} if stream is None else set(stream.stop_ids)
        self._applier = maskd.Applier()
        self._step = maskd.Step()
        self._cache = Cache(model, batch, length)
        self._length = length
        self._draft_tokens = draft_tokens
        self._free = list(range(batch))
        self._waiting: deque[Request] = deque()
        self._rows: list[_Row] = []
        self._numbers = 0
        self._open: set[int] = set()  # rows that the server has

    def run(self, requests: Iterable[Request]) -> None:
        """Until every request is answered."""
        self._waiting.extend(requests)
        while self._waiting or self._rows:
            started = time.perf_counter()
            self._admit()
            self._draft()
            self._run_step()
            self.times.step += time.perf_counter() - started
            self.times.steps += 1
        if self._open:
            self._submit([])
            self._server.collect(STEP_S)

    @property
    def _server(self) -> maskd.Stream:
        if self._stream is None:
            raise ValueError("a request has a grammar, and there is no stream")
        return self._stream

    def _admit(self) -> None:
        """New rows go behind those that decode."""
        while self._waiting and self._free:
            request = self._waiting.popleft()
            if len(request.prompt) + request.max_tokens > self._length:
                raise ValueError(f"prompt: {len(request.prompt)} tokens and {request.max_tokens} to come "
                                 f"are more than {self._length}")
            self._numbers += 1
            self._rows.append(_Row(self._numbers, self._free.pop(), request))

    def _draft(self) -> None:
        """What followed the row's last two tokens the last time that they came."""
        for row in self._rows:
            row.drafts = []
            left = row.request.max_tokens - len(row.request.tokens) - 1
            if row.past == 0 or self._draft_tokens == 0 or left <= 0:
                continue
            text = row.request.prompt + row.request.tokens
            row.drafts = looked_up(text, min(self._draft_tokens, left))
            self.times.drafted += len(row.drafts)

    def _run_step(self) -> None:
        constrained = [row for row in self._rows if row.constrained]
        started = time.perf_counter()
        if constrained:
            self._submit(constrained)
        submitted = time.perf_counter()
        logits, first = self._forward()
        ready = time.perf_counter()
        if constrained:
            self._mask(logits)
        self.times.masks += submitted - started + time.perf_counter() - ready
        for row, at in zip(self._rows, first, strict=True):
            self._sample(row, logits[at:at + 1 + len(row.drafts)])
        self._free += [row.slot for row in self._rows if row.done]
        self._rows = [row for row in self._rows if not row.done]

    def _submit(self, rows: list[_Row]) -> None:
        """A row that is not in the batch any more is closed."""
        self._step.clear()
        running = {row.number for row in rows}
        for number in self._open - running:
            self._step.close(number)
        for row in rows:
            if row.number not in self._open:
                assert row.request.grammar is not None, "only constrained rows are said"
                self._step.open(row.number, row.request.grammar,
                                remaining_tokens=row.request.max_tokens)
                continue
            self._step.take(row.number, row.taken)
            if row.drafts:
                self._step.draft(row.number, row.drafts)
        self._open = running
        self._server.submit(self._step)

    def _forward(self) -> tuple[np.ndarray, list[int]]:
        """The logits, and where each row's begin in them."""
        tokens: list[int] = []
        outputs: list[int] = []
        spans, first = [], []
        for row in self._rows:
            fed = row.fed + row.drafts
            spans.append(Span(row.slot, row.past, len(fed)))
            first.append(len(outputs))
            tokens += fed
            outputs += range(len(tokens) - 1 - len(row.drafts), len(tokens))
        logits = self._model.forward(np.array(tokens), spans, np.array(outputs), self._cache)
        return logits, first

    def _mask(self, logits: np.ndarray) -> None:
        started = time.perf_counter()
        result = self._server.collect(STEP_S)
        self.times.waiting += time.perf_counter() - started
        accepted = {}
        for answer in result.rows:
            if answer.error is not None:
                raise answer.error
            accepted[answer.row] = answer.accepted_drafts or 0
        # Behind a draft that the grammar refuses there is no mask, and nothing is sampled.
        batch = [maskd.Scheduled(row.number if row.constrained else None,
                                 len(row.fed) + len(row.drafts), len(row.drafts)) for row in self._rows]
        targets = maskd.row_map(batch, accepted=accepted)
        result.apply(self._applier, logits, targets)
        self.times.masked += len(targets)

    def _sample(self, row: _Row, logits: np.ndarray) -> None:
        """Samples one position after the other, as long as it comes out as the draft said."""
        request, row.taken = row.request, []
        for position, scores in enumerate(logits):
            token = row.pick(scores)
            row.taken.append(token)
            request.ended = token in self._ends
            if request.ended:
                break
            request.tokens.append(token)
            if position == len(row.drafts) or token != row.drafts[position]:
                break
        self.times.sampled += len(row.taken)
        self.times.kept += len(row.taken) - 1
        row.past += len(row.fed) + len(row.taken) - 1
        row.fed = row.taken[-1:]


def looked_up(text: list[int], count: int) -> list[int]:
    """Up to `count` tokens that followed the last two of `text` where these came last before."""
    for at in range(len(text) - 3, -1, -1):
        if text[at:at + 2] == text[-2:]:
            return text[at + 2:at + 2 + count]
    return []
