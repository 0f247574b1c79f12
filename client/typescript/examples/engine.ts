// Writes one JSON text with a model that guesses: each step masks random logits and takes the greatest. The server
// has its embedded vocabulary of single bytes.
//
//     maskd & npm run build && npm test && node out/examples/engine.js unix:/tmp/maskd.sock
import {Client, jsonSchema, Step} from "../src/index.js";  // "maskd" in a program of your own

const [row, width, end] = [7, 320, 256];

const client = await Client.connect(process.argv[2] ?? "unix:/tmp/maskd.sock");
const {grammarId} = await client.compile(jsonSchema({
  type: "object",
  required: ["age"],
  properties: {age: {type: "integer"}},
  additionalProperties: false,
}));
const stream = await client.openStream({logitsWidth: width});
const step = new Step().open(row, grammarId, {remainingTokens: 40});
const text: number[] = [];
for (;;) {
  stream.submit(step);  // returns at once, and empties the step
  const logits = Float32Array.from({length: width}, Math.random);  // the forward pass
  const result = await stream.collect();
  result.apply(row, logits);  // in place
  const token = logits.indexOf(Math.max(...logits));
  if (token === end) break;
  text.push(token);
  step.take(row, token);
}
console.log(Buffer.from(text).toString());
await stream.close();
client.close();
