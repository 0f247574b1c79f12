// A decode stream that outlives its servers.

import {type Connect, DEFAULT_RETRY, type RetryPolicy} from "./connect.js";
import {Code, fromCall, MaskdError} from "./errors.js";
import type {Step as WireStep, Welcome} from "./gen/maskd/v1/mask_service.js";
import type {Tokenizer} from "./gen/maskd/v1/tokenizer_service.js";
import {type Grammar, toWire} from "./grammar.js";
import {RowLedger} from "./ledger.js";
import {Limit, type Wait} from "./limit.js";
import {internal} from "./reader.js";
import {nameOf, type Resolve, resolveByDns, serversOf} from "./resolve.js";
import {failedRow, StepResult} from "./result.js";
import {findServer, type Guest, mayMove, Search, type SearchOptions} from "./search.js";
import {ServerList} from "./servers.js";
import {Asker, type Offer, ownOf, type SpreadOptions, Spreader} from "./spread.js";
import {emptyStep, type RowId, restoreMessage, type Step, takeMessage} from "./step.js";
import {MAX_IN_FLIGHT, messageOf, Stream, type StreamOptions, tooManyInFlight} from "./stream.js";

/** How long an old server may take to be told goodbye. */
const GOODBYE_MS = 50;

/** How many servers may end under a step. */
const MOST_ENDS = 2;

/** How long a server that has fewer streams may take to open the rows. */
const SHORTEST_MOVE_MS = 40;
const LONGEST_MOVE_MS = 500;

/** How often it is looked at the servers once more at the start. */
const MOST_SETTLES = 3;

/** Between which servers a stream may move, and when. */
export interface FailoverOptions {
  /** At least one, as of Client.connect(). */
  readonly addresses: readonly string[];
  /**
   * Whether they are tried as listed, and the stream stays where it is. Else it goes where there are few streams,
   * also later on: after a restart, or when a server has come to those of a name.
   */
  readonly inOrder?: boolean;
  /** What the stream is for. */
  readonly stream: StreamOptions;
  /** How the servers are reached. */
  readonly connect?: Connect;
  /** A server that has not answered a step for so long is given up. Absent: 2,000. */
  readonly stepTimeoutMs?: number;
  /** How long a server that serves is looked for. Absent: 10,000. */
  readonly giveUpAfterMs?: number;
  /** How long the replayed rows' grammars may compile on the new server. Absent: 10,000. */
  readonly compileTimeoutMs?: number;
  /** Waits between two rounds over the addresses, each with jitter. */
  readonly retry?: Partial<RetryPolicy>;
  /** How often the stream looks at the servers, at least. Absent: 4,000. */
  readonly lookEveryMs?: number;
  /** Gives the servers of an address. Absent: those that DNS has for a name. */
  readonly resolve?: Resolve;
}

/** A step without a reply. */
interface Sent {
  step: WireStep;
  readonly ended: string[];  // the servers that ended under it
  failed: RowId[];           // its rows, once it is given up
}

/** Messages are changed on their way to another server: a list of rows to open is each one's own. */
const copyOf = (step: WireStep): WireStep => ({...step, open: step.open.map((open) => ({...open}))});

/**
 * A decode stream that outlives its servers: when one breaks, stops answering or says that it will stop, the rows
 * are opened with their tokens on the next address and the masks go on, bit for bit.
 *
 * A step without a reply is sent again to the new server, whose rows stand where the last reply said: no token is
 * taken twice, none is lost. Rows opened by text, or whose text remember() was told, need nothing of the new
 * server; rows opened by id alone need the grammar to be there.
 *
 * Masks mean what they meant: the first welcome's vocabulary (hash and size) and the grammar of each row's first
 * reply are kept. A server that differs is refused with both values and the next address is tried;
 * FAILED_PRECONDITION where none is left.
 *
 * It goes to a server that has fewer streams between two steps, when none is in flight and no row compiles. One that
 * does not take the rows in half a second is left for the old one, which still has them.
 *
 * Several servers are asked at once, so those that are silent cost a quarter of a second each. One that refuses for
 * load is asked again when it said, not before. submit() looks for no server: a step that it could not send waits for
 * collect(). A search goes on whether or not anybody waits for it, so the next collect() has what has come of it.
 *
 * A step under which two servers ended is not sent to a third: its rows have failed (INTERNAL, reason
 * SERVERS_ENDED) and are closed; other rows and steps go on.
 */
