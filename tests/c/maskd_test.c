/* The C library as a C program uses it: compiled as C11, linked with nothing else of ours.
 *
 *   maskd_test ADDRESS       of a server with the embedded vocabulary of 256 bytes
 *
 * Exit status: 0, or 1 with the place of the first check that failed. */
#include <math.h>
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
  OK(maskd_result_copy_masks(result, order, 1, words, 10));
  CHECK(words['a' / 32] == (1 << ('a' % 32) | 1 << ('b' % 32)));

  const uint64_t rows[] = {7};
  const int32_t sampled[] = {'b', 'x'};
  OK(maskd_step_take(step, 7, sampled, 2));
  RunStep(stream, step, result);
  row = OnlyRow(result);
  CHECK(row.error_code == MASKD_INVALID_ARGUMENT);
  CHECK(row.refused_index == 1 && row.refused_token == 'x' && row.token_count == 1);
  const int32_t last = 'c';
  OK(maskd_step_take_each(step, rows, &last, 1));
  RunStep(stream, step, result);
  row = OnlyRow(result);
  CHECK(row.token_count == 2 && row.may_end == 1);
  OK(maskd_step_close(step, 7));
  RunStep(stream, step, result);
  CHECK(maskd_result_row_count(result) == 0);
}

static void TestServer(const char *address) {
  maskd_client *client = NULL;
  OK(maskd_client_connect(address, kTimeoutMs, &client));
  TestCalls(client);
  maskd_stream *stream = NULL;
  OK(maskd_stream_open(client, NULL, kWidth, kTimeoutMs, &stream));
  maskd_client_free(client); /* the stream lives on */
  CHECK(strstr(maskd_stream_welcome_json(stream), "\"mask_words\":10") != NULL);
  CHECK(maskd_stream_going_away(stream) == 0);
  maskd_step *step = maskd_step_new();
  maskd_result *result = maskd_result_new();
  TestDecode(stream, step, result);
  OK(maskd_stream_close(stream, kTimeoutMs));
  maskd_result_free(result);
  maskd_step_free(step);
  maskd_stream_free(stream);
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
  puts("passed");
  return 0;
}
