// The interop list of tests/interop, read and said by this client's verbs.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

import type {OpenRow} from "../src/gen/maskd/v1/mask_service.js";
import type {Mask, Row, Step, StepResult, StreamOptions} from "../src/index.js";

// From out/test to the repository.
export const interop = join(dirname(fileURLToPath(import.meta.url)), "../../../../tests/interop");

interface Bias {
  id: number;
  bias: number;
}

export interface Verb {
  verb: string;
  row?: number;
  rows?: number;
  child?: number;
  tokens?: number[];
  parents?: number[];
  count?: number;
  ms?: number;
  grammar?: {kind: string; source: string};
  grammar_id?: string;
  stop_ids?: number[];
  min_tokens?: number;
  remaining_tokens?: number;
  reasoning?: {end_tokens: number[]; max_tokens?: number};
  temperature?: number;
  biases?: Bias[];
}

/** A case of cases.json. */
export interface Case {
  name: string;
  kind: string;
  stream: {logits_width: number; short_forms?: boolean; dictionary_size?: number; want_temperature?: boolean;
    want_bias?: boolean};
  steps: Verb[][];
}

interface GoldenPosition {
  mask?: number;
  full?: boolean;
  invalid?: boolean;
  temperature?: number;
  biases?: Bias[];
}

interface GoldenRow {
  row: number;
  count: number;
  state: string;
  token_count: number;
  may_end: boolean;
  positions: GoldenPosition[];
  accepted_drafts?: number;
  error?: {code: number; reason: string; place: string; token?: {index: number; id: number}};
  forced_tokens?: number[];
  forced_draft?: number[];
}

export interface GoldenStep {
  request: string;
  reply: string;
  rows: GoldenRow[];
  snapshots: number[];
}

/** What a server answered to a session: golden/NAME.json. */
export interface Golden {
  hello: string;
  welcome: string;
  masks: string[];
  steps: GoldenStep[];
}

export const load = (name: string): unknown => JSON.parse(readFileSync(join(interop, name), "utf8"));

export const loadCases = (): Case[] => (load("cases.json") as {cases: Case[]}).cases;
export const loadGolden = (name: string): Golden => load(`golden/${name}.json`) as Golden;

export function optionsOf({stream}: Case): StreamOptions {
  return {logitsWidth: stream.logits_width, shortForms: stream.short_forms, dictionarySize: stream.dictionary_size,
    wantTemperature: stream.want_temperature, wantBias: stream.want_bias};
}

export type Snapshots = Map<number, OpenRow>;

function open(step: Step, verb: Verb, row: number): void {
  const grammar = verb.grammar_id ?? verb.grammar;
  assert(grammar !== undefined);
  step.open(row, grammar, {
    tokens: verb.tokens,
    stopIds: verb.stop_ids,
    minTokens: verb.min_tokens,
    remainingTokens: verb.remaining_tokens,
    temperature: verb.temperature,
    biases: verb.biases,
    reasoning: verb.reasoning && {endTokens: verb.reasoning.end_tokens, maxTokens: verb.reasoning.max_tokens},
  });
}

const VERBS: Record<string, (step: Step, verb: Verb, row: number, snapshots: Snapshots) => unknown> = {
  open,
  open_snapshot: (step, _, row, snapshots) => step.openSnapshot(snapshots.get(row) as OpenRow),
  take: (step, verb, row) => step.take(row, ...(verb.tokens ?? [])),
  rollback: (step, verb, row) => step.rollback(row, verb.count ?? 0),
  remaining: (step, verb, row) => step.setRemaining(row, verb.count ?? 0),
  draft: (step, verb, row) => step.draft(row, verb.tokens ?? [], verb.parents),
  want_forced: (step, _, row) => step.wantForced(row),
  snapshot: (step, _, row) => step.snapshot(row),
  fork: (step, verb, row) => step.fork(row, verb.child ?? 0),
  close: (step, _, row) => step.close(row),
  wait: (step, verb) => step.waitForCompile(verb.ms ?? 0),
};

export function sayAll(step: Step, verbs: Verb[], snapshots: Snapshots): Step {
  for (const verb of verbs) {
    const say = VERBS[verb.verb];
    assert(say !== undefined, `no verb ${verb.verb}`);
    const first = verb.row ?? 0;
    for (let row = first; row < first + (verb.rows ?? 1); ++row) say(step, verb, row, snapshots);
  }
  return step;
}

/** Holds a result to what every client must make of the reply. */
export function expectResult(masks: string[], want: GoldenStep, got: StepResult): void {
  assert.deepEqual(got.snapshots.map((open) => open.row), want.snapshots);
  let next = 0;
  for (const row of want.rows) {
    for (let i = 0; i < row.count; ++i) {
      const answer = got.rows[next++];
      assert(answer !== undefined, `no answer for row ${row.row + i}`);
      expectRow(masks, row, row.row + i, answer);
    }
  }
  assert.equal(next, got.rows.length);
}

function expectRow(masks: string[], want: GoldenRow, id: number, got: Row): void {
  assert.deepEqual([got.id, got.state, got.tokenCount, got.mayEnd, got.acceptedDrafts],
      [id, want.state.toLowerCase(), want.token_count, want.may_end, want.accepted_drafts]);
  assert.deepEqual([got.forcedTokens, got.forcedDraft], [want.forced_tokens ?? [], want.forced_draft ?? []]);
  assert.deepEqual(got.error && [got.error.code, got.error.reason, got.error.place],
      want.error && [want.error.code, want.error.reason, want.error.place]);
  if (want.error?.token) {
    const {index, id: token} = got.refusedToken ?? {};
    assert.deepEqual({index, id: token}, want.error.token);
  }
  assert.equal(got.masks.length, want.positions.length);
  want.positions.forEach((position, i) => expectMask(masks, position, got.masks[i] as Mask));
}

/** The words of a mask in hexadecimal digits of its bytes. */
function wordsOf(digits: string): Uint32Array {
  const bytes = Buffer.from(digits, "hex");
  return Uint32Array.from({length: bytes.length / 4}, (_, i) => bytes.readUInt32LE(4 * i));
}

function expectMask(masks: string[], want: GoldenPosition, got: Mask): void {
  assert.deepEqual([got.full, got.invalid], [want.full ?? false, want.invalid ?? false]);
  assert.equal(got.temperature, want.temperature);
  assert.deepEqual(got.biases, want.biases ?? []);
  if (want.mask === undefined) {
    assert.equal(got.words(), undefined);
    return;
  }
  const words = wordsOf(masks[want.mask] as string);
  const row = new Uint32Array(words.length + 2).fill(7);
  got.copyTo(row);
  assert.deepEqual(row, Uint32Array.of(...words, 0, 0), got.form);
  assert.deepEqual(got.words(), words, got.form);
  expectApplied(words, want, got);
}

/** Masks logits wider than the words. */
function expectApplied(words: Uint32Array, want: GoldenPosition, mask: Mask): void {
  const logits = Float32Array.from({length: 32 * words.length + 5}, (_, i) => i + 1);
  mask.apply(logits);
  logits.forEach((got, i) => {
    let expected = -Infinity;
    if (((words[i >>> 5] ?? 0) >>> (i & 31)) & 1) {
      expected = i + 1 + (want.biases?.find((bias) => bias.id === i)?.bias ?? 0);
      expected /= want.temperature || 1;
    }
    assert.equal(got, expected, `logit ${i}`);
  });
}
