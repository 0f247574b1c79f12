// What went wrong with a call, a stream or a row, with its place and its reason.

import {BinaryReader} from "@bufbuild/protobuf/wire";
import {status as Code, type ServiceError} from "@grpc/grpc-js";

import type {RowError} from "./gen/maskd/v1/mask_service.js";

export {Code};

/** What the server says beside code and message. */
export interface ErrorDetails {
  /** Stable, in UPPER_SNAKE_CASE; empty where there is none. */
  readonly reason: string;
  /** A JSON Pointer or line:column in the caller's own source, or a field of the request; empty: none. */
  readonly place: string;
  /** After how many milliseconds the same may succeed, where the refusal is for load. */
  readonly retryAfterMs: number | undefined;
}

const NO_DETAILS: ErrorDetails = {reason: "", place: "", retryAfterMs: undefined};

/**
 * An error of this package. `code` is canonical: UNAVAILABLE where no server answers, DEADLINE_EXCEEDED where
 * it does not in time, INTERNAL where it breaks the protocol; else the call's own, of protos/maskd/v1.
 */
export class MaskdError extends Error implements ErrorDetails {
  readonly code: Code;
  readonly reason: string;
  readonly place: string;
  readonly retryAfterMs: number | undefined;

  constructor(code: Code, message: string, details: ErrorDetails = NO_DETAILS) {
    super(message);
    this.name = "MaskdError";
    this.code = code;
    this.reason = details.reason;
    this.place = details.place;
    this.retryAfterMs = details.retryAfterMs;
  }

  /** The same, with the server that it is of. */
  at(address: string): MaskdError {
    return new MaskdError(this.code, `${address}: ${this.message}`, this);
  }
}

/** The error of a call. */
export function fromCall(error: unknown): MaskdError {
  if (error instanceof MaskdError) return error;
  const said = error as Partial<ServiceError>;
  const bytes = said.metadata?.get("grpc-status-details-bin")[0];
  const details = bytes instanceof Uint8Array ? readDetails(bytes) : NO_DETAILS;
  return new MaskdError(said.code ?? Code.UNKNOWN, said.details || said.message || String(error), details);
}

/** The error of a row. */
export function fromRow(row: RowError): MaskdError {
  return new MaskdError(row.code, row.message,
      {reason: row.reason, place: row.place, retryAfterMs: row.retryAfterMs});
}

/** Calls `visit` with the number and the reader at the value of each field; it says whether it has read it. */
function readFields(bytes: Uint8Array, visit: (field: number, reader: BinaryReader) => boolean): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (!visit(field, reader)) reader.skip(wireType, field);
  }
}

/** The text of field `field`, the last one. */
function readText(bytes: Uint8Array, wanted: number): string {
  let text = "";
  readFields(bytes, (field, reader) => {
    if (field !== wanted) return false;
    text = reader.string();
    return true;
  });
  return text;
}

/** google.rpc.Status: field 3 has the details, each an Any of a type URL (1) and bytes (2). */
function readDetails(bytes: Uint8Array): ErrorDetails {
  const details = {...NO_DETAILS};
  try {
    readFields(bytes, (field, reader) => {
      if (field !== 3) return false;
      readDetail(reader.bytes(), details);
      return true;
    });
  } catch {
    return NO_DETAILS;  // what cannot be read says nothing; code and message stand
  }
  return details;
}

function readDetail(any: Uint8Array, details: {reason: string; place: string; retryAfterMs: number | undefined}): void {
  let value = new Uint8Array();
  readFields(any, (field, reader) => {
    if (field !== 2) return false;
    value = Uint8Array.from(reader.bytes());
    return true;
  });
  switch (readText(any, 1).split("/").pop()) {
    case "google.rpc.ErrorInfo":
      details.reason = readText(value, 1);
      break;
    case "google.rpc.BadRequest":
      details.place ||= firstField(value);
      break;
    case "google.rpc.RetryInfo":
      details.retryAfterMs = readDelayMs(value);
      break;
  }
}

/** The field of the first violation. */
function firstField(badRequest: Uint8Array): string {
  const places: string[] = [];
  readFields(badRequest, (field, reader) => {
    if (field !== 1) return false;
    places.push(readText(reader.bytes(), 1));
    return true;
  });
  return places[0] ?? "";
}

/** RetryInfo has a Duration (1): seconds (1) and nanoseconds (2). */
function readDelayMs(retryInfo: Uint8Array): number {
  let ms = 0;
  readFields(retryInfo, (outer, reader) => {
    if (outer !== 1) return false;
    readFields(reader.bytes(), (field, inner) => {
      if (field === 1) ms += Number(inner.int64()) * 1000;
      if (field === 2) ms += inner.int32() / 1e6;
      return field === 1 || field === 2;
    });
    return true;
  });
  return ms;
}
