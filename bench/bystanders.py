#!/usr/bin/env python3
"""What hard loads do to somebody else: a plain row's step beside each of them, and beside compiles without end.

    bench/bystanders.py [--only unique,drafts] [--apart] [--rounds 3] [--seconds 8] [--result bench/results/bystanders.json]

Each load has a server of its own. The bystander is bench/client_loop_bench: one row of [a-z]* over the embedded vocabulary by
gRPC, a step every 2 ms, as an engine sees it. It is timed alone and beside the load by turns, and the medians of --rounds
count. The load is bench/heavy_load, over Llama 3's vocabulary, each step right behind the last one:

  unique, min_properties, if, contains   64 rows of that keyword, each with 10 to 40 tokens left
  rare       the same of 64 random schemas of rare keywords
  drafts     1,000 rows with 400 drafts each, of an array of distinct strings
  words      5 MB a step: 1,000 rows take 1,700 tokens each
  replay     256 rows are opened again in each step, with 4,000 tokens each
  snapshots  each step asks for snapshots of 256 rows of 4,000 tokens each
  new_texts  64 rows are opened with the texts of new grammars and 16,000 tokens each, which they take behind the compiles
  compiles   8 compiles at a time, of the slowest schemas of MaskBench (--cases)
  overload   10 times as many compiles of those as the server can do, whose peak is measured before, beside the same bystander
  small      the same of 300 other schemas, of 0.1 to 1 ms each
  waiting    520 watchers of health, and 1,000 callers who wait for compiles of the slowest, 125 for one

What is held fixed: all programs run in one session, so that their priorities hold between each other (autogroups); the load's
client has the least (SCHED_IDLE), but for compiles, whose clients must send on beside busy compile threads. Server and
bystander have the usual one. No program is pinned. A step that is not answered in 30 s ends the run.

With --apart clients take no processor from the server, as if they ran on other machines: the server is pinned to the first
half of the processors, and every client and this program to the others. Every load's client has the least priority then, and what the bystander
waited for its own processor is taken off its times, so that it waits for the server and not for its neighbours. What is held fixed otherwise, peak and marks are the same.

A mark is met when the bystander's p99 is at most 3 times that alone and at most 1 ms; beside overload and small, at most 2
times, with 90 % of the peak compiled and 99 of 100 refusals within 5 ms; beside waiting, when health answers within 50 ms and
a tiny compile within 100, each time. Refusals and those two are timed by callers of the usual priority. Exit status: 1 when
one is missed.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAUSE_US = 2000
OPEN_S = 0.3  # from the bystander's start, whose stream is there before a load can refuse it, to the load's
LEAD_S = 4.0  # from there on to the steps that count: the load reads its schemas
RATIO, MOST_MS = 3, 1.0
OVERLOAD_RATIO, GOODPUT, REFUSED_MS = 2, 0.9, 5
HEALTH_MS, TINY_MS = 50, 100
TIMES, AT_ONCE, CALLERS = 10, 8, 1000
STREAMS = ["unique", "min_properties", "if", "contains", "rare", "drafts", "words", "replay", "snapshots", "new_texts"]
LOADS = [*STREAMS, "compiles", "overload", "small", "waiting"]


class Bench:
    """A server, and the programs that call it."""

    def __init__(self, options, folder: pathlib.Path):
        self.options, self.address = options, f"unix:{folder}/s"
        self.log = (folder / "log").open("w")
        mine, others = options.halves
        self.pinned = pinned_to(others)
        self.process = subprocess.Popen(
            [*pinned_to(mine), options.maskd or options.build / "service/maskd", f"--listen={self.address}", "--metrics_listen=",
             "--tokenizer=bytes", f"--tokenizer={options.tokenizer}", *options.flag],
            stdin=subprocess.DEVNULL, stderr=self.log)
        self.bystander(0.1)  # waits for it

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def start_bystander(self, seconds: float, warm_up: float) -> subprocess.Popen:
        steps = [str(int(each * 1e6 / PAUSE_US)) for each in (seconds, warm_up)]
        command = [*self.pinned, self.options.build / "bench/client_loop_bench", self.address, "320", "1", steps[0], "grpc",
                   str(PAUSE_US), steps[1], *(["apart"] if self.pinned else [])]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def bystander(self, seconds: float) -> list:
        return times_of(self.start_bystander(seconds, 0.4))

    def load(self, name: str, seconds: float, *flags: str, is_idle: bool = True) -> subprocess.Popen:
        command = [*self.pinned, self.options.build / "bench/heavy_load", f"--server={self.address}", "--tokenizer=llama3",
                   f"--load={name}", f"--seconds={seconds}", f"--cases={self.options.cases}", *flags]
        first = ["chrt", "-i", "0"] if is_idle else []
        return subprocess.Popen([*first, *command], stdout=subprocess.PIPE, text=True)

    def peak(self, seconds: float, schemas: str, is_idle: bool) -> float:
        """Compiles a second, as many at a time as never wait long, beside the bystander."""
        bystander = self.start_bystander(seconds, OPEN_S)
        load = self.load("compiles", seconds, schemas, f"--at_once={AT_ONCE}", is_idle=is_idle)
        times_of(bystander)
        return result_of(load)["done_a_second"]

    def cpu(self) -> float:
        """Seconds of processor of the server so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100


