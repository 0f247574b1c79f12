"""tools/dev/check_documented.py: what it counts in each language, and that a folder which falls fails."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/dev/check_documented.py"

HEADER = """\
// The file.
namespace maskd {

// Documented.
class A {
 public:
  // A block.
  int one();
  int two();

  int three();

 private:
  int hidden();
};

/* Of C,
 * in lines. */
int four(int x);

int five(int x);

}  // namespace maskd
"""

PYTHON = '''\
"""A module."""


class A:
    """Documented."""

    def one(self):
        """Documented."""
        def within():
            pass

    def two(self):
        pass

    def _hidden(self):
        pass


async def three():
    pass
'''

GO = """\
package maskd

// Documented.
type A struct{}

func (a *A) One() {}

// Documented.
func Two() {}

func hidden() {}
"""

PROTO = """\
syntax = "proto3";

package maskd;

// Documented.
message A {
  reserved 3;
  // A block.
  string one = 1;
  repeated string two = 2;

  optional int32 three = 4;
  map<string, int32> four = 5;  // behind it
}

enum B {
  B_UNSPECIFIED = 0;
}
"""


@pytest.fixture(name="documented")
def load_module():
    sys.path.insert(0, str(SCRIPT.parent))
    spec = importlib.util.spec_from_file_location("check_documented", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "text", "expected"), [
    ("a/a.h", HEADER, {"class A {": True, "int one();": True, "int two();": True,
                       "int three();": False, "int four(int x);": True, "int five(int x);": False}),
    ("a/a.py", PYTHON, {"class A:": True, "def one(self):": True, "def two(self):": False,
                        "async def three():": False}),
    ("a/a.go", GO, {"type A struct{}": True, "func (a *A) One() {}": False, "func Two() {}": True}),
    ("a/a.proto", PROTO, {
        "message A {": True, "string one = 1;": True, "repeated string two = 2;": True,
        "optional int32 three = 4;": False, "map<string, int32> four = 5;  // behind it": True,
        "enum B {": False, "B_UNSPECIFIED = 0;": False}),
])
def test_declarations_of_each_language_are_counted(documented, tmp_path, name, text, expected):
    (tmp_path / "a").mkdir()
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = {each.split(": ", 1)[1]: is_documented
             for each, is_documented in documented.declarations(tmp_path)["a"]}
    assert found == expected


@pytest.mark.parametrize("name", [
    "tests/a.h", "a/tests/a.py", "bench/a.h", "third_party/a.h", "a/x.pb.go", "a/a_pb2.py",
    "a/test_a.py", "a/a_test.go", "a/big_tables.h", "examples/a.py", "a/a.cc", "setup.py"])
def test_what_is_left_out(documented, tmp_path, name):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("int a(int b);\n", encoding="utf-8")
    assert documented.declarations(tmp_path) == {}


def check(tree: pathlib.Path, *flags: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, SCRIPT, *flags, tree], capture_output=True, text=True,
                          check=False)


def write(tree: pathlib.Path, folder: str, documented: int, bare: int) -> None:
    (tree / folder).mkdir()
    text = "// Documented.\nint a(int b);\n\n" * documented + "int a(int b);\n\n" * bare
    (tree / folder / "a.h").write_text(text, encoding="utf-8")


def test_a_folder_that_falls_fails_though_the_tree_does_not(tmp_path):
    write(tmp_path, "large", 1000, 0)
    write(tmp_path, "right", 9, 1)
    assert check(tmp_path).returncode == 0
    write(tmp_path, "small", 8, 1)
    done = check(tmp_path)
    assert done.returncode == 1
    assert done.stdout == "small: 8 of 9 declarations documented, 88.9 %, 90% at least\n"


def test_those_without_a_comment_are_listed(tmp_path):
    write(tmp_path, "a", 1, 1)
    assert check(tmp_path, "--list", "a").stdout == "a/a.h:4: int a(int b);\n"


def test_an_empty_tree_fails(tmp_path):
    assert check(tmp_path).returncode == 1


def test_the_tree_keeps_its_share():
    assert check(ROOT).stdout == ""
