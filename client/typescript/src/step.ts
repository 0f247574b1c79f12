// One decode step as the engine says it.

import type {LogitBias, OpenRow, ReasoningGate, RowUpdate, Step as WireStep} from "./gen/maskd/v1/mask_service.js";
import {type Target, targetOf} from "./grammar.js";

/** Names a row of a stream, the caller's choice: a whole number from 0 up to 2^53 - 1. */
export type RowId = number;

/** A token of the vocabulary. */
export type TokenId = number;

/** What a row may be opened with beside its grammar. */
export interface OpenOptions {
  /** Tokens the row has taken already, on another stream. */
  readonly tokens?: readonly TokenId[];
  /** Ids that end its text. Absent: the tokenizer's own. */
  readonly stopIds?: readonly TokenId[];
  /** Free text before the grammar begins. */
  readonly reasoning?: Partial<ReasoningGate>;
  /** Tokens of the text before which it may not end. */
  readonly minTokens?: number;
  /** Tokens that the row may still produce. Absent: no bound. */
  readonly remainingTokens?: number;
  /** Temperature of its text; absent: the grammar's. Needs StreamOptions.wantTemperature. */
  readonly temperature?: number;
  /** Numbers to add to logits of its text, each id once. Needs StreamOptions.wantBias. */
  readonly biases?: readonly LogitBias[];
  /** Whether its replies say what its text says (Row.answer). For grammars of kind "chat". */
  readonly wantAnswer?: boolean;
  /**
   * Whether it is only read: nothing is masked, any token is taken, and its replies say what its text says. For
   * grammars of kind "chat".
   */
  readonly observe?: boolean;
}

const NO_GATE: ReasoningGate = {endTokens: [], style: "", promptTail: [], maxTokens: undefined, constrainInside: false};

export const emptyStep = (): WireStep =>
    ({step: 0, open: [], rows: [], fork: [], snapshot: [], close: [], waitForCompileMs: 0});

/**
 * One decode step: which rows open, what was sampled, which rows close. The server closes, forks, opens and then
 * moves rows, whatever the order of the calls. What a row may not do comes back in its own reply. Submitting a
 * step empties it for its next use.
 */
export class Step {
  private message = emptyStep();
  private readonly updates = new Map<RowId, RowUpdate>();

  /** Opens a row on a grammar. */
  open(row: RowId, target: Target, options: OpenOptions = {}): this {
    this.message.open.push({
      row,
      ...targetOf(target),
      tokens: [...(options.tokens ?? [])],
      stopIds: [...(options.stopIds ?? [])],
      reasoning: options.reasoning && {...NO_GATE, ...options.reasoning},
      minTokens: options.minTokens ?? 0,
      remainingTokens: options.remainingTokens,
      temperature: options.temperature,
      biases: [...(options.biases ?? [])],
      wantAnswer: options.wantAnswer ?? false,
      observe: options.observe ?? false,
    });
    return this;
  }

  /** Opens a row as a snapshot describes it (StepResult.snapshots). */
  openSnapshot(snapshot: OpenRow): this {
    this.message.open.push({...snapshot, tokens: [...snapshot.tokens]});
    return this;
  }

  /**
   * Gives a row the tokens sampled since the last step; called again, further ones. Without tokens it asks for
   * the row's mask as it is.
   */
  take(row: RowId, ...tokens: TokenId[]): this {
    this.update(row).tokens.push(...tokens);
    return this;
  }

  /** Takes back a row's last tokens, before those that take() gives. */
  rollback(row: RowId, tokenCount: number): this {
    this.update(row).rollback = tokenCount;
    return this;
  }

  /** Says how many tokens the row may still produce, its end included. */
  setRemaining(row: RowId, tokenCount: number): this {
    this.update(row).remainingTokens = tokenCount;
    return this;
  }

  /**
   * Asks for the masks after draft tokens, which the row does not take: Row.masks[i + 1] is the one after
   * tokens[i]. Without parents the drafts are a chain; else parents[i] is the index of the token that tokens[i]
   * comes after, or -1.
   */
  draft(row: RowId, tokens: readonly TokenId[], parents: readonly number[] = []): this {
    this.update(row).drafts = {tokens: [...tokens], parents: [...parents]};
    return this;
  }

  /** Asks for what must come next. */
  wantForced(row: RowId): this {
    this.update(row).wantForced = true;
    return this;
  }

  /** Asks for the row's description, by which it can be opened anew. */
  snapshot(row: RowId): this {
    this.message.snapshot.push(row);
    return this;
  }

  /** Makes `child` an independent copy of `parent`. */
  fork(parent: RowId, child: RowId): this {
    this.message.fork.push({parent, child});
    return this;
  }

  /** Closes a row; its id is free again in the same step. */
  close(row: RowId): this {
    this.message.close.push(row);
    return this;
  }

  /** Lets the reply wait for grammars that still compile. 0, the default, never waits. */
  waitForCompile(atMostMs: number): this {
    this.message.waitForCompileMs = Math.min(Math.max(Math.trunc(atMostMs), 0), 0xffffffff);
    return this;
  }

  /** Empties the step. */
  clear(): this {
    takeMessage(this);
    return this;
  }

  private update(row: RowId): RowUpdate {
    let update = this.updates.get(row);
    if (update === undefined) {
      update = {row, rollback: 0, tokens: [], drafts: undefined, remainingTokens: undefined, wantForced: false};
      this.updates.set(row, update);
      this.message.rows.push(update);
    }
    return update;
  }

  /** @internal */
  static take(step: Step): WireStep {
    const message = step.message;
    step.message = emptyStep();
    step.updates.clear();
    return message;
  }

  /** @internal */
  static restore(step: Step, message: WireStep): void {
    step.message = message;
    for (const update of message.rows) step.updates.set(update.row, update);
  }
}

/** The step's message, which is empty afterwards. */
export const takeMessage = (step: Step): WireStep => Step.take(step);

/** Gives a step back what was taken. */
export const restoreMessage = (step: Step, message: WireStep): void => Step.restore(step, message);
