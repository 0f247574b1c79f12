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
The model        of mistral gives the same vocabulary, to its hash, as the tokenizer.json made of it.

Exit status: 0; 1 with the first differences; 77 (ctest: skipped) with the reason when the file or a
package is not there.
"""

import json
import pathlib
import sys
import tempfile

from comparison import (METASPACE, TEXT_COUNT, Dump, as_shown, completions, dump, is_hidden_byte, joined, random_texts,
                        report, skip)

# Under the folder of vocabularies.
PLACES = {"llama3": "llama3.tiktoken", "qwen": "qwen.tiktoken", "deepseek": "deepseek/tokenizer.json",
          "mistral": "mistral/tokenizer.model"}
# What ends a text: of deepseek/tokenizer_config.json, and of every SentencePiece model of that family.
END = {"deepseek": "<｜end▁of▁sentence｜>", "mistral": "</s>"}
# Ordinary tokens for compare_with_added.
ADDED = ["\u2581" * 40, "é ü", "Ã©Ã©Ã©", "Ġxqzj", "[▁x▁]", "  \n", "<0x41>x", "漢字漢字漢字"]


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


def compare_ids(ours: Dump, theirs, wrong: list) -> int:
    """Every id against `decode`. Returns how many no text can show."""
    added = theirs.get_added_tokens_decoder()
    # Later ids win: the pieces "<0x41>" of a byte-fallback model come before its "A".
    single = {token[0]: i for i, token in enumerate(ours.tokens) if len(token) == 1}
    around, cases, hidden = completions(), [], 0
    for token_id, token in enumerate(ours.tokens):
        if token_id in added and added[token_id].special:
            if (ours.kinds[token_id], token) != ("special", added[token_id].content.encode()):
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


def compare_tokenizer_json(name: str, program: str, path: pathlib.Path, uses_metaspace: bool,
                           has_texts: bool = True) -> int:
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
    if has_texts:
        compare_texts(ours, theirs, wrong, uses_metaspace)
    said = f"{TEXT_COUNT if has_texts else 0} texts come back; {hidden} bytes that no text holds"
    return report(name, ours, wrong, said)


def compare_with_added(name: str, program: str, path: pathlib.Path, uses_metaspace: bool) -> int:
    """The same file with more added tokens, of texts that a decoder may change."""
    tree = json.loads(path.read_text(encoding="utf-8"))
    first = max([*tree["model"]["vocab"].values(), *(token["id"] for token in tree["added_tokens"])]) + 1
    tree["added_tokens"] += [
        {"id": first + i, "content": content, "special": False, "normalized": False, "single_word": False,
         "lstrip": False, "rstrip": False} for i, content in enumerate(ADDED)]
    with tempfile.TemporaryDirectory() as scratch:
        made = pathlib.Path(scratch) / "tokenizer.json"
        made.write_text(json.dumps(tree), encoding="utf-8")
        made.with_name("generation_config.json").write_text(json.dumps({"eos_token_id": dump(program, path).stop}))
        return compare_tokenizer_json(name, program, made, uses_metaspace, has_texts=False)


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
    normal, unknown, control, user_defined = 1, 2, 3, 4
    pieces = [{1: b"", 3: normal} | dict(fields(value)) for number, value in fields(model) if number == 1]
    vocab = {piece[1].decode(): i for i, piece in enumerate(pieces)}
    merges = [[text[:cut], text[cut:]] for text, i in vocab.items() if pieces[i][3] == normal
              for cut in range(1, len(text)) if text[:cut] in vocab and text[cut:] in vocab]
    added = [{"id": i, "content": piece[1].decode(), "special": piece[3] != user_defined, "normalized": False, "single_word": False,
              "lstrip": False, "rstrip": False}
             for i, piece in enumerate(pieces) if piece[3] in (unknown, control, user_defined)]
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
    path = folder / PLACES[name]
    if not path.is_file():
        skip(f"{path} is not there")
    try:
        if path.suffix == ".tiktoken":
            return compare_rank_file(name, program, path)
        if path.suffix == ".json":
            return (compare_tokenizer_json(name, program, path, uses_metaspace=False) |
                    compare_with_added(name, program, path, uses_metaspace=False))
        with tempfile.TemporaryDirectory() as scratch:
            made = pathlib.Path(scratch) / "tokenizer.json"
            made.write_text(json.dumps(sentencepiece_as_json(path.read_bytes())), encoding="utf-8")
            status = (compare_tokenizer_json(name, program, made, uses_metaspace=True) |
                      compare_with_added(name, program, made, uses_metaspace=True))
            if dump(program, path).hash != dump(program, made).hash:
                print(f"FAILED: {name}: the model gives another vocabulary than the tokenizer.json made of it")
                return 1
            return status
    except ImportError as error:
        return skip(f"a Python package is not there: {error}")


if __name__ == "__main__":
    sys.exit(main())
