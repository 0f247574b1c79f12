/* maskd's client and appliers for every language that can call C.
 *
 *   maskd_client *client = NULL;
 *   maskd_status *failed = maskd_client_connect("unix:/run/maskd.sock", 0, &client);
 *   if (failed != NULL) { fputs(maskd_status_message(failed), stderr); maskd_status_free(failed); }
 *
 * Stability  functions are added, never changed or taken away, while MASKD_ABI_VERSION is what it
 *            is. Structs that callers fill begin with their size as the caller knows it, and grow
 *            at their end; those that the library fills are given with their size too.
 * Errors     a function that can fail returns a status, NULL when all went well. The caller frees
 *            it. The message begins with the place in the caller's own input. Arguments that may
 *            not be NULL and are, are INVALID_ARGUMENT.
 * Strings    UTF-8. Those taken are copied where they are needed later; those given end in a zero
 *            and live as long as what they were asked of.
 * Threads    a client and an applier: any number at once. A stream, a step and a result: one thread
 *            at a time, not the same one always. Nothing here is signal safe.
 * Time       milliseconds.
 */
#ifndef MASKD_CLIENT_C_MASKD_H_
#define MASKD_CLIENT_C_MASKD_H_

#include <stddef.h>
#include <stdint.h>

#include "maskd_applier.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- The server ------------------------------------------------------------------------------- */

typedef struct maskd_client maskd_client;
typedef struct maskd_stream maskd_stream;
typedef struct maskd_step maskd_step;
typedef struct maskd_result maskd_result;

/* `address`: "unix:/run/maskd.sock", "127.0.0.1:7411", "dns:///maskd:7411". UNAVAILABLE, with the
 * reason, when no server is there. `timeout_ms` waits for one that is yet to come; with 0 one that
 * is silent has 5 s, and an address whose system says at once that nobody is there fails at once.
 * Or "local:NAME=PATH": the engine itself, inside this process, with that file's vocabulary, as the
 * server's flag --tokenizer has it; several with ";" between them, the default first. Equal
 * addresses are one engine, here and in maskd_stream_open_failover(). Connect after a fork(). */
MASKD_API maskd_status* maskd_client_connect(const char* address, int64_t timeout_ms,
                                             maskd_client** client);
/* A client of several servers with the same vocabularies: a call goes to the one that answered
 * last, and to the next where that one is not there or does not answer in its share of the time. */
MASKD_API maskd_status* maskd_client_connect_any(const char* const* addresses,
                                                 int64_t address_count, int64_t timeout_ms,
                                                 maskd_client** client);
MASKD_API void maskd_client_free(maskd_client* client);

/* One call of protos/maskd/v1: `method` is Compile, Check, Explain, GetTokenizer or ListTokenizers;
 * request and reply are its messages in protobuf's JSON, names as in the .proto files. The reply is
 * freed with maskd_string_free(). */
MASKD_API maskd_status* maskd_client_call(const maskd_client* client, const char* method,
                                          const char* request_json, char** reply_json);
MASKD_API void maskd_string_free(char* string);

/* A stream for the rows of one engine. `tokenizer`: a name of the server's, NULL or "" for its
 * default; `logits_width` at least its size. Lives on its own: the client may go first. */
MASKD_API maskd_status* maskd_stream_open(const maskd_client* client, const char* tokenizer,
                                          uint32_t logits_width, int64_t timeout_ms,
                                          maskd_stream** stream);
