/* clatune/sys/evaluator.h - for people who add an evaluator: what turns a configuration into a measurement.
 *
 * An evaluator is a const struct in the table of src/eval/evaluators.c. It may work on several configurations at once:
 * the caller submits up to `capacity` and waits for results, which arrive in any order. A configuration that fails is a
 * result; an error means that the evaluator could not do its own work. */
#ifndef CLATUNE_SYS_EVALUATOR_H
#define CLATUNE_SYS_EVALUATOR_H

#include <clatune/log.h>
#include <clatune/measurement.h>
#include <clatune/objective.h>
#include <clatune/problem.h>
#include <clatune/sys/option.h>

#ifdef __cplusplus
extern "C" {
#endif

struct clt_recording; /* clatune/recording.h */

/* What an evaluator is opened with; borrowed until close. */
typedef struct clt_evaluator_setup {
  const clt_instance *instance;          /* NULL for replay and synthetic */
  const clt_space *space;                /* never NULL */
  const struct clt_recording *recording; /* replay: what is replayed; otherwise NULL */
  uint64_t seed;
  bool energy;     /* energy_J is wanted too; CLT_E_UNSUPPORTED where the device's is not counted. For evaluators that
                      measure */
  double *quality; /* nullable: the problem's figure of quality (clatune/problem.h) is put here once it is known */
  clt_log_fn log;  /* nullable */
  void *log_user;
  /* Nullable, both or none. `lost` is told of a configuration that may have ended its worker, before it is tried once
   * more; 0 or the result code that the evaluator fails with. `attempts` says how often that was told, in earlier
   * sessions too: one that was lost before is not tried a third time. */
  int (*lost)(void *user, clt_config config, clt_error *error);
  unsigned (*attempts)(void *user, clt_config config);
  void *attempts_user;
} clt_evaluator_setup;

/* Finalists are run in interleaved rounds (one run each per round) until the leader's median is ahead with significance,
 * or within tolerance of all others, or the limits are reached; then verified on other data. */
typedef struct clt_compare_policy {
  unsigned min_rounds, max_rounds;
  double max_total_s;       /* no round begins after it, whatever min_rounds says; 0: no limit */
  double tolerance;         /* relative */
  const clt_objective *objective; /* what is compared (clatune/objective.h); NULL: times */
  const volatile int *stop; /* polled while waiting, at least every 0.1 s; not 0: CLT_E_STOPPED. Nullable */
} clt_compare_policy;

typedef struct clt_evaluator_type {
  const char *name, *summary;
  bool measures_device; /* what it says is true of the problem on the device, and kept under their name */
  const clt_option *options;
  size_t n_options, options_size;
  size_t state_size; /* zeroed before open */

  int (*open)(void *state, const clt_evaluator_setup *setup, const void *options, clt_error *error);
  /* How many configurations may be submitted and not yet waited for; at least 1. */
  size_t (*capacity)(const void *state);
  /* How many it works on at the same time, where that is fewer than it takes. Nullable: capacity. */
  size_t (*workers)(const void *state);
  /* best_s: the best time so far (0: none, or being slow does not matter), for deadlines and early abandonment. */
  int (*submit)(void *state, clt_config config, double best_s, clt_error *error);
  /* Waits for any submitted configuration; *out is initialised by the evaluator and then owned by the caller.
   * CLT_E_AGAIN when timeout_s have passed, and when nothing is submitted. */
  int (*wait)(void *state, clt_measurement *out, double timeout_s, clt_error *error);
  /* Nothing may be submitted meanwhile. out[i] belongs to configs[i]; runs_s holds the interleaved runs, time_s their
   * median, energy_J the median of what was measured between them, where the setup asks for it; a finalist that fails
   * has its reason. Nullable: the measurements stand as they are. */
  int (*compare)(void *state, const clt_config *configs, size_t n, const clt_compare_policy *policy,
                 clt_measurement *out, clt_error *error);
  void (*close)(void *state); /* ends everything, whatever is under way */
} clt_evaluator_type;

size_t clt_n_evaluators(void);
const clt_evaluator_type *clt_evaluator_at(size_t index);
const clt_evaluator_type *clt_evaluator_find(const char *name); /* NULL: none */

/* What `clatune verify` does with one configuration: prepare, verify on the usual data and on further data. *out as in
 * wait; *quality (nullable) is the problem's figure of quality, NaN where it has none. Uses one worker; settings (nullable)
 * are the opencl evaluator's options. */
int clt_verify_config(const clt_instance *instance, clt_config config, const clt_setting *settings, size_t n_settings,
                      clt_measurement *out, double *quality, clt_log_fn log, void *log_user, clt_error *error);

/* What may be why a kernel's result is wrong: warns, where the kernel's arguments have the names of the problem's, but stand in
 * another order. Builds the configuration once more; says nothing where that fails. */
void clt_check_arguments(const clt_instance *instance, clt_config config, clt_log_fn log, void *log_user);

#ifdef __cplusplus
}
#endif
#endif
