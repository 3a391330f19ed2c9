/* instruments/layer/rules.h - which faults are injected where.
 *
 * The description in CLATUNE_FAULTS: {"rules": [...], "log": PATH, "counters": PATH}. A rule says at which point (`at`)
 * which deed is done (`do`), for which configurations (`when`, an expression over the -D options; `share` of them,
 * drawn by a hash with `seed`), and for which of the occasions that remain (`from`, `every`, `times`; counted across
 * processes if "counters" names a file); with `after`, another expression, only in processes that have launched a
 * configuration for which that holds. */
#ifndef INSTRUMENTS_LAYER_RULES_H
#define INSTRUMENTS_LAYER_RULES_H

#include "common/defines.h"

typedef enum fault_point { FAULT_BUILD, FAULT_LAUNCH, FAULT_RUN, FAULT_OUTPUT, FAULT_TIME, FAULT_POINTS } fault_point;

typedef enum fault_deed {
  FAULT_NONE,
  FAULT_ERROR,     /* the call returns `code` */
  FAULT_SLEEP,     /* `seconds`, then it goes on */
  FAULT_HANG,      /* for ever */
  FAULT_ABORT,     /* SIGABRT */
  FAULT_SEGV,      /* SIGSEGV, by a write to a forbidden address */
  FAULT_EXIT,      /* exit with `code` */
  FAULT_CORRUPT,   /* a byte of an output is flipped */
  FAULT_ZERO,      /* both timestamps are 0 */
  FAULT_SHIFT,     /* the end comes `seconds` later */
  FAULT_KILL,      /* SIGKILL for the process and its parent */
  FAULT_OTHERS,    /* SIGKILL for its parent's other children */
  FAULT_HEAP,      /* a byte behind a block of the heap is changed: only checks of the heap notice */
  FAULT_INTERRUPT, /* SIGINT for its parent */
  FAULT_NOTE       /* a line in the log, nothing else */
} fault_deed;

typedef struct fault {
  fault_deed deed;
  int code;
  double seconds;
} fault;

/* The fault of the first rule that holds; deed FAULT_NONE: none. Counts the occasion. A rule whose expression cannot be
 * evaluated for these options (they are not of a configuration) does not hold. */
fault faults_at(fault_point point, const defines *configuration);

/* Whether some rule is about this point: all else is spared the bookkeeping. */
bool faults_has(fault_point point);

/* Does the deeds that need no OpenCL: sleeps, hangs, ends the process. Returns for the other deeds. */
void fault_commit(fault f);

#endif
