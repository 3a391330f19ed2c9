/* clatune/sys/evaluator.h - for people who add an evaluator: what turns a configuration into a measurement.
 *
 * An evaluator is a const struct, built in (src/eval/evaluators.c) or registered with clt_evaluator_register. It may
 * work on several configurations at once: the caller submits up to `capacity` and waits for results, which arrive in
 * any order. A configuration that fails is a result; an error means that the evaluator could not do its own work. */
#ifndef CLATUNE_SYS_EVALUATOR_H
#define CLATUNE_SYS_EVALUATOR_H

#include <clatune/log.h>
#include <clatune/measurement.h>
#include <clatune/problem.h>
#include <clatune/sys/option.h>

CLT_BEGIN_C

#define CLT_EVALUATOR_ABI 1

struct clt_recording; /* clatune/recording.h */

/* What an evaluator is opened with; borrowed until close. */
typedef struct clt_evaluator_setup {
  const clt_instance *instance;          /* NULL for replay and synthetic */
  const clt_space *space;                /* never NULL */
  const struct clt_recording *recording; /* replay: what is replayed; otherwise NULL */
  uint64_t seed;
  bool energy;     /* energy_J is wanted too; CLT_E_UNSUPPORTED where the device's is not counted */
  bool hostile;    /* the other data that keep verifies on are hostile (docs/problem-format.md, "HostileData") */
  double *quality; /* nullable: the problem's figure of quality (clatune/problem.h) is put here once it is known */
  const volatile int *stop; /* nullable: polled at least every 0.1 s in keep and time_again; not 0: CLT_E_STOPPED */
  clt_log_fn log;           /* nullable */
  void *log_user;
  /* Nullable, both or none. `lost` is told of a configuration that may have ended its worker, before it is tried once
   * more; 0 or the result code that the evaluator fails with. `attempts` says how often that was told, in earlier
   * sessions too: one that was lost before is not tried a third time. */
  int (*lost)(void *user, clt_config config, clt_error *error);
  unsigned (*attempts)(void *user, clt_config config);
  void *attempts_user;
  int64_t *n_machine_busy; /* nullable: counts the steps of configurations that were given more time than their limit
                              because the machine was busy */
  /* For somebody who watches a device that is slow (Oclgrind): results are not compared with a reference, which is not
   * made; and keep and time_again end with CLT_E_AGAIN so many seconds after the evaluator was opened (0: no limit), not
   * counting those that another tuner had the device. */
  bool no_reference;
  double limit_s;
  double *waited_s; /* nullable: seconds that were waited for other tuners that use the device are added here as they
                       pass; they count for no limit of time */
  const bool *unbound; /* nullable: while it is true, time_again times as programs run, bound to no processors */
  const clt_device_info *more_devices; /* n_more_devices, equal to the instance's device: evaluations are spread over
                                          all of them, and what is said is true of the instance's */
  size_t n_more_devices;
  int64_t *steps; /* nullable: added to, atomically, whenever the evaluator looks after work whose time is limited */
} clt_evaluator_setup;

/* How much an evaluator takes; both at least 1. */
typedef struct clt_evaluator_limits {
  size_t capacity; /* configurations that may be submitted and not yet waited for */
  size_t workers;  /* configurations that it works on at the same time; at most capacity */
  bool binds;      /* threads that run kernels are bound to processors while they are timed, unless unbound says not */
  size_t devices;  /* that it works on; 0: the instance's alone, whatever more_devices says */
} clt_evaluator_limits;

typedef struct clt_evaluator_type {
  uint32_t abi; /* CLT_EVALUATOR_ABI */
  const char *name, *summary;
  bool measures_device; /* what it says is true of the problem on the device, and kept under their name */
  const clt_option *options;
  size_t n_options, options_size;
  size_t state_size; /* zeroed before open */

  int (*open)(void *state, const clt_evaluator_setup *setup, const void *options, clt_evaluator_limits *limits,
              clt_error *error);
  /* best_s: the best time so far (0: none, or being slow does not matter), for deadlines and early abandonment. Of a
   * problem whose program reports a figure that is no time, that figure, or its inverse where the larger is better. */
  int (*submit)(void *state, clt_config config, double best_s, clt_error *error);
  /* Waits for any submitted configuration; *out is initialised by the evaluator and then owned by the caller.
   * CLT_E_AGAIN when timeout_s have passed, and at once when nothing is submitted: then it is called from time to time,
   * so that the evaluator gives back what others may need. */
  int (*wait)(void *state, clt_measurement *out, double timeout_s, clt_error *error);

  /* The finalists' two primitives, nullable together (then the measurements stand as they are).
   *
   * keep: prepares n configurations side by side, verifies them on other data where there are any, and keeps them ready
   * until the next keep (n 0: of none), submit or close. Those that are kept already stay as they are. out[i] belongs
   * to configs[i] and has no runs; the reason says why one cannot be kept. CLT_REASON_OUT_OF_MEMORY may be the others'
   * doing where n > 1. Nothing may be submitted meanwhile (CLT_E_ARGUMENT).
   *
   * time_again: times n of the kept ones now, one after the other with nothing else on the device: a round. indices are
   * those of keep. out[i].runs_s holds up to n_runs runs (1 .. CLT_MAX_RUNS) of indices[i], at least one, or the reason
   * says why not; energy_J is that of one run, where the setup asks for it. One that was lost is prepared again, a
   * bounded number of times; one that has failed keeps its reason.
   *
   * out is initialised by the caller, who releases it whatever the result code is. */
  int (*keep)(void *state, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error);
  int (*time_again)(void *state, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                    clt_error *error);

  void (*close)(void *state); /* ends everything, whatever is under way */
} clt_evaluator_type;

/* For programs that use the library: adds an evaluator of their own, borrowed for good, before any other thread uses
 * clatune. Sessions then find it by its name (clt_tune_settings.evaluator). CLT_E_ARGUMENT where its ABI is another
 * one or its name is taken; CLT_E_RANGE where there are too many. */
int clt_evaluator_register(const clt_evaluator_type *type, clt_error *error);

const clt_evaluator_type *clt_evaluator_find(const char *name); /* NULL: none */

CLT_END_C
#endif
