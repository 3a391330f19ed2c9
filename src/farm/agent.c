/* An agent of a farm. One thread sends the lanes' measurements to the database and renews the leases of tunings that
 * make progress. All threads share one connection under one lock, for which no running measurement waits. While the
 * server is unreachable, tunings in progress continue. */
#include <unistd.h>

#include "base/base.h"
#include "device/device.h"
#include "farm/agent.h"

#define SHIP_S 2.0        /* between two pieces of records, or after */
#define SHIP_PROGRESS 100 /* evaluations */
#define GREET_S 15.0
#define MOST_LANES 64

/* Renews the leases of tunings that made progress since their last renewal. Under the lock. */
static int renew_leases(farm_agent *f, clt_error *error) {
  clt_claim *claims[MOST_LANES];
  farm_agent_lane *of[MOST_LANES];
  int64_t got_on[MOST_LANES];
  size_t n = 0;
  const double now_s = clt_now_s();
  for (farm_agent_lane *l = f->lanes; l < f->lanes + f->n_lanes && n < MOST_LANES; l++) {
    if (l->lane == NULL || !l->works || l->claim.id[0] == '\0' || l->claim.lost) continue;
    if (now_s - l->renewed_s < fmin(5, l->claim.lease_s / 8)) continue;
    pthread_mutex_lock(l->lane->lock);
    l->claim.progress = l->lane->progress - l->begun;
    memcpy(l->claim.output, l->lane->said, sizeof l->claim.output);
    pthread_mutex_unlock(l->lane->lock);
    got_on[n] = l->claim.progress + __atomic_load_n(&l->lane->steps, __ATOMIC_RELAXED);
    if (got_on[n] == l->renewed) continue;
    claims[n] = &l->claim;
    of[n++] = l;
  }
  int rc = clt_queue_renew(f->pq, claims, n, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    of[i]->renewed = got_on[i];
    of[i]->renewed_s = now_s;
    if (claims[i]->lost) __atomic_store_n(&of[i]->stop, 1, __ATOMIC_RELAXED);
  }
  return rc;
}

/* At a signal: other agents can take the rows before the tunings have ended here. */
static int release_all(farm_agent *f, clt_error *error) {
  clt_claim *claims[MOST_LANES];
  size_t n = 0;
  for (farm_agent_lane *l = f->lanes; l < f->lanes + f->n_lanes && n < MOST_LANES; l++)
    if (l->claim.id[0]) claims[n++] = &l->claim;
  int rc = clt_queue_release(f->pq, claims, n, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) claims[i]->id[0] = '\0';
  if (rc == CLT_OK && !f->options->quiet)
    fprintf(stderr, "clatune: stopping; released %zu tuning%s\n", n, n == 1 ? "" : "s");
  return rc;
}

static int64_t sum_of_progress(const farm_agent *f) {
  int64_t sum = 0;
  for (const farm_agent_lane *l = f->lanes; l < f->lanes + f->n_lanes; l++) {
    if (l->lane == NULL) continue;
    pthread_mutex_lock(l->lane->lock);
    sum += l->lane->progress;
    pthread_mutex_unlock(l->lane->lock);
  }
  return sum;
}

/* The devices, without what tells devices of the same kind apart. */
static json_t *describe_devices(const farm_agent *f) {
  json_t *list = json_array();
  for (size_t d = 0; d < f->sweep->n_devices; d++) {
    clt_device_info device = f->sweep->devices[d];
    device.platform_index = device.device_index = 0;
    device.uuid[0] = device.pci_address[0] = '\0';
    json_array_append_new(list, clt_device_json(&device));
  }
  return list;
}

static int greet(farm_agent *f, clt_error *error) {
  clt_text devices = {0}, lost = {0};
  json_t *described = describe_devices(f);
  for (size_t d = 0; d < f->sweep->n_devices; d++) {
    clt_text_printf(&devices, "%s%s", devices.n ? "; " : "", f->sweep->devices[d].name);
    for (size_t i = 0; i < f->n_lanes; i++)
      if (f->lanes[i].lost == d) clt_text_printf(&lost, "%s%s", lost.n ? "; " : "", f->sweep->devices[d].name);
  }
  const char *all = devices.n ? devices.bytes : "", *quarantined = lost.n ? lost.bytes : "";
  int rc = clt_queue_greet(f->pq, clt_pq_agent(f->pq), all, quarantined, described, error);
  json_decref(described);
  clt_text_release(&devices);
  clt_text_release(&lost);
  if (rc == CLT_OK) f->greet_s = clt_now_s() + GREET_S;
  return rc;
}

