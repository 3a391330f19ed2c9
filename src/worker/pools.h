/* worker/pools.h - a pool on each of several equal devices of one tuning, or on its only one. */
#pragma once

#include "worker/workers.h"

typedef enum clt_pools_stage {
  CLT_POOLS_NEW,       /* nothing has been submitted yet */
  CLT_POOLS_COMPARING, /* runs the configuration that all devices are compared with */
  CLT_POOLS_COMPARED,  /* waits until the first device has run it */
  CLT_POOLS_READY,
  CLT_POOLS_LEFT_OUT
} clt_pools_stage;

typedef struct clt_pools_device {
  clt_pool pool;
  clt_pools_stage stage;
  double compared_s; /* NaN: it failed */
  double scale;      /* its times are multiplied by it: the first device's time / its own */
  double waited_s;   /* the part of the pool's waited_s that is counted already */
} clt_pools_device;

typedef struct clt_pools_task {
  clt_config config;
  double best_s;
  const clt_pools_device *at; /* NULL: not given to a device yet */
} clt_pools_task;

typedef struct clt_pools {
  clt_evaluator_setup caller;
  clt_pools_device *devices;
  size_t n;           /* 1: nothing is compared */
  clt_config compare; /* run first on each device, to compare them */
  bool is_compared;   /* the first device has run it: */
  double compared_s;  /* its time on the first device; NaN: it failed */
  clt_pools_device *keeper;
  clt_pools_task *tasks; /* in the order of submission */
  size_t n_tasks, capacity;
  size_t turn; /* the device whose results are taken first */
  struct pollfd *watched;
} clt_pools;

/* Opens a pool for each of n setups of equal devices. All use the first pool's data. */
int clt_pools_open(clt_pools *pools, const clt_pool_setup *setups, size_t n, clt_config compare, clt_error *error);

/* clt_evaluator_type's, with clt_pools as the state. */
int clt_pools_submit(void *state, clt_config config, double best_s, clt_error *error);
int clt_pools_wait(void *state, clt_measurement *out, double timeout_s, clt_error *error);
int clt_pools_keep(void *state, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error);
int clt_pools_time_again(void *state, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                         clt_error *error);
void clt_pools_close(void *state);