/* What a stream may be opened with; all but logits_width may be left zero. */
typedef struct maskd_stream_options {
  size_t struct_size;
  const char* tokenizer;      /* a name of the server's; NULL or "": its default */
  const char* tokenizer_hash; /* that it must have; NULL or "": any */
  uint32_t logits_width;
  uint32_t dictionary_size;   /* masks kept for short forms; 0: 256 */
  int32_t dense_only;         /* whether masks may not come in short forms */
  int32_t want_temperature;   /* whether positions may carry temperatures, */
  int32_t want_bias;          /* and biases: maskd_result_apply() applies them */
  int32_t step_timeout_ms;    /* over several addresses: when a server is given up; 0: 2000 */
  int32_t give_up_after_ms;   /* how long one that serves is looked for; 0: 10000 */
  int32_t compile_timeout_ms; /* how long grammars of rows that move may compile; 0: 10000 */
  int32_t read_ahead;         /* whether a thread receives replies between submit and collect */
  int32_t shared_memory;      /* whether steps may go through memory shared with the server */
  int32_t in_order;           /* whether addresses are tried as listed; else it spreads */
  int32_t submit_timeout_ms;  /* how long a server that does not read delays a submit; 0: 10000 */
  int32_t reserved;           /* 0 */
} maskd_stream_options;

/* As maskd_stream_open(), with options. `struct_size` says which of them the caller knows. */
MASKD_API maskd_status* maskd_stream_open_with(const maskd_client* client,
                                               const maskd_stream_options* options,
                                               int64_t timeout_ms, maskd_stream** stream);
/* A stream that outlives its servers: where there are the fewest streams, then, when that server
 * breaks, stops answering, says that it will stop or has too many, on another, with its rows and
 * their tokens; the masks go on bit for bit, and no token is taken twice. A name of DNS stands for
 * all servers that it has. Rows opened by a grammar's text, or whose text
 * maskd_stream_remember() was told, need nothing of the next server. A server whose vocabulary or
 * grammars differ from the first one's is refused: FAILED_PRECONDITION with both values where no
 * other is left. The rows of a step under which two servers ended fail, with the reason
 * SERVERS_ENDED, and are closed. */
MASKD_API maskd_status* maskd_stream_open_failover(const char* const* addresses,
                                                   int64_t address_count,
                                                   const maskd_stream_options* options,
                                                   int64_t timeout_ms, maskd_stream** stream);
/* Keeps the text of a grammar, as maskd_step_open_grammar() takes it, for servers that do not have
 * its id. FAILED_PRECONDITION on a stream of one server. */
MASKD_API maskd_status* maskd_stream_remember(maskd_stream* stream, const char* grammar_id,
                                              const char* grammar_json);
/* How often the rows have moved to another server. */
MASKD_API int32_t maskd_stream_moves(const maskd_stream* stream);
/* Cancels it if it has not ended. */
MASKD_API void maskd_stream_free(maskd_stream* stream);
/* The server's Welcome in JSON; lives as long as the stream. */
MASKD_API const char* maskd_stream_welcome_json(const maskd_stream* stream);
/* Words of a mask, for maskd_result_copy_masks(). */
MASKD_API int64_t maskd_stream_mask_words(const maskd_stream* stream);
/* Whether its steps go through shared memory, not over gRPC. */
MASKD_API int32_t maskd_stream_uses_shared_memory(const maskd_stream* stream);
/* How its steps and replies travel: "grpc", "shared_memory" or "local". */
MASKD_API const char* maskd_stream_transport(const maskd_stream* stream);
MASKD_API int32_t maskd_stream_in_flight(const maskd_stream* stream);
/* Whether the server has said that it will stop: move the rows to another one. */
MASKD_API int32_t maskd_stream_going_away(const maskd_stream* stream);

/* Sends a step and returns at once; `number` may be NULL. The step may be cleared and reused. */
MASKD_API maskd_status* maskd_stream_submit(maskd_stream* stream, maskd_step* step,
                                            uint64_t* number);
/* Sends a step that is nothing but the one token that each of `count` rows sampled: clears `step`,
 * maskd_step_take_each() and maskd_stream_submit() in one call. */
MASKD_API maskd_status* maskd_stream_submit_each(maskd_stream* stream, maskd_step* step,
                                                 const uint64_t* rows, const int32_t* tokens,
                                                 int64_t count, uint64_t* number);
