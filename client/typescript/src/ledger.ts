// What a client must know of its rows to open them anew on another server: how each was opened, and the tokens
// that it has taken since.
//
// The replies are the truth: a step counts once its reply is here, and each row has as many tokens as its reply
// says. A reply that no server gives that keeps to the protocol is booked not at all. A row's grammar is the one
// that its first reply named: a server whose ids have the same format must name it too; one with another format
// is told the text and believed. A row's tokens include those after its end.

import {Code, MaskdError} from "./errors.js";
import type {CompileRequest} from "./gen/maskd/v1/compile_service.js";
import type {Grammar as WireGrammar} from "./gen/maskd/v1/grammar.js";
import type {OpenRow, RowUpdate, Step as WireStep} from "./gen/maskd/v1/mask_service.js";
import {internal} from "./reader.js";
import type {Row} from "./result.js";
import type {RowId} from "./step.js";

interface LedgerRow {
  readonly open: OpenRow;           // its tokens are those taken so far
  grammarId: string;                // as its first reply has it, in that server's format; empty: none has
  format: string;
  tokenLimit: number | undefined;   // the token count at which none is left
  isUsed: boolean;                  // a reply has said where it stands
  failed: boolean;                  // its server said that it cannot go on
  isLate: boolean;                  // the caller's step opens it, not the replay
}

/** Where a reply says that a row stands. */
interface Place {
  readonly row: LedgerRow;
  readonly reply: Row;
  kept: number;                     // of the tokens booked
  update: RowUpdate | undefined;    // that is booked
}

type RowsBefore = Map<RowId, LedgerRow | undefined>;

export class RowLedger {
  readonly rows = new Map<RowId, LedgerRow>();
  readonly grammars = new Map<string, WireGrammar>();
  format = "";
  private readonly givenUp = new Set<RowId>();  // and neither closed nor opened by the caller since

  /** Whether a server has told of each row where it stands, so none compiles. */
  get isSettled(): boolean {
    for (const row of this.rows.values()) {
      if (!row.isUsed && !row.failed) return false;
    }
    return true;
  }

  /** The grammars of the rows, each once: by their texts where those are known, else by id. */
  compileRequests(tokenizer: string): CompileRequest[] {
    const seen = new Set<string>();
    const all: CompileRequest[] = [];
    for (const row of this.rows.values()) {
      if (row.failed || seen.has(row.grammarId)) continue;
      if (row.grammarId !== "") seen.add(row.grammarId);
      const target = {grammar: row.open.grammar, grammarId: row.open.grammarId};
      this.writeText(target);
      all.push({tokenizer, ...target});
    }
    return all;
  }

  /** Makes a step fit for a server that may know nothing: opens by id get the text where it is kept. */
  writeTexts(step: WireStep): void {
    for (const open of step.open) this.writeText(open);
  }

  private writeText(open: Pick<OpenRow, "grammar" | "grammarId">): void {
    const text = open.grammarId === undefined ? undefined : this.grammars.get(open.grammarId);
    if (text === undefined) return;
    open.grammarId = undefined;
    open.grammar = text;
  }

  /**
   * Gives up the rows that a step opens, moves, forks into or describes, and those that it was to open for a
   * server before, and says which; of the rest it books the closes.
   */
  giveUp(step: WireStep): RowId[] {
    for (const id of step.close) this.rows.delete(id);
    const once = new Set([...step.open.map((open) => open.row), ...step.rows.map((update) => update.row),
      ...step.fork.map((fork) => fork.child), ...step.snapshot]);
    for (const [id, row] of this.rows) {
      if (row.isLate) once.add(id);
    }
    for (const id of once) {
      this.rows.delete(id);
      this.givenUp.add(id);
    }
    return [...once];
  }

  /** Takes out of a step the closes of rows that were given up, of which the servers know nothing. */
  dropCloses(step: WireStep): void {
    if (this.givenUp.size === 0) return;
    step.close = step.close.filter((id) => !this.givenUp.delete(id));
    for (const open of step.open) this.givenUp.delete(open.row);
    for (const fork of step.fork) this.givenUp.delete(fork.child);
  }

  /**
   * Books a step and its reply. Throws, nothing being booked: INTERNAL (the reply is not one to this step and
   * these rows), UNAVAILABLE (the server does not open a row that was booked), FAILED_PRECONDITION (a row has
   * another grammar here).
   */
  apply(step: WireStep, replies: readonly Row[]): void {
    const before: RowsBefore = new Map();
    for (const id of step.close) this.put(id, undefined, before);
    this.applyForks(step, replies, before);
    this.applyOpens(step, replies, before);
    try {
      for (const place of this.placesOf(step, replies)) this.moveTo(place);
    } catch (error) {
      for (const [id, row] of before) this.put(id, row, new Map());
      throw error;
    }
  }

