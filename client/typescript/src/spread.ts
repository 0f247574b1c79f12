// Looks at the servers of a stream now and then, and prepares its move to another where its own has too many.

import type {CallOptions, ClientUnaryCall, Metadata as GrpcMetadata, ServiceError} from "@grpc/grpc-js";
import {Metadata} from "@grpc/grpc-js";

import {Loads, LookPace, shuffled} from "./balance.js";
import {callDeadline, type Connect, dial, metadataOf} from "./connect.js";
import {type CompileRequest, CompileServiceClient} from "./gen/maskd/v1/compile_service.js";
import {MaskServiceClient, type Welcome} from "./gen/maskd/v1/mask_service.js";
import {type Resolve, serversOf} from "./resolve.js";
import {Stream, type StreamOptions} from "./stream.js";

/** How long a server may take to say how many streams it has. */
const LOAD_ANSWER_MS = 500;

/** How long an offer, and a wish for grammars, wait for the next step. */
const TAKEN_WITHIN_MS = 1_000;

/** How long a server that could not be gone to is left alone. */
const LEFT_ALONE_MS = 30_000;

/** How many servers are asked at most. */
const MOST_ASKED = 8;

type Unary<Q, R> = (request: Q, metadata: GrpcMetadata, options: Partial<CallOptions>,
    callback: (error: ServiceError | null, response: R) => void) => ClientUnaryCall;

function ask<Q, R>(method: Unary<Q, R>, request: Q, connect: Connect, deadline: number): Promise<R> {
  return new Promise((resolve, reject) => {
    method(request, metadataOf(connect) ?? new Metadata(), {deadline: callDeadline(deadline)},
        (error, response) => error ? reject(error) : resolve(response));
  });
}

/** A stream as its server knows it. */
export interface Own {
  readonly address: string;
  readonly number: number;
}

/** The own stream of a welcome; undefined: its server does not tell of streams. */
export function ownOf(address: string, {streamNumber}: Welcome): Own | undefined {
  return streamNumber === undefined ? undefined : {address, number: streamNumber};
}

/** Asks servers how many streams they have, over connections that it keeps. */
export class Asker {
  private readonly connections = new Map<string, MaskServiceClient>();

  constructor(private readonly connect: Connect) {}

  close(): void {
    for (const server of [...this.connections.keys()]) this.drop(server);
  }

  private drop(server: string): void {
    this.connections.get(server)?.close();
    this.connections.delete(server);
  }

  /** Asks all at once; of many a random few, the own one among them. */
  async ask(servers: readonly string[], own: Own | undefined): Promise<Loads> {
    const asked = sample(servers, own);
    for (const server of [...this.connections.keys()]) {
      if (!asked.includes(server)) this.drop(server);
    }
    const deadline = performance.now() + LOAD_ANSWER_MS;
    const answers = await Promise.all(asked.map((server) => this.askOne(server, own, deadline)));
    const loads = new Loads();
    asked.forEach((server, i) => {
      const answer = answers[i];
      if (answer === undefined) return;
      loads.streams.set(server, answer.openStreams);
      loads.rank = answer.rank ?? loads.rank;
    });
    return loads;
  }

  private async askOne(server: string, own: Own | undefined, deadline: number) {
    try {
      const client = this.connections.get(server) ?? dial(MaskServiceClient, server, this.connect);
      this.connections.set(server, client);
      const streamNumber = own?.address === server ? own.number : undefined;
      return await ask(client.getLoad.bind(client), {streamNumber}, this.connect, deadline);
    } catch {
      this.drop(server);  // it may wait for long before it tries again
      return undefined;
    }
  }
}

function sample(servers: readonly string[], own: Own | undefined): string[] {
  if (servers.length <= MOST_ASKED) return [...servers].sort();
  const others = shuffled(servers.filter((server) => server !== own?.address));
  const here = servers.filter((server) => server === own?.address);
  return [...here, ...others].slice(0, MOST_ASKED).sort();
}

/** What a spreader must know. */
export interface SpreadOptions {
  readonly addresses: readonly string[];
  readonly resolve: Resolve;
  readonly connect: Connect;
  readonly stream: StreamOptions;
  readonly compileTimeoutMs: number;
  readonly lookEveryMs: number;
}

/** A stream to go to, on which nothing was sent. */
export interface Offer {
  readonly address: string;
  readonly stream: Stream;
}

/**
 * Asks for the grammars of the stream's rows, has them compiled at the server that it should go to, opens a stream
 * there and offers it. So a step of a stream that moves waits for no connection and no compile.
 */
export class Spreader {
  private readonly asker: Asker;
  private readonly pace: LookPace;
  private readonly aloneUntil = new Map<string, number>();
  private own: Own | undefined;
  private timer: NodeJS.Timeout | undefined;
  private steps = 0;
  private seenSteps = 0;
  private isLooking = false;
  private isClosed = false;
  private wanted: ((grammars: CompileRequest[]) => void) | undefined;
  private offered: {readonly offer: Offer; readonly taken: () => void} | undefined;
  /** The servers, as of the last look. */
  servers: readonly string[] = [];

