"""The interfaces of the newest vLLM and SGLang beside what our glue relies on: the day that one
changes, this fails.

Reads sources (scripts/engine-sources), imports no engine. ENGINE_SOURCES: a folder of them, in
place of the newest.
"""

import inspect
import os
import pathlib
import subprocess
import sys
import types

import fake_sglang
import pytest
from wheel_interface import Sources

from maskd import engines
from maskd_vllm import _interface as vllm_interface

# Without its package, which needs SGLang to be imported.
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "client/sglang/maskd_sglang"))
import _interface as sglang_interface  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]


def sources_of(name):
    given = os.environ.get("ENGINE_SOURCES")
    if given:
        found = sorted(pathlib.Path(given).glob(f"{name}-*"))
        return [Sources(each) for each in found]
    done = subprocess.run([ROOT / "scripts/engine-sources", name], capture_output=True, text=True,
                          check=False)
    if done.returncode == 77:
        print(done.stderr, file=sys.stderr)
        pytest.skip(f"SKIPPED: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return [Sources(pathlib.Path(done.stdout.strip()))]


@pytest.fixture(scope="session")
def vllm():
    return sources_of("vllm")[-1]


@pytest.fixture(scope="session")
def sglang():
    return sources_of("sglang")[-1]


def test_the_newest_vllm_is_one_that_was_run(vllm):
    assert ".".join(vllm.version.split(".")[:2]) in vllm_interface.TESTED


VLLM_CALLED = vllm_interface.CALLED | vllm_interface.PARSING


@pytest.mark.parametrize("path", VLLM_CALLED)
def test_vllm_has_what_maskd_vllm_calls_and_replaces(vllm, path):
    has, wanted = vllm.parameters(path), VLLM_CALLED[path]
    assert [name for name in has if name in wanted] == wanted
    assert not [name for name, must in has.items() if must and name not in wanted], "more must be given"


@pytest.mark.parametrize("path", vllm_interface.MEMBERS)
def test_vllms_classes_have_the_members_that_we_know(vllm, path):
    assert vllm.members(path) - {"__abstractmethods__"} == vllm_interface.MEMBERS[path]


def test_vllm_says_which_models_write_a_canvas_at_once(vllm):
    assert "is_diffusion" in vllm.members("vllm.config.model:ModelConfig")


def test_vllm_calls_the_manager_as_we_know(vllm):
    calls = {(name, count + len(words)) for _, holder, name, count, words in vllm.calls()
             if holder == "structured_output_manager"}
    assert calls == vllm_interface.CALLS
    assert {name for _, name in vllm.uses("structured_output_manager")} == {
        name for name, _ in vllm_interface.CALLS}


def bind_all(sources, holder, owner, names):
    """Each call `holder.name(...)` of the package fits the method of that name of `owner`."""
    seen = set()
    for where, holds, name, count, words in sources.calls():
        if holds != holder or name not in names or "**" in words:
            continue
        function = inspect.getattr_static(owner, name)
        own = [None] if isinstance(function, types.FunctionType) else []
        function = getattr(function, "__func__", function)
        try:
            inspect.signature(function).bind(*own, *[None] * count, **dict.fromkeys(words))
        except TypeError as error:
            pytest.fail(f"{where}: {holder}.{name}(): {error}")
        seen.add(name)
    return seen


def test_vllms_calls_of_a_grammar_library_fit_the_glue(vllm):
    base = "vllm.v1.structured_output.backend_types:StructuredOutput"
    backend = {name for name in vllm.members(base + "Backend") if not name.startswith("_")}
    backend -= {"vllm_config", "tokenizer", "vocab_size"}
    grammar = vllm.members(base + "Grammar")
    assert not {name for name in backend if not hasattr(engines.VllmBackend, name)}
    assert not {name for name in grammar if not hasattr(engines.VllmGrammar, name)}
    assert "compile_grammar" in bind_all(vllm, "backend", engines.VllmBackend, backend)
    assert "fill_bitmask" in bind_all(vllm, "grammar", engines.VllmGrammar, grammar)


def test_the_newest_sglang_is_one_that_was_run(sglang):
    assert sglang.version in sglang_interface.TESTED


SGLANG_CALLED = sglang_interface.CALLED | sglang_interface.PARSING


@pytest.mark.parametrize("path", SGLANG_CALLED)
def test_sglang_has_what_maskd_sglang_calls_and_replaces(sglang, path):
    has, wanted = sglang.parameters(path), SGLANG_CALLED[path]
    assert [name for name in has if name in wanted] == wanted
    assert not [name for name, must in has.items() if must and name not in wanted], "more must be given"


@pytest.mark.parametrize("path", sglang_interface.MEMBERS)
def test_sglangs_base_classes_have_the_members_that_we_know(sglang, path):
    assert sglang.members(path) == sglang_interface.MEMBERS[path]


@pytest.fixture
def maskd_sglang(monkeypatch):
    fake_sglang.install(monkeypatch)
    for name in [each for each in sys.modules if each.startswith("maskd_sglang")]:
        monkeypatch.delitem(sys.modules, name)
    from maskd_sglang import _backend, _grammar  # noqa: PLC0415

    return _backend, _grammar


def test_sglangs_calls_of_a_grammar_fit_ours(sglang, maskd_sglang):
    base = "sglang.srt.constrained.base_grammar_backend:BaseGrammar"
    backend, grammar = (sglang.members(base + kind) for kind in ("Backend", "Object"))
    ours, row = maskd_sglang[0].MaskdBackend, maskd_sglang[1].MaskdGrammar
    own = {name for name in grammar if name in vars(row)}
    for holder in ("grammar", "first_grammar"):
        assert bind_all(sglang, holder, row, own)
    assert bind_all(sglang, "grammar_backend", ours,
                    {name for name in backend if name in vars(ours)})
    inherited = {"maybe_init_reasoning", "finished", "__init__"}
    assert grammar - own <= inherited, "a member of SGLang's that ours takes as it is"


@pytest.mark.parametrize(("interface", "known"), [(vllm_interface, "0.33.0"), (vllm_interface, "0.32.0.post1"),
                                                  (sglang_interface, "0.5.23")])
def test_a_version_that_was_not_run_is_refused(interface, known):
    interface.check_version(known, any_version=False)
    interface.check_version("9.9.9", any_version=True)
    for other in ("9.9.9", "0.3", "0.31.9"):
        with pytest.raises(RuntimeError, match=f"{other} is not one of {', '.join(interface.TESTED)}"):
            interface.check_version(other, any_version=False)