/* Sends a piece of the outbox of an agent that was killed. */
static int ship_leftovers(farm_agent *f, clt_error *error) {
  bool more = false;
  if (f->next_leftover == 0) return CLT_OK;
  if (f->leftover.store == NULL) {
    clt_outbox_open(&f->leftover, f->options->outbox, f->next_leftover, NULL);
    if (f->leftover.store == NULL) {
      f->next_leftover = f->leftover.exists ? f->next_leftover + 1 : 0;
      return CLT_OK;
    }
  }
  int rc = clt_ship(&f->shipper, f->leftover.store, true, &more, error);
  if (rc || more) return rc;
  clt_outbox_close(&f->leftover);
  f->next_leftover++;
  return CLT_OK;
}

/* Under the lock. */
static void do_what_is_due(farm_agent *f) {
  clt_error error = {0};
  const bool stopped = *cli_signals_flag() != 0;
  for (size_t i = 0; stopped && i < f->n_lanes; i++) __atomic_store_n(&f->lanes[i].stop, 1, __ATOMIC_RELAXED);
  if (farm_is_away(f)) return;
  if (f->said_away) f->greet_s = 0; /* so that a recovered server is noticed */
  int rc = CLT_OK;
  if (stopped && !f->released) {
    rc = release_all(f, &error);
    f->released = rc == CLT_OK;
  }
  if (rc == CLT_OK && clt_now_s() >= f->greet_s) rc = greet(f, &error);
  if (rc == CLT_OK && !stopped) rc = renew_leases(f, &error);
  const int64_t progress = sum_of_progress(f);
  if (rc == CLT_OK && (clt_now_s() >= f->ship_s || progress - f->shipped >= SHIP_PROGRESS)) {
    rc = clt_ship(&f->shipper, f->outbox.store, true, NULL, &error);
    f->ship_s = clt_now_s() + SHIP_S;
    f->shipped = progress;
  }
  if (rc == CLT_OK) rc = ship_leftovers(f, &error);
  farm_note(f, rc, &error);
}

static void *run_beside(void *user) {
  farm_agent *f = user;
  pthread_mutex_lock(&f->lock);
  while (!f->ends) {
    do_what_is_due(f);
    pthread_mutex_unlock(&f->lock);
    poll(NULL, 0, FARM_TICK_MS);
    pthread_mutex_lock(&f->lock);
  }
  pthread_mutex_unlock(&f->lock);
  return NULL;
}

/* --- the agent --- */

/* The remaining tunings run on other agents, or need devices that are not here. */
static void wait_for_others(farm_agent *f) {
  pthread_mutex_lock(&f->lock);
  while (f->text && !f->done && !*cli_signals_flag() && clt_now_s() < f->sweep->until_s) {
    clt_error error = {0};
    if (!farm_is_away(f)) {
      int rc = farm_know_plans(f, &error);
      farm_note(f, rc ? rc : farm_look_for_end(f, &error), &error);
    }
    pthread_mutex_unlock(&f->lock);
    for (int i = 0; i < 10 && !f->done && !*cli_signals_flag(); i++) poll(NULL, 0, FARM_TICK_MS);
    pthread_mutex_lock(&f->lock);
  }
  pthread_mutex_unlock(&f->lock);
}

/* --submit: adds the plan, reopens what has no result, and prints its status. */
static int submit_alone(farm_agent *f) {
  int64_t id = 0, submitted_s = 0;
  const char *name = clt_sweep_name(f->sweep->plan);
  const double lease_s = f->options->lease_s;
  json_t *again = json_array();
  cli_check(clt_pq_new(&f->pq, f->options->url, CLT_PQ_SCHEMA, CLT_PQ_PATIENCE_S, &cli_error));
  cli_check(clt_queue_submit(f->pq, &id, &submitted_s, name, f->text, lease_s, NULL, &cli_error));
  farm_collect(f->sweep, f->options->url, f->text, again, false);
  cli_check(clt_queue_submit(f->pq, &id, &submitted_s, name, f->text, lease_s, again, &cli_error));
  json_decref(again);
  printf("%zu tunings per device\n", f->sweep->n_cells);
  return farm_show(f->pq, id, false);
}

/* Reports a refusal at the start at once; waits for an unreachable server only CLT_PQ_PATIENCE_S, but for what others
 * hold as long as it takes. */
