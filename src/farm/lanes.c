/* The lanes of an agent: they take tunings from the queue in the database (farm/queue.h) and store their measurements
 * in the agent's own file, the outbox. */
#include "farm/agent.h"

#include "base/base.h"
#include "device/device.h"

#define RETRY_S 1.0 /* until an unreachable server is tried again */
#define WAITS_S 10  /* between two checks of other agents' progress */

/* --- the server --- */

bool farm_is_away(farm_agent *f) {
  if (f->away && clt_now_s() >= f->retry_s) f->away = false;
  return f->away;
}

/* Handles a call's result. A refusal by the server may be temporary, so it is a warning, printed once, and the agent
 * continues. */
int farm_note(farm_agent *f, int rc, clt_error *error) {
  if (rc == CLT_OK && f->said_away && !f->options->quiet) fprintf(stderr, "clatune: the server is reachable again\n");
  if (rc == CLT_OK) f->said_away = false;
  if (rc == CLT_OK || rc == CLT_E_MEMORY) return rc;
  if (!f->said_away && error->message[0])
    fprintf(stderr, "clatune: warning: %s; running tunings continue, their results are sent later\n", error->message);
  f->said_away = f->away = true;
  f->retry_s = clt_now_s() + RETRY_S;
  return rc;
}

/* --- taking tunings --- */

static void begin_lane(void *user, farm_lane *lane) {
  farm_agent *f = user;
  farm_agent_lane *l = &f->lanes[lane->index];
  pthread_mutex_lock(&f->lock);
  l->lane = lane;
  l->lost = SIZE_MAX;
  lane->stop = &l->stop;
  if (lane->index >= f->n_lanes) f->n_lanes = lane->index + 1;
  pthread_mutex_unlock(&f->lock);
}

static void end_lanes(void *user) {
  farm_agent *f = user;
  pthread_mutex_lock(&f->lock);
  for (size_t i = 0; i < f->n_lanes; i++) f->lanes[i].lane = NULL;
  pthread_mutex_unlock(&f->lock);
}

/* The CPU's lane runs only while no other lane does, nor reads a plan: that would disturb its measurements, as would
 * the compilers and searchers. At most --jobs lanes run at once. */
static bool is_its_turn(const farm_agent *f, const farm_agent_lane *l) {
  int64_t n_works = 0;
  bool turn = !(f->reads && l->lane->alone);
  for (const farm_agent_lane *o = f->lanes; o < f->lanes + f->n_lanes; o++) {
    if (o == l || o->lane == NULL) continue;
    n_works += o->works;
    if (l->lane->alone ? !o->idle : o->works && o->lane->alone) turn = false;
  }
  return turn && (f->options->jobs == 0 || n_works < f->options->jobs);
}

static bool is_of_lane(const farm_agent_lane *l, size_t device) {
  return device != l->lost && l->lane->lane_of[device] == l->lane->index;
}

/* The plan and the device of a target. */
static farm_agent_plan *find_target(const farm_agent *f, const farm_agent_lane *l, int64_t target, size_t *device) {
  for (size_t i = 0; i < f->n_plans; i++)
    for (*device = 0; *device < f->sweep->n_devices; ++*device)
      if (f->plans[i]->id && f->plans[i]->targets[*device] == target && is_of_lane(l, *device)) return f->plans[i];
  return NULL;
}

static int take_row(farm_agent *f, farm_agent_lane *l, bool *found, clt_error *error) {
  size_t n = 0;
  int64_t *targets = clt_new_array(f->n_plans * f->sweep->n_devices, sizeof *targets);
  *found = false;
  if (targets == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < f->n_plans; i++)
    for (size_t d = 0; d < f->sweep->n_devices; d++)
      if (f->plans[i]->id && f->plans[i]->targets[d] && is_of_lane(l, d)) targets[n++] = f->plans[i]->targets[d];
  int rc = n ? clt_queue_claim(f->pq, &l->claim, found, clt_pq_agent(f->pq), targets, n, error) : CLT_OK;
  free(targets);
  return rc;
}

/* If the plan has no target here: warns which of its devices are missing. */
static void say_missing(const farm_agent *f) {
  const clt_sweep *plan = f->sweep->plan;
  size_t n, *indices = calloc(f->sweep->n_devices + 1, sizeof *indices);
  for (size_t k = 0; indices && k < plan->n_devices; k++) {
    clt_error why = {0};
    if (clt_device_select_all(indices, &n, f->sweep->devices, f->sweep->n_devices, plan->devices[k], true, &why))
      fprintf(stderr, "clatune: warning: %s\n", why.message);
  }
  free(indices);
}