  constructor(private readonly options: SpreadOptions) {
    this.asker = new Asker(options.connect);
    this.pace = new LookPace(options.lookEveryMs);
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.asker.close();
    this.take()?.stream.cancel();
  }

  /** The stream is now the one of this welcome. */
  come(address: string, welcome: Welcome): void {
    this.own = ownOf(address, welcome);
    this.wanted = undefined;
    this.take()?.stream.cancel();
    this.pace.came();
    this.plan();
  }

  /** Counts a step. */
  touch(): void {
    ++this.steps;
  }

  /** The stream could not go there. */
  leaveAlone(address: string): void {
    this.aloneUntil.set(address, performance.now() + LEFT_ALONE_MS);
  }

  /** Hands over the grammars, if they are wanted. */
  give(grammars: () => CompileRequest[]): void {
    const {wanted} = this;
    this.wanted = undefined;
    wanted?.(grammars());
  }

  /** The stream that is offered. */
  take(): Offer | undefined {
    const {offered} = this;
    this.offered = undefined;
    offered?.taken();
    return offered?.offer;
  }

  /** Looks in a while, if no look is going on. */
  private plan(): void {
    if (this.isLooking || this.isClosed) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.isLooking = true;
      void this.look().catch(() => {}).then(() => {
        this.isLooking = false;
        if (this.isClosed) this.asker.close();
        this.plan();
      });
    }, this.pace.nextMs());
    this.timer.unref();  // what keeps the program is its stream
  }

  private async look(): Promise<void> {
    const {addresses, resolve} = this.options;
    this.servers = await serversOf(addresses, resolve);
    const {own} = this;
    const isIdle = this.seenSteps === this.steps;
    this.seenSteps = this.steps;
    if (own === undefined || this.servers.length < 2 || isIdle) {
      this.pace.looked(false);
      return;
    }
    const loads = await this.askAll(own);
    if (this.own !== own) return;
    this.pace.looked(loads.isUneven);
    const place = loads.placeFor(own.address);
    if (place !== undefined) await this.prepare(place, own, [...loads.streams.keys()]);
  }

  private askAll(own: Own): Promise<Loads> {
    const now = performance.now();
    const mayAsk = (server: string): boolean => server === own.address || (this.aloneUntil.get(server) ?? 0) <= now;
    return this.asker.ask(this.servers.filter(mayAsk), own);
  }

  /** Makes the move to a place that follows from what the servers `asked` said. */
  private async prepare(place: string, own: Own, asked: readonly string[]): Promise<void> {
    const grammars = await this.awaitGrammars();
    if (grammars === undefined) return;
    try {
      await this.compile(place, grammars);
      // That may have taken long. The same servers: of many, others would have another place for it.
      if ((await this.asker.ask(asked, own)).placeFor(own.address) !== place) return;
      const openTimeoutMs = Math.min(this.options.stream.openTimeoutMs ?? TAKEN_WITHIN_MS, TAKEN_WITHIN_MS);
      const stream = await Stream.open(place, this.options.connect, {...this.options.stream, openTimeoutMs});
      await this.offer({address: place, stream}, own);
    } catch {
      this.leaveAlone(place);
    }
  }

  /** Asks the stream for its rows' grammars, which it gives with its next step. */
  private async awaitGrammars(): Promise<CompileRequest[] | undefined> {
    const grammars = await within<CompileRequest[]>(TAKEN_WITHIN_MS, (given) => {
      this.wanted = given;
    });
    this.wanted = undefined;
    return grammars;
  }

  private async compile(place: string, grammars: readonly CompileRequest[]): Promise<void> {
    if (grammars.length === 0) return;
    const deadline = performance.now() + this.options.compileTimeoutMs;
    const client = dial(CompileServiceClient, place, this.options.connect);
    try {
      for (const grammar of grammars) await ask(client.compile.bind(client), grammar, this.options.connect, deadline);
    } finally {
      client.close();
    }
  }

  /** Offers a stream, and takes it back where it is not taken in time. */
  private async offer(offer: Offer, own: Own): Promise<void> {
    if (this.own !== own || this.isClosed) {
      offer.stream.cancel();
      return;
    }
    const isTaken = await within<boolean>(TAKEN_WITHIN_MS, (taken) => {
      this.offered = {offer, taken: () => taken(true)};
    });
    if (isTaken) return;
    this.offered = undefined;
    offer.stream.cancel();
  }
}

/** What `begin` is told; undefined where that takes longer. */
function within<T>(ms: number, begin: (done: (value: T) => void) => void): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms, undefined);
    begin((value) => {
      clearTimeout(timer);
      resolve(value);
    });
  });
}
