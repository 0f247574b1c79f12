// Runs the interop list of tests/interop against real servers (MASKD_SERVER: the program's path).
import assert from "node:assert/strict";
import {type ChildProcess, spawn} from "node:child_process";
import {once} from "node:events";
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync} from "node:fs";
import {createServer, type Socket} from "node:net";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, test} from "node:test";
import {setTimeout as sleep} from "node:timers/promises";

import {choice, Client, Code, FailoverStream, type Grammar, jsonObject, jsonSchema, MaskdError, regex, Step,
  type StepResult, type Stream, type Wait} from "../src/index.js";
import {type Case, expectResult, type GoldenStep, interop, loadCases, loadGolden, optionsOf, sayAll,
  type Snapshots} from "./cases.js";

const WIDTH = 2080;
const program = process.env["MASKD_SERVER"] ?? "";
const skip = program === "" && "MASKD_SERVER is not set: run scripts/test-clients typescript";
const folder = mkdtempSync(join(tmpdir(), "maskd-"));
const started: Program[] = [];

after(async () => {
  for (const each of started) await each.kill();
  rmSync(folder, {recursive: true});
});

/** A process of a test, and the address that it serves. */
class Program {
  readonly address: string;

  private constructor(readonly path: string, private readonly command: string[], public process: ChildProcess) {
    this.address = `unix:${path}`;
  }

  private static spawn([program = "", ...args]: string[]): ChildProcess {
    return spawn(program, args, {stdio: "ignore"});
  }

  static nextPath(): string {
    return join(folder, `s${started.length}`);
  }

  static async start(make: (path: string) => string[]): Promise<Program> {
    const path = Program.nextPath();
    const command = make(path);
    const each = new Program(path, command, Program.spawn(command));
    started.push(each);
    for (let i = 0; i < 2000; ++i) {
      if (existsSync(path)) return each;
      await sleep(5);
    }
    throw new Error(`${command[0]} does not listen`);
  }

  /** Starts a server that has ended once more, at the same address. */
  async startAgain(): Promise<void> {
    this.process = Program.spawn(this.command);
    (await this.connect()).close();
  }

  /** A server with the vocabulary of the cases, or with the embedded one. */
  static server(withPairs = true, ...flags: string[]): Promise<Program> {
    const vocabulary = `--tokenizer=pairs=${interop}/pairs.tiktoken,special=<end>:256,stop=<end>`;
    return Program.start((path) => [program, `--listen=unix:${path}`, "--metrics_listen=", "--heap_mib=0",
      ...(withPairs ? [vocabulary] : []), ...flags]);
  }

