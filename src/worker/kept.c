/* Finalists. Each is prepared in a process of its own with glibc's heap checks, verified on other data, kept there,
 * and timed on request. A finalist that damages its process's memory ends only that process. */
#include "base/base.h"
#include "problem/data.h"
#include "worker/workers.h"

#define PUMP_S 0.1         /* the longest delay until a request to stop is noticed */
#define MOST_PRINTED 16384 /* bytes kept of a correct kernel's output, for `clatune verify` */
#define SPARE_PREPARATIONS \
  3 /* preparations in addition to one, and to one per other finalist that may end a shared worker */

struct clt_kept {
  clt_config config;
  clt_pool_worker *worker; /* its own, unless the device accepts too few processes */
  size_t slot;             /* in that worker */
  uint64_t generation;     /* of the process that holds it; 0: not prepared */
  size_t n_preparations;
  size_t n_killings; /* how often other processes were killed while it was timed */
  bool was_late;     /* the clock jumped during the latest request */
  bool wanted;       /* by the current call: prepared again if its worker is lost */
  size_t n_checked;  /* of the setup's checks */
  double check_begun_s;
  clt_measurement measurement; /* of the preparation; with a failure reason the finalist is out */
  clt_measurement answer;      /* to the latest request; config CLT_CONFIG_NONE: none */
};

/* All waiting is done here. */
static int pump_or_stop(clt_pool *pool, clt_error *error) {
  const double limit_s = pool->setup.evaluator.limit_s;
  if (clt_check_stop(pool->setup.evaluator.stop, error)) return CLT_E_STOPPED;
  if (limit_s > 0 && clt_now_s() - pool->opened_s - pool->waited_s > limit_s)
    return clt_fail(error, CLT_E_AGAIN, "the time limit of %.0f s is exceeded", limit_s);
  return clt_pool_pump(pool, PUMP_S, error);
}

static int await_lock(clt_pool *pool, clt_lock_state wanted, clt_error *error) {
  int rc = CLT_OK;
  while (rc == CLT_OK && !clt_pool_lock(pool, wanted)) rc = pump_or_stop(pool, error);
  return rc;
}

static bool has_failed(const clt_kept *k) { return k->measurement.reason != CLT_REASON_NONE; }

static bool is_ready(const clt_kept *k) {
  return k->generation != 0 && k->generation == k->worker->generation && k->worker->process.alive;
}

/* Whether it must still be prepared or checked for the current call. */
static bool is_unfinished(const clt_pool *pool, const clt_kept *k) {
  return k->wanted && !has_failed(k) && !(k->n_checked == pool->setup.evaluator.n_checks && is_ready(k));
}

/* --- requests --- */

/* What a kernel printed, without the compiler's counts of messages; malloc'ed, NULL: nothing. PoCL's compiler prints
 * them even if a later attempt to build succeeds. */
static char *by_kernel(const char *printed) {
  clt_text text = {0};
  char *out = NULL;
  for (const char *line = printed ? printed : "", *end; *line; line = end) {
    end = line + strcspn(line, "\n");
    end += *end == '\n';
    const char *words = line + strspn(line, "0123456789");
    const bool counts = words > line && (clt_starts_with(words, " error") || clt_starts_with(words, " warning"));
    if (!(counts && memmem(words, (size_t)(end - words), " generated.", strlen(" generated."))))
      clt_text_printf(&text, "%.*s", (int)(end - line), line);
  }
  if (text.n > 0 && text.n <= MOST_PRINTED) clt_text_take(&out, &text, NULL);
  clt_text_release(&text);
  return out;
}

static int note_answer(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  clt_kept *k = worker->done_data;
  const bool jumped = worker->process.jumped && !k->was_late;
  k->was_late = jumped;
  /* Its worker was lost, the machine was busy, or the clock jumped: it will be asked or prepared again. */
  if (outcome->unheard || outcome->killed || outcome->late || jumped) return CLT_OK;
  int rc = clt_pool_measurement(&k->answer, worker, k->config, outcome, error);
  if (rc == CLT_OK && pool->setup.evaluator.printed && clt_measurement_correct(&k->answer))
    k->answer.log = by_kernel(worker->process.printed.bytes);
  if (rc == CLT_OK && outcome->reply) pool->setbacks = 0;
  return rc;
}

