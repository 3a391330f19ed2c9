/* clatune/sys/evaluator.h - the interface of an evaluator, for new evaluators.
 *
 * An evaluator turns a configuration into a measurement. It is one const struct: in the tree a file in src/eval/ and a
 * line in evaluators.c, elsewhere a call of clt_evaluator_register. It may work on several configurations at once: the
 * caller submits up to `capacity` and waits for results, which arrive in any order. A configuration that fails is a
 * result; an error means that the evaluator could not do its own work. */
#ifndef CLATUNE_SYS_EVALUATOR_H
#define CLATUNE_SYS_EVALUATOR_H

#include <clatune/log.h>
#include <clatune/measurement.h>
#include <clatune/problem.h>
#include <clatune/sys/option.h>

CLT_BEGIN_C

#define CLT_EVALUATOR_ABI 2 /* increases with each incompatible change of this header */

struct clt_recording; /* clatune/recording.h */
struct clt_recipe;    /* checks are clatune's own (src/problem/data.h); other evaluators may ignore them */
struct clt_check;

/* What a check showed. */
typedef struct clt_check_answer {
  bool done;         /* false: not reached */
  bool impossible;   /* the inputs or their reference cannot be made */
  clt_reason reason; /* of a failure; CLT_REASON_NONE: passed */
  char *log;         /* owned by the caller; why it failed or is impossible; nullable */
  double margin;     /* of an input with a missing element: how many times the tolerance the correct result changes */
  double took_s;     /* with making its inputs */
} clt_check_answer;

/* The input of an evaluator; borrowed until close. */
typedef struct clt_evaluator_setup {
  const clt_instance *instance;          /* NULL for replay and synthetic */
  const clt_space *space;                /* never NULL */
  const struct clt_recording *recording; /* for replay; otherwise NULL */
  uint64_t seed;
  bool energy; /* measure energy_J too; CLT_E_UNSUPPORTED: the device has no counter */
  /* keep checks each configuration with these after it has prepared it; none: it only prepares them. answers: nullable,
   * an entry for each check. lenient: keep gets one configuration, which a failed check does not make fail. mirrored:
   * in the configurations that keep prepares, work-items and work-groups do the work of the opposite ones. more_follow:
   * this thread, after clt_workers_reserve, opens an evaluator for the same device next; on a CPU a process is started
   * for it meanwhile. */
  const struct clt_check *checks;
  size_t n_checks;
  clt_check_answer *answers;
  bool lenient, mirrored, more_follow;
  bool printed;                    /* keep puts what a correct kernel prints into the log of its measurement */
  const struct clt_recipe *inputs; /* of preparing and timing; NULL: the problem's own */
  double *quality;                 /* receives the problem's quality ("Quality") once it is known; nullable */
  const volatile int *stop; /* polled at least every 0.1 s in keep and time_again; not 0: CLT_E_STOPPED; nullable */
  clt_log_fn log;           /* nullable */
  void *log_user;
  /* Both nullable, together. The evaluator calls `lost` for a configuration that may have ended its worker, before it
   * tries it again; a result other than 0 is the code that the evaluator fails with. `attempts` returns how often
   * `lost` was called for it, also in earlier tunings: a configuration is not tried a third time. */
  int (*lost)(void *user, clt_config config, clt_error *error);
  unsigned (*attempts)(void *user, clt_config config);
  void *attempts_user;
  int64_t *n_machine_busy; /* counts steps that got more time than their limit, as the machine was busy; nullable */
  /* For slow devices such as Oclgrind. no_reference: no reference is computed and results are not compared. limit_s:
   * keep and time_again end with CLT_E_AGAIN this many seconds after open, without waiting for other tuners (0: no
   * limit). */
  bool no_reference;
  double limit_s;
  double *waited_s;    /* the seconds of waiting for other tuners are added here as they pass; no limit of time includes
                          them; nullable */
  const bool *unbound; /* while it is true, time_again does not bind threads to processors; nullable */
  const clt_device_info *more_devices; /* further devices equal to the instance's: evaluations are spread over all of
                                          them, and results count as the instance's */
  size_t n_more_devices;
  int64_t *steps; /* added to atomically while the evaluator works; nullable */
  /* Called about ten times a second from wait, keep and time_again while something takes longer than a moment, with
   * what that is: "compiling 4 configurations, the longest for 48 s (limit 60 s)"; nullable. */
  void (*waits)(void *user, const char *what);
  void *waits_user;
} clt_evaluator_setup;

/* The limits of an open evaluator. capacity and workers are at least 1. */
typedef struct clt_evaluator_limits {
  size_t capacity; /* configurations that may be submitted without a result yet */
  size_t workers;  /* configurations that it works on at the same time; at most capacity */
  bool binds;      /* threads that run kernels are bound to processors while they are timed, unless `unbound` is true */
  size_t devices;  /* devices that it works on; 0: only the instance's, even with more_devices */
} clt_evaluator_limits;

typedef struct clt_evaluator_type {
  uint32_t abi; /* CLT_EVALUATOR_ABI */
  const char *name, *summary;
  bool measures_device; /* its results are measurements of the problem on the device, and are stored as such */
  const clt_option *options;
  size_t n_options, options_size;
  size_t state_size; /* set to zeros before open */

  int (*open)(void *state, const clt_evaluator_setup *setup, const void *options, clt_evaluator_limits *limits,
              clt_error *error);
  /* Begins with a configuration. best_s: the best time so far, for deadlines and for abandoning slow configurations; 0:
   * none, or slow configurations are not abandoned. If the problem's figure is not a time, best_s is the figure, or its
   * inverse if larger is better. */
  int (*submit)(void *state, clt_config config, double best_s, clt_error *error);
  /* Waits for the result of any submitted configuration; the evaluator initialises *out, the caller then owns it.
   * CLT_E_AGAIN: timeout_s have passed, or nothing is submitted. The latter is called from time to time, so that the
   * evaluator releases what others may need. */
  int (*wait)(void *state, clt_measurement *out, double timeout_s, clt_error *error);

  /* For comparing finalists; nullable together, and then finalists are not compared.
   *
   * keep: prepares n configurations together, makes the setup's checks, and keeps them ready until the next keep (n may
   * be 0), submit or close. Configurations that are kept already stay as they are. out[i] belongs
   * to configs[i] and has no runs; its reason tells why it cannot be kept. CLT_REASON_OUT_OF_MEMORY may be caused by
   * the other configurations. While something is submitted: CLT_E_ARGUMENT.
   *
   * time_again: times n of the kept configurations, one after the other with nothing else on the device. indices are
   * positions in configs of keep. out[i].runs_s receives 1 to n_runs runs (at most CLT_MAX_RUNS) of indices[i], or its
   * reason tells why not; energy_J is the energy of one run, if the setup asks for it. If a worker is lost, its
   * configuration is prepared again, a limited number of times. A failed configuration keeps its reason.
   *
   * The caller initialises out and releases it, whatever the result code is. */
  int (*keep)(void *state, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error);
  int (*time_again)(void *state, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                    clt_error *error);

  void (*close)(void *state); /* ends everything, also work under way */
} clt_evaluator_type;

/* Adds an evaluator, which clt_tune_settings.evaluator then finds by its name. It must exist until the program ends.
 * Call it before other threads use clatune. CLT_E_ARGUMENT: its ABI is not CLT_EVALUATOR_ABI, or the name is taken.
 * CLT_E_RANGE: there are too many. */
int clt_evaluator_register(const clt_evaluator_type *type, clt_error *error);

const clt_evaluator_type *clt_evaluator_find(const char *name); /* NULL: none */

CLT_END_C
#endif
