/* Finalists: built in folders of their own, which stay, and run again when the caller says so. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "eval/command.h"

#define WAIT_S 0.1

void clt_command_give_up_kept(clt_command_state *s) {
  for (size_t i = 0; i < s->n_kept; i++) clt_evaluation_end(&s->kept[i], NULL);
  free(s->kept);
  s->kept = NULL;
  s->n_kept = 0;
}

/* Until it is BUILT, or DONE because it failed. */
static int await_evaluation(clt_command_state *s, clt_evaluation *e, clt_error *error) {
  int rc = CLT_OK;
  while (rc == 0 && clt_evaluation_active(e)) {
    clt_error why = {0};
    if (clt_stop_asked(s->setup.stop)) return clt_fail(error, CLT_E_STOPPED, "stopped among the finalists");
    clt_command_wait_for_events(s, WAIT_S);
    rc = clt_evaluation_poll(e, &why);
    if (rc == CLT_E_WORKER) {
      clt_program_stop(&s->slots[0].program);
      clt_measurement_fail(&e->measurement, CLT_REASON_RUN_CRASH, why.message);
      e->stage = CLT_EVALUATION_DONE;
      rc = clt_command_bring_up(s, &s->slots[0], error);
    } else if (rc && error && error->code == 0) {
      *error = why;
    }
  }
  return rc;
}

static int await_lock(clt_command_state *s, clt_lock_state wanted, clt_error *error) {
  while (!clt_command_lock(s, wanted)) {
    if (clt_stop_asked(s->setup.stop)) return clt_fail(error, CLT_E_STOPPED, "stopped among the finalists");
    clt_command_wait_for_events(s, WAIT_S);
  }
  return CLT_OK;
}

/* What runs is of no interest any more. */
static int give_up(clt_command_state *s, clt_measurement *out, size_t n_filled, int rc) {
  while (n_filled > 0) clt_measurement_release(&out[--n_filled]);
  clt_program_stop(&s->slots[0].program);
  clt_command_give_up_kept(s);
  clt_command_lock(s, CLT_UNLOCKED);
  return rc;
}

int clt_command_keep(clt_command_state *s, const clt_config *configs, size_t n, clt_measurement *out,
                     clt_error *error) {
  clt_command_slot *slot = &s->slots[0];
  clt_evaluation *list = clt_new_array(n, sizeof *list);
  size_t n_filled = 0;
  if (list == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    list[i] = (clt_evaluation){.context = &s->context, .program = &slot->program, .single = true};
    clt_measurement_init(&list[i].measurement, configs[i]);
    for (size_t k = 0; k < s->n_kept; k++) {
      if (s->kept[k].config != configs[i] || s->kept[k].stage != CLT_EVALUATION_BUILT) continue;
      list[i] = s->kept[k];
      s->kept[k] = (clt_evaluation){.config = CLT_CONFIG_NONE};
      clt_measurement_init(&s->kept[k].measurement, CLT_CONFIG_NONE);
    }
  }
  clt_command_give_up_kept(s);
  s->kept = list;
  s->n_kept = n;
  int rc = await_lock(s, CLT_LOCK_SHARED, error);
  if (rc == 0) rc = clt_command_bring_up(s, slot, error);
  for (size_t i = 0; rc == 0 && i < n; i++) {
    clt_evaluation *e = &list[i];
    if (e->stage == CLT_EVALUATION_NONE) {
      snprintf(e->name, sizeof e->name, "finalist-%zu", s->n_named++);
      rc = clt_evaluation_begin(e, configs[i], 0, error);
      if (rc == 0) rc = await_evaluation(s, e, error);
    }
    if (rc == 0) rc = clt_measurement_copy(&out[i], &e->measurement, error);
    n_filled += rc == 0;
  }
  if (rc) return give_up(s, out, n_filled, rc);
  clt_command_lock(s, CLT_UNLOCKED);
  return CLT_OK;
}

int clt_command_time_again(clt_command_state *s, const size_t *indices, size_t n, clt_measurement *out,
                           clt_error *error) {
  size_t n_filled = 0;
  int rc = await_lock(s, CLT_LOCK_EXCLUSIVE, error);
  for (size_t i = 0; rc == 0 && i < n; i++) {
    clt_evaluation *e = &s->kept[indices[i]];
    if (e->stage == CLT_EVALUATION_BUILT) {
      e->measurement.n_runs = 0;
      e->measurement.phases = (clt_phases){0};
      rc = clt_evaluation_run(e, error);
      if (rc == 0) rc = await_evaluation(s, e, error);
    }
    if (rc == 0) rc = clt_measurement_copy(&out[i], &e->measurement, error);
    n_filled += rc == 0;
  }
  if (rc) return give_up(s, out, n_filled, rc);
  clt_command_lock(s, CLT_UNLOCKED);
  return CLT_OK;
}
