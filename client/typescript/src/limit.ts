// A caller's own time.

import {Code, MaskdError} from "./errors.js";

/** How long a caller waits. */
export interface Wait {
  /** DEADLINE_EXCEEDED after so long. Absent: for ever. */
  readonly timeoutMs?: number;
  /** CANCELLED once it is aborted. */
  readonly signal?: AbortSignal;
}

/** A longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A wait that has begun. */
export class Limit {
  private readonly deadline: number;
  readonly signal: AbortSignal | undefined;

  constructor({timeoutMs, signal}: Wait) {
    this.deadline = timeoutMs === undefined ? Infinity : performance.now() + timeoutMs;
    this.signal = signal;
  }

  get isOver(): boolean {
    return this.signal?.aborted === true || this.leftMs === 0;
  }

  get leftMs(): number {
    return Math.max(0, this.deadline - performance.now());
  }

  /** What is left of it, `mostMs` at most. */
  within(mostMs: number): Wait {
    return {timeoutMs: Math.min(mostMs, this.leftMs), signal: this.signal};
  }

  /** Waits until `event`, so many milliseconds, or the end of the caller's time; perhaps shorter, where that is weeks. */
  wait(ms: number, event?: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, this.leftMs, LONGEST_TIMER_MS));
      this.signal?.addEventListener("abort", done, {once: true});
      if (this.signal?.aborted) done();
      event?.then(done);
    });
  }

  /** What a caller is told whose time ends while a server is looked for. */
  error(last: MaskdError | undefined): MaskdError {
    const code = this.signal?.aborted ? Code.CANCELLED : Code.DEADLINE_EXCEEDED;
    return new MaskdError(code, `no server has taken the rows in time${last ? `: ${last.message}` : ""}`);
  }
}
