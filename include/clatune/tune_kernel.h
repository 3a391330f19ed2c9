/* clatune/tune_kernel.h - tunes a kernel in place: in the application's process, on its context, queue and buffers.
 *
 * Nothing is isolated: a candidate that crashes or hangs takes the application with it. Where that matters,
 * clt_tune_run (clatune/tune.h) measures in worker processes, on data of its own. */
#ifndef CLATUNE_TUNE_KERNEL_H
#define CLATUNE_TUNE_KERNEL_H

#include <CL/cl.h>
#include <clatune/tune.h>

CLT_BEGIN_C

/* An argument of the kernel, as clSetKernelArg takes it. */
typedef struct clt_host_argument {
  size_t bytes;      /* of value; of local memory, 0: what the problem file says for the configuration */
  const void *value; /* NULL: local memory */
  cl_mem restored;   /* a buffer that the kernel reads and writes: what it holds now is put back before each run, and at
                        the   end; NULL: none */
} clt_host_argument;

typedef struct clt_kernel_tuning {
  size_t struct_size;           /* sizeof(clt_kernel_tuning) */
  const clt_instance *instance; /* of a problem with one launch, whose arguments are the same for all configurations;
                                   made for the device (clt_device_describe). Its arguments need neither content nor
                                   "Size", but for local memory whose size depends on the configuration */
  cl_context context;
  cl_device_id device;
  cl_command_queue queue; /* idle, and nobody else's meanwhile. With CL_QUEUE_PROFILING_ENABLE events are timed, without
                             it the host's clock is taken */
  const clt_host_argument *arguments; /* n_arguments, in the kernel's order */
  size_t n_arguments;
  bool (*right)(void *user); /* nullable: whether the buffers now hold the right result. Asked once for each
                                configuration, after its first run */
  void *user;                /* for right, progress and log */
  clt_store *store;          /* nullable; what it knows is not run again, what is measured is kept */
  int64_t budget;            /* configurations; 0: CLT_DEFAULT_BUDGET */
  double time_s;             /* wall seconds after which none is begun; 0: no limit */
  uint64_t seed;
  const char *objective;    /* as in clatune/online.h; NULL: what the problem says, else time */
  clt_progress_fn progress; /* nullable (clatune/tune.h): after each configuration that was run, in this thread. done
                               takes in what the store knows; so_far counts what was run, and has the best one's
                               configuration and time */
  clt_log_fn log;           /* nullable: says of each configuration that failed why, with the compiler's messages */
  const volatile int *stop; /* nullable, polled as in clatune/tune.h: not 0 ends the search, as time_s does, with the
                               best so far; CLT_E_STOPPED where there is none */
} clt_kernel_tuning;

typedef struct clt_kernel_tuned {
  clt_config config; /* the best; clt_instance_launches (clatune/problem.h) says how it is launched */
  double time_s;     /* the least of its runs */
  char *options;     /* its build options, malloc'ed */
  int64_t n_right, n_failed;
} clt_kernel_tuned;
void clt_kernel_tuned_release(clt_kernel_tuned *tuned);

/* Tries configurations with the default searcher, the default one first. Outputs hold the result of some run
 * afterwards, restored buffers what they held before. CLT_E_NO_VALID where nothing ran and was right, CLT_E_UNSUPPORTED
 * for a problem of another form. */
int clt_tune_kernel(clt_kernel_tuned *out, const clt_kernel_tuning *tuning, clt_error *error);

CLT_END_C
#endif
