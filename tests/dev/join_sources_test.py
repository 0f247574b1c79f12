"""How sources are put together (cmake/join_sources.py): by twelve, and all rooms in a few large files."""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = "#ifndef A_H_\n#define A_H_\nint Shared(int value);\nint First();\nint Second();\n#endif\n"
FIRST = '#include "a.h"\n\nnamespace {\n\nint Helper() { return 1; }\n\n}  // namespace\n\nint First() { return Helper(); }\n'
SECOND = FIRST.replace("return 1", "return 2").replace("First", "Second")
# Its private name stands behind a dot too, so that a #define would change what is not its own.
BEHIND_A_DOT = SECOND.replace("return Helper();", "struct { int Helper; } s{2}; return s.Helper + Helper();")
# A header's own name, taken in an unnamed namespace.
OF_A_HEADER = SECOND.replace("Helper", "Shared")


def joined(folder: pathlib.Path, *options: str, **sources: str) -> list:
    """The text of each file that is to be compiled."""
    (folder / "a.h").write_text(HEADER, encoding="utf-8")
    paths = []
    for name, text in sources.items():
        paths.append(folder / f"{name}.cc")
        paths[-1].write_text(text, encoding="utf-8")
    said = subprocess.run([sys.executable, ROOT / "cmake/join_sources.py", *options, folder, folder / "into", "all", *paths],
                          capture_output=True, text=True, check=True).stdout
    return [pathlib.Path(path).read_text(encoding="utf-8") for path in said.split(";")]


def test_a_private_name_that_both_have_keeps_them_apart(tmp_path):
    assert len(joined(tmp_path, one=FIRST, two=SECOND)) == 2


def test_what_meets_nobody_is_one_file(tmp_path):
    (text,) = joined(tmp_path, one=FIRST, two=SECOND.replace("Helper", "Other"))
    assert text == '#include "one.cc"\n#include "two.cc"\n'


def test_large_files_give_a_private_name_another_one(tmp_path):
    (text,) = joined(tmp_path, "--large", one=FIRST, two=SECOND)
    assert text.startswith('#include "a.h"\n')
    assert '#define Helper Helper_of_two_cc\n#include "two.cc"\n#undef Helper\n' in text


def test_a_name_that_stands_behind_a_dot_is_kept(tmp_path):
    texts = joined(tmp_path, "--large", one=FIRST, two=BEHIND_A_DOT)
    assert not any("Helper_of_two_cc" in text for text in texts)


def test_a_name_that_a_header_has_is_kept(tmp_path):
    texts = joined(tmp_path, "--large", one=FIRST, two=OF_A_HEADER)
    assert not any("#define Shared" in text for text in texts)


def test_a_type_of_one_header_and_a_function_of_another_keep_sources_apart(tmp_path):
    for name, line in (("type", "struct Merge { int made; };"), ("call", "int Merge(int value);")):
        (tmp_path / f"{name}.h").write_text(f"#pragma once\n{line}\n", encoding="utf-8")
    uses_type = '#include "type.h"\n\nint Made(Merge& merge) { return merge.made; }\n'
    uses_call = '#include "call.h"\n\nint Merge(int value) { return value; }\n'
    assert len(joined(tmp_path, "--large", one=uses_type, two=uses_call)) == 2


def test_what_is_joined_compiles_and_each_calls_its_own(tmp_path):
    compiler = shutil.which("c++")
    assert compiler is not None
    (text,) = joined(tmp_path, "--large", one=FIRST, two=SECOND)
    (tmp_path / "main.cc").write_text(text + "int main() { return First() == 1 && Second() == 2 ? 0 : 1; }\n", encoding="utf-8")
    subprocess.run([compiler, "-I", tmp_path, tmp_path / "main.cc", "-o", tmp_path / "program"], check=True)
    subprocess.run([tmp_path / "program"], check=True)
