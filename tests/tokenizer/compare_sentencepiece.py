"""Compares SentencePiece models, id by id, with what the `sentencepiece` package makes of them.

    compare_sentencepiece.py DUMP_PROGRAM VOCABULARY_FOLDER NAME

NAME is a file in the folder without its ".model", or "trained": models that this script trains with
the package, one for each of VARIANTS, and one that does not escape spaces.

Every id        the bytes are the text that `decode` adds when the id stands after letters. Where they
                are no whole characters, byte pieces beside them complete them first. A byte that no
                text holds is told from its piece instead.
The first id    `decode` of the id alone is the same text, or for every id of the model the same
                without one leading space (docs/tokenizers.md, "The first token's space").
Sequences       of random ids, and of the ids that `encode` gives for random texts: our bytes, joined,
                are what `decode` gives, but for leading spaces. Where the model changes no text, they
                are the text itself.
End             the stop ids are the package's eos_id and what is spelled as a well-known end.

Exit status: 0; 1 with the first differences; 77 (ctest: skipped) with the reason when the file or the
package is not there.
"""

import io
import pathlib
import random
import subprocess
import sys
import tempfile

from comparison import TEXT_COUNT, Dump, completions, dump, is_hidden_byte, is_utf8, joined, random_texts, report, skip

SEQUENCE_COUNT = 2000
# What keeps the text as it is, so that it must come back.
AS_IT_IS = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False, "byte_fallback": True}
VARIANTS = {
    "unigram": {"model_type": "unigram", "byte_fallback": True},
    "unigram_without_bytes": {"model_type": "unigram", "normalization_rule_name": "nmt_nfkc_cf"},
    "bpe": {"model_type": "bpe", **AS_IT_IS},
    "bpe_without_prefix": {"model_type": "bpe", "add_dummy_prefix": False, "allow_whitespace_only_pieces": True,
                           **AS_IT_IS},
    "bpe_with_suffix": {"model_type": "bpe", "treat_whitespace_as_suffix": True, **AS_IT_IS},
    "word": {"model_type": "word"},
    "char": {"model_type": "char"},
    "named": {"model_type": "unigram", "user_defined_symbols": ["\u2581\u2581", "<sep>", "{\"", "<end_of_turn>"],
              "control_symbols": ["<ctl>"], "pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": 2, "eos_piece": "<end>",
              "unk_surface": "?"},
}
# The user-defined piece of "named" with a well-known spelling.
WELL_KNOWN = "<end_of_turn>"
# A NormalizerSpec with escape_whitespaces off: put after a model, it is merged with the model's own.
UNESCAPED = bytes([0x1A, 0x02, 0x28, 0x00])


def text_of(theirs, ids: list) -> str:
    return theirs.decode(ids)


def compare_pieces(ours: Dump, theirs, anchor: int, wrong: list) -> int:
    """Every id after the letters of `anchor`. Returns how many no text can show."""
    single = {ours.tokens[i][0]: i for i in range(theirs.vocab_size()) if theirs.is_byte(i)}
    letters, around, hidden = text_of(theirs, [anchor]), completions(), 0
    for token_id, token in enumerate(ours.tokens):
        piece = theirs.id_to_piece(token_id)
        if theirs.is_control(token_id) or theirs.is_unknown(token_id) or token_id in ours.stop:
            if (ours.kinds[token_id], token) != ("special", piece.encode()):
                wrong.append(f"id {token_id}: {ours.kinds[token_id]} {token!r}, not special {piece!r}")
            continue
        if ours.kinds[token_id] != "token":
            wrong.append(f"id {token_id}: {ours.kinds[token_id]} {token!r}, but an ordinary piece")
        shown = next(((before, after) for before, after in around if is_utf8(before + token + after)), None)
        if shown is None or not all(byte in single for part in shown for byte in part):
            hidden += 1
            if not is_hidden_byte(token, piece):
                wrong.append(f"id {token_id}: {token!r} is no part of a text")
            continue
        before, after = shown
        text = text_of(theirs, [anchor, *(single[b] for b in before), token_id, *(single[b] for b in after)])
        if text != letters + (before + token + after).decode():
            wrong.append(f"id {token_id}: {token!r}, but {text!r} after {letters!r}")
    return hidden


def ordinary_ids(ours: Dump, theirs) -> list:
    return [i for i, kind in enumerate(ours.kinds) if kind == "token" and not theirs.is_byte(i)]


def compare_first(ours: Dump, theirs, wrong: list) -> bool:
    """Every id alone. Returns whether the model drops the first token's space."""
    ids = ordinary_ids(ours, theirs)
    drops = any(text_of(theirs, [i]).encode() != ours.tokens[i] for i in ids)
    for i in ids:
        expected = ours.tokens[i].removeprefix(b" ") if drops else ours.tokens[i]
        if text_of(theirs, [i]).encode() != expected:
            wrong.append(f"id {i} alone: {text_of(theirs, [i])!r}, not {expected!r}")
    return drops


