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
#ifndef CLT_LAYER_APPLY_H
#define CLT_LAYER_APPLY_H

#include <stdatomic.h>
#include <stdint.h>

#include "layer/layer.h"
#include "layer/report.h"
#include "problem/data.h"

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

#endif
