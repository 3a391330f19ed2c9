/* One tuning on several equal devices. Each device has an independent pool. A pool takes the lock of its device only
 * when needed and never waits for two locks, so tuners cannot deadlock. A configuration goes to the device with the
 * fewest. Before anything else, every device runs the same configuration; a device whose time differs from the first
 * one's has its times scaled. */
#include "worker/pools.h"
#include "base/base.h"

#define EQUALLY_FAST 0.03 /* relative difference up to which times are not scaled */

int clt_pools_open(clt_pools *s, const clt_pool_setup *setups, size_t n, clt_config compare, clt_error *error) {
  size_t capacity = 0;
  for (size_t i = 0; i < n; i++) capacity += setups[i].n_workers * setups[i].n_slots;
  *s = (clt_pools){.caller = setups[0].evaluator,
                   .compare = compare,
                   .compared_s = NAN,
                   .capacity = capacity,
                   .devices = clt_new_array(n, sizeof *s->devices),
                   .tasks = clt_new_array(capacity, sizeof *s->tasks),
                   .watched = clt_new_array(n * CLT_POOL_WATCHED, sizeof *s->watched)};
  int rc = s->devices && s->tasks && s->watched ? CLT_OK : clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_pools_device *d = &s->devices[i];
    clt_pool_setup setup = setups[i];
    if (i > 0) setup.data_of = &s->devices[0].pool;
    d->stage = n > 1 ? CLT_POOLS_NEW : CLT_POOLS_READY;
    d->scale = 1;
    rc = clt_pool_open(&d->pool, &setup, error);
    s->n += rc == CLT_OK; /* a pool that failed to open is closed already */
  }
  if (rc) clt_pools_close(s);
  return rc;
}

void clt_pools_close(void *state) {
  clt_pools *s = state;
  for (size_t i = 1; i < s->n; i++)
    clt_pool_kill(&s->devices[i].pool); /* all at once; the first device's workers may go to the reserve */
  for (size_t i = s->n; i-- > 0;) clt_pool_close(&s->devices[i].pool);
  free(s->devices);
  free(s->tasks);
  free(s->watched);
  *s = (clt_pools){.n = 0};
}

/* The first device that is not left out (ready: that is ready); NULL: none. */
static clt_pools_device *first_device(const clt_pools *s, bool ready) {
  for (size_t i = 0; i < s->n; i++) {
    const clt_pools_stage stage = s->devices[i].stage;
    if (stage == CLT_POOLS_READY || (!ready && stage != CLT_POOLS_LEFT_OUT)) return &s->devices[i];
  }
  return NULL;
}

/* --- devices are compared, and left out --- */

static void leave_out(clt_pools *s, clt_pools_device *d) {
  d->stage = CLT_POOLS_LEFT_OUT;
  clt_pool_kill(&d->pool);
  clt_pool_lock(&d->pool, CLT_UNLOCKED);
  for (size_t i = 0; i < s->n_tasks; i++)
    if (s->tasks[i].at == d) s->tasks[i].at = NULL;
}

static bool others_left(const clt_pools *s, const clt_pools_device *d) {
  for (const clt_pools_device *other = s->devices; other < s->devices + s->n; other++)
    if (other != d && other->stage != CLT_POOLS_LEFT_OUT && !other->pool.broken) return true;
  return false;
}

/* The first device must have made the data for all before it can be left out. */
static bool can_do_without(const clt_pools *s, const clt_pools_device *d, int rc) {
  const bool of_device = rc == CLT_E_DEVICE || rc == CLT_E_OPENCL || rc == CLT_E_WORKER;
  return of_device && others_left(s, d) && (d != s->devices || d->pool.data_made);
}