/* Waits for the reply to the oldest step that is under way. DEADLINE_EXCEEDED: try again. */
MASKD_API maskd_status* maskd_stream_collect(maskd_stream* stream, int64_t timeout_ms,
                                             maskd_result* result);
/* An engine's usual step in one call: collects, and where the answer is whole, writes the masks of
 * the `count` rows as maskd_result_copy_positions() does with one position. An answer is whole when
 * each of these rows is in it, and every row in it is ACTIVE or FINISHED and has no error. A row in
 * any other state makes it not whole, a FREE one too: it reasons, or is only read. `is_whole` says
 * which it was; where it was not, nothing is written, and `result` says what there is. */
MASKD_API maskd_status* maskd_stream_collect_masks(maskd_stream* stream, int64_t timeout_ms,
                                                   maskd_result* result, const uint64_t* rows,
                                                   int64_t count, int32_t* words,
                                                   int64_t words_per_row, int32_t* is_whole);
/* The same of a step with drafts: all positions of each row. `positions` above 0: each row has so
 * many rows of `words`, all ones where it has no mask; 0: as many as it has masks, the next row's
 * behind them. `word_rows`: how many there are in all. known[i]: masks of rows[i], of its first
 * positions, as its drafts are a chain. */
MASKD_API maskd_status* maskd_stream_collect_positions(maskd_stream* stream, int64_t timeout_ms,
                                                       maskd_result* result, const uint64_t* rows,
                                                       int64_t count, int64_t positions,
                                                       int32_t* words, int64_t word_rows,
                                                       int64_t words_per_row, int32_t* known,
                                                       int32_t* is_whole);
/* Says goodbye and waits for the stream's end. */
MASKD_API maskd_status* maskd_stream_close(maskd_stream* stream, int64_t timeout_ms);

/* --- A step: what was sampled, which rows open and close -------------------------------------- */

/* An empty step, to be reused: clearing keeps its memory. Freeing takes NULL, too. */
MASKD_API maskd_step* maskd_step_new(void);
MASKD_API void maskd_step_free(maskd_step* step);
MASKD_API void maskd_step_clear(maskd_step* step);

/* What a row may be opened with beside its grammar; all may be left zero. */
typedef struct maskd_open_options {
  size_t struct_size;
  const int32_t* tokens; /* that the row has taken already, on another stream */
  int64_t token_count;
  const int32_t* stop_ids; /* that end its text; none: the tokenizer's own */
  int64_t stop_id_count;
  const char* reasoning_json; /* free text before the grammar: a ReasoningGate in JSON */
  uint32_t min_tokens;        /* of the text, before which it may not end */
  uint32_t remaining_tokens;  /* that the row may still produce; 0: no bound */
  int32_t has_temperature;    /* whether the next counts */
  float temperature;          /* of its text, in place of the grammar's own */
  const maskd_bias* biases;   /* to add to logits of its text */
  int64_t bias_count;
  int32_t want_answer; /* whether its replies say what its text says; for grammars of kind "chat" */
  int32_t observe;     /* whether it is only read: the same, and nothing is masked */
} maskd_open_options;

/* Opens a row on a grammar that was compiled before. `options` may be NULL. */
MASKD_API maskd_status* maskd_step_open(maskd_step* step, uint64_t row, const char* grammar_id,
                                        const maskd_open_options* options);
/* On a grammar's text: a Grammar of protos/maskd/v1 in JSON, such as
 * {"kind": "regex", "source": "[0-9]+"}. */
MASKD_API maskd_status* maskd_step_open_grammar(maskd_step* step, uint64_t row,
                                                const char* grammar_json,
                                                const maskd_open_options* options);
/* As a snapshot describes the row: JSON of maskd_result_snapshot(). */
MASKD_API maskd_status* maskd_step_open_snapshot(maskd_step* step, const char* snapshot_json);
/* Gives a row the tokens sampled since the last step; none: only asks for its mask. */
MASKD_API maskd_status* maskd_step_take(maskd_step* step, uint64_t row, const int32_t* tokens,
                                        int64_t token_count);
