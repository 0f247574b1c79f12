"""tools/dev/check_marks.py: what it counts, and that a share which is too small fails."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/dev/check_marks.py"

HEADER = """\
// The file.
#include "a.h"

namespace maskd {

// Documented.
class A {
 public:
  A();
  // Two of a block.
  int one() const { return one_; }
  int two() const;

  int three() const;
  A(const A&) = delete;
  using Id = int;

 private:
  int hidden() const;
  struct Hidden {
    int member();
  };
  int one_;
};

struct B {
  int value = 0;
  bool operator==(const B&) const = default;
};

enum class C { kOne };

int Free(int x);
// Documented; of a "{" in a text.
inline const char* Text() { return "{ class X {"; }

}  // namespace maskd
"""


@pytest.fixture(name="marks")
def load_marks():
    spec = importlib.util.spec_from_file_location("check_marks", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_public_declarations_are_counted(marks):
    lines = HEADER.splitlines()
    begins = [lines[line].strip() for line in marks.declared_lines(HEADER)]
    assert begins == [
        "class A {", "A();", "int one() const { return one_; }", "int two() const;",
        "int three() const;", "struct B {", "enum class C { kOne };", "int Free(int x);",
        'inline const char* Text() { return "{ class X {"; }']


def test_a_comment_is_one_for_its_block(marks):
    lines = HEADER.splitlines()
    documented = [lines[line].strip() for line in marks.declared_lines(HEADER)
                  if marks.has_comment(lines, line)]
    assert documented == ["class A {", "int one() const { return one_; }", "int two() const;",
                          'inline const char* Text() { return "{ class X {"; }']


def test_comments_are_lines_of_their_own_and_tables_are_left_out(marks, tmp_path):
    (tmp_path / "a.cc").write_text("// One.\n\nint a;  // not a line\nint b;\n", encoding="utf-8")
    (tmp_path / "big_tables.cc").write_text("int c;\n" * 100, encoding="utf-8")
    assert marks.comments(tmp_path) == (1, 3)


def test_invariants_are_no_static_ones_and_none_of_a_comment(marks, tmp_path):
    room = tmp_path / "grammar_core/terms"
    room.mkdir(parents=True)
    (room / "a.cc").write_text(
        "static_assert(true);\nassert(x);\n// assert(y)\nMASKD_DCHECK_TERM(s, t, c);\n", "utf-8")
    assert marks.invariants(tmp_path) == (2, 4)


def check(tree) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, SCRIPT, tree], capture_output=True, text=True,
                          check=False)


def test_a_share_that_falls_fails(tmp_path):
    room = tmp_path / "grammar_core/terms"
    room.mkdir(parents=True)
    assert check(tmp_path).returncode == 0
    (room / "a.cc").write_text("// One.\nassert(x);\n" + "int a;\n" * 19, encoding="utf-8")
    done = check(tmp_path)
    assert done.returncode == 1
    assert done.stdout == ("grammar_core/terms: lines of comment in .cc files: 1 of 21, "
                           "3 at least\n")


def test_the_rooms_of_the_service_are_counted_together(tmp_path):
    for room, comments in ("streams", 1), ("wire", 3):
        (tmp_path / "service" / room).mkdir(parents=True)
        (tmp_path / "service" / room / "a.cc").write_text(
            "// One.\n" * comments + "int a;\n" * 18, encoding="utf-8")
    assert check(tmp_path).returncode == 0
    (tmp_path / "service/wire/a.h").write_text("int Undocumented();\n", encoding="utf-8")
    (tmp_path / "service/wire/a.cc").write_text("int a;\n" * 18, encoding="utf-8")
    assert check(tmp_path).stdout.splitlines() == [
        "service: lines of comment in .cc files: 1 of 37, 4 at least",
        "service: documented declarations: 0 of 1, 1 at least"]


def test_the_tree_keeps_its_marks():
    assert check(ROOT).stdout == ""