/* Compares the devices that have run the common configuration, once the first device has. */
static void judge_devices(clt_pools *s) {
  const clt_pools_device *first = first_device(s, false);
  if (first && first->stage == CLT_POOLS_COMPARED && !s->is_compared) {
    s->is_compared = true;
    s->compared_s = first->compared_s;
    if (isnan(s->compared_s))
      clt_pool_log(
          &first->pool, CLT_LOG_WARNING,
          "the configuration used to compare the devices fails on this one; all devices are taken as equally fast");
  }
  for (clt_pools_device *d = s->devices; s->is_compared && d < s->devices + s->n; d++) {
    if (d->stage != CLT_POOLS_COMPARED) continue;
    const double ratio = d->compared_s / s->compared_s;
    d->stage = CLT_POOLS_READY;
    if (isnan(d->compared_s) && !isnan(s->compared_s) && others_left(s, d)) {
      clt_pool_log(
          &d->pool, CLT_LOG_WARNING,
          "a configuration that is correct on the first device fails on this one; continuing without this device");
      leave_out(s, d);
    } else if (fabs(ratio - 1) > EQUALLY_FAST) {
      clt_pool_log(&d->pool, CLT_LOG_WARNING,
                   "takes %.3g times as long as the first device for the same configuration; its times are divided by "
                   "this factor",
                   ratio);
      d->scale = 1 / ratio;
    }
  }
}

static void scale_times(clt_measurement *m, double scale) {
  if (scale == 1) return;
  for (size_t i = 0; i < m->n_runs; i++) m->runs_s[i] *= scale;
  m->time_s *= scale;
}

/* Waiting for other tuners counts only while no device does anything else. */
static void count_waiting(clt_pools *s) {
  double least_s = INFINITY;
  for (size_t i = 0; i < s->n; i++) {
    clt_pools_device *d = &s->devices[i];
    const double new_s = d->pool.waited_s - d->waited_s;
    d->waited_s += new_s;
    if (d->stage != CLT_POOLS_LEFT_OUT && (new_s > 0 || d->pool.n_submitted > 0)) least_s = fmin(least_s, new_s);
  }
  if (isfinite(least_s) && s->caller.waited_s) *s->caller.waited_s += least_s;
}

/* --- for the evaluator --- */

static int hand_out(clt_pools *s, clt_error *error) {
  const clt_pools_device *first = first_device(s, false);
  int rc = CLT_OK;
  for (clt_pools_task *task = s->tasks; rc == CLT_OK && task < s->tasks + s->n_tasks; task++) {
    clt_pools_device *least = NULL;
    if (task->at == NULL && task->config == s->compare && first->stage == CLT_POOLS_COMPARING) task->at = first;
    if (task->at) continue;
    for (clt_pools_device *d = s->devices; d < s->devices + s->n; d++)
      if (d->stage == CLT_POOLS_READY && d->pool.n_submitted < d->pool.capacity &&
          (least == NULL || d->pool.n_submitted < least->pool.n_submitted))
        least = d;
    if (least == NULL) break;
    task->at = least;
    rc = clt_pool_submit(&least->pool, task->config, task->best_s / least->scale, error);
  }
  return rc;
}

int clt_pools_submit(void *state, clt_config config, double best_s, clt_error *error) {
  clt_pools *s = state;
  int rc = clt_check_submitted(s->n_tasks, s->capacity, error);
  for (clt_pools_device *d = s->devices; rc == CLT_OK && d < s->devices + s->n; d++) {
    if (d->stage != CLT_POOLS_NEW) continue;
    d->stage = CLT_POOLS_COMPARING;
    rc = clt_pool_submit(&d->pool, s->compare, 0, error);
  }
  if (rc) return rc;
  s->tasks[s->n_tasks++] = (clt_pools_task){config, best_s, NULL};
  return hand_out(s, error);
}

/* Notes a result. False: nothing was submitted for it; it only served to compare devices. */
static bool receive(clt_pools *s, clt_pools_device *d, clt_measurement *m) {
  clt_pools_task *task = s->tasks, *end = s->tasks + s->n_tasks;
  if (d->stage == CLT_POOLS_COMPARING) {
    d->compared_s = clt_measurement_correct(m) ? m->time_s : NAN;
    d->stage = CLT_POOLS_COMPARED;
    judge_devices(s);
  }
  while (task < end && !(task->at == d && task->config == m->config)) task++;
  if (task == end) {
    clt_measurement_release(m);
    return false;
  }
  memmove(task, task + 1, (size_t)(end - task - 1) * sizeof *task);
  s->n_tasks--;
  scale_times(m, d->scale);
  return true;
}