static int send_request(clt_pool *pool, clt_kept *k, json_t *request, clt_phase phase, clt_request_load load,
                        clt_error *error) {
  clt_deadlines limits = clt_pool_deadlines(pool, 0);
  k->worker->done_data = k;
  clt_process_forget_output(&k->worker->process);
  return clt_pool_request(pool, k->worker, request, phase, &limits, load, note_answer, error);
}

/* Takes the latest answer; true if there is one and it is no failure. A failed finalist stays failed, and a tainted
 * process is replaced. */
static bool take_answer(clt_pool *pool, clt_kept *k, clt_measurement *out) {
  if (k->answer.config == CLT_CONFIG_NONE) return false;
  bool failed = k->answer.reason != CLT_REASON_NONE;
  if (failed) {
    k->answer.phases.build_s = k->measurement.phases.build_s;
    k->generation = 0;
    out = &k->measurement;
  }
  clt_measurement_release(out);
  *out = k->answer;
  clt_measurement_init(&k->answer, CLT_CONFIG_NONE);
  if (failed && k->worker->process.alive && clt_pool_taints(out->reason)) clt_pool_replace(pool, k->worker);
  return !failed;
}

/* Each process loads the data of a check; the first one makes them. */
static int note_loaded(clt_pool *pool, clt_pool_worker *worker, const clt_outcome *outcome, clt_error *error) {
  clt_check_answer *answers = pool->setup.evaluator.answers;
  clt_error why = {0};
  const size_t check = worker->loaded_check;
  if (outcome->reply && strcmp(clt_json_string(outcome->reply, "reply"), "ok") == 0) {
    if (answers) answers[check].margin = clt_json_number(outcome->reply, "margin");
    worker->loaded_generation = worker->generation;
    pool->check_made[check] = true;
    return CLT_OK;
  }
  /* Another process tries again; after an end of its own once, as the kernel may have damaged the process. */
  if (outcome->unheard || outcome->killed || outcome->late) return CLT_OK;
  if (outcome->reply == NULL && !pool->check_crashed[check]) {
    pool->check_crashed[check] = true;
    return CLT_OK;
  }
  if (outcome->reply) clt_message_to_error(outcome->reply, &why);
  const char *text = outcome->reply ? why.message : outcome->text;
  pool->check_failed[check] = true;
  if (answers) {
    free(answers[check].log);
    answers[check] = (clt_check_answer){.done = true, .impossible = true, .log = strdup(text ? text : "")};
  }
  if (!pool->setup.evaluator.lenient)
    clt_pool_log(pool, CLT_LOG_WARNING, "finalists cannot be verified on other inputs: %s", text);
  return CLT_OK;
}

static int ask_next(clt_pool *pool, clt_kept *k, clt_error *error) {
  clt_pool_worker *worker = k->worker;
  const clt_check *check = &pool->setup.evaluator.checks[k->n_checked];
  const size_t c = k->n_checked;
  const bool loaded = worker->loaded_generation == worker->generation && worker->loaded_check == c;
  bool making = false;
  json_t *request;
  if (is_ready(k) && pool->check_failed[c]) {
    k->n_checked++;
    return CLT_OK;
  }
  if (is_ready(k) && loaded) {
    request = json_pack("{s:s, s:i, s:i, s:b}", "request", "verify", "slot", (int)k->slot, "set", 2, "garbage",
                        check->garbage);
    return send_request(pool, k, request, CLT_PHASE_VERIFY, CLT_LOAD_NOISE, error);
  }
  if (is_ready(k)) {
    for (size_t i = 0; i < pool->n_workers; i++)
      making = making || (pool->workers[i].done == note_loaded && pool->workers[i].loaded_check == c);
    if (making && !pool->check_made[c]) return CLT_OK;
    worker->loaded_check = c;
    worker->loaded_generation = 0;
    k->check_begun_s = clt_now_s();
    return clt_pool_request(pool, worker, clt_pool_data_request(pool, check, !pool->check_made[c]), CLT_PHASE_VERIFY,
                            NULL, CLT_LOAD_NOISE, note_loaded, error);
  }
  /* Each check may end the worker once. */
  const size_t n_endings = pool->setup.evaluator.lenient ? pool->setup.evaluator.n_checks : 0;
  if (k->n_preparations++ >= pool->n_kept + SPARE_PREPARATIONS + n_endings) {
    clt_measurement_fail(&k->measurement, CLT_REASON_RUN_CRASH,
                         "the workers that prepared it repeatedly ended unexpectedly");
    return CLT_OK;
  }
  bool shared = false;
  for (size_t i = 0; i < pool->n_kept; i++)
    shared = shared || (pool->kept[i].worker == worker && is_ready(&pool->kept[i]));
  if (worker->n_prepared > 0 && !shared) {
    clt_pool_replace(pool, worker);
    return CLT_OK;
  }
  k->generation = 0;
  worker->n_prepared++;
  request = json_pack("{s:s, s:i, s:I, s:o, s:b, s:b}", "request", "prepare", "slot", (int)k->slot, "config",
                      (json_int_t)k->config, "values", clt_message_from_config(pool->setup.evaluator.space, k->config),
                      "gate", 0, "mirrored", pool->setup.evaluator.mirrored);
  return send_request(pool, k, request, CLT_PHASE_BUILD, CLT_LOAD_NOISE, error);
}

