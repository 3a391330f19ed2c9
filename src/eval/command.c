#include "eval/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "eval/evaluators.h"

#define MOST_BUILDS 16

typedef struct command_options {
  int64_t parallel, builds, batch_size, min_runs, max_runs, warm_up, memory_limit_mib;
  double compile_timeout_s, run_timeout_s, check_timeout_s, run_timeout_factor, run_timeout_floor_s;
  double max_total_s, steady, abandon_factor;
  bool lock;
} command_options;

#define AT(member) offsetof(command_options, member)
static const clt_option options[] = {
    {"parallel", CLT_OPTION_INT, "1", 1, CLT_COMMAND_MAX_SLOTS, AT(parallel),
     "Evaluations under way at the same time; more than 1 only where they do not disturb each other."},
    {"builds", CLT_OPTION_INT, "0", 0, CLT_COMMAND_MAX_SLOTS, AT(builds),
     "Builds under way at the same time while runs come one by one; 0: one per processor core, at most 16."},
    {"compile-timeout", CLT_OPTION_REAL, "60", 0.01, 1e6, AT(compile_timeout_s),
     "Seconds that a build command may take."},
    {"run-timeout", CLT_OPTION_REAL, "60", 0.001, 1e6, AT(run_timeout_s),
     "Seconds that a run may take; of a batch, each of its configurations."},
    {"run-timeout-factor", CLT_OPTION_REAL, "20", 0, 1e9, AT(run_timeout_factor),
     "Where the figure is the wall time, a run may take this many times the best so far; 0: run-timeout alone counts."},
    {"run-timeout-floor", CLT_OPTION_REAL, "2", 0, 1e6, AT(run_timeout_floor_s),
     "Seconds that run-timeout-factor does not go below."},
    {"check-timeout", CLT_OPTION_REAL, "60", 0.001, 1e6, AT(check_timeout_s),
     "Seconds that the check command may take."},
    {"min-runs", CLT_OPTION_INT, "3", 1, CLT_MAX_RUNS, AT(min_runs), "Runs of a configuration at least."},
    {"max-runs", CLT_OPTION_INT, "16", 1, CLT_MAX_RUNS, AT(max_runs), "Runs of a configuration at most."},
    {"max-run-time", CLT_OPTION_REAL, "2", 0, 1e6, AT(max_total_s), "Seconds after which runs are not repeated."},
    {"warm-up", CLT_OPTION_INT, "0", 0, CLT_MAX_RUNS, AT(warm_up), "Runs that come first and do not count."},
    {"steady", CLT_OPTION_REAL, "0.02", 0, 1, AT(steady),
     "Relative spread of the best runs under which a figure counts as known."},
    {"abandon-factor", CLT_OPTION_REAL, "1.5", 0, 1e9, AT(abandon_factor),
     "A configuration whose first run is this many times the best so far is not repeated; 0: all are."},
    {"batch-size", CLT_OPTION_INT, "16", 1, CLT_COMMAND_MAX_BATCH, AT(batch_size),
     "Configurations that a program of the batch protocol is handed at once, at most."},
    {"memory-limit", CLT_OPTION_INT, "0", 0, 1e9, AT(memory_limit_mib),
     "MiB of memory that a process may use; 0: no limit."},
    {"lock", CLT_OPTION_BOOL, "yes", 0, 0, AT(lock), "Keep other tuners off the machine while something is timed."},
};
#define N_OPTIONS (sizeof options / sizeof *options)

/* --- opening --- */

static size_t cores(void) {
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n < MOST_BUILDS ? (size_t)n : MOST_BUILDS;
}

static void choose_sizes(clt_command_state *s, const command_options *o) {
  const clt_command *command = s->context.command;
  bool batch = command->batch.used;
  size_t builds = o->builds ? (size_t)o->builds : command->n_build ? cores() : 1;
  s->overlap = o->parallel > 1 && !batch;
  s->n_slots = batch ? 1 : s->overlap ? (size_t)o->parallel : builds;
  s->batch.size = batch ? (size_t)o->batch_size : 0;
  s->capacity = batch ? s->batch.size : s->n_slots;
}

