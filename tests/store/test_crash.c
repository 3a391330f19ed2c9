/* Several processes on one store, and processes killed in the middle. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "clatune/store.h"
#include "store_support.h"

#define MAX_RECORDS 100000

typedef struct scratch {
  char *folder, path[600];
  clt_space *space;
  clt_store_key key;
} scratch;

static int make_scratch(void **state) {
  scratch *s = calloc(1, sizeof *s);
  s->folder = make_folder();
  snprintf(s->path, sizeof s->path, "%s/store.sqlite", s->folder);
  s->space = make_space("a", "range(1000)", "b", "range(100)", NULL);
  s->key = make_key("p");
  *state = s;
  return 0;
}

static int remove_scratch(void **state) {
  scratch *s = *state;
  clt_space_free(s->space);
  remove_folder(s->folder);
  free(s);
  return 0;
}

/* In a child: adds configurations first, first + 1, ... and says each through the pipe once it is added. */
static int add_and_tell(const scratch *s, uint32_t first, uint32_t n, int pipe) {
  clt_store *store = NULL;
  if (clt_store_new(&store, "sqlite", s->path, NULL)) return 2;
  for (uint32_t c = first; c < first + n; c++) {
    clt_measurement m = make_measurement(c, 1 + c);
    if (clt_store_add(store, &s->key, s->space, CLT_RECORD_SEARCH, &m, NULL)) return 3;
    if (write(pipe, &c, sizeof c) != sizeof c) return 4;
  }
  clt_store_free(store);
  return 0;
}

typedef struct child {
  pid_t pid;
  int pipe;
} child;

static child start(const scratch *s, uint32_t first, uint32_t n) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  fflush(NULL);
  pid_t pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    close(ends[0]);
    _exit(add_and_tell(s, first, n, ends[1]));
  }
  close(ends[1]);
  return (child){pid, ends[0]};
}

typedef struct tally {
  unsigned char acknowledged[MAX_RECORDS], found[MAX_RECORDS];
  size_t n_records;
} tally;

/* Reads acknowledgements: at most limit, or until the pipe ends. */
static uint32_t acknowledge(tally *t, const child *c, uint32_t limit) {
  uint32_t config, n = 0;
  for (; n < limit && read(c->pipe, &config, sizeof config) == sizeof config; n++) {
    assert_true(config < MAX_RECORDS);
    t->acknowledged[config]++;
  }
  return n;
}

static int count(void *user, clt_record_kind kind, const clt_measurement *m) {
  tally *t = user;
  (void)kind;
  assert_true(m->time_s == 1.0 + (double)m->config && m->n_runs == 2 && m->runs_s[1] == m->time_s * 1.5);
  t->found[m->config]++;
  t->n_records++;
  return 0;
}

static void look_into_the_store(tally *t, const scratch *s) {
  clt_store *store = NULL;
  clt_error error = {0};
  if (clt_store_new(&store, "sqlite", s->path, &error)) fail_msg("%s", error.message);
  size_t n_foreign = 1;
  assert_int_equal(clt_store_each(store, &s->key, s->space, count, t, &n_foreign, NULL), 0);
  assert_int_equal(n_foreign, 0);
  clt_store_free(store);
}

static void pause_for(uint64_t ns) { nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL); }

static void what_was_acknowledged_survives_kill_9_once(void **state) {
  const scratch *s = *state;
  static tally t;
  clt_rng rng;
  clt_rng_init(&rng, 3);
  uint32_t first = 0;
  const int n_rounds = 30;
  for (int round = 0; round < n_rounds; round++) {
    child c = start(s, first, MAX_RECORDS - first);
    uint32_t n = acknowledge(&t, &c, (uint32_t)clt_rng_below(&rng, 60)); /* 0: killed while it opens the store */
    pause_for(clt_rng_below(&rng, 3000000));                             /* somewhere inside of a commit */
    assert_int_equal(kill(c.pid, SIGKILL), 0);
    n += acknowledge(&t, &c, MAX_RECORDS);
    close(c.pipe);
    int status;
    assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
    assert_true(WIFSIGNALED(status));
    first += n + 1; /* the one under way may be there or not */
  }
  look_into_the_store(&t, s);
  size_t n_unacknowledged = 0;
  for (size_t i = 0; i < MAX_RECORDS; i++) {
    assert_true(t.acknowledged[i] <= 1 && t.found[i] <= 1);
    if (t.acknowledged[i] && !t.found[i]) fail_msg("record %zu was acknowledged and is lost", i);
    n_unacknowledged += t.found[i] && !t.acknowledged[i];
  }
  assert_true(t.n_records > 0 && n_unacknowledged <= (size_t)n_rounds);
}

static void two_tunings_share_a_store(void **state) {
  const scratch *s = *state;
  static tally t;
  const uint32_t n = 200;
  child children[4];
  for (uint32_t i = 0; i < 4; i++) children[i] = start(s, i * n, n); /* they also make the file at the same time */
  for (uint32_t i = 0; i < 4; i++) {
    int status;
    assert_int_equal(acknowledge(&t, &children[i], MAX_RECORDS), n);
    close(children[i].pipe);
    assert_int_equal(waitpid(children[i].pid, &status, 0), children[i].pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  look_into_the_store(&t, s);
  assert_int_equal(t.n_records, 4 * n);
  for (uint32_t i = 0; i < 4 * n; i++) assert_int_equal(t.found[i], 1);
}

static void a_reader_sees_what_a_writer_adds(void **state) {
  const scratch *s = *state;
  static tally before, after;
  clt_store *reader = NULL, *writer = NULL;
  assert_int_equal(clt_store_new(&reader, "sqlite", s->path, NULL), 0);
  assert_int_equal(clt_store_new(&writer, "sqlite", s->path, NULL), 0);
  clt_measurement m = make_measurement(5, 6);
  assert_int_equal(clt_store_each(reader, &s->key, s->space, count, &before, NULL, NULL), 0);
  assert_int_equal(clt_store_add(writer, &s->key, s->space, CLT_RECORD_SEARCH, &m, NULL), 0);
  assert_int_equal(clt_store_each(reader, &s->key, s->space, count, &after, NULL, NULL), 0);
  assert_int_equal(before.n_records, 0);
  assert_int_equal(after.n_records, 1);
  clt_store_free(writer);
  clt_store_free(reader);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_was_acknowledged_survives_kill_9_once, make_scratch, remove_scratch),
      cmocka_unit_test_setup_teardown(two_tunings_share_a_store, make_scratch, remove_scratch),
      cmocka_unit_test_setup_teardown(a_reader_sees_what_a_writer_adds, make_scratch, remove_scratch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
