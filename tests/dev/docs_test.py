"""What the documents name exists, and what operators must know is named."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def documents() -> list:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--", "*.md"], capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.splitlines() if (ROOT / path).is_file()]


def test_every_flag_of_maskd_is_in_the_operations_page_and_no_other():
    flags = set(re.findall(r'\bFlag\{"([a-z_]+)"', read("service/config/config_flags.cc")))
    named = set(re.findall(r"`--([a-z_]+)`", read("docs/operations.md")))
    assert flags
    assert named == flags


def reasons_in_the_code() -> set:
    """What ErrorAt() and the functions that call it name as a reason."""
    found = set()
    for room in ("grammar_core", "cache", "memory", "service", "client/cpp"):
        for path in (ROOT / room).rglob("*.cc"):
            text = path.read_text(encoding="utf-8")
            for call in re.findall(r"\b(?:ErrorAt|OverloadedError|Unauthenticated|set_reason)\((.*?)\);", text, re.DOTALL):
                found |= set(re.findall(r'"([A-Z][A-Z_]+[A-Z])"', call))
            for block in re.findall(r"const char\* reason = (.*?);", text, re.DOTALL):
                found |= set(re.findall(r'"([A-Z][A-Z_]+[A-Z])"', block))
            found |= {kind.upper() + "_NOT_FOUND" for kind in re.findall(r'\bNotFound\("([a-z]+)"', text)}
    return found


def test_every_reason_of_an_error_is_in_the_errors_page_and_no_other():
    reasons = reasons_in_the_code()
    named = re.findall(r"^\| `([A-Z_]+)` \|", read("docs/errors.md"), re.MULTILINE)
    assert len(reasons) > 30
    assert len(named) == len(set(named))
    assert set(named) == reasons


def test_every_metric_is_in_the_operations_page_and_no_other():
    metrics = set(re.findall(r'"(maskd_[a-z_]+)"', read("metrics/names.h")))
    named = set(re.findall(r"`(maskd_[a-z_]+)`", read("docs/operations.md")))
    assert metrics
    assert named == metrics


@pytest.mark.parametrize("document", documents())
def test_every_link_to_a_file_leads_to_one(document):
    folder = (ROOT / document).parent
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", read(document)):
        if not re.match(r"[a-z]+:", target):
            assert (folder / target).exists(), target


# Those that say where things are.
MAPS = ["docs/architecture.md", "grammar_core/README.md", "grammar_core/frontend/json_schema/README.md",
        "service/README.md", "client/cpp/README.md"]


@pytest.mark.parametrize("page", MAPS)
def test_every_file_and_folder_that_a_map_names_is_there(page):
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=True)
    files = {pathlib.PurePosixPath("/" + path) for path in listed.stdout.splitlines()}
    # A module is named without the ending of its files, and any path may lack its first folders.
    there = files | {path.with_suffix("") for path in files} | {folder for path in files for folder in path.parents}
    ends = {tuple(path.parts[first:]) for path in there for first in range(1, len(path.parts))}
    # With a folder before it, or the ending of a file; KIND and the like stand for any.
    named = re.findall(r"`((?:[a-z0-9_.-]+/)+[a-z0-9_.-]*|[a-z0-9_.-]+\.(?:h|cc|py|md|proto|json))`", read(page))
    assert len(named) > 5
    assert [name for name in named if pathlib.PurePosixPath(name).parts not in ends] == []


def test_the_walk_of_a_schema_names_as_many_files_as_it_says():
    walk = read("docs/architecture.md").split("**A JSON Schema, from its text")[1].split("\n\n**A token")[0]
    count = int(re.search(r"(\d+) files, and one of `rules` for each type", walk)[1])
    named = {name.split("/")[-1] for row in re.findall(r"^\| `.*\| (.*) \|$", walk, re.MULTILINE)
             for name in re.findall(r"`([a-z0-9_/]+)`", row)}
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "*.cc"], capture_output=True, text=True, check=True)
    modules = {pathlib.PurePosixPath(path).stem for path in listed.stdout.splitlines()}
    assert named - modules == set()
    assert len(named - {"number_rules"}) == count, "number_rules stands for the other types"


def anchors(page: str) -> set:
    """Those that GitHub gives to the page's headings; a name that comes again has a number."""
    text = re.sub(r"^ *(```|~~~).*?^ *\1 *$", "", page, flags=re.MULTILINE | re.DOTALL)
    found = set(re.findall(r'<a (?:name|id)="([^"]+)"', text))
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", text, re.MULTILINE):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        count = sum(re.fullmatch(re.escape(name) + r"(-\d+)?", one) is not None for one in found)
        found.add(f"{name}-{count}" if name in found else name)
    return found


