// Says each session's steps by the verbs, which must be the golden requests, and reads the golden replies, which
// must be the golden masks. No server is needed.
import assert from "node:assert/strict";
import {test} from "node:test";

import {DecodeRequest, DecodeResponse, type Position, type StepReply, type Welcome} from "../src/gen/maskd/v1/mask_service.js";
import {Code, MaskdError, Step} from "../src/index.js";
import {MaskReader} from "../src/reader.js";
import {readReply} from "../src/result.js";
import {takeMessage} from "../src/step.js";
import {checkWelcome, helloOf} from "../src/stream.js";
import {expectResult, type GoldenStep, loadCases, loadGolden, optionsOf, sayAll, type Snapshots} from "./cases.js";

const heard = (text: string): DecodeResponse => DecodeResponse.decode(Buffer.from(text, "base64"));
const said = (text: string): DecodeRequest => DecodeRequest.decode(Buffer.from(text, "base64"));
const again = (request: DecodeRequest): DecodeRequest => DecodeRequest.decode(DecodeRequest.encode(request).finish());

for (const each of loadCases().filter(({kind}) => kind === "session")) {
  test(`golden ${each.name}`, () => {
    const golden = loadGolden(each.name);
    const hello = helloOf(optionsOf(each));
    assert.deepEqual(again({hello, step: undefined}), said(golden.hello));
    const welcome = heard(golden.welcome).welcome as Welcome;
    checkWelcome(hello, welcome);
    const masks = new MaskReader(welcome);
    const snapshots: Snapshots = new Map();
    const step = new Step();
    each.steps.forEach((verbs, i) => {
      const want = golden.steps[i] as GoldenStep;
      const message = {...takeMessage(sayAll(step, verbs, snapshots)), step: i + 1};
      assert.deepEqual(again({hello: undefined, step: message}), said(want.request));
      const result = readReply(heard(want.reply).step as StepReply, masks);
      for (const snapshot of result.snapshots) snapshots.set(snapshot.row, snapshot);
      expectResult(golden.masks, want, result);
    });
  });
}

const position = (fields: Partial<Position>): Position =>
    ({...(DecodeResponse.decode(POSITION).step?.rows[0]?.positions[0] as Position), ...fields});
// A reply with one row with one position without a form.
const POSITION = Buffer.from([0x12, 4, 0x12, 2, 0x1a, 0]);

const dense = (bytes: number, dictionarySlot?: number): Position =>
    position({dense: Buffer.alloc(bytes, 1), dictionarySlot});
const allowed = (...ids: number[]): Position => position({allowedIds: {ids}});
const delta = (base: number, wordIndices: number[], words: number[]): Position =>
    position({delta: {base, wordIndices, words}});
const biased = (bias: number, ...ids: number[]): Position =>
    ({...allowed(1), biases: ids.map((id) => ({id, bias}))});

function reader(vocabSize = 40): MaskReader {
  const welcome = heard(loadGolden("text_to_its_end").welcome).welcome as Welcome;
  const tokenizer = {...welcome.tokenizer as NonNullable<Welcome["tokenizer"]>, vocabSize};
  const masks = new MaskReader({...welcome, tokenizer, maskWords: Math.ceil(vocabSize / 32), dictionarySize: 2});
  masks.read(dense(4 * Math.ceil(vocabSize / 32), 0));
  return masks;
}

const BROKEN: Record<string, Position> = {
  "no form": position({}),
  "too short": dense(4),
  "too long": dense(9),
  "id past the vocabulary": allowed(40),
  "negative id": allowed(-1),
  "ids that do not ascend": allowed(3, 3),
  "empty slot": position({sameAs: 1}),
  "slot past the end": position({sameAs: 0xffffffff}),
  "put past the end": dense(8, 2),
  "put what is no mask": position({full: true, dictionarySlot: 1}),
  "delta of an empty slot": delta(1, [], []),
  "delta past the end": delta(0, [2], [1]),
  "uneven delta": delta(0, [0, 1], [1]),
  "temperature": {...allowed(1), temperature: NaN},
  "bias past the vocabulary": biased(1, 40),
  "bias not finite": biased(Infinity, 1),
  "biases that do not ascend": biased(1, 1, 1),
};

for (const [name, broken] of Object.entries(BROKEN)) {
  test(`broken position: ${name}`, () => {
    assert.throws(() => reader().read(broken), (error) => error instanceof MaskdError && error.code === Code.INTERNAL);
  });
}

test("a mask that is kept stays as it is, whatever its message's buffer becomes", () => {
  for (let offset = 0; offset < 4; ++offset) {
    const buffer = Buffer.alloc(16, 1);
    const masks = reader();
    const kept = masks.read(position({dense: buffer.subarray(offset, offset + 8), dictionarySlot: 0}));
    const changed = masks.read(delta(0, [1], [0x80]));
    buffer.fill(0xff);
    masks.read(position({allowedIds: {ids: [2]}, dictionarySlot: 0}));
    assert.deepEqual(kept.words(), Uint32Array.of(0x01010101, 0x01010101));
    assert.deepEqual(changed.words(), Uint32Array.of(0x01010101, 0x80));
  }
});

test("token 90 of 128 is word 2", () => {
  assert.deepEqual(reader(128).read(allowed(90)).words(), Uint32Array.of(0, 0, 67_108_864, 0));
});

test("logits that are too few are left alone", () => {
  const logits = new Float32Array(39);
  const isInvalid = (error: unknown): boolean => error instanceof MaskdError && error.code === Code.INVALID_ARGUMENT;
  assert.throws(() => reader().read(allowed(1)).apply(logits), isInvalid);
  assert.deepEqual(logits, new Float32Array(39));
  assert.throws(() => reader().read(allowed(1)).copyTo(new Uint32Array(1)), isInvalid);
});
