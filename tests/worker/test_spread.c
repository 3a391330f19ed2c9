/* Threads get processors of their own, and get back what they had. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/child/child.h"

#define N 4

typedef struct sleeper {
  pthread_t thread;
  pid_t id;
  pthread_barrier_t *started, *over;
} sleeper;

static void *sleep_there(void *user) {
  sleeper *s = user;
  s->id = gettid();
  pthread_barrier_wait(s->started);
  pthread_barrier_wait(s->over);
  return NULL;
}

typedef struct fixture {
  pthread_barrier_t started, over;
  sleeper sleepers[N];
} fixture;

/* One after the other, so that their order is known. */
static int set_up(void **state) {
  static fixture f;
  pthread_barrier_init(&f.started, NULL, 2);
  pthread_barrier_init(&f.over, NULL, N + 1);
  for (int i = 0; i < N; i++) {
    f.sleepers[i].started = &f.started;
    f.sleepers[i].over = &f.over;
    assert_int_equal(pthread_create(&f.sleepers[i].thread, NULL, sleep_there, &f.sleepers[i]), 0);
    pthread_barrier_wait(&f.started);
  }
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  pthread_barrier_wait(&f->over);
  for (int i = 0; i < N; i++) pthread_join(f->sleepers[i].thread, NULL);
  pthread_barrier_destroy(&f->started);
  pthread_barrier_destroy(&f->over);
  return 0;
}

static cpu_set_t processors_of(pid_t id) {
  cpu_set_t set;
  assert_int_equal(sched_getaffinity(id, sizeof set, &set), 0);
  return set;
}

static void neighbours_are_apart_and_get_all_back(void **state) {
  const fixture *f = *state;
  cpu_set_t own = processors_of(0), sets[N];
  clt_worker_spread_threads();
  for (int i = 0; i < N; i++) sets[i] = processors_of(f->sleepers[i].id);
  cpu_set_t meanwhile = processors_of(0);
  clt_worker_free_threads();
  assert_true(CPU_EQUAL(&own, &meanwhile));
  for (int i = 0; CPU_COUNT(&own) > 1 && i < N; i++) {
    assert_int_equal(CPU_COUNT(&sets[i]), 1);
    if (i > 0) assert_false(CPU_EQUAL(&sets[i], &sets[i - 1]));
  }
  for (int i = 0; i < N; i++) {
    cpu_set_t after = processors_of(f->sleepers[i].id);
    assert_true(CPU_EQUAL(&own, &after));
  }
}

static void who_is_bound_already_stays_there(void **state) {
  const fixture *f = *state;
  cpu_set_t own = processors_of(0), one;
  int last = -1;
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &own)) last = i;
  CPU_ZERO(&one);
  CPU_SET(last, &one);
  for (int i = 0; i < 2; i++) assert_int_equal(sched_setaffinity(f->sleepers[i].id, sizeof one, &one), 0);
  clt_worker_spread_threads();
  for (int i = 0; i < 2; i++) {
    cpu_set_t now = processors_of(f->sleepers[i].id);
    assert_true(CPU_EQUAL(&one, &now));
  }
  clt_worker_free_threads();
  for (int i = 0; i < 2; i++) {
    cpu_set_t after = processors_of(f->sleepers[i].id);
    assert_true(CPU_EQUAL(&one, &after));
  }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(neighbours_are_apart_and_get_all_back),
      CASE(who_is_bound_already_stays_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
