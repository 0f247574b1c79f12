// What all clients that spread agree on: tests/interop/spread.json.
import assert from "node:assert/strict";
import {test} from "node:test";

import {Loads, LookPace, placeToGo} from "../src/balance.js";
import {regex, Step} from "../src/index.js";
import {RowLedger} from "../src/ledger.js";
import {nameOf, serversOf} from "../src/resolve.js";
import {takeMessage} from "../src/step.js";
import {load} from "./cases.js";

interface Spread {
  places: {streams: number[]; moves: [number, number, number][]}[];
  old_figures: {streams: number[]; own: number; rank: number; place: number | null}[];
  pace: {event: string; soon: boolean}[];
  names: string[];
  servers: string[];
}

const spread = load("spread.json") as Spread;

test("streams go where all clients say", () => {
  assert(spread.places.length > 10);
  for (const {streams, moves} of spread.places) {
    const said: number[][] = [];
    streams.forEach((count, own) => {
      for (let rank = 1; rank <= count; ++rank) {
        const place = placeToGo(streams, own, rank);
        if (place !== undefined) said.push([own, rank, place]);
      }
    });
    assert.deepEqual(said, moves, String(streams));
  }
  for (const {streams, own, rank, place} of spread.old_figures) {
    assert.equal(placeToGo(streams, own, rank) ?? null, place, String(streams));
  }
});

test("looks come sooner where something has happened", () => {
  const pace = new LookPace(4_000);
  for (const [number, {event, soon}] of spread.pace.entries()) {
    if (event === "came") pace.came();
    if (event === "even" || event === "uneven") pace.looked(event === "uneven");
    const most = soon ? 500 : 4_000;
    const next = pace.nextMs();
    assert(next >= most / 2 && next <= most, `${number}: ${next}`);
  }
});

test("names are told from servers", () => {
  for (const name of spread.names) assert(nameOf(name) !== undefined, name);
  for (const server of spread.servers) assert.equal(nameOf(server), undefined, server);
});

test("a server that says nothing comes last", () => {
  const loads = new Loads();
  loads.streams.set("a", 3).set("c", 1);
  loads.rank = 3;
  assert.deepEqual(loads.leastFirst(["a", "b", "c"]), ["c", "a", "b"]);
  assert(loads.isUneven);
  assert.deepEqual([loads.placeFor("a"), loads.placeFor("b")], ["c", undefined]);
});

test("an address that cannot be resolved stands for itself", async () => {
  const resolve = async (address: string): Promise<string[]> => {
    if (address === "none") throw new Error("no such name");
    return ["b", "a"];
  };
  assert.deepEqual(await serversOf(["some", "none"], resolve), ["a", "b", "none"]);
});

test("a move compiles each grammar once", () => {
  const ledger = new RowLedger();
  const step = takeMessage(new Step().open(1, regex("a")).open(2, regex("a")).open(3, "id"));
  const answer = (id: number, grammarId: string) =>
      ({id, grammarId, state: "compiling", masks: [], error: undefined}) as never;
  ledger.apply(step, [answer(1, "g1"), answer(2, "g1"), answer(3, "id")]);
  assert(!ledger.isSettled);
  ledger.grammars.set("id", {kind: "regex", source: "b", options: undefined, documents: []});
  assert.deepEqual(ledger.compileRequests("llama").map(({tokenizer, grammar}) => [tokenizer, grammar?.source]),
      [["llama", "a"], ["llama", "b"]]);
});
