/* maskd's client and appliers for every language that can call C.
 *
 *   maskd_client *client = NULL;
 *   maskd_status *failed = maskd_client_connect("unix:/run/maskd.sock", 5000, &client);
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

#ifdef __cplusplus
extern "C" {
#endif

#define MASKD_ABI_VERSION 1
#if defined(__GNUC__)
#define MASKD_API __attribute__((visibility("default")))
#else
#define MASKD_API
#endif

/* MASKD_ABI_VERSION as the library was built, and its release, such as "0.1.0". */
MASKD_API int32_t maskd_abi_version(void);
MASKD_API const char* maskd_version(void);

/* --- Errors ----------------------------------------------------------------------------------- */

typedef struct maskd_status maskd_status;

/* The canonical codes of gRPC. */
enum {
  MASKD_OK = 0,
  MASKD_CANCELLED = 1,
  MASKD_UNKNOWN = 2,
  MASKD_INVALID_ARGUMENT = 3,
  MASKD_DEADLINE_EXCEEDED = 4,
  MASKD_NOT_FOUND = 5,
  MASKD_ALREADY_EXISTS = 6,
  MASKD_PERMISSION_DENIED = 7,
  MASKD_RESOURCE_EXHAUSTED = 8,
  MASKD_FAILED_PRECONDITION = 9,
  MASKD_ABORTED = 10,
  MASKD_OUT_OF_RANGE = 11,
  MASKD_UNIMPLEMENTED = 12,
  MASKD_INTERNAL = 13,
  MASKD_UNAVAILABLE = 14,
  MASKD_UNAUTHENTICATED = 16
};

/* Each takes NULL too: OK, "". */
MASKD_API int32_t maskd_status_code(const maskd_status* status);
MASKD_API const char* maskd_status_message(const maskd_status* status);
/* JSON Pointer, line:column or field at fault; "" when there is none. */
MASKD_API const char* maskd_status_place(const maskd_status* status);
/* The stable reason in UPPER_SNAKE_CASE; "" when there is none. */
MASKD_API const char* maskd_status_reason(const maskd_status* status);
/* How long to wait before the same call may succeed; -1 when the error is not one of load. */
MASKD_API int64_t maskd_status_retry_after_ms(const maskd_status* status);
MASKD_API void maskd_status_free(maskd_status* status);

/* --- Appliers: masks onto logits -------------------------------------------------------------- */

typedef struct maskd_applier maskd_applier;
typedef struct maskd_dictionary maskd_dictionary;

enum { MASKD_FLOAT32 = 0, MASKD_FLOAT16 = 1, MASKD_BFLOAT16 = 2 };

/* What `data` of maskd_logits is: an address, or a cl_mem. */
enum { MASKD_HOST = 0, MASKD_OPENCL_BUFFER = 1 };

/* Row r starts offset + r * row_stride elements after `data`; its first `width` elements are the
 * logits of tokens 0 to width - 1. */
typedef struct maskd_logits {
  size_t struct_size;
  void* data;
  int32_t memory;
  int32_t type;
  int64_t offset;
  int64_t row_count;
  int64_t width;
  int64_t row_stride;
} maskd_logits;

enum {
  MASKD_ROW_FULL = 0,      /* nothing is applied, padding included */
  MASKD_ROW_ALLOWED = 1,   /* ids alone are allowed */
  MASKD_ROW_FORBIDDEN = 2, /* all tokens but ids are */
  MASKD_ROW_WORDS = 3,     /* words, with the bits of ids turned over */
  MASKD_ROW_SLOT = 4       /* a slot of the dictionary, with the bits of ids turned over */
};

/* One row of logits and its mask. Words: ceil(vocab_size / 32) of them, bit t % 32, least
 * significant first, of word t / 32 is token t, 1 = allowed. Ids ascend, each once. */
typedef struct maskd_row {
  int64_t logits_row;
  int32_t form;
  int32_t reserved; /* 0 */
  const int32_t* words;
  int64_t slot;
  const int32_t* ids;
  int64_t id_count;
} maskd_row;

/* A number to add to one logit. */
typedef struct maskd_bias {
  int32_t id;
  float bias;
} maskd_bias;

/* What is done to the logits that stay: biases, ids ascending, are added to theirs, then all are
 * divided by `temperature`; at 0 they are not divided, and the greatest stays the greatest. */
typedef struct maskd_tuning {
  float temperature; /* 1: as they are */
  int32_t reserved;  /* 0 */
  const maskd_bias* biases;
  int64_t bias_count;
} maskd_tuning;

/* `name`: auto, cpu, cpu:KERNEL, opencl, opencl:DEVICE. NULL: MASKD_APPLIER, or else auto.
 * INVALID_ARGUMENT (no such name), UNIMPLEMENTED (this machine lacks it): the message names it, the
 * device and the supported list. */
