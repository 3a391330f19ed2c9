/* worker/slots.h - the problem and the device that a worker serves, and the configurations that it keeps prepared. */
#ifndef CLT_WORKER_SLOTS_H
#define CLT_WORKER_SLOTS_H

#include <jansson.h>

#include "worker/frame.h"
#include "worker/message.h"
#include "opencl/executor.h"

#define CLT_WORKER_DATA_SETS 4

typedef struct clt_worker_slot {
  clt_plan *plan;
  clt_prepared *prepared; /* NULL: empty */
  clt_measurement measurement;
} clt_worker_slot;

typedef struct clt_worker {
  clt_problem *problem;
  clt_instance *instance;
  clt_executor *executor;
  clt_data *data[CLT_WORKER_DATA_SETS]; /* by seed - 1 */
  uint64_t source_hash;                 /* of the kernel's text as it was first read; 0: not read yet */
  clt_worker_slot slots[CLT_WORKER_SLOTS];
} clt_worker;

int clt_worker_open(clt_worker *worker, const json_t *request, clt_phase_fn on_phase, void *user, clt_error *error);
/* *quality is set where the data of seed 1 are made: the problem's figure of quality, NaN where it has none. */
int clt_worker_load(clt_worker *worker, const json_t *request, double *quality, clt_error *error);

/* Fill *out (initialised here, owned by the caller) with what became of the configuration. */
int clt_worker_prepare(clt_worker *worker, const json_t *request, clt_measurement *out, clt_error *error);
int clt_worker_time(clt_worker *worker, const json_t *request, clt_measurement *out, clt_error *error);
int clt_worker_verify(clt_worker *worker, const json_t *request, clt_measurement *out, clt_error *error);
int clt_worker_release(clt_worker *worker, const json_t *request, clt_error *error);

#endif
