"""The payload of an IR node: private to its room, by the compiler and by tools/dev/check_ir_fields.py."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(folder: pathlib.Path, path: str, text: str) -> subprocess.CompletedProcess:
    """Runs the check over one file."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return subprocess.run([sys.executable, ROOT / "tools/dev/check_ir_fields.py", folder],
                          capture_output=True, text=True, check=False)


@pytest.mark.parametrize("text", [
    "int F(const IrNode& n) { return IrPayload::First(n); }",
    "IrNode F() { return maskd::IrPayload::Node(IrKind::kCall, 1); }",
    "using P = IrPayload;",
])
def test_a_use_is_found_with_its_line(tmp_path, text):
    done = check(tmp_path, "grammar_core/frontend/f.cc", f"// IR.\n{text}\n")
    assert done.returncode == 1
    assert f"grammar_core/frontend/f.cc:2: {text}\n" in done.stdout


@pytest.mark.parametrize("text", [
    "int F(const IrNode& n) { return AsRepeat(n).min; }  // not IrPayload::First(n)",
    "class MyIrPayload {};",
])
def test_what_is_no_use_is_none(tmp_path, text):
    done = check(tmp_path, "grammar_core/frontend/f.cc", f"{text}\n")
    assert done.returncode == 0, done.stdout


def test_the_room_itself_uses_it(tmp_path):
    check(tmp_path, "grammar_core/terms/f.cc", "\n")
    done = check(tmp_path, "grammar_core/ir/f.cc",
                 "int F(const IrNode& n) { return IrPayload::First(n); }\n")
    assert done.returncode == 0, done.stdout


def test_no_other_class_is_a_friend_of_the_fields():
    header = (ROOT / "grammar_core/ir/grammar_ir.h").read_text(encoding="utf-8")
    node = re.search(r"^struct IrNode \{\n(.*?)^\};", header, re.DOTALL | re.MULTILINE)[1]
    public, private = node.split(" private:\n")
    assert re.findall(r"friend .*", node) == ["friend class IrPayload;"]
    assert re.findall(r"\b[ab]_? = 0;", public) == []
    assert re.findall(r"\b[ab]_? = 0;", private) == ["a_ = 0;", "b_ = 0;"]


def test_this_repository_reads_them_by_name():
    done = subprocess.run([sys.executable, ROOT / "tools/dev/check_ir_fields.py", ROOT],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
