"""Every command block of the documents runs here, or in the test that the table NOT_HERE names, or has a reason there.

A block runs as a reader types it, in a folder that looks like the clone's root, whose programs are those of this
build. What differs: addresses under /run/maskd and fixed ports are the test's own; a server that a line starts
in the foreground goes on behind it until another line starts one; `cmake --build` asks only whether its targets are
built. Where a block shows output, that is compared, whole lines in order, `...` standing for any.
"""

import json
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["MASKD_BUILD"])

# What the document leaves to its reader, before a block.
GIVEN = {
    "maskctl playground --local --tokenizer=tokenizer.json": "ln -s build/vocab/deepseek/tokenizer.json tokenizer.json\n"
                                                             "maskd",
}
# Files that a block needs and that a machine may lack.
NEEDS = {
    "maskd --tokenizer \"$(scripts/fetch-vocab --print-flag llama3)\"": ["build/vocab/llama3.tiktoken"],
    "maskctl playground --local --tokenizer=tokenizer.json": ["build/vocab/deepseek/tokenizer.json"],
    "maskd --tokenizer \"deepseek=build/vocab/deepseek/tokenizer.json\"": [
        "build/vocab/deepseek/tokenizer.json", "build/vocab/llama3.tiktoken"],
}
# By document and first words: the file of the test that runs it, or why no test does.
NOT_HERE = {
    ("CONTRIBUTING.md", "scripts/test "): "each line is a gate of its own, this test is part of one",
    ("README.md", "scripts/quickstart"): "tests/docs/quickstart_test.py; the other line runs this test",
    ("docs/appliers.md", "build/release/bench/apply_bench"): "measures, for minutes",
    ("docs/appliers.md", "build/release/tests/apply/opencl_check"): "needs a GPU",
    ("docs/clients.md", "cmake --preset release"): "tests/packages/run_cpp_consumer",
    ("docs/engines.md", "pip install maskd-"): "tests/engines/vllm_run.py",
    ("docs/engines.md", "MASKD_FAMILY=qwen_3"): "tests/engines/vllm_answers.py",
    ("docs/engines.md", "python3.11 -m venv build/engines/vllm"): "installs 6.8 GB",
    ("docs/engines.md", "build/venv/bin/python tests/engines/vllm_answers.py"): "tests/engines/vllm_answers.py",
    ("docs/engines.md", "build/venv/bin/python tests/engines/vllm_tpot.py"): "measures, for minutes",
    ("docs/maskctl.md", "$ maskctl top "): "tests/tools/top_test.cc",
    ("docs/playground.md", "MASKD_PLAYGROUND_VOCABULARY="): "measures; tests/playground/playground_page_test.py runs in ctest",
    ("docs/proxy.md", "kubectl create secret"): "needs a cluster",
    ("docs/proxy.md", "apt-get install nginx-core"): "tests/front/front_test.py runs nginx and maskd of these files",
    ("docs/releases.md", "scripts/debs"): "tests/packages/run_in_clean_root",
    ("docs/tutorial.md", "scripts/install-deps build"): "tests/docs/run_tutorial",
    ("docs/tutorial.md", "scripts/fetch-vocab smollm2"): "tests/docs/run_tutorial",
    ("docs/tutorial.md", "build/release/service/maskd"): "tests/docs/run_tutorial",
    ("docs/tutorial.md", "export MASKD_LIBRARY="): "tests/docs/run_tutorial",
    ("docs/tutorial.md", "build/release/tools/maskctl playground"): "tests/docs/run_tutorial",
    ("docs/tutorial.md", "kill %1"): "tests/docs/run_tutorial",
}
DOCUMENTS = ["CONTRIBUTING.md", "README.md", *sorted(
    str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]

# Foreground servers go on behind their line: the next one, and the end of the block, stop them.
MASKD = """#!/bin/bash
stop-maskd || exit
{real} --listen=unix:{folder}/maskd.sock --metrics_listen=127.0.0.1:0 "$@" >{folder}/server.log 2>&1 &
echo $! >{folder}/server.pid
for _ in $(seq 300); do
  grep -q ' listening ' {folder}/server.log && exit
  kill -0 $! 2>/dev/null || break
  sleep 0.1
done
cat {folder}/server.log >&2
exit 1
"""
STOP = """#!/bin/bash
[[ -e {folder}/server.pid ]] || exit 0
pid=$(<{folder}/server.pid)
rm {folder}/server.pid
kill -TERM "$pid" || { echo "the server had ended:" >&2; cat {folder}/server.log >&2; exit 1; }
for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || exit 0; sleep 0.1; done
echo "the server does not stop" >&2
exit 1
"""
# A playground is served until someone ends it: here, as soon as its page answers.
MASKCTL = """#!/bin/bash
[[ $1 == playground ]] || exec {real} "$@"
{real} "$@" --listen=127.0.0.1:0 >{folder}/page.log &
served=$!
for _ in $(seq 300); do
  page=$(grep -o 'http://[^ ]*' {folder}/page.log) && break
  sleep 0.1
done
python3 -c 'import sys, urllib.request; print(len(urllib.request.urlopen(sys.argv[1]).read()) > 1000)' "$page" >{folder}/page
kill -TERM "$served"
wait "$served" || exit
grep -q True {folder}/page
"""
CMAKE = """#!/bin/bash
while [[ $# -gt 0 && $1 != --target ]]; do shift; done
for target in "${@:2}"; do
  find {build} -name "$target" -o -name "lib${target%_c}.so" | grep -q . || { echo "not built: $target" >&2; exit 1; }
done
"""


def blocks(document: str) -> list:
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(r"^```(?:sh|console|bash)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


ALL = [(document, block) for document in DOCUMENTS for block in blocks(document)]


def why_not_here(document: str, block: str):
    return next((why for (named, begin), why in NOT_HERE.items()
                 if named == document and block.startswith(begin)), None)


HERE = [(document, block) for document, block in ALL if not why_not_here(document, block)]


def commands(block: str) -> list:
    """Pairs of a command and the lines that it is said to print."""
    result = []
    shown = block.lstrip().startswith("$ ")
    for line in block.splitlines():
        if result and re.search(r"(\\|\|)$", result[-1][0].splitlines()[-1]) and not result[-1][1]:
            result[-1][0] += "\n" + line
        elif not shown and line.strip():
            result.append([line, []])
        elif line.startswith("$ "):
            result.append([line[2:], []])
        elif line.strip():
            result[-1][1].append(line)
    return result


@pytest.fixture
def clone(tmp_path):
    """A folder with the clone's own below it, but for build/, which has this build's programs."""
    for path in ROOT.iterdir():
        if path.name != "build":
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / "build/release").mkdir(parents=True)
    (tmp_path / "build/vocab").symlink_to(ROOT / "build/vocab")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text, real in (("maskd", MASKD, BUILD / "service/maskd"), ("maskctl", MASKCTL, BUILD / "tools/maskctl"),
                             ("stop-maskd", STOP, ""), ("cmake", CMAKE, "")):
        for place, value in (("{real}", real), ("{folder}", tmp_path), ("{build}", BUILD)):
            text = text.replace(place, str(value))
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    for build in ("release", "quick"):
        for name, folder in (("maskd", "service"), ("maskctl", "tools")):
            (tmp_path / "build" / build / folder).mkdir(parents=True)
            (tmp_path / "build" / build / folder / name).symlink_to(programs / name)
    yield tmp_path
    subprocess.run([programs / "stop-maskd"], check=True)


def run(clone, script: str) -> subprocess.CompletedProcess:
    script = re.sub(r"/run/maskd(?=\.sock|/)", f"{clone}/maskd", script).replace("/maskd/admin.sock", "/admin.sock").replace("127.0.0.1:8417", "127.0.0.1:0")
    environment = dict(os.environ, PATH=f"{clone}/bin:{os.environ['PATH']}", MASKD_ADDRESS=f"unix:{clone}/maskd.sock")
    return subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=clone, env=environment, text=True,
                          capture_output=True, timeout=300, check=False)


