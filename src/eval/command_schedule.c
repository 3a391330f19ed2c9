/* What is begun when: builds side by side, runs one by one, or everything at once. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "eval/command.h"

int clt_command_bring_up(clt_command_state *s, clt_command_slot *slot, clt_error *error) {
  const clt_program_setup setup = {.worker_path = s->context.worker_path,
                                   .folder = slot->folder,
                                   .memory_limit_bytes = s->context.memory_limit_bytes,
                                   .terminal = s->batch.size && s->context.command->batch.output == NULL};
  if (slot->program.process.alive && clt_process_gone(&slot->program.process)) clt_program_stop(&slot->program);
  return slot->program.process.alive ? CLT_OK : clt_program_start(&slot->program, &setup, error);
}

bool clt_command_lock(clt_command_state *s, clt_lock_state wanted) {
  return clt_lock_try(&s->lock, wanted, s->setup.log, s->setup.log_user);
}

void clt_command_put_result(clt_command_state *s, clt_measurement *m) {
  s->results[s->n_results++] = *m;
  clt_measurement_init(m, CLT_CONFIG_NONE);
}

void clt_command_wait_for_events(clt_command_state *s, double timeout_s) {
  struct pollfd watched[CLT_COMMAND_MAX_SLOTS * CLT_PROGRAM_WATCHED];
  size_t n = 0;
  for (size_t i = 0; i < s->n_slots; i++) {
    if (!s->slots[i].program.process.alive) continue;
    clt_program_watch(&s->slots[i].program, watched + n);
    n += CLT_PROGRAM_WATCHED;
  }
  if (s->lock.wait_s > 0) timeout_s = fmin(timeout_s, CLT_LOCK_RETRY_S);
  poll(watched, n, (int)ceil(fmin(timeout_s, 60) * 1e3));
}

int clt_command_lost(clt_command_state *s, clt_command_slot *slot, const clt_error *why, clt_error *error) {
  clt_evaluation *e = &slot->evaluation;
  clt_config config = e->config;
  double best_s = e->best_s;
  int rc = CLT_OK;
  clt_program_stop(&slot->program);
  if (e->lost++ == 0) {
    if (s->setup.lost) rc = s->setup.lost(s->setup.attempts_user, config, error);
    clt_evaluation_end(e, NULL);
    if (rc == 0) rc = clt_command_bring_up(s, slot, error);
    return rc ? rc : clt_evaluation_begin(e, config, best_s, error);
  }
  clt_measurement_fail(&e->measurement, CLT_REASON_RUN_CRASH, why->message);
  e->stage = CLT_EVALUATION_DONE;
  return CLT_OK;
}

/* The temporary files of its programs go with the scratch folder. */
static void settle(clt_command_state *s, clt_command_slot *slot) {
  clt_measurement m;
  if (slot->evaluation.stage != CLT_EVALUATION_DONE) return;
  clt_evaluation_end(&slot->evaluation, &m);
  slot->evaluation.lost = 0;
  clt_remove_tree(slot->folder, true);
  clt_command_put_result(s, &m);
}

static int take_events(clt_command_state *s, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == 0 && i < s->n_slots; i++) {
    clt_command_slot *slot = &s->slots[i];
    clt_error why = {0};
    rc = clt_evaluation_poll(&slot->evaluation, &why);
    if (rc == CLT_E_WORKER)
      rc = clt_command_lost(s, slot, &why, error);
    else if (rc && error && error->code == 0)
      *error = why;
    settle(s, slot);
  }
  return rc;
}

static size_t count(const clt_command_state *s, clt_evaluation_stage stage) {
  size_t n = 0;
  for (size_t i = 0; i < s->n_slots; i++) n += s->slots[i].evaluation.stage == stage;
  return n;
}

static int begin_next(clt_command_state *s, clt_command_slot *slot, clt_error *error) {
  clt_command_job job = s->queue[0];
  s->n_queue--;
  memmove(s->queue, s->queue + 1, s->n_queue * sizeof *s->queue);
  int rc = clt_command_bring_up(s, slot, error);
  return rc ? rc : clt_evaluation_begin(&slot->evaluation, job.config, job.best_s, error);
}

static int fill(clt_command_state *s, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == 0 && i < s->n_slots && s->n_queue > 0; i++)
    if (s->slots[i].evaluation.stage == CLT_EVALUATION_NONE) rc = begin_next(s, &s->slots[i], error);
  return rc;
}

static int run_built(clt_command_state *s, size_t most, clt_error *error) {
  int rc = CLT_OK;
  for (size_t i = 0; rc == 0 && i < s->n_slots && most > 0; i++) {
    if (s->slots[i].evaluation.stage != CLT_EVALUATION_BUILT) continue;
    rc = clt_evaluation_run(&s->slots[i].evaluation, error);
    most--;
  }
  return rc;
}

static bool idle(const clt_command_state *s) { return s->n_queue == 0 && count(s, CLT_EVALUATION_NONE) == s->n_slots; }

static int schedule_overlapping(clt_command_state *s, clt_error *error) {
  if (!clt_command_lock(s, CLT_LOCK_SHARED)) return CLT_OK;
  int rc = fill(s, error);
  return rc ? rc : run_built(s, s->n_slots, error);
}

/* First everybody builds until nobody can any more, then all that is built is run, one after the other, while nothing
 * is built and the caller has no result to be busy with. */
static int schedule_exclusive(clt_command_state *s, clt_error *error) {
  if (count(s, CLT_EVALUATION_RUNNING) + count(s, CLT_EVALUATION_CHECKING) > 0) return CLT_OK;
  if (!s->timing && s->n_queue > 0 && clt_command_lock(s, CLT_LOCK_SHARED)) {
    int rc = fill(s, error);
    if (rc) return rc;
  }
  if (count(s, CLT_EVALUATION_BUILDING) > 0) return CLT_OK;
  s->timing = count(s, CLT_EVALUATION_BUILT) > 0;
  if (!s->timing || s->n_results > 0 || !clt_command_lock(s, CLT_LOCK_EXCLUSIVE)) return CLT_OK;
  return run_built(s, 1, error);
}

int clt_command_turn(clt_command_state *s, clt_error *error) {
  int rc = take_events(s, error);
  if (rc == 0) rc = s->overlap ? schedule_overlapping(s, error) : schedule_exclusive(s, error);
  if (rc == 0 && idle(s)) clt_command_lock(s, CLT_UNLOCKED);
  /* What failed before a program ran has no event to come. */
  for (size_t i = 0; rc == 0 && i < s->n_slots; i++) settle(s, &s->slots[i]);
  return rc;
}