/* Gives each of `count` rows the one token that it sampled: a whole batch in one call. */
MASKD_API maskd_status* maskd_step_take_each(maskd_step* step, const uint64_t* rows,
                                             const int32_t* tokens, int64_t count);
/* Takes back a row's last tokens, before those that maskd_step_take() gives. */
MASKD_API maskd_status* maskd_step_rollback(maskd_step* step, uint64_t row, uint32_t token_count);
/* Asks for the masks after these draft tokens, which the row does not take: position i + 1 of its
 * answer is the one after drafts[i]. `parents` NULL: a chain; else parents[i] is the index of the
 * draft that drafts[i] comes after, or -1. */
MASKD_API maskd_status* maskd_step_draft(maskd_step* step, uint64_t row, const int32_t* drafts,
                                         const int32_t* parents, int64_t draft_count);
/* Gives each of `count` rows the tokens that it sampled, and asks for the masks after its drafts,
 * a chain. `tokens` has of rows[0] its token_counts[0] tokens and then its draft_counts[0] drafts,
 * and so on: a whole batch in one call. */
MASKD_API maskd_status* maskd_step_draft_each(maskd_step* step, const uint64_t* rows,
                                              const int32_t* token_counts,
                                              const int32_t* draft_counts, const int32_t* tokens,
                                              int64_t count);
/* Says how many tokens the row may still produce, its end included: its masks lead to a complete
 * text within them. The server counts on from here. */
MASKD_API maskd_status* maskd_step_set_remaining(maskd_step* step, uint64_t row,
                                                 uint32_t token_count);
/* Asks for what must come next: the forced_ fields of the row's answer. */
MASKD_API maskd_status* maskd_step_want_forced(maskd_step* step, uint64_t row);
/* Asks for the row's description, by which it can be opened anew, on any server. */
MASKD_API maskd_status* maskd_step_snapshot(maskd_step* step, uint64_t row);
MASKD_API maskd_status* maskd_step_fork(maskd_step* step, uint64_t parent, uint64_t child);
MASKD_API maskd_status* maskd_step_close(maskd_step* step, uint64_t row);
/* Lets the reply wait for grammars that still compile. 0, the default, never waits. */
MASKD_API maskd_status* maskd_step_wait_for_compile(maskd_step* step, int64_t at_most_ms);

/* --- The result of a step --------------------------------------------------------------------- */

/* Where a row stands; the values of RowState in protos/maskd/v1. */
enum {
  MASKD_STATE_COMPILING = 1,
  MASKD_STATE_FREE = 2,
  MASKD_STATE_ACTIVE = 3,
  MASKD_STATE_FINISHED = 4,
  MASKD_STATE_FAILED = 5,
  MASKD_STATE_REFUSED = 6
};

/* One row's answer. Strings live until the result is collected into again or freed. */
typedef struct maskd_row_result {
  size_t struct_size;
  uint64_t row;
  int32_t state;
  int32_t error_code; /* MASKD_OK: none */
  const char* error_message;
  const char* error_place;
  const char* error_reason;
  const char* grammar_id;  /* "" but in the reply that first has a position */
  int64_t position_count;  /* masks: 0 when compiling, failed or refused */
  int64_t refused_index;   /* in the tokens that were sent; -1: none was refused */
  int64_t accepted_drafts; /* that have a mask: of a chain its first ones; -1: none were sent */
  int32_t refused_token;
  uint32_t token_count; /* that the row has taken */
  int32_t may_end;      /* whether the text may end here */
  int32_t has_mask;     /* whether position 0 has something to apply */
  /* What must come next, where it was asked for: bytes, not ended by a zero; the tokens that may be
   * appended without asking the model; those and more, to be sent as drafts. */
  const char* forced_bytes;
  int64_t forced_byte_count;
  const int32_t* forced_tokens;
  int64_t forced_token_count;
  const int32_t* forced_draft;
  int64_t forced_draft_count;
  int32_t has_answer; /* whether maskd_result_answer() has something */
  int32_t reserved;
} maskd_row_result;

