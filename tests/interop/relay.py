"""What stands before a server: bytes go through in both directions over Unix sockets."""

import os
import socket
import threading
import time
from collections.abc import Callable


def copy(source: socket.socket, sink: socket.socket, is_end: Callable[[bytes], bool] | None, late_s: float = 0) -> None:
    """Copies until either side ends. Bytes of which `is_end` says so end the process, with status 1."""
    try:
        while data := source.recv(1 << 16):
            if is_end is not None and is_end(data):
                os._exit(1)
            time.sleep(late_s)
            sink.sendall(data)
    except OSError:
        pass
    for each in (source, sink):
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(path: str, server_path: str, look: Callable[[], Callable[[bytes], bool] | None], late_s: float = 0) -> None:
    """Takes connections at `path` for the server at `server_path`. `look` is called for each, and gives what looks
    at the client's bytes. What the server says is held back for `late_s`."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(16)
    while True:
        client, _ = listener.accept()
        is_end = look()
        server = socket.socket(socket.AF_UNIX)
        server.connect(server_path)
        for each in ((client, server, is_end), (server, client, None, late_s)):
            threading.Thread(target=copy, args=each, daemon=True).start()
