/* clatune/tune_kernel.h - tunes a kernel in the application's process, on its context, queue and buffers.
 *
 * Nothing is isolated: a candidate that crashes or hangs takes the application with it. If that matters, use
 * clt_tune_run (clatune/tune.h), which measures in worker processes on data of its own. */
#ifndef CLATUNE_TUNE_KERNEL_H
#define CLATUNE_TUNE_KERNEL_H

#include <CL/cl.h>
#include <clatune/tune.h>

CLT_BEGIN_C

/* An argument of the kernel, as for clSetKernelArg. */
typedef struct clt_host_argument {
  size_t bytes;      /* size of value; for local memory, 0: the size that the problem file gives */
  const void *value; /* NULL: local memory */
  cl_mem restored;   /* a buffer that the kernel reads and writes: its present content is restored before each run and
                        at the end; NULL: none */
} clt_host_argument;

typedef struct clt_kernel_tuning {
  size_t struct_size;           /* sizeof(clt_kernel_tuning) */
  const clt_instance *instance; /* made for the device (clt_device_describe), of a problem with one launch and the
                                   same arguments for all configurations. Arguments need neither content nor "Size",
                                   except local memory whose size depends on the configuration */
  cl_context context;
  cl_device_id device;
  cl_command_queue queue; /* idle, and not used by others meanwhile. With CL_QUEUE_PROFILING_ENABLE the device's clock
                             times the runs, otherwise the host's */
  const clt_host_argument *arguments; /* n_arguments, in the kernel's order */
  size_t n_arguments;
  bool (*right)(void *user); /* whether the buffers now hold the correct result; called once per configuration, after
                                its first run. NULL: results are not checked */
  void *user;                /* passed to right, progress and log */
  clt_store *store;          /* stored measurements are not repeated, and new ones are added; NULL: none */
  int64_t budget;            /* evaluations; 0: CLT_DEFAULT_BUDGET */
  double time_s;             /* wall seconds after which no further evaluation begins; 0: no limit */
  uint64_t seed;
  const char *objective;    /* as in clatune/online.h */
  clt_progress_fn progress; /* called in this thread after each configuration that was run (clatune/tune.h); nullable.
                               done includes known configurations; so_far counts those that were run and has the best
                               one's configuration and time */
  clt_log_fn log;           /* receives the reason of each failure, with the compiler's messages; nullable */
  const volatile int *stop; /* polled as in clatune/tune.h: not 0 ends the search with the best so far, or with
                               CLT_E_STOPPED if there is none; nullable */
} clt_kernel_tuning;

typedef struct clt_kernel_tuned {
  clt_config config; /* the best; clt_instance_launches (clatune/problem.h) gives its launch */
  double time_s;     /* its shortest run */
  char *options;     /* its build options, owned */
  int64_t n_right, n_failed;
} clt_kernel_tuned;
void clt_kernel_tuned_release(clt_kernel_tuned *tuned); /* frees options */

/* Searches with the default searcher, beginning with the default configuration. Afterwards restored buffers have their
 * previous content, and other outputs the result of some run. CLT_E_NO_VALID: no configuration ran with a correct
 * result. CLT_E_UNSUPPORTED: the problem has another form. CLT_E_ARGUMENT: an argument is not what the kernel takes. */
int clt_tune_kernel(clt_kernel_tuned *out, const clt_kernel_tuning *tuning, clt_error *error);

CLT_END_C
#endif