/* An empty result, to be collected into again and again; then the number of the step that it
 * answers, and how many rows have an answer. Freeing takes NULL, too. */
MASKD_API maskd_result* maskd_result_new(void);
MASKD_API void maskd_result_free(maskd_result* result);
MASKD_API uint64_t maskd_result_step(const maskd_result* result);
MASKD_API int64_t maskd_result_row_count(const maskd_result* result);
/* The answer at `index`, in the server's order. */
MASKD_API maskd_status* maskd_result_row(maskd_result* result, int64_t index,
                                         maskd_row_result* row);

/* More of one call of an answer. Texts are not ended by a zero. */
typedef struct maskd_call_delta {
  uint32_t index; /* its number in the answer, from 0 */
  int32_t reserved;
  const char* id; /* more of its id */
  int64_t id_size;
  const char* name; /* the tool's name, in the first delta of the call; else none */
  int64_t name_size;
  const char* arguments; /* more of its arguments as JSON */
  int64_t argument_size;
} maskd_call_delta;

/* What is certain of a row's answer since its last reply: apply the cut, then append the rest.
 * Texts are bytes, as a token may end within a character, and are not ended by a zero. */
typedef struct maskd_answer_delta {
  size_t struct_size;
  int32_t has_cut;         /* whether only this much is left of what was said before: */
  uint32_t cut_tool_calls; /* calls, */
  uint64_t cut_reasoning;  /* bytes of the reasoning, */
  uint64_t cut_content;    /* of the content, */
  uint64_t cut_arguments;  /* of the last call's arguments, */
  uint32_t cut_id;         /* and of its id; the calls before are whole */
  int32_t reserved;
  const char* reasoning; /* more of it */
  int64_t reasoning_size;
  const char* content; /* more of it */
  int64_t content_size;
  const maskd_call_delta* calls; /* more of calls, in their order; no call twice */
  int64_t call_count;
} maskd_answer_delta;

/* What the answer at `index` says of its row's text, where the row was opened with want_answer.
 * NOT_FOUND: nothing new. What it points to lives as the strings of maskd_result_row(). */
MASKD_API maskd_status* maskd_result_answer(maskd_result* result, int64_t index,
                                            maskd_answer_delta* answer);

/* A mask in the form in which it came, for appliers of an engine's own. */
typedef struct maskd_mask {
  size_t struct_size;
  int32_t form;       /* MASKD_ROW_FULL, _ALLOWED, _FORBIDDEN or _WORDS */
  int32_t invalid;    /* whether it comes after a draft that was refused: there is no mask */
  const int32_t* ids; /* of _ALLOWED and _FORBIDDEN */
  int64_t id_count;
  const int32_t* words; /* of _WORDS */
  int64_t word_count;
  uint64_t serial; /* of a mask that may come again: no other mask has that number; else 0 */
  const maskd_bias* biases;
  int64_t bias_count;
  int32_t has_temperature;
  float temperature;
} maskd_mask;

/* Position `position` of the row's answer. NOT_FOUND, OUT_OF_RANGE. */
MASKD_API maskd_status* maskd_result_mask(const maskd_result* result, uint64_t row,
                                          int64_t position, maskd_mask* mask);

/* The answers of all rows as arrays of `count` elements, which is maskd_result_row_count(), in the
 * order of maskd_result_row(), whose fields they are; any of them may be NULL. */
MASKD_API maskd_status* maskd_result_outcomes(const maskd_result* result, int64_t count,
                                              uint64_t* rows, int32_t* states,
                                              int32_t* accepted_drafts, int32_t* error_codes);
/* Whether the row's next token may be that one, for each of `count` rows and tokens: allowed[i] is
 * 1 or 0. By the masks that are here, without asking the server. NOT_FOUND (no answer for a row),
 * FAILED_PRECONDITION (an answer without a mask). */
