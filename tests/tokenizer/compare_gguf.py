"""Compares GGUF vocabularies, id by id, with what the `gguf` and `tokenizers` packages make of them.

    compare_gguf.py DUMP_PROGRAM VOCABULARY_FOLDER NAME

NAME is a file of the folder gguf without its ".gguf", or "written": files that this script writes with
the `gguf` package, of Mistral's vocabulary.

Every id   the file is read with the `gguf` package. An ordinary piece stands for what the decoder of
           its alphabet in `tokenizers` makes of it, a byte piece for its byte, a user-defined one for
           itself; control and unknown ones are special; others are gaps. Not for TEXTS_ALONE, which
           the package reads in minutes.
Texts      NAME.gguf.inp has texts, NAME.gguf.out the ids that the model's own tokenizer gives for each:
           our bytes of the ids, joined, are the text (behind one space, where the model adds it).
Written    the hash is that of the same vocabulary from its SentencePiece model; with values of every
           type around it, with tensors after it, and with tensors that a hole of 1 TiB stands for.

Exit status: 0; 1 with the first differences; 77 (ctest: skipped) with the reason when the file or a
package is not there.
"""

import functools
import os
import pathlib
import subprocess
import sys
import tempfile

from compare_vocabularies import fields
from comparison import METASPACE, NOT_IN_UTF8, Dump, dump, joined, report, skip

TEXTS_ALONE = {"gemma-4", "llama-bpe"}
if not os.environ.get("MASKD_LONG"):
    TEXTS_ALONE.add("command-r")  # 256,000 pieces, half a minute
# What ends a text, as each model's own generation configuration has it.
ENDS = {"llama-spm": [2], "phi-3": [2, 32000, 32007], "gpt-2": [50256], "deepseek-coder": [32014, 32021],
        "llama-bpe": [128001, 128009], "command-r": [255001], "gemma-4": [1, 50, 106], "nomic-bert-moe": [2]}
# Their tokenizers change the text, or put a space before it.
CHANGES_TEXT = {"nomic-bert-moe"}
ADDS_SPACE = {"llama-spm", "phi-3"}
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6
SEPARATOR = "\n__ggml_vocab_test__\n"
HOLE_BYTES = 1 << 40


def byte_level_alphabet() -> dict:
    """Character to byte, from the pre-tokenizer of `tokenizers` and, for what no text has, Latin-1."""
    from tokenizers import pre_tokenizers

    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bytes_of = {chr(byte): byte for byte in NOT_IN_UTF8}
    for code_point in [*range(0x800), *range(0x800, 0xD800, 0x800), *range(0xE000, 0x110000, 0x1000)]:
        written = level.pre_tokenize_str(chr(code_point))[0][0]
        bytes_of |= dict(zip(written, chr(code_point).encode()))
    assert sorted(bytes_of.values()) == list(range(256))
    return bytes_of


def expected_bytes(piece: str, kind: int, model: str, alphabet: dict) -> bytes:
    from tokenizers import decoders

    if kind == BYTE:
        return bytes.fromhex(piece.removeprefix("<0x").removesuffix(">"))
    if kind in (USER_DEFINED, UNKNOWN, CONTROL):
        return piece.encode()
    if kind != NORMAL:
        return b""
    if model != "gpt2":
        return decoders.Replace(METASPACE, " ").decode([piece]).encode()
    return bytes(alphabet[char] for char in piece) if all(char in alphabet for char in piece) else piece.encode()


def read_fields(path: pathlib.Path) -> dict:
    """By the package's reader, whose parts of a memory map take five times as long as plain arrays."""
    import gguf
    import numpy

    @functools.cache
    def ordered(kind: type, order: str) -> numpy.dtype:
        return numpy.dtype(kind).newbyteorder(order)

    class Reader(gguf.GGUFReader):
        def _get(self, offset, dtype, count=1, override_order=None):
            return numpy.ndarray(int(count), ordered(dtype, override_order or self.byte_order), self.data, offset)

    return Reader(path).fields


def compare_pieces(ours: Dump, path: pathlib.Path, wrong: list) -> None:
    fields = read_fields(path)
    model = fields["tokenizer.ggml.model"].contents()
    pieces = fields["tokenizer.ggml.tokens"].contents()
    kinds = fields["tokenizer.ggml.token_type"].contents()
    if len(pieces) != len(ours.tokens):
        wrong.append(f"{len(ours.tokens)} ids, {len(pieces)} expected")
        return
    alphabet = byte_level_alphabet()
    for token_id, (piece, kind) in enumerate(zip(pieces, kinds)):
        expected = expected_bytes(piece, kind, model, alphabet)
        shown = "special" if kind in (UNKNOWN, CONTROL) or token_id in ours.stop else "token" if expected else "gap"
        if (ours.kinds[token_id], ours.tokens[token_id]) != (shown, expected):
            wrong.append(f"id {token_id}: {ours.kinds[token_id]} {ours.tokens[token_id]!r}, not {shown} {expected!r}")
    if fields["tokenizer.ggml.eos_token_id"].contents() not in ours.stop:
        wrong.append(f"stop ids are {ours.stop}, without the file's own")


