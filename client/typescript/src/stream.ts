// A decode stream: one message a step goes out, one comes back, in order.

import {type Client as GrpcClient, type ClientDuplexStream, Metadata} from "@grpc/grpc-js";

import {type Connect, dial, metadataOf} from "./connect.js";
import {Code, fromCall, MaskdError} from "./errors.js";
import {
  DecodeRequest,
  type DecodeResponse,
  type GoAway,
  type Hello,
  MaskServiceClient,
  MaskServiceService,
  RowForm,
  type Step as WireStep,
  type Welcome,
} from "./gen/maskd/v1/mask_service.js";
import type {Wait} from "./limit.js";
import {internal, MaskReader} from "./reader.js";
import {readReply, type StepResult} from "./result.js";
import {restoreMessage, type Step, takeMessage} from "./step.js";
import {readResponse, writeStep} from "./wire.js";

/** Steps of a stream that may be on their way at once. */
export const MAX_IN_FLIGHT = 64;

const PROTOCOL_VERSION = 1;
const DEFAULT_OPEN_TIMEOUT_MS = 10_000;

/** What a stream is for. */
export interface StreamOptions {
  /** Tokenizer by its name. Absent: the server's default. */
  readonly tokenizer?: string;
  /** The hash it must have; FAILED_PRECONDITION where it differs. Absent: any. */
  readonly tokenizerHash?: string;
  /** Tokens in a row of logits, at least the tokenizer's size. */
  readonly logitsWidth: number;
  /** Whether masks may come in the short row forms. Absent: yes. */
  readonly shortForms?: boolean;
  /** Masks kept for the forms that refer to others. Absent: 256. */
  readonly dictionarySize?: number;
  /** Whether positions may carry temperatures. */
  readonly wantTemperature?: boolean;
  /** Whether positions may carry biases. */
  readonly wantBias?: boolean;
  /** Number of the first step. Absent: 1. */
  readonly firstStep?: number;
  /** How long the server may take to say welcome. Absent: 10,000. */
  readonly openTimeoutMs?: number;
}

export function helloOf(options: StreamOptions): Hello {
  const shortForms = options.shortForms ?? true;
  const forms = [RowForm.ROW_FORM_SAME_AS, RowForm.ROW_FORM_ALLOWED_IDS, RowForm.ROW_FORM_FORBIDDEN_IDS,
    RowForm.ROW_FORM_DELTA];
  return {
    protocolVersion: PROTOCOL_VERSION,
    tokenizer: options.tokenizer ?? "",
    tokenizerHash: options.tokenizerHash ?? "",
    logitsWidth: options.logitsWidth,
    rowForms: shortForms ? forms : [],
    dictionarySize: shortForms ? options.dictionarySize ?? 256 : 0,
    wantTemperature: options.wantTemperature ?? false,
    wantBias: options.wantBias ?? false,
    sharedMemory: false,
  };
}

/** Holds the welcome to the hello: masks are made as large as it says. */
export function checkWelcome(hello: Hello, welcome: Welcome): void {
  const width = hello.logitsWidth;
  const size = welcome.tokenizer?.vocabSize ?? 0;
  if (size >= 0 && size <= width && welcome.maskWords === Math.ceil(width / 32) &&
      welcome.dictionarySize <= hello.dictionarySize) {
    return;
  }
  throw internal(`the server's welcome is not for ${width} logits and ${hello.dictionarySize} masks: ` +
      `${size} tokens, ${welcome.maskWords} words, ${welcome.dictionarySize} masks`);
}

/** A step's message. Throws RESOURCE_EXHAUSTED where it is larger than a server with this welcome takes. */
export function messageOf(welcome: Welcome, step: WireStep): Buffer {
  const message = writeStep(step);
  const limit = welcome.limits?.maxStepBytes ?? 0;
  if (limit === 0 || message.length <= limit) return message;
  throw new MaskdError(Code.RESOURCE_EXHAUSTED,
      `step: limit max_step_bytes is ${limit}, ${message.length} needed`);
}

const asItIs = (message: Buffer): Buffer => message;

/** What a caller of collect() waits with. */
interface Waiter {
  readonly resolve: (result: StepResult) => void;
  readonly reject: (error: MaskdError) => void;
}

