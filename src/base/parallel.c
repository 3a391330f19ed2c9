#include "base/base.h"

#include <pthread.h>
#include <sched.h>

#define MOST_THREADS 64

struct work {
  int (*task)(void *user, size_t index, clt_error *error);
  void *user;
  size_t next, n;
  pthread_mutex_t lock;
  int rc;
  clt_error *error;
};

unsigned clt_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set)) return 1;
  int n = CPU_COUNT(&set);
  return n > 0 ? (unsigned)n : 1;
}

/* The first failure ends the work; it is the one reported. */
static void *run_tasks(void *argument) {
  struct work *work = argument;
  for (;;) {
    pthread_mutex_lock(&work->lock);
    size_t index = work->rc == CLT_OK ? work->next : work->n;
    if (index < work->n) work->next++;
    pthread_mutex_unlock(&work->lock);
    if (index >= work->n) return NULL;
    clt_error error = {0};
    int rc = work->task(work->user, index, &error);
    if (rc == CLT_OK) continue;
    pthread_mutex_lock(&work->lock);
    if (work->rc == CLT_OK && work->error && work->error->code == 0) *work->error = error;
    if (work->rc == CLT_OK) work->rc = rc;
    pthread_mutex_unlock(&work->lock);
  }
}

int clt_parallel(unsigned threads, size_t n, int (*task)(void *user, size_t index, clt_error *error), void *user,
                 clt_error *error) {
  struct work work = {task, user, 0, n, .lock = PTHREAD_MUTEX_INITIALIZER, .error = error};
  if (threads == 0) threads = clt_processors();
  if (threads > n) threads = (unsigned)n;
  if (threads > MOST_THREADS) threads = MOST_THREADS;
  pthread_t thread[MOST_THREADS];
  unsigned started = 0;
  /* The calling thread works too, so fewer threads than wanted are not an error. */
  while (started + 1 < threads && pthread_create(&thread[started], NULL, run_tasks, &work) == 0) started++;
  run_tasks(&work);
  for (unsigned i = 0; i < started; i++) pthread_join(thread[i], NULL);
  return work.rc;
}