export class FailoverStream {
  private servers: ServerList;
  private readonly ledger = new RowLedger();
  private readonly unanswered: Sent[] = [];
  private spreader: Spreader | undefined;  // where the stream spreads, once it is open
  private stream: Stream | undefined;
  private search: Search | undefined;      // without a stream alone
  private leftFor: MaskdError | undefined; // why there is no stream, where a server has said so
  private lastWelcome!: Welcome;
  private vocabulary: Tokenizer | undefined;  // of the first welcome
  private givenUp = 0;   // of the unanswered, the oldest
  private nextStep = 2;  // a replay takes the number before the oldest step it leads to
  private moveCount = 0;
  private readonly retry: RetryPolicy;

  private constructor(private readonly options: FailoverOptions) {
    this.servers = new ServerList([...options.addresses]);
    this.retry = {...DEFAULT_RETRY, ...options.retry};
  }

  /**
   * Opens on the first address that serves, or where there are the fewest streams. Rejects with INVALID_ARGUMENT (no address), those of a stream's opening
   * that another server would give too; else the last server's, after giveUpAfterMs without one that serves.
   */
  static async open(options: FailoverOptions): Promise<FailoverStream> {
    if (options.addresses.length === 0) throw new MaskdError(Code.INVALID_ARGUMENT, "addresses: is empty");
    const stream = new FailoverStream(options);
    const [first = "", second] = options.addresses;
    if (options.inOrder || (second === undefined && nameOf(first) === undefined)) {
      await stream.findServer();
    } else {
      await stream.openSpread();
    }
    return stream;
  }

  /**
   * Opens where there are the fewest streams, and looks once more behind its own opening: of many that open together
   * the last sees all.
   */
  private async openSpread(): Promise<void> {
    const spread: SpreadOptions = {
      addresses: [...this.options.addresses],
      resolve: this.options.resolve ?? resolveByDns,
      connect: this.options.connect ?? {},
      stream: this.options.stream,
      compileTimeoutMs: this.compileTimeoutMs,
      lookEveryMs: this.options.lookEveryMs ?? 4_000,
    };
    const all = await serversOf(spread.addresses, spread.resolve);
    const asker = new Asker(spread.connect);
    try {
      this.servers = new ServerList((await asker.ask(all, undefined)).leastFirst(all));
      await this.findServer();
      for (let i = 0; i < MOST_SETTLES && await this.settleOnce(asker, all); ++i);
    } finally {
      asker.close();
    }
    // All begin with the server that had least: they must not all go on to the same one.
    this.servers.shuffle();
    this.moveCount = 0;
    this.spreader = new Spreader(spread);
    this.spreader.come(this.address, this.lastWelcome);
  }

  /** Goes to a server that has fewer streams, if there is one and it lets the stream in. */
  private async settleOnce(asker: Asker, all: readonly string[]): Promise<boolean> {
    const own = ownOf(this.address, this.lastWelcome);
    if (own === undefined) return false;
    const place = (await asker.ask(all, own)).placeFor(own.address);
    if (place === undefined) return false;
    const opened = Stream.open(place, this.options.connect ?? {}, this.options.stream);
    const stream = await opened.catch(() => undefined);
    return stream !== undefined && this.goTo({address: place, stream}, new Limit({}));
  }

