/* Finalists: built side by side in folders of their own, then run in interleaved rounds. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/stop.h"
#include "eval/command.h"
#include "eval/rounds.h"

#define WAIT_S 0.1

typedef struct contest {
  clt_command_state *s;
  const clt_compare_policy *policy;
  clt_evaluation *evaluations;
  double **runs; /* n_runs of each */
  size_t *n_runs, *capacities;
  bool *beaten;
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
  clt_measurement *m = &c->evaluations[i].measurement;
  if (clt_grow(&c->runs[i], &c->capacities[i], c->n_runs[i] + 1, sizeof **c->runs)) return clt_fail_memory(error);
  c->runs[i][c->n_runs[i]++] = m->runs_s[m->n_runs - 1];
  return CLT_OK;
}

static int run_round(contest *c, clt_error *error) {
  int rc = await_lock(c, CLT_LOCK_EXCLUSIVE, error);
  for (size_t i = 0; rc == 0 && i < c->n; i++) {
    if (is_out(c, i) || c->beaten[i]) continue;
    rc = clt_evaluation_run(&c->evaluations[i], error);
    if (rc == 0) rc = await(c, &c->evaluations[i], error);
    if (rc == 0 && !is_out(c, i)) rc = keep_run(c, i, error);
  }
  clt_command_lock(c->s, CLT_UNLOCKED);
  return rc;
}

static bool decided(contest *c) {
  clt_contender *contenders = clt_new_array(c->n, sizeof *contenders);
  clt_standing *standings = clt_new_array(c->n, sizeof *standings);
  bool yes = false;
  if (contenders && standings) {
    for (size_t i = 0; i < c->n; i++) contenders[i] = (clt_contender){is_out(c, i) ? NULL : c->runs[i], c->n_runs[i]};
    yes = clt_rounds_judge(contenders, c->n, c->policy->tolerance, standings);
    for (size_t i = 0; i < c->n; i++) c->beaten[i] = standings[i] == CLT_STANDING_BEATEN;
  }
  free(contenders);
  free(standings);
  return yes;
}

static int run_rounds(contest *c, clt_error *error) {
  double begin_s = clt_now_s();
  for (size_t done = 1; done <= c->policy->max_rounds; done++) {
    int rc = run_round(c, error);
    if (rc) return rc;
    if (c->policy->max_total_s > 0 && clt_now_s() - begin_s > c->policy->max_total_s) break;
    if (done >= c->policy->min_rounds && decided(c)) break;
  }
  return CLT_OK;
}

static void take_result(contest *c, size_t i, clt_measurement *out) {
  clt_evaluation_stage stage = c->evaluations[i].stage;
  clt_evaluation_end(&c->evaluations[i], out);
  if (stage != CLT_EVALUATION_DONE && c->n_runs[i] > 0) clt_rounds_take(out, c->runs[i], c->n_runs[i]);
}

static void release(contest *c) {
  for (size_t i = 0; i < c->n; i++) {
    if (c->evaluations) clt_evaluation_end(&c->evaluations[i], NULL);
    if (c->runs) free(c->runs[i]);
  }
  free(c->evaluations);
  free(c->runs);
  free(c->n_runs);
  free(c->capacities);
  free(c->beaten);
}

int clt_command_compare(clt_command_state *s, const clt_config *configs, size_t n, const clt_compare_policy *policy,
                        clt_measurement *out, clt_error *error) {
  contest c = {.s = s,
               .policy = policy,
               .evaluations = clt_new_array(n, sizeof *c.evaluations),
               .runs = clt_new_array(n, sizeof *c.runs),
               .n_runs = clt_new_array(n, sizeof *c.n_runs),
               .capacities = clt_new_array(n, sizeof *c.capacities),
               .beaten = clt_new_array(n, sizeof *c.beaten),
               .n = n};
  bool made = c.evaluations && c.runs && c.n_runs && c.capacities && c.beaten;
  int rc = made ? build_all(&c, configs, error) : clt_fail_memory(error);
  if (rc == 0) rc = run_rounds(&c, error);
  for (size_t i = 0; rc == 0 && i < n; i++) take_result(&c, i, &out[i]);
  if (rc) clt_program_stop(&s->slots[0].program); /* what it runs is of no interest any more */
  clt_command_lock(s, CLT_UNLOCKED);
  release(&c);
  return rc;
}
