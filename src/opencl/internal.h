/* opencl/internal.h - executors and prepared configurations, for the files of this component and for
 * session/tune_kernel.c, which runs a program on an application's arguments.
 *
 * Files, from below: status.c (status codes, failures), device.c (queries), inspect.c (programs, kernels and
 * their arguments as text and data), declarations.c (PoCL's builtin functions), memory.c (buffers, images,
 * guards), arguments.c (inputs on the device, arguments), program.c (limits, a plan's program), launch.c (clocks,
 * runs), cold.c (emptying caches), sum.c (hashes of contents), state.c (empty launches, the device's clock),
 * verify.c (checks after a run), executor.c (context, queue, the steps in order), check.c (other inputs,
 * references), timing.c (repeated runs). */
#pragma once

#include <clatune/rng.h>

#include "opencl/memory.h"
#include "problem/command.h"

/* --- device.c --- */

/* The device at a place ("P:D" of clt_opencl_devices). CLT_E_DEVICE. */
int clt_cl_find(cl_device_id *out, int platform_index, int device_index, clt_error *error);
/* Describes a device. Properties that the driver does not know stay empty; the indices are -1 for a sub-device. */
int clt_cl_describe(clt_device_info *out, cl_device_id device, clt_error *error);

#define CLT_CORRECT_KEPT 64

/* --- a device with its context, queue, clock, and cache of uploaded inputs --- */

struct clt_executor {
  clt_device_info info;
  cl_device_id device;
  cl_context context;
  cl_command_queue queue;
  bool out_of_order; /* an application's queue: launches are then ordered by events */
  bool broken;       /* the device no longer answers after a fault */
  bool exact_end;    /* the end of a run must be noticed at once, because the host's clock times it */
  bool watchdog;     /* the system ends long runs */
  bool undescribed;  /* the driver cannot describe kernels' arguments: clt_program_build_described does not ask again */
  clt_clock clock;   /* which clock timing begins with; a measurement may fall back to the host's */
  double tick_s;     /* resolution of the device's clock, as stated or observed */
  clt_phase_fn phase;
  void *phase_user;
  clt_fault_fn fault; /* nullable */
  void *fault_user;
  struct {
    double begun_s;
    double *phase_s;   /* the member of a measurement's phases that it adds to; NULL: nothing runs */
    const char *check; /* the name of the check that it belongs to; NULL: none */
  } run;               /* the current run */
  struct {
    bool metered, sought;   /* the meter and the kernels were looked for */
    cl_kernel empty, steps; /* NULL: not needed yet, or not possible */
    cl_mem sink;
    cl_uint n_steps; /* 0: not chosen yet */
    /* See clt_device_state; launch_s and usual_step_s 0: not known yet. */
    double launch_s, step_s, usual_step_s;
    clt_frequency_meter *frequency; /* NULL: nothing reports the clock */
  } probe;                          /* state.c */
  struct {
    struct clt_input *first; /* newest first */
    size_t bytes;            /* of all */
    size_t limit_bytes;      /* beyond it unused ones are dropped, the oldest first */
  } inputs;                  /* uploaded inputs */
  struct {
    cl_kernel kernel; /* reads all of `memory`; NULL: not needed yet */
    cl_mem memory;
    size_t n_items;
  } other; /* pushes a run's data out of the caches */
  struct {
    cl_kernel kernel; /* leaves garbage in local memory; NULL: not needed yet */
    cl_mem sink;
    bool failed; /* the device does not run it */
  } garbage;
  clt_sum sum;
  struct {
    const clt_array *array; /* NULL: none */
    uint64_t hash, layout;
    double error;              /* max_abs_error */
  } correct[CLT_CORRECT_KEPT]; /* results that were compared and are correct: equal ones need no comparison */
  size_t n_correct;            /* so far */
  struct {
    clt_plan *plan; /* NULL: not needed yet */
    clt_program program;
  } references[2];            /* programs that make references: the stated kernel; the default configuration */
  struct clt_object *objects; /* all existing objects: a run may have damaged any of them */
  struct {
    struct clt_object *first; /* newest first */
    size_t bytes, limit_bytes;
  } retired;            /* objects that the next configuration may use */
  uint64_t next_salt;   /* of guard bands */
  unsigned char *bands; /* bands_bytes: memory for guard bands, see memory.c */
  size_t bands_bytes;
  struct clt_declarations *declarations; /* declarations.c; NULL: programs are built in the driver's own way */
  bool declarations_sought;
  uint64_t types_of;              /* hash of the source whose types were last compared with arguments; 0: none */
  uint64_t source_hash;           /* of the kernel's text when it was first read; 0: not read yet */
  clt_generator *generator;       /* of the problem's source; NULL: not needed yet */
  double generate_s;              /* its limit; 0: the default */
  uint64_t generated;             /* clt_plan_hash of the latest plan; 0: its source was not generated */
  struct clt_energy_meter *meter; /* NULL: not needed yet */
};