def times_of(bystander: subprocess.Popen) -> list:
    """p50, p99 and longest of its steps, in milliseconds."""
    output = bystander.communicate()[0]
    if bystander.returncode != 0:
        sys.exit(f"bystanders: the bystander ended with {bystander.returncode}")
    return [float(number) / 1000 for number in output.split()]


def result_of(load: subprocess.Popen) -> dict:
    output = load.communicate()[0]
    if load.returncode != 0:
        sys.exit(f"bystanders: a load ended with {load.returncode}")
    return json.loads(output)


def halves() -> tuple:
    """The processors that this may use: the first half, and the others."""
    mine = sorted(os.sched_getaffinity(0))
    if len(mine) < 2:
        sys.exit("bystanders: --apart needs two processors")
    return mine[:len(mine) // 2], mine[len(mine) // 2:]


def pinned_to(processors: list) -> list:
    """What begins a command that may use these alone; none: all."""
    return ["taskset", "-c", ",".join(map(str, processors))] if processors else []


@contextlib.contextmanager
def running(options):
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, pathlib.Path(folder))
        try:
            yield bench
        finally:
            bench.end()


def by_turns(bench: Bench, start, seconds: float, rounds: int) -> dict:
    """The bystander alone and beside what `start(seconds)` starts, which gives programs whose results are kept."""
    alone, beside, results, cpu = [], [], [], []
    for _ in range(rounds):
        alone.append(bench.bystander(seconds))
        bystander = bench.start_bystander(seconds, OPEN_S + LEAD_S)
        time.sleep(OPEN_S)
        before, begin = bench.cpu(), time.monotonic()
        loads = start(seconds + LEAD_S)  # and their own start
        beside.append(times_of(bystander))
        results.append([result_of(load) for load in loads])
        cpu.append((bench.cpu() - before) / (time.monotonic() - begin))
    return {"alone": alone, "beside": beside, "results": results, "cpu": statistics.median(cpu)}


def median(measured: list, at: int) -> float:
    return statistics.median(each[at] for each in measured)


def late(run: dict, ratio: float, most_ms: float | None) -> list:
    """Marks that the bystander misses."""
    alone, beside = median(run["alone"], 1), median(run["beside"], 1)
    missed = [f"p99 over {ratio} times"] if beside > ratio * alone else []
    return missed + ([f"p99 over {most_ms:g} ms"] if most_ms and beside > most_ms else [])


def measure_streams(bench: Bench, name: str, options) -> tuple:
    run = by_turns(bench, lambda seconds: [bench.load(name, seconds)], options.seconds, options.rounds)
    results = [each for [each] in run["results"]]
    steps = statistics.median(each["steps"] for each in results)
    step = statistics.median(each["step_ms"]["p50"] for each in results)
    failed = sum(each["failed"] for each in results)
    done = f"{steps:.0f} steps of {step:.3g} ms" + (f", {failed} rows failed: {results[0]['fault']}" if failed else "")
    return run, done, late(run, RATIO, MOST_MS)


def measure_compiles(bench: Bench, _name: str, options) -> tuple:
    def start(seconds):
        return [bench.load("compiles", seconds, f"--at_once={AT_ONCE}", is_idle=options.apart)]
    run = by_turns(bench, start, options.seconds, options.rounds)
    rate = statistics.median(each["done_a_second"] for [each] in run["results"])
    return run, f"{rate:.0f} compiles a second", late(run, RATIO, MOST_MS)


