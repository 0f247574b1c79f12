"""The command blocks of docs/howto/vllm.md as a reader types them, in the environment of docs/engines.md.

    build/venv/bin/python tests/engines/vllm_howto.py [--model FOLDER]

MODEL is a folder, and the engine gets what a CPU needs from its environment. Servers stay in the background until the
end. Exits with 1 where a block does not do what the page says. 77: there is no vLLM here.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
from collections.abc import Iterator

from vllm_engine import CPU, satisfies

_ROOT = pathlib.Path(__file__).parents[2]
_PAGE = (_ROOT / "docs/howto/vllm.md").read_text(encoding="utf-8")


def blocks() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```", _PAGE, re.MULTILINE | re.DOTALL)


@contextlib.contextmanager
def in_background(block: str, environment: dict[str, str], log: pathlib.Path, ready: str) -> Iterator[None]:
    """Until `ready` stands in its log; then the process goes on to the end of the body."""
    with log.open("w") as written, subprocess.Popen(
            ["bash", "-euc", f"exec {block}" if "=" not in block.split()[0] else f"exec env {block}"], cwd=_ROOT,
            env=environment, stdin=subprocess.DEVNULL, stdout=written, stderr=written) as process:
        try:
            while ready not in log.read_text():
                if process.poll() is not None:
                    sys.exit(f"has ended: {block}\n{log.read_text()[-2000:]}")
                time.sleep(1)
            yield
        finally:
            process.terminate()
            process.wait(120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--vllm", default=str(_ROOT / "build/engines/vllm/bin/vllm"))
    parser.add_argument("--model", default="build/engines/smollm2")
    arguments = parser.parse_args()
    if not pathlib.Path(arguments.vllm).exists():
        print(f"vllm_howto: SKIPPED, there is no {arguments.vllm}", file=sys.stderr)
        sys.exit(77)
    environment = {**os.environ, **CPU, "PATH": f"{pathlib.Path(arguments.vllm).parent}:{os.environ['PATH']}"}
    install, server, engine, request = (block.replace("MODEL", arguments.model) for block in blocks())
    subprocess.run(["bash", "-euc", install], cwd=_ROOT, env=environment, check=True)
    logs = pathlib.Path("/tmp")
    with in_background(server, environment, logs / "howto-maskd.log", " listening "), \
            in_background(engine, environment, logs / "howto-vllm.log", "Application startup complete"):
        said = re.search(r"^Its log says `(.*?)`", _PAGE, re.MULTILINE)[1]
        assert said in (logs / "howto-vllm.log").read_text(), said
        answer = json.loads(subprocess.run(["bash", "-euc", request], cwd=_ROOT, env=environment, check=True,
                                           stdout=subprocess.PIPE).stdout)
    asked = json.loads(re.search(r"-d '(.*)'", request, re.DOTALL)[1])
    text = answer["choices"][0]["message"]["content"]
    print(text)
    good = satisfies(text, asked["response_format"]["json_schema"]["schema"])
    print(f"howto: {'the answer is' if good else 'the answer is not'} JSON of the schema, "
          f"{answer['usage']['completion_tokens']} tokens, finish_reason {answer['choices'][0]['finish_reason']}")
    sys.exit(0 if good and answer["choices"][0]["finish_reason"] == "stop" else 1)


if __name__ == "__main__":
    main()
