"""Waits for a server of the plain client, or says why there is none."""

import errno
import os
import queue
import time
from typing import Any

import grpc
from maskd._errors import MaskdError
from maskd.v1 import tokenizer_service_pb2

# How long a server that says nothing is waited for where the caller has not said.
_SILENCE_S = 5.0
# For the words of a connection that has failed, which gRPC has at once.
_CAUSE_S = 0.2
# What makes a connection that failed an answer: client/cpp/connect/refusal.cc has the same list.
_ERRORS = (errno.ECONNREFUSED, errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM,
           errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL)
_WORDS = ("DNS resolution failed", "errors resolving", "Failed parsing HTTP/2", "http1.x server",
          "handshake failed", "Hostname Verification Check failed")


def is_refusal(trouble: str) -> bool:
    """Whether gRPC's words of a connection that failed say that nobody serves gRPC there."""
    return any(words in trouble for words in (*map(os.strerror, _ERRORS), *_WORDS))


def await_server(channel: grpc.Channel, address: str, tokenizers: Any,
                 timeout_s: float | None) -> None:
    """Waits for the connection, as Client says of `timeout_s`. Errors: UNAVAILABLE.

    `tokenizers`: a stub on the channel. grpc.channel_ready_future() would wait by the time of day.
    """
    states: queue.SimpleQueue[grpc.ChannelConnectivity] = queue.SimpleQueue()
    look = states.put
    patience = _SILENCE_S if timeout_s is None else timeout_s
    until = time.monotonic() + patience
    channel.subscribe(look, try_to_connect=True)
    try:
        while True:
            state = states.get(timeout=max(0.0, until - time.monotonic()))
            if state is grpc.ChannelConnectivity.READY:
                return
            if state is grpc.ChannelConnectivity.TRANSIENT_FAILURE and timeout_s is None:
                cause = _cause(tokenizers)
                if is_refusal(cause):
                    raise MaskdError("UNAVAILABLE", f"no server at {address}: {cause}")
    except queue.Empty:
        cause = _cause(tokenizers)
        raise MaskdError("UNAVAILABLE",
                         f"no server at {address} within {patience:g}s: {cause}") from None
    finally:
        channel.unsubscribe(look)


def _cause(tokenizers: Any) -> str:
    """Why there is no connection, in the system's own words."""
    try:
        tokenizers.GetTokenizer(tokenizer_service_pb2.GetTokenizerRequest(), timeout=_CAUSE_S)
    except grpc.RpcError as error:
        return error.details() or ""
    return "it has come since"
