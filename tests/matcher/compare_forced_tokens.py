"""Compares forced tokens with what the `tiktoken` and `tokenizers` packages make of whole texts.

    compare_forced_tokens.py DUMP_PROGRAM VOCABULARY_FOLDER NAME

DUMP_PROGRAM is dump_forced_tokens; MaskBench is in the shared data. NAME is one of
  llama3, qwen            rank files, by tiktoken
  deepseek                a tokenizer.json
  mistral                 a tokenizer.json that compare_vocabularies.py writes of a SentencePiece model
  sentencepiece/MODEL     a SentencePiece model of the folder, by sentencepiece; also mistral/tokenizer
  trained                 models that compare_sentencepiece.py trains, one for each of its variants
  tekken/tekken           a tekken.json, by mistral-common
  gguf/NAME               a GGUF file, by the ids that its model's own tokenizer gave for 46 texts
  gguf/written            a GGUF file that compare_gguf.py writes of mistral/tokenizer, by sentencepiece

Texts     instances of MaskBench under their schemas without white space, and choices of two texts
          that part at a random place: those instances indented, texts of many scripts, and of a
          SentencePiece model its own pieces, strung together.
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
import compare_gguf  # pylint: disable=wrong-import-position
import compare_sentencepiece  # pylint: disable=wrong-import-position
import compare_vocabularies as vocabularies  # pylint: disable=wrong-import-position
from comparison import random_texts, skip  # pylint: disable=wrong-import-position

SHOWN_DIFFERENCES = 10
# Of the night, scripts/test with MASKD_LONG, and of every run.
SCHEMAS, CHOICES = (120, 400) if os.environ.get("MASKD_LONG") else (12, 40)
MAX_BYTES = 2500
GGUF_ROUNDS = 20
# Before a text, so that its first token has no space of its own.
PREFIX = "a"
# Models of compare_sentencepiece.py whose files do not say how texts are cut.
SAY_TOO_LITTLE = {"bpe_with_suffix", "word"}
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


def sentencepiece_model(model: bytes) -> Callable:
    """Of a text's tokens those after PREFIX; none where they are not apart from its own."""
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_proto=model)

    def encode(text: str) -> list:
        ids = processor.encode(PREFIX + text)
        return next((ids[i:] for i in range(1, 4) if processor.decode(ids[:i]) == PREFIX), [])

    return encode


def piece_texts(model: bytes, chooser: random.Random) -> list:
    """Pieces of the model in random order."""
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    ids = [i for i in range(processor.vocab_size()) if not (processor.is_control(i) or processor.is_unknown(i)
                                                            or processor.is_byte(i) or processor.is_unused(i))]
    return ["".join(processor.id_to_piece(i) for i in chooser.choices(ids, k=20)).replace("\u2581", " ")
            for _ in range(CHOICES)]


def tekken(path: pathlib.Path) -> Callable:
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    tokenizer = Tekkenizer.from_file(path)
    return lambda text: tokenizer.encode(text, bos=False, eos=False)


