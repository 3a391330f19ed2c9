/* The evaluator `command`: options, scheduling of builds and runs, finalists. */
#include "eval/command.h"

#include <unistd.h>

#include "base/base.h"
#include "base/text.h"
#include "device/device.h"
#include "eval/evaluators.h"

#define MAX_SLOTS 256
#define MAX_BATCH 4096
#define MOST_BUILDS 16 /* unless the option says how many */
#define STOP_S 0.1     /* the longest delay until a request to stop, or an answer in a file, is noticed */

#define AT(member) offsetof(clt_command_options, member)
static const clt_option options[] = {
    {"parallel", CLT_OPTION_INT, "1", 1, MAX_SLOTS, AT(parallel),
     "evaluations at the same time; use more than 1 only if they do not disturb each other"},
    {"builds", CLT_OPTION_INT, "0", 0, MAX_SLOTS, AT(builds),
     "builds at the same time, while runs follow one another; 0: one per processor core, at most 16"},
    {"compile-timeout", CLT_OPTION_SECONDS, "60", 0.01, 1e6, AT(compile_timeout_s),
     "time limit of a build command, in seconds"},
    {"run-timeout", CLT_OPTION_SECONDS, "60", 0.001, 1e6, AT(run_timeout_s),
     "time limit of a run, in seconds; in a batch, of each configuration"},
    {"run-timeout-factor", CLT_OPTION_REAL, "20", 0, 1e9, AT(run_timeout_factor),
     "time limit of a run relative to the best so far, if the figure is the wall time; 0: only --run-timeout applies"},
    {"run-timeout-floor", CLT_OPTION_SECONDS, "2", 0, 1e6, AT(run_timeout_floor_s),
     "minimum of the limit that --run-timeout-factor sets, in seconds"},
    {"check-timeout", CLT_OPTION_SECONDS, "60", 0.001, 1e6, AT(check_timeout_s),
     "time limit of the check command, in seconds"},
    CLT_RUN_OPTIONS(clt_command_options, "2"),
    {"warm-up", CLT_OPTION_INT, "0", 0, CLT_MAX_RUNS, AT(warm_up), "runs before the timed ones"},
    {"batch-size", CLT_OPTION_INT, "16", 1, MAX_BATCH, AT(batch_size),
     "maximum configurations per request of the batch protocol"},
    {"memory-limit", CLT_OPTION_INT, "0", 0, 1e9, AT(memory_limit_mib), "memory limit of a process, in MiB; 0: none"},
    {"lock", CLT_OPTION_BOOL, "yes", 0, 0, AT(lock), "keeps other tuners off the machine during timing"},
};

/* --- opening and closing --- */

static void give_up_kept(clt_command_state *s) {
  for (size_t i = 0; i < s->n_kept; i++) clt_evaluation_end(&s->kept[i], NULL);
  free(s->kept);
  s->kept = NULL;
  s->n_kept = 0;
}

static void command_close(void *state) {
  clt_command_state *s = state;
  for (size_t i = 0; s->slots && i < s->n_slots; i++) {
    clt_program_stop(&s->slots[i].process);
    clt_evaluation_end(&s->slots[i].evaluation, NULL);
    free(s->slots[i].folder);
  }
  give_up_kept(s);
  for (size_t i = 0; s->batch.size && s->batch.queue && i < s->n_submitted; i++)
    clt_evaluation_end(&s->batch.queue[i], NULL);
  free(s->batch.queue);
  clt_lock_close(&s->lock);
  clt_run_folder_remove(&s->run);
  free(s->worker_path);
  free(s->slots);
  memset(s, 0, sizeof *s);
}

