"""Whether a server's vocabulary is the engine's: by the hash of the server.

The hash is SHA-256 over the bytes of all tokens, which of them are special or added, and the stop
ids (docs/tokenizers.md). The server says what is special and what stops; the bytes, and what is
added, are the engine's, read from its tokenizer as Hugging Face's libraries have it, in the two
ways in which its files spell bytes:

byte-level     each character stands for one byte (GPT-2's table)
sentencepiece  U+2581 is a space, <0xNN> a byte

An added token that is not special, such as Qwen 3's <think>, is added for a server that read so in
its file: a file of ranks knows of none, and tokens with U+2581 may be pieces.

With the server's hash all bytes are equal. Cost: 50 ms for 49,152 tokens, once, at start.
"""

import hashlib
import struct
from collections.abc import Collection, Mapping
from typing import Any

from maskd._errors import MaskdError


def vocabulary_hash(tokens: list[bytes], special_ids: Collection[int], added_ids: Collection[int],
                    stop_ids: list[int]) -> str:
    """As grammar_core/tokenizer/vocabulary.cc has it."""
    form = [b"maskd vocabulary", struct.pack("<II", 1, len(tokens))]
    for i, token in enumerate(tokens):
        kind = 1 if i in special_ids else 2 if i in added_ids else 0
        form.append(struct.pack("<BI", kind, len(token)) + token)
    form.append(struct.pack(f"<I{len(stop_ids)}I", len(stop_ids), *stop_ids))
    return hashlib.sha256(b"".join(form)).hexdigest()


def check_vocabulary(tokenizer: Any, served: Mapping[str, Any]) -> None:
    """Errors: FAILED_PRECONDITION when the engine's tokenizer is another one than `served`, a
    Tokenizer of
    protos/maskd/v1; UNIMPLEMENTED when it cannot be read."""
    size = int(served["vocab_size"])
    try:
        vocabulary: dict[str, int] = tokenizer.get_vocab()
        added = {int(i): str(token) for i, token in tokenizer.added_tokens_decoder.items()}
    except (AttributeError, NotImplementedError) as error:
        raise MaskdError("UNIMPLEMENTED", f"the tokens of a {type(tokenizer).__name__} cannot be "
                         "read; MASKD_TOKENIZER_HASH says which vocabulary it is") from error
    above = [token for token, i in vocabulary.items() if i >= size]
    if above:
        raise _differs(served, f"{len(above)} tokens have ids from {size} on")
    special = set(served["special_ids"])
    some = {i for i, text in added.items() if "\u2581" not in text}
    for bytes_of in (_byte_level, _sentencepiece):
        tokens = [b""] * size
        for text, i in vocabulary.items():
            tokens[i] = bytes_of(text)
        for i, text in added.items():
            tokens[i] = text.encode()
        for added_ids in (set(added), some, set[int]()):
            if vocabulary_hash(tokens, special, added_ids, served["stop_ids"]) == served["hash"]:
                return
    raise _differs(served, "its tokens have other bytes")


def _differs(served: Mapping[str, Any], why: str) -> MaskdError:
    return MaskdError("FAILED_PRECONDITION", f'the engine\'s vocabulary is not the server\'s '
                      f'"{served["name"]}" (hash {served["hash"][:16]}...): {why}')


def _byte_table() -> Mapping[str, int]:
    """GPT-2's: printable bytes are themselves, the others are the characters from U+0100 on."""
    kept = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [byte for byte in range(256) if byte not in set(kept)]
    return {**{chr(byte): byte for byte in kept}, **{chr(256 + i): byte for i, byte in enumerate(moved)}}


_BYTES = _byte_table()


def _byte_level(text: str) -> bytes:
    try:
        return bytes(map(_BYTES.__getitem__, text))
    except KeyError:
        return text.encode()


def _sentencepiece(text: str) -> bytes:
    if len(text) == 6 and text.startswith("<0x") and text.endswith(">"):
        try:
            return bytes([int(text[3:5], 16)])
        except ValueError:
            pass
    return text.replace("\u2581", " ").encode(errors="surrogatepass")
