"""Compares tekken.json files, id by id, with what the `mistral-common` package makes of them.

    compare_tekken.py DUMP_PROGRAM VOCABULARY_FOLDER NAME

NAME is a file in the folder without its ".json". Besides it, files that this script makes of it are
compared: of a newer version, which lists its special tokens, and with other sizes.

Every id   the bytes are `id_to_byte_piece(id)`, the kind is `is_special(id)`, the end is `eos_id`.
Texts      for random texts, our bytes of the ids that `encode` gives, joined, are the text.

Exit status: 0; 1 with the first differences; 77 (ctest: skipped) with the reason when the file or the
package is not there.
"""

import json
import pathlib
import sys
import tempfile

from comparison import TEXT_COUNT, dump, joined, random_texts, report, skip

# Special tokens, all tokens, version: of the files that are made.
MADE = {"listed_v7": (40, 60_040, "v7"), "listed_v13": (1000, 131_072, "v13"), "listed_v15": (12, 150_012, "v15")}


def compare(name: str, program: str, path: pathlib.Path) -> int:
    from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    theirs = Tekkenizer.from_file(path)
    ours = dump(program, path)
    wrong = []
    if len(ours.tokens) != theirs.n_words:
        return report(name, ours, [f"{len(ours.tokens)} ids, {theirs.n_words} expected"], "")
    for token_id, token in enumerate(ours.tokens):
        expected = theirs.id_to_byte_piece(token_id, SpecialTokenPolicy.KEEP)
        kind = "special" if theirs.is_special(token_id) else "token"
        if token != expected or ours.kinds[token_id] != kind:
            wrong.append(f"id {token_id}: {ours.kinds[token_id]} {token!r}, not {kind} {expected!r}")
    if ours.stop != [theirs.eos_id]:
        wrong.append(f"stop ids are {ours.stop}, not {theirs.eos_id}")
    for text in random_texts([]):
        if joined(ours, theirs.encode(text, bos=False, eos=False)) != text.encode():
            wrong.append(f"text {text!r} does not come back")
    return report(name, ours, wrong, f"{TEXT_COUNT} texts come back")


def make(tree: dict, special: int, size: int, version: str) -> dict:
    names = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[THINK]", "[/THINK]", "{\"tool\":", "<｜é｜>"]
    listed = [{"rank": i, "token_str": text, "is_control": i % 2 == 0} for i, text in enumerate(names)]
    config = tree["config"] | {"default_num_special_tokens": special, "default_vocab_size": size, "version": version}
    return {"vocab": tree["vocab"], "special_tokens": listed, "config": config, "type": "Tekken"}


def compare_made(program: str, path: pathlib.Path, scratch: pathlib.Path) -> int:
    status = 0
    tree = json.loads(path.read_text(encoding="utf-8"))
    for name, (special, size, version) in MADE.items():
        made = scratch / f"tekken_{name}.json"
        made.write_text(json.dumps(make(tree, special, size, version)), encoding="utf-8")
        status |= compare(name, program, made)
    return status


def main() -> int:
    program, folder, name = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    path = folder / f"{name}.json"
    if not path.is_file():
        skip(f"{path} is not there")
    try:
        with tempfile.TemporaryDirectory() as scratch:
            return compare(name, program, path) | compare_made(program, path, pathlib.Path(scratch))
    except ImportError as error:
        return skip(f"a Python package is not there: {error}")


if __name__ == "__main__":
    sys.exit(main())
