/* A worker's message about its last fault, however many of its threads fault together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/child/child.h"

enum { N_THREADS = 8 };

typedef void (*code)(void);
static pthread_barrier_t together;

static volatile uintptr_t nowhere = 8;

static void touch_nothing(void) { *(volatile int *)nowhere = 1; }

enum what { NOTHING, NO_INSTRUCTION, ENDLESS_RECURSION };

/* Code in memory that belongs to no file: an invalid instruction, or one that fills the stack. */
static code generate(enum what what) {
#if defined(__x86_64__)
  static const unsigned char none[] = {0x0f, 0x0b}, deep[] = {0xe8, 0xfb, 0xff, 0xff, 0xff}; /* call itself */
#else
  static const unsigned char none[] = {0, 0, 0, 0}, deep[] = {0xe0, 0x0f, 0x1f, 0xf8, 0xff, 0xff, 0xff, 0x17};
#endif
  const unsigned char *bytes = what == NO_INSTRUCTION ? none : deep;
  const size_t n = what == NO_INSTRUCTION ? sizeof none : sizeof deep;
  void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  code out;
  if (memory == MAP_FAILED) _exit(1);
  memcpy(memory, bytes, n);
  if (mprotect(memory, 4096, PROT_READ | PROT_EXEC)) _exit(1);
  memcpy(&out, &memory, sizeof out);
  return out;
}

static void *fault_with_others(void *what) {
  pthread_barrier_wait(&together);
  (*(code *)what)();
  return NULL;
}

/* As LLVM's: gone while it runs, and then the handler that it replaced is back. */
static struct sigaction replaced;

static void restore(int number) { sigaction(number, &replaced, NULL); }

static void put_another_handler(void) {
  struct sigaction action = {.sa_handler = restore, .sa_flags = SA_NODEFER | SA_RESETHAND | SA_ONSTACK};
  sigaction(SIGSEGV, &action, &replaced);
}

static int a_driver_has_handlers;

static void fault(enum what kind, int socket, int output) {
  pthread_t thread;
  code what = kind == NOTHING ? touch_nothing : generate(kind);
  dup2(output, STDERR_FILENO);
  clt_worker_watch_faults(socket);
  if (a_driver_has_handlers) put_another_handler();
  clt_worker_watch_faults(socket);
  pthread_barrier_init(&together, NULL, N_THREADS);
  for (int i = 1; i < N_THREADS; i++)
    if (pthread_create(&thread, NULL, fault_with_others, &what)) _exit(1);
  fault_with_others(&what);
  _exit(1);
}

/* Lets a child fault; returns how it ended, with all that it printed and how many bytes it told its parent. */
static int run(enum what kind, char *printed, size_t capacity, ssize_t *told) {
  int sockets[2], pipes[2], status = 0;
  char frame[1000];
  size_t n = 0;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  assert_int_equal(pipe(pipes), 0);
  pid_t child = fork();
  if (child == 0) fault(kind, sockets[1], pipes[1]);
  close(sockets[1]);
  close(pipes[1]);
  for (ssize_t got; n < capacity && (got = read(pipes[0], printed + n, capacity - n)) > 0;) n += (size_t)got;
  printed[n] = 0;
  *told = read(sockets[0], frame, sizeof frame);
  close(sockets[0]);
  close(pipes[0]);
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void threads_that_fault_together_speak_once(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) {
    char printed[4001];
    ssize_t told = -1;
    assert_int_equal(run(NOTHING, printed, sizeof printed - 1, &told), SIGSEGV);
    assert_int_equal(told, 0); /* no kernel was running */
    assert_ptr_equal(strstr(printed, "fault in /"), printed);
    assert_non_null(strstr(printed, "test-worker-fault\n"));
    assert_ptr_equal(strchr(printed, '\n'), printed + strlen(printed) - 1);
  }
}

static void a_fault_in_generated_code_is_told_to_the_parent(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) {
    char printed[4001];
    ssize_t told = -1;
    assert_int_equal(run(NO_INSTRUCTION, printed, sizeof printed - 1, &told), SIGILL);
    assert_true(told > 4);
    assert_string_equal(printed, "fault in generated code\n");
  }
}

/* In every thread, the first one too: each has another stack for signals. */
static void a_full_stack_is_told_as_any_fault(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) {
    char printed[4001];
    ssize_t told = -1;
    assert_int_equal(run(ENDLESS_RECURSION, printed, sizeof printed - 1, &told), SIGSEGV);
    assert_true(told > 4);
    assert_string_equal(printed, "fault in generated code\n");
  }
}

static void a_driver_does_not_keep_the_signals(void **state) {
  a_driver_has_handlers = 1;
  threads_that_fault_together_speak_once(state);
  a_driver_has_handlers = 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_that_fault_together_speak_once),
      cmocka_unit_test(a_driver_does_not_keep_the_signals),
      cmocka_unit_test(a_fault_in_generated_code_is_told_to_the_parent),
      cmocka_unit_test(a_full_stack_is_told_as_any_fault),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
