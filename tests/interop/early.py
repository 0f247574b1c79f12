#!/usr/bin/env python3
"""A server that must not be asked too early: stands before a real one and ends when a client is.

    tests/interop/early.py SOCKET SERVER_SOCKET MS [LATE_MS]

Bytes go through in both directions over Unix sockets. A connection that comes within MS of the one before ends the
process, with status 1. So it stands before a server that refuses for load and says when to come again, or
before one that is slow: what the server says comes LATE_MS later.
"""

import os
import sys
import time

import relay


def main() -> None:
    path, server_path, wait_s = sys.argv[1], sys.argv[2], int(sys.argv[3]) / 1000
    late_s = int(sys.argv[4]) / 1000 if len(sys.argv) > 4 else 0
    before = -wait_s

    def look() -> None:
        nonlocal before
        now = time.monotonic()
        if now - before < wait_s:
            os._exit(1)
        before = now

    relay.serve(path, server_path, look, late_s)


if __name__ == "__main__":
    main()
