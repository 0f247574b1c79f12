import assert from "node:assert/strict";
import {mock, test} from "node:test";

import {Code, MaskdError} from "../src/index.js";
import {Limit} from "../src/limit.js";
import {ATTEMPT_DELAY_MS, Race} from "../src/race.js";
import {findServer, type Guest} from "../src/search.js";
import {ServerList} from "../src/servers.js";
import type {Stream} from "../src/stream.js";

const refused = (retryAfterMs?: number): MaskdError =>
    new MaskdError(Code.RESOURCE_EXHAUSTED, "full", {reason: "", place: "", retryAfterMs});

/** "there" opens at once, "refuses" fails at once, all else is silent until it is ended. */
function openFake(address: string, signal: AbortSignal): Promise<Stream> {
  if (address === "there") return Promise.resolve({cancel() {}} as Stream);
  if (address === "refuses") return Promise.reject(refused());
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(refused())));
}

/** Runs on a simulated clock. */
async function simulated<T>(run: () => Promise<T>): Promise<{said: T; afterMs: number}> {
  let now = 0;
  mock.timers.enable({apis: ["setTimeout"]});
  const clock = mock.method(performance, "now", () => now);
  try {
    let isOver = false;
    const end = run().finally(() => {
      isOver = true;
    });
    for (let settled = 0; settled < 20; ++settled) await new Promise(setImmediate);
    while (!isOver) {
      ++now;
      mock.timers.tick(1);
      for (let settled = 0; settled < 5; ++settled) await new Promise(setImmediate);
    }
    return {said: await end, afterMs: now};
  } finally {
    clock.mock.restore();
    mock.timers.reset();
  }
}

for (const [addresses, expected, afterMs] of [
  [["there", "silent"], ["there"], 0],
  [["silent", "silent", "silent", "there"], ["there"], 3 * ATTEMPT_DELAY_MS],
  [["refuses", "refuses", "there"], ["refuses", "refuses", "there"], 0],
  [["silent", "refuses", "there"], ["refuses", "there"], ATTEMPT_DELAY_MS],
  [["refuses", "refuses"], ["refuses", "refuses"], 0],
] as const) {
  test(`a race of ${addresses}`, async () => {
    const race = new Race([...addresses], openFake, new Limit({}));
    const ran = await simulated(async () => {
      const said: string[] = [];
      for (let tried = await race.next(); tried !== undefined; tried = await race.next()) {
        said.push(tried.address);
        if (tried.stream !== undefined) break;
      }
      return said;
    });
    race.close();
    assert.deepEqual(ran, {said: expected, afterMs});
  });
}

const OPTIONS = {giveUpAfterMs: 10_000, patienceMs: 2_000, retry: {maxAttempts: 4, firstDelayMs: 20, maxDelayMs: 1_000}};

test("a server that refuses for load is asked again when it said, not before", async () => {
  const asked: number[] = [];
  const guest: Guest = {
    open: (_, __, signal) => openFake("there", signal),
    async settle() {
      asked.push(performance.now());
      if (asked.length < 3) throw refused(1_500);
    },
  };
  const {said} = await simulated(async () => {
    await findServer(new ServerList(["a"]), guest, OPTIONS, new Limit({}));
    return asked;
  });
  assert.deepEqual(said, [0, 1_500, 3_000]);
});

test("no wait begins that would pass the time, and the caller's own ends it", async () => {
  const guest: Guest = {
    open: (_, __, signal) => openFake("there", signal),
    async settle() {
      throw refused(20_000);
    },
  };
  const search = (limit: Limit, giveUpAfterMs: number) => simulated(() =>
      findServer(new ServerList(["a"]), guest, {...OPTIONS, giveUpAfterMs}, limit)
          .then(() => undefined, ({code, retryAfterMs}: MaskdError) => ({code, retryAfterMs})));
  assert.deepEqual(await search(new Limit({}), 10_000),
      {said: {code: Code.RESOURCE_EXHAUSTED, retryAfterMs: 20_000}, afterMs: 0});
  const wait = mock.method(performance, "now", () => 0);
  const limit = new Limit({timeoutMs: 300});
  wait.mock.restore();
  assert.deepEqual(await search(limit, 60_000),
      {said: {code: Code.DEADLINE_EXCEEDED, retryAfterMs: undefined}, afterMs: 300});
});
