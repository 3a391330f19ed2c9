/* instruments/driver/objects.h - the objects behind the handles of the simulated driver. */
#ifndef INSTRUMENTS_DRIVER_OBJECTS_H
#define INSTRUMENTS_DRIVER_OBJECTS_H

#include <CL/cl_icd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "driver/simulation.h"

extern const cl_icd_dispatch sim_dispatch;

/* Every object begins so: the loader looks for the table there. */
#define OBJECT                     \
  const cl_icd_dispatch *dispatch; \
  atomic_int references

struct _cl_platform_id {
  OBJECT;
};

struct _cl_device_id {
  OBJECT;
  sim_device simulation;
};

struct _cl_context {
  OBJECT;
  cl_device_id device;
  /* A fault that was not told yet; one that shows once another configuration is launched; and afterwards. */
  enum { SIM_WELL, SIM_FAULT, SIM_LATE_FAULT, SIM_DEAD } state;
  uint64_t culprit; /* of a late fault */
  uint64_t touched_bytes; /* by all kernels so far */
};

struct _cl_command_queue {
  OBJECT;
  cl_context context;
  cl_device_id device;
  cl_command_queue_properties properties;
  cl_ulong clock_ns; /* when the last command ended, by the description */
  uint64_t n_commands;
  double busy_until_s; /* in real time, if the device waits */
  double queued_s;     /* of launches since the last wait, by the description */
};

struct _cl_mem {
  OBJECT;
  cl_context context;
  cl_mem parent; /* NULL: memory of its own */
  cl_mem_flags flags;
  unsigned char *bytes;
  size_t size, offset; /* offset in the parent */
  uint64_t touched_at; /* the context's touched_bytes after the latest kernel that was given it; 0: none was */
  cl_mem next;         /* in the list of all */
};

struct _cl_sampler {
  OBJECT;
};

struct _cl_program {
  OBJECT;
  cl_context context;
  char *source, *options, *log;
  cl_build_status status;
  sim_configuration configuration; /* once built */
};

#define SIM_MOST_ARGUMENTS 64

struct _cl_kernel {
  OBJECT;
  cl_program program;
  char *name;
  double time_s; /* of its own; NaN: the program's */
  cl_mem memory[SIM_MOST_ARGUMENTS]; /* NULL: not set, or no memory object */
  cl_ulong number[SIM_MOST_ARGUMENTS]; /* the value of an argument of eight bytes */
  cl_uint n_arguments;               /* the highest set, plus one */
};

struct _cl_event {
  OBJECT;
  cl_command_queue queue;
  cl_command_type type;
  cl_ulong start_ns, end_ns;
  cl_int status;  /* CL_COMPLETE, or why it failed */
  double until_s; /* runs so long, in real time */
};

extern struct _cl_platform_id sim_platform;
extern struct _cl_device_id *sim_devices; /* made with the first question for them */
cl_uint sim_n_devices(void);

/* A zeroed object with one reference. NULL: out of memory. */
static inline void *sim_new(size_t size) {
  struct {
    OBJECT;
  } *object = calloc(1, size);
  if (object == NULL) return NULL;
  object->dispatch = &sim_dispatch;
  atomic_init(&object->references, 1);
  return object;
}

/* Whether that was the last reference. */
#define sim_dropped(object) (atomic_fetch_sub(&(object)->references, 1) == 1)
#define sim_retain(object) (void)atomic_fetch_add(&(object)->references, 1)

/* Answers a query for a value of n bytes. */
static inline cl_int sim_answer(const void *value, size_t n, size_t capacity, void *out, size_t *n_out) {
  if (out && capacity < n) return CL_INVALID_VALUE;
  if (out && n) memcpy(out, value, n);
  if (n_out) *n_out = n;
  return CL_SUCCESS;
}

static inline cl_int sim_answer_text(const char *text, size_t capacity, void *out, size_t *n_out) {
  return sim_answer(text, strlen(text) + 1, capacity, out, n_out);
}

#define SIM_ANSWER(type, value) sim_answer(&(type){value}, sizeof(type), capacity, out, n_out)

/* The status of a call that queues, waits or gives back: CL_SUCCESS, an error if the context is dead after a fault,
 * or no return. */
cl_int sim_aftermath_of(cl_context context);
/* The context's fault is told, or shows: later calls meet its consequences. */
void sim_fault_shows(cl_context context);

/* A memory object, NULL if there is none at this address. */
cl_mem sim_find_memory(const void *address);

static inline void sim_status(cl_int *out, cl_int status) {
  if (out) *out = status;
}

#endif