def texts(chooser: random.Random, cases: list) -> list:
    """What choices are made of."""
    made = random_texts([])[:CHOICES // 2]
    while len(made) < CHOICES:
        case = chooser.choice(cases)
        made.append(json.dumps(chooser.choice(case["values"]), indent=chooser.choice([1, 2, 4]), ensure_ascii=False))
    return [text for text in made if 2 < len(text.encode()) < MAX_BYTES]


def choices(chooser: random.Random, made: list):
    """(grammar, text): the text and another that has a beginning in common with it."""
    for text in made:
        if len(text) < 2:
            continue
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


def compare(name: str, program: str, options: list, walks: list) -> int:
    """Of (grammar, text, tokens)."""
    lines = "".join(json.dumps(grammar | {"tokens": walk}) + "\n" for grammar, _, walk in walks)
    done = subprocess.run([program, *options], input=lines, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"FAILED: {done.stderr}")
    comparison = Comparison()
    for (_, text, walk), places in zip(walks, done.stdout.splitlines(), strict=True):
        comparison.add(text, walk, json.loads(places))
    return comparison.report(name)


def walks_of(encode: Callable, cases: list, prefix: str = "", more: tuple = ()) -> list:
    chooser = random.Random(30)
    parts = [*instances(cases), *choices(chooser, texts(chooser, cases)), *choices(chooser, list(more))]
    return [(grammar, text, encode(prefix + text)) for grammar, text in parts]


def compare_model(name: str, program: str, path: pathlib.Path, cases: list) -> int:
    model = path.read_bytes()
    more = piece_texts(model, random.Random(31))
    return compare(name, program, [path], walks_of(sentencepiece_model(model), cases, more=more))


def compare_trained(program: str, cases: list) -> int:
    status = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, options in compare_sentencepiece.VARIANTS.items():
            if name in SAY_TOO_LITTLE:
                continue
            path = pathlib.Path(scratch) / f"{name}.model"
            path.write_bytes(compare_sentencepiece.train(options))
            status |= compare_model(name, program, path, cases)
    return status


def compare_gguf_texts(name: str, program: str, path: pathlib.Path) -> int:
    """The texts beside a GGUF file, behind the space that some models add."""
    prefix = " " if path.stem in compare_gguf.ADDS_SPACE else ""
    pairs = [(prefix + text, ids) for text, ids in compare_gguf.texts_and_ids(path) if text]
    known = dict(pairs)
    walks = [(grammar, text, known[text]) for seed in range(GGUF_ROUNDS)
             for grammar, text in choices(random.Random(seed), list(known))]
    return compare(name, program, [path], walks)


def compare_written(name: str, program: str, model: pathlib.Path, cases: list) -> int:
    import gguf

    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "written.gguf"
        compare_gguf.write(path, model, gguf.GGUFEndian.LITTLE, everything=False)
        return compare(name, program, [path], walks_of(sentencepiece_model(model.read_bytes()), cases))


def compare_json(name: str, program: str, path: pathlib.Path, cases: list) -> int:
    options = [f"stop={vocabularies.END[name]}"]
    if path.suffix == ".json":
        return compare(name, program, [path, *options], walks_of(tokenizer_json(path, 0), cases))
    with tempfile.TemporaryDirectory() as scratch:
        made = pathlib.Path(scratch) / "tokenizer.json"
        made.write_text(json.dumps(vocabularies.sentencepiece_as_json(path.read_bytes())), encoding="utf-8")
        # A text's first token has a space of its own before it, so another one goes first.
        return compare(name, program, [made, *options], walks_of(tokenizer_json(made, 2), cases, "\n"))


def path_of(folder: pathlib.Path, name: str) -> pathlib.Path:
    if name in vocabularies.PLACES:
        return folder / vocabularies.PLACES[name]
    if name in ("trained", "gguf/written"):
        return folder / "mistral/tokenizer.model"
    suffix = {"gguf": ".gguf", "tekken": ".json"}.get(name.split("/", maxsplit=1)[0], ".model")
    return folder / (name + suffix)


def compare_name(name: str, program: str, path: pathlib.Path, cases: list) -> int:
    if path.suffix == ".tiktoken":
        return compare(name, program, [path, f"preset={name}"], walks_of(rank_file(name, path), cases))
    if name in vocabularies.PLACES:
        return compare_json(name, program, path, cases)
    if name == "trained":
        return compare_trained(program, cases)
    if name == "gguf/written":
        return compare_written(name, program, path, cases)
    if path.suffix == ".gguf":
        return compare_gguf_texts(name, program, path)
    if path.suffix == ".json":
        return compare(name, program, [path], walks_of(tekken(path), cases))
    return compare_model(name, program, path, cases)


def main() -> int:
    program, folder, name = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    shared = os.environ.get("MASKD_SHARED_DIR", pathlib.Path(__file__).resolve().parents[3] / "shared")
    maskbench = pathlib.Path(shared) / "maskbench" / "open.jsonl.gz"
    path = path_of(folder, name)
    for needed in (maskbench, path):
        if not needed.is_file():
            skip(f"{needed} is not there")
    try:
        return compare_name(name, program, path, read_cases(maskbench, random.Random(20)))
    except ImportError as error:
        return skip(f"a Python package is not there: {error}")


if __name__ == "__main__":
    sys.exit(main())
