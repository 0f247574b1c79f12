import assert from "node:assert/strict";
import {test} from "node:test";

import {Code, MaskdError, regex, Step} from "../src/index.js";
import {RowLedger} from "../src/ledger.js";
import {Mask} from "../src/mask.js";
import {failedRow, type Row} from "../src/result.js";
import {emptyStep, takeMessage} from "../src/step.js";

const MASK = new Mask({vocabSize: 0, wordCount: 0}, "full");

const answer = (tokenCount: number, fields: Partial<Row> = {}): Row =>
    ({...failedRow(1, new MaskdError(Code.OK, "")), state: "active", error: undefined, tokenCount, masks: [MASK], ...fields});

/** Row 1 stands at tokens 10 and 11 of its grammar g1. */
function opened(): RowLedger {
  const ledger = new RowLedger();
  ledger.apply(takeMessage(new Step().open(1, regex("a*")).take(1, 10, 11)), [answer(2, {grammarId: "g1"})]);
  return ledger;
}

const taking = (...tokens: number[]) => takeMessage(new Step().take(1, ...tokens));
const tokensOf = (ledger: RowLedger, row = 1) => ledger.rows.get(row)?.open.tokens;
const has = (code: Code) => (error: unknown): boolean => error instanceof MaskdError && error.code === code;

test("books what replies say", () => {
  const ledger = opened();
  ledger.apply(takeMessage(new Step().rollback(1, 1).take(1, 12, 13)), [answer(3)]);
  assert.deepEqual(tokensOf(ledger), [10, 12, 13]);
});

test("keeps what a refused token leaves", () => {
  const ledger = opened();
  const details = {reason: "TOKEN_REFUSED", place: "tokens[1]", retryAfterMs: undefined};
  ledger.apply(taking(12, 13), [answer(3, {error: new MaskdError(Code.INVALID_ARGUMENT, "", details)})]);
  assert.deepEqual(tokensOf(ledger), [10, 11, 12]);
});

test("books no lie", () => {
  for (const replies of [[answer(4)], [answer(2)], [answer(3), answer(3)]]) {
    const ledger = opened();
    const step = takeMessage(new Step().take(1, 12).open(2, regex("b")));
    const compiling = answer(0, {id: 2, state: "compiling", masks: []});
    assert.throws(() => ledger.apply(step, [...replies, compiling]), has(Code.INTERNAL));
    assert.equal(ledger.rows.size, 1);
    assert.deepEqual(tokensOf(ledger), [10, 11]);
  }
});

test("pins the grammar", () => {
  const ledger = opened();
  assert.throws(() => ledger.applyReplay([answer(2, {grammarId: "g2"})]), has(Code.FAILED_PRECONDITION));
  ledger.format = "another";
  ledger.applyReplay([answer(2, {grammarId: "g2"})]);
});

test("forks are independent", () => {
  const ledger = opened();
  ledger.apply(takeMessage(new Step().fork(1, 2)), []);
  ledger.apply(taking(12), [answer(3)]);
  assert.deepEqual([tokensOf(ledger), tokensOf(ledger, 2)], [[10, 11, 12], [10, 11]]);
});

test("opens late what nobody has answered", () => {
  const ledger = opened();
  ledger.apply(takeMessage(new Step().open(2, regex("b"))), [answer(0, {id: 2, state: "compiling", masks: []})]);
  const replay = emptyStep();
  const next = taking(12);
  ledger.writeOpens(replay, next);
  assert.deepEqual([replay.open.map(({row}) => row), next.open.map(({row}) => row)], [[1], [2]]);
});

test("counts what is left", () => {
  const ledger = opened();
  ledger.apply(takeMessage(new Step().setRemaining(1, 9).take(1, 12)), [answer(3)]);
  ledger.apply(taking(13, 14), [answer(5)]);
  const replay = emptyStep();
  ledger.writeOpens(replay, emptyStep());
  assert.equal(replay.open[0]?.remainingTokens, 7);
});

test("gives up the step's rows", () => {
  const ledger = opened();
  assert.deepEqual(ledger.giveUp(takeMessage(new Step().take(1, 5).open(3, regex("c")))), [3, 1]);
  assert.equal(ledger.rows.size, 0);
  const closing = takeMessage(new Step().close(1).close(4));
  ledger.dropCloses(closing);
  assert.deepEqual(closing.close, [4]);
});

test("keeps when a server that has no room may be asked again", () => {
  const details = {reason: "COMPILE_QUEUE_FULL", place: "", retryAfterMs: 200};
  const refused = [failedRow(1, new MaskdError(Code.RESOURCE_EXHAUSTED, "", details))];
  const compiles = (): RowLedger => {
    const ledger = new RowLedger();
    const compiling = {...answer(0), state: "compiling" as const, masks: []};
    ledger.apply(takeMessage(new Step().open(1, regex("a*"))), [compiling]);
    return ledger;
  };
  const late = compiles();
  late.writeOpens(emptyStep(), emptyStep());
  for (const book of [
    () => opened().applyReplay(refused), () => compiles().applyReplay(refused), () => late.apply(emptyStep(), refused),
  ]) {
    assert.throws(book, {code: Code.UNAVAILABLE, ...details});
  }
});
