"""vLLM's structured outputs by a maskd server: a plugin.

    pip install maskd maskd-vllm
    MASKD_ADDRESS=unix:/run/maskd.sock vllm serve MODEL

vLLM loads register() in each of its processes: in the API server it puts the server's validation in
its place, in the engine core the manager of structured outputs. An engine without MASKD_ADDRESS is
left as it is, and says so. One with it that cannot use maskd does not start: vLLM logs a plugin
that fails to be imported and goes on without it, so nothing here is imported before register(),
whose errors end the process.

With MASKD_FAMILY=NAME `--enable-auto-tool-choice --tool-call-parser maskd` reads answers by maskd, too (_parser.py).

Settings: maskd/_endpoints.py. MASKD_VLLM_ANY_VERSION=1 goes on with a vLLM that this package was
not tested with.
"""

import os


def register() -> None:
    """The entry point. Errors: RuntimeError, when maskd was asked for and cannot be used."""
    from vllm.logger import init_logger  # noqa: PLC0415: the module's text says why

    logger = init_logger("vllm.maskd")
    if not os.environ.get("MASKD_ADDRESS", "").strip():
        logger.warning("maskd-vllm is installed and not used: MASKD_ADDRESS names no server")
        return
    try:
        from maskd_vllm import _install  # noqa: PLC0415

        _install.install()
    except Exception as error:
        raise RuntimeError(f"maskd-vllm: MASKD_ADDRESS is set and this engine cannot use maskd: "
                           f"{error}") from error
    logger.info("maskd-vllm: structured outputs by %s", os.environ["MASKD_ADDRESS"])


__all__ = ["register"]
