// An engine of tests/interop/rolling_restart.py, as tests/interop/README.md ("Rolling restart") says it.
//
//     node out/bench/rolling.js ADDRESSES LOGITS_WIDTH SEED PAUSE_MS KIND SOURCE [KIND SOURCE]...
import {setTimeout as sleep} from "node:timers/promises";

import {FailoverStream, type Grammar, Step, type StepResult} from "../src/index.js";

const [ROWS, LONGEST, REPORT_EVERY, END, TIMEOUT_MS] = [4, 48, 20, 256, 60_000];
const [addresses = "", width = 0, seed = "0", pauseMs = 0, ...texts] =
    process.argv.slice(2).map((word, i) => i === 1 || i === 3 ? Number(word) : word) as
        [string, number, string, number, ...string[]];
const grammars: Grammar[] = [];
for (let i = 0; i + 1 < texts.length; i += 2) grammars.push({kind: texts[i] ?? "", source: texts[i + 1] ?? ""});

const stream = await FailoverStream.open({addresses: addresses.split(","), stream: {logitsWidth: width}});
const step = new Step();
const order = Array.from({length: ROWS}, (_, i) => i);
const lengths = order.map(() => 0);
const words = Math.ceil(width / 32);
const bitmask = new Uint32Array(ROWS * words);
let digest = BigInt(seed);
order.forEach(open);
for (let steps = 1;; ++steps) {
  (await run()).copyMasks(order, bitmask, words);
  for (const [i, row] of order.entries()) {
    const mask = bitmask.subarray(i * words, (i + 1) * words);
    for (const word of mask) digest = BigInt.asUintN(64, (digest ^ BigInt(word)) * 1_099_511_628_211n);
    const token = choose(mask, Number(digest >> 33n) % width);
    const length = (lengths[i] ?? 0) + 1;
    const ends = token === END || length === LONGEST;
    lengths[i] = ends ? 0 : length;
    if (!ends) {
      step.take(row, token);
      continue;
    }
    step.close(row);
    order[i] = row + ROWS + 1;
    open(row + ROWS + 1);
  }
  if (steps % REPORT_EVERY === 0) console.log(steps, stream.moves, digest.toString(16).padStart(16, "0"));
  await sleep(pauseMs);
}

function open(row: number): void {
  step.open(row, grammars[row % grammars.length] as Grammar).waitForCompile(TIMEOUT_MS / 2);
}

/** The answer to the step, which went well. */
async function run(): Promise<StepResult> {
  await stream.submit(step);
  const result = await stream.collect({timeoutMs: TIMEOUT_MS});
  const fault = result.rows.find((row) => row.error !== undefined);
  if (fault !== undefined) throw new Error(`step ${result.step}, row ${fault.id}: ${fault.error?.message}`);
  return result;
}

/** The first allowed token at `start` or behind it, round and round. */
function choose(mask: Uint32Array, start: number): number {
  while (((mask[start >> 5] ?? 0) >>> (start & 31) & 1) === 0) start = (start + 1) % width;
  return start;
}
