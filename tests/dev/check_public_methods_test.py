"""tools/dev/check_public_methods.py: what it counts, and that a class with too many fails."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/dev/check_public_methods.py"
HEADER = "grammar_core/automaton/automaton.h"

CLASS = """\
class Other { public: void Far(); };
class Automaton : public Base {
  void Hidden();

 public:
  // A "{" of a comment.
  explicit Automaton(int size);
  ~Automaton();
  Automaton(const Automaton&) = delete;
  Automaton& operator=(const Automaton&) = delete;
  using Id = int;
  struct Inner { int member(); };
  [[nodiscard]] int one() const { return Of(one_); }
  std::vector<std::function<void(int)>> two() const;
  void Three(int x) ABSL_LOCKS_EXCLUDED(mutex_);
  void Three(double x) {
    if (x > 0) { Go(); }
  }
  std::function<void(int)> called;
  static constexpr int kMost = 3;

 protected:
  void Kept();

 private:
  friend class View;
  int one_ = 0;
};
"""


@pytest.fixture(name="methods")
def load_methods():
    sys.path.insert(0, str(SCRIPT.parent))
    spec = importlib.util.spec_from_file_location("check_public_methods", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.public_methods


def check(tree: pathlib.Path, *flags: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, SCRIPT, *flags, tree], capture_output=True, text=True,
                          check=False)


def write(tree: pathlib.Path, text: str) -> None:
    path = tree / HEADER
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_methods_are_counted_each_overload_by_itself(methods):
    assert methods(CLASS, "Automaton") == [
        "[[nodiscard]] int one() const", "std::vector<std::function<void(int)>> two() const",
        "void Three(int x) ABSL_LOCKS_EXCLUDED(mutex_)", "void Three(double x)"]


def test_members_of_a_struct_are_public(methods):
    assert methods("struct A { int a(); private: int b(); };", "A") == ["int a()"]


def test_a_class_that_is_only_named_is_none(methods):
    assert methods("class A;\nvoid F(class A& a) {}\n", "A") is None


@pytest.mark.parametrize(("count", "status"), [(15, 0), (16, 1)])
def test_one_too_many_fails(tmp_path, count, status):
    lines = "".join(f"  int m{i}() const;\n" for i in range(count))
    write(tmp_path, f"class Automaton {{\n public:\n{lines}}};\n")
    done = check(tmp_path)
    assert done.returncode == status
    assert done.stdout == (f"{HEADER}: Automaton has 16 public methods, 15 at most\n" if status else "")


def test_a_class_that_is_not_there_fails(tmp_path):
    assert check(tmp_path).returncode == 1
    write(tmp_path, "class Automata {};\n")
    done = check(tmp_path)
    assert done.returncode == 1
    assert done.stdout == f"{HEADER}: defines no class Automaton\n"


def test_the_tree_keeps_to_it():
    assert check(ROOT).stdout == ""
