// How the streams of many clients spread over many servers, each deciding for its own alone.

import {jittered} from "./connect.js";

/** How many looks in a row come sooner. */
const MOST_SOON = 4;

/**
 * Where the stream of `rank`, 1 the oldest, of server `own` goes: an index of `streams`, which has how many each
 * server has; undefined: it stays. The goal is the mean, rounded up where there are most now, else down. Of a
 * server that has more the youngest go, each to another of the places that are free: no chance is in it, and a
 * herd does not swing.
 */
export function placeToGo(streams: readonly number[], own: number, rank: number): number | undefined {
  const servers = streams.map((count, index) => ({index, count, goal: 0}));
  servers.sort((a, b) => b.count - a.count);
  const total = streams.reduce((sum, count) => sum + count, 0);
  const mean = Math.floor(total / streams.length);
  servers.forEach((server, n) => {
    server.goal = mean + (n < total % streams.length ? 1 : 0);
  });
  const place = servers.findIndex(({index}) => index === own);
  const goal = servers[place]?.goal ?? 0;
  if (rank <= goal) return undefined;
  // Those that go, numbered: first all of the fullest server.
  let number = rank - goal - 1;
  for (const server of servers.slice(0, place)) number += Math.max(0, server.count - server.goal);
  let last: number | undefined;
  for (const server of servers.reverse()) {
    const free = server.goal - server.count;
    if (free <= 0) continue;
    last = server.index;
    if (number < free) break;
    number -= free;
  }
  return last;
}

/**
 * When a stream looks at the servers: every `everyMs` or sooner, half of it at least, so that streams that began
 * together part; an eighth of that a few times in a row, where it has just come to a server or saw that streams
 * were uneven and others had to go.
 */
export class LookPace {
  private soon = 0;

  constructor(private readonly everyMs: number) {}

  /** How long until the next look. */
  nextMs(): number {
    return jittered(this.everyMs) / (this.soon > 0 ? 8 : 1);
  }

  came(): void {
    this.soon = MOST_SOON;
  }

  looked(isUneven: boolean): void {
    this.soon = this.soon > 0 ? this.soon - 1 : isUneven ? MOST_SOON : 0;
  }
}

/** What servers said of their streams: how many each has, and the rank of the own one. */
export class Loads {
  /** Of those that answered, ascending. */
  readonly streams = new Map<string, number>();
  rank = 0;  // 0: not told

  get isUneven(): boolean {
    const counts = [...this.streams.values()];
    return Math.max(...counts) > Math.min(...counts) + 1;
  }

  /** Where the own stream goes, which is at `address`; undefined: it stays. */
  placeFor(address: string): string | undefined {
    const servers = [...this.streams.keys()];
    const own = servers.indexOf(address);
    if (own < 0 || this.rank === 0) return undefined;
    const place = placeToGo([...this.streams.values()], own, this.rank);
    return place === undefined ? undefined : servers[place];
  }

  /**
   * The servers by what they said, the least first, in a random order where they have the same; those of which
   * nothing is known come last.
   */
  leastFirst(servers: readonly string[]): string[] {
    const streamsOf = (server: string): number => this.streams.get(server) ?? Number.MAX_SAFE_INTEGER;
    return shuffled(servers).sort((a, b) => streamsOf(a) - streamsOf(b));
  }
}

export function shuffled<T>(all: readonly T[]): T[] {
  const order = [...all];
  for (let i = order.length - 1; i > 0; --i) {
    const j = Math.floor(Math.random() * (i + 1));
    [order[i], order[j]] = [order[j] as T, order[i] as T];
  }
  return order;
}