  /** Sets a row, or takes it away, and notes how it was. */
  private put(id: RowId, row: LedgerRow | undefined, before: RowsBefore): void {
    if (!before.has(id)) before.set(id, this.rows.get(id));
    if (row === undefined) {
      this.rows.delete(id);
    } else {
      this.rows.set(id, row);
    }
  }

  private applyForks(step: WireStep, replies: readonly Row[], before: RowsBefore): void {
    for (const fork of step.fork) {
      const parent = this.rows.get(fork.parent);
      if (parent === undefined || hasState(replies, fork.child, true)) continue;
      const tokens = [...parent.open.tokens];
      const reply = replies.find((each) => each.id === fork.parent);
      if (reply && !parent.isUsed && refusesOpening(reply, tokens.length)) tokens.length = reply.tokenCount;
      this.put(fork.child, {...parent, open: {...parent.open, row: fork.child, tokens}}, before);
    }
  }

  private applyOpens(step: WireStep, replies: readonly Row[], before: RowsBefore): void {
    for (const open of step.open) {
      if (this.rows.has(open.row) || !hasState(replies, open.row, false)) continue;
      const left = open.remainingTokens;
      this.put(open.row, {
        open: {...open, tokens: [...open.tokens]},
        grammarId: "",
        format: "",
        tokenLimit: left === undefined ? undefined : open.tokens.length + left,
        isUsed: false,
        failed: false,
        isLate: false,
      }, before);
    }
  }

  private placesOf(step: WireStep, replies: readonly Row[]): Place[] {
    const updates = new Map<RowId, RowUpdate>();
    for (const update of step.rows) {
      if (!updates.has(update.row)) updates.set(update.row, update);
    }
    const answered = new Set<RowId>();
    const places: Place[] = [];
    for (const reply of replies) {
      const row = this.rows.get(reply.id);
      if (row === undefined) continue;
      if (reply.state === "refused") {
        if (row.isLate) throw cannotGoOn(reply.id, "is refused", reply.error);
        continue;
      }
      if (row.isLate && isForLoad(reply)) throw cannotGoOn(reply.id, "is refused", reply.error);
      if (answered.has(reply.id)) throw internal(`the server answers row ${reply.id} twice`);
      answered.add(reply.id);
      this.checkGrammar(row, reply);
      places.push(placeOf(updates.get(reply.id), reply, row));
    }
    return places;
  }

  /** Holds a reply to the row's own grammar. */
  private checkGrammar(row: LedgerRow, reply: Row): void {
    if (row.grammarId === "" || reply.grammarId === "" || row.format !== this.format ||
        row.grammarId === reply.grammarId) {
      return;
    }
    throw new MaskdError(Code.FAILED_PRECONDITION,
        `row ${reply.id} has grammar ${reply.grammarId} here, its own is ${row.grammarId}`);
  }

  private moveTo({row, reply, kept, update}: Place): void {
    if (row.grammarId === "" && reply.grammarId !== "") {
      row.grammarId = reply.grammarId;
      row.format = this.format;
    }
    row.failed = reply.state === "failed";
    row.isLate = false;
    const {tokens} = row.open;
    let count = tokens.length;
    if (saysItsPlace(reply)) {
      count = reply.tokenCount;
      row.isUsed = true;
      tokens.length = Math.min(tokens.length, count, kept);
    }
    if (update === undefined) return;
    for (let i = 0; tokens.length < count; ++i) tokens.push(update.tokens[i] as number);
    if (update.remainingTokens !== undefined) row.tokenLimit = tokens.length + update.remainingTokens;
  }

  /**
   * Books the reply to the opens of a replay. Every row must stand where it is booked, but for two kinds: one
   * whose place no server had told, which may have been opened with what is refused, and one whose server said
   * that it cannot go on, whose id is taken until it is closed. Throws UNAVAILABLE (this server does not go on
   * with a row), FAILED_PRECONDITION (a row has another grammar here; nothing is booked).
   */
  applyReplay(replies: readonly Row[]): void {
    const answers = new Map<RowId, Row>();
    for (const reply of replies) {
      if (!answers.has(reply.id)) answers.set(reply.id, reply);
      const row = this.rows.get(reply.id);
      if (row !== undefined) this.checkGrammar(row, reply);
    }
    for (const [id, row] of this.rows) {
      if (row.isLate) continue;
      const reply = answers.get(id);
      if (reply === undefined) throw cannotGoOn(id, "is not answered");
      if (isForLoad(reply) && !row.failed) throw cannotGoOn(id, "is refused", reply.error);
      if (row.isUsed && !row.failed && reply.state !== "compiling") {
        standsWhereBooked(row, reply);
      } else if (saysItsPlace(reply)) {
        this.moveTo({row, reply, kept: row.open.tokens.length, update: undefined});
      }
    }
  }