  /**
   * Brings the rows to a server that has fewer streams; false: they stay. Half of the caller's time is the old server's,
   * so the step is answered in time whatever the new one does.
   */
  private async goTo({address, stream}: Offer, {leftMs, signal}: Limit): Promise<boolean> {
    const mostMs = Math.min(this.stepTimeoutMs / 2, LONGEST_MOVE_MS, leftMs / 2);
    try {
      stream.setNext(this.nextStep - 1);
      await this.settle(stream, address, {timeoutMs: Math.max(SHORTEST_MOVE_MS, mostMs), signal});
    } catch {
      stream.cancel();
      this.ledger.format = this.lastWelcome.grammarFormat;
      return false;
    }
    this.servers.use(address);
    ++this.moveCount;
    return true;
  }

  /** Does what the spreader waits for: between two steps, when none is in flight and no row compiles. */
  private async followSpreader(limit: Limit): Promise<void> {
    const {spreader} = this;
    if (spreader === undefined || this.stream === undefined) return;
    spreader.touch();
    if (this.inFlight > 0 || !this.ledger.isSettled) return;
    spreader.give(() => this.ledger.compileRequests(this.options.stream.tokenizer ?? ""));
    const offer = spreader.take();
    if (offer === undefined) return;
    this.servers.replace(spreader.servers);
    if (!await this.goTo(offer, limit)) spreader.leaveAlone(offer.address);
  }

  /** Keeps the text of a grammar: a server that does not have its id is told the text. */
  remember(grammarId: string, grammar: Grammar): void {
    this.ledger.grammars.set(grammarId, toWire(grammar));
  }

  /** Of the server in use, or of the last one that was. */
  get welcome(): Welcome {
    return this.lastWelcome;
  }

  /** Of the server in use, or that is tried next. */
  get address(): string {
    return this.servers.address;
  }

  /** Steps submitted and not collected. */
  get inFlight(): number {
    return this.unanswered.length;
  }

  /** How often the rows have moved. */
  get moves(): number {
    return this.moveCount;
  }

  private get stepTimeoutMs(): number {
    return this.options.stepTimeoutMs ?? 2_000;
  }

  private get compileTimeoutMs(): number {
    return this.options.compileTimeoutMs ?? 10_000;
  }

  /** How long a server may take to answer the oldest step. */
  private get patienceMs(): number {
    return this.stepTimeoutMs + (this.unanswered[0]?.step.waitForCompileMs ?? 0);
  }

  /** The steps that a server is still to answer. */
  private get live(): Sent[] {
    return this.unanswered.slice(this.givenUp);
  }

  private checkVocabulary(welcome: Welcome, address: string): void {
    const here = welcome.tokenizer;
    if (this.vocabulary === undefined) {
      if (here?.hash) this.vocabulary = here;
      return;
    }
    if (here?.hash === this.vocabulary.hash && here.vocabSize === this.vocabulary.vocabSize) return;
    throw new MaskdError(Code.FAILED_PRECONDITION,
        `${address}: its tokenizer "${here?.name}" has ${here?.vocabSize} tokens and the hash ${here?.hash}; ` +
        `the stream's has ${this.vocabulary.vocabSize} tokens and the hash ${this.vocabulary.hash}`);
  }

  /** Looks for the first server. */
  private findServer(): Promise<void> {
    return findServer(this.servers, this.guest(), this.searchOptions, new Limit({}));
  }

  private get searchOptions(): SearchOptions {
    return {giveUpAfterMs: this.options.giveUpAfterMs ?? 10_000, patienceMs: this.stepTimeoutMs, retry: this.retry};
  }

  private guest(): Guest {
    const connect = this.options.connect ?? {};
    const {stream} = this.options;
    const mostMs = stream.openTimeoutMs ?? 10_000;
    return {
      open: (address, timeoutMs, signal) => {
        const firstStep = this.nextStep - this.live.length - 1;
        return Stream.open(address, connect,
            {...stream, firstStep, openTimeoutMs: Math.min(mostMs, timeoutMs)}, signal);
      },
      settle: (opened, address, signal) =>
        this.settle(opened, address, {timeoutMs: this.compileTimeoutMs + this.stepTimeoutMs, signal}),
    };
  }

