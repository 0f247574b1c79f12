"""What a request says beside its grammar: how many tokens it may have, and what else stops it.

SGLang gives a backend a grammar's key alone, and calls
GrammarManager._apply_request_reasoning_config for each request whose grammar is ready: there the
row is told.
"""

import functools
from typing import Any

from maskd_sglang._grammar import inner_of


def install(manager: Any) -> None:
    """Wraps the manager's method once, so that each row is told its request's bounds."""
    apply = manager._apply_request_reasoning_config  # noqa: SLF001
    if hasattr(apply, "_maskd"):
        return

    @functools.wraps(apply)
    def apply_and_tell(self: Any, req: Any) -> None:
        apply(self, req)
        grammar = inner_of(req.grammar)
        if grammar is not None:
            parameters = req.sampling_params
            grammar.tell(parameters.max_new_tokens, parameters.stop_token_ids or (),
                         bool(parameters.ignore_eos))

    apply_and_tell._maskd = True  # type: ignore[attr-defined]  # noqa: SLF001
    manager._apply_request_reasoning_config = apply_and_tell  # noqa: SLF001


__all__ = ["install"]
