/* A temporary folder, the fake worker, and a pool on it. Included by the tests of the pool. */
#ifndef POOL_FIXTURE_H
#define POOL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/text.h"
#include "clatune/sys/evaluator.h"
#include "fake_worker.h"
#include "worker/workers.h"

typedef struct fixture {
  char folder[64], log[80];
  json_t *open;
} fixture;

static inline int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  strcpy(f->folder, "/tmp/test-eval-XXXXXX");
  if (f == NULL || mkdtemp(f->folder) == NULL) return -1;
  snprintf(f->log, sizeof f->log, "%s/log", f->folder);
  setenv("TMPDIR", f->folder, 1);
  setenv("XDG_RUNTIME_DIR", f->folder, 1);
  setenv("FAKE_LOG", f->log, 1);
  setenv("CLATUNE_WORKER", FAKE_WORKER, 1);
  unsetenv("FAKE_START");
  f->open = json_pack("{s:s}", "request", "open");
  *state = f;
  return 0;
}

static inline int tear_down(void **state) {
  fixture *f = *state;
  clt_remove_tree(f->folder, 0);
  json_decref(f->open);
  free(f);
  return 0;
}

static inline clt_pool_setup pool_setup(const fixture *f) {
  static const clt_check other = {{CLT_INPUTS_OTHER}};
  return (clt_pool_setup){.evaluator = {.checks = &other, .n_checks = 1},
                          .n_workers = 2,
                          .n_slots = 2,
                          .open = f->open,
                          .lock_key = "cpu",
                          .quiet_builds = true,
                          .compile_timeout_s = 20,
                          .run_timeout_s = 20,
                          .host_timeout_s = 20,
                          .timing = {.min_runs = 3, .max_runs = 3, .warm_up = true}};
}

static inline clt_pool *open_pool(const clt_pool_setup *setup) {
  clt_pool *pool = calloc(1, sizeof *pool);
  clt_error error = {0};
  assert_non_null(pool);
  if (clt_pool_open(pool, setup, &error)) fail_msg("%s", error.message);
  return pool;
}

static inline void close_pool(clt_pool *pool) {
  clt_pool_close(pool);
  free(pool);
}

/* The same as clt_pools_wait, for one pool. */
static inline int wait_pool(clt_pool *pool, clt_measurement *out, double timeout_s, clt_error *error) {
  const double until_s = clt_now_s() + (pool->n_submitted > 0 ? timeout_s : 0);
  for (bool last = false;;) {
    clt_error why = {0};
    int rc = clt_pool_take(pool, out, error);
    if (rc != CLT_E_AGAIN || last) return rc;
    double left_s = until_s - clt_now_s();
    last = left_s <= 0;
    clt_pool_break(pool, clt_pool_pump(pool, fmax(left_s, 0), &why), &why);
  }
}

/* Measures n configurations; out[i] belongs to configs[i], each delivered exactly once. */
static inline void measure_all(clt_pool *pool, const clt_config *configs, size_t n, clt_measurement *out) {
  size_t submitted = 0, received = 0, under_way = 0;
  for (size_t i = 0; i < n; i++) clt_measurement_init(&out[i], CLT_CONFIG_NONE);
  while (received < n) {
    clt_error error = {0};
    clt_measurement m;
    for (; submitted < n && under_way < pool->capacity; submitted++, under_way++)
      assert_int_equal(clt_pool_submit(pool, configs[submitted], 0, NULL), 0);
    if (wait_pool(pool, &m, 60, &error)) fail_msg("%s", error.message);
    received++, under_way--;
    size_t i = 0;
    while (i < n && configs[i] != m.config) i++;
    assert_true(i < n);
    assert_true(out[i].config == CLT_CONFIG_NONE);
    out[i] = m;
  }
  assert_int_equal(wait_pool(pool, &(clt_measurement){0}, 0, NULL), CLT_E_AGAIN);
}

static inline void expect(const clt_measurement *m, clt_reason reason) {
  if (m->reason != reason)
    fail_msg("configuration %d: %s instead of %s (%s)", (int)m->config, clt_reason_name(m->reason),
             clt_reason_name(reason), m->log ? m->log : "");
}

static inline void expect_log(const clt_measurement *m, const char *text) {
  if (text && (m->log == NULL || strstr(m->log, text) == NULL))
    fail_msg("configuration %d: '%s' is not in the log '%s'", (int)m->config, text, m->log ? m->log : "");
}

static inline void release_all(clt_measurement *m, size_t n) {
  for (size_t i = 0; i < n; i++) clt_measurement_release(&m[i]);
}

/* How many lines of the fake workers' log contain a text. */
static inline size_t count_log(const fixture *f, const char *text) {
  char line[200];
  size_t n = 0;
  FILE *file = fopen(f->log, "r");
  while (file && fgets(line, sizeof line, file)) n += strstr(line, text) != NULL;
  if (file) fclose(file);
  return n;
}

static inline bool exists(pid_t pid) {
  char path[40], line[300] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "r");
  if (file == NULL) return false;
  bool got = fgets(line, sizeof line, file) != NULL;
  fclose(file);
  const char *state = got ? strrchr(line, ')') : NULL;
  return state && state[2] != 'Z' && state[2] != 'X'; /* a zombie is the business of the process that inherited it */
}

#define LAST_COLUMN 3
/* Whether all processes that the log names are gone; killed ones may need a moment. */
static inline bool all_gone(const fixture *f) {
  int pid, child;
  char at[40], rest[100];
  double until_s = clt_now_s() + 10;
  for (bool alive = true; alive && clt_now_s() < until_s;) {
    alive = false;
    FILE *file = fopen(f->log, "r");
    if (file == NULL) return false;
    while (fscanf(file, "%d %39s %99[^\n]", &pid, at, rest) == LAST_COLUMN) {
      alive = alive || exists(pid);
      if (sscanf(rest, "child %d", &child) == 1) alive = alive || exists(child);
    }
    fclose(file);
    if (!alive) return true;
  }
  return false;
}

static inline size_t count_folders(const fixture *f, const char *prefix) {
  size_t n = 0;
  DIR *listing = opendir(f->folder);
  for (struct dirent *entry; listing && (entry = readdir(listing));)
    n += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
  if (listing) closedir(listing);
  return n;
}

#endif
