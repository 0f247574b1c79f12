// The servers of a stream in the order in which they are tried, and when one that has refused for load may be asked
// again.

import {shuffled} from "./balance.js";
import type {MaskdError} from "./errors.js";

/** An error with a time of the server's own, and when that is over. */
interface Refusal {
  readonly error: MaskdError;
  readonly until: number;
}

export class ServerList {
  private at = 0;  // the one in use, or that is tried next
  private readonly refusals = new Map<string, Refusal>();

  constructor(private all: string[]) {}

  get address(): string {
    return this.all[this.at] as string;
  }

  get count(): number {
    return this.all.length;
  }

  /** Makes a server the one in use. */
  use(address: string): void {
    if (!this.all.includes(address)) this.all.push(address);
    this.at = this.all.indexOf(address);
  }

  /** Leaves the server in use for the next one. */
  goOn(): void {
    this.at = (this.at + 1) % this.all.length;
  }

  shuffle(): void {
    const here = this.address;
    this.all = shuffled(this.all);
    this.use(here);
  }

  /** Takes the servers that there are now, in the order of before; new ones get a place by chance. */
  replace(now: readonly string[]): void {
    if (now.length === 0) return;
    const here = this.address;
    this.all = this.all.filter((server) => server === here || now.includes(server));
    for (const server of now) {
      if (this.all.includes(server)) continue;
      this.all.splice(Math.floor(Math.random() * (this.all.length + 1)), 0, server);
    }
    this.use(here);
  }

  /** Keeps what a server has said of the time after which it may be asked again. */
  note(address: string, error: MaskdError | undefined): void {
    const afterMs = error?.retryAfterMs ?? 0;
    if (error !== undefined && afterMs > 0) {
      this.refusals.set(address, {error, until: performance.now() + afterMs});
    } else {
      this.refusals.delete(address);
    }
  }

  /** Those that may be asked now, from the one that is tried next on. */
  toAsk(): string[] {
    const now = performance.now();
    const inOrder = [...this.all.slice(this.at), ...this.all.slice(0, this.at)];
    return inOrder.filter((server) => (this.refusals.get(server)?.until ?? 0) <= now);
  }

  /** The refusal that is over first, where all servers have refused for load. */
  first(): Refusal | undefined {
    const refusals = this.all.flatMap((server) => this.refusals.get(server) ?? []);
    return refusals.length < this.all.length ? undefined : refusals.sort((a, b) => a.until - b.until)[0];
  }
}
