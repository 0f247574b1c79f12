// The answer to one step: for each row its state, and the mask of each of its positions.

import {type AnswerDelta, type OpenRow, type RefusedToken, type RowReply, RowState, type StepReply}
  from "./gen/maskd/v1/mask_service.js";
import {Code, fromRow, MaskdError} from "./errors.js";
import type {Mask} from "./mask.js";
import {internal, type MaskReader} from "./reader.js";
import type {RowId, TokenId} from "./step.js";

/** What a row is doing. */
export type State = "compiling" | "free" | "active" | "finished" | "failed" | "refused" | "unknown";

const STATES = new Map<RowState, State>([
  [RowState.ROW_STATE_COMPILING, "compiling"],
  [RowState.ROW_STATE_FREE, "free"],
  [RowState.ROW_STATE_ACTIVE, "active"],
  [RowState.ROW_STATE_FINISHED, "finished"],
  [RowState.ROW_STATE_FAILED, "failed"],
  [RowState.ROW_STATE_REFUSED, "refused"],
]);

/** The answer for one row. */
export interface Row {
  readonly id: RowId;
  readonly state: State;
  /**
   * By position: 0 after the tokens taken, i + 1 after draft i. Empty when compiling, failed or refused, and when
   * they would not have fitted into the reply: `error` is RESOURCE_EXHAUSTED at "positions" then, and the next
   * step may ask for them.
   */
  readonly masks: readonly Mask[];
  /** What went wrong. With the state free, active or finished the row goes on from `tokenCount`. */
  readonly error: MaskdError | undefined;
  /** The token that was refused. */
  readonly refusedToken: RefusedToken | undefined;
  /** How many tokens the row has taken, those after its end included. */
  readonly tokenCount: number;
  /** Whether the text may end here. */
  readonly mayEnd: boolean;
  /** Set in the reply that first has a position; else empty. */
  readonly grammarId: string;
  /** Drafts that have a mask: of a chain its first ones. Absent: no drafts were sent. */
  readonly acceptedDrafts: number | undefined;
  /** What must come next, where it was asked for. */
  readonly forcedBytes: Uint8Array;
  /** Tokens that may be appended without asking the model. */
  readonly forcedTokens: readonly TokenId[];
  /** All of forcedBytes in tokens, to be sent as drafts. */
  readonly forcedDraft: readonly TokenId[];
  /** What its answer has more or less than before, where it is wanted (OpenOptions). Absent: nothing new. */
  readonly answer: AnswerDelta | undefined;
}

/** The answer to one step. It stays as it is for as long as it is kept. */
export class StepResult {
  constructor(
      /** The step's number. */
      readonly step: number,
      /** In the server's order: opened rows, named rows, rows that have compiled since. */
      readonly rows: readonly Row[],
      /** Descriptions of the rows that Step.snapshot() named. */
      readonly snapshots: readonly OpenRow[]) {}

  /** The row's answer that has its state. */
  row(id: RowId): Row | undefined {
    return this.rows.find((row) => row.id === id && row.state !== "refused");
  }

  /**
   * The row's mask at a position: 0, or i + 1 after draft i. Throws NOT_FOUND (the row has no answer),
   * FAILED_PRECONDITION (its answer has no such mask).
   */
  mask(id: RowId, position = 0): Mask {
    return maskOf(id, this.row(id), position);
  }

  /** Masks one row of logits by the row's mask, in place. Throws those of mask() and of Mask.apply(). */
  apply(id: RowId, logits: Float32Array, position = 0): void {
    this.mask(id, position).apply(logits);
  }

  /**
   * Writes the first masks of rows into an engine's own bitmask, whose rows have `rowWords` words: row i becomes
   * the mask of order[i], all ones where it is full. Throws, before anything is written: INVALID_ARGUMENT (the
   * bitmask is too small), those of mask().
   */
  copyMasks(order: readonly RowId[], bitmask: Uint32Array, rowWords: number): void {
    if (order.length * rowWords > bitmask.length) {
      throw new MaskdError(Code.INVALID_ARGUMENT,
          `${order.length} rows of ${rowWords} words do not fit into ${bitmask.length} words`);
    }
    const masks = this.areInOrder(order) ? this.rows.map((row) => row.masks[0] as Mask) : this.firstMasks(order);
    for (const mask of masks) mask.checkRoom(rowWords);
    for (let i = 0; i < masks.length; ++i) masks[i]!.copyInto(bitmask, i * rowWords, (i + 1) * rowWords);
  }

  /** Whether the rows are these and each has a mask, as is the rule: then none is looked for. */
  private areInOrder(order: readonly RowId[]): boolean {
    return this.rows.length === order.length &&
        this.rows.every((row, i) => row.id === order[i] && row.state !== "refused" && row.masks.length > 0);
  }

  private firstMasks(order: readonly RowId[]): Mask[] {
    const rows = new Map<RowId, Row>();
    for (const row of this.rows) {
      if (row.state !== "refused" && !rows.has(row.id)) rows.set(row.id, row);
    }
    return order.map((id) => maskOf(id, rows.get(id), 0));
  }
}

function maskOf(id: RowId, row: Row | undefined, position: number): Mask {
  if (row === undefined) throw new MaskdError(Code.NOT_FOUND, `row ${id}: has no answer in this reply`);
  const mask = row.masks[position];
  if (mask === undefined) {
    throw new MaskdError(Code.FAILED_PRECONDITION, `row ${id}: has no mask at position ${position}`);
  }
  return mask;
}

export function readReply(reply: StepReply, masks: MaskReader): StepResult {
  return new StepResult(reply.step, reply.rows.map((row) => readRow(row, masks)), reply.snapshots);
}

function readRow(reply: RowReply, masks: MaskReader): Row {
  return {
    id: reply.row,
    state: STATES.get(reply.state) ?? "unknown",
    masks: readMasks(reply, masks),
    error: reply.error && fromRow(reply.error),
    refusedToken: reply.error?.token,
    tokenCount: reply.tokenCount,
    mayEnd: reply.mayEnd,
    grammarId: reply.grammarId,
    acceptedDrafts: reply.acceptedDrafts,
    forcedBytes: reply.forcedBytes.length === 0 ? NO_BYTES : new Uint8Array(reply.forcedBytes),
    forcedTokens: reply.forcedTokens,
    forcedDraft: reply.forcedDraft,
    answer: reply.answer,
  };
}

const NO_BYTES = new Uint8Array();

function readMasks(reply: RowReply, masks: MaskReader): Mask[] {
  try {
    return reply.positions.map((position) => masks.read(position));
  } catch (error) {
    throw internal(`row ${reply.row}: ${(error as Error).message}`);
  }
}

/** A row that no server answers. */
export function failedRow(id: RowId, error: MaskdError): Row {
  return {id, state: "failed", masks: [], error, refusedToken: undefined, tokenCount: 0, mayEnd: false, grammarId: "",
    acceptedDrafts: undefined, forcedBytes: new Uint8Array(), forcedTokens: [], forcedDraft: [], answer: undefined};
}
