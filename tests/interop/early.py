#!/usr/bin/env python3
"""A server that must not be asked too early: stands before a real one and ends when a client is.

    tests/interop/early.py SOCKET SERVER_SOCKET MS

Bytes go through in both directions over Unix sockets. A connection that comes within MS of the one before ends the
process, with status 1. So it stands before a server that refuses for load and says when to come again.
"""

import os
import socket
import sys
import threading
import time


def copy(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
    except OSError:
        pass
    for each in (source, sink):
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def main() -> None:
    path, server_path, wait_s = sys.argv[1], sys.argv[2], int(sys.argv[3]) / 1000
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(16)
    before = -wait_s
    while True:
        client, _ = listener.accept()
        now = time.monotonic()
        if now - before < wait_s:
            os._exit(1)
        before = now
        server = socket.socket(socket.AF_UNIX)
        server.connect(server_path)
        for each in ((client, server), (server, client)):
            threading.Thread(target=copy, args=each, daemon=True).start()


if __name__ == "__main__":
    main()