static int command_open(void *state, const clt_evaluator_setup *setup, const void *given, clt_evaluator_limits *limits,
                        clt_error *error) {
  clt_command_state *s = state;
  const clt_command_options *o = given;
  const clt_command *command = setup->instance ? clt_instance_command(setup->instance) : NULL;
  char key[256];
  clt_device_info host;
  clt_error why = {0};
  if (command == NULL)
    return clt_fail(error, CLT_E_ARGUMENT,
                    "the evaluator 'command' needs a problem file with a \"Command\"; use 'opencl' for kernels");
  if (clt_space_valid(setup->space) == 0)
    return clt_fail(error, CLT_E_NO_VALID,
                    "the space has no valid configuration; relax the constraints of the problem");
  if (command->batch.used && o->parallel > 1)
    return clt_fail(error, CLT_E_ARGUMENT,
                    "option 'parallel' is not allowed with \"Batch\" in the problem file; use 'batch-size'");
  *s = (clt_command_state){.setup = *setup, .command = command, .options = *o, .run = {NULL, -1}, .lock = {.fd = -1}};
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  bool batch = command->batch.used;
  s->overlap = o->parallel > 1 && !batch;
  s->n_slots = 1; /* each has one build under way */
  if (command->n_build > 0 && cores > 0) s->n_slots = clt_min((size_t)cores, MOST_BUILDS);
  if (o->builds) s->n_slots = (size_t)o->builds;
  if (s->overlap) s->n_slots = (size_t)o->parallel;
  if (batch) s->n_slots = 1;
  s->batch.size = s->batch.limit = batch ? (size_t)o->batch_size : 0;
  s->capacity = batch ? s->batch.size : s->n_slots;
  s->slots = clt_new_array(s->n_slots, sizeof *s->slots);
  s->batch.queue = clt_new_array(s->batch.size, sizeof *s->batch.queue);
  int rc =
      s->slots && s->batch.queue ? clt_run_options_policy(&s->policy, &o->runs, setup, error) : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_worker_path(&s->worker_path, error);
  if (rc == CLT_OK) rc = clt_run_folder_new(&s->run, error);
  for (size_t i = 0; rc == CLT_OK && i < s->n_slots; i++) {
    clt_command_slot *slot = &s->slots[i];
    char name[32];
    snprintf(name, sizeof name, "process-%zu", i);
    clt_evaluation_init(&slot->evaluation, s, CLT_CONFIG_NONE, CLT_EVALUATION_NONE);
    slot->evaluation.process = &slot->process;
    snprintf(slot->evaluation.name, sizeof slot->evaluation.name, "scratch-%zu", i);
    rc = clt_run_folder_make(&slot->folder, &s->run, name, error);
  }
  /* Commands with unknown names are reported here, and not once per configuration. */
  clt_config config = batch ? CLT_CONFIG_NONE : clt_space_at(setup->space, 0);
  clt_command_places places = clt_command_places_in(s, s->run.path);
  for (size_t i = 0; rc == CLT_OK && i < clt_command_n_lines(command); i++) {
    char **words = NULL;
    clt_error failure = {0};
    const clt_command_line *line = clt_command_line_at(command, i);
    int tried = line->n ? clt_command_words(setup->instance, line, config, &places, &words, &failure) : CLT_OK;
    clt_words_free(words);
    if (tried == CLT_E_FORMAT || batch) rc = tried; /* otherwise only this configuration may be affected */
    if (rc) clt_fail_as(error, &failure);
  }
  if (rc) {
    command_close(s);
    return rc;
  }
  /* Tuning must be possible without a lock, too. */
  const clt_device_info *device = clt_instance_device(setup->instance);
  if (device == NULL) clt_device_host(&host);
  clt_device_lock_key(device ? device : &host, key, sizeof key);
  if (clt_lock_open(&s->lock, o->lock ? key : NULL, &why))
    clt_log(setup->log, setup->log_user, CLT_LOG_WARNING, "%s", why.message);
  s->lock.waited_s = setup->waited_s;
  *limits = (clt_evaluator_limits){s->capacity, s->capacity};
  return CLT_OK;
}

/* --- processes and the lock --- */

int clt_command_bring_up(clt_command_state *s, clt_command_slot *slot, clt_error *error) {
  const clt_process_setup setup = {
      .path = s->worker_path,
      .folder = slot->folder,
      .memory_limit_bytes = s->options.memory_limit_mib << 20,
      .answers = s->batch.size && s->command->batch.output == NULL ? CLT_ANSWERS_ON_TERMINAL : CLT_ANSWERS_IN_PIPE};
  if (slot->process.alive && clt_process_gone(&slot->process)) clt_program_stop(&slot->process);
  return slot->process.alive ? CLT_OK : clt_program_start(&slot->process, &setup, error);
}

bool clt_command_lock(clt_command_state *s, clt_lock_state wanted) {
  return clt_lock_try(&s->lock, wanted, s->setup.log, s->setup.log_user);
}