def same(said: list, expected: list) -> bool:
    """Whether the lines are those, `...` standing for any."""
    pattern = "\n".join(".*" if line.strip() == "..." else re.escape(line) for line in expected)
    return re.fullmatch(pattern, "\n".join(said), re.DOTALL) is not None


@pytest.mark.parametrize("document, block", HERE, ids=[f"{document}:{block[:40]!r}" for document, block in HERE])
def test_a_block_of_commands_does_what_it_says(clone, document, block):
    begin = next(iter(block.splitlines()))
    for start, files in NEEDS.items():
        missing = [file for file in files if block.startswith(start) and not (ROOT / file).exists()]
        if missing:
            pytest.skip(f"NOT TESTED HERE: {missing[0]} is not fetched (scripts/fetch-vocab)")
    given = next((text for start, text in GIVEN.items() if begin.startswith(start)), ":")
    steps = commands(block)
    mark = "--- end of a command ---"
    script = f"{given}\necho '{mark}'\n"
    for command, _ in steps:
        # A command that is shown with its output may say no, which is exit status 1.
        end = "|| test $? -eq 1\n" if block.startswith("$ ") else "\n"
        script += re.sub(r"\s+#[^'\"]*$", "", command) + f" 2>&1 {end}echo '{mark}'\n"
    done = run(clone, script)
    assert done.returncode == 0, done.stdout + done.stderr
    outputs = [part.strip("\n").splitlines() for part in done.stdout.split(mark)[1:]]
    for (command, expected), said in zip(steps, outputs):
        if expected:
            assert same(said, expected), command