static void fill_context(clt_command_context *c, const command_options *o, const clt_instance *instance) {
  *c = (clt_command_context){.instance = instance,
                             .command = clt_instance_command(instance),
                             .run = {NULL, -1},
                             .memory_limit_bytes = o->memory_limit_mib << 20,
                             .compile_timeout_s = o->compile_timeout_s,
                             .run_timeout_s = o->run_timeout_s,
                             .check_timeout_s = o->check_timeout_s,
                             .run_timeout_factor = o->run_timeout_factor,
                             .run_timeout_floor_s = o->run_timeout_floor_s,
                             .min_runs = o->min_runs,
                             .max_runs = o->max_runs,
                             .warm_up = o->warm_up,
                             .max_total_s = o->max_total_s,
                             .steady = o->steady,
                             .abandon_factor = o->abandon_factor};
}

static int make_slots(clt_command_state *s, clt_error *error) {
  s->slots = clt_new_array(s->n_slots, sizeof *s->slots);
  s->queue = clt_new_array(s->capacity, sizeof *s->queue);
  s->results = clt_new_array(s->capacity, sizeof *s->results);
  s->batch.configs = clt_new_array(s->capacity, sizeof *s->batch.configs);
  s->batch.answered = clt_new_array(s->capacity, sizeof *s->batch.answered);
  if (!(s->slots && s->queue && s->results && s->batch.configs && s->batch.answered)) return clt_fail_memory(error);
  int rc = CLT_OK;
  for (size_t i = 0; rc == 0 && i < s->n_slots; i++) {
    clt_command_slot *slot = &s->slots[i];
    char name[32];
    snprintf(name, sizeof name, "process-%zu", i);
    slot->evaluation = (clt_evaluation){.context = &s->context, .program = &slot->program};
    clt_measurement_init(&slot->evaluation.measurement, CLT_CONFIG_NONE);
    snprintf(slot->evaluation.name, sizeof slot->evaluation.name, "scratch-%zu", i);
    rc = clt_run_folder_make(&slot->folder, &s->context.run, name, error);
  }
  return rc;
}

static void say(const clt_command_state *s, const char *text) {
  if (s->setup.log) s->setup.log(s->setup.log_user, CLT_LOG_WARNING, text);
}

/* A lock that cannot be made must not keep anybody from tuning. */
static void open_lock(clt_command_state *s, bool wanted) {
  clt_error why = {0};
  const clt_device_info *device = clt_instance_device(s->context.instance);
  char key[256];
  clt_device_info host;
  if (device == NULL) clt_device_host(&host);
  clt_device_lock_key(device ? device : &host, key, sizeof key);
  if (clt_lock_open(&s->lock, wanted ? key : NULL, &why)) say(s, why.message);
}

static void command_close(void *state) {
  clt_command_state *s = state;
  for (size_t i = 0; s->slots && i < s->n_slots; i++) {
    clt_program_stop(&s->slots[i].program);
    clt_evaluation_end(&s->slots[i].evaluation, NULL);
    free(s->slots[i].folder);
  }
  clt_command_give_up_kept(s);
  for (size_t i = 0; i < s->n_results; i++) clt_measurement_release(&s->results[i]);
  clt_batch_release(&s->batch);
  clt_lock_close(&s->lock);
  clt_run_folder_remove(&s->context.run);
  free(s->context.worker_path);
  free(s->slots);
  free(s->queue);
  free(s->results);
  memset(s, 0, sizeof *s);
}

static int check_options(const command_options *o, const clt_command *command, clt_error *error) {
  if (o->min_runs > o->max_runs)
    return clt_fail(error, CLT_E_ARGUMENT, "option 'min-runs' (%lld) is more than 'max-runs' (%lld)",
                    (long long)o->min_runs, (long long)o->max_runs);
  if (command->batch.used && o->parallel > 1)
    return clt_fail(error, CLT_E_ARGUMENT,
                    "option 'parallel' makes no sense with \"Batch\"; 'batch-size' is what it takes");
  return CLT_OK;
}

/* Commands that name what is not there are found here and not at every configuration. */
static int try_words(const clt_command_state *s, clt_error *error) {
  const clt_command *command = s->context.command;
  clt_config config = command->batch.used ? CLT_CONFIG_NONE : clt_space_at(s->setup.space, 0);
  clt_command_places places = clt_command_places_in(&s->context, s->context.run.path);
  int rc = CLT_OK;
  for (size_t i = 0; rc == 0 && i < command->n_build + 2; i++) {
    const clt_command_line *line = i < command->n_build    ? &command->build[i]
                                   : i == command->n_build ? &command->run
                                                           : &command->check;
    char **words = NULL;
    clt_error why = {0};
    rc = line->n ? clt_command_words(s->context.instance, line, config, &places, &words, &why) : CLT_OK;
    clt_words_free(words);
    bool value = rc && rc != CLT_E_FORMAT && !command->batch.used; /* of this configuration, perhaps */
    if (rc && !value && error && error->code == 0) *error = why;
    if (value) rc = CLT_OK;
  }
  return rc;
}

