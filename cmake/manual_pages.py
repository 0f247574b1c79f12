#!/usr/bin/env python3
"""Makes the manual pages of maskd and maskctl, and the completions of maskctl, of what the programs say.

    cmake/manual_pages.py MASKD MASKCTL FOLDER

A page is the program's --help in the macros of man(7), so a flag's words stand in one table alone. What
--help has no room for (signals, files) is below. FOLDER gets man/maskd.1, man/maskctl.1,
man/maskctl-COMMAND.1 and completions/{bash,zsh,fish}/.
"""

import pathlib
import re
import subprocess
import sys

SIGNALS = """SIGTERM and SIGINT drain the server: open calls are answered for --drain_ms, then it ends.
SIGHUP has it read flags, environment and file again, and go on with them at once or not at all."""
MASKD_EXIT = """0: drained. 1: it could not begin. 2: a flag or a variable is wrong. 3: something did not end in
time when it drained."""
MASKD_FILES = [("/etc/maskd/maskd.conf", "the file of --config that the Debian package's service reads"),
               ("/run/maskd/maskd.sock", "the socket of that service")]
COMPLETIONS = {"bash": "maskctl", "zsh": "_maskctl", "fish": "maskctl.fish"}


def run(*command: str) -> str:
    """What the program prints; an exit status other than 0 ends the build."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def escaped(text: str) -> str:
    """As text that troff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti")
    return "\\&" + text if text.startswith(".") else text


def paragraphs(text: str) -> list:
    """Lines of troff: filled paragraphs; lines that are indented stay as they are."""
    lines, examples = [], False
    for line in text.splitlines():
        indented = line.startswith("  ")
        if indented != examples:
            lines.append(".PP\n.nf\n.RS" if indented else ".RE\n.fi")
            examples = indented
        if not line.strip():
            lines.append(".PP")
        else:
            lines.append(escaped(line[2:] if indented else line))
    return lines + ([".RE\n.fi"] if examples else [])


def split_flags(text: str) -> tuple:
    """(what stands before the flags, [(flag, help)], what stands behind them) of a --help."""
    before, flags, behind = [], [], []
    for line in text.splitlines():
        found = re.fullmatch(r"  --([a-z_]+)(=.*)?", line)
        if found:
            flags.append((found.group(0).strip(), []))
        elif flags and line.startswith("        ") and not behind:
            flags[-1][1].append(line.strip())
        elif flags:
            behind.append(line)
        else:
            before.append(line)
    return "\n".join(before), [(flag, " ".join(words)) for flag, words in flags], "\n".join(behind)


def options(flags: list) -> list:
    """The flags of one --help as paragraphs of man(7)."""
    lines = [".SH OPTIONS"] if flags else []
    for flag, words in flags:
        name, equals, shape = flag.partition("=")
        # A long shape may go on in the next line before each part that may be left out.
        breakable = escaped(shape).replace("[", "\\:[")
        value = f"=\\fI{breakable}\\fP" if equals else ""
        lines += [".TP", f"\\fB{escaped(name)}\\fP{value}", escaped(words)]
    return lines


def head(name: str, version: str, what: str, synopsis: str) -> list:
    """A page's title and its first two sections."""
    return [f".TH {name.upper().replace('-', chr(92) + '-')} 1 \"\" \"maskd {version}\" \"User Commands\"",
            ".nh", ".ad l", ".SH NAME", f"{escaped(name)} \\- {escaped(what)}",
            ".SH SYNOPSIS", f".B {escaped(synopsis)}"]


def maskd_page(text: str, version: str) -> str:
    """maskd.1, of what `maskd --help` prints."""
    before, flags, behind = split_flags(text)
    first, usage, more = before.split("\n\n", 2)
    lines = head("maskd", version, first.split(": ", 1)[1].rstrip("."), usage.strip())
    lines += [".SH DESCRIPTION", *paragraphs(more.strip()), *options(flags)]
    lines += [".SH VOCABULARIES", *paragraphs(behind.strip().replace("\n", "\n\n"))]
    lines += [".SH SIGNALS", *paragraphs(SIGNALS), ".SH EXIT STATUS", *paragraphs(MASKD_EXIT), ".SH FILES"]
    for path, what in MASKD_FILES:
        lines += [".TP", f".I {escaped(path)}", escaped(what)]
    return "\n".join([*lines, ".SH SEE ALSO", ".BR maskctl (1)", ""])


def commands_of(text: str) -> list:
    """[(command, summary)] of maskctl --help."""
    return re.findall(r"^  ([a-z]+) +(\S.*)$", text, re.MULTILINE)


def maskctl_page(text: str, version: str) -> str:
    """maskctl.1, of what `maskctl --help` prints."""
    first, usage, _, more = text.split("\n\n", 3)
    lines = head("maskctl", version, first.removeprefix("maskctl ").rstrip("."),
                 usage.removeprefix("usage: "))
    lines.append(".SH COMMANDS")
    for command, summary in commands_of(text):
        lines += [".TP", f".BR maskctl\\-{command} (1)", escaped(summary)]
    lines += [".SH DESCRIPTION", *paragraphs(more.strip().replace("\nexit status", "\n\nexit status"))]
    return "\n".join([*lines, ".SH SEE ALSO", ".BR maskd (1)", ""])


def command_page(command: str, text: str, version: str) -> str:
    """A command's page, of what `maskctl COMMAND --help` prints."""
    before, flags, _ = split_flags(text)
    usage, summary, details = before.removesuffix("flags [default]:").split("\n\n", 2)
    lines = head(f"maskctl-{command}", version, summary, usage.removeprefix("usage: "))
    lines += [".SH DESCRIPTION", *paragraphs(details.strip("\n")), *options(flags)]
    return "\n".join([*lines, ".SH SEE ALSO", ".BR maskctl (1)", ""])


def main() -> None:
    """Writes all pages and completions into the folder."""
    maskd, maskctl, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    version = run(maskd, "--version").split()[1]
    overview = run(maskctl, "--help")
    pages = {"maskd": maskd_page(run(maskd, "--help"), version), "maskctl": maskctl_page(overview, version)}
    for command, _ in commands_of(overview):
        pages[f"maskctl-{command}"] = command_page(command, run(maskctl, command, "--help"), version)
    (folder / "man").mkdir(parents=True, exist_ok=True)
    for name, page in pages.items():
        (folder / "man" / f"{name}.1").write_text(page, encoding="utf-8")
    for shell, name in COMPLETIONS.items():
        path = folder / "completions" / shell / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(run(maskctl, "completion", shell), encoding="utf-8")


if __name__ == "__main__":
    main()