/* Prints the agent's reason for waiting, whenever that changes. */
static int say_waits(farm_agent *f, clt_error *error) {
  json_t *status = NULL;
  const json_t *running, *row = NULL;
  const char *why = "this machine has none of the plan's devices";
  char what[sizeof f->waits_for] = "other agents", *text;
  bool is_here = false;
  if (f->options->quiet || clt_now_s() < f->waits_s) return CLT_OK;
  int rc = clt_queue_status(f->pq, &status, f->plans[0]->id, error);
  if (rc) return rc;
  f->waits_s = clt_now_s() + WAITS_S;
  for (size_t d = 0; d < f->sweep->n_devices; d++) is_here = is_here || f->plans[0]->targets[d];
  running = json_object_get(status, "running");
  for (size_t i = 0; i < json_array_size(running); i++) { /* the oldest tuning of another agent */
    row = json_array_get(running, i);
    if (strcmp(clt_json_string(row, "agent"), clt_pq_agent(f->pq)) != 0) break;
    row = NULL;
  }
  if (row) snprintf(what, sizeof what, "%s: %s", clt_json_string(row, "agent"), clt_json_string(row, "tuning"));
  if ((row || json_array_size(running) == 0) && strcmp(what, f->waits_for) != 0) {
    if (!is_here && f->waits_for[0] == '\0') say_missing(f);
    text = row ? farm_row_text(row, clt_pq_user(f->pq)) : NULL;
    if (is_here) why = "nothing left to start here";
    fprintf(stderr, "clatune: %s; waiting for %s\n", why, text ? text : what);
    free(text);
    memcpy(f->waits_for, what, sizeof what);
  }
  json_decref(status);
  return CLT_OK;
}

/* Called when no tuning is open for a lane. */
int farm_look_for_end(farm_agent *f, clt_error *error) {
  bool goes_on = true;
  int rc = clt_queue_expire(f->pq, error);
  if (rc || f->text == NULL || f->connection != clt_pq_connection(f->pq) || !farm_is_joined(f, f->plans[0])) return rc;
  rc = clt_queue_reject(f->pq, f->plans[0]->id, error);
  if (rc == CLT_OK) rc = clt_queue_goes_on(f->pq, &goes_on, f->plans[0]->id, error);
  if (rc) return rc;
  f->done = !goes_on;
  return f->done ? CLT_OK : say_waits(f, error);
}

static void forget_claim(farm_agent_lane *l) {
  l->claim = (clt_claim){0};
  l->works = false;
}

/* Fails a row that is none of the plan's cells: a foreign row, or (p NULL) one of another database behind the same
 * URL. */
static void put_away(farm_agent *f, farm_agent_lane *l, const farm_agent_plan *p) {
  clt_error error = {0};
  int rc = p ? clt_queue_reject(f->pq, p->id, &error) : clt_queue_release(f->pq, &(clt_claim *){&l->claim}, 1, &error);
  farm_note(f, rc, &error);
  forget_claim(l);
}

/* Under the lock: claims a row; sets its plan, device and cell. t: the lane's last tuning, of l->plan. */
static int take_tuning(farm_agent *f, farm_agent_lane *l, farm_sweep_tuning *t, farm_agent_plan **plan,
                       size_t *device) {
  clt_error error = {0};
  bool found = false;
  if (f->done || !farm_lane_has_time(l->lane, f->sweep)) return l->idle = true, FARM_NO_WORK;
  if (farm_is_away(f) || f->released || !is_its_turn(f, l)) return FARM_WAIT;
  int rc = farm_know_plans(f, &error);
  if (f->released || !is_its_turn(f, l)) return farm_note(f, rc, &error), FARM_WAIT; /* while it read a plan */
  if (rc == CLT_OK) rc = take_row(f, l, &found, &error);
  if (rc == CLT_OK && !found) rc = farm_look_for_end(f, &error);
  l->idle = rc == CLT_OK && !found;
  if (farm_note(f, rc, &error) || !found) return f->done ? FARM_NO_WORK : FARM_WAIT;
  *plan = f->connection == clt_pq_connection(f->pq) ? find_target(f, l, l->claim.target, device) : NULL;
  if (*plan == NULL || l->claim.n < 0 || l->claim.n >= (int64_t)(*plan)->sweep.n_cells)
    return put_away(f, l, *plan), FARM_WAIT;
  if (l->plan != *plan) farm_sweep_tuning_release(t);
  l->plan = *plan;
  l->works = true;
  __atomic_store_n(&l->stop, 0, __ATOMIC_RELAXED);
  l->renewed = -1;
  l->renewed_s = clt_now_s();
  pthread_mutex_lock(l->lane->lock);
  l->begun = l->lane->progress;
  pthread_mutex_unlock(l->lane->lock);
  return FARM_WORK;
}