MASKD_API maskd_status* maskd_applier_new(const char* name, maskd_applier** applier);
/* On the engine's own cl_command_queue, which runs its commands in order: masks come in its order,
 * and maskd_apply() to a buffer returns without waiting for the device. */
MASKD_API maskd_status* maskd_applier_new_on_queue(void* cl_command_queue, maskd_applier** applier);
MASKD_API void maskd_applier_free(maskd_applier* applier);
/* "cpu" or "opencl". */
MASKD_API const char* maskd_applier_name(const maskd_applier* applier);

/* Sets the logits of all tokens that are not allowed, and those past `vocab_size`, to minus
 * infinity, in the rows named and no other. `dictionary` may be NULL. What does not fit is an error
 * before anything is written. */
MASKD_API maskd_status* maskd_apply(const maskd_applier* applier, const maskd_logits* logits,
                                    int64_t vocab_size, const maskd_row* rows, int64_t row_count,
                                    const maskd_dictionary* dictionary);

/* What maskd_apply_with() may be given beside; all may be left zero. */
typedef struct maskd_apply_options {
  size_t struct_size;
  const maskd_dictionary* dictionary;
  /* Where the masked rows go, the logits being only read: of the same memory, type, rows and width.
   * The logits themselves, or memory that they share nothing of. Full rows are copied; no other
   * byte is written. NULL: the logits. */
  const maskd_logits* output;
  /* One for each row. NULL: none. */
  const maskd_tuning* tunings;
} maskd_apply_options;

/* maskd_apply() with options, which may be NULL. */
MASKD_API maskd_status* maskd_apply_with(const maskd_applier* applier, const maskd_logits* logits,
                                         int64_t vocab_size, const maskd_row* rows,
                                         int64_t row_count, const maskd_apply_options* options);

/* The same for a bitmask as engines keep it: its row i, ceil(vocab_size / 32) words at
 * words + i * word_stride, masks the logits' row logits_rows[i], or row i where that is NULL. */
MASKD_API maskd_status* maskd_apply_bitmask(const maskd_applier* applier,
                                            const maskd_logits* logits, int64_t vocab_size,
                                            const int32_t* words, int64_t word_stride,
                                            const int64_t* logits_rows, int64_t row_count);

/* Makes now what the first batch of `row_count` rows would otherwise make in its step. */
MASKD_API maskd_status* maskd_applier_warm_up(maskd_applier* applier, int64_t vocab_size,
                                              int64_t width, int32_t type, int64_t row_count);

/* Masks kept by slot. Freed before its applier. One thread sets while none applies. */
MASKD_API maskd_status* maskd_dictionary_new(const maskd_applier* applier, int64_t vocab_size,
                                             int64_t slot_count, maskd_dictionary** dictionary);
MASKD_API void maskd_dictionary_free(maskd_dictionary* dictionary);
/* Copies ceil(vocab_size / 32) words. */
MASKD_API maskd_status* maskd_dictionary_set(maskd_dictionary* dictionary, int64_t slot,
                                             const int32_t* words);

/* --- The server ------------------------------------------------------------------------------- */

typedef struct maskd_client maskd_client;
typedef struct maskd_stream maskd_stream;
typedef struct maskd_step maskd_step;
typedef struct maskd_result maskd_result;

/* `address`: "unix:/run/maskd.sock", "127.0.0.1:7411", "dns:///maskd:7411". Waits until the server
 * is there. UNAVAILABLE when it is not.
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
  int32_t in_order;           /* whether addresses are tried as listed, not in random order */
} maskd_stream_options;

MASKD_API maskd_status* maskd_stream_open_with(const maskd_client* client,
                                               const maskd_stream_options* options,
                                               int64_t timeout_ms, maskd_stream** stream);
/* A stream that outlives its servers: on the first address that serves, then, when that breaks,
 * stops answering or says that it will stop, on the next, with its rows and their tokens; the masks
 * go on bit for bit, and no token is taken twice. Rows opened by a grammar's text, or whose text
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
/* Says goodbye and waits for the stream's end. */
MASKD_API maskd_status* maskd_stream_close(maskd_stream* stream, int64_t timeout_ms);

/* --- A step: what was sampled, which rows open and close -------------------------------------- */

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
} maskd_row_result;

MASKD_API maskd_result* maskd_result_new(void);
MASKD_API void maskd_result_free(maskd_result* result);
MASKD_API uint64_t maskd_result_step(const maskd_result* result);
MASKD_API int64_t maskd_result_row_count(const maskd_result* result);
/* The answer at `index`, in the server's order. */
MASKD_API maskd_status* maskd_result_row(maskd_result* result, int64_t index,
                                         maskd_row_result* row);

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
