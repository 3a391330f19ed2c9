/* layer/report.h - the layer's report to 'clatune apply', in a file that both map: it survives any end of the
 * application, and the application's child processes share it. Initially all zeros. */
#ifndef CLT_LAYER_REPORT_H
#define CLT_LAYER_REPORT_H

#include <stdatomic.h>
#include <stddef.h>

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

#endif
