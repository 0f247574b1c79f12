/* The smallest engine in C that holds its output to a schema.
 *
 *   plain_loop_c [ADDRESS [SEED]]        ADDRESS defaults to unix:/tmp/maskd.sock
 *
 * The server has its embedded vocabulary: ids 0 to 255 are the bytes, 256 ends the text. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "maskd.h"

enum { kRow = 7, kWidth = 320, kEnd = 256, kTimeoutMs = 10000 };

static const char kGrammar[] =
    "{\"kind\": \"json_schema\", \"options\": {\"white_space\": \"WHITE_SPACE_COMPACT\"},"
    " \"source\": \"{\\\"properties\\\": {\\\"city\\\": {\\\"enum\\\": [\\\"Lima\\\", \\\"Oslo\\\"]}},"
    " \\\"type\\\": \\\"object\\\", \\\"required\\\": [\\\"city\\\"],"
    " \\\"additionalProperties\\\": false}\"}";

/* Ends the program where a call failed. */
static void Check(maskd_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "plain_loop_c: %s\n", maskd_status_message(status));
  exit(1);
}

/* In place of a real engine's model: noise. A backslash is seldom sampled. */
static void Forward(float* values) {
  for (int i = 0; i < kWidth; ++i) values[i] = (float)rand() / (float)RAND_MAX;
  values['\\'] = -1;
}

static int32_t Greatest(const float* values) {
  int32_t best = 0;
  for (int32_t i = 1; i < kWidth; ++i)
    if (values[i] > values[best]) best = i;
  return best;
}

int main(int argc, char** argv) {
  srand(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
  maskd_client* client = NULL;
  maskd_stream* stream = NULL;
  maskd_applier* applier = NULL;
  Check(maskd_client_connect(argc > 1 ? argv[1] : "unix:/tmp/maskd.sock", kTimeoutMs, &client));
  Check(maskd_stream_open(client, NULL, kWidth, kTimeoutMs, &stream));
  Check(maskd_applier_new("cpu", &applier));
  maskd_step* step = maskd_step_new();
  maskd_result* result = maskd_result_new();
  float values[kWidth];
  const maskd_logits logits = {.struct_size = sizeof logits, .data = values, .type = MASKD_FLOAT32,
                               .row_count = 1, .width = kWidth, .row_stride = kWidth};
  const maskd_target target = {.row = kRow, .position = 0, .logits_row = 0};

  Check(maskd_step_open_grammar(step, kRow, kGrammar, NULL));
  Check(maskd_step_wait_for_compile(step, kTimeoutMs));
  for (;;) {
    Check(maskd_stream_submit(stream, step, NULL));           /* returns at once */
    Forward(values);                                          /* the mask is made meanwhile */
    Check(maskd_stream_collect(stream, kTimeoutMs, result));  /* the mask */
    Check(maskd_result_apply(result, applier, &target, 1, &logits));
    const int32_t token = Greatest(values);
    if (token == kEnd) break;
    putchar(token);
    maskd_step_clear(step);
    Check(maskd_step_take(step, kRow, &token, 1));
  }
  putchar('\n');

  maskd_result_free(result);
  maskd_step_free(step);
  maskd_applier_free(applier);
  maskd_stream_free(stream);
  maskd_client_free(client);
  return 0;
}