static void open_farm(farm_agent *f) {
  clt_error why = {0};
  const double until_s = clt_now_s() + CLT_PQ_PATIENCE_S;
  cli_check(clt_outbox_open(&f->outbox, f->options->outbox, 0, &cli_error));
  int rc = clt_pq_new(&f->pq, f->options->url, CLT_PQ_SCHEMA, 0, &why);
  if (f->pq == NULL) cli_report(&why);
  cli_check(clt_shipper_init(&f->shipper, f->pq, 0, &cli_error));
  rc = CLT_OK;
  why = (clt_error){0};
  do {
    if (rc == CLT_E_AGAIN && !f->said_away && why.message[0])
      fprintf(stderr,
              clt_pq_is_held(f->pq) ? "clatune: %s; waiting until it is free\n" : "clatune: %s; retrying for %d s\n",
              why.message, CLT_PQ_PATIENCE_S);
    f->said_away = rc == CLT_E_AGAIN;
    why = (clt_error){0};
    if (rc == CLT_E_AGAIN) poll(NULL, 0, FARM_TICK_MS);
    pthread_mutex_lock(&f->lock);
    rc = farm_know_plans(f, &why);
    if (rc == CLT_OK) rc = greet(f, &why);
    pthread_mutex_unlock(&f->lock);
  } while (rc == CLT_E_AGAIN && (clt_now_s() < until_s || clt_pq_is_held(f->pq)) && !*cli_signals_flag());
  if (rc) cli_report(&why);
}

/* With --serve nothing else is printed until a plan is submitted. */
static void say_serves(const farm_agent *f) {
  const clt_sweep_trust *trust = &f->options->trust;
  fprintf(stderr, "clatune: serving %s on", clt_pq_url(f->pq));
  for (size_t d = 0; d < f->sweep->n_devices; d++) fprintf(stderr, "%s %s", d ? "," : "", f->sweep->devices[d].name);
  fputs("; problems in", stderr);
  for (size_t i = 0; i < trust->n_folders; i++) fprintf(stderr, "%s '%s'", i ? "," : "", trust->folders[i]);
  fprintf(stderr, "; stop with Ctrl-C or kill %ld\n", (long)getpid());
}

static void close_farm(void *user) {
  farm_agent *f = user;
  clt_shipper_release(&f->shipper);
  clt_outbox_close(&f->leftover);
  clt_outbox_close(&f->outbox);
  while (f->n_plans > 0) farm_drop_plan(f, f->n_plans - 1);
  for (size_t i = 0; i < f->n_lanes; i++) {
    farm_forget_past(&f->lanes[i]);
    farm_clear_row(&f->lanes[i].row);
  }
  free(f->plans);
  free(f->keys);
  free(f->text);
  clt_pq_free(f->pq);
  pthread_mutex_destroy(&f->lock);
}

int farm_run(farm_sweep *sweep, const farm_agent_options *options) {
  farm_agent *f = cli_new(1, sizeof *f);
  *f = (farm_agent){.sweep = sweep,
                    .options = options,
                    .lanes = cli_new(sweep->n_devices, sizeof *f->lanes),
                    .outbox = {.lock_fd = -1},
                    .leftover = {.lock_fd = -1},
                    .next_leftover = 1};
  const farm_work work = farm_agent_work(f);
  farm_sweep devices = {.devices = sweep->devices, /* without rows: these are in the database */
                        .n_devices = sweep->n_devices,
                        .events = sweep->events,
                        .until_s = sweep->until_s};
  pthread_t beside;
  pthread_mutex_init(&f->lock, NULL);
  cli_keep(f, close_farm);
  cli_signals_install();
  if (sweep->plan) cli_check(clt_sweep_share(&f->text, sweep->plan, &cli_error));
  if (f->text && farm_add_plan(f, sweep->plan, "") == NULL) cli_failure("out of memory");
  if (options->submits_only) return submit_alone(f);
  open_farm(f);
  if (f->text == NULL && !options->quiet) say_serves(f);
  devices.store_path = f->outbox.path;
  if (pthread_create(&beside, NULL, run_beside, f)) cli_failure("cannot start a thread");
  int rc = farm_sweep_run(&devices, &work, 0, options->quiet);
  if (rc == 0) wait_for_others(f);
  pthread_mutex_lock(&f->lock);
  f->ends = true;
  if (*cli_signals_flag()) do_what_is_due(f); /* a signal that came just now */
  pthread_mutex_unlock(&f->lock);
  pthread_join(beside, NULL);
  clt_error error = {0};
  if (!farm_is_away(f)) {
    const int sent = clt_ship(&f->shipper, f->outbox.store, false, NULL, &error);
    farm_note(f, sent ? sent : clt_queue_leave(f->pq, clt_pq_agent(f->pq), &error), &error);
  }
  if (rc == 0 && *cli_signals_flag()) rc = 128 + *cli_signals_flag();
  if (rc == 0 && f->text) farm_collect(sweep, options->url, f->text, NULL, true);
  return rc;
}