/* status.c */
void clt_executor_announce(const clt_executor *executor, clt_phase phase);
/* Completes a plan with its generated source. If there is none, frees it, *plan becomes NULL, and *m says why. */
int clt_executor_generate(clt_plan **plan, clt_executor *executor, const clt_instance *instance, clt_measurement *m,
                          clt_error *error);
/* CLT_E_OPENCL if the device has not survived a fault. */
int clt_executor_usable(const clt_executor *executor, clt_error *error);

/* --- launch.c: the clocks, and running a plan's launches; the queue must be idle --- */

/* Times a few copies on the device with both clocks, decides which clock to use, and sets tick_s. */
clt_clock clt_judge_clock(clt_executor *executor);
/* Whether the device's clock can be correct for a single run: device_s is no longer than host_s, from enqueuing to the
 * end. */
bool clt_clock_possible(double device_s, double host_s);
/* Whether the two clocks agree except for the overhead of a launch. For the shortest of several runs, because the host
 * may have been kept from its core during a single one. */
bool clt_clock_agrees(double device_s, double host_s);

/* Waits until a command has reached a state (CL_RUNNING, CL_COMPLETE); the queue must be flushed. Polls, because
 * waiting in the driver may keep a processor busy. Some drivers never report that a command runs. */
cl_int clt_cl_await(cl_event event, cl_int wanted);

/* One run: all launches, including repeats. */
typedef struct clt_run {
  double host_s; /* from before the first was enqueued until all have ended */
  double
      device_s; /* sum of the launches' durations, or, of several runs, first start to last end; negative: not known */
} clt_run;

/* Makes n_runs runs, without waiting for one before the next, except now and then to free events; *out is for all of
 * them together. */
int clt_launch_run(clt_run *out, const clt_executor *executor, const clt_program *program, const clt_plan *plan,
                   size_t n_runs, clt_measurement *m);

/* The first run of a program: launches its kernels one after the other, and announces for each the launch and, once its
 * event shows it, that it runs; drivers compile in between. *least_s: a lower bound of the run's time, by both clocks,
 * since the driver said that it runs; 0: not known. */
int clt_launch_first(double *least_s, const clt_executor *executor, const clt_program *program, const clt_plan *plan,
                     clt_measurement *m);

/* --- cold.c --- */

/* Empties the device's caches of all that earlier runs left there; waits. */
int clt_executor_cool(clt_executor *executor, clt_measurement *m, clt_error *error);
void clt_executor_free_other(clt_executor *executor);

/* --- state.c: the device while it is timed --- */

/* Opens what reports the clock and builds clatune's own kernels, each once. */
void clt_state_prepare(clt_executor *executor, bool with_kernels);
void clt_state_free(clt_executor *executor);
/* Before runs are timed: learns how long an empty launch takes if nobody knows, and keeps a device that was idle busy
 * until its clock is steady. */
void clt_state_begin(clt_executor *executor, const clt_timing_policy *policy);
/* After the runs: sets m->state. true: the device ran at less than 75 % of its usual clock, and has rested; the runs
 * must be repeated. */
bool clt_state_end(clt_executor *executor, clt_measurement *m, bool may_repeat);

/* --- executor.c: prepared configurations --- */

struct clt_prepared {
  clt_executor *executor;
  const clt_plan *plan;
  clt_plan *own_plan; /* freed with this; NULL: the plan is the caller's */
  clt_program program;
  bool mirrored; /* CLT_BUILD_MIRRORED */
  clt_bindings bindings;
  double first_run_s;  /* a lower bound; 0: not known */
  size_t n_together;   /* runs that are timed as one, so that they take enough ticks of the device's clock */
  clt_rng rng;         /* draws the runs that are not poisoned */
  unsigned n_verified; /* checks so far */
};

/* Binds the arguments, runs the program once and checks the result. first_run_s: receives the time of a program's first
 * run; NULL if it has run before. lender: see clt_bindings_init; its scratch memory keeps its content. */
int clt_run_on_data(clt_bindings *bindings, double *first_run_s, clt_executor *executor, const clt_program *program,
                    const clt_plan *plan, const clt_data *data, bool compare, const clt_bindings *lender,
                    clt_measurement *m, clt_error *error);

/* --- check.c --- */

/* Puts the name of the check before the log of a failure. */
void clt_name_check(clt_measurement *m, const char *check);
void clt_executor_free_checks(clt_executor *executor);
int clt_plan_mirror(clt_plan *plan); /* CLT_BUILD_MIRRORED; CLT_E_MEMORY */

/* --- faults --- */

/* Calls the fault callback (clt_executor_on_fault), with the time and the data of the current run. */
void clt_tell_fault(const clt_executor *executor, clt_measurement *m);
/* After a failed launch or run: checks whether the device still answers, and repairs damage. If it does not answer, a
 * lack of resources was the effect of a fault, and the reason becomes run-error. */
void clt_executor_fault(clt_executor *executor, const clt_bindings *bindings, clt_measurement *m);