void farm_clear_row(farm_row *row) {
  free(row->reason);
  json_decref(row->line);
  json_decref(row->best);
  *row = (farm_row){0};
}

void farm_forget_past(farm_agent_lane *l) {
  clt_shipper_release(&l->past_shipper);
  clt_store_free(l->past);
  l->past = NULL;
}

/* Copies the server's measurements of a problem into a store of this lane. The lock is free between pieces and while a
 * piece is written, so that other lanes can continue. */
static int fetch(farm_agent *f, clt_shipper *s, clt_store *into, const clt_store_key *key, const char *name) {
  clt_pull all = {0};
  clt_revoked_place gone = {0};
  int rc = CLT_OK;
  while (rc == CLT_OK && !gone.ended) {
    clt_error why = {0};
    pthread_mutex_lock(&f->lock);
    rc = farm_is_away(f) ? CLT_E_AGAIN : farm_note(f, clt_pull_revoked(&gone, s, into, &why), &why);
    pthread_mutex_unlock(&f->lock);
    if (*cli_signals_flag()) rc = CLT_E_STOPPED;
  }
  for (bool more = true; rc == CLT_OK && more;) {
    clt_store *piece = NULL;
    clt_error error = {0};
    pthread_mutex_lock(&f->lock);
    rc = farm_is_away(f) ? CLT_E_AGAIN : farm_note(f, clt_pull_next(&piece, &all, s, key, name, &error), &error);
    pthread_mutex_unlock(&f->lock);
    more = rc == CLT_OK && piece;
    if (more && (rc = clt_store_merge(into, piece, NULL, NULL, &error)) != CLT_OK) {
      pthread_mutex_lock(&f->lock);
      farm_note(f, rc, &error);
      pthread_mutex_unlock(&f->lock);
    }
    clt_store_free(piece);
    if (more) poll(NULL, 0, 1); /* otherwise this lane would take the lock again at once */
    if (*cli_signals_flag()) rc = CLT_E_STOPPED;
  }
  clt_pull_release(&all);
  return rc;
}

/* The store that a plan with a fixed time of "Transfer" learns from: the measurements that the server had when the plan
 * was submitted, none that were made or sent later. Under the lock. */
static int open_past(farm_agent *f, farm_agent_lane *l, const farm_agent_plan *plan, clt_error *error) {
  const clt_sweep *sweep = plan->sweep.plan;
  if (l->past && l->past_of == plan->id && l->past_shipper.connection == clt_pq_connection(f->pq)) return CLT_OK;
  farm_forget_past(l);
  int rc = clt_store_new(&l->past, "memory", NULL, error);
  if (rc == CLT_OK) rc = clt_shipper_init(&l->past_shipper, f->pq, plan->id, error);
  if (rc != CLT_OK) {
    farm_forget_past(l);
    return rc;
  }
  l->past_of = plan->id;
  l->past->before_s = sweep->learns_before_submission ? INT64_MAX : sweep->tuning.learn_before_s;
  return CLT_OK;
}

/* Copies other agents' measurements of the problem. If the server is unreachable, the tuning starts without them,
 * unless all of the plan's tunings must learn from the same measurements: then false. */
static bool pull(farm_agent *f, farm_agent_lane *l, const farm_agent_plan *plan, clt_store *store,
                 const farm_sweep_tuning *t) {
  const bool frozen = t->settings.learn_before_s && !t->settings.no_transfer;
  clt_error error = {0};
  clt_store_key key;
  const char *name = clt_problem_name(clt_instance_problem(t->instance));
  int rc = CLT_OK;
  store->past = NULL;
  store->ahead_s = l->claim.ahead_s;
  if ((t->settings.no_reuse && !frozen) || clt_store_key_init(&key, t->instance, NULL)) return true;
  if (frozen) {
    pthread_mutex_lock(&f->lock);
    rc = farm_is_away(f) ? CLT_E_AGAIN : farm_note(f, open_past(f, l, plan, &error), &error);
    pthread_mutex_unlock(&f->lock);
    if (rc == CLT_OK) rc = fetch(f, &l->past_shipper, l->past, &key, name);
    if (rc == CLT_OK) store->past = l->past;
  }
  if (rc == CLT_OK && !t->settings.no_reuse)
    fetch(f, &f->shipper, store, &key, t->settings.no_transfer || frozen ? NULL : name);
  pthread_mutex_lock(&f->lock);
  l->works = rc == CLT_OK;
  pthread_mutex_unlock(&f->lock);
  return rc == CLT_OK;
}

