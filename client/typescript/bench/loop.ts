// The loop of bench/client_loop_bench.cc in TypeScript: what a step of the client costs, every mask made dense.
//
//     node out/bench/loop.js ADDRESS LOGITS_WIDTH ROWS STEPS
//
// Each row writes [a-z]* with one token a step. Prints the p50 and p99 of the time from where a step's message begins
// until its masks lie in the engine's bitmask, in microseconds.
import {Client, regex, Step} from "../src/index.js";

const WARM_UP = 200;
const [address = "", ...numbers] = process.argv.slice(2);
const [width = 0, rows = 0, steps = 0] = numbers.map(Number);

const client = await Client.connect(address);
const stream = await client.openStream({logitsWidth: width});
const order = Array.from({length: rows}, (_, i) => i);
const words = Math.ceil(width / 32);
const bitmask = new Uint32Array(rows * words);
const step = new Step().waitForCompile(5000);
for (const row of order) step.open(row, regex("[a-z]*"));
const micros: number[] = [];
for (let i = 0; i < WARM_UP + steps; ++i) {
  const start = process.hrtime.bigint();
  if (i > 0) for (const row of order) step.take(row, 97);
  stream.submit(step);
  (await stream.collect()).copyMasks(order, bitmask, words);
  if (i >= WARM_UP) micros.push(Number(process.hrtime.bigint() - start) / 1000);
}
micros.sort((a, b) => a - b);
console.log([0.5, 0.99].map((part) => micros[Math.floor(steps * part)]?.toFixed(1)).join(" "));
await stream.close();
client.close();
