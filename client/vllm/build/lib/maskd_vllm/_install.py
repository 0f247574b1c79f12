"""Puts this package's classes into vLLM's places, in the process that loads the plugin.

place                                              what comes there
SamplingParams._validate_structured_outputs        the server compiles: HTTP 400 with its words and
                                                   place
AsyncLLM.add_request                               the same before it, off the event loop
StructuredOutputManager, where EngineCore sees it  MaskdManager
EngineCoreProc._process_input_queue                before it the manager is shown the requests that
                                                   have arrived
Scheduler.schedule                                 then the step's message is sent
Scheduler.update_from_output                       then, where the engine schedules ahead or rests
Scheduler.update_draft_token_ids(_in_output)       before it one message has all rows' tokens and
                                                   drafts
ParserManager.get_parser                           where MASKD_FAMILY is set, for the tool parser
                                                   "maskd", MaskdParser
"""

import functools
import os
import sys
from typing import Any

from maskd._endpoints import Settings
from maskd_vllm import _interface


def install() -> None:
    """Errors: what stands in the way. A second call changes nothing."""
    import vllm  # noqa: PLC0415

    _interface.check_version(vllm.__version__, os.environ.get("MASKD_VLLM_ANY_VERSION") == "1")
    if os.environ.get("VLLM_USE_RUST_FRONTEND", "0") not in ("", "0"):
        raise RuntimeError("VLLM_USE_RUST_FRONTEND: that front end checks requests itself, and no plugin "
                           "reaches it")
    Settings.from_environment()
    differences = _interface.differences()
    if differences:
        raise RuntimeError("this vLLM is not as this release knows it: " + "; ".join(differences))
    _install_validation()
    _install_manager()
    if os.environ.get("MASKD_FAMILY", "").strip():
        _install_parser()


def _install_parser() -> None:
    """Errors: what stands in the way."""
    differences = _interface.differences(_interface.PARSING)
    if differences:
        raise RuntimeError("MASKD_FAMILY: the parsers of this vLLM are not as this release knows them: "
                           + "; ".join(differences))
    from maskd_vllm import _parser  # noqa: PLC0415

    _parser.install()


def _install_validation() -> None:
    from vllm.sampling_params import SamplingParams  # noqa: PLC0415
    from vllm.v1.engine.async_llm import AsyncLLM  # noqa: PLC0415

    from maskd_vllm import _validation  # noqa: PLC0415

    SamplingParams._validate_structured_outputs = _validation.validate  # noqa: SLF001
    if not hasattr(AsyncLLM.add_request, "_maskd"):
        AsyncLLM.add_request = _validation.ahead_of(AsyncLLM.add_request)


def _install_manager() -> None:
    import vllm.v1.structured_output as structured_output  # noqa: PLC0415
    from vllm.v1.core.sched.scheduler import Scheduler  # noqa: PLC0415
    from vllm.v1.engine.core import EngineCoreProc  # noqa: PLC0415

    from maskd_vllm._manager import MaskdManager  # noqa: PLC0415

    structured_output.StructuredOutputManager = MaskdManager
    sys.modules[EngineCoreProc.__module__].StructuredOutputManager = MaskdManager  # type: ignore[attr-defined]
    if not hasattr(Scheduler.update_from_output, "_maskd"):
        EngineCoreProc._process_input_queue = _showing(  # noqa: SLF001
            EngineCoreProc._process_input_queue)  # noqa: SLF001
        Scheduler.schedule = _beginning(Scheduler.schedule)
        Scheduler.update_from_output = _sending(Scheduler.update_from_output)
        Scheduler.update_draft_token_ids = _asking(Scheduler.update_draft_token_ids)
        Scheduler.update_draft_token_ids_in_output = _asking(
            Scheduler.update_draft_token_ids_in_output)


def _showing(process_input_queue: Any) -> Any:
    """_process_input_queue(), which runs between steps."""
    from maskd_vllm._manager import MaskdManager  # noqa: PLC0415

    @functools.wraps(process_input_queue)
    def processed(self: Any) -> Any:
        manager = self.structured_output_manager
        if isinstance(manager, MaskdManager):
            manager.arrivals = self.input_queue
        return process_input_queue(self)

    return processed


def _beginning(schedule: Any) -> Any:
    """schedule(), after which the server works while the engine computes."""
    from maskd_vllm._manager import MaskdManager  # noqa: PLC0415

    @functools.wraps(schedule)
    def scheduled(self: Any, *arguments: Any, **named: Any) -> Any:
        output = schedule(self, *arguments, **named)
        manager = self.structured_output_manager
        if isinstance(manager, MaskdManager):
            manager.is_scheduled()
        return output

    return scheduled


def _sending(update: Any) -> Any:
    """update_from_output(), which ends a step."""
    from maskd_vllm._manager import MaskdManager  # noqa: PLC0415

    @functools.wraps(update)
    def update_from_output(self: Any, *arguments: Any, **named: Any) -> Any:
        outputs = update(self, *arguments, **named)
        manager = self.structured_output_manager
        if isinstance(manager, MaskdManager):
            manager.step_is_over(self.has_unfinished_requests())
        return outputs

    update_from_output._maskd = True  # type: ignore[attr-defined]  # noqa: SLF001
    return update_from_output


def _asking(update: Any) -> Any:
    """update_draft_token_ids(), before which all rows' drafts are asked for at once."""
    from maskd_vllm._manager import MaskdManager  # noqa: PLC0415

    @functools.wraps(update)
    def update_draft_token_ids(self: Any, draft_token_ids: Any, *arguments: Any) -> Any:
        manager = self.structured_output_manager
        if isinstance(manager, MaskdManager):
            manager.ask_for_drafts(draft_token_ids, self.requests)
        return update(self, draft_token_ids, *arguments)

    return update_draft_token_ids


__all__ = ["install"]
