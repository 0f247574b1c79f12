"""What the comparisons of vocabularies share: our reading of a file, texts, and the report."""

import pathlib
import random
import subprocess
import sys
from typing import NamedTuple

SKIPPED = 77
SHOWN_DIFFERENCES = 10
TEXT_COUNT = 3000
# Bytes that no UTF-8 text holds, so that no decoder can show them.
NOT_IN_UTF8 = {0xC0, 0xC1, *range(0xF5, 0x100)}
METASPACE = "\u2581"


class Dump(NamedTuple):
    hash: str
    load_us: int
    stop: list
    kinds: list
    tokens: list  # bytes, by id


def skip(reason: str):
    print(f"SKIPPED: {reason}. Run scripts/fetch-vocab and scripts/python-env first.")
    sys.exit(SKIPPED)


def dump(program: str, path: pathlib.Path, *options: str) -> Dump:
    done = subprocess.run([program, path, *options], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"FAILED: the loader refuses {path}: {done.stderr}")
    lines = [line.split(" ") for line in done.stdout.splitlines()]
    facts = {line[0]: line[1:] for line in lines[:3]}
    stop = [int(one) for one in facts["stop"] if one]
    return Dump(facts["hash"][0], int(facts["load_us"][0]), stop,
                [line[0] for line in lines[3:]], [bytes.fromhex(line[1]) for line in lines[3:]])


def random_texts(named: list) -> list:
    """Words, JSON, white space, many scripts, and the tokens in `named` among them."""
    chooser = random.Random(20)
    ranges = [(0x20, 0x7E), (0x20, 0x7E), (0x20, 0x7E), (0x0, 0x1F), (0xA1, 0x17F), (0x391, 0x3C9), (0x410, 0x44F),
              (0x5D0, 0x5EA), (0x621, 0x64A), (0x905, 0x939), (0xE01, 0xE3A), (0x3041, 0x3096),
              (0x4E00, 0x9FA5), (0xAC00, 0xD7A3), (0x1F300, 0x1F64F), (0x10000, 0x100FF)]
    fixed = [" ", "  ", "\n", "\r\n", "\t", " " * 30, "\n\n\n", "{\"", "\":", "\": \"", "\",", "}]", "true",
             " null", "http://", "3.14159", " The", "ing", "e\u0301", "\u200d", "\ufeff", "\\u00e9"]

    def part() -> str:
        if named and chooser.random() < 0.05:
            return chooser.choice(named)
        if chooser.random() < 0.5:
            return chooser.choice(fixed)
        low, high = chooser.choice(ranges)
        return "".join(chr(chooser.randint(low, high)) for _ in range(chooser.randint(1, 8)))

    return ["".join(part() for _ in range(chooser.randint(1, 30))) for _ in range(TEXT_COUNT)]


def report(name: str, ours: Dump, wrong: list, said: str) -> int:
    for line in wrong[:SHOWN_DIFFERENCES]:
        print(f"{name}: {line}")
    if wrong:
        print(f"FAILED: {name}: {len(wrong)} differences")
        return 1
    kinds = {kind: ours.kinds.count(kind) for kind in ("token", "special", "gap")}
    print(f"{name}: {len(ours.tokens)} ids equal ({kinds}); {said}; loaded in {ours.load_us / 1000:.0f} ms")
    return 0


def joined(ours: Dump, ids: list) -> bytes:
    return b"".join(ours.tokens[one] for one in ids)


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def completions() -> list:
    """Bytes before and after that make whole characters of a part of one, short ones first."""
    before = [b"", b"\xc3", b"\xe3", b"\xe3\x81", b"\xf0", b"\xf0\x9f", b"\xf0\x9f\x98", b"\xe1", b"\xe1\x81", b"\xf1",
              b"\xf1\x9f", b"\xf1\x9f\x98"]
    after = [b"", b"\x90", b"\x90\x90", b"\x90\x90\x90", b"\x81", b"\x81\x81", b"\xa1\xa1", b"\x81\x81\x81"]
    return sorted(((p, s) for p in before for s in after), key=lambda pair: len(pair[0]) + len(pair[1]))


def as_shown(ours: Dump, token_id: int, single: dict, around: list):
    """Ids to decode and the text they must give, or nothing where no text can show the token."""
    token = ours.tokens[token_id]
    for before, after in around:
        if is_utf8(before + token + after):
            ids = [single[ord("a")], *(single[b] for b in before), token_id, *(single[b] for b in after)]
            return ids, "a" + (before + token + after).decode()
    return None


def is_hidden_byte(token: bytes, piece: str) -> bool:
    """Both alphabets spell these bytes plainly: as the Latin-1 character, or in hexadecimal."""
    return len(token) == 1 and token[0] in NOT_IN_UTF8 and piece in (chr(token[0]), f"<0x{token[0]:02X}>")
