"""tools/dev/check_type_names.py finds two types of one name, and takes nothing else for that."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(folder: pathlib.Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, ROOT / "tools/dev/check_type_names.py", folder],
        capture_output=True, text=True, check=False)


def findings_in(folder: pathlib.Path, **bodies: str) -> list[str]:
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    for name, body in bodies.items():
        (folder / f"{name}.h").write_text(body, encoding="utf-8")
    return check(folder).stdout.splitlines()[:-1]


def test_this_tree_has_none():
    done = check(ROOT)
    assert done.returncode == 0, done.stdout


def test_two_types_of_one_name_are_found(tmp_path):
    one = "namespace maskd {\nenum class Draft : int { kNew };\n}  // namespace maskd\n"
    other = "namespace maskd {\nstruct Draft {\n};\n}  // namespace maskd\n"
    assert findings_in(tmp_path, one=one, other=other) == ["maskd::Draft: one.h, other.h"]


def test_names_of_other_namespaces_and_declarations_are_none(tmp_path):
    unnamed = "namespace maskd {\nnamespace {\nclass A {\n};\n}  // namespace\n}  // namespace maskd\n"
    bodies = {
        "one": "namespace maskd {\nclass A {\n};\n}  // namespace maskd\n",
        "two": "namespace maskd::wire {\nclass A {\n};\n}  // namespace maskd::wire\n",
        "three": "namespace maskd {\nclass A;\n}  // namespace maskd\n",
        "four": unnamed,
    }
    assert findings_in(tmp_path, **bodies) == []
