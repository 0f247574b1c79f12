#!/usr/bin/env python3
"""Writes pairs.tiktoken, the vocabulary that the cases of cases.json speak of.

Ids 0 to 255 are the single bytes, 256 is the end ("<end>", which the server's flag says), then come all pairs
of small letters and triples of the first eleven, 2,048 tokens in all: enough that every row form is the
shortest somewhere, few enough that a dense mask has 256 bytes.
"""

import base64
import itertools
import pathlib
import string

SIZE = 2048


def tokens() -> list[bytes]:
    letters = string.ascii_lowercase
    pairs = itertools.product(letters, repeat=2)
    triples = itertools.product(letters[:11], repeat=3)
    return ["".join(each).encode() for each in itertools.chain(pairs, triples)]


def main() -> None:
    ids = [(bytes([byte]), byte) for byte in range(256)]
    ids += zip(tokens(), range(257, SIZE))
    lines = [f"{base64.b64encode(text).decode()} {number}\n" for text, number in ids]
    pathlib.Path(__file__).with_name("pairs.tiktoken").write_text("".join(lines))


if __name__ == "__main__":
    main()
