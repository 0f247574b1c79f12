// Reads the masks of a stream's replies, in every row form, and keeps the stream's dictionary.
//
// Every reply passes through it, in order. Nothing that a server sends is trusted: ids, slots and indices are
// checked before they are used; what is not as the protocol says is INTERNAL. Words are made by copying: the
// bytes of a message begin anywhere in its buffer.

import {endianness} from "node:os";

import type {LogitBias, MaskDelta, Position, Welcome} from "./gen/maskd/v1/mask_service.js";
import {Code, MaskdError} from "./errors.js";
import {type Form, Mask, type MaskSizes} from "./mask.js";

const IS_LITTLE_ENDIAN = endianness() === "LE";

export const internal = (message: string): MaskdError => new MaskdError(Code.INTERNAL, message);

export class MaskReader {
  private readonly sizes: MaskSizes;
  private readonly dictionary: (Mask | undefined)[];

  constructor(welcome: Welcome) {
    this.sizes = {vocabSize: welcome.tokenizer?.vocabSize ?? 0, wordCount: welcome.maskWords};
    this.dictionary = new Array<Mask | undefined>(welcome.dictionarySize).fill(undefined);
  }

  read(position: Position): Mask {
    const mask = this.readForm(position);
    if (position.dictionarySlot !== undefined) this.put(position.dictionarySlot, mask);
    if (position.temperature === undefined && position.biases.length === 0) return mask;
    const tuned = new Mask(this.sizes, mask.form, mask.ids, mask.words());
    tuned.temperature = checkTemperature(position.temperature);
    tuned.biases = this.checkBiases(position.biases);
    return tuned;
  }

  private readForm(position: Position): Mask {
    if (position.sameAs !== undefined) return this.find(position.sameAs);
    if (position.allowedIds) return this.readIds("allowedIds", position.allowedIds.ids);
    if (position.dense) return this.readDense(position.dense);
    if (position.delta) return this.readDelta(position.delta);
    if (position.forbiddenIds) return this.readIds("forbiddenIds", position.forbiddenIds.ids);
    if (position.full !== undefined) return new Mask(this.sizes, "full");
    if (position.invalid !== undefined) return new Mask(this.sizes, "invalid");
    throw internal("a position of a form that was not offered to the server");
  }

  private readDense(bytes: Uint8Array): Mask {
    const {wordCount} = this.sizes;
    if (bytes.length !== 4 * wordCount) {
      throw internal(`a mask of ${bytes.length} bytes where ${wordCount} words are due`);
    }
    const words = new Uint32Array(wordCount);
    if (IS_LITTLE_ENDIAN) {
      new Uint8Array(words.buffer).set(bytes);
    } else {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      for (let i = 0; i < wordCount; ++i) words[i] = view.getUint32(4 * i, true);
    }
    return new Mask(this.sizes, "dense", [], words);
  }

  private readIds(form: Form, ids: number[]): Mask {
    let before = -1;
    for (const id of ids) {
      if (id <= before || id >= this.sizes.vocabSize) {
        throw internal(`id ${id} in a list for ${this.sizes.vocabSize} tokens does not ascend or is none of them`);
      }
      before = id;
    }
    return new Mask(this.sizes, form, ids);
  }

  private readDelta(delta: MaskDelta): Mask {
    const base = this.find(delta.base);
    if (delta.wordIndices.length !== delta.words.length) {
      throw internal(`a delta of ${delta.wordIndices.length} indices and ${delta.words.length} words`);
    }
    const words = Uint32Array.from(base.words() as Uint32Array);
    delta.wordIndices.forEach((index, i) => {
      if (index >= words.length) throw internal(`a delta changes word ${index} of ${words.length}`);
      words[index] = delta.words[i] as number;
    });
    return new Mask(this.sizes, "dense", [], words);
  }

  private find(slot: number): Mask {
    const found = this.dictionary[slot];
    if (found === undefined) {
      throw internal(`slot ${slot} of a dictionary of ${this.dictionary.length} holds no mask`);
    }
    return found;
  }

  private put(slot: number, mask: Mask): void {
    if (slot >= this.dictionary.length || mask.full || mask.invalid) {
      throw internal(`slot ${slot} of a dictionary of ${this.dictionary.length} cannot hold what it is told`);
    }
    mask.words();  // a list that comes again and again is expanded once
    this.dictionary[slot] = mask;
  }

  private checkBiases(biases: LogitBias[]): LogitBias[] {
    let before = -1;
    for (const {id, bias} of biases) {
      if (id <= before || id >= this.sizes.vocabSize || !Number.isFinite(bias)) {
        throw internal(`a bias of ${bias} for token ${id} is not finite, or its token none of ` +
            `${this.sizes.vocabSize} in ascending order`);
      }
      before = id;
    }
    return biases;
  }
}

function checkTemperature(value: number | undefined): number | undefined {
  if (value !== undefined && (!Number.isFinite(value) || value < 0)) throw internal(`a temperature of ${value}`);
  return value;
}