  /**
   * Brings the rows and the unanswered steps to a stream that has just been opened, which is then the one in use. No
   * wait stands between the steps that are sent and that: one that comes meanwhile is sent with them, or to that stream.
   */
  private async settle(opened: Stream, address: string, wait: Wait): Promise<void> {
    this.checkVocabulary(opened.welcome, address);
    this.ledger.format = opened.welcome.grammarFormat;
    try {
      const [first, ...others] = [await this.replay(opened, wait), ...this.live.slice(1).map(({step}) => copyOf(step))];
      if (first !== undefined) opened.send(first);
      for (const step of others) opened.send(step);
    } catch (error) {
      throw fromCall(error).at(address);
    }
    this.stream?.cancel();
    this.stream = opened;
    this.search = undefined;
    this.lastWelcome = opened.welcome;
    this.spreader?.come(address, opened.welcome);
  }

  /**
   * Opens the rows, and gives the oldest unanswered step as it is to be sent behind that, if there is one. The replay's
   * reply is dropped: what it says has been said of each row. A row that cannot go on here speaks against this server.
   */
  private async replay(opened: Stream, wait: Wait): Promise<WireStep | undefined> {
    for (const sent of this.live) {
      this.ledger.writeTexts(sent.step);
      this.ledger.dropCloses(sent.step);
    }
    const first = this.live[0];
    const oldest = first && copyOf(first.step);  // another may open other rows in it
    const replay = {...emptyStep(), waitForCompileMs: this.compileTimeoutMs};
    this.ledger.writeOpens(replay, oldest ?? emptyStep());
    opened.send(replay);
    this.ledger.applyReplay((await opened.collect(wait)).rows);
    return oldest;
  }

  /** Leaves the server in use, which has failed with `error`, for another one, or waits for the search for that. */
  private async move(error: MaskdError, limit: Limit): Promise<void> {
    if (this.search === undefined) {
      this.leave();
      this.servers.note(this.address, error);
      this.servers.replace(this.spreader?.servers ?? []);
      this.servers.goOn();
      ++this.moveCount;
      this.search = new Search(this.servers, this.guest(), this.searchOptions);
    }
    const {search} = this;
    const isOver = await search.wait(limit).catch((failure: unknown) => {
      this.search = undefined;
      throw failure;
    });
    if (!isOver) throw limit.error(search.last);
  }

  private leave(why?: MaskdError): void {
    this.stream?.cancel();
    this.stream = undefined;
    this.leftFor = why;
  }

  /**
   * Notes that the server in use ended, if it did, under the steps it was to answer. Those that ended as they had
   * said do not count.
   */
  private noteEnd(error: MaskdError): void {
    const isEnd = error.code === Code.UNAVAILABLE || error.code === Code.UNKNOWN;
    if (this.stream === undefined || !isEnd || this.stream.goAway !== undefined) return;
    for (const sent of this.live) {
      sent.ended.push(this.address);
      if (sent.ended.length < MOST_ENDS) continue;
      sent.failed = this.ledger.giveUp(sent.step);
      ++this.givenUp;  // an older step saw no fewer ends, so these are the oldest
    }
  }

  /** Answers the oldest step, which is given up. */
  private answerGivenUp(): StepResult {
    const sent = this.unanswered.shift() as Sent;
    --this.givenUp;
    const error = new MaskdError(Code.INTERNAL,
        `the servers ${sent.ended.join(" and ")} ended under a step of this row: it is not sent to another`,
        {reason: "SERVERS_ENDED", place: "", retryAfterMs: undefined});
    return new StepResult(sent.step.step, sent.failed.map((id) => failedRow(id, error)), []);
  }

