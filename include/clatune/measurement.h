/* clatune/measurement.h - measurements: times or failure reasons of configurations. */
#ifndef CLATUNE_MEASUREMENT_H
#define CLATUNE_MEASUREMENT_H

#include <clatune/space.h>

CLT_BEGIN_C

/* The invalidities of the T4 schema: the kind of a failure. */
#define CLT_INVALIDITY_TABLE(X)     \
  X(CLT_CORRECT, "correct")         \
  X(CLT_CONSTRAINTS, "constraints") \
  X(CLT_COMPILE, "compile")         \
  X(CLT_RUNTIME, "runtime")         \
  X(CLT_CORRECTNESS, "correctness") \
  X(CLT_TIMEOUT, "timeout")

/* Failure reasons: enumerator, invalidity, name, meaning. An abandoned configuration is only known to be slow; it is
 * not known whether its result is correct. */
#define CLT_REASON_TABLE(X)                                                                                  \
  X(CLT_REASON_NONE, CLT_CORRECT, "none", "ran and gave the correct result")                                 \
  X(CLT_REASON_CONDITION, CLT_CONSTRAINTS, "condition", "violates a condition of the problem")               \
  X(CLT_REASON_DEVICE_LIMIT, CLT_CONSTRAINTS, "device-limit", "exceeds a limit of the device")               \
  X(CLT_REASON_COMPILE_ERROR, CLT_COMPILE, "compile-error", "does not compile")                              \
  X(CLT_REASON_COMPILE_CRASH, CLT_COMPILE, "compile-crash", "the compiler crashed")                          \
  X(CLT_REASON_COMPILE_TIMEOUT, CLT_TIMEOUT, "compile-timeout", "compilation took longer than allowed")      \
  X(CLT_REASON_KERNEL_LIMIT, CLT_COMPILE, "kernel-limit", "the built kernel exceeds a limit of the device")  \
  X(CLT_REASON_LAUNCH, CLT_RUNTIME, "launch", "the kernel could not be launched")                            \
  X(CLT_REASON_OUT_OF_MEMORY, CLT_RUNTIME, "out-of-memory", "the device or the compiler lacked memory")      \
  X(CLT_REASON_RUN_ERROR, CLT_RUNTIME, "run-error", "reported an error while running")                       \
  X(CLT_REASON_RUN_CRASH, CLT_RUNTIME, "run-crash", "crashed the process that it ran in")                    \
  X(CLT_REASON_RUN_TIMEOUT, CLT_TIMEOUT, "run-timeout", "ran longer than allowed")                           \
  X(CLT_REASON_OUT_OF_BOUNDS, CLT_CORRECTNESS, "out-of-bounds", "wrote outside of a buffer")                 \
  X(CLT_REASON_WRONG_OUTPUT, CLT_CORRECTNESS, "wrong-output", "the result differs from the reference")       \
  X(CLT_REASON_NOT_STARTED, CLT_RUNTIME, "not-started", "the program could not be started")                  \
  X(CLT_REASON_EXIT_STATUS, CLT_RUNTIME, "exit-status", "the program ended with a status other than 0")      \
  X(CLT_REASON_NO_FIGURE, CLT_RUNTIME, "no-figure", "the program printed no number for \"Figure\"")          \
  X(CLT_REASON_BAD_FIGURE, CLT_RUNTIME, "bad-figure", "the figure of merit is not a positive number")        \
  X(CLT_REASON_REFUSED, CLT_RUNTIME, "refused", "the program itself calls the configuration invalid")        \
  X(CLT_REASON_CHECK_FAILED, CLT_CORRECTNESS, "check-failed", "the check command did not accept the result") \
  X(CLT_REASON_UNKNOWN, CLT_RUNTIME, "unknown", "failed for a reason that was not recorded")                 \
  X(CLT_REASON_ABANDONED, CLT_TIMEOUT, "abandoned", "ran many times as long as the best, and was ended")     \
  X(CLT_REASON_ARGUMENTS, CLT_RUNTIME, "arguments", "the kernel takes other arguments than it is given")     \
  X(CLT_REASON_LAUNCH_RESOURCES, CLT_RUNTIME, "launch-resources",                                            \
    "needs more registers than its work-groups can have")                                                    \
  X(CLT_REASON_KERNEL_NAME, CLT_COMPILE, "kernel-name", "the file has no kernel of this name")               \
  X(CLT_REASON_NOT_GENERATED, CLT_CONSTRAINTS, "not-generated", "the generator has no kernel for it")        \
  X(CLT_REASON_GENERATOR_FAILED, CLT_COMPILE, "generator-failed", "the generator wrote no usable source")

typedef enum clt_invalidity {
#define CLT_INVALIDITY_ENUM(id, name) id,
  CLT_INVALIDITY_TABLE(CLT_INVALIDITY_ENUM)
#undef CLT_INVALIDITY_ENUM
      CLT_N_INVALIDITIES
} clt_invalidity;