  get isAlive(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  signal(name: NodeJS.Signals): void {
    this.process.kill(name);
  }

  /** Halts the process, and waits until each of its threads stands. */
  async stop(): Promise<void> {
    this.signal("SIGSTOP");
    const tasks = `/proc/${this.process.pid}/task`;
    const stands = (task: string): boolean => readFileSync(join(tasks, task, "stat"), "utf8").includes(") T ");
    for (let i = 0; i < 2000; ++i) {
      if (readdirSync(tasks).every(stands)) return;
      await sleep(1);
    }
    throw new Error("the server does not stand still");
  }

  async kill(): Promise<void> {
    if (!this.isAlive) return;
    const exited = once(this.process, "exit");
    this.signal("SIGKILL");
    await exited;
  }

  connect(): Promise<Client> {
    return Client.connect(this.address, {waitForServerMs: 10_000});
  }

  async open(): Promise<Stream> {
    const client = await this.connect();
    try {
      return await client.openStream({logitsWidth: WIDTH});
    } finally {
      client.close();
    }
  }
}

const rejects = (promise: Promise<unknown>, code: Code): Promise<MaskdError> => promise.then(
    () => assert.fail("no error"),
    (error: unknown) => {
      assert(error instanceof MaskdError, String(error));
      assert.equal(error.code, code, error.message);
      return error;
    });

async function run(stream: Stream | FailoverStream, step: Step): Promise<StepResult> {
  await stream.submit(step);
  return stream.collect();
}

async function session(server: Program, each: Case): Promise<void> {
  const golden = loadGolden(each.name);
  const client = await server.connect();
  const stream = await client.openStream(optionsOf(each));
  const snapshots: Snapshots = new Map();
  const step = new Step();
  for (const [i, verbs] of each.steps.entries()) {
    const result = await run(stream, sayAll(step, verbs, snapshots));
    for (const snapshot of result.snapshots) snapshots.set(snapshot.row, snapshot);
    expectResult(golden.masks, golden.steps[i] as GoldenStep, result);
  }
  await stream.close();
  client.close();
}

function openFailover(...servers: Program[]): Promise<FailoverStream> {
  return FailoverStream.open({addresses: servers.map(({address}) => address), inOrder: true,
    stream: {logitsWidth: WIDTH}, giveUpAfterMs: 2000});
}

/** Takes connections and says nothing. */
async function silent(number: number): Promise<{address: string; close: () => void}> {
  const path = join(folder, `silent${number}`);
  const sockets: Socket[] = [];  // nobody reads from them, so they see no end of their own
  const server = createServer((socket) => sockets.push(socket)).listen(path);
  await once(server, "listening");
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return {address: `unix:${path}`, close};
}

/** A schema that compiles for many seconds: strings whose length is a multiple of each of five numbers. */
function slow(tag: string): Grammar {
  const properties: Record<string, unknown> = {};
  for (let i = 0; i < 2000; ++i) {
    const allOf = [3, 5, 7, 11, 13].map((each) => ({pattern: `^${tag}${i}(?:.{${each}})*$`}));
    properties[`p${i}`] = {type: "string", allOf};
  }
  return jsonSchema({properties});
}

/** Opens slow grammars until one is refused for the compile queue. */
async function fillQueue(holder: Stream): Promise<void> {
  for (let row = 0; row < 10; ++row) {
    const {rows: [answer]} = await run(holder, new Step().open(row, slow(`${row}x`)));
    if (answer?.state !== "failed") continue;
    assert.equal(answer.error?.reason, "COMPILE_QUEUE_FULL");
    assert((answer.error.retryAfterMs ?? 0) > 0);
    return;
  }
  assert.fail("the queue does not fill");
}

/** What an engine says in a step: two rows, one of them forked from the other. */
function engineStep(number: number): Step {
  const step = new Step();
  const letter = 97 + number % 26;
  if (number === 0) return step.open(1, regex("([a-z][a-m]?[0-9]?)*")).waitForCompile(5000);
  if (number === 5) step.fork(1, 2);
  step.take(1, letter);
  if (number > 5) step.take(2, letter, 53);
  if (number % 4 === 3) step.rollback(1, 1);
  return step;
}

/** All masks of a reply. */
function masksOf(result: StepResult): string[] {
  return result.rows.map((row) => {
    assert(row.error === undefined && row.masks.length === 1, row.error?.message);
    return `${row.id} ${row.tokenCount} ${row.masks[0]?.words()}`;
  });
}

const ENGINE_STEPS = 40;

/** The masks of an engine whose server nothing happens to. */
async function undisturbed(): Promise<string[]> {
  const stream = await (await Program.server()).open();
  const masks: string[] = [];
  for (let i = 0; i < ENGINE_STEPS; ++i) masks.push(...masksOf(await run(stream, engineStep(i))));
  stream.cancel();
  return masks;
}

/** Collects, over and over where the wait is too short, until `isOver`. */
async function collect(stream: FailoverStream, wait: Wait, isOver: () => boolean): Promise<StepResult> {
  for (;;) {
    try {
      return await stream.collect(wait);
    } catch (error) {
      if (!(error instanceof MaskdError) || error.code !== Code.DEADLINE_EXCEEDED || isOver()) throw error;
    }
  }
}

/**
 * Has an engine's server killed under a step: the stream goes on elsewhere, with the masks of one that nothing happened
 * to.
 */
async function expectMove(stream: FailoverStream, from: Program, to: string, wait: Wait = {},
    killed = (): void => {}, isOver = (): boolean => true): Promise<void> {
  const masks: string[] = [];
  for (let i = 0; i < ENGINE_STEPS; ++i) {
    if (i === 20) await from.stop();
    await stream.submit(engineStep(i));
    if (i === 20) {
      await from.kill();
      killed();
    }
    masks.push(...masksOf(await collect(stream, i >= 20 ? wait : {}, isOver)));
  }
  assert.deepEqual([stream.moves, stream.address], [1, to]);
  assert.deepEqual(masks, await undisturbed());
  await stream.close();
}

const SCENARIOS: Record<string, () => Promise<void>> = {
  async width_refused() {
    const client = await (await Program.server()).connect();
    const error = await rejects(client.openStream({logitsWidth: 100}), Code.INVALID_ARGUMENT);
    assert.equal(error.place, "hello.logits_width");
    client.close();
  },

  async compile_and_check() {
    const client = await (await Program.server()).connect();
    const grammar = choice(["red", "rose"]);
    const first = await client.compile(grammar);
    const second = await client.compile(first.grammarId);
    assert.deepEqual([first.fromCache, second.fromCache, second.grammarId], [false, true, first.grammarId]);
    assert.equal(Buffer.from((await client.explain(grammar)).forcedPrefix).toString(), "r");
    const taken = await client.check(first.grammarId, "rose");
    assert(taken.accepted && taken.mayEnd);
    assert((await client.check(grammar, Buffer.from("red"))).accepted);
    assert((await client.check(grammar, [114, 256])).stop?.tokenIndex === 1);
    assert.equal((await client.check(grammar, "r!")).stop?.byteOffset, 1);
    client.close();
  },

  async compile_refused() {
    const client = await (await Program.server()).connect();
    const wrong = jsonSchema({properties: {a: {type: "strng"}}});
    const error = await rejects(client.compile(wrong), Code.INVALID_ARGUMENT);
    assert.deepEqual([error.place, error.reason], ["/properties/a/type", "INVALID_GRAMMAR"]);
    await rejects(client.compile("0".repeat(64)), Code.NOT_FOUND);
    await rejects(client.compile(jsonObject(), "qwen"), Code.NOT_FOUND);
    client.close();
  },

  async tokens() {
    const client = await (await Program.server()).connect();
    const tokens = await client.listTokens();
    assert.deepEqual([tokens.length, tokens[97]?.text.toString(), tokens[257]?.text.toString()], [2048, "a", "aa"]);
    assert.deepEqual(await client.listTokenizers(), [await client.tokenizer("pairs")]);
    client.close();
  },

  async cancel() {
    const server = await Program.server();
    const stream = await server.open();
    await server.stop();
    stream.submit(new Step());
    await rejects(stream.collect({signal: AbortSignal.timeout(50)}), Code.CANCELLED);
    stream.cancel();
    server.signal("SIGCONT");
    const next = await server.open();
    await run(next, new Step());
    next.cancel();
  },

  async deadline() {
    const server = await Program.server();
    const stream = await server.open();
    await server.stop();
    stream.submit(new Step());
    await rejects(stream.collect({timeoutMs: 50}), Code.DEADLINE_EXCEEDED);
    server.signal("SIGCONT");
    assert.equal((await stream.collect()).step, 1);
    await stream.close();
  },

  async go_away() {
    const server = await Program.server();
    const stream = await server.open();
    server.signal("SIGTERM");
    for (let i = 0; i < 200 && stream.goAway === undefined; ++i) {
      await run(stream, new Step());
      await sleep(10);
    }
    assert(stream.goAway !== undefined);
    await run(stream, new Step());
    stream.cancel();
  },

  async wrong_vocabulary() {
    const [pairs, bytes] = [await Program.server(), await Program.server(false)];
    const client = await bytes.connect();
    await rejects(client.openStream({logitsWidth: WIDTH, tokenizerHash: "0".repeat(64)}), Code.FAILED_PRECONDITION);
    client.close();
    const stream = await openFailover(pairs, bytes);
    const pinned = stream.welcome.tokenizer?.hash as string;
    await pairs.kill();
    const error = await rejects(run(stream, new Step()), Code.FAILED_PRECONDITION);
    assert(error.message.includes(pinned));
    assert(error.message.includes("549865214666861bd3f33839842e48cc81cc3f68229504f1958f5083842f8204"));
  },

  async failover() {
    const [a, b] = [await Program.server(), await Program.server()];
    await expectMove(await openFailover(a, b), a, b.address);
  },

  /** Each of the silent ones would be given longer than the whole search has. */
  async lost_zone() {
    const [a, b] = [await Program.server(), await Program.server()];
    const zone = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(silent));
    const stream = await FailoverStream.open({addresses: [a, ...zone, b].map(({address}) => address), inOrder: true,
      stream: {logitsWidth: WIDTH}, stepTimeoutMs: 60_000, giveUpAfterMs: 20_000});
    await expectMove(stream, a, b.address, {timeoutMs: 20_000});
    for (const each of zone) each.close();
  },

