#include "layer/rules.h"

#include <CL/cl.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/hash.h"
#include "common/description.h"
#include "common/wait.h"

typedef struct rule {
  fault_point point;
  fault what;
  const char *when;  /* NULL: always */
  const char *after; /* NULL: from the first on */
  bool came;         /* the launch before it was in this process */
  double share;
  uint64_t seed;
  uint64_t from, every, times; /* occasions, from 1 */
} rule;

static rule *rules;
static size_t n_rules;
static int log_file = -1;
static atomic_ullong *counters; /* one a rule: occasions so far */
static pthread_once_t described = PTHREAD_ONCE_INIT;

static const char *const point_names[FAULT_POINTS] = {"build", "launch", "run", "output", "time"};
static const char *const deed_names[] = {"none", "error", "sleep", "hang",   "abort", "segv",      "exit", "corrupt",
                                         "zero", "shift", "kill",  "others", "heap",  "interrupt", "note"};
enum { N_DEEDS = sizeof deed_names / sizeof *deed_names };

/* --- the description --- */

static int find_name(const char *const *names, int n, const char *name, const char *key) {
  for (int i = 0; i < n; i++)
    if (name && strcmp(names[i], name) == 0) return i;
  description_wrong("CLATUNE_FAULTS: '%s' of a rule cannot be '%s'", key, name ? name : "");
}

/* The point of a deed: changes of outputs and timestamps have a point of their own. */
static void check_point(const rule *r) {
  fault_deed deed = r->what.deed;
  bool fits = deed == FAULT_NOTE                          ? true
              : deed == FAULT_CORRUPT                     ? r->point == FAULT_OUTPUT
              : deed == FAULT_ZERO || deed == FAULT_SHIFT ? r->point == FAULT_TIME
                                                          : r->point <= FAULT_RUN;
  if (!fits)
    description_wrong("CLATUNE_FAULTS: '%s' cannot be done at '%s'", deed_names[r->what.deed], point_names[r->point]);
}

static void read_rule(rule *out, const json_t *json) {
  static const char *const keys[] = {"at",    "do",   "code", "seconds", "when",  "after",
                                     "share", "seed", "from", "every",   "times", NULL};
  description_keys(json, keys, "a rule of CLATUNE_FAULTS");
  out->point = (fault_point)find_name(point_names, FAULT_POINTS, description_text(json, "at", NULL), "at");
  out->what.deed = (fault_deed)find_name(deed_names, N_DEEDS, description_text(json, "do", NULL), "do");
  static const int codes[FAULT_POINTS] = {CL_BUILD_PROGRAM_FAILURE, CL_INVALID_WORK_GROUP_SIZE,
                                          CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST};
  out->what.code = (int)description_number(json, "code", out->what.deed == FAULT_EXIT ? 0 : codes[out->point]);
  out->what.seconds = description_number(json, "seconds", 1);
  out->when = description_text(json, "when", NULL);
  out->after = description_text(json, "after", NULL);
  out->share = description_number(json, "share", 1);
  out->seed = (uint64_t)description_number(json, "seed", 1);
  out->from = (uint64_t)description_number(json, "from", 1);
  out->every = (uint64_t)description_number(json, "every", 1);
  out->times = (uint64_t)description_number(json, "times", 1e18);
  if (out->every == 0) description_wrong("CLATUNE_FAULTS: 'every' of a rule has to be at least 1");
  check_point(out);
}

/* Memory that all processes with this file share; memory of this process if there is no file. */
static atomic_ullong *open_counters(const char *path) {
  size_t bytes = (n_rules + 1) * sizeof(atomic_ullong);
  if (path == NULL) return clt_new_array(n_rules, sizeof(atomic_ullong));
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  void *memory = MAP_FAILED;
  if (file >= 0 && ftruncate(file, (off_t)bytes) == 0)
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) description_wrong("CLATUNE_FAULTS: cannot use '%s': %s", path, strerror(errno));
  close(file);
  return memory;
}

static void describe(void) {
  static const char *const keys[] = {"rules", "log", "counters", NULL};
  json_t *root = description_read("CLATUNE_FAULTS", NULL, NULL), *list = json_object_get(root, "rules");
  if (root == NULL) return;
  description_keys(root, keys, "CLATUNE_FAULTS");
  if (!json_is_array(list)) description_wrong("CLATUNE_FAULTS: the list 'rules' is missing");
  rules = clt_new_array(json_array_size(list), sizeof *rules);
  if (rules == NULL) description_wrong("out of memory");
  for (; n_rules < json_array_size(list); n_rules++) read_rule(&rules[n_rules], json_array_get(list, n_rules));
  counters = open_counters(description_text(root, "counters", NULL));
  const char *path = description_text(root, "log", NULL);
  if (path) log_file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (path && log_file < 0) description_wrong("CLATUNE_FAULTS: cannot open '%s': %s", path, strerror(errno));
}

