/**
 * A client of maskd, which turns grammars into token masks for engines of language models.
 *
 * @packageDocumentation
 */
export {type CheckInput, Client} from "./client.js";
export type {Connect, RetryPolicy} from "./connect.js";
export {Code, type ErrorDetails, MaskdError} from "./errors.js";
export {type FailoverOptions, FailoverStream} from "./failover.js";
export {choice, ebnf, type Grammar, jsonObject, jsonSchema, lark, regex, type Target} from "./grammar.js";
export type {Wait} from "./limit.js";
export {type Form, Mask} from "./mask.js";
export type {Resolve} from "./resolve.js";
export {type Row, type State, StepResult} from "./result.js";
export {type OpenOptions, type RowId, Step, type TokenId} from "./step.js";
export {MAX_IN_FLIGHT, Stream, type StreamOptions} from "./stream.js";
export type {CheckResponse, CompileResponse, ExplainResponse} from "./gen/maskd/v1/compile_service.js";
export {type Document, type GrammarOptions, JsonSpelling, PropertyOrder, Strictness, WhiteSpace}
  from "./gen/maskd/v1/grammar.js";
export type {AnswerDelta, AnswerSize, GoAway, LogitBias, OpenRow, ReasoningGate, RefusedToken, ToolCallDelta, Welcome}
  from "./gen/maskd/v1/mask_service.js";
export type {Token, Tokenizer} from "./gen/maskd/v1/tokenizer_service.js";