  /**
   * As Stream.submit(). It may go to a server that has fewer streams, for which `wait` holds. Rejects with
   * FAILED_PRECONDITION (too many in flight), RESOURCE_EXHAUSTED (larger than the server takes). The step is then as it
   * was.
   */
  async submit(step: Step, wait: Wait = {}): Promise<number> {
    if (this.inFlight >= MAX_IN_FLIGHT) throw tooManyInFlight();
    await this.followNotice();
    await this.followSpreader(new Limit(wait));
    const message = takeMessage(step);
    const next = copyOf(message);
    if (this.moveCount > 0) this.ledger.writeTexts(next);
    this.ledger.dropCloses(next);
    next.step = this.nextStep;
    const error = this.send(next);
    if (error !== undefined) {
      if (error.code === Code.RESOURCE_EXHAUSTED || !mayMove(error)) {
        restoreMessage(step, message);
        throw error;
      }
      this.noteEnd(error);
      this.leave(error);
    }
    this.unanswered.push({step: next, ended: [], failed: []});
    return this.nextStep++;
  }

  private send(step: WireStep): MaskdError | undefined {
    try {
      if (this.stream === undefined) messageOf(this.lastWelcome, step);
      this.stream?.send(copyOf(step));
      return undefined;
    } catch (error) {
      return fromCall(error);
    }
  }

  /** Leaves a server that has said that it will stop, as soon as no step is in flight. */
  private async followNotice(): Promise<void> {
    const {stream} = this;
    if (stream?.goAway === undefined || this.inFlight > 0) return;
    this.stream = undefined;
    await stream.close(GOODBYE_MS).catch(() => {});
  }

  /**
   * As Stream.collect(); it may move, for which `wait` holds too. A move that takes longer goes on. Rejects with FAILED_PRECONDITION (no step is in
   * flight), DEADLINE_EXCEEDED and CANCELLED (of `wait`; try again); those of open(), where no server is left.
   */
  async collect(wait: Wait = {}): Promise<StepResult> {
    if (this.inFlight === 0) throw new MaskdError(Code.FAILED_PRECONDITION, "no step is in flight");
    const limit = new Limit(wait);
    while (this.givenUp === 0) {
      // A timer may end a moment before the clock says so.
      const isCallers = limit.leftMs < this.patienceMs;
      let error: MaskdError;
      try {
        return await this.collectHere(limit);
      } catch (failure) {
        error = fromCall(failure);
      }
      if (this.givenUp > 0) break;
      const isLate = isCallers && error.code === Code.DEADLINE_EXCEEDED && this.stream?.hasEnded === false;
      if (isLate || limit.isOver || (!mayMove(error) && error.code !== Code.FAILED_PRECONDITION)) throw error;
      await this.move(error, limit);
    }
    this.leave();  // the next step finds another server
    return this.answerGivenUp();
  }

  /** Waits for the server in use, and books what it says. */
  private async collectHere(limit: Limit): Promise<StepResult> {
    if (this.stream === undefined) throw this.leftFor ?? new MaskdError(Code.UNAVAILABLE, "no server is in use");
    const oldest = this.unanswered[0];
    if (oldest === undefined) throw internal("no step is in flight");
    const result = await this.stream.collect(limit.within(this.patienceMs)).catch((failure: unknown) => {
      const error = fromCall(failure);
      this.noteEnd(error);
      throw error;
    });
    this.ledger.apply(oldest.step, result.rows);
    this.unanswered.shift();
    return result;
  }

  /** As Stream.close(). */
  async close(timeoutMs?: number): Promise<void> {
    this.unanswered.length = 0;
    this.givenUp = 0;
    this.endSearches();
    const {stream} = this;
    this.stream = undefined;
    await stream?.close(timeoutMs);
  }

  /** Ends the stream at once, without a goodbye. */
  cancel(): void {
    this.endSearches();
    this.leave();
  }

  private endSearches(): void {
    this.search?.cancel();
    this.search = undefined;
    this.spreader?.close();
    this.spreader = undefined;
  }
}
