"""vLLM's manager of structured outputs, over maskd's rows: a step is one message.

order of a step   accept_tokens() notes tokens; is_scheduled() sends them with the rows that open, or
                  step_is_over() where the engine schedules ahead; grammar_bitmask() collects the
                  masks
with drafts       accept_tokens(); ask_for_drafts() sends tokens and drafts and collects;
                  validate_tokens() and grammar_bitmask() answer from that
reasoning         the gate is vLLM's: a row is opened with its request, takes its first token after
                  the end of reasoning, and is told then how many tokens are left
A row that has failed gets all ones and its next token is refused, which ends that request with an
error and no other. Nothing here raises in a step: for vLLM that would be the engine's end.
"""

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from vllm.logger import init_logger
from vllm.v1.structured_output import StructuredOutputManager
from vllm.v1.structured_output.backend_types import StructuredOutputGrammar
from vllm.v1.structured_output.request import get_structured_output_key
from vllm.v1.structured_output.utils import strip_speculative_padding

from maskd._endpoints import MOVABLE, Settings
from maskd._errors import MaskdError
from maskd._vocabulary import check_vocabulary
from maskd.batch import BatchRow, BatchRows
from maskd_vllm._grammars import grammar_for

_log = init_logger("vllm.maskd")
_ALL = np.int32(-1)


class MaskdGrammar(StructuredOutputGrammar):  # type: ignore[misc]
    """What vLLM keeps with a request: the row, or why there is none."""

    def __init__(self, row: BatchRow | None, failed: MaskdError | None = None) -> None:
        self.row = row
        self._failed = failed

    @property
    def failed(self) -> MaskdError | None:
        """Why the row answers no more; None while it does."""
        return self.row.failed if self.row is not None else self._failed

    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool:
        """Notes tokens for the next message; False where the mask did not allow one."""
        return self.row is not None and self.row.accept(tokens)

    def validate_tokens(self, tokens: list[int]) -> list[int]:
        """Of one token, what the mask says; the manager asks the server about more."""
        if self.row is None or not tokens:
            return []
        return tokens[:1] if self.row.allows(tokens[0]) else []

    def rollback(self, num_tokens: int) -> None:
        """Takes the last tokens back, also such as were not sent yet."""
        if self.row is not None:
            self.row.rollback(num_tokens)

    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None:
        """The mask that was collected last, all ones where there is none."""
        row = self.row
        has_mask = row is not None and row.masks is not None and not row.finished
        mask = row.masks[0] if has_mask else _ALL  # type: ignore[union-attr, index]
        bitmask.numpy()[batch_index] = mask

    def is_terminated(self) -> bool:
        """Whether the text has ended."""
        return self.row is not None and self.row.finished

    def reset(self) -> None:
        """vLLM never asks for it."""
        raise NotImplementedError("vLLM resets no grammar of a request")