static int command_open(void *state, const clt_evaluator_setup *setup, const void *given, clt_evaluator_limits *limits,
                        clt_error *error) {
  clt_command_state *s = state;
  const command_options *o = given;
  if (setup->instance == NULL || clt_instance_command(setup->instance) == NULL)
    return clt_fail(error, CLT_E_ARGUMENT, "the evaluator 'command' needs a problem with a \"Command\"");
  if (clt_space_valid(setup->space) == 0)
    return clt_fail(error, CLT_E_NO_VALID, "the space has no valid configuration");
  int rc = check_options(o, clt_instance_command(setup->instance), error);
  if (rc) return rc;
  s->setup = *setup;
  s->lock.fd = -1;
  fill_context(&s->context, o, setup->instance);
  choose_sizes(s, o);
  rc = clt_worker_path(&s->context.worker_path, error);
  if (rc == 0) rc = clt_run_folder_new(&s->context.run, error);
  if (rc == 0) rc = make_slots(s, error);
  if (rc == 0) rc = try_words(s, error);
  if (rc) return command_close(s), rc;
  open_lock(s, o->lock);
  *limits = (clt_evaluator_limits){s->capacity, s->capacity};
  return CLT_OK;
}

/* --- submitting and waiting --- */

static int command_submit(void *state, clt_config config, double best_s, clt_error *error) {
  clt_command_state *s = state;
  if (s->n_submitted >= s->capacity)
    return clt_fail(error, CLT_E_ARGUMENT, "more than %zu configurations submitted at once", s->capacity);
  clt_command_give_up_kept(s);
  s->queue[s->n_queue++] = (clt_command_job){config, best_s};
  s->n_submitted++;
  return CLT_OK;
}

/* While something is timed exclusively the caller shall not be busy with a result. */
static bool may_give(const clt_command_state *s) {
  if (s->n_results == 0) return false;
  for (size_t i = 0; i < s->n_slots && !s->overlap && s->batch.size == 0; i++) {
    clt_evaluation_stage stage = s->slots[i].evaluation.stage;
    if (stage == CLT_EVALUATION_RUNNING || stage == CLT_EVALUATION_CHECKING) return false;
  }
  return true;
}

static void give(clt_command_state *s, clt_measurement *out) {
  *out = s->results[0];
  s->n_results--;
  s->n_submitted--;
  memmove(s->results, s->results + 1, s->n_results * sizeof *s->results);
}

static int command_wait(void *state, clt_measurement *out, double timeout_s, clt_error *error) {
  clt_command_state *s = state;
  double until_s = clt_now_s() + timeout_s;
  if (s->n_submitted == 0) return CLT_E_AGAIN;
  for (;;) {
    int rc = s->batch.size ? clt_batch_turn(s, error) : clt_command_turn(s, error);
    if (rc) return rc;
    if (may_give(s)) return give(s, out), CLT_OK;
    double left_s = until_s - clt_now_s();
    if (left_s <= 0) return CLT_E_AGAIN;
    clt_command_wait_for_events(s, left_s);
  }
}

static int command_keep(void *state, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error) {
  clt_command_state *s = state;
  if (s->n_submitted > 0) return clt_fail(error, CLT_E_ARGUMENT, "finalists cannot be kept while others run");
  return s->batch.size ? clt_batch_keep(s, configs, n, out, error) : clt_command_keep(s, configs, n, out, error);
}

static int command_time_again(void *state, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                              clt_error *error) {
  clt_command_state *s = state;
  (void)n_runs; /* a program is started for each: one */
  for (size_t i = 0; i < n; i++)
    if (indices[i] >= s->n_kept) return clt_fail(error, CLT_E_ARGUMENT, "finalist %zu is not kept", indices[i]);
  return s->batch.size ? clt_batch_time_again(s, indices, n, out, error)
                       : clt_command_time_again(s, indices, n, out, error);
}

const clt_evaluator_type clt_evaluator_command = {
    .abi = CLT_EVALUATOR_ABI,
    .name = "command",
    .summary = "builds and runs programs, each configuration in a folder of its own",
    .measures_device = true,
    .options = options,
    .n_options = N_OPTIONS,
    .options_size = sizeof(command_options),
    .state_size = sizeof(clt_command_state),
    .open = command_open,
    .submit = command_submit,
    .wait = command_wait,
    .keep = command_keep,
    .time_again = command_time_again,
    .close = command_close,
};
