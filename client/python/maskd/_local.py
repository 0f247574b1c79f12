"""The address of an engine inside this process."""

import atexit
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import tempfile
from collections.abc import Sequence
from typing import Any

from maskd._errors import MaskdError

_folders: dict[int, str] = {}  # by process: a child keeps off its parent's


def local(*vocabularies: Any, stop: Sequence[str] = ()) -> str:
    """An address for Client: the engine itself, in this process, without a server.

        client = maskd.Client(maskd.local(tokenizer))      # of transformers, or of tokenizers

    Each of `vocabularies`, the default first, is a tokenizer object of transformers or of tokenizers, the
    path of a vocabulary's file or of a model's folder, or a value of the server's flag --tokenizer
    ("NAME=PATH,format=gguf"). None: bytes. `stop`: spellings of the tokens that end a text, for all of them;
    else a tokenizer object's eos_token, and of files what docs/tokenizers.md says.
    """
    return "local:" + ";".join(_flag(each, stop) for each in vocabularies)


def _flag(vocabulary: Any, stop: Sequence[str]) -> str:
    if isinstance(vocabulary, (str, os.PathLike)):
        path = os.fspath(vocabulary)
        if "=" not in path:
            path = os.path.abspath(path)  # a bare name is a file here, not a name alone
        return ",".join([path, *("stop=" + each for each in stop)])
    text, name = _text_of(vocabulary), _name_of(vocabulary)
    ends = list(stop) or [each for each in [getattr(vocabulary, "eos_token", None)] if each]
    return ",".join([f"{name}={_kept(text)}", *("stop=" + str(each) for each in ends)])


def _text_of(tokenizer: Any) -> str:
    """The tokenizer as its tokenizer.json has it."""
    fast = getattr(tokenizer, "backend_tokenizer", None) or tokenizer
    to_text = getattr(fast, "to_str", None)
    if to_text is None:
        raise MaskdError("INVALID_ARGUMENT",
                         f"vocabularies: {type(tokenizer).__name__} has no tokenizer.json to give; name the "
                         "vocabulary's file, such as a SentencePiece model, by its path")
    text = to_text()
    json.loads(text)
    return str(text)


def _name_of(tokenizer: Any) -> str:
    named = pathlib.PurePath(str(getattr(tokenizer, "name_or_path", "") or "")).name
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in named) or "tokenizer"


def _kept(text: str) -> str:
    """A file of that text, of the same name for the same text, until the process ends."""
    folder = _folders.get(os.getpid())
    if folder is None:
        folder = _folders[os.getpid()] = tempfile.mkdtemp(prefix="maskd-local-")
        atexit.register(_forget, os.getpid(), folder)
    path = pathlib.Path(folder, hashlib.sha256(text.encode()).hexdigest()[:16], "tokenizer.json")
    with contextlib.suppress(FileExistsError):
        path.parent.mkdir()
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    return str(path)


def _forget(process: int, folder: str) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
