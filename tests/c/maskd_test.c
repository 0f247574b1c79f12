/* The C library as a C program uses it: compiled as C11, linked with nothing else of ours.
 *
 *   maskd_test ADDRESS       of a server with the embedded vocabulary of 256 bytes
 *
 * Exit status: 0, or 1 with the place of the first check that failed. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "maskd.h"

enum { kWidth = 320, kVocab = 257, kTimeoutMs = 20000 };

static void Fail(const char *file, int line, const char *what, const char *detail) {
  fprintf(stderr, "%s:%d: %s %s\n", file, line, what, detail);
  exit(1);
}

#define CHECK(condition) \
  ((condition) ? (void)0 : Fail(__FILE__, __LINE__, "not so: " #condition, ""))
#define CHECK_TEXT(text, expected) \
  (strcmp(text, expected) == 0 ? (void)0 : Fail(__FILE__, __LINE__, "text is:", text))
#define OK(call) ExpectOk(call, __FILE__, __LINE__)

static void ExpectOk(maskd_status *status, const char *file, int line) {
  if (status != NULL) Fail(file, line, "status:", maskd_status_message(status));
}

static void ExpectError(maskd_status *status, int32_t code, const char *message) {
  CHECK(status != NULL);
  CHECK_TEXT(maskd_status_message(status), message);
  CHECK(maskd_status_code(status) == code);
  maskd_status_free(status);
}

static maskd_logits LogitsOf(float *values, int64_t rows) {
  maskd_logits logits;
  memset(&logits, 0, sizeof logits);
  logits.struct_size = sizeof logits;
  logits.data = values;
  logits.type = MASKD_FLOAT32;
  logits.row_count = rows;
  logits.width = kWidth;
  logits.row_stride = kWidth;
  return logits;
}

static int64_t CountFinite(const float *row) {
  int64_t count = 0;
  for (int i = 0; i < kWidth; ++i) count += isfinite(row[i]) != 0;
  return count;
}

static void TestVersion(void) {
  CHECK(maskd_abi_version() == MASKD_ABI_VERSION);
  CHECK(strlen(maskd_version()) > 0);
}

static void TestNull(void) {
  CHECK(maskd_status_code(NULL) == MASKD_OK);
  CHECK_TEXT(maskd_status_message(NULL), "");
  maskd_status_free(NULL);
  maskd_applier_free(NULL);
  maskd_client_free(NULL);
  maskd_step_free(NULL);
  maskd_result_free(NULL);
  ExpectError(maskd_applier_new("cpu", NULL), MASKD_INVALID_ARGUMENT, "applier: is NULL");
  ExpectError(maskd_stream_submit(NULL, NULL, NULL), MASKD_INVALID_ARGUMENT, "stream: is NULL");
}

static void TestForms(const maskd_applier *applier) {
  static float values[5 * kWidth];
  memset(values, 0, sizeof values);
  const int32_t ids[] = {1, 7};
  int32_t words[9] = {0};
  words[0] = 1 << 3;
  maskd_dictionary *dictionary = NULL;
  OK(maskd_dictionary_new(applier, kVocab, 4, &dictionary));
  OK(maskd_dictionary_set(dictionary, 2, words));
  const maskd_row rows[] = {
      {.logits_row = 0, .form = MASKD_ROW_ALLOWED, .ids = ids, .id_count = 2},
      {.logits_row = 1, .form = MASKD_ROW_FORBIDDEN, .ids = ids, .id_count = 2},
      {.logits_row = 2, .form = MASKD_ROW_WORDS, .words = words, .ids = ids, .id_count = 2},
      {.logits_row = 3, .form = MASKD_ROW_SLOT, .slot = 2},
      {.logits_row = 4, .form = MASKD_ROW_FULL},
  };
  maskd_logits logits = LogitsOf(values, 5);
  OK(maskd_apply(applier, &logits, kVocab, rows, 5, dictionary));
  const int64_t finite[] = {2, kVocab - 2, 3, 1, kWidth};
  for (int i = 0; i < 5; ++i) CHECK(CountFinite(values + i * kWidth) == finite[i]);
  CHECK(isfinite(values[3 * kWidth + 3]));
  maskd_dictionary_free(dictionary);
}

static void TestMismatches(const maskd_applier *applier) {
  float values[kWidth] = {0};
  maskd_logits logits = LogitsOf(values, 1);
  maskd_row row = {.logits_row = 3, .form = MASKD_ROW_FULL};
  ExpectError(maskd_apply(applier, &logits, kVocab, &row, 1, NULL), MASKD_OUT_OF_RANGE,
              "masks.rows[0].logits_row: 3 is not one of the 1 rows of logits");
  row.form = 9;
  ExpectError(maskd_apply(applier, &logits, kVocab, &row, 1, NULL), MASKD_INVALID_ARGUMENT,
              "rows[0].form: 9 is not a known form");
  row.form = MASKD_ROW_WORDS;
  ExpectError(maskd_apply(applier, &logits, kVocab, &row, 1, NULL), MASKD_INVALID_ARGUMENT,
              "rows[0].words: is NULL");
  logits.type = 7;
  ExpectError(maskd_apply(applier, &logits, kVocab, &row, 1, NULL), MASKD_INVALID_ARGUMENT,
              "logits.type: 7 is not a known type");
  logits.struct_size = 8;
  maskd_status *status = maskd_apply(applier, &logits, kVocab, &row, 1, NULL);
  CHECK(maskd_status_code(status) == MASKD_INVALID_ARGUMENT);
  maskd_status_free(status);
  CHECK(CountFinite(values) == kWidth);
}

/* The second row of a bitmask on the first row of logits, and the other way round. */
static void TestBitmask(const maskd_applier *applier) {
  enum { kStride = (kVocab + 31) / 32 + 1 };
  static float values[2 * kWidth];
  for (int i = 0; i < 2 * kWidth; ++i) values[i] = 1;
  int32_t words[2 * kStride] = {0};
  words[0] = 1 << 5;
  words[kStride] = 3;
  const int64_t swapped[] = {1, 0};
  const maskd_logits logits = LogitsOf(values, 2);
  OK(maskd_apply_bitmask(applier, &logits, kVocab, words, kStride, swapped, 2));
  CHECK(CountFinite(values) == 2 && values[0] == 1 && values[1] == 1);
  CHECK(CountFinite(values + kWidth) == 1 && values[kWidth + 5] == 1);
  OK(maskd_apply_bitmask(applier, &logits, kVocab, words, kStride, NULL, 2));
  CHECK(CountFinite(values) == 0 && CountFinite(values + kWidth) == 0);
  OK(maskd_apply_bitmask(applier, &logits, kVocab, NULL, 0, NULL, 0));
  ExpectError(maskd_apply_bitmask(applier, &logits, kVocab, words, 1, NULL, 2),
              MASKD_INVALID_ARGUMENT, "word_stride: 1 is less than the 9 words of a row");
  ExpectError(maskd_apply_bitmask(applier, &logits, kVocab, NULL, kStride, NULL, 1),
              MASKD_INVALID_ARGUMENT, "words: is NULL");
  ExpectError(maskd_apply_bitmask(applier, &logits, 0, words, kStride, NULL, 1),
              MASKD_INVALID_ARGUMENT, "vocab_size: 0 is not positive");
  ExpectError(maskd_apply_bitmask(applier, &logits, kVocab, words, kStride, NULL, -1),
              MASKD_INVALID_ARGUMENT, "row_count: -1 is negative");
  const int64_t twice[] = {1, 1};
  ExpectError(maskd_apply_bitmask(applier, &logits, kVocab, words, kStride, twice, 2),
              MASKD_INVALID_ARGUMENT, "masks.rows: logits row 1 is named twice");
}