/**
 * A decode stream. Up to MAX_IN_FLIGHT steps may be submitted before the first is collected. An error of submit()
 * or collect() is the stream's end, each later call throws it again; but DEADLINE_EXCEEDED and CANCELLED of
 * collect()'s own wait are not final: the reply may still be collected.
 */
export class Stream {
  private readonly replies: StepResult[] = [];
  private readonly inFlightSteps: number[] = [];
  private masks: MaskReader | undefined;
  private waiter: Waiter | undefined;
  private end: MaskdError | undefined;
  private ended: (() => void) | undefined;
  private notice: GoAway | undefined;
  private next: number;
  /** The server's terms: tokenizer, words of a mask, limits. */
  readonly welcome!: Welcome;

  private constructor(
      private readonly client: GrpcClient,
      private readonly call: ClientDuplexStream<Buffer, DecodeResponse>,
      firstStep: number) {
    this.next = firstStep;
  }

  /** Connects and says hello; `signal` ends that. @internal */
  static async open(address: string, connect: Connect, options: StreamOptions, signal?: AbortSignal): Promise<Stream> {
    const client = dial(MaskServiceClient, address, connect);
    const {path} = MaskServiceService.decode;
    const call = client.makeBidiStreamRequest(path, asItIs, readResponse, metadataOf(connect) ?? new Metadata(), {});
    const stream = new Stream(client, call, options.firstStep ?? 1);
    const timeoutMs = options.openTimeoutMs ?? DEFAULT_OPEN_TIMEOUT_MS;
    const aborted = (): void => stream.cancel();
    signal?.addEventListener("abort", aborted, {once: true});
    try {
      await stream.sayHello(helloOf(options), timeoutMs);
      return stream;
    } catch (error) {
      stream.cancel();
      throw fromCall(error).at(address);
    } finally {
      signal?.removeEventListener("abort", aborted);
    }
  }