def in_snake_case(value):
    """A reply as grpcurl prints it, with the names that maskctl has."""
    if isinstance(value, dict):
        return {re.sub("[A-Z]", lambda letter: "_" + letter[0].lower(), name): in_snake_case(one)
                for name, one in value.items()}
    return [in_snake_case(one) for one in value] if isinstance(value, list) else value


CALLS = re.findall(r"-d '([^\n]*)' \\\n +127\.0\.0\.1:7411 maskd\.v1\.CompileService/(\w+)\n(\{\n.*?^\})",
                   (ROOT / "docs/api.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("request_text, method, reply_text", CALLS, ids=[call[1] for call in CALLS])
def test_a_reply_of_the_api_page_is_what_the_server_says(tmp_path, request_text, method, reply_text):
    request, shown = json.loads(request_text), in_snake_case(json.loads(reply_text))
    source = tmp_path / "source"
    source.write_text(request["grammar"]["source"], encoding="utf-8")
    command = [BUILD / "tools/maskctl", method.lower(), "--local", "--json", f"--kind={request['grammar']['kind']}", source]
    done = subprocess.run([*command, *([f"--text={request['text']}"] if "text" in request else [])],
                          capture_output=True, text=True, check=False)
    said = json.loads(done.stdout)
    for name in ("terms", "held_bytes", "compile_us", "first_mask_us"):  # these differ from run to run
        if "costs" in shown:
            said["costs"][name] = shown["costs"][name]
    # grpcurl leaves out what has its default.
    assert {name: value for name, value in said.items() if name in shown and name != "stop"} == {
        name: value for name, value in shown.items() if name != "stop"}
    for name, value in shown.get("stop", {}).items():
        assert said["stop"][name] == value


def test_the_api_page_shows_replies():
    assert {call[1] for call in CALLS} == {"Compile", "Check"}


def test_every_block_is_run_or_has_its_reason():
    assert len(ALL) > 20 and len(HERE) >= 5
    for (document, begin), why in NOT_HERE.items():
        assert any(block.startswith(begin) for block in blocks(document)), (document, begin)
        for path in re.findall(r"tests/[\w/.]+", why):
            assert (ROOT / path).is_file(), path