def measure_overload(bench: Bench, name: str, options) -> tuple:
    schemas = f"--slowest={'true' if name == 'overload' else 'false'}"
    peak = max(bench.peak(options.seconds, schemas, is_idle=options.apart) for _ in range(options.rounds))

    def start(seconds):
        return [bench.load("overload", seconds, schemas, f"--per_second={TIMES * peak}",
                           is_idle=options.apart),
                bench.load("overload", seconds, schemas, "--per_second=50", is_idle=False)]
    run = by_turns(bench, start, options.seconds, options.rounds)
    good = statistics.median(sum(each["done_a_second"] for each in loads) for loads in run["results"])
    sent = statistics.median(sum(each["sent_a_second"] for each in loads) for loads in run["results"])
    refused = statistics.median(loads[1]["refused_ms"]["p99"] for loads in run["results"])
    count = sum(loads[1]["refused_ms"]["count"] for loads in run["results"])
    done = f"{sent:.0f} sent, {good:.0f} of {peak:.0f} compiled a second; {count} refusals timed, p99 {refused:.1f} ms"
    missed = late(run, OVERLOAD_RATIO, None)
    missed += ["goodput"] if good < GOODPUT * peak else []
    missed += ["refusals"] if refused > REFUSED_MS or count == 0 else []
    missed += [f"sent {sent / peak:.1f} times"] if sent < 0.9 * TIMES * peak else []
    return run, done, missed


def measure_waiting(bench: Bench, _name: str, options) -> tuple:
    def start(seconds):
        loads = [bench.load("waiting", seconds, f"--at_once={CALLERS}", is_idle=options.apart)]
        time.sleep(LEAD_S / 2)  # the callers are there
        return [*loads, bench.load("probe", seconds - LEAD_S / 2, is_idle=False)]
    run = by_turns(bench, start, options.seconds, options.rounds)
    probes = [probe for _, probe in run["results"]]
    health = max(each["health_ms"]["max"] for each in probes)
    tiny = max(each["compile_ms"]["max"] for each in probes)
    p99 = [statistics.median(each[what]["p99"] for each in probes) for what in ("health_ms", "compile_ms")]
    rate = statistics.median(each["done_a_second"] for each, _ in run["results"])
    done = (f"{rate:.0f} callers answered a second; health p99 {p99[0]:.1f}, longest {health:.1f} ms; "
            f"tiny compile p99 {p99[1]:.1f}, longest {tiny:.1f} ms")
    missed = (["health"] if health > HEALTH_MS else []) + (["tiny compile"] if tiny > TINY_MS else [])
    return run, done, missed


MEASURES = {"compiles": measure_compiles, "overload": measure_overload, "small": measure_overload,
            "waiting": measure_waiting}


def row_of(name: str, run: dict, done: str, missed: list) -> list:
    alone, beside = median(run["alone"], 1), median(run["beside"], 1)
    best = min(each[1] for each in run["beside"])
    longest = max(each[2] for each in run["beside"])
    return [name, round(median(run["alone"], 0), 3), round(alone, 3), round(median(run["beside"], 0), 3), round(beside, 3),
            round(best, 3), round(longest, 2), round(beside / alone, 1), round(run["cpu"], 2), done,
            ", ".join(missed) or "met"]


COLUMNS = ["p50 alone, ms", "p99 alone", "p50 beside", "p99 beside", "best p99", "longest", "ratio of p99",
           "processors of the server", "the load", "marks"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--maskd", help="another server's program")
    parser.add_argument("--tokenizer", default=f"llama3={ROOT}/build/vocab/llama3.tiktoken,preset=llama3")
    parser.add_argument("--cases", default=ROOT.parent / "shared/maskbench/open.jsonl.gz")
    parser.add_argument("--flag", action="append", default=[], help="more of the server")
    parser.add_argument("--apart", action="store_true", help="server and clients have processors each")
    parser.add_argument("--only", default=",".join(LOADS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--result", type=pathlib.Path, help="a result file, for all loads")
    options = parser.parse_args()
    options.halves = halves() if options.apart else ([], [])
    if options.apart:
        os.sched_setaffinity(0, options.halves[1])
    rows = []
    print("| load | " + " | ".join(COLUMNS) + " |\n| --- |" + " --: |" * 8 + " --- | --- |")
    for name in options.only.split(","):
        with running(options) as bench:
            measure = MEASURES.get(name, measure_streams)
            rows.append(row_of(name, *measure(bench, name, options)))
        print("| " + " | ".join(str(cell) for cell in rows[-1]) + " |", flush=True)
    if options.result:
        sys.path.insert(0, str(ROOT / "tests/front"))
        import front
        front.write_result(options.result, COLUMNS, rows)
    return any(row[-1] != "met" for row in rows)


if __name__ == "__main__":
    sys.exit(main())
