// A client of one server.

import {type CallOptions, type ClientUnaryCall, Metadata, type ServiceError} from "@grpc/grpc-js";

import {callDeadline, type Connect, DEFAULT_RETRY, dial, jittered, metadataOf, sleep} from "./connect.js";
import {Code, fromCall, MaskdError} from "./errors.js";
import {
  type CheckRequest,
  type CheckResponse,
  type CompileResponse,
  CompileServiceClient,
  type ExplainResponse,
} from "./gen/maskd/v1/compile_service.js";
import {type Token, type Tokenizer, TokenizerServiceClient} from "./gen/maskd/v1/tokenizer_service.js";
import {type Target, targetOf} from "./grammar.js";
import {Stream, type StreamOptions} from "./stream.js";

type Unary<Q, R> = (request: Q, metadata: Metadata, options: Partial<CallOptions>,
    callback: (error: ServiceError | null, response: R) => void) => ClientUnaryCall;

/** A text as it is, or bytes that need not be UTF-8, or tokens. */
export type CheckInput = string | Uint8Array | readonly number[];

/** A client of one server. Its streams live on their own: the client may go first. */
export class Client {
  private constructor(
      private readonly address: string,
      private readonly options: Connect,
      private readonly compiler: CompileServiceClient,
      private readonly tokenizers: TokenizerServiceClient) {}

  /**
   * Makes a client and asks the server a question, so that whoever has a client has had an answer. Addresses are
   * "unix:/run/maskd.sock" (an absolute path), "127.0.0.1:7411" or "dns:///maskd:7411". Rejects with
   * INVALID_ARGUMENT (no address), UNAVAILABLE with the address and the system's own words.
   */
  static async connect(address: string, options: Connect = {}): Promise<Client> {
    const deadline = performance.now() + (options.waitForServerMs ?? 0);
    for (;;) {
      const client = new Client(address, options, dial(CompileServiceClient, address, options),
          dial(TokenizerServiceClient, address, options));
      try {
        await client.tokenizer();
        return client;
      } catch (error) {
        client.close();
        const said = fromCall(error);
        const isFinal = said.code !== Code.UNAVAILABLE || said.message.includes("EACCES");
        if (isFinal || performance.now() >= deadline) throw said;
      }
      await sleep(10);
    }
  }

  /** Ends the client's own connections. */
  close(): void {
    this.compiler.close();
    this.tokenizers.close();
  }

  /** Compiles a grammar, or finds it in the cache. An absent tokenizer is the server's default. */
  compile(target: Target, tokenizer = ""): Promise<CompileResponse> {
    return this.ask(this.compiler.compile.bind(this.compiler), {tokenizer, ...targetOf(target)});
  }

  /** Runs a text or tokens through a grammar. What the grammar refuses is an answer, not an error. */
  check(target: Target, input: CheckInput, tokenizer = ""): Promise<CheckResponse> {
    const request: CheckRequest = {
      tokenizer,
      ...targetOf(target),
      text: typeof input === "string" ? input : undefined,
      rawText: input instanceof Uint8Array ? Buffer.from(input) : undefined,
      tokens: typeof input === "string" || input instanceof Uint8Array ? undefined : {ids: [...input]},
    };
    return this.ask(this.compiler.check.bind(this.compiler), request);
  }

  /** Says what the compiler understood of a grammar. */
  explain(target: Target, tokenizer = ""): Promise<ExplainResponse> {
    return this.ask(this.compiler.explain.bind(this.compiler), {tokenizer, ...targetOf(target)});
  }

  /** All vocabularies, the default first. */
  async listTokenizers(): Promise<Tokenizer[]> {
    const all: Tokenizer[] = [];
    for (let pageToken = "";;) {
      const page = await this.ask(this.tokenizers.listTokenizers.bind(this.tokenizers), {pageSize: 0, pageToken});
      all.push(...page.tokenizers);
      if (page.nextPageToken === "") return all;
      pageToken = page.nextPageToken;
    }
  }

  /** One vocabulary by its name; absent: the server's default. */
  async tokenizer(name = ""): Promise<Tokenizer> {
    const response = await this.ask(this.tokenizers.getTokenizer.bind(this.tokenizers), {name});
    if (response.tokenizer === undefined) throw new MaskdError(Code.INTERNAL, "the server gave no tokenizer");
    return response.tokenizer;
  }

  /** Every token in order of id. */
  async listTokens(tokenizer = ""): Promise<Token[]> {
    const all: Token[] = [];
    for (;;) {
      const page = await this.ask(this.tokenizers.listTokens.bind(this.tokenizers),
          {tokenizer, firstId: all.length, pageSize: 0});
      for (const token of page.tokens) all.push(token);
      if (page.nextId === undefined) return all;
      if (page.nextId !== all.length) {
        throw new MaskdError(Code.INTERNAL, "the server's pages of tokens do not follow each other");
      }
    }
  }

  /**
   * Opens a decode stream, on a connection of its own so that no other call's bytes delay a step, and says hello.
   * Rejects with those of MaskService.Decode, UNAVAILABLE, DEADLINE_EXCEEDED.
   */
  openStream(options: StreamOptions): Promise<Stream> {
    return Stream.open(this.address, this.options, options);
  }

  /** One unary call with its retries. */
  private async ask<Q, R>(method: Unary<Q, R>, request: Q): Promise<R> {
    const deadline = performance.now() + (this.options.callTimeoutMs ?? 30_000);
    const retry = {...DEFAULT_RETRY, ...this.options.retry};
    let delay = retry.firstDelayMs;
    for (let tries = 1;; ++tries) {
      try {
        return await this.askOnce(method, request, deadline);
      } catch (error) {
        const said = fromCall(error);
        const wait = said.retryAfterMs ?? (said.code === Code.UNAVAILABLE ? jittered(delay) : undefined);
        if (wait === undefined || tries >= retry.maxAttempts || performance.now() + wait >= deadline) {
          throw said.at(this.address);
        }
        await sleep(wait);
        delay = Math.min(2 * delay, retry.maxDelayMs);
      }
    }
  }

  private askOnce<Q, R>(method: Unary<Q, R>, request: Q, deadline: number): Promise<R> {
    const metadata = metadataOf(this.options) ?? new Metadata();
    return new Promise((resolve, reject) => {
      method(request, metadata, {deadline: callDeadline(deadline)},
          (error, response) => error ? reject(error) : resolve(response));
    });
  }
}
