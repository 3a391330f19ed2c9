#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile int received;

static void on_signal(int number) {
  if (received) _exit(128 + number);
  received = number;
}

/* What is ignored from the start (nohup) stays so. */
static void install(int number) {
  struct sigaction old, action = {.sa_handler = on_signal};
  sigemptyset(&action.sa_mask);
  if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(number, &action, NULL);
}

void cli_signals_install(void) {
  install(SIGINT);
  install(SIGTERM);
  install(SIGHUP);
}

const volatile int *cli_signals_flag(void) { return &received; }