/* Tells the caller what takes long: waiting for the device, or the program that has run longest. */
static void tell_waits(const clt_command_state *s) {
  static const char *const doing[] = {[CLT_EVALUATION_BUILDING] = "building",
                                      [CLT_EVALUATION_RUNNING] = "running a program",
                                      [CLT_EVALUATION_CHECKING] = "checking a result"};
  const double now_s = clt_now_s();
  const clt_evaluation *longest = NULL;
  char text[400] = "", time[32], limit[48] = "", owner[300];
  double begun_s = now_s - CLT_MOMENT_S;
  if (s->setup.waits == NULL) return;
  for (size_t i = 0; i < s->n_slots + s->n_kept; i++) {
    const clt_evaluation *e = i < s->n_slots ? &s->slots[i].evaluation : &s->kept[i - s->n_slots];
    if (clt_evaluation_active(e) && e->process->busy && e->process->begun_s < begun_s)
      begun_s = e->process->begun_s, longest = e;
  }
  if (longest && longest->limit_s > 0)
    snprintf(limit, sizeof limit, " (limit %s)", clt_time_text(time, longest->limit_s));
  if (s->lock.wait_s > 0 && s->lock.wait_s < begun_s)
    snprintf(text, sizeof text, "waiting for %lld s for %s", (long long)(now_s - s->lock.wait_s),
             clt_lock_owner(owner, &s->lock));
  else if (longest)
    snprintf(text, sizeof text, "%s for %lld s%s", doing[longest->stage], (long long)(now_s - begun_s), limit);
  if (text[0]) s->setup.waits(s->setup.waits_user, text);
}

static void wait_for_events(clt_command_state *s, double timeout_s) {
  struct pollfd watched[MAX_SLOTS * CLT_PROCESS_WATCHED];
  size_t n = 0;
  for (size_t i = 0; i < s->n_slots; i++) {
    if (!s->slots[i].process.alive) continue;
    clt_process_watch(&s->slots[i].process, watched + n);
    n += CLT_PROCESS_WATCHED;
  }
  if (s->lock.wait_s > 0) timeout_s = fmin(timeout_s, CLT_LOCK_RETRY_S);
  const double jump_s = clt_poll(watched, n, timeout_s);
  for (size_t i = 0; i < s->n_slots; i++) clt_process_jump(&s->slots[i].process, jump_s);
  s->batch.deadline_s += jump_s;
  tell_waits(s);
}

/* --- scheduling: builds in parallel, runs one by one or in parallel --- */

static size_t count_stage(const clt_command_state *s, clt_evaluation_stage stage) {
  size_t n = 0;
  for (size_t i = 0; i < s->n_slots; i++) n += s->slots[i].evaluation.stage == stage;
  return n;
}

static bool is_running(const clt_command_state *s) {
  return count_stage(s, CLT_EVALUATION_RUNNING) + count_stage(s, CLT_EVALUATION_CHECKING) > 0;
}

static int begin_waiting(clt_command_state *s, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < s->n_slots; i++) {
    if (s->slots[i].evaluation.stage != CLT_EVALUATION_WAITING) continue;
    rc = clt_command_bring_up(s, &s->slots[i], error);
    if (rc == CLT_OK) rc = clt_evaluation_begin(&s->slots[i].evaluation, error);
  }
  return rc;
}

static int run_built(clt_command_state *s, size_t most, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < s->n_slots && most > 0; i++) {
    if (s->slots[i].evaluation.stage != CLT_EVALUATION_BUILT) continue;
    rc = clt_evaluation_run(&s->slots[i].evaluation, error);
    most--;
  }
  return rc;
}

/* Processes an evaluation's events. If its worker process was lost, it begins once more, unless that has happened
 * before or it is a finalist. */
static int poll_evaluation(clt_command_state *s, clt_command_slot *slot, clt_evaluation *e, clt_error *error) {
  clt_error why = {0};
  if (s->setup.steps && clt_evaluation_active(e)) __atomic_add_fetch(s->setup.steps, 1, __ATOMIC_RELAXED);
  int rc = clt_evaluation_poll(e, &why);
  if (rc != CLT_E_WORKER) return rc ? clt_fail_as(error, &why) : CLT_OK;
  clt_program_stop(&slot->process);
  bool over = e->single || e->lost++ > 0;
  if (over) {
    clt_measurement_fail(&e->measurement, CLT_REASON_RUN_CRASH, why.message);
    e->stage = CLT_EVALUATION_DONE;
  }
  rc = over || s->setup.lost == NULL ? CLT_OK : s->setup.lost(s->setup.attempts_user, e->config, error);
  if (!over) clt_evaluation_end(e, NULL);
  if (rc == CLT_OK) rc = clt_command_bring_up(s, slot, error);
  return rc || over ? rc : clt_evaluation_begin(e, error);
}

/* If runs are exclusive, first all slots build. Then the built ones run one after the other, while nothing is built
 * and the caller has no result to process. */
