"""Decode steps of maskd, a process of its own, beside its peers, in process, on the same rows.

    bench/peers/compare --steps                 and nothing else
    bench/peers/compare --steps --prefix "chrt -f 1"

step_rpc_bench chooses the documents and writes them; row i of every engine follows document i % 64
and begins anew at its end. Before the steps that count each row has seen its document once. Peers are
called from Python with their own batch calls and on as many threads as do best, 1 or 2; a row whose
schema a peer does not compile within --compile_seconds follows another one. Their grammars are
compiled once; then the engines take turns, batch size by batch size, and no two run at once.

Times are microseconds a step; cpu is the processor time of all threads, of maskd's client and server
together. With drafts a step takes a token and fills the masks of 5 positions a row.
"""

import argparse
import json
import pathlib
import selectors
import shlex
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

import engines

STOP = "<|eot_id|>"
DRAFTS = 4


class Row:
    """A text that begins anew at its end."""

    def __init__(self, engine, document):
        self.engine, (self.grammar, self.tokens) = engine, document
        self.start()

    def start(self) -> None:
        self.matcher, self.at = self.engine.start(self.grammar), 0

    def next(self) -> int:
        if self.at == len(self.tokens):
            self.start()
        self.at += 1
        return self.tokens[self.at - 1]

    def drafts(self) -> list:
        return self.tokens[self.at:self.at + DRAFTS]


def fill_drafts(engine, rows: list, tokens: list, plane) -> None:
    """A token and the drafts behind it, position by position; the rows are then after the token."""
    for number, (row, token) in enumerate(zip(rows, tokens)):
        engine.accept(row.matcher, token)
        engine.fill(row.matcher, plane, number * (DRAFTS + 1))
        drafts = row.drafts()
        for position, draft in enumerate(drafts, 1):
            engine.accept(row.matcher, draft)
            engine.fill(row.matcher, plane, number * (DRAFTS + 1) + position)
        engine.rollback(row.matcher, len(drafts))


def measure(engine, documents: list, words: int, order: dict) -> dict:
    """The figures of one batch size; order: rows, steps, warmup, threads, drafts."""
    rows = [Row(engine, documents[row % len(documents)]) for row in range(order["rows"])]
    positions = DRAFTS + 1 if order["drafts"] else 1
    plane = np.zeros((len(rows) * positions, words), dtype=np.int32)
    batch = engine.batch(order["threads"])
    times, cpu = [], 0
    for number in range(order["warmup"] + order["steps"]):
        tokens = [row.next() for row in rows]
        matchers = [row.matcher for row in rows]
        before, start = time.process_time_ns(), time.perf_counter_ns()
        if order["drafts"]:
            fill_drafts(engine, rows, tokens, plane)
        else:
            batch(matchers, tokens, plane)
        if number >= order["warmup"]:
            times.append((time.perf_counter_ns() - start) / 1000)
            cpu += (time.process_time_ns() - before) / 1000
    return {"p50": float(np.percentile(times, 50)), "p99": float(np.percentile(times, 99)),
            "mean": float(np.mean(times)), "cpu": cpu / order["steps"]}


def compile_within(engine, schema: str, seconds: int):
    """None when the engine refuses it or takes longer; the time is looked at when it returns."""
    try:
        signal.alarm(seconds)
        return engine.compile(schema)
    except engines.CompileError:
        return None
    finally:
        signal.alarm(0)


def serve(arguments) -> None:
    """One peer: compiles the documents, then answers an order a line."""
    vocabulary = engines.Vocabulary(arguments.tokenizer, STOP)
    engine = engines.ENGINES[arguments.peer](vocabulary)

    def give_up(*_):
        raise engines.CompileError("too long")

    signal.signal(signal.SIGALRM, give_up)
    documents = []
    for line in arguments.documents.read_text(encoding="utf-8").splitlines():
        document = json.loads(line)
        grammar = compile_within(engine, document["schema"], arguments.compile_seconds)
        if grammar is not None and takes(engine, grammar, document["tokens"]):
            documents.append((grammar, document["tokens"]))
    print(json.dumps({"documents": len(documents)}), flush=True)
    for line in sys.stdin:
        print(json.dumps(measure(engine, documents, vocabulary.words(), json.loads(line))), flush=True)


def takes(engine, grammar, tokens: list) -> bool:
    matcher = engine.start(grammar)
    return all(engine.accept(matcher, token) for token in tokens)


