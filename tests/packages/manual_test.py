"""The manual pages and completions say what the programs' --help says, no more and no less."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

MANUAL = pathlib.Path(os.environ["MASKD_MANUAL"])
SERVER = os.environ["MASKD_SERVER"]
MASKCTL = os.environ["MASKD_MASKCTL"]


def run(*command: str, **options) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


def commands() -> list:
    return re.findall(r"^  ([a-z]+) ", run(MASKCTL, "--help"), re.MULTILINE)


def words(text: str) -> list:
    return text.split()


def flags_of_help(text: str) -> str:
    """From the first flag to the last one's words."""
    lines = text.splitlines()
    of_flags = [i for i, line in enumerate(lines) if re.match(r"  --|        ", line)]
    first = next((i for i, line in enumerate(lines) if line.startswith("  --")), None)
    return "" if first is None else "\n".join(lines[i] for i in of_flags if i >= first)


def rendered(page: str) -> str:
    return run("groff", "-man", "-Tutf8", "-rLL=4000n", "-P-cbou", str(MANUAL / "man" / f"{page}.1"))


def section(text: str, name: str) -> str:
    found = re.search(rf"^{name}$(.*?)^(?:[A-Z]|\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


PAGES = {"maskd": [SERVER, "--help"],
         **{f"maskctl-{command}": [MASKCTL, command, "--help"] for command in commands()}}


@pytest.mark.parametrize("page", PAGES)
def test_the_options_of_a_page_are_those_of_help(page):
    of_help = words(flags_of_help(run(*PAGES[page])))
    assert words(section(rendered(page), "OPTIONS")) == of_help
    assert len(of_help) > 2 or page == "maskctl-completion"


@pytest.mark.parametrize("command", commands())
def test_a_page_describes_its_command_as_help_does(command):
    text = run(MASKCTL, command, "--help")
    details = text.split("\n\n", 1)[1].split("flags [default]:")[0]
    page = rendered(f"maskctl-{command}")
    said = words(section(page, "NAME")) + words(section(page, "DESCRIPTION"))
    assert said == [f"maskctl-{command}", "-", *words(details)]


def test_the_page_of_maskctl_lists_the_commands_of_help():
    text = run(MASKCTL, "--help")
    listed = re.findall(r"maskctl-([a-z]+)\(1\)\s+(\S.*)", section(rendered("maskctl"), "COMMANDS"))
    assert listed == re.findall(r"^  ([a-z]+) +(\S.*)$", text, re.MULTILINE)
    assert len(listed) > 10


def test_there_is_a_page_for_each_program_and_command_and_no_other():
    assert {path.stem for path in (MANUAL / "man").iterdir()} == {"maskctl", *PAGES}


@pytest.mark.parametrize("page", ["maskctl", *PAGES])
def test_groff_has_nothing_to_say_about_a_page(page):
    said = subprocess.run(["groff", "-man", "-ww", "-z", "-Tutf8", str(MANUAL / "man" / f"{page}.1")],
                          capture_output=True, text=True, check=True)
    assert said.stderr == ""


def completed_by_bash(*typed: str) -> set:
    """What bash offers for the last word."""
    script = MANUAL / "completions/bash/maskctl"
    return set(run("bash", "-c", 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _maskctl; '
                   'printf "%s\\n" "${COMPREPLY[@]}"', "bash", str(script), *typed).split())


def test_bash_completes_commands():
    assert completed_by_bash("maskctl", "") == {*commands(), "--help", "--version"}
    assert completed_by_bash("maskctl", "comp") == {"compile", "completion"}


@pytest.mark.parametrize("command", commands())
def test_bash_completes_the_flags_of_a_command(command):
    text = run(MASKCTL, command, "--help")
    flags = {name + ("=" if shape else "") for name, shape in re.findall(r"^  (--\w+)(=?)", text, re.MULTILINE)}
    assert completed_by_bash("maskctl", command, "--") == flags | {"--help"}


def test_bash_completes_the_values_of_a_flag(tmp_path):
    values = {"note", "warning", "error", "never"}
    assert completed_by_bash("maskctl", "lint", "--fail_on", "=", "") == values
    assert completed_by_bash("maskctl", "lint", "--fail_on", "=") == values
    assert completed_by_bash("maskctl", "lint", "--fail_on", "n") == {"note", "never"}
    (tmp_path / "order.json").touch()
    assert completed_by_bash("maskctl", "lint", f"{tmp_path}/or") == {f"{tmp_path}/order.json"}


@pytest.mark.skipif(shutil.which("fish") is None, reason="NOT TESTED: there is no fish here")
def test_fish_completes_commands_flags_and_values():
    def offered(line: str) -> set:
        script = MANUAL / "completions/fish/maskctl.fish"
        lines = run("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'").splitlines()
        return {each.split("\t")[0] for each in lines}
    assert offered("maskctl ") == set(commands())
    flags = set(re.findall(r"^  (--\w+)", run(MASKCTL, "lint", "--help"), re.MULTILINE))
    assert flags <= offered("maskctl lint --") | {flag.rstrip("=") for flag in offered("maskctl lint --")}
    assert offered("maskctl lint --fail_on ") == {"note", "warning", "error", "never"}


ZSH = """
autoload -Uz compinit && compinit -u -D
source "$1"
_describe() { print -l -- "${(@)commands%%:*}" }
_arguments() { print -l -- "$@" }
words=(maskctl ${=2}) CURRENT=$3
_maskctl
"""


@pytest.mark.skipif(shutil.which("zsh") is None, reason="NOT TESTED: there is no zsh here")
def test_zsh_is_told_commands_and_flags():
    def told(typed: str, current: int) -> list:
        script = MANUAL / "completions/zsh/_maskctl"
        return run("zsh", "-f", "-c", ZSH, "zsh", str(script), typed, str(current)).splitlines()
    assert told("", 2) == commands()
    specs = told("lint --", 3)
    flags = re.findall(r"^  (--\w+)", run(MASKCTL, "lint", "--help"), re.MULTILINE)
    assert [re.match(r"--\w+", spec)[0] for spec in specs if spec.startswith("--")] == [*flags, "--help"]
    assert any(spec.endswith(":(note warning error never)") for spec in specs)
