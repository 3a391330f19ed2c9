/* The worker's own process: limits, processors of its threads, and the report of a fault. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/base.h"
#include "problem/command.h"
#include "worker/child/child.h"
#include "worker/message.h"

/* --- limits --- */

#ifdef __SANITIZE_ADDRESS__
#define LIMITED false /* AddressSanitizer's shadow memory exceeds any limit */
#else
#define LIMITED true
#endif

int clt_worker_follow(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return getppid() == parent; /* the parent may have ended before */
}

void clt_worker_launch_generators(void) {
  static char parent[32];
  static const char *const launcher[] = {"/proc/self/exe", "--become", parent, NULL};
  snprintf(parent, sizeof parent, "%lld", (long long)getpid());
  clt_generator_launch_by(launcher);
}

int clt_worker_become(pid_t parent, char *const *words) {
  if (!clt_worker_follow(parent)) return 1;
  execvp(words[0], words);
  fprintf(stderr, CLT_CANNOT_START "%s': %s\n", words[0], strerror(errno));
  return 127;
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

/* The bound threads, and the processors that were allowed before. */
static struct {
  pid_t *threads;
  size_t n, capacity;
  cpu_set_t allowed;
} spread;

void clt_worker_spread_threads(void) {
  cpu_set_t one;
  int processor = -1;
  if (sched_getaffinity(0, sizeof spread.allowed, &spread.allowed) || CPU_COUNT(&spread.allowed) < 2) return;
  DIR *folder = opendir("/proc/self/task"); /* lists threads in the order of their start */
  for (const struct dirent *entry; folder && (entry = readdir(folder));) {
    pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
    if (id <= 0 || id == gettid() || sched_getaffinity(id, sizeof one, &one) || !CPU_EQUAL(&one, &spread.allowed))
      continue;
    if (clt_grow(&spread.threads, &spread.capacity, spread.n + 1, sizeof *spread.threads)) break;
    do processor = (processor + 1) % CPU_SETSIZE;
    while (!CPU_ISSET(processor, &spread.allowed));
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    if (sched_setaffinity(id, sizeof one, &one) == 0) spread.threads[spread.n++] = id;
  }
  if (folder) closedir(folder);
}

void clt_worker_free_threads(void) {
  while (spread.n > 0) sched_setaffinity(spread.threads[--spread.n], sizeof spread.allowed, &spread.allowed);
}

/* --- faults --- */

#define SIGNAL_STACK_BYTES ((size_t)64 << 10) /* a signal saves all registers there, up to 11 KiB with AMX */
#define LEAST_STACK_BYTES (8 * SIGNAL_STACK_BYTES)

/* Prepared in advance, because a signal handler may not allocate. Set once, before other threads start. */
static struct {
  int fd;
  char *frame;
  size_t frame_bytes;
  const char *cache; /* PoCL's folder of loaded objects */
  char program[4096];
} ready;

static size_t append_text(char *out, size_t used, size_t capacity, const char *text) {
  while (*text && used < capacity) out[used++] = *text++;
  return used;
}

/* Several threads may fault at once: the first one reports, and resets the signal's action only after that. When it
 * returns, the instruction is repeated and the process ends as it would have; the other threads wait for that. Uses
 * only calls that are safe in a signal handler, such as _dl_find_object. */
static void on_fault(int number, siginfo_t *info, void *context) {
  static atomic_flag spoken = ATOMIC_FLAG_INIT;
  struct dl_find_object object;
  char text[1100];
  const size_t most = sizeof text - 1;
  if (atomic_flag_test_and_set(&spoken))
    for (;;) pause();
#if defined(__x86_64__)
  uintptr_t at = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  uintptr_t at = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
#else
  uintptr_t at = 0;
  (void)context;
#endif
  /* Generated code is in no file, or in a file of the cache. If the instruction itself could not be fetched, there
   * is no code. */
  const char *path = NULL, *name = NULL;
  bool fetched = at != 0 && ((number != SIGSEGV && number != SIGBUS) || (uintptr_t)info->si_addr != at);
  bool generated = fetched;
  if (_dl_find_object((void *)at, &object) == 0) {
    path = object.dlfo_link_map->l_name[0] ? object.dlfo_link_map->l_name : ready.program;
    generated = ready.cache && strncmp(path, ready.cache, strlen(ready.cache)) == 0;
    if (generated) name = strrchr(path, '/');
  }
  /* Written to the output that the parent keeps: the library, or the name of the file of generated code, without its
   * temporary folder. In one call, so that other output cannot come in between. */
  size_t n = append_text(text, 0, most, "fault in ");
  if (generated) {
    n = append_text(text, n, most, name ? "generated code: " : "generated code");
    n = append_text(text, n, most, name ? name + 1 : "");
  } else {
    n = append_text(text, n, most, path ? path : "code outside of any file");
  }
  text[n++] = '\n';
  ssize_t said = write(STDERR_FILENO, text, n);
  (void)said;
  if (generated) send(ready.fd, ready.frame, ready.frame_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  signal(number, SIG_DFL);
}

static void use_signal_stack(char stack[SIGNAL_STACK_BYTES]) {
  stack_t old;
  if (sigaltstack(NULL, &old) == 0 && old.ss_flags & SS_DISABLE)
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = SIGNAL_STACK_BYTES}, NULL);
}

void clt_worker_watch_faults(int fd) {
  static char stack[SIGNAL_STACK_BYTES];
  const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  use_signal_stack(stack);
  if (ready.frame == NULL) {
    json_t *message = clt_message_phase(CLT_PHASE_RUNNING);
    ssize_t n = readlink("/proc/self/exe", ready.program, sizeof ready.program - 1);
    if (n > 0) ready.program[n] = '\0';
    ready.fd = fd;
    ready.cache = getenv("POCL_CACHE_DIR");
    ready.frame = clt_frame_bytes(&ready.frame_bytes, message);
    json_decref(message);
  }
  for (size_t i = 0; ready.frame && i < sizeof faults / sizeof *faults; i++) sigaction(faults[i], &action, NULL);
}

#ifdef __clang__
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_THREADS /* Clang's sanitizers define pthread_create in the program */
#endif
#endif

/* If a thread's stack is full, a handler needs another stack. So every thread that a driver starts gets one, at the
 * bottom of its own stack. */
#ifndef OWN_THREADS
typedef int (*thread_maker)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef struct thread_start {
  void *(*function)(void *);
  void *argument;
} thread_start;

static void *start_thread(void *user) {
  char stack[SIGNAL_STACK_BYTES];
  const thread_start start = *(thread_start *)user;
  free(user);
  use_signal_stack(stack);
  return start.function(start.argument);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                                          void *(*function)(void *), void *argument) {
  void *next = dlsym(RTLD_NEXT, "pthread_create");
  thread_maker make_thread;
  size_t n_bytes = LEAST_STACK_BYTES;
  memcpy(&make_thread, &next, sizeof next);
  if (attributes) pthread_attr_getstacksize(attributes, &n_bytes);
  thread_start *start = n_bytes >= LEAST_STACK_BYTES ? malloc(sizeof *start) : NULL;
  if (start == NULL) return make_thread(thread, attributes, function, argument); /* the stack is too small for one */
  *start = (thread_start){function, argument};
  int failure = make_thread(thread, attributes, start_thread, start);
  if (failure) free(start);
  return failure;
}
#endif
