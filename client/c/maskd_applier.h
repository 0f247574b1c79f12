/* The part of maskd.h that needs no server: errors, and masks onto logits. maskd.h includes it, and
 * says what holds for both. */
#ifndef MASKD_CLIENT_C_MASKD_APPLIER_H_
#define MASKD_CLIENT_C_MASKD_APPLIER_H_

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

/* The types of logits: IEEE 754 binary32 and binary16, and the upper half of a binary32. */
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

/* What a row's mask is given as. */
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

#ifdef __cplusplus
}
#endif

#endif /* MASKD_CLIENT_C_MASKD_APPLIER_H_ */