/* Takes the answer to a check whose failure does not make the configuration fail. */
static void note_check(clt_pool *pool, clt_kept *k) {
  clt_measurement answer = k->answer;
  clt_measurement_init(&k->answer, CLT_CONFIG_NONE);
  clt_check_answer *out = &pool->setup.evaluator.answers[k->n_checked++];
  out->done = true;
  out->reason = answer.reason;
  out->log = answer.log ? strdup(answer.log) : NULL;
  out->took_s = clt_now_s() - k->check_begun_s;
  if (answer.reason == CLT_REASON_NONE) {
    k->measurement.max_abs_error = fmax(k->measurement.max_abs_error, answer.max_abs_error);
  } else if (answer.reason != CLT_REASON_WRONG_OUTPUT) {
    k->generation = 0;
    if (k->worker->process.alive && clt_pool_taints(answer.reason)) clt_pool_replace(pool, k->worker);
  }
  clt_measurement_release(&answer);
}

/* Takes the answer to a request of make_wanted_ready, if any. */
static void note_progress(clt_pool *pool, clt_kept *k) {
  clt_measurement answer;
  bool preparing = k->generation == 0;
  if (!preparing && pool->setup.evaluator.lenient && k->answer.config != CLT_CONFIG_NONE) {
    note_check(pool, k);
    return;
  }
  clt_measurement_init(&answer, k->config);
  if (!take_answer(pool, k, &answer)) return;
  if (preparing) {
    clt_measurement_release(&k->measurement);
    k->measurement = answer;
    k->generation = k->worker->generation;
  } else {
    if (pool->setup.evaluator.answers) pool->setup.evaluator.answers[k->n_checked].done = true;
    k->n_checked++;
    if (k->n_checked == pool->setup.evaluator.n_checks) clt_map_add(&pool->passed, (uint64_t)k->config, NULL);
    k->measurement.max_abs_error = fmax(k->measurement.max_abs_error, answer.max_abs_error);
    k->measurement.phases.verify_s += answer.phases.verify_s;
    clt_measurement_release(&answer);
  }
}

/* Places a finalist in the worker that holds the fewest of a list. If the device accepts enough processes, that
 * worker holds none. */
static void place_kept(clt_pool *pool, const clt_kept *list, size_t n, clt_kept *k) {
  size_t fewest = SIZE_MAX;
  for (size_t w = 0; w < CLT_POOL_MAX_WORKERS; w++) {
    clt_pool_worker *worker = &pool->workers[w];
    bool taken[CLT_WORKER_SLOTS] = {false};
    size_t n_held = 0, slot = 0;
    for (size_t i = 0; i < n; i++) {
      if (&list[i] == k || list[i].worker != worker) continue;
      taken[list[i].slot] = true;
      n_held++;
    }
    if (worker->stage == CLT_STAGE_REFUSED || n_held >= fewest) continue;
    while (taken[slot]) slot++;
    fewest = n_held;
    k->worker = worker;
    k->slot = slot;
  }
  k->generation = 0; /* nothing is prepared there yet */
  k->n_checked = clt_map_find(&pool->passed, (uint64_t)k->config) ? pool->setup.evaluator.n_checks : 0;
  const size_t n_needed = (size_t)(k->worker - pool->workers) + 1;
  if (pool->n_workers < n_needed) pool->n_workers = n_needed;
}