def compare_joined(ours: Dump, theirs, ids: list, drops: bool, wrong: list) -> None:
    text, expected = text_of(theirs, ids).encode(), joined(ours, ids)
    if drops:
        text, expected = text.lstrip(b" "), expected.lstrip(b" ")
    if text != expected:
        wrong.append(f"{ids}: {expected!r}, but decode gives {text!r}")


def compare_after(ours: Dump, theirs, anchor: int, ids: list, wrong: list) -> None:
    text, expected = text_of(theirs, [anchor, *ids]), text_of(theirs, [anchor]).encode() + joined(ours, ids)
    if text.encode() != expected:
        wrong.append(f"{ids}: {expected!r}, but decode gives {text!r}")


def compare_sequences(ours: Dump, theirs, anchor: int, drops: bool, wrong: list) -> None:
    chooser = random.Random(21)
    ids = ordinary_ids(ours, theirs)
    for number in range(SEQUENCE_COUNT):
        sequence = [chooser.choice(ids) for _ in range(chooser.randint(1, 20))]
        if number % 2:
            compare_after(ours, theirs, anchor, sequence, wrong)
        else:
            compare_joined(ours, theirs, sequence, drops, wrong)


def compare_texts(ours: Dump, theirs, drops: bool, keeps_text: bool, wrong: list) -> None:
    for text in random_texts([]):
        ids = [i for i in theirs.encode(text) if ours.kinds[i] == "token"]
        compare_joined(ours, theirs, ids, drops, wrong)
        if keeps_text and joined(ours, ids).strip(b" ") != text.encode().strip(b" "):
            wrong.append(f"text {text!r} does not come back")


def compare(name: str, program: str, path: pathlib.Path, keeps_text: bool) -> int:
    import sentencepiece

    theirs = sentencepiece.SentencePieceProcessor(model_proto=path.read_bytes())
    ours = dump(program, path)
    wrong = []
    if len(ours.tokens) != theirs.vocab_size():
        return report(name, ours, [f"{len(ours.tokens)} ids, {theirs.vocab_size()} expected"], "")
    ends = {theirs.eos_id(), theirs.piece_to_id("</s>"), theirs.piece_to_id(WELL_KNOWN)} - {theirs.unk_id(), -1}
    if set(ours.stop) != ends:
        wrong.append(f"stop ids are {ours.stop}, not {ends}")
    anchor = next(i for i in ordinary_ids(ours, theirs) if ours.tokens[i].strip(b" ").isalpha())
    hidden = compare_pieces(ours, theirs, anchor, wrong)
    drops = compare_first(ours, theirs, wrong)
    compare_sequences(ours, theirs, anchor, drops, wrong)
    compare_texts(ours, theirs, drops, keeps_text, wrong)
    return report(name, ours, wrong, f"{SEQUENCE_COUNT} sequences and {TEXT_COUNT} texts equal; {hidden} bytes that "
                  f"no text holds; the first space is {'dropped' if drops else 'kept'}")


def train(options: dict) -> bytes:
    import sentencepiece

    words = [" ".join(text.split()) for text in random_texts([])[:600]]
    sentences = [text for text in words if text] + ["the quick brown fox jumps over the lazy dog, again and again"] * 20
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=model, vocab_size=5000, hard_vocab_limit=False, num_threads=1,
        character_coverage=0.98, minloglevel=2, **options)
    return model.getvalue()


def compare_trained(program: str, scratch: pathlib.Path) -> int:
    status = 0
    for name, options in VARIANTS.items():
        path = scratch / f"{name}.model"
        path.write_bytes(train(options))
        status |= compare(name, program, path, keeps_text=AS_IT_IS.items() <= options.items())
    path = scratch / "unescaped.model"
    path.write_bytes((scratch / "bpe.model").read_bytes() + UNESCAPED)
    status |= compare("unescaped", program, path, keeps_text=True)
    return status | refuses_a_denormalizer(program, scratch)


def refuses_a_denormalizer(program: str, scratch: pathlib.Path) -> int:
    rules = scratch / "rules.tsv"
    rules.write_text("61\t62\n")
    path = scratch / "denormalizer.model"
    path.write_bytes(train({"model_type": "char", "denormalization_rule_tsv": str(rules)}))
    done = subprocess.run([program, path], capture_output=True, text=True, check=False)
    refused = done.returncode == 1 and "a model with a denormalizer is not supported" in done.stderr
    print(f"denormalizer: {'refused' if refused else 'FAILED: not refused'}: {done.stderr.strip()}")
    return 0 if refused else 1


def main() -> int:
    program, folder, name = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    path = folder / f"{name}.model"
    try:
        if name == "trained":
            with tempfile.TemporaryDirectory() as scratch:
                return compare_trained(program, pathlib.Path(scratch))
        if not path.is_file():
            skip(f"{path} is not there")
        return compare(name, program, path, keeps_text=name.startswith("mistral/"))
    except ImportError as error:
        return skip(f"a Python package is not there: {error}")


if __name__ == "__main__":
    sys.exit(main())
