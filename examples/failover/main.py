"""A row whose server is killed in the middle of its text, and which goes on at another one.

    maskd --listen=unix:/tmp/a.sock --metrics_listen= &
    maskd --listen=unix:/tmp/b.sock --metrics_listen= &
    python main.py unix:/tmp/a.sock unix:/tmp/b.sock          kills the first one
"""

import json
import socket
import struct
import signal
import os
import sys

import numpy as np

import maskd

SCHEMA = {"type": "array", "items": {"enum": [0, 1]}, "minItems": 40, "maxItems": 40}
WIDTH, END = 320, 256  # of the embedded vocabulary: a token is a byte
KILLED_AT = 40


def process_at(address: str) -> int:
    """Who listens at a Unix socket, as the kernel says."""
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(address.removeprefix("unix:"))
        return struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]


def main() -> int:
    servers = sys.argv[1:]
    applier = maskd.Applier()
    random = np.random.default_rng(1)
    tokens: list[int] = []
    with maskd.FailoverStream(servers, WIDTH, in_order=True) as stream:
        step = maskd.Step().open(1, maskd.Grammar.json_schema(SCHEMA, white_space="compact"), wait_s=10)
        while True:
            if len(tokens) == KILLED_AT and stream.moves == 0:
                print(f"{KILLED_AT} tokens, then the server is killed")
                os.kill(process_at(servers[0]), signal.SIGKILL)
            stream.submit(step)
            logits = random.random((1, WIDTH), dtype=np.float32)  # the forward pass
            stream.collect().apply(applier, logits, {1: 0})
            token = int(logits[0].argmax())
            if token == END:
                break
            tokens.append(token)
            step.clear().take(1, [token])
        moves = stream.moves
    text = bytes(tokens).decode()
    print(text)
    items = json.loads(text)
    print(f"{len(tokens)} tokens, {moves} move{'' if moves == 1 else 's'}, "
          f"{'valid' if len(items) == SCHEMA['minItems'] else 'broken'} JSON")
    return 0


if __name__ == "__main__":
    sys.exit(main())
