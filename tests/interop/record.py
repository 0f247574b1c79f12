#!/usr/bin/env python3
"""Records what a real server answers to the sessions of cases.json, as golden/NAME.json.

    scripts/python-stubs build/python-stubs
    PYTHONPATH=build/python-stubs build/venv/bin/python tests/interop/record.py [--check]

Each session runs twice on one server: as the case says, whose bytes are kept, and with dense masks alone,
whose words are what every client must make of those bytes. So no reader of short forms has a say here.
--check records anew, writes nothing and compares what does not depend on the server's choice of forms.
"""

import argparse
import base64
import json
import os
import pathlib
import queue
import subprocess
import sys
import tempfile

import grpc
from maskd.v1 import mask_service_pb2 as wire
from maskd.v1 import mask_service_pb2_grpc as services

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SHORT_FORMS = [wire.ROW_FORM_SAME_AS, wire.ROW_FORM_ALLOWED_IDS, wire.ROW_FORM_FORBIDDEN_IDS,
               wire.ROW_FORM_DELTA]
TIMEOUT_S = 20


class Stream:
    """One Decode call, message by message."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._requests: queue.SimpleQueue = queue.SimpleQueue()
        self._call = services.MaskServiceStub(channel).Decode(iter(self._requests.get, None),
                                                              timeout=TIMEOUT_S)

    def ask(self, request: wire.DecodeRequest) -> wire.DecodeResponse:
        self._requests.put(request)
        return next(self._call)

    def close(self) -> None:
        self._requests.put(None)
        for response in self._call:
            raise RuntimeError(f"nobody asked for {response}")


def hello_of(stream: dict, dense: bool) -> wire.DecodeRequest:
    """As every client says it: fields at their defaults are absent."""
    hello = wire.Hello(protocol_version=1, logits_width=stream["logits_width"],
                       want_temperature=stream.get("want_temperature", False),
                       want_bias=stream.get("want_bias", False))
    if stream.get("short_forms", True) and not dense:
        hello.row_forms.extend(SHORT_FORMS)
        hello.dictionary_size = stream.get("dictionary_size", 256)
    return wire.DecodeRequest(hello=hello)


def open_row(verb: dict, row: int) -> wire.OpenRow:
    names = ("tokens", "stop_ids", "min_tokens", "remaining_tokens", "temperature", "biases", "reasoning",
             "grammar", "grammar_id")
    return wire.OpenRow(row=row, **{name: verb[name] for name in names if name in verb})


def say(step: wire.Step, verb: dict, row: int, snapshots: dict[int, wire.OpenRow]) -> None:
    """Adds one verb for one row."""
    kind = verb["verb"]
    if kind == "open":
        step.open.append(open_row(verb, row))
    elif kind == "open_snapshot":
        step.open.append(snapshots[row])
    elif kind == "fork":
        step.fork.append(wire.ForkRow(parent=row, child=verb["child"]))
    elif kind in ("snapshot", "close"):
        getattr(step, kind).append(row)
    elif kind == "wait":
        step.wait_for_compile_ms = verb["ms"]
    else:
        update = next((each for each in step.rows if each.row == row), None)
        move(update or step.rows.add(row=row), verb)


def move(update: wire.RowUpdate, verb: dict) -> None:
    kind = verb["verb"]
    if kind == "take":
        update.tokens.extend(verb["tokens"])
    elif kind == "rollback":
        update.rollback = verb["count"]
    elif kind == "remaining":
        update.remaining_tokens = verb["count"]
    elif kind == "want_forced":
        update.want_forced = True
    elif kind == "draft":
        update.drafts.CopyFrom(wire.Drafts(tokens=verb["tokens"], parents=verb.get("parents", [])))
    else:
        raise ValueError(f"no verb {kind}")


def step_of(number: int, verbs: list[dict], snapshots: dict[int, wire.OpenRow]) -> wire.DecodeRequest:
    step = wire.Step(step=number)
    for verb in verbs:
        first = verb.get("row", 0)
        for row in range(first, first + verb.get("rows", 1)):
            say(step, verb, row, snapshots)
    return wire.DecodeRequest(step=step)


def text(message) -> str:
    return base64.b64encode(message.SerializeToString(deterministic=True)).decode()


class Masks:
    """The session's masks, each once, as hexadecimal digits of their bytes."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def index(self, words: bytes) -> int:
        if words.hex() not in self.words:
            self.words.append(words.hex())
        return self.words.index(words.hex())


def position_of(dense: wire.Position, masks: Masks) -> dict:
    form = dense.WhichOneof("form")
    kept: dict = {"mask": masks.index(dense.dense)} if form == "dense" else {form: True}
    if dense.HasField("temperature"):
        kept["temperature"] = dense.temperature
    if dense.biases:
        kept["biases"] = [{"id": bias.id, "bias": bias.bias} for bias in dense.biases]
    return kept


