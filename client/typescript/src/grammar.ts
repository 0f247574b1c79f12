// Which grammar: by its id or by its text.

import {type Document, Grammar as WireGrammar, type GrammarOptions} from "./gen/maskd/v1/grammar.js";

/** A grammar by its text. */
export interface Grammar {
  /** The front end that reads the source, such as "json_schema". */
  readonly kind: string;
  /** The text. */
  readonly source: string;
  /** Part of the grammar's meaning; absent: every option's default. */
  readonly options?: Partial<GrammarOptions>;
  /** What a $ref of a schema may lead to. */
  readonly documents?: readonly Document[];
}

/** The id of a grammar compiled before (64 lower-case hexadecimal digits), or a grammar. */
export type Target = string | Grammar;

/** The JSON texts that a schema takes; a schema that is no text is written as one. */
export function jsonSchema(schema: string | object, options?: Partial<GrammarOptions>): Grammar {
  const source = typeof schema === "string" ? schema : JSON.stringify(schema);
  return {kind: "json_schema", source, ...(options && {options})};
}

/** All JSON objects. */
export const jsonObject = (): Grammar => ({kind: "json_object", source: ""});

/** The texts that a regular expression matches as a whole. */
export const regex = (pattern: string): Grammar => ({kind: "regex", source: pattern});

/** One of these texts. */
export const choice = (texts: readonly string[]): Grammar => ({kind: "choice", source: JSON.stringify(texts)});

/** A grammar in the dialect of docs/ebnf.md. */
export const ebnf = (source: string): Grammar => ({kind: "ebnf", source});

/** A grammar in the dialect of docs/lark.md. */
export const lark = (source: string): Grammar => ({kind: "lark", source});

const NO_OPTIONS: GrammarOptions = {
  whiteSpace: 0,
  maxWhitespace: undefined,
  propertyOrder: 0,
  strictness: 0,
  additionalProperties: undefined,
  maxNumberDigits: undefined,
  itemSeparator: undefined,
  keySeparator: undefined,
  indent: undefined,
  assertFormats: undefined,
  maxTokens: undefined,
  maxCharacters: undefined,
  spelling: 0,
};

export function toWire(grammar: Grammar): WireGrammar {
  return {
    kind: grammar.kind,
    source: grammar.source,
    options: grammar.options && {...NO_OPTIONS, ...grammar.options},
    documents: [...(grammar.documents ?? [])],
  };
}

/** The fields of a oneof `target`. */
export function targetOf(target: Target): {grammarId: string | undefined; grammar: WireGrammar | undefined} {
  return typeof target === "string" ? {grammarId: target, grammar: undefined}
                                    : {grammarId: undefined, grammar: toWire(target)};
}
