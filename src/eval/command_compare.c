/* Finalists: built side by side in folders of their own, then run in interleaved rounds. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "eval/command.h"
#include "eval/rounds.h"

#define WAIT_S 0.1

typedef struct contest {
  clt_command_state *s;
  const clt_compare_policy *policy;
  clt_evaluation *evaluations;
  clt_runs *runs;
  size_t n;
} contest;

static bool is_out(const contest *c, size_t i) { return c->evaluations[i].stage == CLT_EVALUATION_DONE; }

/* Until it is BUILT, or DONE because it failed. */
static int await(contest *c, clt_evaluation *e, clt_error *error) {
  clt_command_slot *slot = &c->s->slots[0];
  int rc = CLT_OK;
  while (rc == 0 && clt_evaluation_active(e)) {
    clt_error why = {0};
    if (clt_stop_asked(c->policy->stop)) return clt_fail(error, CLT_E_STOPPED, "stopped among the finalists");
    clt_command_wait_for_events(c->s, WAIT_S);
    rc = clt_evaluation_poll(e, &why);
    if (rc == CLT_E_WORKER) {
      clt_program_stop(&slot->program);
      clt_measurement_fail(&e->measurement, CLT_REASON_RUN_CRASH, why.message);
      e->stage = CLT_EVALUATION_DONE;
      rc = clt_command_bring_up(c->s, slot, error);
    } else if (rc && error && error->code == 0) {
      *error = why;
    }
  }
  return rc;
}

static int await_lock(contest *c, clt_lock_state wanted, clt_error *error) {
  while (!clt_command_lock(c->s, wanted)) {
    if (clt_stop_asked(c->policy->stop)) return clt_fail(error, CLT_E_STOPPED, "stopped among the finalists");
    clt_command_wait_for_events(c->s, WAIT_S);
  }
  return CLT_OK;
}

static int build_all(contest *c, const clt_config *configs, clt_error *error) {
  clt_command_slot *slot = &c->s->slots[0];
  int rc = await_lock(c, CLT_LOCK_SHARED, error);
  if (rc == 0) rc = clt_command_bring_up(c->s, slot, error);
  for (size_t i = 0; rc == 0 && i < c->n; i++) {
    clt_evaluation *e = &c->evaluations[i];
    *e = (clt_evaluation){.context = &c->s->context, .program = &slot->program, .single = true};
    clt_measurement_init(&e->measurement, configs[i]);
    snprintf(e->name, sizeof e->name, "finalist-%zu", i);
    rc = clt_evaluation_begin(e, configs[i], 0, error);
    if (rc == 0) rc = await(c, e, error);
  }
  return rc;
}

static int keep_run(contest *c, size_t i, clt_error *error) {
  const clt_measurement *m = &c->evaluations[i].measurement;
  return clt_runs_add(&c->runs[i], m->runs_s[m->n_runs - 1]) ? clt_fail_memory(error) : CLT_OK;
}

static int run_round(void *user, clt_error *error) {
  contest *c = user;
  int rc = await_lock(c, CLT_LOCK_EXCLUSIVE, error);
  for (size_t i = 0; rc == 0 && i < c->n; i++) {
    if (is_out(c, i) || c->runs[i].beaten) continue;
    rc = clt_evaluation_run(&c->evaluations[i], error);
    if (rc == 0) rc = await(c, &c->evaluations[i], error);
    c->runs[i].out = is_out(c, i);
    if (rc == 0 && !c->runs[i].out) rc = keep_run(c, i, error);
  }
  clt_command_lock(c->s, CLT_UNLOCKED);
  return rc;
}

static void take_result(contest *c, size_t i, clt_measurement *out) {
  clt_evaluation_stage stage = c->evaluations[i].stage;
  clt_evaluation_end(&c->evaluations[i], out);
  if (stage != CLT_EVALUATION_DONE && c->runs[i].n > 0) clt_rounds_take(out, c->runs[i].runs_s, c->runs[i].n);
}

static void release(contest *c) {
  for (size_t i = 0; i < c->n; i++) {
    if (c->evaluations) clt_evaluation_end(&c->evaluations[i], NULL);
    if (c->runs) clt_runs_release(&c->runs[i]);
  }
  free(c->evaluations);
  free(c->runs);
}

int clt_command_compare(clt_command_state *s, const clt_config *configs, size_t n, const clt_compare_policy *policy,
                        clt_measurement *out, clt_error *error) {
  contest c = {.s = s,
               .policy = policy,
               .evaluations = clt_new_array(n, sizeof *c.evaluations),
               .runs = clt_new_array(n, sizeof *c.runs),
               .n = n};
  int rc = c.evaluations && c.runs ? build_all(&c, configs, error) : clt_fail_memory(error);
  for (size_t i = 0; rc == 0 && i < n; i++) c.runs[i].out = is_out(&c, i);
  if (rc == 0) rc = clt_rounds_run(policy, c.runs, n, run_round, &c, error);
  for (size_t i = 0; rc == 0 && i < n; i++) take_result(&c, i, &out[i]);
  if (rc) clt_program_stop(&s->slots[0].program); /* what it runs is of no interest any more */
  clt_command_lock(s, CLT_UNLOCKED);
  release(&c);
  return rc;
}