def test_anchors_are_those_of_github():
    page = "# A `flag`: its *use*\n## Two\n## Two\n```sh\n# no heading\n```\n## [Linked](a.md) end\n"
    assert anchors(page) == {"a-flag-its-use", "two", "two-1", "linked-end"}


@pytest.mark.parametrize("document", documents())
def test_every_anchor_of_a_link_is_a_heading(document):
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", read(document)):
        if re.match(r"[a-z]+:", target):
            continue
        page = (ROOT / document).parent / target if target else ROOT / document
        if page.suffix == ".md":
            assert anchor in anchors(page.read_text(encoding="utf-8")), f"{target}#{anchor}"


def files() -> set:
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=True)
    return set(listed.stdout.splitlines())


def is_named(name: str, document: str, there: set) -> bool:
    """Whether a file of that name is there: from the root, from the page's folder, or as the end of a path."""
    beside = os.path.normpath(os.path.join(os.path.dirname(document), name))
    rooted = name.split("/")[0] in {path.split("/")[0] for path in there if "/" in path}
    return name in there or beside in there or not rooted and any(path.endswith("/" + name) for path in there)


@pytest.mark.parametrize("document", [path for path in documents() if path != "CHANGELOG.md"])
def test_every_source_file_that_a_page_names_exists(document):
    there = files()
    named = re.findall(r"`([\w./-]+\.(?:h|cc|py|proto))`", read(document))
    # What a reader or a generator makes, and headers of others.
    made = re.compile(r"NAME|\.pb\.|^(grpc|google|absl|llama_models)/")
    assert [name for name in named if not made.search(name) and not is_named(name, document, there)] == []


def test_a_file_that_is_no_more_is_found():
    there = {"service/base/log.h", "docs/a.md"}
    assert is_named("service/base/log.h", "docs/a.md", there) and is_named("log.h", "docs/a.md", there)
    assert not is_named("service/log.h", "docs/a.md", there) and not is_named("log_file.h", "docs/a.md", there)


