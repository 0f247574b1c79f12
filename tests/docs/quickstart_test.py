"""scripts/quickstart at a terminal, in a copy of the last commit: ends in a playground that answers, and stops by Ctrl-C.

What this clone has fetched (build/venv, build/vocab) is the copy's too. The build is the copy's own, as nothing
else builds the preset `quick`.
"""

import os
import pathlib
import pty
import re
import subprocess
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
CTRL_C = b"\x03"


def copy_of_the_last_commit(folder: pathlib.Path) -> None:
    archive = subprocess.run(["git", "-C", ROOT, "archive", "HEAD"], capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
    (folder / "build").mkdir()
    for fetched in ("venv", "vocab"):
        if (ROOT / "build" / fetched).exists():
            (folder / "build" / fetched).symlink_to(ROOT / "build" / fetched)


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the last program of the terminal has ended
        return b""


def test_quickstart_ends_in_a_page_that_answers_until_it_is_interrupted(tmp_path):
    copy_of_the_last_commit(tmp_path)
    process, terminal = pty.fork()
    if process == 0:
        os.execv(tmp_path / "scripts/quickstart", ["quickstart"])
    said, page = b"", None
    while part := read(terminal):
        said += part
        address = re.search(rb"token by token: (http://\S+/)", said)
        if address and page is None:
            with urllib.request.urlopen(address.group(1).decode()) as answer:
                page = answer.read()
            os.write(terminal, CTRL_C)
    _, status = os.waitpid(process, 0)
    text = said.decode(errors="replace")
    assert os.waitstatus_to_exitcode(status) == 0, text[-5000:]
    assert page is not None and b"<title>maskd playground</title>" in page
    assert "exited with status 0" in text
    assert "NOT VALIDATED" not in text