typedef enum clt_reason {
#define CLT_REASON_ENUM(id, invalidity, name, text) id,
  CLT_REASON_TABLE(CLT_REASON_ENUM)
#undef CLT_REASON_ENUM
      CLT_N_REASONS
} clt_reason;

/* The clock that timed the runs: the device's (events), or the host's if events are unreliable. */
typedef enum clt_clock { CLT_CLOCK_DEVICE, CLT_CLOCK_HOST } clt_clock;

#define CLT_MAX_RUNS 64 /* runs that a measurement holds at most */

/* Wall seconds that one configuration took, by phase. */
typedef struct clt_phases {
  double build_s;        /* clBuildProgram */
  double first_launch_s; /* setting arguments, first launch until it ends (PoCL compiles again here) */
  double runs_s;         /* all timed runs, launches included */
  double verify_s;       /* reading back and comparing, restoring arguments */
  double wait_s;         /* waiting for a free device */
} clt_phases;

/* Resources that the built kernel uses, as the driver reports them; the maximum over several kernels. NaN: unknown. */
#define CLT_KERNEL_USE_TABLE(X) \
  X(registers)                  \
  X(spill_bytes)                \
  X(private_bytes)              \
  X(local_bytes)
typedef struct clt_kernel_use {
  double registers;     /* per work-item */
  double spill_bytes;   /* registers spilled to memory, per work-item */
  double private_bytes; /* private memory per work-item, spilled registers included */
  double local_bytes;   /* local memory per work-group, arguments included */
} clt_kernel_use;

/* The device while a configuration was timed (docs/explanation/measuring.md, "The device's clock"). NaN: unknown. */
#define CLT_DEVICE_STATE_TABLE(X) \
  X(launch_s)                     \
  X(step_s)                       \
  X(usual_step_s)                 \
  X(clock_mhz)                    \
  X(throttled)                    \
  X(busy_share)
typedef struct clt_device_state {
  double launch_s; /* an empty kernel takes so long, by the clock that times the runs; it is part of each launch */
  /* One step of a fixed chain of operations, inversely proportional to the device's clock: after these runs, and as is
   * usual for the device. */
  double step_s, usual_step_s;
  double clock_mhz;  /* the clock that the driver or the system reports after the runs */
  double throttled;  /* 1: the clock stayed below 75 % of the usual one, 0: it did not */
  double busy_share; /* of the time over which energy_J was measured: the share in which the device ran */
} clt_device_state;

/* One measurement. A configuration that failed has a reason, and time_s, figure and energy_J are NaN. Prepare it with
 * clt_measurement_init and empty it with clt_measurement_release. It owns log; copy it with clt_measurement_copy. */
typedef struct clt_measurement {
  clt_config config;
  clt_reason reason;           /* CLT_REASON_NONE: correct */
  double time_s;               /* shortest run; of a finalist its median; NaN: failed or unknown */
  double runs_s[CLT_MAX_RUNS]; /* every timed run in order, without warm-up; NaN: unknown */
  size_t n_runs;
  clt_clock clock;
  clt_phases phases;
  double figure;                /* the figure that a program reports, in the problem's unit; NaN: none */
  double figures[CLT_MAX_RUNS]; /* of each run, if there is a figure; NaN: unknown */
  double energy_J; /* of one run of all launches: mean over many runs (docs/reference/objectives.md); NaN: unknown */
  clt_kernel_use use;
  clt_device_state state;
  double max_abs_error; /* largest |result - reference| over all outputs; NaN: not verified */
  char *log;            /* of a failed configuration: compiler messages or output, at most 16 KiB; NULL: none */
  bool confirmed_alone; /* it failed in a process that had run no other configuration */
} clt_measurement;

/* Makes a correct measurement without a time and without runs. */
void clt_measurement_init(clt_measurement *m, clt_config config);
void clt_measurement_release(clt_measurement *m);                                           /* frees log */
int clt_measurement_copy(clt_measurement *out, const clt_measurement *m, clt_error *error); /* copies log, too */

/* Makes a measurement a failure: sets the reason and a copy of log (NULL: none), and its time to NaN. */
void clt_measurement_fail(clt_measurement *m, clt_reason reason, const char *log);

/* Whether a measurement is correct, that is, has no failure reason. */
bool clt_measurement_correct(const clt_measurement *m);

/* The columns of CLT_REASON_TABLE and CLT_INVALIDITY_TABLE. Texts are static. */
clt_invalidity clt_reason_invalidity(clt_reason reason);
const char *clt_reason_name(clt_reason reason);
const char *clt_reason_text(clt_reason reason);
const char *clt_invalidity_name(clt_invalidity invalidity);

CLT_END_C
#endif