class Peer:
    """A peer in a process of its own, stopped while others are measured."""

    def __init__(self, name: str, arguments, documents: pathlib.Path):
        command = [*shlex.split(arguments.prefix), sys.executable, __file__, "--tokenizer",
                   arguments.tokenizer, "--peer", name, "--documents", documents,
                   "--compile_seconds", str(arguments.compile_seconds)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.documents = self.read(3600)["documents"]

    def read(self, seconds: float) -> dict:
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(seconds):
                raise TimeoutError("a peer does not answer")
        return json.loads(self.process.stdout.readline())

    def ask(self, order: dict) -> dict:
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return self.read(600)

    def best(self, order: dict) -> dict:
        threads = (1,) if order["drafts"] or order["rows"] == 1 else (1, 2)
        return min((self.ask(order | {"threads": count}) for count in threads),
                   key=lambda figures: figures["p50"])


def run_ours(arguments, rows: int, drafts: bool, more: list) -> dict:
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run(
            [*shlex.split(arguments.prefix), arguments.build / "bench/step_rpc_bench",
             f"--cases={arguments.cases}", f"--tokenizer=llama3={arguments.tokenizer},preset=llama3",
             f"--rows={rows}", f"--steps={arguments.steps}", f"--warmup={arguments.warmup}",
             f"--drafts={DRAFTS if drafts else 0}", f"--figures_out={out.name}", *more],
            stdout=subprocess.DEVNULL, check=True)
        return json.loads(pathlib.Path(out.name).read_text(encoding="utf-8"))


def ours(arguments, rows: int, drafts: bool, *more: str) -> dict:
    figures = run_ours(arguments, rows, drafts, list(more))
    return {"p50": figures["step p50"], "p99": figures["step p99"],
            "cpu": figures["client cpu"] + figures["server cpu"]}


def cell(figures: dict, base: dict) -> str:
    ratio = "" if figures is base else f", {figures['p50'] / base['p50']:.1f}x"
    return f"{figures['p50']:,.0f}{ratio} ({figures['p99']:,.0f}; cpu {figures['cpu']:,.0f})"


def compare(arguments) -> None:
    with tempfile.TemporaryDirectory() as folder:
        documents = pathlib.Path(folder) / "documents.jsonl"
        short = argparse.Namespace(**vars(arguments) | {"steps": 1, "warmup": 0})
        run_ours(short, 1, False, [f"--documents_out={documents}"])
        peers = {name: Peer(name, arguments, documents) for name in arguments.engines}
        for name, peer in peers.items():
            print(f"{name}: {peer.documents} of 64 documents")
        print("\np50, how many times maskd's through shared memory (p99; cpu)\n")
        print("| rows | maskd, shared memory | copied out | over gRPC | " + " | ".join(peers) + " |")
        print("| --: |" + " --: |" * (3 + len(peers)))
        for drafts in (False, True):
            for rows in arguments.rows:
                base = ours(arguments, rows, drafts, "--transport=memory")
                cells = [base, ours(arguments, rows, drafts, "--transport=memory", "--copy=rows"),
                         ours(arguments, rows, drafts, "--transport=grpc")]
                order = {"rows": rows, "steps": arguments.peer_steps, "drafts": drafts,
                         "warmup": arguments.peer_warmup}
                cells += [peer.best(order) for peer in peers.values()]
                title = f"{rows}, drafts of {DRAFTS}" if drafts else str(rows)
                print(f"| {title} | " + " | ".join(cell(each, base) for each in cells) + " |",
                      flush=True)
        for peer in peers.values():
            peer.process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description="Decode steps of maskd and its peers.")
    parser.add_argument("--cases", type=pathlib.Path)
    parser.add_argument("--tokenizer", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--prefix", default="")
    parser.add_argument("--engines", nargs="*", default=["llguidance", "xgrammar-strict"])
    parser.add_argument("--rows", nargs="*", type=int, default=[1, 8, 64, 256])
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--warmup", type=int, default=2000)
    parser.add_argument("--peer_steps", type=int, default=200)
    parser.add_argument("--peer_warmup", type=int, default=300)
    parser.add_argument("--compile_seconds", type=int, default=20)
    parser.add_argument("--peer", help="serves as this one")
    parser.add_argument("--documents", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.peer:
        serve(arguments)
    else:
        compare(arguments)


if __name__ == "__main__":
    main()