class MaskdManager(StructuredOutputManager):  # type: ignore[misc]
    """In the place of vLLM's. Errors at start: RuntimeError, when there is no server or its
    vocabulary
    is another one."""

    def __init__(self, vllm_config: Any) -> None:
        super().__init__(vllm_config)
        settings = Settings.from_environment()
        model = vllm_config.model_config
        self._drafts = int(vllm_config.num_speculative_tokens)
        self._is_ahead = bool(vllm_config.scheduler_config.async_scheduling)
        self._has_blocks = hasattr(self, "_masked_reasoning_ends")  # a request's rows are 1 + drafts
        self._settings = settings
        self.rows: BatchRows | None = None
        self._requests: dict[str, Any] = {}  # the scheduler's own
        self._batch: list[Any] = []  # the last one's requests, and the ids of their rows
        self._ids: list[int] = []
        self.arrivals: Any = None  # the engine's queue of what it has not seen yet
        if model.skip_tokenizer_init:
            _log.warning("maskd: skip_tokenizer_init: there are no structured outputs")
            return
        if model.is_diffusion:
            _log.warning("maskd: a diffusion model: there are no structured outputs, and no server is asked")
            return
        if not self._use_async_grammar_compilation:
            raise RuntimeError("maskd: distributed_executor_backend external_launcher is not supported: "
                               "each rank would ask the server alone")
        check = functools.partial(check_vocabulary, self.tokenizer)
        rows = BatchRows(settings, model.get_vocab_size(), None if settings.tokenizer_hash else check,
                         block=1 + self._drafts if self._drafts and self._has_blocks else 0)
        try:
            transport = rows.connect(settings.start_s)
        except MaskdError as error:
            raise RuntimeError(f"maskd at {', '.join(settings.addresses)}: {error}") from error
        self.rows = rows
        _log.info("maskd: %s by %s", ", ".join(settings.addresses), transport)

    # --- threads of vLLM's executor

    def grammar_init(self, request: Any) -> None:
        """Compiles on a thread; the request waits in vLLM's queue until it is done."""
        if request.structured_output_request is not None:
            request.structured_output_request.grammar = self.executor.submit(self._create_grammar,
                                                                              request)

    def _create_grammar(self, request: Any) -> MaskdGrammar:
        """Errors: those of a grammar. A server that is not there is the request's failure, later."""
        if self.rows is None:
            raise ValueError("this engine has no structured outputs: its front end refuses such requests")
        parameters = request.sampling_params
        structured = request.structured_output_request
        grammar = grammar_for(get_structured_output_key(structured.params), structured.params,
                              self.vllm_config.structured_outputs_config, self._settings)
        try:
            compiled = self.rows.endpoints.compile(grammar)
            row = self.rows.open(grammar, compiled, parameters.all_stop_token_ids,
                                 self._tokens_left(request))
        except MaskdError as error:
            _log.error("maskd: request %s: %s", request.request_id, error)
            if error.code in MOVABLE:
                return MaskdGrammar(None, error)
            raise
        return MaskdGrammar(row)

    def _tokens_left(self, request: Any) -> int | None:
        """What the row's text must be complete within; None: max_tokens may cut it."""
        most = request.sampling_params.max_tokens
        if not self._settings.close_in_time or most is None:
            return None
        room = self.vllm_config.model_config.max_model_len - request.num_prompt_tokens
        return max(1, int(min(most, room) - request.num_output_tokens))

    # --- the engine's thread

    def _nobody_else_waits(self) -> bool:
        return (all(each.use_structured_output for each in self._requests.values())
                and not any(_is_free(*each) for each in self._arrived()))

    def _arrived(self) -> list[tuple[Any, Any]]:
        if self.arrivals is None:
            return []
        with self.arrivals.mutex:
            return list(self.arrivals.queue)

    def step_is_over(self, goes_on: bool = False) -> None:
        """All tokens of a step have been accepted. They go with the rows that the next schedule() opens;
        now where that has been called already, or where there is none. With drafts they wait for
        ask_for_drafts()."""
        if not goes_on:
            self._batch = []  # which would keep rows open
        if self.rows is not None and self._drafts == 0 and (self._is_ahead or not goes_on):
            self.rows.send()

    def is_scheduled(self) -> None:
        """A step begins: the server works while the engine computes."""
        if self.rows is not None:
            self.rows.send()

    def accept_tokens(self, request: Any, new_token_ids: list[int]) -> bool:
        """Notes what was sampled, less the reasoning in front of it. Nothing is sent yet."""
        structured = request.structured_output_request
        if structured is None or not new_token_ids:
            return True
        start = 0 if self.reasoner_cls is None else self._grammar_start(request, new_token_ids)
        if start > len(new_token_ids):
            return True
        grammar = getattr(structured, "_grammar", None)
        if type(grammar) is not MaskdGrammar:
            grammar = _grammar_of(structured)
        row: BatchRow | None = grammar.row
        if row is None or row.failed is not None:
            _log.error("maskd: request %s: %s", request.request_id, grammar.failed)
            return False
        if structured.reasoning_ended is not True:
            structured.reasoning_ended = True
            if self.reasoner_cls is not None:
                row.remaining = self._tokens_left(request)
        if start == 0 and len(new_token_ids) == 1:
            good = row.accept_one(new_token_ids[0])
        else:
            good = row.accept(new_token_ids[start:] if start else new_token_ids)
        if request.is_finished():
            row.leave()
        return good

    def _grammar_start(self, request: Any, tokens: list[int]) -> int:
        if request.structured_output_request.reasoning_ended:
            return 0
        return int(self._get_constraint_bounds(request, tokens, spec_tokens_committed=True)[0])

    def _bounds(self, request: Any, drafts: Sequence[int]) -> tuple[int, int]:
        """From which draft on the grammar takes tokens, and from which on masks apply."""
        if self.reasoner_cls is None or request.structured_output_request.reasoning_ended:
            return 0, 0
        grammar_start, constraint_start = self._get_constraint_bounds(request, drafts)
        return int(grammar_start), int(constraint_start)

    def ask_for_drafts(self, draft_token_ids: Any, requests: dict[str, Any]) -> None:
        """One message for all rows: their tokens and their drafts."""
        if self.rows is None:
            return
        self._requests = requests
        asked = []
        for request_id, tokens in zip(draft_token_ids.req_ids, draft_token_ids.draft_token_ids,
                                      strict=True):
            request = requests.get(request_id)
            if (request is None or request.is_finished() or not request.use_structured_output
                    or request.is_prefill_chunk):
                continue
            drafts = strip_speculative_padding(tokens)
            start = 0 if self.reasoner_cls is None else self._bounds(request, drafts)[0]
            row = _row_of(request)
            if row is not None and len(drafts) > start:
                asked.append((row, drafts[start:]))
        self.rows.send(asked)
        self.rows.receive(self._nobody_else_waits)

    def validate_tokens(self, request: Any, spec_tokens: list[int]) -> list[int]:
        """The drafts that the grammar takes, by the masks that were collected for them."""
        if not request.use_structured_output:
            return spec_tokens
        drafts: list[int] = strip_speculative_padding(spec_tokens)
        start = 0 if self.reasoner_cls is None else self._bounds(request, drafts)[0]
        row = _row_of(request)
        if start >= len(drafts) or row is None:
            return drafts
        self._draft(row, drafts[start:] if start else drafts)
        return drafts[:start + max(row.known - 1, 0)]

    def _draft(self, row: BatchRow, drafts: Sequence[int]) -> None:
        """The row has the masks after these drafts, or has failed."""
        assert self.rows is not None
        if row.has_judged(drafts):
            return
        self.rows.send([(row, drafts)])
        self.rows.receive(self._nobody_else_waits)

    def grammar_bitmask(self, requests: dict[str, Any], structured_output_request_ids: list[str],
                        scheduled_spec_decode_tokens: dict[str, list[int]]) -> np.ndarray | None:
        """Collects the masks of the batch: the one wait of a step. None where no request has a
        grammar."""
        if not structured_output_request_ids or self.rows is None:
            return None
        self._requests = requests
        batch = [requests[each] for each in structured_output_request_ids]
        self.rows.send()
        self.rows.receive(self._nobody_else_waits)
        drafts = [scheduled_spec_decode_tokens.get(each, ()) for each in structured_output_request_ids
                  ] if self._drafts or scheduled_spec_decode_tokens else []
        is_open = self.reasoner_cls is None or not any(map(_reasons, batch))
        if is_open and batch == self._batch:  # most steps are of the requests of the one before
            whole = self._whole_table(drafts)
            if whole is not None:
                return whole
        found = [_row_of(request) for request in batch]
        self._batch, self._ids = batch, [0 if row is None else row.id for row in found]
        whole = self._whole_table(drafts) if is_open else None
        if whole is not None:
            return whole
        self._ask_again(found)
        if is_open and not drafts:
            return self._stacked(found)
        return self._table(batch, found, drafts or [()] * len(batch))

    def _whole_table(self, drafts: Sequence[Sequence[int]]) -> np.ndarray | None:
        """The answer as it lies, where it is what the batch is to have."""
        assert self.rows is not None
        if self._has_blocks:  # where a request has as many rows, whatever follows its drafts
            drafts = [strip_speculative_padding(each) for each in drafts]
        return self.rows.table_of(self._ids, drafts)

    def _stacked(self, rows: Sequence[BatchRow | None]) -> np.ndarray:
        """One mask a row, where they came in several messages."""
        assert self.rows is not None
        free = np.full((1, self.rows.words), _ALL)
        return np.concatenate([free if row is None or row.masks is None else row.masks[:1]
                               for row in rows])

    def _ask_again(self, rows: Iterable[BatchRow | None]) -> None:
        """Rows that nothing has happened to since their masks were used."""
        assert self.rows is not None
        missing = [row for row in rows
                   if row is not None and not row.is_current and row.failed is None]
        for row in missing:
            row.ask()
        if missing:
            self.rows.send()
            self.rows.receive(self._nobody_else_waits)

    def _table(self, batch: Sequence[Any], rows: Sequence[BatchRow | None],
               drafts: Sequence[Sequence[int]]) -> np.ndarray:
        """A request has one row, and one behind each of its drafts; in vLLM 0.33 as many as any may
        have."""
        assert self.rows is not None
        stride = 1 + self._drafts
        counts = [stride if self._has_blocks else 1 + len(each) for each in drafts]
        table = np.empty((sum(counts), self.rows.words), np.int32)
        at = 0
        for request, row, tokens, count in zip(batch, rows, drafts, counts, strict=True):
            self._fill_rows(request, row, strip_speculative_padding(tokens), table[at:at + count])
            at += count
        return table

    def _fill_rows(self, request: Any, row: BatchRow | None, drafts: Sequence[int],
                   table: np.ndarray) -> None:
        grammar_start, constraint_start = self._bounds(request, drafts)
        masks = None
        if row is not None and constraint_start <= len(drafts):
            self._draft(row, drafts[grammar_start:])
            masks = row.masks
        if masks is None or row is None:
            begin = end = len(table)
        else:
            begin, end = constraint_start, grammar_start + min(row.known, 1 + len(drafts) - grammar_start)
            # The token that ended reasoning is the text's first.
            table[begin:end] = masks[begin - grammar_start:end - grammar_start]
        table[:begin] = table[end:] = _ALL
        if constraint_start and self._has_blocks:
            self._forbid(table[:constraint_start], self._masked_reasoning_ends(request))

    @staticmethod
    def _forbid(table: np.ndarray, tokens: Iterable[int]) -> None:
        for token in tokens:
            table.view(np.uint32)[:, token >> 5] &= ~np.uint32(1 << (token & 31))

    def clear_backend(self) -> None:
        """Ends the stream and its rows, as the engine stops."""
        rows, self.rows = self.rows, None
        super().clear_backend()
        if rows is not None:
            rows.close()


def _is_free(kind: Any, message: Any) -> bool:
    """Whether what has arrived is to be served now, whatever becomes of constrained requests."""
    if kind.name == "ADD":
        return not bool(message[0].use_structured_output)
    return bool(kind.name == "UTILITY")


def _reasons(request: Any) -> bool:
    """Whether the request is not known to be behind its reasoning."""
    return request.structured_output_request.reasoning_ended is not True


def _row_of(request: Any) -> BatchRow | None:
    """The request's row, if masks may apply to it."""
    grammar = _grammar_of(request.structured_output_request)
    row = grammar.row if type(grammar) is MaskdGrammar else None
    return row if row is not None and row.failed is None and not row.finished else None


def _grammar_of(structured: Any) -> Any:
    """vLLM's own way asks each time whether it is still being made, which takes longer than all else of a
    row's step."""
    made = getattr(structured, "_grammar", None)
    return made if type(made) is MaskdGrammar else structured.grammar


__all__ = ["MaskdGrammar", "MaskdManager"]