/* Biases, then temperature, into an output of its own. */
static void TestTuning(const maskd_applier *applier) {
  static float values[kWidth], masked[kWidth];
  for (int i = 0; i < kWidth; ++i) values[i] = 1;
  const int32_t ids[] = {1, 7};
  const maskd_bias biases[] = {{.id = 7, .bias = 3}};
  const maskd_row row = {.form = MASKD_ROW_ALLOWED, .ids = ids, .id_count = 2};
  const maskd_tuning tuning = {.temperature = 0.5f, .biases = biases, .bias_count = 1};
  const maskd_logits logits = LogitsOf(values, 1), output = LogitsOf(masked, 1);
  maskd_apply_options options = {
      .struct_size = sizeof options, .output = &output, .tunings = &tuning};
  OK(maskd_apply_with(applier, &logits, kVocab, &row, 1, &options));
  CHECK(CountFinite(masked) == 2 && masked[1] == 2 && masked[7] == 8);
  CHECK(CountFinite(values) == kWidth && values[7] == 1);
  OK(maskd_apply_with(applier, &logits, kVocab, &row, 1, NULL));
  CHECK(CountFinite(values) == 2 && values[7] == 1);
  options.struct_size = 8;
  maskd_status *status = maskd_apply_with(applier, &logits, kVocab, &row, 1, &options);
  CHECK(maskd_status_code(status) == MASKD_INVALID_ARGUMENT);
  maskd_status_free(status);
}

