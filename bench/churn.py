#!/usr/bin/env python3
"""A pod under ordinary traffic: is it ever killed, and does it say what it holds?

    scripts/python-stubs build/stubs
    sudo PYTHONPATH=client/python:build/stubs build/venv/bin/python bench/churn.py \
        --server build/release/service/maskd --cases ../shared/maskbench/open.jsonl.gz \
        --tokenizer llama3=build/vocab/llama3.tiktoken,preset=llama3 --limit_bytes 2147483648

Clients take MaskBench's schemas, in declared and in any property order, `--passes` times: each is compiled,
a row is opened with its first valid instance as drafts, so that every mask on its way is made, and closed.
The server runs in a memory control group of its own where this machine lets us make one (as root); else only
--memory_bytes bounds it, and the line says so. Five times a second its resident size is read and its metrics are scraped.

With more than one `--tokenizer` each schema goes to one of them by turns, and its text is encoded by the packages tiktoken
(rank files) and tokenizers (`tokenizer.json`).

`--minutes` goes on for so long, whatever the passes: from `--settled_minutes` on the resident size should be flat, and its
least and most are printed. `--vanishing` clients more, each a process of its own, are killed after some seconds of the same
work and start anew: their streams end in the middle of steps.

Prints the peak, how far the sum of maskd_memory_bytes was from the resident size, refusals, and what is resident some
seconds after the load.
"""

import argparse
import collections
import gzip
import json
import multiprocessing
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import maskd.plain as maskd

GROUP = pathlib.Path(f"/sys/fs/cgroup/memory/maskd_churn_{os.getpid()}")
DRAFTS = 1000  # of one step at most


def read_cases(path, limit):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if limit and number >= limit:
                return
            case = json.loads(line)
            valid = [test for test in case["tests"] if test.get("valid")]
            yield case["schema"], (valid[0]["text"] if valid else ""), (valid[0]["tokens"] if valid else [])


def encoder(flag):
    """text -> token ids, of the vocabulary file that a --tokenizer flag names."""
    path = flag.split("=", 1)[1].split(",")[0]
    if path.endswith(".json"):
        import tokenizers
        tokenizer = tokenizers.Tokenizer.from_file(path)
        return lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    import tiktoken
    import tiktoken.load
    encoding = tiktoken.Encoding("ranks", pat_str=r"\s+|\w+|[^\s\w]+", special_tokens={},
                                 mergeable_ranks=tiktoken.load.load_tiktoken_bpe(path))
    return encoding.encode_ordinary


class Server:
    def __init__(self, options, folder):
        self.address = f"unix:{folder}/s"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.metrics = f"127.0.0.1:{free.getsockname()[1]}"
        command = [options.server, f"--listen={self.address}", f"--metrics_listen={self.metrics}"]
        command += [f"--tokenizer={each}" for each in options.tokenizer] + options.flag
        self.grouped = self.make_group(options.limit_bytes)
        if not self.grouped:
            command.append(f"--memory_bytes={options.limit_bytes // 10 * 9}")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        preexec_fn=self.join_group if self.grouped else None)

    @staticmethod
    def make_group(limit):
        try:
            GROUP.mkdir(exist_ok=True)
            (GROUP / "memory.limit_in_bytes").write_text(str(limit))
            return True
        except OSError:
            return False

    @staticmethod
    def join_group():
        (GROUP / "cgroup.procs").write_text(str(os.getpid()))

    def resident(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) * 1024

    def figures(self):
        text = urllib.request.urlopen(f"http://{self.metrics}/metrics", timeout=20).read().decode()
        return {name: float(value) for name, value in re.findall(r"^(maskd\S+) (\S+)$", text, re.M)}

    def wait_until_ready(self):
        for _ in range(600):
            try:
                return self.figures()
            except OSError:
                time.sleep(0.1)
        sys.exit("churn: the server did not start")