/* Takes results from all pools until one answers a submission. CLT_E_AGAIN: there is none. */
static int take_answer(clt_pools *s, clt_measurement *out, clt_error *error) {
  int rc = hand_out(s, error);
  for (size_t n_idle = 0; rc == CLT_OK && n_idle < s->n;) {
    clt_pools_device *d = &s->devices[s->turn];
    clt_error why = {0};
    s->turn = (s->turn + 1) % s->n;
    rc = d->stage == CLT_POOLS_LEFT_OUT ? CLT_E_AGAIN : clt_pool_take(&d->pool, out, &why);
    if (rc == CLT_OK && receive(s, d, out)) return CLT_OK;
    if (rc == CLT_E_AGAIN) {
      n_idle++;
      rc = CLT_OK;
      continue;
    }
    if (rc != CLT_OK && !can_do_without(s, d, rc)) {
      clt_fail_as(error, &why);
      return rc;
    }
    if (rc != CLT_OK) {
      clt_pool_log(&d->pool, CLT_LOG_WARNING, "%s; continuing without this device", why.message);
      leave_out(s, d);
      judge_devices(s);
    }
    n_idle = 0; /* a device is ready, or its tasks must move to others */
    rc = hand_out(s, error);
  }
  return rc ? rc : CLT_E_AGAIN;
}

int clt_pools_wait(void *state, clt_measurement *out, double timeout_s, clt_error *error) {
  clt_pools *s = state;
  /* Without submissions, workers still start and the device is released. Otherwise a caller that waits for another
   * tuner's result would keep that tuner from timing. */
  const double until_s = clt_now_s() + (s->n_tasks > 0 ? timeout_s : 0);
  for (bool last = false;;) {
    int rc = take_answer(s, out, error);
    count_waiting(s);
    if (rc != CLT_E_AGAIN || last) return rc;
    double wait_s = until_s - clt_now_s();
    size_t n = 0;
    last = wait_s <= 0;
    for (size_t i = 0; i < s->n; i++)
      if (s->devices[i].stage != CLT_POOLS_LEFT_OUT) n += clt_pool_watch(&s->devices[i].pool, s->watched + n, &wait_s);
    const double jump_s = clt_poll(s->watched, n, wait_s);
    for (size_t i = 0; i < s->n; i++) {
      clt_error why = {0};
      clt_pool *pool = &s->devices[i].pool;
      if (s->devices[i].stage != CLT_POOLS_LEFT_OUT)
        clt_pool_break(pool, clt_pool_handle(pool, wait_s, jump_s, &why), &why);
    }
  }
}

/* All finalists are on one device; meanwhile the others have neither processes nor locks. */
int clt_pools_keep(void *state, const clt_config *configs, size_t n, clt_measurement *out, clt_error *error) {
  clt_pools *s = state;
  int rc = clt_check_finalists(s->n_tasks, error);
  if (rc) return rc;
  s->keeper = first_device(s, true);
  if (s->keeper == NULL) s->keeper = first_device(s, false);
  for (clt_pools_device *d = s->devices; d < s->devices + s->n; d++) {
    if (d == s->keeper || d->stage == CLT_POOLS_LEFT_OUT) continue;
    if (clt_pool_keep(&d->pool, NULL, 0, NULL, NULL))
      leave_out(s, d); /* it is still running the common configuration */
    clt_pool_lock(&d->pool, CLT_UNLOCKED);
  }
  rc = clt_pool_keep(&s->keeper->pool, configs, n, out, error);
  count_waiting(s);
  return rc;
}

int clt_pools_time_again(void *state, const size_t *indices, size_t n, size_t n_runs, clt_measurement *out,
                         clt_error *error) {
  clt_pools *s = state;
  clt_pools_device *d = s->keeper ? s->keeper : s->devices; /* keep was not called: reports the error */
  const int rc = clt_pool_time_again(&d->pool, indices, n, n_runs, out, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) scale_times(&out[i], d->scale);
  count_waiting(s);
  return rc;
}