static void TestApplier(void) {
  maskd_applier *applier = NULL;
  maskd_status *status = maskd_applier_new("cuda", &applier);
  CHECK(maskd_status_code(status) == MASKD_INVALID_ARGUMENT);
  CHECK(strstr(maskd_status_message(status), "applier \"cuda\" is not known") != NULL);
  maskd_status_free(status);
  OK(maskd_applier_new("auto", &applier));
  CHECK_TEXT(maskd_applier_name(applier), "cpu");
  OK(maskd_applier_warm_up(applier, kVocab, kWidth, MASKD_FLOAT32, 64));
  TestForms(applier);
  TestMismatches(applier);
  TestBitmask(applier);
  TestTuning(applier);
  maskd_applier_free(applier);
}

/* Row 0 of the result, which has but one. */
static maskd_row_result OnlyRow(maskd_result *result) {
  maskd_row_result row;
  memset(&row, 0, sizeof row);
  row.struct_size = sizeof row;
  CHECK(maskd_result_row_count(result) == 1);
  OK(maskd_result_row(result, 0, &row));
  return row;
}

static void RunStep(maskd_stream *stream, maskd_step *step, maskd_result *result) {
  uint64_t number = 0;
  OK(maskd_stream_submit(stream, step, &number));
  CHECK(maskd_stream_in_flight(stream) == 1);
  OK(maskd_stream_collect(stream, kTimeoutMs, result));
  CHECK(maskd_result_step(result) == number);
  maskd_step_clear(step);
}

static void TestCalls(maskd_client *client) {
  char *reply = NULL;
  OK(maskd_client_call(client, "Compile",
                       "{\"grammar\": {\"kind\": \"regex\", \"source\": \"[ab]c\"}}", &reply));
  CHECK(strstr(reply, "\"grammar_id\"") != NULL);
  maskd_string_free(reply);
  ExpectError(maskd_client_call(client, "Decode", "{}", &reply), MASKD_INVALID_ARGUMENT,
              "method: \"Decode\" is not one of Compile, Check, Explain, GetTokenizer, "
              "ListTokenizers");
  maskd_status *status = maskd_client_call(
      client, "Compile",
      "{\"grammar\": {\"kind\": \"json_schema\", \"source\": \"{\\\"type\\\": 3}\"}}", &reply);
  CHECK(maskd_status_code(status) == MASKD_INVALID_ARGUMENT);
  CHECK_TEXT(maskd_status_place(status), "/type");
  CHECK(maskd_status_retry_after_ms(status) == -1);
  maskd_status_free(status);
}