  /** Before the server whose queue is full stands a program that ends when it is asked earlier than that has said. */
  async queue_full() {
    const a = await Program.server();
    const full = await Program.server(true, "--compile_threads=1", "--compile_queue=1", "--max_compile_work=1000000000");
    const early = await Program.start((path) => ["python3", join(interop, "early.py"), path, full.path, "200"]);
    const holder = await full.open();
    await fillQueue(holder);
    const stream = await FailoverStream.open({addresses: [a.address, early.address], inOrder: true,
      stream: {logitsWidth: WIDTH}, giveUpAfterMs: 30_000});
    await expectMove(stream, a, early.address, {}, () => {
      setTimeout(() => holder.cancel(), 500);
    });
    assert(early.isAlive, "the server was asked before it said");
  },

  // Each answer of the server to go to comes later than a call waits. It ends when it is asked twice.
  async slow_server() {
    const [a, slow] = [await Program.server(), await Program.server()];
    // It is not there yet, or a stream that is slow to open would ask it too.
    const stream = await FailoverStream.open({addresses: [a.address, `unix:${Program.nextPath()}`], inOrder: true,
      stream: {logitsWidth: WIDTH}, stepTimeoutMs: 60_000, giveUpAfterMs: 60_000});
    const once = await Program.start((path) => ["python3", join(interop, "early.py"), path, slow.path, "60000", "200"]);
    await expectMove(stream, a, once.address, {timeoutMs: 50}, () => {}, () => !once.isAlive);
  },

