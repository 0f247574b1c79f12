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
import socket
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["MASKD_BUILD"])

# What the document leaves to its reader, before a block.
GIVEN = {
    "maskctl playground --local --tokenizer=tokenizer.json": "ln -s build/vocab/deepseek/tokenizer.json tokenizer.json\n"
                                                             "maskd",
}
def written(document: str, name: str) -> str:
    """A command that writes the first JSON of a document into a file."""
    text = re.search(r"^```json\n(.*?)^```", (ROOT / document).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[1]
    return f"cat >{name} <<'END'\n{text}END"


LIBRARY = "$ export PYTHONPATH=client/python MASKD_LIBRARY=build/release/client/libmaskd.so.1\n"
GIVEN |= {
    "maskctl check --local --kind=chat": written("docs/chat.md", "request.json"),
    "$ maskctl check --local --kind=chat": written("docs/chat.md", "request.json"),
    "maskctl check --local --kind=structural_tag": written("docs/structural-tags.md", "calls.json"),
    "cmake --build build/release --target plain_loop_cpp": "maskd",
    "cmake --build build/release --target maskd_c\ncc": "maskd",
    "PYTHONPATH=client/python MASKD_LIBRARY=": "maskd",
    LIBRARY + "$ python3 examples/failover": "maskd --listen=unix:/tmp/a.sock --metrics_listen=\n"
                                             "maskd --listen=unix:/tmp/b.sock --metrics_listen=\ntouch killed",
    LIBRARY + "$ python3 -c 'import maskd; print": "maskd --metrics_listen=",
}
# Files that a block needs and that a machine may lack.
NEEDS = {
    "maskd --tokenizer \"$(scripts/fetch-vocab --print-flag llama3)\"": ["build/vocab/llama3.tiktoken"],
    "maskctl playground --local --tokenizer=tokenizer.json": ["build/vocab/deepseek/tokenizer.json"],
    "$ maskctl tokens --local --tokenizer=deepseek=": ["build/vocab/deepseek/tokenizer.json"],
    "maskd --tokenizer=deepseek=": ["build/vocab/deepseek/tokenizer.json"],
    "maskd --tokenizer \"deepseek=build/vocab/deepseek/tokenizer.json\"": [
        "build/vocab/deepseek/tokenizer.json", "build/vocab/llama3.tiktoken"],
}
# By document and first words: the file of the test that runs it, or why no test does.
NOT_HERE = {
    ("CONTRIBUTING.md", "scripts/test "): "each line is a gate of its own, this test is part of one",
    ("README.md", "scripts/quickstart"): "tests/docs/quickstart_test.py; the other line runs this test",
    ("docs/appliers.md", "build/release/bench/apply_bench"): "measures, for minutes",
    ("docs/appliers.md", "build/release/tests/apply/opencl_check"): "needs a GPU",
    ("docs/appliers.md", "tests/python/on_gpu"): "needs a GPU",
    ("docs/attacks.md", "maskctl attack"): "takes minutes; tests/attacks/attack_set_test.py",
    ("docs/chat.md", "$ maskctl family import"): "tests/peers/response_templates_test.py",
    ("docs/clients.md", "cmake --preset release"): "tests/packages/run_cpp_consumer",
    ("docs/engines.md", "pip install maskd-"): "tests/engines/vllm_run.py",
    ("docs/engines.md", "MASKD_FAMILY=qwen_3"): "tests/engines/vllm_run.py --family",
    ("docs/engines.md", "python3.11 -m venv build/engines/vllm"): "installs 7 GB",
    ("docs/engines.md", "scripts/engine-sources vllm==0.33.0"): "needs what the block before it installs",
    ("docs/engines.md", "build/venv/bin/python tests/engines/vllm_features.py"): "tests/engines/vllm_features.py",
    ("docs/engines.md", "build/venv/bin/python tests/engines/vllm_answers.py"): "tests/engines/vllm_answers.py",
    ("docs/engines.md", "build/venv/bin/python tests/engines/vllm_tpot.py"): "measures, for minutes",
    ("docs/howto/llama-cpp.md", "scripts/python-wheel"): "tests/python/wheel_test.py",
    ("docs/howto/own-engine.md", "(cd client/go"): "needs four registries; scripts/test-clients builds these programs",
    ("docs/howto/sglang.md", "scripts/python-wheel"): "tests/python/wheel_test.py",
    ("docs/howto/sglang.md", "build/release/service/maskd --tokenizer=model=MODEL"): "tests/python/sglang_test.py",
    ("docs/howto/sglang.md", "MASKD_ADDRESS="): "needs a GPU and a model; tests/python/sglang_test.py has its classes",
    ("docs/howto/sglang.md", "curl "): "needs a GPU and a model",
    ("docs/howto/transformers.md", "scripts/python-wheel"): "tests/python/wheel_test.py",
    ("docs/howto/vllm.md", "scripts/python-wheel"): "tests/python/wheel_test.py; tests/engines/vllm_howto.py",
    ("docs/howto/vllm.md", "build/release/service/maskd --tokenizer=model=MODEL"): "tests/engines/vllm_howto.py",
    ("docs/howto/vllm.md", "MASKD_ADDRESS="): "tests/engines/vllm_howto.py",
    ("docs/howto/vllm.md", "curl "): "tests/engines/vllm_howto.py",
    ("docs/maskctl.md", "$ maskctl top "): "tests/tools/top_test.cc",
    ("docs/operations.md", "scripts/fetch-vocab llama3"): "measures",
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
    ("docs/vectors.md", "maskctl vectors"): "tests/tools/vectors_test.cc",
    ("docs/vectors.md", "maskctl schemas"): "tests/tools/schemas_test.cc",
    ("docs/vectors.md", "tests/walks/mutate_instances.py"): "takes minutes; ctest runs 150 of them",
    ("docs/vectors.md", "tests/walks/validate_walks.py"): "takes minutes; ctest runs fewer",
    ("docs/vectors.md", "build/release/tests/walks/condition_walks"): "takes minutes; ctest runs fewer",
}
DOCUMENTS = ["CONTRIBUTING.md", "README.md", *sorted(
    str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]

# Foreground servers go on behind their line: the next one, and the end of the block, stop them.
# Servers with an address of their own run side by side.
MASKD = """#!/bin/bash
name=server$(printf '%s\\n' "$@" | grep -m1 '^--listen=' | tr -c '[:alnum:]\\n' _)
stop-maskd "$name" || exit
{real} --listen=unix:{folder}/maskd.sock --metrics_listen=127.0.0.1:0 "$@" >"{folder}/$name.log" 2>&1 &
echo $! >"{folder}/$name.pid"
for _ in $(seq 300); do
  grep -q ' listening ' "{folder}/$name.log" && exit
  kill -0 $! 2>/dev/null || break
  sleep 0.1
done
cat "{folder}/$name.log" >&2
exit 1
"""
# stop-maskd [NAME]: one of them, or all. A block may have killed one: that is said by {folder}/killed.
STOP = """#!/bin/bash
for file in {folder}/${1:-server*}.pid; do
  [[ -e $file ]] || continue
  pid=$(<"$file")
  rm "$file"
  kill -TERM "$pid" 2>/dev/null || [[ -e {folder}/killed ]] || { echo "the server had ended:" >&2; cat "${file%.pid}.log" >&2; exit 1; }
  for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || continue 2; sleep 0.1; done
  echo "the server does not stop" >&2
  exit 1
done
"""
PYTHON = """#!/bin/bash
exec {real} "$@"
"""
# A playground is served until someone ends it: here, as soon as its page answers.
MASKCTL = """#!/bin/bash
[[ $1 == playground ]] || exec {real} "$@"
: >{folder}/page.log  # no address of the playground before this one
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

# Servers and clients of the page of TLS need what its blocks before them made.
GIVEN |= {block.splitlines()[0]: "\n".join(blocks("docs/howto/tls.md")[:at]).replace(" &\n", "\n")
          for at, block in enumerate(blocks("docs/howto/tls.md"))}


def why_not_here(document: str, block: str):
    return next((why for (named, begin), why in NOT_HERE.items()
                 if named == document and block.startswith(begin)), None)


HERE = [(document, block) for document, block in ALL if not why_not_here(document, block)]


def commands(block: str) -> list:
    """Pairs of a command and the lines that it is said to print."""
    result = []
    shown = block.lstrip().startswith("$ ")
    for line in block.splitlines():
        if result and not result[-1][1] and (re.search(r"(\\|\|)$", result[-1][0].splitlines()[-1])
                                             or result[-1][0].count("'") % 2 == 1):
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
                             ("stop-maskd", STOP, ""), ("cmake", CMAKE, ""), ("python3", PYTHON, sys.executable)):
        for place, value in (("{real}", real), ("{folder}", tmp_path), ("{build}", BUILD)):
            text = text.replace(place, str(value))
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    for build in ("release", "quick"):
        for name, folder in (("maskd", "service"), ("maskctl", "tools")):
            (tmp_path / "build" / build / folder).mkdir(parents=True)
            (tmp_path / "build" / build / folder / name).symlink_to(programs / name)
    for folder in ("client", "examples"):
        (tmp_path / "build/release" / folder).symlink_to(BUILD / folder)
    yield tmp_path
    subprocess.run([programs / "stop-maskd"], check=True)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def run(clone, script: str) -> subprocess.CompletedProcess:
    script = script.replace("unix:/tmp/", f"unix:{clone}/").replace(":7411", f":{free_port()}")
    script = re.sub(r"/run/maskd(?=\.sock|/)", f"{clone}/maskd", script).replace("/maskd/admin.sock", "/admin.sock").replace("127.0.0.1:8417", "127.0.0.1:0")
    environment = dict(os.environ, PATH=f"{clone}/bin:{os.environ['PATH']}", MASKD_ADDRESS=f"unix:{clone}/maskd.sock")
    return subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=clone, env=environment, text=True,
                          capture_output=True, timeout=300, check=False)


def in_front(command: str) -> str:
    """The program `maskd` of this test goes to the background by itself, once it serves."""
    return re.sub(r"^(\S*\bmaskd .*) &$", r"\1", command)


def same(said: list, expected: list) -> bool:
    """Whether the lines are those, `...` standing for any."""
    pattern = "\n".join(".*" if line.strip() == "..." else re.escape(line) for line in expected)
    return re.fullmatch(pattern, "\n".join(said), re.DOTALL) is not None


@pytest.mark.parametrize("document, block", HERE, ids=[f"{document}:{block[:40]!r}" for document, block in HERE])
def test_a_block_of_commands_does_what_it_says(clone, document, block):
    for start, files in NEEDS.items():
        missing = [file for file in files if block.startswith(start) and not (ROOT / file).exists()]
        if missing:
            pytest.skip(f"NOT TESTED HERE: {missing[0]} is not fetched (scripts/fetch-vocab)")
    given = next((text for start, text in GIVEN.items() if block.startswith(start)), ":")
    steps = commands(block)
    mark = "--- end of a command ---"
    script = f"{given}\necho '{mark}'\n"
    for command, _ in steps:
        # A command that is shown with its output may say no, which is exit status 1.
        end = "|| test $? -eq 1\n" if block.startswith("$ ") else "\n"
        script += in_front(re.sub(r"\s+#[^'\"]*$", "", command)) + f" 2>&1 {end}echo '{mark}'\n"
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


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_command_stands_outside_of_a_block(document):
    text = re.sub(r"^```.*?^```", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^ {4}(?:\$ |maskctl |maskd |build/|tests/|scripts/).*", text, re.MULTILINE) == []


def test_every_block_is_run_or_has_its_reason():
    assert len(ALL) > 20 and len(HERE) >= 5
    for (document, begin), why in NOT_HERE.items():
        assert any(block.startswith(begin) for block in blocks(document)), (document, begin)
        for path in re.findall(r"tests/[\w/.]+", why):
            assert (ROOT / path).is_file(), path