def row_of(reply: wire.RowReply, masks: Masks) -> dict:
    row: dict = {"row": reply.row, "state": wire.RowState.Name(reply.state).removeprefix("ROW_STATE_"),
                 "token_count": reply.token_count, "may_end": reply.may_end,
                 "positions": [position_of(each, masks) for each in reply.positions]}
    if reply.HasField("accepted_drafts"):
        row["accepted_drafts"] = reply.accepted_drafts
    if reply.HasField("error"):
        error = reply.error
        row["error"] = {"code": error.code, "reason": error.reason, "place": error.place}
        if error.HasField("token"):
            row["error"]["token"] = {"index": error.token.index, "id": error.token.id}
    for name in ("forced_tokens", "forced_draft"):
        if getattr(reply, name):
            row[name] = list(getattr(reply, name))
    return row


def rows_of(reply: wire.StepReply, masks: Masks) -> list[dict]:
    """The rows in order; `count` rows one after the other that are alike are said once."""
    rows: list[dict] = []
    for each in reply.rows:
        row = row_of(each, masks)
        last = rows[-1] if rows else None
        if last is not None and row["row"] == last["row"] + last["count"] and \
                {**last, "row": 0, "count": 1} == {**row, "row": 0, "count": 1}:
            last["count"] += 1
        else:
            rows.append({**row, "count": 1})
    return rows


def same_but_for_forms(short: wire.StepReply, dense: wire.StepReply) -> bool:
    """Whether two replies say the same, masks aside."""
    bare = []
    for reply in (short, dense):
        copy = wire.StepReply()
        copy.CopyFrom(reply)
        for row in copy.rows:
            count = len(row.positions)
            del row.positions[:]
            row.positions.extend([wire.Position()] * count)
        bare.append(copy)
    return bare[0] == bare[1]


def forms_of(reply: wire.StepReply) -> set[str]:
    return {position.WhichOneof("form") for row in reply.rows for position in row.positions}


def record(case: dict, channel: grpc.Channel) -> dict:
    short, dense = Stream(channel), Stream(channel)
    hello = hello_of(case["stream"], dense=False)
    dense.ask(hello_of(case["stream"], dense=True))
    golden: dict = {"name": case["name"], "hello": text(hello), "welcome": text(short.ask(hello)),
                    "steps": []}
    masks, forms, snapshots = Masks(), set(), {}
    for number, verbs in enumerate(case["steps"], start=1):
        request = step_of(number, verbs, snapshots)
        expected = dense.ask(request)   # first: the short stream's grammars are there by then
        reply = short.ask(request)
        if not same_but_for_forms(reply.step, expected.step):
            raise RuntimeError(f"{case['name']}, step {number}: {reply} and {expected}")
        forms |= forms_of(reply.step)
        snapshots.update({each.row: each for each in reply.step.snapshots})
        golden["steps"].append({"request": text(request), "reply": text(reply),
                                "rows": rows_of(expected.step, masks),
                                "snapshots": [each.row for each in reply.step.snapshots]})
    missing = set(case.get("forms", [])) - forms
    if missing:
        raise RuntimeError(f"{case['name']}: no position came as {missing}, only {forms}")
    for stream in (short, dense):
        stream.close()
    golden["masks"] = masks.words
    return golden


def meaning(golden: dict) -> dict:
    """What must be the same whatever forms the server chose: not the replies' bytes."""
    steps = [{key: step[key] for key in ("request", "rows", "snapshots")} for step in golden["steps"]]
    return {**{key: golden[key] for key in ("name", "hello", "masks")}, "steps": steps}


def written(golden: dict) -> str:
    """One step a line, so that a change is seen."""
    lines = [f' "{key}": {json.dumps(golden[key])},' for key in ("name", "hello", "welcome", "masks")]
    steps = ",\n  ".join(json.dumps(step) for step in golden["steps"])
    return "{\n" + "\n".join(lines) + f'\n "steps": [\n  {steps}\n ]\n}}\n'


def run(cases: list[dict], address: str, check: bool) -> int:
    wrong = 0
    with grpc.insecure_channel(address) as channel:
        grpc.channel_ready_future(channel).result(timeout=TIMEOUT_S)
        for case in cases:
            path = HERE / "golden" / f"{case['name']}.json"
            golden = record(case, channel)
            if not check:
                path.write_text(written(golden))
            elif not path.exists() or meaning(json.loads(path.read_text())) != meaning(golden):
                print(f"{path.relative_to(ROOT)}: the server answers otherwise", file=sys.stderr)
                wrong += 1
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="Records golden requests and replies.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    parser.add_argument("--server", default=os.environ.get("MASKD_SERVER", ROOT / "build/release/service/maskd"))
    arguments = parser.parse_args()
    cases = [case for case in json.loads((HERE / "cases.json").read_text())["cases"]
             if case["kind"] == "session"]
    with tempfile.TemporaryDirectory() as folder:
        address = f"unix:{folder}/s"
        vocabulary = f"pairs={HERE}/pairs.tiktoken,special=<end>:256,stop=<end>"
        command = [arguments.server, f"--listen={address}", "--metrics_listen=",
                   f"--tokenizer={vocabulary}"]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            try:
                wrong = run(cases, address, arguments.check)
            finally:
                server.terminate()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
