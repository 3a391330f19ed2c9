/* The plans of an agent: reading those that were submitted, adding their rows to the queue, and dropping those that are
 * finished. */

#include "base/base.h"
#include "device/device.h"
#include "farm/agent.h"

#define PLANS_S 2.0       /* between two checks for new plans */
#define REFUSES_S 0.1     /* until others get their turn */
#define LOOKS 30          /* checks, until all plans are read again */
#define MOST_HELD 4000000 /* tunings, values and bytes of all plans in memory: about 200 MB, mostly of tunings */

/* NULL: out of memory. */
farm_agent_plan *farm_add_plan(farm_agent *f, clt_sweep *plan, const char *hash) {
  farm_agent_plan *p = calloc(1, sizeof *p);
  if (p == NULL || clt_grow(&f->plans, &f->plans_capacity, f->n_plans + 1, sizeof *f->plans)) return free(p), NULL;
  f->plans[f->n_plans++] = p;
  p->hash = strdup(hash);
  p->targets = calloc(f->sweep->n_devices + 1, sizeof *p->targets);
  p->n_joined = calloc(f->sweep->n_devices + 1, sizeof *p->n_joined);
  p->sweep = (farm_sweep){.plan = plan, .devices = f->sweep->devices, .n_devices = f->sweep->n_devices};
  if (plan) p->sweep.cells = plan->cells, p->sweep.n_cells = plan->n_cells;
  return p->hash && p->targets && p->n_joined ? p : NULL;
}

void farm_drop_plan(farm_agent *f, size_t index) {
  farm_agent_plan *p = f->plans[index];
  if (f->text == NULL) clt_sweep_free(p->sweep.plan);
  free(p->hash);
  free(p->targets);
  free(p->n_joined);
  free(p);
  memmove(&f->plans[index], &f->plans[index + 1], (--f->n_plans - index) * sizeof *f->plans);
}

static bool is_in_use(const farm_agent *f, const farm_agent_plan *p) {
  for (size_t i = 0; i < f->n_lanes; i++)
    if (f->lanes[i].plan == p) return true;
  return false;
}

static size_t weight_of(const farm_agent_plan *p) {
  const clt_sweep *plan = p->sweep.plan;
  return plan ? plan->n_cells + plan->n_values + strlen(plan->source.text) : 0;
}

/* Drops the heaviest plans besides the last one until the others fit into memory. They are read anew when all are. */
static void make_room(farm_agent *f) {
  for (size_t heaviest = 0; heaviest < f->n_plans;) {
    size_t sum = 0, most = 0;
    heaviest = f->n_plans;
    for (size_t i = 0; i < f->n_plans; i++) {
      const size_t weight = weight_of(f->plans[i]);
      sum += weight;
      if (weight <= most || i + 1 == f->n_plans || is_in_use(f, f->plans[i])) continue;
      most = weight;
      heaviest = i;
    }
    if (sum <= MOST_HELD) return;
    if (heaviest < f->n_plans) farm_drop_plan(f, heaviest);
  }
}

/* From the next check on, all plans are read again. Those that are not there any more are dropped. */
static void look_at_all(farm_agent *f) {
  for (size_t i = 0; i < f->n_plans; i++) f->plans[i]->listed = false;
  f->seen = 0;
}

/* Program problems run on the host device only, kernels never do. */
static bool fits(const clt_sweep *plan, const clt_device_info *device) {
  return clt_sweep_is_of_commands(plan) == clt_device_is_host(device) && clt_sweep_fits(plan, device);
}

static bool fits_any(const clt_sweep *plan, const farm_sweep *sweep) {
  for (size_t d = 0; d < sweep->n_devices; d++)
    if (fits(plan, &sweep->devices[d])) return true;
  return false;
}

/* Adds some rows of a plan, also if it is new or has come back; id: its own. */
static int join_plan(farm_agent *f, farm_agent_plan *p, int64_t id, int64_t submitted_s, clt_error *error) {
  int rc = CLT_OK;
  clt_sweep *plan = p->sweep.plan;
  if (plan == NULL) return CLT_OK;
  if (p->id != id) {
    memset(p->targets, 0, f->sweep->n_devices * sizeof *p->targets);
    for (size_t d = 0; d < f->sweep->n_devices; d++)
      p->n_joined[d] = fits(plan, &f->sweep->devices[d]) ? 0 : plan->n_cells;
    if (plan->learns_before_submission) plan->tuning.learn_before_s = submitted_s;
  }
  for (size_t d = 0; rc == CLT_OK && d < f->sweep->n_devices; d++)
    if (p->n_joined[d] < plan->n_cells)
      rc = clt_queue_join(f->pq, &p->targets[d], &p->n_joined[d], id, plan, &f->sweep->devices[d], error);
  if (rc == CLT_OK) p->id = id;
  return rc;
}

bool farm_is_joined(const farm_agent *f, const farm_agent_plan *p) {
  for (size_t d = 0; p->sweep.plan && d < f->sweep->n_devices; d++)
    if (p->n_joined[d] < p->sweep.plan->n_cells) return false;
  return true;
}

/* Loads a submitted plan. One that this agent cannot run is reported once and left to other agents. The lock is free
 * while it is read: that may take seconds, and anyone may have submitted it. */