/* Prepares and checks the wanted finalists, at most as many at a time as the search has workers. */
static int make_wanted_ready(clt_pool *pool, clt_error *error) {
  for (;;) {
    size_t n_under_way = 0;
    bool any = false;
    for (size_t i = 0; i < pool->n_kept; i++) any = any || is_unfinished(pool, &pool->kept[i]);
    if (!any) return CLT_OK;
    int rc = await_lock(pool, CLT_LOCK_SHARED, error);
    for (size_t i = 0; rc == CLT_OK && i < pool->n_kept; i++) {
      clt_kept *k = &pool->kept[i];
      if (!is_unfinished(pool, k)) continue;
      if (n_under_way++ == pool->setup.n_workers) break;
      if (k->worker->stage == CLT_STAGE_REFUSED) {
        place_kept(pool, pool->kept, pool->n_kept, k);
        k->worker->heap_checks = true;
      }
      if (k->worker->process.busy) continue;
      rc = clt_pool_idle(k->worker) ? ask_next(pool, k, error) : clt_pool_start_worker(pool, k->worker, error);
    }
    if (rc == CLT_OK && pool->setup.evaluator.more_follow) clt_pool_prepare_next(pool);
    if (rc == CLT_OK) rc = pump_or_stop(pool, error);
    if (rc) return rc;
    for (size_t i = 0; i < pool->n_kept; i++)
      if (!pool->kept[i].worker->done) note_progress(pool, &pool->kept[i]);
  }
}

/* --- keeping --- */

static void init_kept(clt_kept *k, clt_config config, clt_pool_worker *worker, size_t slot) {
  *k = (clt_kept){.config = config, .worker = worker, .slot = slot, .wanted = true};
  clt_measurement_init(&k->measurement, config);
  clt_measurement_init(&k->answer, CLT_CONFIG_NONE);
}

static void free_kept(clt_kept *kept, size_t n) {
  for (size_t i = 0; i < n; i++) {
    clt_measurement_release(&kept[i].measurement);
    clt_measurement_release(&kept[i].answer);
  }
  free(kept);
}

void clt_pool_give_up_kept(clt_pool *pool) {
  if (pool->n_kept == 0) return;
  for (size_t i = 0; i < pool->n_kept; i++) {
    clt_kept *k = &pool->kept[i];
    clt_pool_replace(pool, k->worker);
    k->worker->heap_checks = false;
  }
  free_kept(pool->kept, pool->n_kept);
  pool->kept = NULL;
  pool->n_kept = 0;
  pool->n_workers = pool->setup.n_workers;
  clt_pool_lock(pool, CLT_UNLOCKED);
}

/* The new list takes over finalists that are kept already. The others get free workers. */
int clt_pool_keep(clt_pool *pool, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error) {
  bool taken[CLT_POOL_MAX_WORKERS] = {false};
  int rc = clt_check_finalists(pool->n_submitted, error);
  if (rc) return rc;
  if (n > CLT_POOL_MAX_WORKERS)
    return clt_fail(error, CLT_E_ARGUMENT, "%zu finalists are too many; at most %d are possible", n,
                    CLT_POOL_MAX_WORKERS);
  if (n == 0) { /* releases the device */
    clt_pool_give_up_kept(pool);
    for (size_t i = 0; i < CLT_POOL_MAX_WORKERS; i++) clt_pool_dismiss(pool, &pool->workers[i]);
    return CLT_OK;
  }
  clt_kept *list = clt_new_array(n, sizeof *list);
  if (list == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < n; i++) {
    init_kept(&list[i], configs[i], NULL, 0);
    for (size_t k = 0; k < pool->n_kept; k++) {
      clt_kept *old = &pool->kept[k], none = list[i];
      if (old->config != configs[i] || has_failed(old)) continue;
      list[i] = *old;
      taken[old->worker - pool->workers] = true;
      *old = none;
      old->config = CLT_CONFIG_NONE;
    }
    list[i].wanted = true;
    list[i].n_preparations = 0;
  }
  for (size_t i = 0; i < n; i++)
    if (list[i].worker == NULL) place_kept(pool, list, n, &list[i]);
  /* All other workers release their processes, and with them their memory. */
  for (size_t i = 0; i < CLT_POOL_MAX_WORKERS; i++) {
    if (taken[i]) continue;
    clt_pool_dismiss(pool, &pool->workers[i]);
    pool->workers[i].heap_checks = false;
  }
  for (size_t i = 0; i < n; i++) list[i].worker->heap_checks = true;
  free_kept(pool->kept, pool->n_kept);
  pool->kept = list;
  pool->n_kept = n;
  memset(pool->check_failed, 0, sizeof pool->check_failed);
  memset(pool->check_crashed, 0, sizeof pool->check_crashed);
  rc = make_wanted_ready(pool, error);
  size_t n_crashed = 0;
  for (size_t i = 0; i < n; i++)
    n_crashed +=
        list[i].measurement.reason == CLT_REASON_RUN_CRASH || list[i].measurement.reason == CLT_REASON_COMPILE_CRASH;
  if (rc == CLT_OK && n > 1 && n_crashed == n && !pool->no_heap_checks) {
    clt_pool_log(pool, CLT_LOG_WARNING,
                 "all finalists crash with glibc's heap checks; preparing them again without heap checks");
    pool->no_heap_checks = true;
    for (size_t i = 0; i < n; i++) {
      clt_measurement_release(&list[i].measurement);
      init_kept(&list[i], configs[i], list[i].worker, list[i].slot);
    }
    rc = make_wanted_ready(pool, error);
  }
  for (size_t i = 0; rc == CLT_OK && i < n; i++) rc = clt_measurement_copy(&out[i], &list[i].measurement, error);
  if (rc) clt_pool_give_up_kept(pool);
  clt_pool_lock(pool, CLT_UNLOCKED);
  return rc;
}