static int next_tuning(void *user, farm_lane *lane, clt_store *store, farm_sweep_tuning *t, farm_row **row) {
  farm_agent *f = user;
  farm_agent_lane *l = &f->lanes[lane->index];
  farm_agent_plan *plan = NULL;
  size_t device = 0;
  farm_clear_row(&l->row);
  pthread_mutex_lock(&f->lock);
  int what = take_tuning(f, l, t, &plan, &device);
  pthread_mutex_unlock(&f->lock);
  if (what != FARM_WORK) return what;
  if (strcmp(store->origin, l->claim.origin) != 0) { /* each claim's measurements have an origin of their own */
    snprintf(store->origin, sizeof store->origin, "%s", l->claim.origin);
    store->sequence = store->comparison = 0;
  }
  l->store = store;
  if (farm_sweep_prepare(t, &plan->sweep, device, (size_t)l->claim.n, &l->row)) {
    if (!pull(f, l, plan, store, t)) return FARM_WAIT; /* the claim is kept and resumed */
    *row = &l->row;
    return FARM_WORK;
  }
  clt_error error = {0};
  const bool everywhere = l->row.code == CLI_NO_VALID;
  char text[1024];
  clt_sweep_cell_print(t->cell, text, sizeof text);
  fprintf(stderr, "clatune: %s: failed: %s\n", text, farm_row_reason(&l->row));
  pthread_mutex_lock(&f->lock);
  farm_note(f, clt_queue_fail(f->pq, &l->claim, l->row.reason, l->row.code, everywhere, &error), &error);
  forget_claim(l);
  pthread_mutex_unlock(&f->lock);
  return FARM_WAIT;
}

/* --- finishing them --- */

/* Under the lock. Measurements are sent first, and all of the file once more if the database lacks some. */
static int finish_claim(farm_agent *f, farm_agent_lane *l, const farm_row *row, int how, clt_error *error) {
  static const char unfounded[] = "the database lacks measurements that its result rests on";
  clt_queue_ending ending = CLT_QUEUE_DONE;
  int rc = clt_ship(&f->shipper, f->outbox.store, false, NULL, error);
  if (rc == CLT_OK && row->line) {
    char *line = farm_result_text(row->line);
    rc = line ? clt_queue_finish(f->pq, &l->claim, line, l->store->sequence, row->best, &ending, error)
              : clt_fail_memory(error);
    if (rc == CLT_OK && ending == CLT_QUEUE_INCOMPLETE) {
      rc = clt_ship_again(&f->shipper, f->outbox.store, error);
      if (rc == CLT_OK) rc = clt_queue_finish(f->pq, &l->claim, line, 0, row->best, &ending, error);
    }
    free(line);
    if (rc || (ending != CLT_QUEUE_UNFOUNDED && ending != CLT_QUEUE_INCOMPLETE)) return rc;
  }
  if (rc) return rc;
  if (how != CLT_E_DEVICE && row->line) return clt_queue_fail(f->pq, &l->claim, unfounded, CLI_FAILURE, false, error);
  if (how != CLT_E_DEVICE) return clt_queue_fail(f->pq, &l->claim, row->reason, row->code, false, error);
  f->greet_s = 0; /* report the lost device at once */
  return clt_queue_release(f->pq, &(clt_claim *){&l->claim}, 1, error);
}

static int finish_tuning(void *user, farm_lane *lane, const farm_sweep_tuning *t, farm_row *row, int how) {
  farm_agent *f = user;
  farm_agent_lane *l = &f->lanes[lane->index];
  int rc = CLT_E_AGAIN;
  pthread_mutex_lock(&f->lock);
  if (how == CLT_E_DEVICE) l->lost = t->device;
  while (l->claim.id[0] && how != CLT_E_STOPPED && rc && rc != CLT_E_MEMORY && !*cli_signals_flag()) {
    clt_error error = {0};
    if (!farm_is_away(f)) rc = farm_note(f, finish_claim(f, l, row, how, &error), &error);
    if (rc == CLT_OK || rc == CLT_E_MEMORY) break;
    pthread_mutex_unlock(&f->lock);
    poll(NULL, 0, FARM_TICK_MS);
    pthread_mutex_lock(&f->lock);
  }
  if (l->claim.lost && !f->options->quiet)
    fprintf(stderr, "clatune: %s: taken over by another agent, or withdrawn; its measurements are kept\n", lane->now);
  forget_claim(l);
  pthread_mutex_unlock(&f->lock);
  return 0;
}

farm_work farm_agent_work(farm_agent *f) {
  return (farm_work){f, true, begin_lane, end_lanes, next_tuning, finish_tuning};
}