  /**
   * Opens every row as it is booked: in `replay`, whose reply nobody reads but applyReplay(), or, where no server
   * had told its place, in `next`, the caller's step behind it, to whose reply the row's first mask or error then
   * belongs. Rows that `next` moves, forks or takes the ids of are needed before it.
   */
  writeOpens(replay: WireStep, next: WireStep): void {
    const needed = rowsNeededBy(next);
    for (const [id, row] of [...this.rows].sort(([a], [b]) => a - b)) {
      row.isLate = !row.isUsed && !row.failed && !needed.has(id);
      const open = {...row.open, tokens: [...row.open.tokens]};
      this.writeText(open);
      if (row.tokenLimit !== undefined) open.remainingTokens = Math.max(0, row.tokenLimit - open.tokens.length);
      (row.isLate ? next : replay).open.push(open);
    }
  }
}

/** Reads one answer; without an update for a row that is answered unasked. */
function placeOf(update: RowUpdate | undefined, reply: Row, row: LedgerRow): Place {
  const before = row.open.tokens.length;
  const place: Place = {row, reply, kept: before, update: undefined};
  if (!saysItsPlace(reply)) {
    // Of a row that compiles an update says at most how many tokens are left.
    if (reply.state === "compiling" && reply.error === undefined) place.update = update;
    return place;
  }
  const ofOpening = !row.isUsed && refusesOpening(reply, before);
  const moves = ofOpening || refusesAll(reply, before) ? undefined : update;
  let most = before;
  if (moves !== undefined) {
    place.update = moves;
    place.kept = before - Math.min(before, moves.rollback);
    most = place.kept + moves.tokens.length;
  }
  const isWhole = reply.error === undefined || lacksRoom(reply);
  const least = isWhole ? most : moves !== undefined ? place.kept : 0;
  if (reply.tokenCount < least || reply.tokenCount > most) {
    throw internal(
        `the server says that row ${reply.id} has taken ${reply.tokenCount} tokens, not ${least} to ${most}`);
  }
  return place;
}

function standsWhereBooked(row: LedgerRow, reply: Row): void {
  const hasNoRoom = lacksRoom(reply);
  if (reply.error !== undefined && !hasNoRoom) throw cannotGoOn(reply.id, "is refused", reply.error);
  if (reply.masks.length === 0 && !hasNoRoom) throw cannotGoOn(reply.id, "has no mask");
  if (reply.tokenCount !== row.open.tokens.length) throw cannotGoOn(reply.id, "has not taken its tokens");
}

/** The rows that must be there before a step: those that it moves, forks or describes, and those whose ids it takes. */
function rowsNeededBy(step: WireStep): Set<RowId> {
  return new Set([
    ...step.close,
    ...step.snapshot,
    ...step.open.map((open) => open.row),
    ...step.fork.flatMap((fork) => [fork.parent, fork.child]),
    ...step.rows.filter((update) => update.rollback > 0 || update.tokens.length > 0).map((update) => update.row),
  ]);
}

/** Whether a row was refused something, or was answered. */
function hasState(replies: readonly Row[], id: RowId, refused: boolean): boolean {
  return replies.some((row) => row.id === id && (row.state === "refused") === refused);
}

/** A server's fault, with the server's own words and its time to come again where it said them. */
function cannotGoOn(id: RowId, why: string, said?: MaskdError): MaskdError {
  const details = said && {reason: said.reason, place: "", retryAfterMs: said.retryAfterMs};
  return new MaskdError(Code.UNAVAILABLE, `row ${id} cannot go on here: ${said?.message ?? why}`, details);
}

/** Whether a row was refused for load: the server had no room for its grammar, and may later. */
function isForLoad({state, error}: Row): boolean {
  return (state === "failed" || state === "refused") && (error?.retryAfterMs ?? 0) > 0;
}

/**
 * Whether a row of `before` tokens, which says for the first time where it stands, was opened with one that is
 * refused: it stands before that, and has taken nothing else.
 */
function refusesOpening(reply: Row, before: number): boolean {
  return reply.error !== undefined && reply.refusedToken?.index === reply.tokenCount && reply.tokenCount < before;
}

/** Whether the row's masks, and nothing else, were refused: they would not have fitted. */
function lacksRoom(reply: Row): boolean {
  return reply.error?.code === Code.RESOURCE_EXHAUSTED && reply.error.place === "positions";
}

/** Whether an update of a row of `before` tokens was refused as a whole, its rollback included. */
function refusesAll(reply: Row, before: number): boolean {
  return reply.error !== undefined && reply.tokenCount === before && !lacksRoom(reply) &&
      !reply.error.place.startsWith("tokens[");
}

/** Whether a row says where it stands: with masks, or with an error in their place. */
function saysItsPlace(reply: Row): boolean {
  const isUsed = reply.state === "free" || reply.state === "active" || reply.state === "finished";
  return reply.masks.length > 0 || (isUsed && reply.error !== undefined);
}
