// What nearly every step says, written and read by hand: rows that take tokens, and their masks. The rest is left to
// the generated code, which takes some three times as long: it reads 64-bit numbers as BigInt, makes an array of bytes
// for each row that has none, and writes each message into pieces that it joins.
//
// What is written and read is the same (test/wire.test.ts). Source: the protocol buffers' wire format; protos/maskd/v1.

import {
  AnswerDelta,
  DecodeRequest,
  DecodeResponse,
  type IdList,
  LogitBias,
  MaskDelta,
  OpenRow,
  type Position,
  RowError,
  type RowReply,
  RowUpdate,
  type Step,
  type StepReply,
} from "./gen/maskd/v1/mask_service.js";
import {Code, MaskdError} from "./errors.js";

const NO_BYTES: Uint8Array = new Uint8Array();

const broken = (): MaskdError => new MaskdError(Code.INTERNAL, "the server sent what is no message");

/** The fields of one message after the other. */
class Input {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  /** Whether there is more before `end`. */
  isBefore(end: number): boolean {
    if (this.at > end) throw broken();
    return this.at < end;
  }

  /** The low 32 bits of a number, signed. */
  int32(): number {
    const first = this.bytes[this.at++] as number;
    if (first < 0x80) return first;
    let value = first & 0x7f;
    for (let shift = 7; shift < 70; shift += 7) {
      const byte = this.bytes[this.at++] as number;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw broken();
  }

  uint32(): number {
    return this.int32() >>> 0;
  }

  /** A number that is below 2^53. */
  uint64(): number {
    let value = 0;
    for (let scale = 1; scale < 2 ** 70; scale *= 128) {
      const byte = this.bytes[this.at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
    }
    throw broken();
  }

  bool(): boolean {
    return this.take(0) !== 0;
  }

  float(): number {
    this.at += 4;
    if (this.at > this.bytes.length) throw broken();
    return this.bytes.readFloatLE(this.at - 4);
  }

  /** Where a nested message ends, which begins here. */
  end(): number {
    const end = this.uint32() + this.at;
    if (end > this.bytes.length) throw broken();
    return end;
  }

  /** Bytes in the place where they lie. */
  inPlace(): Buffer {
    const end = this.end();
    const found = this.bytes.subarray(this.at, end);
    this.at = end;
    return found;
  }

  text(): string {
    return this.inPlace().toString("utf8");
  }

  /** Adds to a list, which comes packed or in parts. */
  addTo(list: number[], tag: number): void {
    if ((tag & 7) === 0) {
      list.push(this.int32());
      return;
    }
    const end = this.end();
    while (this.isBefore(end)) list.push(this.int32());
  }

  skip(tag: number): void {
    if (tag < 8) throw broken();
    switch (tag & 7) {
      case 0: return void this.take(0);
      case 1: return void (this.at += 8);
      case 2: return void this.inPlace();
      case 5: return void (this.at += 4);
      default: throw broken();
    }
  }

  /** All bits of a number or-ed together. */
  private take(bits: number): number {
    for (let i = 0; i < 10; ++i) {
      const byte = this.bytes[this.at++] as number;
      bits |= byte & 0x7f;
      if (byte < 0x80) return bits;
    }
    throw broken();
  }
}

/** A message of the server. Throws INTERNAL where it is none. */
export function readResponse(bytes: Buffer): DecodeResponse {
  const response: DecodeResponse = {welcome: undefined, step: undefined, goAway: undefined};
  if (bytes[0] !== 0x12) return DecodeResponse.decode(bytes);
  const input = new Input(bytes);
  while (input.isBefore(bytes.length)) {
    const tag = input.uint32();
    if (tag !== 0x12) return DecodeResponse.decode(bytes);
    response.step = readReply(input, input.end());
  }
  return response;
}

function readReply(input: Input, end: number): StepReply {
  const reply: StepReply = {step: 0, rows: [], snapshots: []};
  while (input.isBefore(end)) {
    const tag = input.uint32();
    switch (tag) {
      case 0x08: reply.step = input.uint64(); break;
      case 0x12: reply.rows.push(readRow(input, input.end())); break;
      case 0x1a: reply.snapshots.push(OpenRow.decode(input.inPlace())); break;
      default: input.skip(tag);
    }
  }
  return reply;
}

function readRow(input: Input, end: number): RowReply {
  let row = 0, state = 0, tokenCount = 0, mayEnd = false, grammarId = "";
  let error: RowError | undefined, acceptedDrafts: number | undefined, answer: AnswerDelta | undefined;
  let forcedBytes: Uint8Array = NO_BYTES;
  const positions: Position[] = [], forcedTokens: number[] = [], forcedDraft: number[] = [];
  while (input.isBefore(end)) {
    const tag = input.uint32();
    switch (tag) {
      case 0x08: row = input.uint64(); break;
      case 0x10: state = input.int32(); break;
      case 0x1a: positions.push(readPosition(input, input.end())); break;
      case 0x22: error = RowError.decode(input.inPlace()); break;
      case 0x28: tokenCount = input.uint32(); break;
      case 0x30: mayEnd = input.bool(); break;
      case 0x3a: grammarId = input.text(); break;
      case 0x40: acceptedDrafts = input.uint32(); break;
      case 0x4a: forcedBytes = input.inPlace(); break;
      case 0x50: case 0x52: input.addTo(forcedTokens, tag); break;
      case 0x58: case 0x5a: input.addTo(forcedDraft, tag); break;
      case 0x62: answer = AnswerDelta.decode(input.inPlace()); break;
      default: input.skip(tag);
    }
  }
  return {row, state, positions, error, tokenCount, mayEnd, grammarId, acceptedDrafts, forcedBytes, forcedTokens,
    forcedDraft, answer};
}

function readPosition(input: Input, end: number): Position {
  let full: boolean | undefined, invalid: boolean | undefined, dense: Uint8Array | undefined;
  let sameAs: number | undefined, dictionarySlot: number | undefined, temperature: number | undefined;
  let allowedIds: IdList | undefined, forbiddenIds: IdList | undefined, delta: MaskDelta | undefined;
  const biases: LogitBias[] = [];
  while (input.isBefore(end)) {
    const tag = input.uint32();
    switch (tag) {
      case 0x08: full = input.bool(); break;
      case 0x12: dense = input.inPlace(); break;
      case 0x18: sameAs = input.uint32(); break;
      case 0x22: allowedIds = readIds(input, input.end()); break;
      case 0x2a: forbiddenIds = readIds(input, input.end()); break;
      case 0x32: delta = MaskDelta.decode(input.inPlace()); break;
      case 0x38: invalid = input.bool(); break;
      case 0x40: dictionarySlot = input.uint32(); break;
      case 0x4d: temperature = input.float(); break;
      case 0x52: biases.push(LogitBias.decode(input.inPlace())); break;
      default: input.skip(tag);
    }
  }
  return {full, dense, sameAs, allowedIds, forbiddenIds, delta, invalid, dictionarySlot, temperature, biases};
}

function readIds(input: Input, end: number): IdList {
  const ids: number[] = [];
  while (input.isBefore(end)) {
    const tag = input.uint32();
    if (tag === 0x08 || tag === 0x0a) input.addTo(ids, tag);
    else input.skip(tag);
  }
  return {ids};
}

const MOST_HEADER_BYTES = 1 + 10 + 1 + 10;  // the tags and lengths around a step's rows, and its number
const MOST_ROW_BYTES = 1 + 10 + 1 + 10 + 1 + 10;  // a row's, without the tokens
const MOST_TOKEN_BYTES = 5;

/** A row that the generated code need not write. */
const isPlain = (update: RowUpdate): boolean =>
    update.rollback === 0 && update.drafts === undefined && update.remainingTokens === undefined &&
    !update.wantForced && Number.isSafeInteger(update.row) && update.row >= 0 && update.tokens.every(isPlainToken);

const isPlainToken = (token: number): boolean => token >= 0 && token === (token | 0);

const areRowsAlone = (step: Step): boolean =>
    step.open.length === 0 && step.fork.length === 0 && step.snapshot.length === 0 && step.close.length === 0 &&
    step.waitForCompileMs === 0 && Number.isSafeInteger(step.step) && step.rows.every(isPlain);

/** The message that a step is. */
export function writeStep(step: Step): Buffer {
  if (!areRowsAlone(step)) return Buffer.from(DecodeRequest.encode({hello: undefined, step}).finish());
  const tokens = step.rows.reduce((sum, row) => sum + row.tokens.length, 0);
  const buffer = Buffer.allocUnsafe(
      MOST_HEADER_BYTES + MOST_ROW_BYTES * step.rows.length + MOST_TOKEN_BYTES * tokens);
  let at = MOST_HEADER_BYTES;
  for (const row of step.rows) at = writeRow(buffer, at, row);
  const number = step.step === 0 ? 0 : 1 + sizeOf(step.step);
  const length = number + at - MOST_HEADER_BYTES;
  const begin = MOST_HEADER_BYTES - number - sizeOf(length) - 1;
  buffer[begin] = 0x12;
  const behind = writeNumber(buffer, begin + 1, length);
  if (number > 0) {
    buffer[behind] = 0x08;
    writeNumber(buffer, behind + 1, step.step);
  }
  return buffer.subarray(begin, at);
}

function writeRow(buffer: Buffer, begin: number, {row, tokens}: RowUpdate): number {
  let tokenBytes = 0;
  for (const token of tokens) tokenBytes += sizeOf(token);
  buffer[begin] = 0x1a;
  const length = (row === 0 ? 0 : 1 + sizeOf(row)) + (tokenBytes === 0 ? 0 : 1 + sizeOf(tokenBytes) + tokenBytes);
  let at = writeNumber(buffer, begin + 1, length);
  if (row !== 0) {
    buffer[at] = 0x08;
    at = writeNumber(buffer, at + 1, row);
  }
  if (tokenBytes === 0) return at;
  buffer[at] = 0x1a;
  at = writeNumber(buffer, at + 1, tokenBytes);
  for (const token of tokens) at = writeNumber(buffer, at, token);
  return at;
}

/** Bytes of a number on the wire. */
function sizeOf(value: number): number {
  let size = 1;
  for (let left = value; left >= 0x80; left = Math.floor(left / 0x80)) ++size;
  return size;
}

/** Writes a number, and says where what follows begins. */
function writeNumber(buffer: Buffer, begin: number, value: number): number {
  let at = begin;
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) buffer[at++] = (left % 0x80) | 0x80;
  buffer[at++] = left;
  return at;
}
