#include "worker/child/spread.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/memory.h"

struct clt_spread_thread {
  pid_t id;
  cpu_set_t before;
};

static int by_id(const void *a, const void *b) {
  const clt_spread_thread *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

/* Whether the thread may use what the process may, and is none of ours. */
static bool is_free(clt_spread_thread *thread, const cpu_set_t *allowed) {
  return thread->id > 0 && thread->id != gettid() &&
         sched_getaffinity(thread->id, sizeof thread->before, &thread->before) == 0 &&
         CPU_EQUAL(&thread->before, allowed);
}

static void find_threads(clt_spread *out, const cpu_set_t *allowed) {
  size_t capacity = 0;
  DIR *folder = opendir("/proc/self/task");
  if (folder == NULL) return;
  for (const struct dirent *entry; (entry = readdir(folder));) {
    if (clt_grow(&out->threads, &capacity, out->n + 1, sizeof *out->threads)) break;
    out->threads[out->n].id = (pid_t)strtol(entry->d_name, NULL, 10);
    if (is_free(&out->threads[out->n], allowed)) out->n++;
  }
  closedir(folder);
  if (out->n) qsort(out->threads, out->n, sizeof *out->threads, by_id);
}

/* The next one after `last`, around. */
static int next_processor(const cpu_set_t *allowed, int last) {
  do last = (last + 1) % CPU_SETSIZE;
  while (!CPU_ISSET(last, allowed));
  return last;
}

void clt_spread_begin(clt_spread *out) {
  cpu_set_t allowed, one;
  int processor = -1;
  *out = (clt_spread){0};
  if (sched_getaffinity(0, sizeof allowed, &allowed) || CPU_COUNT(&allowed) < 2) return;
  find_threads(out, &allowed);
  for (size_t i = 0; i < out->n; i++) {
    processor = next_processor(&allowed, processor);
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(out->threads[i].id, sizeof one, &one);
  }
}

void clt_spread_end(clt_spread *spread) {
  for (size_t i = 0; i < spread->n; i++)
    sched_setaffinity(spread->threads[i].id, sizeof spread->threads[i].before, &spread->threads[i].before);
  free(spread->threads);
  *spread = (clt_spread){0};
}
