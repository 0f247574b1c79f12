// A server is looked for that takes the rows of a stream.

import {jittered, type RetryPolicy} from "./connect.js";
import {Code, fromCall, type MaskdError} from "./errors.js";
import {Limit} from "./limit.js";
import {Race} from "./race.js";
import type {ServerList} from "./servers.js";
import type {Stream} from "./stream.js";

export interface SearchOptions {
  readonly giveUpAfterMs: number;
  /** How long a server may take to let the stream in, in the first round. */
  readonly patienceMs: number;
  readonly retry: RetryPolicy;
}

/** What is done with a server. */
export interface Guest {
  /** Opens a stream; `signal` ends that. */
  open(address: string, timeoutMs: number, signal: AbortSignal): Promise<Stream>;
  /** Brings the rows to a stream, and takes it; `signal` ends that. */
  settle(stream: Stream, address: string, signal: AbortSignal | undefined): Promise<void>;
}

const MAY_MOVE = new Set([Code.UNAVAILABLE, Code.CANCELLED, Code.ABORTED, Code.DEADLINE_EXCEEDED,
  Code.RESOURCE_EXHAUSTED, Code.INTERNAL, Code.UNKNOWN]);

/** Whether another server may do better: this one is gone, silent, full, or broken. */
export const mayMove = (error: MaskdError): boolean => MAY_MOVE.has(error.code);

/** What came of asking the servers once. */
interface Round {
  readonly isFound: boolean;
  readonly last?: MaskdError;     // of the last server
  readonly differs?: MaskdError;  // of the last one that means other masks
  readonly differing: number;     // such servers
}

/** A search that goes on whether or not anybody waits for it. */
export class Search {
  /** Resolves when it is over, and never rejects. */
  readonly ended: Promise<void>;
  private readonly life = new AbortController();
  private readonly heard: Heard = {};
  private error: MaskdError | undefined;
  private isOver = false;

  constructor(servers: ServerList, guest: Guest, options: SearchOptions) {
    const limit = new Limit({signal: this.life.signal});
    this.ended = findServer(servers, guest, options, limit, this.heard).catch((error: unknown) => {
      this.error = fromCall(error);
    }).then(() => {
      this.isOver = true;
    });
  }

  /** Waits for its end in a caller's time, and throws what it failed with. Whether it is over. */
  async wait(limit: Limit): Promise<boolean> {
    while (!this.isOver && !limit.isOver) await limit.wait(Infinity, this.ended);
    if (this.error !== undefined) throw this.error;
    return this.isOver;
  }

  /** What the last server has said. */
  get last(): MaskdError | undefined {
    return this.heard.last;
  }

  cancel(): void {
    this.life.abort();
  }
}

/** What a search has heard so far. */
interface Heard {
  last?: MaskdError | undefined;  // of the last server
}

/**
 * Looks for a server from the one that is tried next on. Of each round's servers several are asked at once. One that
 * has refused for load is asked again when it said, not before. giveUpAfterMs bounds all of it, and the caller's time.
 */
export async function findServer(servers: ServerList, guest: Guest, options: SearchOptions, limit: Limit,
    heard: Heard = {}): Promise<void> {
  const giveUpAt = performance.now() + options.giveUpAfterMs;
  let delayMs = options.retry.firstDelayMs;
  let {patienceMs} = options;  // twice as much in each round: a server that is slow is found too
  let differs: MaskdError | undefined;
  while (true) {
    const openMs = Math.min(patienceMs, giveUpAt - performance.now(), limit.leftMs);
    const round = await askServers(servers, guest, openMs, limit);
    if (round.isFound) return;
    const refusal = servers.first();
    heard.last = round.last ?? heard.last ?? refusal?.error;
    differs = round.differs ?? differs;
    if (limit.isOver) throw limit.error(heard.last);
    const wake = Math.max(performance.now() + jittered(delayMs), refusal?.until ?? 0);
    if (round.differing === servers.count || wake > giveUpAt) throw differs ?? heard.last;
    await limit.wait(wake - performance.now());
    if (limit.isOver) throw limit.error(heard.last);
    delayMs = Math.min(2 * delayMs, options.retry.maxDelayMs);
    patienceMs *= 2;
  }
}

/** Throws what another server would say too. */
async function askServers(servers: ServerList, guest: Guest, openMs: number, limit: Limit): Promise<Round> {
  const first = servers.address;
  const race = new Race(servers.toAsk(), (address, signal) => guest.open(address, openMs, signal), limit);
  let last: MaskdError | undefined;
  let differs: MaskdError | undefined;
  let differing = 0;
  try {
    for (let tried = await race.next(); tried !== undefined; tried = await race.next()) {
      const {address, stream} = tried;
      servers.use(address);
      const error = tried.error ?? (stream && await settle(guest, stream, address, limit));
      servers.note(address, error);
      if (error === undefined) return {isFound: true, differing};
      last = error;
      if (error.code === Code.FAILED_PRECONDITION) {
        differs = error;
        ++differing;
      } else if (!mayMove(error)) {
        throw error;
      }
    }
  } finally {
    race.close();
  }
  servers.use(first);
  return {isFound: false, last, differs, differing};
}

async function settle(guest: Guest, stream: Stream, address: string, {signal}: Limit): Promise<MaskdError | undefined> {
  try {
    await guest.settle(stream, address, signal);
    return undefined;
  } catch (error) {
    stream.cancel();
    return fromCall(error);
  }
}