static int learn_plan(farm_agent *f, farm_agent_plan **out, int64_t id, const char *name, const char *hash,
                      clt_error *error) {
  clt_error why = {0};
  char *text = NULL, message[2048];
  clt_sweep *plan = NULL;
  int rc = clt_queue_text(f->pq, &text, id, error);
  if (rc) return rc;
  f->reads = true;
  pthread_mutex_unlock(&f->lock);
  rc = clt_sweep_load_shared(&plan, text, name, &f->options->trust, &why);
  pthread_mutex_lock(&f->lock);
  f->reads = false;
  if (rc) {
    clt_error_format(message, sizeof message, &why);
    fprintf(stderr, "clatune: plan %lld '%s' is left to other agents: %s\n", (long long)id, name, message);
    plan = NULL;
  } else if (!fits_any(plan, f->sweep)) {
    clt_sweep_free(plan);
    plan = NULL;
  }
  free(text);
  *out = farm_add_plan(f, plan, hash);
  if (*out) make_room(f);
  return *out ? CLT_OK : clt_fail_memory(error);
}

/* Sets f->keys, once. */
static int know_keys(farm_agent *f, clt_error *error) {
  if (f->keys) return CLT_OK;
  json_t *keys = json_array();
  int rc = CLT_OK;
  for (size_t d = 0; rc == CLT_OK && d < f->sweep->n_devices; d++) {
    clt_store_key key;
    rc = clt_store_key_of_device(&key, &f->sweep->devices[d], error);
    if (rc == CLT_OK) json_array_append_new(keys, json_string(key.device));
  }
  f->keys = rc ? NULL : json_dumps(keys, JSON_COMPACT);
  json_decref(keys);
  return rc || f->keys ? rc : clt_fail_memory(error);
}

/* Reads newly submitted plans, page by page, one at a time besides those that are refused, as there may be any number.
 * From time to time all of them, because a new submission reopens failed tunings. */
static int learn_plans(farm_agent *f, clt_error *error) {
  clt_pq_rows *rows = NULL;
  int rc = know_keys(f, error);
  if (rc == CLT_OK) rc = clt_queue_plans(f->pq, &rows, f->seen, f->keys, error);
  const size_t n = rc ? 0 : clt_pq_n_rows(rows);
  const double until_s = clt_now_s() + REFUSES_S;
  bool took = false;
  if (rc == CLT_OK) f->connection = clt_pq_connection(f->pq);
  for (size_t i = 0; rc == CLT_OK && i < n && !took && (i == 0 || clt_now_s() < until_s); i++) {
    const char *hash = clt_pq_text(rows, i, 3);
    farm_agent_plan *p = NULL;
    const int64_t id = clt_pq_whole(rows, i, 0);
    for (size_t k = 0; k < f->n_plans && p == NULL; k++)
      if (strcmp(f->plans[k]->hash, hash) == 0) p = f->plans[k];
    if (p == NULL) rc = learn_plan(f, &p, id, clt_pq_text(rows, i, 2), hash, error);
    if (f->connection != clt_pq_connection(f->pq)) break; /* meanwhile it may be another database */
    took = p && p->sweep.plan && p->id != id;
    if (p) p->listed = true;
    if (rc == CLT_OK && p->id != id) rc = join_plan(f, p, id, clt_pq_whole(rows, i, 1), error);
    if (rc == CLT_E_NOT_FOUND) rc = CLT_OK; /* it was withdrawn just now */
    if (rc == CLT_OK) f->seen = id;
  }
  clt_pq_rows_free(rows);
  if (rc || n > 0) return rc;
  for (size_t i = f->n_plans; i-- > 0;)
    if (!f->plans[i]->listed && !is_in_use(f, f->plans[i])) farm_drop_plan(f, i);
  f->plans_s = clt_now_s() + PLANS_S;
  if (++f->n_looks % LOOKS == 0) look_at_all(f);
  return CLT_OK;
}

int farm_know_plans(farm_agent *f, clt_error *error) {
  int64_t id = 0, submitted_s = 0;
  int rc;
  if (f->connection != clt_pq_connection(f->pq)) { /* after a reconnection it may be another database */
    for (size_t i = 0; i < f->n_plans; i++) f->plans[i]->id = 0;
    f->plans_s = 0;
    look_at_all(f);
  }
  for (size_t i = 0; i < f->n_plans; i++)
    if (f->plans[i]->id && !farm_is_joined(f, f->plans[i])) {
      rc = join_plan(f, f->plans[i], f->plans[i]->id, 0, error);
      if (rc) return rc;
      break;
    }
  if (f->reads || clt_now_s() < f->plans_s) return CLT_OK;
  if (f->text) {
    rc = clt_queue_submit(f->pq, &id, &submitted_s, clt_sweep_name(f->sweep->plan), f->text, f->options->lease_s, NULL,
                          error);
    if (rc == CLT_OK) rc = join_plan(f, f->plans[0], id, submitted_s, error);
    if (rc == CLT_OK) f->plans_s = INFINITY, f->connection = clt_pq_connection(f->pq);
  } else {
    rc = learn_plans(f, error);
  }
  return rc;
}
