"""Compares a vocabulary, id by id, with what the `tiktoken` or `tokenizers` package makes of it.

    compare_vocabularies.py DUMP_PROGRAM VOCABULARY_FOLDER NAME

DUMP_PROGRAM prints what our loader reads (dump_vocabulary.cc). NAME is llama3 or qwen (rank files),
deepseek (a tokenizer.json with a byte-level alphabet) or mistral (a SentencePiece model, from which
this script writes a tokenizer.json with metaspace and byte fallback).

Rank files       every id's bytes are `decode_single_token_bytes(id)`.
tokenizer.json   every id's bytes are the text that `decode` adds when the id stands after "a". Where
                 they are no whole characters, single-byte tokens beside them complete them first. A
                 byte that no text holds is told from its piece instead.
Both             for random texts, our bytes of the ids that `encode` gives, joined, are the text.

Exit status: 0; 1 with the first differences; 77 (ctest: skipped) with the reason when the file or a
package is not there.
"""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
from typing import NamedTuple

SKIPPED = 77
SHOWN_DIFFERENCES = 10
TEXT_COUNT = 3000
# Bytes that no UTF-8 text holds, so that no decoder can show them.
NOT_IN_UTF8 = {0xC0, 0xC1, *range(0xF5, 0x100)}
METASPACE = "\u2581"
# What ends a text: of deepseek/tokenizer_config.json, and of every SentencePiece model of that family.
END = {"deepseek": "<｜end▁of▁sentence｜>", "mistral": "</s>"}


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


def compare_rank_file(name: str, program: str, path: pathlib.Path) -> int:
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    facts = json.loads(path.with_suffix(".special.json").read_text())
    theirs = tiktoken.Encoding(name, pat_str=r"\s+|[^\s\w]+|\w+|.", mergeable_ranks=load_tiktoken_bpe(str(path)),
                               special_tokens=facts["special"])
    ours = dump(program, path)
    wrong = []
    if len(ours.tokens) != theirs.n_vocab:
        return report(name, ours, [f"{len(ours.tokens)} ids, {theirs.n_vocab} expected"], "")
    for token_id, token in enumerate(ours.tokens):
        expected = theirs.decode_single_token_bytes(token_id)
        kind = "special" if token_id in facts["special"].values() else "token"
        if token != expected or ours.kinds[token_id] != kind:
            wrong.append(f"id {token_id}: {ours.kinds[token_id]} {token!r}, not {kind} {expected!r}")
    if ours.stop != sorted(facts["special"][text] for text in facts["stop"]):
        wrong.append(f"stop ids are {ours.stop}")
    if dump(program, path, f"preset={name}").hash != ours.hash:
        wrong.append(f"preset={name} gives another vocabulary than {name}.special.json")
    for text in random_texts(list(facts["special"])):
        if joined(ours, theirs.encode(text, allowed_special="all")) != text.encode():
            wrong.append(f"text {text!r} does not come back")
    return report(name, ours, wrong, f"{TEXT_COUNT} texts come back")


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


def compare_ids(ours: Dump, theirs, wrong: list) -> int:
    """Every id against `decode`. Returns how many no text can show."""
    added = theirs.get_added_tokens_decoder()
    # Later ids win: the pieces "<0x41>" of a byte-fallback model come before its "A".
    single = {token[0]: i for i, token in enumerate(ours.tokens) if len(token) == 1}
    around, cases, hidden = completions(), [], 0
    for token_id, token in enumerate(ours.tokens):
        if token_id in added:
            kind = "special" if added[token_id].special else "token"
            if (ours.kinds[token_id], token) != (kind, added[token_id].content.encode()):
                wrong.append(f"added id {token_id}: {ours.kinds[token_id]} {token!r}, not {added[token_id]}")
            continue
        if ours.kinds[token_id] != "token":
            wrong.append(f"id {token_id}: {ours.kinds[token_id]} {token!r}, but an ordinary piece")
        shown = as_shown(ours, token_id, single, around)
        if shown is not None:
            cases.append((token_id, *shown))
        elif is_hidden_byte(token, theirs.id_to_token(token_id)):
            hidden += 1
        else:
            wrong.append(f"id {token_id}: {token!r} is no part of a text")
    decoded = theirs.decode_batch([ids for _, ids, _ in cases], skip_special_tokens=False)
    for (token_id, ids, expected), text in zip(cases, decoded):
        if text != expected:
            wrong.append(f"id {token_id}: {ours.tokens[token_id]!r}; {ids} decode to {text!r}, not {expected!r}")
    return hidden


