"""A Chromium without a window, driven over its debugging pipe (Chrome DevTools Protocol).

Small on purpose: open a page, run JavaScript in it, press keys, take a screenshot. No network port is
opened, and nothing is installed beside the browser.
"""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from typing import Any, Optional

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_S = 30


def find() -> Optional[str]:
    """The browser of this machine, or None."""
    named = os.environ.get("MASKD_CHROMIUM")
    return named or next(filter(None, map(shutil.which, PROGRAMS)), None)


class Page:
    """One browser with one page."""

    def __init__(self, program: str, width: int = 1280, height: int = 900, dark: bool = False):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{from_write} >/dev/null 2>&1', "chromium", program,
             "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--disable-background-networking",
             f"--user-data-dir={self._folder.name}", f"--window-size={width},{height}", "about:blank"],
            pass_fds=(to_read, from_write))
        os.close(to_read)
        os.close(from_write)
        self._to, self._from = to_write, os.fdopen(from_read, "rb")
        self._number = 0
        self._read = b""
        self.errors: list = []
        targets = self._send("Target.getTargets")["targetInfos"]
        target = next(each["targetId"] for each in targets if each["type"] == "page")
        self._session = None
        self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._send(f"{domain}.enable")
        self._send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                   deviceScaleFactor=1, mobile=False)
        self._send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE_S)
        self._from.close()
        os.close(self._to)
        self._folder.cleanup()

    def _message(self) -> dict:
        while b"\0" not in self._read:
            part = os.read(self._from.fileno(), 1 << 20)
            assert part, "the browser has ended"
            self._read += part
        text, self._read = self._read.split(b"\0", 1)
        return json.loads(text)

    def _send(self, method: str, **params: Any) -> dict:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if getattr(self, "_session", None):
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("method") == "Runtime.exceptionThrown":
                self.errors.append(answer["params"]["exceptionDetails"].get("exception", {}).get("description"))
            if answer.get("method") == "Log.entryAdded":  # of a refused answer, or of the policy
                entry = answer["params"]["entry"]
                if entry["level"] == "error" and entry["source"] != "network":
                    self.errors.append(entry["text"])
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def open(self, url: str) -> None:
        self._send("Page.navigate", url=url)

    def run(self, script: str) -> Any:
        """The value of an expression; a promise is waited for."""
        result = self._send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait(self, script: str) -> Any:
        """Waits until the expression is true, and gives its value."""
        end = time.monotonic() + PATIENCE_S
        while not (value := self.run(script)):
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.02)
        return value

    def key(self, key: str, modifiers: int = 0) -> None:
        """Presses a key; modifiers 1: Alt, 2: Control, 8: Shift."""
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 and not modifiers else "")
        for kind in ("keyDown", "keyUp"):
            self._send("Input.dispatchKeyEvent", type=kind, key=key, modifiers=modifiers,
                       code=key if len(key) > 1 else f"Key{key.upper()}",
                       windowsVirtualKeyCode={"Tab": 9, "Enter": 13, "ArrowLeft": 37, "ArrowRight": 39,
                                              "Home": 36, "End": 35}.get(key, ord(key[0].upper())),
                       **({"text": text} if text and kind == "keyDown" else {}))

    def type(self, text: str) -> None:
        self._send("Input.insertText", text=text)

    def screenshot(self, path: str) -> None:
        kind = path.rsplit(".", 1)[-1]
        image = self._send("Page.captureScreenshot", format=kind, quality=85)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))
