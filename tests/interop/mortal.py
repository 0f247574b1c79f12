#!/usr/bin/env python3
"""A server that one word ends: stands before a real one and dies when a client says the word.

    tests/interop/mortal.py SOCKET SERVER_SOCKET WORD

Bytes go through in both directions over Unix sockets. A step that opens a row whose grammar has WORD in its
text (protobuf's strings are plain bytes, and no client compresses) closes every connection and ends the
process before the server has seen it.
"""

import sys
from collections.abc import Callable

import relay


def finder(word: bytes) -> Callable[[bytes], bool]:
    """Says of bytes, piece by piece, whether the word has come."""
    seen = b""

    def find(data: bytes) -> bool:
        nonlocal seen
        seen = (seen + data)[-(len(data) + len(word)):]
        return word in seen

    return find


def main() -> None:
    path, server_path, word = sys.argv[1], sys.argv[2], sys.argv[3].encode()
    relay.serve(path, server_path, lambda: finder(word))


if __name__ == "__main__":
    main()
