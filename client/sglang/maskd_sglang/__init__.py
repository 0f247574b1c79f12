"""SGLang's structured outputs by a maskd server: a grammar backend of its registry.

    pip install maskd maskd-sglang
    MASKD_ADDRESS=unix:/run/maskd.sock python -m sglang.launch_server --model-path MODEL
    --grammar-backend maskd

SGLang loads register() in each of its processes. It logs a plugin that fails and goes on; the
choice `maskd` of --grammar-backend is then not there, so that an engine that was told to use maskd
does not start.

With MASKD_FAMILY=NAME `--tool-call-parser maskd` reads calls by maskd, too (_detector.py).

Settings: maskd/_endpoints.py. MASKD_SGLANG_ANY_VERSION=1 goes on with an SGLang that this package
was not tested with.
"""

import os


def register() -> None:
    """The entry point. Errors: RuntimeError, of an SGLang that is not known."""
    import sglang  # noqa: PLC0415
    from sglang.srt.constrained.base_grammar_backend import (  # noqa: PLC0415
        register_grammar_backend,
    )

    from maskd_sglang import _interface  # noqa: PLC0415

    _interface.check_version(sglang.__version__,
                             os.environ.get("MASKD_SGLANG_ANY_VERSION") == "1")
    differences = _interface.differences()
    if differences:
        raise RuntimeError("maskd-sglang: this SGLang is not as this release knows it: "
                           + "; ".join(differences))
    from sglang.srt.arg_groups import choices  # noqa: PLC0415
    from sglang.srt.constrained.grammar_manager import GrammarManager  # noqa: PLC0415

    from maskd_sglang import _backend, _requests  # noqa: PLC0415

    if "maskd" not in choices.GRAMMAR_BACKEND_CHOICES:
        choices.add_grammar_backend_choices(["maskd"])
    register_grammar_backend("maskd", _backend.create)
    _requests.install(GrammarManager)
    if os.environ.get("MASKD_FAMILY", "").strip():
        differences = _interface.differences(_interface.PARSING)
        if differences:
            raise RuntimeError("MASKD_FAMILY: the parsers of this SGLang are not as this release knows "
                               "them: " + "; ".join(differences))
        from maskd_sglang import _detector  # noqa: PLC0415

        _detector.install()


__all__ = ["register"]
