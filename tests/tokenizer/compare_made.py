"""Compares small tokenizer.json and GGUF files with what the `tokenizers` package makes of them.

    compare_made.py DUMP_PROGRAM VOCABULARY_FOLDER NAME

NAME is a row of SHAPES, or "all": how the files of a family of models cut texts and write spaces. The
pieces are made up, from few letters, so that merges meet. The folder of vocabularies is not needed.

GGUF     of shapes in PRE_TOKENIZERS the same vocabulary is also written by the `gguf` package.
Tokens   for random texts, our certain tokens are the first of those that `encode` gives, behind the
         space that some files put before a text.
Bytes    our bytes of all of those, joined, are the text.
Known    our rules are unknown where merging by ids is not what the list says. Of a shape's files at
         least a third are known, and of their tokens at least a third are certain; none of UNKNOWN.

Exit status: 0; 1 with the first differences; 77 (ctest: skipped) with the reason when a package is not
there.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from comparison import METASPACE, SHOWN_DIFFERENCES, dump, skip

ROUNDS, TEXTS = (200, 100) if os.environ.get("MASKD_LONG") else (20, 40)
LETTERS = "bstA1\u00b2\u00e9\u4e2d\u30ab\u0301\u00a0'!/\n"
END = "</s>"
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
TEKKEN = O200K.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace("{1,3}", "")
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
MARK = {"type": "Replace", "pattern": {"String": " "}, "content": METASPACE}
UNMARK = {"type": "Replace", "pattern": {"String": METASPACE}, "content": " "}


def cut_at(pattern: str) -> dict:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def sequence(kind: str, *parts: dict) -> dict:
    return {"type": "Sequence", kind: list(parts)}


def of_bytes(*parts: dict, normalizer=None, cut=False) -> dict:
    return {"normalizer": normalizer,
            "pre_tokenizer": sequence("pretokenizers", *parts, BYTE_LEVEL | {"use_regex": cut}),
            "decoder": BYTE_LEVEL}


def of_characters(normalizer, pre_tokenizer=None) -> dict:
    return {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer,
            "decoder": sequence("decoders", UNMARK, {"type": "ByteFallback"}, {"type": "Fuse"})}


SHAPES = {
    "gpt_2": {"normalizer": None, "pre_tokenizer": BYTE_LEVEL | {"use_regex": True},
              "decoder": BYTE_LEVEL},
    "llama_3": of_bytes(cut_at(LLAMA3)),
    "qwen": of_bytes(cut_at(LLAMA3.replace("{1,3}", "")), normalizer={"type": "NFC"}),
    "o200k": of_bytes(cut_at(O200K)),
    "tekken": of_bytes(cut_at(TEKKEN)),
    "deepseek": of_bytes(cut_at(r"\p{N}{1,3}"), cut_at("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"), cut_at(GPT2)),
    "smol": of_bytes({"type": "Digits", "individual_digits": True}, cut=True),
    "bytes_twice": of_bytes(BYTE_LEVEL),
    "gemma": of_characters(MARK, {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious",
                                  "invert": False}),
    "llama_2": of_characters(sequence("normalizers", {"type": "Prepend", "prepend": METASPACE}, MARK)),
    "yi": of_characters(None, {"type": "Metaspace", "replacement": METASPACE, "prepend_scheme": "always",
                               "split": False}),
    "mistral": of_characters(None, {"type": "Metaspace", "replacement": METASPACE, "prepend_scheme": "first",
                                    "split": False}),
}
# Shapes that are not understood.
UNKNOWN = {"bytes_twice"}
# Of these the list has another order than the ids, as Gemma's runs of white space have.
LONGEST_FIRST = {"gemma", "smol"}
BEGINS_WITH_SPACE = {"llama_2", "mistral", "yi"}
IGNORES_MERGES = {"llama_3", "o200k", "tekken"}
# The tokenizer drops what has no piece, and merges what is around it.
LACKS_BYTES = {"smol"}
# What llama.cpp calls them. A GGUF file has no flags of added tokens.
PRE_TOKENIZERS = {"gpt_2": "gpt-2", "llama_3": "llama-bpe", "qwen": "qwen2", "o200k": "gpt-4o", "tekken": "tekken",
                  "smol": "smollm", "gemma": "gemma4"}
FLAGS = ["normalized", "single_word", "lstrip", "rstrip"]
# Added tokens: (content, flags that are set).
ADDED = {
    "gemma": [("\n\n", ""), (METASPACE * 2, ""), ("<x>", ""), ("a\n", "normalized")],
    "llama_2": [("<x>", "rstrip"), ("ba", "normalized"), ("<a>", "")],
    "yi": [("<x>", ""), ("b!", "normalized")],
    "mistral": [("<x>", "lstrip"), (METASPACE * 2, "normalized"), ("b 1", "")],
    "llama_3": [("<x>", ""), ("  ", ""), ("a1", "single_word")],
}


def symbols_of(is_of_bytes: bool, letters: str) -> list:
    """What a text of these letters is first cut into, as pieces spell it; some letters are no piece."""
    if not is_of_bytes:
        return sorted({METASPACE if letter == " " else letter for letter in letters} - set("\n\u4e2d"))
    from tokenizers import pre_tokenizers

    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return sorted(set(level.pre_tokenize_str(letters)[0][0]))


def make(name: str, letters: str, chooser: random.Random) -> dict:
    """A file of this shape; in some a merge has other pieces than by ids, or none."""
    from tokenizers import pre_tokenizers

    shape = SHAPES[name]
    is_of_bytes = shape["decoder"]["type"] == "ByteLevel"
    made = symbols_of(is_of_bytes, letters)
    pieces = ["<unk>", END] + ([] if is_of_bytes else [f"<0x{byte:02X}>" for byte in range(256)])
    bytes_of = set(pre_tokenizers.ByteLevel.alphabet())
    if name in LACKS_BYTES:
        bytes_of -= set(symbols_of(True, chooser.choice(LETTERS))) - set(made)
    pieces += sorted(bytes_of) if is_of_bytes else made
    merges = []
    for _ in range(chooser.randrange(4, 24)):
        left, right = chooser.choice(made), chooser.choice(made)
        if left + right in pieces or len(left + right) > 8:
            continue
        made.append(left + right)
        pieces.append(left + right)
        ways = [[(left + right)[:cut], (left + right)[cut:]] for cut in range(1, len(left + right))]
        ways = [way for way in ways if way[0] in made and way[1] in made]
        merges += ways if chooser.random() < 0.9 else [chooser.choice(ways)]
    if name in LONGEST_FIRST:
        merges.sort(key=lambda way: -len("".join(way)))
    vocab = {piece: i for i, piece in enumerate(pieces)}
    added = [{"id": vocab[content], "content": content, "special": True} for content in ("<unk>", END)]
    for content, flags in ADDED.get(name, []):
        if chooser.random() < 0.5:
            new = len(pieces) + sum(token["content"] not in vocab for token in added)
            added.append({"id": vocab.get(content, new), "content": content, "special": False} |
                         {flag: True for flag in flags.split()})
    flags = dict.fromkeys(FLAGS, False)
    return {"version": "1.0", "post_processor": None, **shape, "added_tokens": [flags | one for one in added],
            "model": {"type": "BPE", "dropout": None, "unk_token": None if is_of_bytes else "<unk>",
                      "fuse_unk": not is_of_bytes, "byte_fallback": not is_of_bytes,
                      "ignore_merges": name in IGNORES_MERGES, "vocab": vocab, "merges": merges}}


def write_gguf(path: pathlib.Path, pre: str, tree: dict) -> None:
    """The vocabulary and merges of a tokenizer.json."""
    import gguf

    added = {token["content"]: token for token in tree["added_tokens"]}
    ids = tree["model"]["vocab"] | {content: token["id"] for content, token in added.items()}
    pieces = sorted(ids, key=ids.get)
    kinds = [gguf.TokenType.NORMAL if piece not in added else
             gguf.TokenType.CONTROL if added[piece]["special"] else gguf.TokenType.USER_DEFINED for piece in pieces]
    if pre == "gemma4":
        kinds = [gguf.TokenType.BYTE if piece.startswith("<0x") else kind for piece, kind in zip(pieces, kinds)]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gemma4" if pre == "gemma4" else "gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(pieces)
    writer.add_token_types(kinds)
    writer.add_token_merges([" ".join(pair) for pair in tree["model"]["merges"]])
    writer.add_eos_token_id(ids[END])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def files_of(name: str, tree: dict, folder: pathlib.Path) -> list:
    paths = [folder / "tokenizer.json"]
    paths[0].write_text(json.dumps(tree), encoding="utf-8")
    has_flags = any(token[flag] for token in tree["added_tokens"] for flag in FLAGS)
    # Without a merge there is no array of them to write.
    if name in PRE_TOKENIZERS and tree["model"]["merges"] and not has_flags:
        paths.append(folder / "tokenizer.gguf")
        write_gguf(paths[1], PRE_TOKENIZERS[name], tree)
    return paths


def texts(chooser: random.Random, letters: str, added: list) -> list:
    parts = [*letters * 3, *LETTERS, *(token["content"] for token in added if not token["special"]), "'s", "<", "  "]
    ascii_parts = [part for part in parts if part.isascii()]
    return ["".join(chooser.choice(chosen) for _ in range(chooser.randint(1, 24)))
            for chosen in [parts, ascii_parts] * (TEXTS // 2)]


def encode(program: str, path: pathlib.Path, lines: list):
    """Our certain tokens of each text; nothing where the rules are unknown."""
    stop = [f"stop={END}"] if path.suffix == ".json" else []
    done = subprocess.run([program, path, *stop, "encode"], input="".join(json.dumps(one) + "\n" for one in lines),
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"FAILED: the loader refuses {path}: {done.stderr}")
    return None if done.stdout == "unknown\n" else [json.loads(line) for line in done.stdout.splitlines()]


def tokens_of(theirs, text: str, is_behind: bool) -> list:
    """Those of `text`; where texts begin with a space, behind a line break, which is in no merge."""
    before = theirs.encode("\n" if is_behind else "", add_special_tokens=False).ids
    return theirs.encode(("\n" if is_behind else "") + text, add_special_tokens=False).ids[len(before):]


def compare(name: str, program: str) -> int:
    from tokenizers import Tokenizer

    chooser, wrong = random.Random(7), []
    files = known = tokens = certain = 0
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(ROUNDS):
            letters = "a " + "".join(chooser.sample(LETTERS, 4))
            tree = make(name, letters, chooser)
            theirs, lines = Tokenizer.from_str(json.dumps(tree)), texts(chooser, letters, tree["added_tokens"])
            expected = [tokens_of(theirs, text, name in BEGINS_WITH_SPACE) for text in lines]
            for path in files_of(name, tree, pathlib.Path(scratch)):
                ours = encode(program, path, lines)
                files, known = files + 1, known + (ours is not None)
                for text, right, found in zip(lines, expected, ours or []):
                    tokens, certain = tokens + len(right), certain + len(found)
                    if found != right[:len(found)]:
                        wrong.append(f"{path.name}: {text!r} is {right}, not {found}: "
                                     + json.dumps(tree, ensure_ascii=False))
    for line in wrong[:SHOWN_DIFFERENCES]:
        print(f"{name}: {line}")
    print(f"{name}: {known} of {files} files known, {certain} of {tokens} tokens certain, {len(wrong)} wrong")
    if name in UNKNOWN:
        return 1 if known else 0
    return 1 if wrong or known < files / 3 or certain < tokens / 3 else 0


def main() -> int:
    program, name = sys.argv[1], sys.argv[3]
    try:
        statuses = [compare(one, program) for one in (SHAPES if name == "all" else [name])]
    except ImportError as error:
        return skip(f"a Python package is not there: {error}")
    return max(statuses)


if __name__ == "__main__":
    sys.exit(main())
