"""tools/dev/check_ir_fields.py finds each way to read a field of an IR node, and nothing else."""

import pathlib
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
    "int F(const IrNode& n) { return n.a; }",
    "int F(const IrNode* node) { return node->b; }",
    "void F(IrNode copy) { copy.a = 0; }",
    "int F(GrammarIr& ir) { return ir.nodes[ir.rules[0].body].a; }",
    "int F(const IrBuilder& b) { return b.node(Of(1)).b; }",
    "int F(Names names, const IrNode& n) { return names[n.a]; }",
])
def test_a_read_is_found_with_its_line(tmp_path, text):
    done = check(tmp_path, "grammar_core/frontend/f.cc", f"// IR.\n{text}\n")
    assert done.returncode == 1
    assert f"grammar_core/frontend/f.cc:2: {text}\n" in done.stdout


@pytest.mark.parametrize("text", [
    "int F(const Expression& e) { return e.a; }",
    "int F(const IrNode& n, const Pair& pair) { return pair.a + n.first_child; }",
    "int F(const IrNode& n) { return other.n.a; }",
    "int F(const IrNode& n) { return AsRepeat(n).min; }  // not n.a",
])
def test_what_is_no_read_is_none(tmp_path, text):
    done = check(tmp_path, "grammar_core/frontend/f.cc", f"{text}\n")
    assert done.returncode == 0, done.stdout


def test_the_room_itself_reads_them(tmp_path):
    check(tmp_path, "grammar_core/terms/f.cc", "\n")
    done = check(tmp_path, "grammar_core/ir/f.cc", "int F(const IrNode& n) { return n.a; }\n")
    assert done.returncode == 0, done.stdout


def test_this_repository_reads_them_by_name():
    done = subprocess.run([sys.executable, ROOT / "tools/dev/check_ir_fields.py", ROOT],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