/* The texts of [ab]c, one token a byte. */
static void TestDecode(maskd_stream *stream, maskd_step *step, maskd_result *result) {
  static float values[2 * kWidth];
  memset(values, 0, sizeof values);
  OK(maskd_step_open_grammar(step, 7, "{\"kind\": \"regex\", \"source\": \"[ab]c\"}", NULL));
  OK(maskd_step_wait_for_compile(step, kTimeoutMs));
  RunStep(stream, step, result);
  maskd_row_result row = OnlyRow(result);
  CHECK(row.row == 7 && row.state == MASKD_STATE_ACTIVE && row.has_mask == 1);
  CHECK(row.error_code == MASKD_OK && row.refused_index == -1 && row.position_count == 1);
  CHECK(strlen(row.grammar_id) == 64);

  maskd_applier *applier = NULL;
  OK(maskd_applier_new(NULL, &applier));
  const maskd_target target = {.row = 7, .position = 0, .logits_row = 1};
  maskd_logits logits = LogitsOf(values, 2);
  OK(maskd_result_apply(result, applier, &target, 1, &logits));
  CHECK(CountFinite(values) == kWidth);
  CHECK(CountFinite(values + kWidth) == 2 && isfinite(values[kWidth + 'b']));
  const maskd_target missing = {.row = 8, .position = 0, .logits_row = 0};
  ExpectError(maskd_result_apply(result, applier, &missing, 1, &logits), MASKD_NOT_FOUND,
              "row 8: has no answer in this step");
  maskd_applier_free(applier);

  const uint64_t order[] = {7};
  int32_t words[10] = {0};
  CHECK(maskd_stream_mask_words(stream) == 10);
  int32_t kept[12] = {0};
  maskd_mask_plane *plane = NULL;
  OK(maskd_mask_plane_new(kept, 1, 12, &plane));
  OK(maskd_mask_plane_write(plane, result, order, 1, 1));
  memset(kept, 0xff, sizeof kept);
  maskd_mask_plane_forget(plane);
  OK(maskd_mask_plane_write(plane, result, order, 1, 1));
  ExpectError(maskd_mask_plane_write(plane, result, order, 1, 2), MASKD_INVALID_ARGUMENT,
              "buffer.row_count: 1 is less than 2 rows");
  ExpectError(maskd_mask_plane_write(plane, result, order, 1, 0), MASKD_INVALID_ARGUMENT,
              "positions: 0 are no count");
  ExpectError(maskd_mask_plane_new(NULL, 1, 12, &plane), MASKD_INVALID_ARGUMENT, "words: is NULL");
  maskd_mask_plane_free(plane);
  OK(maskd_result_copy_masks(result, order, 1, words, 10));
  CHECK(memcmp(kept, words, sizeof words) == 0 && kept[10] == 0 && kept[11] == 0);
  CHECK(words['a' / 32] == (1 << ('a' % 32) | 1 << ('b' % 32)));

  const uint64_t rows[] = {7};
  const int32_t sampled[] = {'b', 'x'};
  OK(maskd_step_take(step, 7, sampled, 2));
  RunStep(stream, step, result);
  row = OnlyRow(result);
  CHECK(row.error_code == MASKD_INVALID_ARGUMENT);
  CHECK(row.refused_index == 1 && row.refused_token == 'x' && row.token_count == 1);
  const int32_t last = 'c';
  uint64_t number = 0;
  OK(maskd_step_take(step, 7, sampled, 2)); /* is cleared away */
  OK(maskd_stream_submit_each(stream, step, rows, &last, 1, &number));
  OK(maskd_stream_collect(stream, kTimeoutMs, result));
  CHECK(maskd_result_step(result) == number);
  maskd_step_clear(step);
  row = OnlyRow(result);
  CHECK(row.token_count == 2 && row.may_end == 1);
  OK(maskd_step_close(step, 7));
  RunStep(stream, step, result);
  CHECK(maskd_result_row_count(result) == 0);
}

/* A budget, forced text, a snapshot: the texts of abc. */
static void TestVerbs(maskd_stream *stream, maskd_step *step, maskd_result *result) {
  const maskd_bias biases[] = {{.id = 'a', .bias = 2}};
  const maskd_open_options options = {.struct_size = sizeof options,
                                      .remaining_tokens = 9,
                                      .has_temperature = 1,
                                      .temperature = 0.5f,
                                      .biases = biases,
                                      .bias_count = 1};
  OK(maskd_step_open_grammar(step, 3, "{\"kind\": \"regex\", \"source\": \"abc\"}", &options));
  OK(maskd_step_wait_for_compile(step, kTimeoutMs));
  OK(maskd_step_want_forced(step, 3));
  OK(maskd_step_set_remaining(step, 3, 8));
  OK(maskd_step_snapshot(step, 3));
  RunStep(stream, step, result);
  const maskd_row_result row = OnlyRow(result);
  CHECK(row.forced_byte_count == 3 && memcmp(row.forced_bytes, "abc", 3) == 0);
  CHECK(row.forced_draft_count == 3 && row.forced_draft[2] == 'c');
  maskd_position position = {.struct_size = sizeof position};
  OK(maskd_result_position(result, 0, 0, &position));
  CHECK(position.form == MASKD_ROW_ALLOWED && position.id_count == 1 && position.ids[0] == 'a');
  CHECK(position.has_temperature == 1 && position.temperature == 0.5f);
  CHECK(position.bias_count == 1 && position.biases[0].id == 'a' && position.biases[0].bias == 2);
  CHECK(maskd_result_snapshot_count(result) == 1);
  char *snapshot = NULL;
  OK(maskd_result_snapshot(result, 0, &snapshot));
  CHECK(strstr(snapshot, "\"remaining_tokens\":8") != NULL);
  OK(maskd_step_close(step, 3));
  OK(maskd_step_open_snapshot(step, snapshot));
  maskd_string_free(snapshot);
  RunStep(stream, step, result);
  CHECK(OnlyRow(result).row == 3 && OnlyRow(result).has_mask == 1);
  OK(maskd_step_close(step, 3));
  RunStep(stream, step, result);
}