def texts_and_ids(path: pathlib.Path) -> list:
    texts = path.with_suffix(".gguf.inp").read_bytes().decode().removesuffix(SEPARATOR).split(SEPARATOR)
    lines = path.with_suffix(".gguf.out").read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return [(text, [int(one) for one in line.split()]) for text, line in zip(texts, lines, strict=True)]


def compare_texts(name: str, ours: Dump, path: pathlib.Path, wrong: list) -> int:
    pairs = texts_and_ids(path)
    for text, ids in pairs:
        expected = (" " if name in ADDS_SPACE and text else "") + text
        if joined(ours, ids) != expected.encode():
            wrong.append(f"text {text!r}: {ids} are {joined(ours, ids)!r}")
    return len(pairs)


def compare(name: str, program: str, path: pathlib.Path) -> int:
    ours = dump(program, path)
    wrong = []
    if ours.stop != ENDS[name]:
        wrong.append(f"stop ids are {ours.stop}, not {ENDS[name]}")
    if name not in TEXTS_ALONE:
        compare_pieces(ours, path, wrong)
    count = 0 if name in CHANGES_TEXT else compare_texts(name, ours, path, wrong)
    return report(name, ours, wrong, f"{count} texts come back")


def write(path: pathlib.Path, model: pathlib.Path, endianess, everything: bool) -> None:
    """The vocabulary of a SentencePiece model as GGUF."""
    import gguf
    import numpy
    import sentencepiece

    theirs = sentencepiece.SentencePieceProcessor(model_proto=model.read_bytes())
    ids = range(theirs.vocab_size())
    pieces = [dict(fields(value)) for number, value in fields(model.read_bytes()) if number == 1]
    kinds = [piece.get(3, NORMAL) for piece in pieces]  # SentencePiece's numbers are GGUF's
    writer = gguf.GGUFWriter(path, "llama", endianess=endianess)
    kinds_of_value = gguf.GGUFValueType
    if everything:
        numbers = {kinds_of_value.UINT8: 255, kinds_of_value.INT8: -1, kinds_of_value.UINT16: 65535,
                   kinds_of_value.INT16: -1, kinds_of_value.UINT32: 1, kinds_of_value.INT32: -1,
                   kinds_of_value.FLOAT32: 0.5, kinds_of_value.UINT64: 1 << 63, kinds_of_value.INT64: -1,
                   kinds_of_value.FLOAT64: 0.5, kinds_of_value.BOOL: True}
        for kind, value in numbers.items():
            writer.add_key_value(f"some.{kind.name}", value, kind)
            writer.add_key_value(f"some.array.{kind.name}", [value] * 5, kinds_of_value.ARRAY, sub_type=kind)
        writer.add_array("some.texts", ["", "a", "é" * 5000])
        writer.add_array("some.nested", [[[1, 2], [3]], [[4]]])
        writer.add_string("tokenizer.chat_template", "{{ x }}" * 1000)
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([theirs.id_to_piece(i) for i in ids])
    writer.add_token_scores([theirs.get_score(i) for i in ids])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(True)
    writer.add_tensor("some.weight", numpy.arange(64, dtype=numpy.float32).reshape(8, 8))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def compare_written(program: str, model: pathlib.Path, scratch: pathlib.Path) -> int:
    import gguf

    expected = dump(program, model)
    status = 0
    for name in ("plain", "everything", "hole"):
        path = scratch / f"{name}.gguf"
        write(path, model, gguf.GGUFEndian.LITTLE, everything=name != "plain")
        if name == "hole":
            os.truncate(path, HOLE_BYTES)
        ours = dump(program, path)
        wrong = [] if ours.hash == expected.hash else ["the hash is not that of the SentencePiece model"]
        status |= report(name, ours, wrong, "the hash of the SentencePiece model")
    path = scratch / "big.gguf"
    write(path, model, gguf.GGUFEndian.BIG, everything=False)
    done = subprocess.run([program, path], capture_output=True, text=True, check=False)
    refused = done.returncode == 1 and "the most significant byte first is not supported" in done.stderr
    print(f"big: {'refused' if refused else 'FAILED: not refused'}: {done.stderr.strip()}")
    return status | (not refused)


def main() -> int:
    program, folder, name = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    path = folder / "mistral/tokenizer.model" if name == "written" else folder / "gguf" / f"{name}.gguf"
    if not path.is_file():
        skip(f"{path} is not there")
    try:
        if name != "written":
            return compare(name, program, path)
        with tempfile.TemporaryDirectory() as scratch:
            return compare_written(program, path, pathlib.Path(scratch))
    except ImportError as error:
        return skip(f"a Python package is not there: {error}")


if __name__ == "__main__":
    sys.exit(main())