static int take_turn(clt_command_state *s, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < s->n_slots; i++)
    rc = poll_evaluation(s, &s->slots[i], &s->slots[i].evaluation, error);
  if (rc == CLT_OK && s->overlap && clt_command_lock(s, CLT_LOCK_SHARED)) {
    rc = begin_waiting(s, error);
    if (rc == CLT_OK) rc = run_built(s, s->n_slots, error);
  } else if (rc == CLT_OK && !s->overlap && !is_running(s)) {
    bool waiting = count_stage(s, CLT_EVALUATION_WAITING) > 0;
    if (!s->timing && waiting && clt_command_lock(s, CLT_LOCK_SHARED)) rc = begin_waiting(s, error);
    if (rc == CLT_OK && count_stage(s, CLT_EVALUATION_BUILDING) == 0) {
      s->timing = count_stage(s, CLT_EVALUATION_BUILT) > 0;
      bool idle = count_stage(s, CLT_EVALUATION_DONE) == 0;
      if (s->timing && idle && clt_command_lock(s, CLT_LOCK_EXCLUSIVE)) rc = run_built(s, 1, error);
    }
  }
  if (rc == CLT_OK && count_stage(s, CLT_EVALUATION_NONE) + count_stage(s, CLT_EVALUATION_DONE) == s->n_slots)
    clt_command_lock(s, CLT_UNLOCKED);
  return rc;
}

/* --- submitting and waiting --- */

static int command_submit(void *state, clt_config config, double best_cost, clt_error *error) {
  clt_command_state *s = state;
  int rc = clt_check_submitted(s->n_submitted, s->capacity, error);
  if (rc) return rc;
  give_up_kept(s);
  s->n_submitted++;
  if (s->batch.size) {
    clt_evaluation_init(&s->batch.queue[s->n_submitted - 1], s, config, CLT_EVALUATION_BUILT);
    s->batch.best_cost = best_cost;
    return CLT_OK;
  }
  clt_command_slot *slot = s->slots; /* there is a free slot, as n_submitted < capacity */
  while (slot->evaluation.stage != CLT_EVALUATION_NONE) slot++;
  slot->evaluation.config = config;
  slot->evaluation.best_cost = best_cost;
  slot->evaluation.stage = CLT_EVALUATION_WAITING;
  return CLT_OK;
}

static int command_wait(void *state, clt_measurement *out, double timeout_s, clt_error *error) {
  clt_command_state *s = state;
  double until_s = clt_now_s() + timeout_s;
  if (s->n_submitted == 0) return CLT_E_AGAIN;
  for (;;) {
    int rc = s->batch.size ? clt_batch_turn(s, error) : take_turn(s, error);
    if (rc) return rc;
    for (size_t i = 0; s->batch.size && i < s->n_submitted; i++) {
      clt_evaluation *e = &s->batch.queue[i];
      if (e->stage != CLT_EVALUATION_DONE) continue;
      clt_evaluation_end(e, out);
      memmove(e, e + 1, (--s->n_submitted - i) * sizeof *e);
      return CLT_OK;
    }
    /* No result is returned during exclusive runs, because the caller would disturb them. */
    for (clt_command_slot *slot = s->slots; (s->overlap || !is_running(s)) && slot < s->slots + s->n_slots; slot++) {
      if (slot->evaluation.stage != CLT_EVALUATION_DONE) continue;
      clt_evaluation_end(&slot->evaluation, out);
      clt_remove_tree(slot->folder, true); /* the temporary files of its programs */
      slot->evaluation.lost = 0;
      s->n_submitted--;
      return CLT_OK;
    }
    double left_s = until_s - clt_now_s();
    if (left_s <= 0) return CLT_E_AGAIN;
    wait_for_events(s, left_s);
  }
}

/* --- finalists: built in folders of their own, which stay --- */

/* Waits for events, for at most STOP_S. */
static int wait_or_stop(clt_command_state *s, clt_error *error) {
  int rc = clt_check_stop(s->setup.stop, error);
  if (rc == CLT_OK) wait_for_events(s, STOP_S);
  return rc;
}

static int await_lock(clt_command_state *s, clt_lock_state wanted, clt_error *error) {
  int rc = CLT_OK;
  while (rc == CLT_OK && !clt_command_lock(s, wanted)) rc = wait_or_stop(s, error);
  return rc;
}

/* Waits until the evaluation is BUILT, or DONE because it failed. */
static int await_evaluation(clt_command_state *s, clt_evaluation *e, clt_error *error) {
  int rc = CLT_OK;
  while (rc == CLT_OK && clt_evaluation_active(e)) {
    rc = wait_or_stop(s, error);
    if (rc == CLT_OK) rc = poll_evaluation(s, &s->slots[0], e, error);
  }
  return rc;
}

/* Ends a call that prepared or timed finalists. After an error, a running program is stopped. */
static int finish_kept(clt_command_state *s, int rc) {
  if (rc) clt_program_stop(&s->slots[0].process);
  if (rc) give_up_kept(s);
  clt_command_lock(s, CLT_UNLOCKED);
  return rc;
}

