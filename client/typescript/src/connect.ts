// How a server is reached.

import {type ChannelCredentials, type ChannelOptions, credentials, Metadata} from "@grpc/grpc-js";

import {Code, MaskdError} from "./errors.js";

/** When a failed unary call is tried again: all are idempotent. UNAVAILABLE and errors of load are, others not. */
export interface RetryPolicy {
  /** Tries in all; 1: never again. */
  readonly maxAttempts: number;
  /** Wait before the second try, doubled before each later one. */
  readonly firstDelayMs: number;
  /** The longest wait. */
  readonly maxDelayMs: number;
}

/** Of a connection. The defaults are right for a server on the same machine. */
export interface Connect {
  /** Such as gRPC's `credentials.createSsl(...)`. Absent: plain, for Unix sockets and trusted networks. */
  readonly credentials?: ChannelCredentials;
  /** Sent with every call as "authorization: Bearer TOKEN". */
  readonly token?: string;
  /** How long connect() goes on where nobody is there yet. Absent: what the first try says is the answer. */
  readonly waitForServerMs?: number;
  /** The time of one unary call, retries included. Absent: 30,000. */
  readonly callTimeoutMs?: number;
  /** Of unary calls. */
  readonly retry?: Partial<RetryPolicy>;
  /** The largest message that is received. Absent: 64 MiB. */
  readonly maxMessageBytes?: number;
  /** Given to gRPC beside those that the other fields lead to. */
  readonly channel?: ChannelOptions;
}

export const DEFAULT_RETRY: RetryPolicy = {maxAttempts: 4, firstDelayMs: 20, maxDelayMs: 1000};

type Stub<T> = new (address: string, credentials: ChannelCredentials, options: ChannelOptions) => T;

/** A stub with a connection of its own. */
export function dial<T>(stub: Stub<T>, address: string, connect: Connect): T {
  if (address === "") throw new MaskdError(Code.INVALID_ARGUMENT, "address: is empty");
  const isUnix = address.startsWith("unix:");
  // A server that was found by a name ("10.0.0.7:7411@maskd") is held to that.
  const [server = "", name] = isUnix ? [address] : address.split("@");
  return new stub(server, connect.credentials ?? credentials.createInsecure(), {
    "grpc.max_receive_message_length": connect.maxMessageBytes ?? 64 << 20,
    "grpc.use_local_subchannel_pool": 1,
    // The name that TLS and HTTP/2 speak of; gRPC would make one of the path.
    ...(isUnix && {"grpc.default_authority": "localhost"}),
    ...(name !== undefined && {
      "grpc.default_authority": name + server.slice(server.lastIndexOf(":")),
      "grpc.ssl_target_name_override": name,
    }),
    ...connect.channel,
  });
}

export function metadataOf(connect: Connect): Metadata | undefined {
  if (connect.token === undefined) return undefined;
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${connect.token}`);
  return metadata;
}

/**
 * What gRPC is told of a call's end, `deadline` by performance.now(). It takes times of day, and those may jump: so each
 * try has a new one, and only what is left is held to.
 */
export const callDeadline = (deadline: number): number => Date.now() + deadline - performance.now();

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Between half and all of a delay, so that many callers do not come back at once. */
export const jittered = (delayMs: number): number => delayMs * (0.5 + Math.random() / 2);
