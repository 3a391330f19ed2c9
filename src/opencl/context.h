/* opencl/context.h - the inside of an executor: a device with its context, queue, clock, and cache of uploaded inputs.
 */
#ifndef CLT_OPENCL_CONTEXT_H
#define CLT_OPENCL_CONTEXT_H

/* OpenCL 1.2 calls (clCreateCommandQueue, clCreateSampler) reach every driver; their successors do not. */
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#endif
#include "opencl/executor.h"
#include "opencl/status.h"

/* Inputs on the device, newest first; see opencl/inputs.h. */
typedef struct clt_input_cache {
  struct clt_input *first;
  size_t bytes;       /* of all entries */
  size_t limit_bytes; /* above it, entries that nobody uses are dropped, the oldest first */
} clt_input_cache;

/* Host memory that is kept from one configuration to the next. */
typedef struct clt_scratch {
  void *bytes;
  size_t capacity;
} clt_scratch;

struct clt_executor {
  clt_device_info info;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  bool out_of_order; /* an application's queue: launches are then chained by events */
  bool broken;       /* the device no longer answers after a fault */
  clt_clock clock;   /* what timing starts from; a measurement may fall back to the host's */
  clt_phase_fn phase;
  void *phase_user;
  clt_input_cache inputs;
  clt_scratch stored, logical; /* read-back results: as they lie on the device, and without border */
  uint64_t next_salt;          /* of guard bands */
  struct clt_declarations
      *declarations; /* see opencl/declarations.h; NULL: programs are built in the driver's own way */
  bool declarations_sought;
  struct clt_energy_meter *meter; /* NULL: not needed yet */
};

/* A program needs declarations that it does not mention: all further ones are built in the driver's own way. */
void clt_executor_drop_declarations(clt_executor *executor);

void clt_executor_announce(const clt_executor *executor, clt_phase phase);

/* At least `bytes` of scratch memory; NULL when out of memory. */
void *clt_scratch_get(clt_scratch *scratch, size_t bytes);

/* Whether the device still answers; asked after a fault. Sets executor->broken. */
void clt_executor_check(clt_executor *executor);

#endif