/* What a row's text says, with half a character in it, and a cut. */
static void TestAnswer(maskd_stream *stream, maskd_step *step, maskd_result *result) {
  static const char kChat[] =
      "{\"kind\": \"chat\", \"source\": \"{\\\"family\\\": \\\"qwen_3\\\", \\\"request\\\": "
      "{\\\"tools\\\": [{\\\"name\\\": \\\"f\\\", \\\"parameters\\\": {\\\"type\\\": "
      "\\\"object\\\"}}]}}\"}";
  static const char kText[] = "a\xc3<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\"";
  int32_t tokens[sizeof kText - 1];
  for (size_t i = 0; i < sizeof kText - 1; ++i) tokens[i] = (unsigned char)kText[i];
  const maskd_open_options options = {
      .struct_size = sizeof options, .tokens = tokens, .token_count = 2, .want_answer = 1};
  OK(maskd_step_open_grammar(step, 5, kChat, &options));
  OK(maskd_step_wait_for_compile(step, kTimeoutMs));
  RunStep(stream, step, result);
  CHECK(OnlyRow(result).has_answer == 1);
  maskd_answer_delta answer = {.struct_size = sizeof answer};
  OK(maskd_result_answer(result, 0, &answer));
  CHECK(answer.has_cut == 1 && answer.cut_content == 0 && answer.call_count == 0);
  CHECK(answer.content_size == 2 && memcmp(answer.content, "a\xc3", 2) == 0);
  OK(maskd_step_rollback(step, 5, 1));
  OK(maskd_step_take(step, 5, tokens + 2, (int64_t)(sizeof kText - 3)));
  RunStep(stream, step, result);
  OK(maskd_result_answer(result, 0, &answer));
  CHECK(answer.has_cut == 1 && answer.cut_content == 1 && answer.content_size == 0);
  CHECK(answer.call_count == 1 && answer.calls[0].index == 0 && answer.calls[0].id_size == 6);
  CHECK(answer.calls[0].name_size == 1 && answer.calls[0].name[0] == 'f');
  CHECK(answer.calls[0].argument_size == 4 && memcmp(answer.calls[0].arguments, "{\"a\"", 4) == 0);
  OK(maskd_step_take(step, 5, NULL, 0));
  RunStep(stream, step, result);
  CHECK(OnlyRow(result).has_answer == 0);
  ExpectError(maskd_result_answer(result, 0, &answer), MASKD_NOT_FOUND,
              "row 5: says nothing of its answer");
  OK(maskd_step_close(step, 5));
  RunStep(stream, step, result);
}

/* Programs built before fields were added hand over shorter structs. */
static void TestOldStructs(maskd_stream *stream, maskd_step *step, maskd_result *result) {
  maskd_open_options options = {.struct_size = offsetof(maskd_open_options, has_temperature),
                                .has_temperature = 1,
                                .temperature = -1};
  OK(maskd_step_open_grammar(step, 4, "{\"kind\": \"regex\", \"source\": \"a+\"}", &options));
  OK(maskd_step_wait_for_compile(step, kTimeoutMs));
  RunStep(stream, step, result);
  maskd_row_result row;
  memset(&row, 0, sizeof row);
  row.struct_size = offsetof(maskd_row_result, forced_bytes);
  row.forced_byte_count = -7;
  OK(maskd_result_row(result, 0, &row));
  CHECK(row.has_mask == 1 && row.forced_byte_count == -7);
  OK(maskd_step_close(step, 4));
  RunStep(stream, step, result);
}

/* Uses it up. */
static void TestStream(maskd_stream *stream) {
  CHECK(strstr(maskd_stream_welcome_json(stream), "\"mask_words\":10") != NULL);
  CHECK(maskd_stream_going_away(stream) == 0);
  maskd_step *step = maskd_step_new();
  maskd_result *result = maskd_result_new();
  TestDecode(stream, step, result);
  TestVerbs(stream, step, result);
  TestAnswer(stream, step, result);
  TestOldStructs(stream, step, result);
  OK(maskd_stream_close(stream, kTimeoutMs));
  maskd_result_free(result);
  maskd_step_free(step);
  maskd_stream_free(stream);
}