def compare_texts(ours: Dump, theirs, wrong: list, uses_metaspace: bool) -> None:
    named = [token.content for token in theirs.get_added_tokens_decoder().values()]
    for text in random_texts([] if uses_metaspace else named):
        expected = theirs.normalizer.normalize_str(text) if theirs.normalizer else text
        if uses_metaspace:
            expected = expected.replace(METASPACE, " ")
        if joined(ours, theirs.encode(text, add_special_tokens=False).ids) != expected.encode():
            wrong.append(f"text {text!r} does not come back")


def compare_tokenizer_json(name: str, program: str, path: pathlib.Path, uses_metaspace: bool) -> int:
    import tokenizers

    theirs = tokenizers.Tokenizer.from_file(str(path))
    ours = dump(program, path)
    wrong = []
    ids = set(theirs.get_vocab(with_added_tokens=True).values())
    if ids != {i for i, kind in enumerate(ours.kinds) if kind != "gap"}:
        return report(name, ours, ["other ids than the package has"], "")
    if ours.stop != [theirs.token_to_id(END[name])]:
        wrong.append(f"stop ids are {ours.stop}, not that of {END[name]}")
    hidden = compare_ids(ours, theirs, wrong)
    compare_texts(ours, theirs, wrong, uses_metaspace)
    return report(name, ours, wrong, f"{TEXT_COUNT} texts come back; {hidden} bytes that no text holds")


def read_varint(data: bytes, at: int):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data: bytes):
    """(number, value) of a protocol buffer message; values of fixed size are skipped."""
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        if tag & 7 == 0:
            value, at = read_varint(data, at)
            yield tag >> 3, value
        elif tag & 7 == 2:
            size, at = read_varint(data, at)
            yield tag >> 3, data[at:at + size]
            at += size
        else:
            at += {1: 8, 5: 4}[tag & 7]


def sentencepiece_as_json(model: bytes) -> dict:
    """A tokenizer.json of the kind that Llama 2 and Mistral have, from their SentencePiece model."""
    normal, unknown, control = 1, 2, 3
    pieces = [{1: b"", 3: normal} | dict(fields(value)) for number, value in fields(model) if number == 1]
    vocab = {piece[1].decode(): i for i, piece in enumerate(pieces)}
    merges = [[text[:cut], text[cut:]] for text, i in vocab.items() if pieces[i][3] == normal
              for cut in range(1, len(text)) if text[:cut] in vocab and text[cut:] in vocab]
    added = [{"id": i, "content": piece[1].decode(), "special": True, "normalized": False, "single_word": False,
              "lstrip": False, "rstrip": False}
             for i, piece in enumerate(pieces) if piece[3] in (unknown, control)]
    return {
        "version": "1.0", "added_tokens": added, "pre_tokenizer": None, "post_processor": None,
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": METASPACE},
            {"type": "Replace", "pattern": {"String": " "}, "content": METASPACE}]},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": METASPACE}, "content": " "}, {"type": "ByteFallback"},
            {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True,
                  "vocab": vocab, "merges": merges},
    }


def main() -> int:
    program, folder, name = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    places = {"llama3": "llama3.tiktoken", "qwen": "qwen.tiktoken", "deepseek": "deepseek/tokenizer.json",
              "mistral": "mistral/tokenizer.model"}
    path = folder / places[name]
    if not path.is_file():
        skip(f"{path} is not there")
    try:
        if path.suffix == ".tiktoken":
            return compare_rank_file(name, program, path)
        if path.suffix == ".json":
            return compare_tokenizer_json(name, program, path, uses_metaspace=False)
        with tempfile.TemporaryDirectory() as scratch:
            made = pathlib.Path(scratch) / "tokenizer.json"
            made.write_text(json.dumps(sentencepiece_as_json(path.read_bytes())), encoding="utf-8")
            return compare_tokenizer_json(name, program, made, uses_metaspace=True)
    except ImportError as error:
        return skip(f"a Python package is not there: {error}")


if __name__ == "__main__":
    sys.exit(main())