bool faults_has(fault_point point) {
  pthread_once(&described, describe);
  for (size_t i = 0; i < n_rules; i++)
    if (rules[i].point == point) return true;
  return false;
}

/* --- choosing --- */

static bool is_drawn(const rule *r, const defines *d) {
  if (r->share >= 1) return true;
  uint64_t key[2] = {defines_hash(d), r->seed};
  return (double)(clt_hash64(key, sizeof key) >> 11) * 0x1p-53 < r->share;
}

static bool concerns(const rule *r, const defines *d) {
  bool holds = true;
  if (r->after && !r->came) return false;
  if (r->when && defines_truth(d, r->when, &holds, NULL)) return false;
  return holds && is_drawn(r, d);
}

static bool is_due(const rule *r, uint64_t occasion) {
  if (occasion < r->from || (occasion - r->from) % r->every) return false;
  return (occasion - r->from) / r->every < r->times;
}

/* One write, so that the lines of several processes stay whole. */
static void note(const rule *r, const defines *d) {
  char line[4096];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  int n = snprintf(line, sizeof line, "%lld.%06ld %d %s %s", (long long)now.tv_sec, now.tv_nsec / 1000, (int)getpid(),
                   point_names[r->point], deed_names[r->what.deed]);
  for (size_t i = 0; i < d->n && n > 0 && (size_t)n < sizeof line - 128; i++) {
    char value[64];
    const clt_symbol *s = &d->symbols[i];
    if (s->value.type != CLT_STRING) clt_value_print(value, sizeof value, s->value);
    n += snprintf(line + n, sizeof line - (size_t)n, " %.40s=%.60s", s->name,
                  s->value.type == CLT_STRING ? s->value.text : value);
  }
  line[n++] = '\n';
  if (log_file >= 0 && write(log_file, line, (size_t)n) != n) description_wrong("cannot write the log of faults");
}

fault faults_at(fault_point point, const defines *configuration) {
  fault found = {FAULT_NONE};
  pthread_once(&described, describe);
  if (configuration->n == 0) return found; /* no configuration: a program's own queries of a device */
  for (size_t i = 0; i < n_rules && found.deed == FAULT_NONE; i++) {
    const rule *r = &rules[i];
    if (r->point != point || !concerns(r, configuration)) continue;
    if (!is_due(r, atomic_fetch_add(&counters[i], 1) + 1)) continue;
    found = r->what;
    note(r, configuration);
  }
  for (size_t i = 0; i < n_rules && point == FAULT_LAUNCH; i++) {
    bool holds = false;
    if (rules[i].after && defines_truth(configuration, rules[i].after, &holds, NULL) == 0 && holds)
      rules[i].came = true;
  }
  return found;
}

/* --- doing --- */

static void crash(void) {
  static int *volatile nowhere; /* not known to be NULL */
  *nowhere = 1;
}

static void kill_others(void) {
  int child;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)getppid(), (int)getppid());
  FILE *file = fopen(path, "re");
  while (file && fscanf(file, "%d", &child) == 1)
    if (child != getpid()) kill(child, SIGKILL);
  if (file) fclose(file);
}

static void damage_heap(void) {
  enum { BYTES = 20 }; /* blocks are multiples of 16, and 8: the memory behind belongs to no buffer */
  volatile char *volatile block = malloc(BYTES);
  volatile int behind = BYTES;
  if (block) block[behind] ^= 0x5a;
  free((void *)(uintptr_t)block);
}

void fault_commit(fault f) {
  switch (f.deed) {
    case FAULT_SLEEP: wait_s(f.seconds); return;
    case FAULT_HANG:
      for (;;) pause();
    case FAULT_ABORT: abort();
    case FAULT_SEGV: crash(); return;
    case FAULT_EXIT: exit(f.code);
    case FAULT_KILL:
      kill(getppid(), SIGKILL);
      raise(SIGKILL);
      return;
    case FAULT_OTHERS: kill_others(); return;
    case FAULT_HEAP: damage_heap(); return;
    case FAULT_INTERRUPT: kill(getppid(), SIGINT); return;
    default: return;
  }
}
