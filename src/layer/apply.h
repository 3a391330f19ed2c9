/* layer/apply.h - the use "apply": known launches use their best known configuration. Instructions:
 *
 *   {"use": "apply", "check": false, "times": false, "report": "FILE", "entries": [{
 *     "problem": "FILE",                                   for messages
 *     "program": "HASH", "kernel": "NAME",                 identify a launch, with the numbers below
 *     "platform": "NAME", "device": "NAME", "compute_units": 2, "driver": "VERSION",
 *     "global": [512, 512], "local": [16, 16],             null: chosen by the driver
 *     "source": "TEXT", "options": "TEXT", "tuned_global": [512, 512], "tuned_local": [64, 4],
 *     "included": [{"path": "FILE", "bytes": 100, "hash": NUMBER}], "arguments": [ANY...]}]}
 *
 * An argument is {} (passed to the tuned kernel unchanged), {"number": "HEX"} (the launch must have these bytes),
 * {"local": BYTES} (local memory of that size), or {"written": true} (memory that the kernel may write to), with
 * "type", "bytes", "absolute", "relative" and "scaled" if results are compared. check: compares the first launch of
 * each entry with an untuned one. times: creates queues with profiling. */
#pragma once

#include <stdatomic.h>

#include "layer/layer.h"
#include "problem/data.h"

/* --- the report to 'clatune apply', in a file that both map ---
 *
 * It survives any end of the application, and the application's child processes share it. Initially all zeros. */

#define REPORT_TIMES 256  /* times kept per tuned launch, the latest */
#define REPORT_PASSED 256 /* kinds of unchanged launches that are counted separately; the rest are "others" */
#define REPORT_NAME 128
#define REPORT_MESSAGE 512

typedef enum report_check { REPORT_NOT_CHECKED, REPORT_RIGHT, REPORT_WRONG } report_check;

/* An entry of the instructions. */
typedef struct report_applied {
  atomic_ullong launches; /* tuned ones */
  atomic_ullong n_times;
  atomic_ullong times_ns[REPORT_TIMES]; /* by the device's clock: n_times of them, the oldest overwritten */
  double untuned_s, tuned_s;            /* medians of the check's rounds; 0: none */
  char message[REPORT_MESSAGE];         /* why it is switched off or not checked; "": neither */
  atomic_int check;                     /* a report_check, written after the members above */
} report_applied;

/* Why a launch is unchanged. If several entries come into question, the reason of the one that fits best. */
typedef enum report_reason {
  REPORT_NO_KERNEL,     /* no entry has a kernel of this name */
  REPORT_NO_SOURCE,     /* its program was not built from source */
  REPORT_BINARY,        /* but from a binary */
  REPORT_OTHER_PROGRAM, /* another source text or other options */
  REPORT_OTHER_DEVICE,
  REPORT_OTHER_SIZES,
  REPORT_OTHER_NUMBERS, /* a scalar argument has another value */
  REPORT_OFFSET,
  REPORT_SHARED_MEMORY, /* SVM */
  REPORT_UNSET,         /* an argument was set in a way that the layer does not see */
  REPORT_UNCHECKED,     /* with --check: not compared yet */
  REPORT_OFF,           /* the tuned kernel cannot be built or launched, or has incorrect results */
  REPORT_REASONS
} report_reason;

/* A kind of unchanged launch. All members but `launches` identify it. */
typedef struct report_passed {
  atomic_ullong key; /* 0: free */
  atomic_ullong launches;
  report_reason reason;
  unsigned n_dimensions;
  size_t global[3], local[3]; /* local[0] 0: chosen by the driver */
  char kernel[REPORT_NAME];
  char program[33];  /* hash of source text and options; "": not built from source */
  atomic_int is_set; /* the members above are written */
} report_passed;

typedef struct report {
  atomic_uint processes; /* processes that loaded the layer */
  atomic_ullong others;
  report_passed passed[REPORT_PASSED];
  report_applied applied[]; /* one for each entry of the instructions, in their order */
} report;

/* --- entries and launches --- */

typedef struct apply_argument {
  unsigned char *number; /* NULL: any value */
  size_t bytes;          /* of the number, or of the tuned kernel's local memory; 0: the application's */
  size_t asked;          /* bytes of local memory in the application's launch; 0: any */
  bool is_written, is_compared;
  clt_array compared; /* element type, size in bytes, tolerances; for --check */
} apply_argument;

/* A file that the kernel includes. */
typedef struct apply_included {
  char *path; /* as in the application's build, perhaps relative to its working folder */
  size_t bytes;
  uint64_t hash;
} apply_included;

typedef struct apply_entry {
  char *problem, *program, *kernel, *platform, *device, *driver, *source, *options;
  cl_uint compute_units; /* 0: any number */
  unsigned n_dimensions, n_tuned_dimensions;
  size_t global[3], local[3], tuned_global[3], tuned_local[3]; /* local[0] 0: chosen by the driver */
  apply_argument *arguments;
  size_t n_arguments;
  apply_included *included;
  size_t n_included;
  report_applied *report;
  atomic_bool is_off;
  atomic_int checked;   /* 0: no, 1: a thread is checking it, 2: correct */
  pthread_mutex_t lock; /* of the report's message */
} apply_entry;

/* A launch requested by the application. */
typedef struct apply_launch {
  cl_command_queue queue;
  cl_kernel kernel;
  cl_uint n_dimensions;
  const size_t *offset, *global, *local;
  cl_uint n_after;
  const cl_event *after;
} apply_launch;

/* --- entry.c --- */

/* Reads an entry of the instructions. False: it is invalid. */
bool apply_read_entry(apply_entry *out, const json_t *json);

/* Whether the application's included files are the same as when the kernel was captured. */
bool apply_includes_same(const apply_entry *entry);

/* --- apply.c --- */

/* Switches an entry off: from now on its launches are unchanged. Prints the reason on standard error, once. */
void apply_switch_off(apply_entry *entry, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- check.c --- */

/* Runs a launch untuned and tuned on the same memory content, compares the results, times both, and restores the
 * memory. tuned: the tuned kernel with its arguments set. True: the results agree. False: they differ and the entry is
 * switched off, or the check must be done later because waiting now could deadlock (waits.c). k->lock is held. */
bool check_launch(apply_entry *entry, const track_kernel *k, const apply_launch *launch, cl_kernel tuned);
