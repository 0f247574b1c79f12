#!/usr/bin/env python3
"""A server that one word ends: stands before a real one and dies when a client says the word.

    tests/interop/mortal.py SOCKET SERVER_SOCKET WORD

Bytes go through in both directions over Unix sockets. A step that opens a row whose grammar has WORD in its
text (protobuf's strings are plain bytes, and no client compresses) closes every connection and ends the
process before the server has seen it.
"""

import os
import socket
import sys
import threading


def copy(source: socket.socket, sink: socket.socket, word: bytes) -> None:
    seen = b""
    try:
        while data := source.recv(1 << 16):
            seen = (seen + data)[-(len(data) + len(word)):]
            if word and word in seen:
                os._exit(1)
            sink.sendall(data)
    except OSError:
        pass
    for each in (source, sink):
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def main() -> None:
    path, server_path, word = sys.argv[1], sys.argv[2], sys.argv[3].encode()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(16)
    while True:
        client, _ = listener.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(server_path)
        for each in ((client, server, word), (server, client, b"")):
            threading.Thread(target=copy, args=each, daemon=True).start()


if __name__ == "__main__":
    main()
