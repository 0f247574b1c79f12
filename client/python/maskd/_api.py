"""Which client `import maskd` is: over the C library, or the plain one over grpcio.

MASKD_CLIENT  "library" or "plain"; not set: the library, and where there is none the plain one, with a
              warning, for it is the slower one.
"""

import os
import warnings
from typing import TYPE_CHECKING

from maskd import _abi
from maskd._errors import MaskdError


def _choose() -> tuple[bool, str]:
    """Whether it is the plain client, and why the library is not taken."""
    asked = os.environ.get("MASKD_CLIENT", "")
    if asked not in ("", "library", "plain"):
        raise ImportError(f'MASKD_CLIENT: "{asked}" is not one of library, plain')
    if asked:
        return asked == "plain", f"MASKD_CLIENT={asked}"
    why = _abi.why_no_library()
    if why:
        warnings.warn(f"maskd: libmaskd.so.1 cannot be loaded ({why}); the plain client over grpcio, "
                      "which is slower, takes its place", RuntimeWarning, stacklevel=3)
    return bool(why), why


PLAIN, _WHY = _choose()
if TYPE_CHECKING or not PLAIN:
    from maskd._applier import Applier, Dictionary
    from maskd._client import Client, FailoverStream, Step, StepResult, Stream
    from maskd._mask_plane import MaskPlane
else:
    try:
        from maskd.plain import Applier, Client, Dictionary, MaskPlane, Step, StepResult, Stream
    except ModuleNotFoundError as _error:
        raise ImportError(f"maskd: without libmaskd.so.1 ({_WHY}) it needs the module {_error.name}, "
                          "which is not there: docs/clients.md, \"Without the library\"") from _error

    class FailoverStream(Stream):
        """Of the library alone."""

        def __init__(self, *_: object, **__: object) -> None:
            raise MaskdError("UNIMPLEMENTED", "a stream over several addresses needs libmaskd")

__all__ = ["PLAIN", "Applier", "Client", "Dictionary", "FailoverStream", "MaskPlane", "Step",
           "StepResult", "Stream"]