/* A client of two addresses, and what a batch asks of a result. */
static void TestOutcomes(const char *address) {
  const char *addresses[] = {"unix:/nonexistent/maskd.sock", address};
  maskd_client *client = NULL;
  OK(maskd_client_connect_any(addresses, 2, kTimeoutMs, &client));
  maskd_stream *stream = NULL;
  OK(maskd_stream_open(client, NULL, kWidth, kTimeoutMs, &stream));
  maskd_client_free(client);
  maskd_step *step = maskd_step_new();
  maskd_result *result = maskd_result_new();
  OK(maskd_step_open_grammar(step, 5, "{\"kind\": \"regex\", \"source\": \"[ab]c\"}", NULL));
  OK(maskd_step_wait_for_compile(step, kTimeoutMs));
  OK(maskd_stream_submit(stream, step, NULL));
  OK(maskd_stream_collect(stream, kTimeoutMs, result));
  uint64_t row = 0;
  int32_t state = 0, drafts = 0, error = -1;
  OK(maskd_result_outcomes(result, 1, &row, &state, &drafts, &error));
  CHECK(row == 5 && state == MASKD_STATE_ACTIVE && drafts == -1 && error == MASKD_OK);
  ExpectError(maskd_result_outcomes(result, 2, &row, NULL, NULL, NULL), MASKD_INVALID_ARGUMENT,
              "count: 2 is not the result's 1 rows");
  const uint64_t rows[] = {5, 5, 5};
  const int32_t tokens[] = {'a', 'c', -1};
  uint8_t allowed[3];
  OK(maskd_result_allows(result, rows, tokens, 3, allowed));
  CHECK(allowed[0] == 1 && allowed[1] == 0 && allowed[2] == 0);
  maskd_mask mask = {.struct_size = sizeof mask};
  OK(maskd_result_mask(result, 5, 0, &mask));
  CHECK(mask.form == MASKD_ROW_ALLOWED && mask.id_count == 2 && mask.ids[1] == 'b');
  ExpectError(maskd_result_mask(result, 6, 0, &mask), MASKD_NOT_FOUND,
              "row 6: has no answer in this step");
  maskd_result_free(result);
  maskd_step_free(step);
  maskd_stream_free(stream);
}

static void TestServer(const char *address) {
  maskd_client *client = NULL;
  OK(maskd_client_connect(address, kTimeoutMs, &client));
  TestCalls(client);
  maskd_stream *stream = NULL;
  OK(maskd_stream_open(client, NULL, kWidth, kTimeoutMs, &stream));
  ExpectError(maskd_stream_remember(stream, "x", "{}"), MASKD_FAILED_PRECONDITION,
              "stream: is of one server, it does not move");
  maskd_stream_free(stream);
  const maskd_stream_options options = {
      .struct_size = sizeof options, .logits_width = kWidth, .want_temperature = 1, .want_bias = 1};
  OK(maskd_stream_open_failover(&address, 1, &options, kTimeoutMs, &stream));
  OK(maskd_stream_remember(stream, "x", "{\"kind\": \"choice\", \"source\": \"[]\"}"));
  CHECK(maskd_stream_moves(stream) == 0);
  maskd_stream_free(stream);
  maskd_stream_options options_of_memory = options;
  options_of_memory.shared_memory = 1;
  maskd_stream *memory_stream = NULL;
  OK(maskd_stream_open_with(client, &options_of_memory, kTimeoutMs, &memory_stream));
  OK(maskd_stream_open_with(client, &options, kTimeoutMs, &stream));
  maskd_client_free(client); /* the streams live on */
  CHECK(maskd_stream_uses_shared_memory(stream) == 0);
  const int is_local = strncmp(address, "local:", 6) == 0;
  CHECK(maskd_stream_uses_shared_memory(memory_stream) == !is_local);
  CHECK_TEXT(maskd_stream_transport(memory_stream), is_local ? "local" : "shared_memory");
  CHECK_TEXT(maskd_stream_transport(stream), is_local ? "local" : "grpc");
  TestStream(stream);
  TestStream(memory_stream);
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: maskd_test ADDRESS\n");
    return 2;
  }
  TestVersion();
  TestNull();
  TestApplier();
  TestServer(argv[1]);
  TestOutcomes(argv[1]);
  puts("passed");
  return 0;
}