int clt_pool_time_again(clt_pool *pool, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                        clt_error *error) {
  int rc = clt_check_indices(indices, n, pool->n_kept, error);
  const bool *unbound = pool->setup.evaluator.unbound;
  if (rc) return rc;
  for (size_t i = 0; i < pool->n_kept; i++) pool->kept[i].wanted = false;
  for (size_t i = 0; i < n; i++) pool->kept[indices[i]].wanted = true;
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_kept *k = &pool->kept[indices[i]];
    bool timed = false;
    while (rc == CLT_OK && !timed && !has_failed(k)) {
      rc = make_wanted_ready(pool, error);
      if (rc == CLT_OK) rc = await_lock(pool, CLT_LOCK_EXCLUSIVE, error);
      if (rc || has_failed(k) || !is_ready(k)) continue;
      const clt_timing_policy turn = clt_timing_turn(n_runs, &pool->setup.timing);
      json_t *request = json_pack("{s:s, s:i, s:b, s:b, s:o}", "request", "time", "slot", (int)k->slot, "keep", 1,
                                  "unbound", unbound && *unbound, "timing", clt_message_from_timing(&turn));
      rc = send_request(pool, k, request, CLT_PHASE_VERIFY, CLT_LOAD_TIMING, error);
      size_t n_killed = pool->n_killed;
      while (rc == CLT_OK && k->worker->done) rc = pump_or_stop(pool, error);
      /* No other worker runs during timing. If one was killed, wait a moment for the end of others that are being
       * killed. */
      double until_s = clt_now_s() + PUMP_S;
      while (rc == CLT_OK && n_killed > 0 && pool->n_killed == n_killed && clt_now_s() < until_s)
        rc = pump_or_stop(pool, error);
      if (rc) break;
      /* A single time may have another cause, such as a lack of memory in the system. */
      if (k->answer.config != CLT_CONFIG_NONE && pool->n_killed > n_killed && ++k->n_killings > 1) {
        clt_measurement_release(&k->answer);
        clt_measurement_init(&k->answer, k->config);
        clt_measurement_fail(&k->answer, CLT_REASON_UNKNOWN, "other worker processes are killed each time it runs");
      }
      clt_measurement *m = &k->answer;
      if (m->config != CLT_CONFIG_NONE && m->reason == CLT_REASON_NONE && m->n_runs == 0)
        clt_measurement_fail(m, CLT_REASON_UNKNOWN, "the worker returned no run time");
      clt_measurement_init(&out[i], k->config);
      timed = take_answer(pool, k, &out[i]);
      if (timed) clt_pool_learn(pool, &out[i]);
    }
    if (rc == CLT_OK && !timed) rc = clt_measurement_copy(&out[i], &k->measurement, error);
  }
  if (rc) clt_pool_give_up_kept(pool);
  clt_pool_lock(pool, CLT_UNLOCKED);
  return rc;
}
