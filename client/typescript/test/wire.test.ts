// What is written and read by hand is what the generated code writes and reads.
import assert from "node:assert/strict";
import {test} from "node:test";

import {DecodeRequest, DecodeResponse, type Position, type RowReply, type RowUpdate, type Step}
  from "../src/gen/maskd/v1/mask_service.js";
import {MaskdError} from "../src/index.js";
import {emptyStep} from "../src/step.js";
import {readResponse, writeStep} from "../src/wire.js";
import {loadCases, loadGolden} from "./cases.js";

const generated = (step: Step): Uint8Array => DecodeRequest.encode({hello: undefined, step}).finish();
const update = (fields: Partial<RowUpdate>): RowUpdate =>
    ({row: 0, rollback: 0, tokens: [], drafts: undefined, remainingTokens: undefined, wantForced: false, ...fields});

const NUMBERS = [0, 1, 127, 128, 16_383, 16_384, 2 ** 21, 2 ** 31 - 1];
const ROWS = [...NUMBERS, 2 ** 31, 2 ** 32 + 5, Number.MAX_SAFE_INTEGER];

test("a step is written as the generated code writes it", () => {
  const rows = [
    ...ROWS.map((row) => update({row})),
    ...NUMBERS.map((token) => update({row: 3, tokens: [token]})),
    update({row: 9, tokens: NUMBERS}),
    update({row: 9, tokens: new Array<number>(300).fill(97)}),
  ];
  for (const step of ROWS) {
    for (const row of rows) assert.deepEqual([...writeStep({...emptyStep(), step, rows: [row]})],
        [...generated({...emptyStep(), step, rows: [row]})]);
    for (const some of [[], rows]) {
      assert.deepEqual([...writeStep({...emptyStep(), step, rows: some})],
          [...generated({...emptyStep(), step, rows: some})]);
    }
  }
});

test("what is rare in a step is written by the generated code", () => {
  const rows = [{rollback: 2}, {tokens: [-1]}, {drafts: {tokens: [1], parents: []}}, {remainingTokens: 0},
    {wantForced: true}];
  const steps = [{close: [4]}, {snapshot: [4]}, {fork: [{parent: 1, child: 2}]}, {waitForCompileMs: 7},
    ...rows.map((fields) => ({rows: [update(fields)]}))];
  for (const fields of steps) {
    const step = {...emptyStep(), ...fields};
    assert.deepEqual([...writeStep(step)], [...generated(step)]);
  }
  assert.throws(() => writeStep({...emptyStep(), rows: [update({tokens: [0.5]})]}));
});

const position = (fields: Partial<Position>): Position =>
    ({...DecodeResponse.decode(Buffer.from([0x12, 4, 0x12, 2, 0x1a, 0])).step!.rows[0]!.positions[0]!, ...fields});
const row = (fields: Partial<RowReply>): RowReply =>
    ({...DecodeResponse.decode(Buffer.from([0x12, 2, 0x12, 0])).step!.rows[0]!, ...fields});

const POSITIONS = [{full: true}, {invalid: true}, {sameAs: 300}, {dense: Buffer.of(1, 2, 3, 4)}, {dense: Buffer.of()},
  {allowedIds: {ids: NUMBERS}}, {allowedIds: {ids: []}}, {forbiddenIds: {ids: [-1, 7]}}, {temperature: 0.5},
  {delta: {base: 1, wordIndices: [0, 200], words: [0xffffffff, 1]}}, {biases: [{id: 3, bias: 1.5}]},
  {full: true, dictionarySlot: 0}].map(position);
const ERROR = {code: 3, reason: "TOKEN_REFUSED", message: "no", place: "", token: undefined, retryAfterMs: 5};
const REPLY_ROWS = [...ROWS.map((id) => row({row: id, positions: POSITIONS})),
  row({state: 3, tokenCount: 2 ** 32 - 1, mayEnd: true, grammarId: "9f2c\u00e9", acceptedDrafts: 0}),
  row({forcedBytes: Buffer.of(0xff, 0), forcedTokens: NUMBERS, forcedDraft: [-1], error: ERROR})];
const REPLY = DecodeResponse.encode({welcome: undefined, goAway: undefined,
  step: {step: 2 ** 40, rows: REPLY_ROWS, snapshots: []}}).finish();

test("a reply is read as the generated code reads it", () => {
  assert.deepEqual(readResponse(Buffer.from(REPLY)), DecodeResponse.decode(Buffer.from(REPLY)));
  for (const each of loadCases().filter(({kind}) => kind === "session")) {
    const golden = loadGolden(each.name);
    for (const text of [golden.welcome, ...golden.steps.map(({reply}) => reply)]) {
      const bytes = Buffer.from(text, "base64");
      assert.deepEqual(readResponse(bytes), DecodeResponse.decode(bytes));
    }
  }
});

// A reply of one row of one position with the bytes.
function nested(...bytes: number[]): Buffer {
  const wrap = (tag: number, inner: number[]): number[] => [tag, inner.length, ...inner];
  return Buffer.from(wrap(0x12, wrap(0x12, wrap(0x1a, bytes))));
}

test("lists in parts and fields that are not known", () => {
  const messages = [[0x22, 4, 0x08, 5, 0x08, 6], [0x22, 6, 0x08, 5, 0x0a, 2, 6, 7], [0x18, 3, 0xa0, 0x06, 9],
    [0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8], [0xa2, 0x06, 1, 0], [0xa5, 0x06, 1, 2, 3, 4],
    [0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]];
  for (const bytes of messages) {
    const message = nested(...bytes);
    assert.deepEqual(readResponse(message), DecodeResponse.decode(message));
  }
});

test("what is no message is an error", () => {
  for (let length = 1; length < REPLY.length; ++length) {
    assert.throws(() => readResponse(Buffer.from(REPLY.subarray(0, length))), `${length} bytes`);
  }
  const messages = [[0x22, 2, 0x08], [0x12, 9, 1], [0x18], [0x18, ...new Array<number>(11).fill(0xff)], [0x4d, 1, 2],
    [0x00, 1], [0x0b, 1], [0xa1, 0x06, 1]];
  for (const bytes of messages) {
    assert.throws(() => readResponse(nested(...bytes)), MaskdError, bytes.join());
  }
  // A row's number past 2^53.
  assert.throws(() => readResponse(Buffer.of(0x12, 11, 0x12, 9, 0x08, 255, 255, 255, 255, 255, 255, 255, 127)), MaskdError);
});