def test_every_folder_of_tests_is_in_their_map_and_no_other():
    folders = {path.parent.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/*")
               if not path.parent.name.startswith((".", "__"))}
    folder_tables = read("tests/README.md").split("## The engine")[1]
    rows = re.findall(r"^\| (`[^|]*`) \|", folder_tables, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert sorted(named) == sorted(folders)


def test_every_program_in_the_map_of_tests_is_one():
    made = {name for path in (ROOT / "tests").rglob("CMakeLists.txt")
            for name in re.findall(r"maskd_(?:test|program)\((\w+)", path.read_text(encoding="utf-8"))}
    named = set(re.findall(r"`(\w+_test)`", read("tests/README.md")))
    assert len(named) > 30
    assert named <= made


def keyword_cells() -> tuple:
    """The README's two cells of JSON Schema keywords: supported, not yet."""
    (row,) = [line for line in read("README.md").splitlines() if line.startswith("| JSON Schema, ")]
    return tuple(set(re.findall(r"`([^`]+)`", cell)) for cell in row.split("|")[2:4])


def test_the_readme_says_which_keywords_are_supported():
    names = set(re.findall(
        r'KeywordRow\{"([^"]+)"', read("grammar_core/frontend/json_schema/reading/keywords.cc")))
    supported, not_yet = keyword_cells()
    assert names
    assert supported.isdisjoint(not_yet)
    assert supported | not_yet == names


def test_the_readme_says_which_kinds_of_grammar_there_are():
    kinds = set(re.findall(r'FrontEnd\{"([^"]+)"', read("grammar_core/frontend/registry.cc")))
    (row,) = [line for line in read("README.md").splitlines() if line.startswith("| kinds of grammar ")]
    assert kinds
    assert set(re.findall(r"`([^`]+)`", row.split("|")[2])) == kinds


def test_every_test_that_the_appliers_page_names_is_there():
    table = read("docs/appliers.md").split("engines' own backends promise", 1)[1].split("\n## ", 1)[0]
    named = set(re.findall(r"`(test_\w+|[A-Z]\w+[a-z]\w*)`", table)) - {"ApplierTest"}
    sources = [path.read_text(encoding="utf-8") for suffix in ("cc", "h", "py")
               for path in (ROOT / "tests").rglob(f"*.{suffix}")]
    text = "\n".join(sources)
    assert len(named) > 30
    assert {name for name in named if name not in text} == set()


def declared_tests() -> set:
    """Suite.Name of every test in C++."""
    return {".".join(match) for path in (ROOT / "tests").rglob("*.cc") for match in re.findall(
        r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", path.read_text(encoding="utf-8"), re.MULTILINE)}


def test_every_test_that_the_page_of_promises_names_is_there():
    named = re.findall(r"`([A-Z]\w*[a-z]\w*)(?:\.(\w+))?(?:/\w+)?`", read("docs/peer_failures.md"))
    declared = declared_tests()
    suites = {test.split(".")[0] for test in declared}
    assert len(named) > 50
    assert [f"{suite}.{name}" for suite, name in named
            if (f"{suite}.{name}" not in declared if name else suite not in suites)] == []


@pytest.mark.parametrize("statement", ["A7", "C1", "C6", "C7", "C8", "C9", "C10", "C12", "C13"])
def test_the_page_of_promises_has_the_statements_about_rows_drafts_gates_and_ends(statement):
    rows = [line for line in read("docs/peer_failures.md").splitlines() if line.startswith("| C")
            or line.startswith("| A")]
    assert any(re.search(rf"\b{statement}\b", row.split("|")[1]) for row in rows)


def test_every_test_that_the_reliability_page_names_is_there():
    named = set(re.findall(r"`([A-Z]\w+Test)(?:\.(\w+))?`", read("docs/reliability.md")))
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.cc"))
    assert len(named) > 10
    assert {name for pair in named for name in pair if name and name not in text} == set()


def test_every_page_is_in_the_index():
    index = read("docs/README.md")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert len(pages) > 15
    assert sorted(page for page in pages if f"({page})" not in index and f"({page}#" not in index) == []


def test_every_page_is_in_the_contents_of_the_site():
    named = re.findall(r": ([\w/-]+\.md)$", read("mkdocs.yml").split("\nnav:", 1)[1], re.MULTILINE)
    pages = [str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(named) == sorted(pages)


def test_every_command_of_maskctl_is_in_its_page():
    names = {re.search(r'Command k\w+Command = \{\s*"([a-z]+)"', path.read_text(encoding="utf-8")).group(1)
             for path in (ROOT / "tools/cli").glob("*_command.cc")}
    page = read("docs/maskctl.md").split("**Which server.**", maxsplit=1)[0]
    assert len(names) > 8
    assert names == set(re.findall(r"`([a-z]+)`", page)) - {"maskctl"}


def test_every_rule_of_lint_is_in_its_page():
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tools/cli").rglob("*.cc")
                      if "lint" in str(path))
    named = read("docs/maskctl.md")
    for rule in ("not-compiled", "not-supported", "excluded-name", "compiler", "dead-member", "dead-value",
                 "large", "open-string", "open-array", "open-object"):
        assert f'"{rule}"' in sources, rule
        assert f"`{rule}`" in named, rule


def test_the_version_is_the_same_everywhere():
    version = read("VERSION").strip()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    for path in ("client/python/pyproject.toml", "client/vllm/pyproject.toml", "client/sglang/pyproject.toml"):
        assert f'version = "{version}"' in read(path), path
    for path in (ROOT / "k8s").rglob("kustomization.yaml"):
        tags = re.findall(r"newTag: (\S+)", path.read_text(encoding="utf-8"))
        assert set(tags) <= {version}, path


def test_the_tutorial_names_files_and_commands_that_are_there():
    text = read("docs/tutorial.md")
    for path in re.findall(r"(?:scripts|examples|client)/[\w/.-]*\w", text):
        assert (ROOT / path).exists() or path.startswith("client/libmaskd"), path
    script = read("examples/tutorial/answer.py")
    assert ".collect(10).apply(applier, logits, {1: 0})" in script
    assert "maskd.Step().take(1, [token])" in script
