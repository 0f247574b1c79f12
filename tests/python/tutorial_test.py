"""The tutorial's program, as its reader runs it, against a server started by the tutorial's flags. Needs
scripts/fetch-vocab smollm2; without it nothing here is tested, said aloud and counted as skipped."""

import json
import os
import pathlib
import subprocess
import sys

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).parents[2]
MODEL = ROOT / "build/vocab/smollm2/smollm2-135m-instruct.gguf"
if not MODEL.is_file():
    pytest.skip(f"NOT TESTED: no {MODEL}; scripts/fetch-vocab smollm2 gets it", allow_module_level=True)

sys.path[:0] = [str(ROOT / "examples/model_loop_python"), str(ROOT / "examples/tutorial")]
import answer as tutorial  # noqa: E402

import maskd  # noqa: E402


def test_the_answer_is_valid_whatever_the_prompt(tmp_path):
    flag = subprocess.run([ROOT / "scripts/fetch-vocab", "--print-flag", "smollm2"], capture_output=True,
                          text=True, check=True).stdout.strip()
    address = f"unix:{tmp_path}/s"
    with subprocess.Popen([os.environ["MASKD_SERVER"], f"--listen={address}", "--metrics_listen=",
                           "--tokenizer", flag], stdin=subprocess.DEVNULL) as server:
        with maskd.Client(address, timeout_s=60):
            pass
        program = subprocess.run(
            [sys.executable, ROOT / "examples/tutorial/answer.py", "Write a poem about rain."],
            env={**os.environ, "MASKD_ADDRESS": address,
                 "PYTHONPATH": os.pathsep.join([os.environ["PYTHONPATH"], str(ROOT / "examples/model_loop_python")])},
            capture_output=True, text=True, check=True)
        server.terminate()
    assert "without a grammar: " in program.stdout
    text = program.stdout.split("with the schema:", 1)[1].split("as Python reads it:", 1)[0]
    jsonschema.validate(json.loads(text), tutorial.SCHEMA)
