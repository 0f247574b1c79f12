"""The engine's verdicts, by tests/frontend/grammar_verdicts."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Engine:
    """One process of grammar_verdicts; ask() as often as needed."""

    def __init__(self):
        program = os.environ.get(
            "MASKD_GRAMMAR_VERDICTS", str(ROOT / "build/release/tests/frontend/grammar_verdicts"))
        self._process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def ask(self, kind: str, grammar: str, texts: list) -> dict:
        """{"ok": True, "verdicts": [...]} or {"ok": False, "error": "line:column: ..."}."""
        self._process.stdin.write(
            json.dumps({"kind": kind, "grammar": grammar, "texts": texts}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the engine died on {grammar!r}"
        return json.loads(answer)

    def verdicts(self, kind: str, grammar: str, texts: list) -> list:
        """Of a grammar that no text satisfies, which the engine refuses, all False."""
        answer = self.ask(kind, grammar, texts)
        if answer["ok"]:
            return answer["verdicts"]
        assert "no text satisfies" in answer["error"], f"{answer['error']}\n{grammar}"
        return [False] * len(texts)

    def close(self):
        self._process.stdin.close()
        self._process.wait()