class Watch(threading.Thread):
    """Reads what the server holds and what it says it holds, until stopped."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.over, self.peak, self.gaps = server, threading.Event(), 0, []
        self.sizes = []  # seconds since the start, resident bytes

    def run(self):
        began = time.monotonic()
        while not self.over.wait(0.2):
            try:
                before = self.server.resident()
                figures = self.server.figures()
                after = self.server.resident()
            except (OSError, TypeError):
                continue
            said = sum(value for name, value in figures.items()
                       if name.startswith("maskd_memory_bytes{"))
            self.peak = max(self.peak, before, after)
            self.sizes.append((time.monotonic() - began, after))
            held = (before + after) / 2
            self.gaps.append(abs(said - held) / held)


def take(stream, row, text, tokens, order):
    grammar = maskd.Grammar.json_schema(text, property_order=order)
    step = maskd.Step()
    step.open(row, grammar, wait_s=10)
    stream.submit(step)
    opened = stream.collect(120).rows[0]
    if opened.error is not None:
        stream.submit(maskd.Step().close(row))
        stream.collect(120)
        return opened.error.reason or opened.error.code
    step = maskd.Step()
    step.draft(row, tokens[:DRAFTS])
    stream.submit(step)
    answer = stream.collect(120).rows[0]
    stream.submit(maskd.Step().close(row))
    stream.collect(120)
    return "ok" if answer.error is None else answer.error.reason or answer.error.code


def turns(options, deadline):
    turn = 0
    while turn < options.passes if deadline is None else time.monotonic() < deadline:
        yield turn
        turn += 1


def work(address, cases, share, shares, options, counts, deadline):
    names = [each.split("=")[0] for each in options.tokenizer]
    encoders = {name: encoder(each) for name, each in zip(names, options.tokenizer) if len(names) > 1}
    with maskd.Client(address, timeout_s=120) as client:
        widths = {each["name"]: each["vocab_size"] for each in client.tokenizers()}
        streams = {name: client.open_stream(widths[name], tokenizer=name) for name in names}
        row = 0
        for turn in turns(options, deadline):
            for order in ("PROPERTY_ORDER_DECLARED", "PROPERTY_ORDER_ANY"):
                for number, (schema, text, tokens) in enumerate(cases):
                    if number % shares != share:
                        continue
                    if deadline is not None and time.monotonic() > deadline:
                        return
                    row += 1
                    name = names[(number + turn) % len(names)]
                    if encoders:
                        tokens = encoders[name](text)
                    try:
                        counts[take(streams[name], row, schema, tokens, order)] += 1
                    except maskd.MaskdError as error:
                        counts[error.code] += 1
                        if error.code in ("UNAVAILABLE", "CANCELLED"):
                            return


def vanish(address, cases, seed, options, counts, deadline):
    """Clients that are killed in the middle of their work, one after the other, until the deadline."""
    rng = random.Random(seed)
    spawn = multiprocessing.get_context("spawn")
    while time.monotonic() < deadline:
        some = rng.sample(cases, min(len(cases), 200))
        client = spawn.Process(target=work, args=(address, some, 0, 1, options, collections.Counter(), deadline))
        client.start()
        client.join(rng.uniform(3, 15))
        client.kill()
        client.join()
        counts["client killed"] += 1


def mib(number):
    return f"{number / (1 << 20):,.0f} MiB"


def print_settled(sizes, settled_minutes):
    settled = [size for seconds, size in sizes if seconds >= settled_minutes * 60]
    if not settled:
        return
    quarter = max(len(settled) // 4, 1)
    means = [sum(part) / len(part) for part in (settled[:quarter], settled[-quarter:])]
    print(f"resident from minute {settled_minutes:g} on: {mib(min(settled))} to {mib(max(settled))}, "
          f"{max(settled) / min(settled) - 1:.1%} apart; the last quarter's mean is "
          f"{means[1] / means[0] - 1:+.1%} of the first's")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--cases", required=True)
    parser.add_argument("--tokenizer", action="append", required=True)
    parser.add_argument("--limit_bytes", type=int, default=2 << 30)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--vanishing", type=int, default=0, help="clients more that are killed and start anew")
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--minutes", type=float, help="go on for so long, in place of --passes")
    parser.add_argument("--settled_minutes", type=float, default=5)
    parser.add_argument("--limit", type=int, default=0, help="schemas; 0: all")
    parser.add_argument("--flag", action="append", default=[], help="a further flag of the server")
    options = parser.parse_args()
    cases = list(read_cases(options.cases, options.limit))
    if options.vanishing > 0 and options.minutes is None:
        parser.error("--vanishing needs --minutes: clients that vanish are started until the time is over")
    counts, killed = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options, folder)
        server.wait_until_ready()
        start = server.resident()
        watch = Watch(server)
        watch.start()
        began = time.monotonic()
        deadline = None if options.minutes is None else began + options.minutes * 60
        clients = [threading.Thread(target=work, args=(server.address, cases, i, options.clients, options,
                                                       counts, deadline))
                   for i in range(options.clients)]
        clients += [threading.Thread(target=vanish, args=(server.address, cases, i, options, killed, deadline))
                    for i in range(options.vanishing)]
        for each in clients:
            each.start()
        for each in clients:
            each.join()
        seconds = time.monotonic() - began
        watch.over.set()
        watch.join()
        died = server.process.poll()
        print(f"{'in a control group of' if server.grouped else 'no control group; told'} "
              f"{mib(options.limit_bytes)}: {sum(counts.values()):,} rows in {seconds:.0f} s, "
              f"{'lives' if died is None else f'DIED, {died}'}")
        print("outcomes:", dict((counts + killed).most_common()))
        gaps = sorted(watch.gaps) or [0.0]
        print(f"resident: {mib(start)} at the start, peak {mib(watch.peak)}, "
              f"{watch.peak / options.limit_bytes:.0%} of the limit; gauges' sum off by "
              f"{gaps[len(gaps) // 2]:.1%} at the median, {gaps[-1]:.1%} at most, of {len(gaps)} scrapes")
        print_settled(watch.sizes, options.settled_minutes)
        if died is not None:
            return 1
        for after in (2, 10):
            time.sleep(after)
            figures = server.figures()
            resident = server.resident()
            kept = sum(figures.get(f'maskd_memory_bytes{{part="{part}"}}', 0)
                       for part in ("grammars", "masks"))
            print(f"{after} s later: {mib(resident)} resident, {resident / (start + kept) - 1:+.1%} of the start and "
                  f"what grammars and stores of masks hold, {mib(kept)}")
        server.process.send_signal(signal.SIGTERM)
        server.process.wait()
        if server.grouped:
            GROUP.rmdir()
    return 0


if __name__ == "__main__":
    sys.exit(main())
