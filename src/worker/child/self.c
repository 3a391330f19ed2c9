/* What the worker does to its own process: limits, its threads' processors, and the last words of a fault. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/memory.h"
#include "worker/child/child.h"
#include "worker/message.h"

/* --- limits --- */

#ifdef __SANITIZE_ADDRESS__
#define LIMITED false /* its shadow alone is more than any limit */
#else
#define LIMITED true
#endif

int clt_worker_follow(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return getppid() == parent; /* it may have died before */
}

void clt_worker_limit(int64_t memory_bytes) {
  const struct rlimit none = {0, 0}, memory = {(rlim_t)memory_bytes, (rlim_t)memory_bytes};
  setrlimit(RLIMIT_CORE, &none);
  /* RLIMIT_DATA and not RLIMIT_AS: drivers reserve far more addresses than they use. */
  if (LIMITED && memory_bytes > 0) setrlimit(RLIMIT_DATA, &memory);
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd >= 0) {
    ssize_t written = write(fd, "800", 3);
    (void)written;
    close(fd);
  }
  fcntl(CLT_WORKER_FD, F_SETFD, FD_CLOEXEC);
  close_range(CLT_WORKER_FD + 1, ~0U, 0);
}

/* --- processors --- */

struct clt_spread_thread {
  pid_t id;
  cpu_set_t before;
};

static int by_thread_id(const void *a, const void *b) {
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
  if (out->n) qsort(out->threads, out->n, sizeof *out->threads, by_thread_id);
}

void clt_spread_begin(clt_spread *out) {
  cpu_set_t allowed, one;
  int processor = -1;
  *out = (clt_spread){0};
  if (sched_getaffinity(0, sizeof allowed, &allowed) || CPU_COUNT(&allowed) < 2) return;
  find_threads(out, &allowed);
  for (size_t i = 0; i < out->n; i++) {
    do processor = (processor + 1) % CPU_SETSIZE;
    while (!CPU_ISSET(processor, &allowed));
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

/* --- faults --- */

/* Made ready beforehand: a signal handler may not allocate. Set once, before there are threads. */
static struct {
  int fd;
  char *frame;
  size_t frame_bytes;
  char *cache; /* where PoCL keeps the objects that it loads */
} ready;

static uintptr_t instruction(const ucontext_t *context) {
#if defined(__x86_64__)
  return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (uintptr_t)context->uc_mcontext.pc;
#else
  (void)context;
  return 0;
#endif
}

static uintptr_t read_hex(const char **text) {
  uintptr_t x = 0;
  for (;; (*text)++) {
    char c = **text;
    if (c >= '0' && c <= '9') {
      x = x << 4 | (uintptr_t)(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      x = x << 4 | (uintptr_t)(c - 'a' + 10);
    } else {
      return x;
    }
  }
}

/* "begin-end rwxp offset dev inode   path": generated code has no file, or one in the cache. */
static bool is_generated(const char *line) {
  const char *path = strchr(line, '/');
  if (path) return ready.cache && strncmp(path, ready.cache, strlen(ready.cache)) == 0;
  return strchr(line, '[') == NULL;
}

typedef struct scan {
  uintptr_t address;
  bool found, generated;
  char line[1024];
  size_t n;
} scan;

static void judge_line(scan *s) {
  const char *at = s->line;
  uintptr_t begin = read_hex(&at);
  if (*at++ != '-' || s->address < begin || s->address >= read_hex(&at)) return;
  s->found = true;
  s->generated = strncmp(at, " r", 2) == 0 && strlen(at) > 3 && at[3] == 'x' && is_generated(s->line);
}

static void take(scan *s, char c) {
  if (c != '\n') {
    if (s->n + 1 < sizeof s->line) s->line[s->n++] = c;
    return;
  }
  s->line[s->n] = 0;
  s->n = 0;
  judge_line(s);
}

static size_t append(char *out, size_t used, size_t capacity, const char *text) {
  while (*text && used < capacity) out[used++] = *text++;
  return used;
}

/* Into the output that the parent keeps: a library, or the file of generated code, whose folder nobody knows. One call,
 * so that nothing comes between. */
static void print_place(const scan *s) {
  char text[1100];
  const char *path = s->found ? strpbrk(s->line, "/[") : NULL, *file = path ? strrchr(path, '/') : NULL;
  size_t n = append(text, 0, sizeof text - 1, "fault in ");
  if (s->generated) {
    n = append(text, n, sizeof text - 1, "generated code");
    if (file) n = append(text, n, sizeof text - 1, ": ");
    if (file) n = append(text, n, sizeof text - 1, file + 1);
  } else {
    n = append(text, n, sizeof text - 1, path ? path : "code that is in no file");
  }
  text[n++] = '\n';
  if (write(STDERR_FILENO, text, n) < 0) return;
}

/* Only calls that a signal handler may make. */
static bool in_generated_code(uintptr_t address) {
  scan s = {.address = address};
  char chunk[2048];
  ssize_t got;
  int fd;
  do fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  while (fd < 0 && errno == EINTR);
  while (fd >= 0 && !s.found && ((got = read(fd, chunk, sizeof chunk)) > 0 || (got < 0 && errno == EINTR)))
    for (ssize_t i = 0; i < got && !s.found; i++) take(&s, chunk[i]);
  if (fd >= 0) close(fd);
  print_place(&s);
  return s.generated;
}

/* Threads may fault together: the first one speaks for all, and the default comes back only when the parent knows.
 * Returning repeats the instruction, and the process ends as it would have; the other threads wait for that. */
static void on_fault(int number, siginfo_t *info, void *context) {
  static atomic_flag spoken = ATOMIC_FLAG_INIT;
  (void)info;
  if (atomic_flag_test_and_set(&spoken))
    for (;;) pause();
  if (in_generated_code(instruction(context)))
    send(ready.fd, ready.frame, ready.frame_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  signal(number, SIG_DFL);
}

void clt_worker_watch_faults_again(void) {
  const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  if (ready.frame == NULL) return;
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigaction(faults[i], &action, NULL);
}

void clt_worker_watch_faults(int fd) {
  const char *cache = getenv("POCL_CACHE_DIR");
  ready.fd = fd;
  if (cache) mkdir(cache, 0700); /* else it has no real path yet */
  ready.cache = cache ? realpath(cache, NULL) : NULL;
  json_t *message = clt_message_phase(CLT_AT_RUNNING);
  ready.frame = clt_frame_bytes(&ready.frame_bytes, message);
  json_decref(message);
  clt_worker_watch_faults_again();
}
