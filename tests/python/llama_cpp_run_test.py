"""examples/model_loop_python/llama_cpp_run.py over what llama-cpp-python's interface is known to be: its
arguments, and that an answer that is not valid is its exit status."""

import pathlib
import sys

import fake_llama_cpp
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples/model_loop_python"))
sys.modules["llama_cpp"] = fake_llama_cpp
import llama_cpp_run  # noqa: E402


@pytest.fixture
def run(address, monkeypatch):
    monkeypatch.setattr(llama_cpp_run, "MAX_TOKENS", 400)  # each a byte here

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["llama_cpp_run.py", "--server", address, *arguments])
        return llama_cpp_run.main()

    return run


def test_every_answer_is_valid_and_none_that_is_free(run, capsys):
    assert run() == 0
    printed = capsys.readouterr().out
    assert "30 of 30 valid; held to nothing, 0 of 20\n" in printed
    assert "BAD" not in printed.split("held to nothing")[0]


@pytest.mark.parametrize("choice", [{"text": "}{", "finish_reason": "stop"},
                                    {"text": "yes", "finish_reason": "length"}],
                         ids=["not valid", "cut off"])
def test_an_answer_that_is_bad_is_a_failure(run, monkeypatch, capsys, choice):
    def answer(model, prompt, logits_processor=None, **_):
        for processor in logits_processor or ():
            scores = processor(np.array([1]), np.zeros(fake_llama_cpp.VOCABULARY, dtype=np.single))
            processor(np.array([1, scores.argmax()]), np.zeros_like(scores))
        return {"choices": [choice]}

    monkeypatch.setattr(fake_llama_cpp.Llama, "create_completion", answer)
    monkeypatch.setattr(llama_cpp_run.cases, "other_cases", list)
    assert run() == 1
    assert "0 of 20 valid" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--subjects"], ["--subjects", "all"], ["--model"], ["schemas"]])
def test_arguments_that_are_none_are_refused(run, arguments):
    with pytest.raises(SystemExit) as refused:
        run(*arguments)
    assert refused.value.code == 2
