// The set of tokens that may come next at one position, in one of the row forms.

import type {LogitBias} from "./gen/maskd/v1/mask_service.js";
import {Code, MaskdError} from "./errors.js";
import type {TokenId} from "./step.js";

/**
 * How a mask came, the two forms that speak of the dictionary being read as what it holds. "full" masks nothing:
 * the row has finished, or is free. "invalid" is no mask: a draft on the way to this position was refused.
 */
export type Form = "full" | "invalid" | "dense" | "allowedIds" | "forbiddenIds";

/** What all masks of a stream have in common. */
export interface MaskSizes {
  readonly vocabSize: number;
  readonly wordCount: number;
}

/**
 * A mask. Bit t % 32, least significant first, of word t / 32 is token t, 1 means allowed; bits past the
 * vocabulary are 0. A plain value: it stays as it is for as long as it is kept; what it gives is not to be
 * written to.
 */
export class Mask {
  /** What the allowed logits are to be divided by, 0: the greatest is to be taken. Absent: the engine's own. */
  temperature: number | undefined = undefined;
  /** What is to be added to logits before that; ids ascending, all of them allowed. */
  biases: readonly LogitBias[] = [];

  constructor(
      private readonly sizes: MaskSizes,
      /** How the mask came. */
      readonly form: Form,
      /** The listed tokens, ascending; empty but for the two forms that are lists. */
      readonly ids: readonly TokenId[] = [],
      private made: Uint32Array | undefined = undefined) {}

  /** Whether there is nothing to mask. */
  get full(): boolean {
    return this.form === "full";
  }

  /** Whether there is no mask. */
  get invalid(): boolean {
    return this.form === "invalid";
  }

  /** The packed words, whatever the form; undefined where the mask is full or invalid. */
  words(): Uint32Array | undefined {
    if (this.full || this.invalid) return undefined;
    return this.made ??= this.expand(new Uint32Array(this.sizes.wordCount));
  }

  /**
   * Writes the words into `row`, which may be longer: words past the mask become 0, and all bits 1 where the
   * mask is full. Throws, nothing being written: INVALID_ARGUMENT (`row` is too short), FAILED_PRECONDITION (the
   * mask is invalid).
   */
  copyTo(row: Uint32Array): void {
    this.checkRoom(row.length);
    this.copyInto(row, 0, row.length);
  }

  /** As copyTo(), for the words from `first` up to `end` of an array, in which there is room. @internal */
  copyInto(words: Uint32Array, first: number, end: number): void {
    if (this.full) {
      words.fill(0xffffffff, first, end);
      return;
    }
    const behind = first + this.sizes.wordCount;
    if (this.made !== undefined) {
      words.set(this.made, first);
    } else {
      this.expand(words, first);
    }
    if (behind < end) words.fill(0, behind, end);
  }

  /** Throws where the mask cannot be written to a row of so many words. */
  checkRoom(rowWords: number): void {
    if (this.invalid) throw noMask();
    if (!this.full && rowWords < this.sizes.wordCount) {
      throw new MaskdError(Code.INVALID_ARGUMENT,
          `a row of ${rowWords} words is too short for a mask of ${this.sizes.wordCount}`);
    }
  }

  /**
   * Masks one row of logits in place: those of tokens that are not allowed, and those past the vocabulary, become
   * minus infinity; biases are added and temperatures divided by first, where the mask carries them. Full does
   * nothing. Throws, nothing being written: INVALID_ARGUMENT (fewer logits than the vocabulary has tokens),
   * FAILED_PRECONDITION (the mask is invalid).
   */
  apply(logits: Float32Array): void {
    if (this.full) return;
    if (this.invalid) throw noMask();
    const {vocabSize} = this.sizes;
    if (logits.length < vocabSize) {
      throw new MaskdError(Code.INVALID_ARGUMENT,
          `${logits.length} logits are fewer than the vocabulary's ${vocabSize} tokens`);
    }
    this.tune(logits);
    logits.fill(-Infinity, vocabSize);
    if (this.form === "forbiddenIds") {
      for (const id of this.ids) logits[id] = -Infinity;
    } else {
      applyWords(this.words() as Uint32Array, logits, vocabSize);
    }
  }

  private tune(logits: Float32Array): void {
    for (const {id, bias} of this.biases) logits[id] = (logits[id] as number) + bias;
    const {temperature} = this;
    if (temperature === undefined || temperature === 0 || temperature === 1) return;
    for (let i = 0; i < this.sizes.vocabSize; ++i) logits[i] = (logits[i] as number) / temperature;
  }

  /** Writes the words of a list, from `first` on. */
  private expand(words: Uint32Array, first = 0): Uint32Array {
    const {ids} = this;
    const {vocabSize, wordCount} = this.sizes;
    if (this.form === "allowedIds") {
      words.fill(0, first, first + wordCount);
      for (let i = 0; i < ids.length; ++i) words[first + (ids[i]! >>> 5)]! |= 1 << (ids[i]! & 31);
      return words;
    }
    const whole = first + (vocabSize >>> 5);
    words.fill(0xffffffff, first, whole);
    words.fill(0, whole, first + wordCount);
    if ((vocabSize & 31) !== 0) words[whole] = 2 ** (vocabSize & 31) - 1;
    for (let i = 0; i < ids.length; ++i) words[first + (ids[i]! >>> 5)]! &= ~(1 << (ids[i]! & 31));
    return words;
  }
}

function noMask(): MaskdError {
  return new MaskdError(Code.FAILED_PRECONDITION, "there is no mask: a draft before it was refused");
}

/** Walks over the forbidden tokens of each word; most words are all or nothing. */
function applyWords(words: Uint32Array, logits: Float32Array, vocabSize: number): void {
  for (let i = 0; 32 * i < vocabSize; ++i) {
    const first = 32 * i;
    let forbidden = ~(words[i] as number);
    if (forbidden === -1) {
      logits.fill(-Infinity, first, Math.min(first + 32, vocabSize));
      continue;
    }
    while (forbidden !== 0) {
      const token = first + 31 - Math.clz32(forbidden & -forbidden);
      if (token >= vocabSize) break;
      logits[token] = -Infinity;
      forbidden &= forbidden - 1;
    }
  }
}
