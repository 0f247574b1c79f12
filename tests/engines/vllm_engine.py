"""A `vllm serve` on a CPU, with maskd or with a grammar library of its own, and what is asked of it.

For the programs beside this file; docs/engines.md says how such an engine is installed.
"""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jsonschema

NAME = os.environ.get("SERVED_NAME", "model")
MAX_TOKENS = 160
# What vLLM needs from its environment on a few cores.
CPU = {"OMP_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", "VLLM_CPU_KVCACHE_SPACE": "1",
       "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}


class Server:
    """maskd, which the parts kill and stop. `metrics`: HOST:PORT, where it tells its rows."""

    def __init__(self, binary: str, socket: str, model: str, metrics: str = "") -> None:
        self._command = [binary, f"--listen=unix:{socket}", f"--metrics_listen={metrics}",
                         f"--tokenizer=model={model}/tokenizer.json"]
        self._metrics = metrics
        self.start()

    def open_rows(self) -> float:
        with urllib.request.urlopen(f"http://{self._metrics}/metrics", timeout=5) as answer:
            (rows,) = [float(line.split()[1]) for line in answer.read().decode().splitlines()
                       if line.startswith("maskd_rows_open ")]
        return rows

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def serving(vllm: str, model: str, port: int, log_file: str, variables: Mapping[str, str],
            backend: str = "xgrammar", dtype: str = "auto", tools: str = "hermes",
            drafts: int = 0, flags: Sequence[str] = ()) -> Iterator[str]:
    """`vllm serve`, ready: its URL. `variables`: of its environment, MASKD_ADDRESS for maskd; without
    that one `backend` is vLLM's own. `tools`: the parser of calls. `drafts`: by n-grams of the prompt,
    so many a step. `flags`: of vLLM's, more of them."""
    url = f"http://127.0.0.1:{port}"
    environment = {**os.environ, **CPU, **variables}
    command = [vllm, "serve", model, "--enforce-eager", "--max-model-len", "2048",
               "--max-num-seqs", "32", "--dtype", dtype, "--port", str(port), "--served-model-name", NAME,
               "--enable-auto-tool-choice", "--tool-call-parser", tools,
               "--structured-outputs-config", json.dumps({"disable_any_whitespace": True,
                                                          "backend": backend}), *flags]
    if drafts:
        command += ["--speculative-config", json.dumps({
            "method": "ngram", "num_speculative_tokens": drafts, "prompt_lookup_max": 4,
            "prompt_lookup_min": 2})]
    with open(log_file, "w") as log, subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as engine:
        try:
            while not _is_up(url):
                if engine.poll() is not None:
                    sys.exit(f"vllm serve has ended: {log_file}")
                time.sleep(2)
            yield url
        finally:
            engine.terminate()
            engine.wait(60)


def _is_up(url: str) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(url + "/health", timeout=5):
        return True
    return False


class Engine:
    def __init__(self, url: str) -> None:
        self.url = url

    def post(self, body: dict[str, Any]) -> tuple[int, Any]:
        request = urllib.request.Request(self.url + "/v1/chat/completions", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=900) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")
        except OSError as error:
            return 0, str(error)

    def chat(self, text: str, structured: dict[str, Any] | None = None,
             **more: Any) -> tuple[int, Any]:
        body = {"model": NAME, "messages": [{"role": "user", "content": text}], "temperature": 0,
                "max_tokens": MAX_TOKENS, **more}
        if structured is not None:
            body["structured_outputs"] = structured
        return self.post(body)

    def streamed(self, text: str, **more: Any) -> tuple[str, list[dict[str, Any]]]:
        """The content and the calls that the deltas of a streamed answer add up to."""
        body = {"model": NAME, "messages": [{"role": "user", "content": text}], "stream": True,
                "temperature": 0, "max_tokens": MAX_TOKENS, **more}
        request = urllib.request.Request(self.url + "/v1/chat/completions", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        content, calls = "", []
        with urllib.request.urlopen(request, timeout=900) as answer:
            for line in answer:
                if not line.startswith(b"data: {"):
                    continue
                for choice in json.loads(line[6:])["choices"]:
                    content += choice["delta"].get("content") or ""
                    for delta in choice["delta"].get("tool_calls") or ():
                        if delta["index"] == len(calls):
                            calls.append({"name": "", "arguments": ""})
                        for key, text_of_it in delta["function"].items():
                            calls[delta["index"]][key] += text_of_it or ""
        return content, calls

    def hung_up(self, text: str, structured: dict[str, Any], parts: int) -> int:
        """Leaves a streamed answer after so many of its parts; how many had come."""
        body = {"model": NAME, "messages": [{"role": "user", "content": text}], "stream": True,
                "max_tokens": 400, "structured_outputs": structured}
        request = urllib.request.Request(self.url + "/v1/chat/completions", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=900) as answer:
            return sum(1 for _, line in zip(range(parts), answer, strict=False) if line)

    def times(self, text: str, tokens: int, enough: Callable[[], bool] = lambda: False) -> list[float]:
        """When each part of a free answer came; it is left once that is enough."""
        body = {"model": NAME, "messages": [{"role": "user", "content": text}], "stream": True,
                "max_tokens": tokens, "ignore_eos": True, "temperature": 0}
        request = urllib.request.Request(self.url + "/v1/chat/completions", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=900) as answer:
            return [time.monotonic() for line in itertools.takewhile(lambda _: not enough(), answer)
                    if line.startswith(b"data: {")]

    def counted(self, name: str) -> float:
        """One of vLLM's own counters, over all of its labels."""
        with urllib.request.urlopen(self.url + "/metrics", timeout=60) as answer:
            return sum(float(line.rsplit(" ", 1)[1]) for line in answer.read().decode().splitlines()
                       if line.startswith((f"{name}{{", f"{name} ")))

    def pace(self, text: str, tokens: int, **more: Any) -> tuple[float, int]:
        """Of a streamed answer: the seconds from its first part to its last, and how many tokens it has."""
        body = {"model": NAME, "messages": [{"role": "user", "content": text}], "stream": True,
                "stream_options": {"include_usage": True}, "max_tokens": tokens, "temperature": 0, **more}
        request = urllib.request.Request(self.url + "/v1/chat/completions", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=900) as answer:
            parts = [(time.monotonic(), line) for line in answer if line.startswith(b"data: {")]
        said = [(when, json.loads(line[6:])) for when, line in parts]
        times = [when for when, each in said if each.get("choices") and each["choices"][0]["delta"].get("content")]
        return times[-1] - times[0], said[-1][1]["usage"]["completion_tokens"]


def satisfies(text: str, schema: Any) -> bool:
    """Whether jsonschema accepts the text, formats too."""
    try:
        jsonschema.validate(json.loads(text), schema, format_checker=jsonschema.FormatChecker())
    except (ValueError, jsonschema.ValidationError):
        return False
    return True


def text_of(answer: Any) -> str:
    return str(answer["choices"][0]["message"]["content"])