  async drain() {
    const [a, b, c] = [await Program.server(), await Program.server(), await Program.server()];
    const stream = await openFailover(a, b, c);
    const masks: string[] = [];
    for (let i = 0; i < ENGINE_STEPS; ++i) {
      if (i === 10) a.signal("SIGTERM");
      if (i === 25) b.signal("SIGTERM");
      await stream.submit(engineStep(i));
      await sleep(5);
      masks.push(...masksOf(await stream.collect()));
    }
    assert.equal(stream.address, c.address);
    assert.deepEqual(masks, await undisturbed());
    await stream.close();
  },

  async two_deaths() {
    const server = await Program.server();
    const mortal = (): Promise<Program> =>
        Program.start((path) => ["python3", join(interop, "mortal.py"), path, server.path, "deadly"]);
    const [a, b, c] = [await mortal(), await mortal(), await mortal()];
    const stream = await openFailover(a, b, c);
    masksOf(await run(stream, engineStep(0)));
    const {rows} = await run(stream, new Step().open(66, regex("deadly[0-9]")));
    assert.deepEqual(rows.map(({id, state, error}) => [id, state, error?.code, error?.reason]),
        [[66, "failed", Code.INTERNAL, "SERVERS_ENDED"]]);
    masksOf(await run(stream, engineStep(1)));
    assert(b.isAlive || c.isAlive, "the third server got the step too");
    stream.cancel();
  },

  /** Twelve streams of a name that has three servers, which are restarted in turn, and then four. */
  async balance() {
    const servers: Program[] = [];
    const addServer = async (): Promise<void> => {
      const server = await Program.server();
      (await server.connect()).close();
      servers.push(server);
    };
    for (let i = 0; i < 3; ++i) await addServer();
    const undisturbed = await (await Program.server()).open();
    const streams: FailoverStream[] = [];
    for (let i = 0; i < 12; ++i) {
      streams.push(await FailoverStream.open({addresses: ["dns:///maskd.test:7411"], stream: {logitsWidth: WIDTH},
        resolve: async () => servers.map(({address}) => address)}));
    }
    const areEven = (): boolean => servers.every(({address}) =>
        streams.filter((stream) => stream.address === address).length === streams.length / servers.length);
    let number = 0;
    const step = async (): Promise<void> => {
      const expected = masksOf(await run(undisturbed, engineStep(number)));
      for (const stream of streams) assert.deepEqual(masksOf(await run(stream, engineStep(number))), expected);
      ++number;
      await sleep(10);
    };
    const stepUntilEven = async (): Promise<void> => {
      for (const end = Date.now() + 60_000; !areEven(); await step()) assert(Date.now() < end, "not even");
    };
    assert(areEven(), "not even at the start");
    await step();
    for (const server of [...servers]) {
      server.signal("SIGTERM");
      while (server.isAlive) await step();
      await server.startAgain();
    }
    await stepUntilEven();
    await addServer();
    await stepUntilEven();
    for (const stream of streams) await stream.close();
    undisturbed.cancel();
  },
};

let shared: Promise<Program> | undefined;

for (const each of loadCases()) {
  test(`interop ${each.name}`, {skip}, async () => {
    if (each.kind === "session") return session(await (shared ??= Program.server()), each);
    const scenario = SCENARIOS[each.name];
    assert(scenario !== undefined, "this client has no such scenario");
    return scenario();
  });
}

test("nobody there: the cause and the address, at once", async () => {
  const error = await rejects(Client.connect("unix:/no/such/socket"), Code.UNAVAILABLE);
  assert.match(error.message, /^unix:\/no\/such\/socket: .*ENOENT/);
  await rejects(Client.connect(""), Code.INVALID_ARGUMENT);
});