MASKD_API maskd_status* maskd_result_allows(const maskd_result* result, const uint64_t* rows,
                                            const int32_t* tokens, int64_t count, uint8_t* allowed);

/* One position of a row's answer. What it points to lives until the result is collected into again
 * or freed. */
typedef struct maskd_position {
  size_t struct_size;
  int32_t form;    /* MASKD_ROW_FULL, _ALLOWED, _FORBIDDEN or _WORDS */
  int32_t invalid; /* whether it comes after a draft that was refused: there is no mask */
  const int32_t* ids;
  int64_t id_count;
  const int32_t* words; /* in every form but FULL */
  int64_t word_count;
  const maskd_bias* biases; /* ids ascending */
  int64_t bias_count;
  int32_t has_temperature;
  float temperature; /* 0: the greatest is to be taken */
} maskd_position;

/* Position `position` of the answer at `index`. */
MASKD_API maskd_status* maskd_result_position(const maskd_result* result, int64_t index,
                                              int64_t position, maskd_position* to);

/* Descriptions of the rows that maskd_step_snapshot() named, in JSON; freed with
 * maskd_string_free(). */
MASKD_API int64_t maskd_result_snapshot_count(const maskd_result* result);
MASKD_API maskd_status* maskd_result_snapshot(const maskd_result* result, int64_t index,
                                              char** snapshot_json);

/* Row i of `words` becomes the mask of order[i]'s position 0, all ones where there is nothing to
 * apply. `words_per_row` is at least maskd_stream_mask_words(). */
MASKD_API maskd_status* maskd_result_copy_masks(const maskd_result* result, const uint64_t* order,
                                                int64_t count, int32_t* words,
                                                int64_t words_per_row);

/* The same with all positions of each row: `positions` rows of `words` for every row of `order`.
 * Those that are invalid, or that the row does not have, are not written. */
MASKD_API maskd_status* maskd_result_copy_positions(const maskd_result* result,
                                                    const uint64_t* order, int64_t count,
                                                    int64_t positions, int32_t* words,
                                                    int64_t words_per_row);

/* The same into rows of `words` that stay from step to step, for engines that keep a bitmask: most
 * rows have the mask that they had a step before, and that costs a comparison. `words` outlives it;
 * whatever else writes there, maskd_mask_plane_forget() comes after it. One thread at a time. */
typedef struct maskd_mask_plane maskd_mask_plane;
MASKD_API maskd_status* maskd_mask_plane_new(int32_t* words, int64_t row_count,
                                             int64_t words_per_row, maskd_mask_plane** plane);
MASKD_API void maskd_mask_plane_free(maskd_mask_plane* plane);
/* Row i * positions of `words`, and those after it, become the masks of order[i]. */
MASKD_API maskd_status* maskd_mask_plane_write(maskd_mask_plane* plane, const maskd_result* result,
                                               const uint64_t* order, int64_t count,
                                               int64_t positions);
/* Rows may have any words by now. */
MASKD_API void maskd_mask_plane_forget(maskd_mask_plane* plane);

/* Which row of the logits a position of a row masks. */
typedef struct maskd_target {
  uint64_t row;
  int64_t position;
  int64_t logits_row;
} maskd_target;

/* Masks logits with the result as it came, no dense mask in between. NOT_FOUND (no answer for a
 * row), FAILED_PRECONDITION (an answer without that position), before anything is written. */
MASKD_API maskd_status* maskd_result_apply(const maskd_result* result, const maskd_applier* applier,
                                           const maskd_target* targets, int64_t count,
                                           const maskd_logits* logits);
/* The same into an output of its own, see maskd_apply_options. */
MASKD_API maskd_status* maskd_result_apply_to(const maskd_result* result,
                                              const maskd_applier* applier,
                                              const maskd_target* targets, int64_t count,
                                              const maskd_logits* logits,
                                              const maskd_logits* output);

#ifdef __cplusplus
}
#endif

#endif /* MASKD_CLIENT_C_MASKD_H_ */