static int command_keep(void *state, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error) {
  clt_command_state *s = state;
  int rc = clt_check_finalists(s->n_submitted, error);
  if (rc) return rc;
  clt_evaluation *list = clt_new_array(n, sizeof *list);
  if (list == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    clt_evaluation_init(&list[i], s, configs[i], CLT_EVALUATION_NONE);
    list[i].process = &s->slots[0].process;
    list[i].single = true;
    for (size_t k = 0; k < s->n_kept; k++) {
      if (s->kept[k].config != configs[i] || s->kept[k].stage != CLT_EVALUATION_BUILT) continue;
      list[i] = s->kept[k];
      clt_evaluation_init(&s->kept[k], s, CLT_CONFIG_NONE, CLT_EVALUATION_NONE);
    }
  }
  give_up_kept(s);
  s->kept = list;
  s->n_kept = n;
  /* With the batch protocol, the program is built once with the first batch, so there is nothing to prepare. */
  bool builds = s->batch.size == 0;
  if (builds) rc = await_lock(s, CLT_LOCK_SHARED, error);
  if (rc == CLT_OK && builds) rc = clt_command_bring_up(s, &s->slots[0], error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_evaluation *e = &list[i];
    if (builds && e->stage == CLT_EVALUATION_NONE) {
      snprintf(e->name, sizeof e->name, "finalist-%zu", s->n_named++);
      rc = clt_evaluation_begin(e, error);
      if (rc == CLT_OK) rc = await_evaluation(s, e, error);
    }
    if (rc == CLT_OK) rc = clt_measurement_copy(&out[i], &e->measurement, error);
  }
  return finish_kept(s, rc);
}

/* With the batch protocol: asks for each finalist once more, and returns the answers. */
static int time_batch_again(clt_command_state *s, const size_t *indices, size_t n, clt_measurement *out,
                            clt_error *error) {
  size_t n_queued = 0;
  int rc = CLT_OK;
  for (size_t i = 0; i < n; i++) out[i].config = CLT_CONFIG_NONE;
  for (size_t n_got = 0; rc == CLT_OK && n_got < n;) {
    clt_measurement got;
    for (; n_queued < n && s->n_submitted < s->capacity; s->n_submitted++) {
      s->batch.queue[s->n_submitted] = s->kept[indices[n_queued++]];
      s->batch.queue[s->n_submitted].stage = CLT_EVALUATION_BUILT;
    }
    rc = clt_check_stop(s->setup.stop, error);
    if (rc == CLT_OK) rc = command_wait(s, &got, STOP_S, error);
    if (rc == CLT_E_AGAIN) rc = CLT_OK, got.config = CLT_CONFIG_NONE;
    if (rc || got.config == CLT_CONFIG_NONE) continue;
    size_t i = 0;
    while (s->kept[indices[i]].config != got.config || out[i].config != CLT_CONFIG_NONE) i++;
    out[i] = got;
    n_got++;
  }
  if (rc == CLT_OK) return CLT_OK;
  clt_evaluation_end(&s->slots[0].evaluation, NULL);
  while (s->n_submitted > 0) clt_evaluation_end(&s->batch.queue[--s->n_submitted], NULL);
  return rc;
}

/* Makes one run of each, because each run starts a program. */
static int command_time_again(void *state, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                              clt_error *error) {
  clt_command_state *s = state;
  int rc = clt_check_indices(indices, n, s->n_kept, error);
  if (rc) return rc;
  if (s->batch.size) return finish_kept(s, time_batch_again(s, indices, n, out, error));
  rc = await_lock(s, CLT_LOCK_EXCLUSIVE, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_evaluation *e = &s->kept[indices[i]];
    if (e->stage == CLT_EVALUATION_BUILT) {
      e->measurement.n_runs = 0;
      e->measurement.phases = (clt_phases){0};
      rc = clt_evaluation_run(e, error);
      if (rc == CLT_OK) rc = await_evaluation(s, e, error);
    }
    if (rc == CLT_OK) rc = clt_measurement_copy(&out[i], &e->measurement, error);
  }
  return finish_kept(s, rc);
}

const clt_evaluator_type clt_evaluator_command = {
    CLT_EVALUATOR(options, clt_command_options, clt_command_state),
    .name = "command",
    .summary = "builds and runs programs, each configuration in a folder of its own",
    .measures_device = true,
    .open = command_open,
    .submit = command_submit,
    .wait = command_wait,
    .keep = command_keep,
    .time_again = command_time_again,
    .close = command_close,
};
