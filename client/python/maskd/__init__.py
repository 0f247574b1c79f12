"""Token masks for LLM engines: client of a maskd server, and appliers for logits.

    client = maskd.Client("unix:/run/maskd.sock")
    stream = client.open_stream(logits_width=logits.shape[1])
    step = maskd.Step().open(7, maskd.Grammar.json_schema(schema), wait_s=10)
    stream.submit(step)                      # returns at once
    ...                                      # the forward pass
    stream.collect().apply(maskd.Applier(), logits, {7: 0})    # row 7 is logits[0]

Without a server: maskd.Client(maskd.local(tokenizer)).

Everything runs in libmaskd (client/c/maskd.h) with the GIL released; maskd.plain is the same over grpcio
and numpy, for where the library is not. An error is a MaskdError whose
message begins with the place in the caller's own input.
"""

import pkgutil

# The stubs, maskd.v1, may lie in another folder of sys.path (scripts/python-stubs).
__path__ = pkgutil.extend_path(__path__, __name__)

from maskd._api import (Applier, Client, Dictionary, FailoverStream, MaskPlane, Step, StepResult,
                        Stream)
from maskd._answers import (Answer, AnswerDelta, AnswerSize, Outcomes, Position, RefusedToken,
                            RowResult, RowState, ToolCallDelta)
from maskd._errors import MaskdError
from maskd._grammar import Compiled, Grammar
from maskd._local import local
from maskd._masking import Row
from maskd._matcher import MatcherStream
from maskd._processors import LlamaCppProcessor, TransformersProcessor
from maskd._reading import AnswerReader
from maskd._row_map import Scheduled, row_map
from maskd._torch import TorchApplier

__all__ = [
    "Answer", "AnswerDelta", "AnswerReader", "AnswerSize", "Applier", "Client", "Compiled", "Dictionary", "FailoverStream", "Grammar",
    "LlamaCppProcessor", "MaskPlane", "MaskdError", "MatcherStream", "Outcomes", "Position", "RefusedToken", "Row", "RowResult", "RowState",
    "Scheduled", "Step", "StepResult", "Stream", "ToolCallDelta", "TorchApplier",
    "TransformersProcessor",
    "local", "row_map",
]
