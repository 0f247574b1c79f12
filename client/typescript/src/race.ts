// Streams that are opened on several servers at once, so that those that are silent are not waited for in turn.

import {fromCall, type MaskdError} from "./errors.js";
import type {Limit} from "./limit.js";
import type {Stream} from "./stream.js";

/** How long an attempt is alone before the next begins beside it: RFC 8305, section 5, "Connection Attempt Delay". */
export const ATTEMPT_DELAY_MS = 250;

/** What has come of opening a stream. */
export interface Attempt {
  readonly address: string;
  readonly stream?: Stream;
  readonly error?: MaskdError;
}

/** Opens a stream; `signal` ends the attempt. */
export type Open = (address: string, signal: AbortSignal) => Promise<Stream>;

/**
 * The next attempt begins ATTEMPT_DELAY_MS after the one before, or as soon as one has failed ("Happy Eyeballs",
 * RFC 8305).
 */
export class Race {
  private readonly life = new AbortController();
  private readonly ended: Attempt[] = [];
  private heard = (): void => {};
  private running = 0;
  private due = 0;  // when the next begins

  constructor(private readonly left: string[], private readonly open: Open, private readonly limit: Limit) {}

  /** Waits for the next attempt that ends; undefined: all have, or the caller's time has. */
  async next(): Promise<Attempt | undefined> {
    while (!this.limit.isOver) {
      const ended = this.ended.shift();
      if (ended !== undefined) return ended;
      const waitMs = this.left.length > 0 ? this.due - performance.now() : Infinity;
      if (waitMs <= 0) {
        this.begin(this.left.shift() as string);
      } else if (this.running === 0 && this.left.length === 0) {
        break;
      } else {
        await this.limit.wait(waitMs, new Promise<void>((resolve) => {
          this.heard = resolve;
        }));
      }
    }
    return undefined;
  }

  private begin(address: string): void {
    ++this.running;
    this.due = performance.now() + ATTEMPT_DELAY_MS;
    this.open(address, this.life.signal).then((stream) => this.end({address, stream}), (error: unknown) => {
      this.due = 0;
      this.end({address, error: fromCall(error)});
    });
  }

  private end(attempt: Attempt): void {
    --this.running;
    if (this.life.signal.aborted) return attempt.stream?.cancel();
    this.ended.push(attempt);
    this.heard();
  }

  /** Ends the attempts that run, and the streams that nobody took. */
  close(): void {
    this.life.abort();
    for (const {stream} of this.ended.splice(0)) stream?.cancel();
  }
}
