"""Compares forced tokens with what the `tiktoken` and `tokenizers` packages make of whole texts.

    compare_forced_tokens.py DUMP_PROGRAM VOCABULARY_FOLDER NAME

DUMP_PROGRAM is dump_forced_tokens; MaskBench is in the shared data. NAME is llama3 or qwen (rank files, by tiktoken), deepseek (a
tokenizer.json) or mistral (a SentencePiece model, from which compare_vocabularies.py writes one).

Texts     instances of MaskBench under their schemas without white space, and choices of two texts
          that part at a random place: those instances indented, and texts of many scripts.
Walk      the package's own tokens of one text. At each place, the certain forced tokens must be the
          next ones of the walk: the text is one that may follow, and the tokens before are those
          that the package makes.

Exit status: 0; 1 with the first differences; 77 (ctest: skipped) with the reason when a file or a
package is not there.
"""

import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tokenizer"))
import compare_vocabularies as vocabularies  # pylint: disable=wrong-import-position
from comparison import random_texts, skip  # pylint: disable=wrong-import-position

SHOWN_DIFFERENCES = 10
SCHEMAS = 120
CHOICES = 400
MAX_BYTES = 2500
# Of each family's own tokenizer.py.
LETTERS_AND_DIGITS = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*"
                      r"|\s*[\r\n]+|\s+(?!\S)|\s+")
PATTERNS = {"llama3": LETTERS_AND_DIGITS % "{1,3}", "qwen": LETTERS_AND_DIGITS % ""}


def rank_file(name: str, path: pathlib.Path) -> Callable:
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    encoding = tiktoken.Encoding(name, pat_str=PATTERNS[name], mergeable_ranks=load_tiktoken_bpe(str(path)),
                                 special_tokens={})
    return lambda text: encoding.encode(text, disallowed_special=())


def tokenizer_json(path: pathlib.Path, dropped: int) -> Callable:
    """Of a text's tokens, without the `dropped` first ones."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids[dropped:]


def texts(chooser: random.Random, cases: list) -> list:
    """What choices are made of."""
    made = random_texts([])[:CHOICES // 2]
    while len(made) < CHOICES:
        case = chooser.choice(cases)
        made.append(json.dumps(chooser.choice(case["values"]), indent=chooser.choice([1, 2, 4]), ensure_ascii=False))
    return [text for text in made if 2 < len(text.encode()) < MAX_BYTES]


def choices(chooser: random.Random, cases: list):
    """(grammar, text): the text and another that has a beginning in common with it."""
    made = texts(chooser, cases)
    for text in made:
        cut = chooser.randrange(1, len(text))
        other = text[:cut] + chooser.choice(made)
        if other != text:
            yield {"kind": "choice", "text": json.dumps([text, other]), "compact": True}, text


def instances(cases: list):
    for case in cases:
        for value in case["values"]:
            text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
            if len(text.encode()) < MAX_BYTES:
                yield {"kind": "json_schema", "text": case["schema"], "compact": True}, text


def read_cases(path: pathlib.Path, chooser: random.Random) -> list:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = chooser.sample(file.readlines(), SCHEMAS)
    cases = []
    for line in lines:
        case = json.loads(line)
        values = [json.loads(test["text"]) for test in case["tests"] if test["valid"]]
        if values:
            cases.append({"schema": case["schema"], "values": values[:2]})
    return cases


class Comparison:
    def __init__(self):
        self.walks = self.refused = self.places = self.bytes = self.tokens = self.certain = 0
        self.wrong = []

    def add(self, text: str, walk: list, places):
        if isinstance(places, dict):  # the schema is not supported, or has the text's keys in another order
            self.refused += 1
            return
        self.walks += 1
        for at, (byte_count, tokens, certain) in enumerate(places):
            self.places += byte_count > 0
            self.bytes += byte_count
            self.tokens += len(tokens)
            self.certain += certain
            if tokens[:certain] != walk[at:at + certain]:
                self.wrong.append(f"{text!r}: after {at} tokens {tokens[:certain]} is not {walk[at:at + certain]}")

    def report(self, name: str) -> int:
        for line in self.wrong[:SHOWN_DIFFERENCES]:
            print(f"{name}: {line}")
        print(f"{name}: {self.walks} walks ({self.refused} refused), {self.places} places with forced bytes, "
              f"{self.bytes} bytes, {self.tokens} tokens, {self.certain} of them certain, {len(self.wrong)} wrong")
        return 1 if self.wrong or self.certain == 0 else 0


def compare(name: str, program: str, options: list, encode: Callable, cases: list, prefix: str) -> int:
    chooser = random.Random(30)
    walks = [(grammar, text, encode(prefix + text))
             for grammar, text in [*instances(cases), *choices(chooser, cases)]]
    lines = "".join(json.dumps(grammar | {"tokens": walk}) + "\n" for grammar, _, walk in walks)
    done = subprocess.run([program, *options], input=lines, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"FAILED: {done.stderr}")
    comparison = Comparison()
    for (_, text, walk), places in zip(walks, done.stdout.splitlines(), strict=True):
        comparison.add(text, walk, json.loads(places))
    return comparison.report(name)


def main() -> int:
    program, folder, name = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    shared = os.environ.get("MASKD_SHARED_DIR", pathlib.Path(__file__).resolve().parents[3] / "shared")
    maskbench = pathlib.Path(shared) / "maskbench" / "open.jsonl.gz"
    path = folder / vocabularies.PLACES[name]
    for needed in (maskbench, path):
        if not needed.is_file():
            skip(f"{needed} is not there")
    cases = read_cases(maskbench, random.Random(20))
    try:
        if path.suffix == ".tiktoken":
            return compare(name, program, [path, f"preset={name}"], rank_file(name, path), cases, "")
        options = [f"stop={vocabularies.END[name]}"]
        if path.suffix == ".json":
            return compare(name, program, [path, *options], tokenizer_json(path, 0), cases, "")
        with tempfile.TemporaryDirectory() as scratch:
            made = pathlib.Path(scratch) / "tokenizer.json"
            made.write_text(json.dumps(vocabularies.sentencepiece_as_json(path.read_bytes())), encoding="utf-8")
            # A text's first token has a space of its own before it, so another one goes first.
            return compare(name, program, [made, *options], tokenizer_json(made, 2), cases, "\n")
    except ImportError as error:
        return skip(f"a Python package is not there: {error}")


if __name__ == "__main__":
    sys.exit(main())