  private sayHello(hello: Hello, timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new MaskdError(Code.DEADLINE_EXCEEDED, `no welcome within ${timeoutMs} ms`));
      }, timeoutMs);
      const settle = (error?: MaskdError): void => {
        clearTimeout(timer);
        error ? reject(error) : resolve();
      };
      this.call.on("error", (error) => {
        this.finish(fromCall(error));
        settle(this.end);
      });
      this.call.on("end", () => {
        // An error says more, and comes behind.
        setImmediate(() => {
          this.finish(serverEnded());
          settle(this.end);
        });
      });
      this.call.once("data", (response: DecodeResponse) => {
        try {
          this.begin(hello, response);
          settle();
        } catch (error) {
          settle(fromCall(error));
        }
      });
      this.call.write(Buffer.from(DecodeRequest.encode({hello, step: undefined}).finish()));
    });
  }

  private begin(hello: Hello, response: DecodeResponse): void {
    if (response.welcome === undefined) throw internal("the server said something else than welcome");
    checkWelcome(hello, response.welcome);
    (this as {welcome: Welcome}).welcome = response.welcome;
    this.masks = new MaskReader(response.welcome);
    this.call.on("data", (message: DecodeResponse) => this.read(message));
  }

  private read(message: DecodeResponse): void {
    if (message.goAway !== undefined) {
      this.notice = message.goAway;
      return;
    }
    try {
      if (message.step === undefined) throw internal("the server sent what nobody asked for");
      const result = readReply(message.step, this.masks as MaskReader);
      const due = this.inFlightSteps[this.replies.length];
      if (result.step !== due) throw internal(`the reply to step ${due} was due, not ${result.step}`);
      this.replies.push(result);
    } catch (error) {
      this.finish(fromCall(error));
      this.cancel();
      return;
    }
    const {waiter} = this;
    this.waiter = undefined;
    waiter?.resolve(this.taken());
  }

  private finish(error: MaskdError): void {
    this.end ??= error;
    this.ended?.();
    const {waiter} = this;
    this.waiter = undefined;
    waiter?.reject(this.end);
  }

  private taken(): StepResult {
    this.inFlightSteps.shift();
    return this.replies.shift() as StepResult;
  }

  /** Numbers the first step, of a stream on which none was sent. @internal */
  setNext(step: number): void {
    this.next = step;
  }

  /** Whether it has come to its end. @internal */
  get hasEnded(): boolean {
    return this.end !== undefined;
  }

  /** Steps submitted and not collected. */
  get inFlight(): number {
    return this.inFlightSteps.length;
  }

  /** Set once the server has said that it will stop: move the rows to another one. */
  get goAway(): GoAway | undefined {
    return this.notice;
  }

  /**
   * Sends the step, empties it, and gives its number, which its reply bears. Throws FAILED_PRECONDITION (too many
   * in flight) and RESOURCE_EXHAUSTED (larger than the server takes), after which the stream goes on and the step
   * is as it was; the stream's end.
   */
  submit(step: Step): number {
    if (this.inFlight >= MAX_IN_FLIGHT) throw tooManyInFlight();
    const message = takeMessage(step);
    try {
      return this.send(message);
    } catch (error) {
      restoreMessage(step, message);
      throw error;
    }
  }

  /** Sends a message, which is the stream's from then on. @internal */
  send(step: WireStep): number {
    if (this.end !== undefined) throw this.end;
    step.step = this.next;
    this.call.write(messageOf(this.welcome, step));
    this.inFlightSteps.push(this.next);
    return this.next++;
  }

  /**
   * Waits for the reply to the oldest step that is in flight; one caller at a time. Rejects with
   * FAILED_PRECONDITION (none is in flight), DEADLINE_EXCEEDED and CANCELLED (of `wait`; try again), INTERNAL (the
   * server broke the protocol), the stream's end.
   */
  async collect(wait: Wait = {}): Promise<StepResult> {
    if (this.inFlight === 0 || this.waiter !== undefined) {
      throw new MaskdError(Code.FAILED_PRECONDITION,
          this.inFlight === 0 ? "no step is in flight" : "another caller collects");
    }
    if (this.replies.length > 0) return this.taken();
    if (this.end !== undefined) throw this.end;
    if (wait.signal?.aborted) throw givenUp();
    const reply = new Promise<StepResult>((resolve, reject) => {
      this.waiter = {resolve, reject};
    });
    if (wait.timeoutMs === undefined && wait.signal === undefined) return reply;
    const stop = this.limit(wait);
    try {
      return await reply;
    } finally {
      stop();
    }
  }

  /** Ends the waiter's wait as `wait` says; the result forgets about it. */
  private limit(wait: Wait): () => void {
    const giveUp = (error: MaskdError): void => {
      const {waiter} = this;
      this.waiter = undefined;
      waiter?.reject(error);
    };
    const timer = wait.timeoutMs === undefined ? undefined : setTimeout(() => {
      giveUp(new MaskdError(Code.DEADLINE_EXCEEDED, `no reply within ${wait.timeoutMs} ms`));
    }, wait.timeoutMs);
    const aborted = (): void => giveUp(givenUp());
    wait.signal?.addEventListener("abort", aborted, {once: true});
    return () => {
      clearTimeout(timer);
      wait.signal?.removeEventListener("abort", aborted);
    };
  }

  /**
   * Says goodbye and waits for the stream's end; replies in flight are dropped. Rejects with what the server ended
   * the stream with, unless it is nothing, and with DEADLINE_EXCEEDED.
   */
  async close(timeoutMs = 5_000): Promise<void> {
    this.inFlightSteps.length = 0;
    try {
      if (this.end === undefined) await this.sayGoodbye(timeoutMs);
      if (this.end !== undefined && !isServersEnd(this.end)) throw this.end;
    } finally {
      this.cancel();
    }
  }

  private sayGoodbye(timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new MaskdError(Code.DEADLINE_EXCEEDED, `no goodbye within ${timeoutMs} ms`));
      }, timeoutMs);
      this.ended = () => {
        clearTimeout(timer);
        resolve();
      };
      this.call.removeAllListeners("data").on("data", () => {});
      this.call.end();
    });
  }

  /** Ends the stream at once, without a goodbye. */
  cancel(): void {
    this.end ??= givenUp();
    this.call.cancel();
    this.client.close();
  }
}

const SERVER_ENDED = "the server ended the stream";
const serverEnded = (): MaskdError => new MaskdError(Code.UNAVAILABLE, SERVER_ENDED);
const isServersEnd = (error: MaskdError): boolean => error.message === SERVER_ENDED;
const givenUp = (): MaskdError => new MaskdError(Code.CANCELLED, "the caller has given up");

export const tooManyInFlight = (): MaskdError =>
    new MaskdError(Code.FAILED_PRECONDITION, `${MAX_IN_FLIGHT} steps are in flight: collect first`);
