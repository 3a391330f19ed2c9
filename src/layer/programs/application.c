#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "layer/programs/programs.h"

#define LIBRARY "libclatune-layer.so"
#define LAYERS "OPENCL_LAYERS"
#define FIRST_FREE_FD 10

extern char **environ;

const char *layer_library(void) {
  /* The layer's path in the build tree, or in an installed tree, also if that was moved. */
  static const char *const near_program[] = {LIBRARY, CLATUNE_LAYER_FROM_COMMAND "/" LIBRARY, "../lib/clatune/" LIBRARY,
                                             NULL};
  char *near = clt_find_near_program(near_program, R_OK);
  char *path = realpath(near ? near : CLATUNE_LAYER_FOLDER "/" LIBRARY, NULL);
  free(near);
  if (path == NULL)
    cli_failure("cannot find the OpenCL layer '" CLATUNE_LAYER_FOLDER "/" LIBRARY "'; install clatune again");
  return cli_keep_memory(path);
}

/* This process's environment with the layer's variables set. Keeps the user's own layers. */
static char **layer_environment(const char *library, const char *instructions) {
  clt_words list = {0};
  const char *users = getenv("OPENCL_LAYERS");
  const bool others = users && *users && strstr(users, LIBRARY) == NULL;
  cli_check(clt_words_add(
      &list, others ? clt_format(LAYERS "=%s:%s", users, library) : clt_format(LAYERS "=%s", library), &cli_error));
  cli_check(clt_words_add(&list, clt_format("CLATUNE_LAYER=%s", instructions), &cli_error));
  for (char **entry = environ; *entry; entry++)
    if (!clt_starts_with(*entry, LAYERS "=") && !clt_starts_with(*entry, "CLATUNE_LAYER="))
      cli_check(clt_words_add(&list, strdup(*entry), &cli_error));
  return list.all;
}

static void free_words(void *words) { clt_words_free(words); }

/* Blocks SIGCHLD and the signals that end clatune, unless they are ignored, so that sigwaitinfo receives them. */
static void await_signals(sigset_t *awaited, sigset_t *before) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  sigemptyset(awaited);
  sigaddset(awaited, SIGCHLD);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction action;
    if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(awaited, signals[i]);
  }
  sigprocmask(SIG_BLOCK, awaited, before);
}

int layer_run_application(const cli_arguments *arguments, json_t *instructions, const char *folder, bool to_stderr) {
  const char *path = cli_keep_memory(clt_path_join(folder, "layer.json"));
  char *text = json_dumps(instructions, JSON_INDENT(1)), **words = cli_new(arguments->n_passed + 1, sizeof *words);
  json_decref(instructions);
  cli_check(clt_file_write(path, cli_keep_memory(text), strlen(text), &cli_error));
  memcpy(words, arguments->passed, arguments->n_passed * sizeof *words);
  /* Opens closed standard streams as /dev/null, for the application. */
  const int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
  const int out = fcntl(to_stderr ? STDERR_FILENO : STDOUT_FILENO, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
  const int err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
  const clt_spawn spawn = {.program = words[0],
                           .arguments = words,
                           .environment = cli_keep(layer_environment(layer_library(), path), free_words),
                           .in = in < 0 ? CLT_SPAWN_NULL : in,
                           .out = out < 0 ? CLT_SPAWN_NULL : out,
                           .err = err < 0 ? CLT_SPAWN_NULL : err,
                           .default_signals = true};
  pid_t pid;
  int status = 0;
  sigset_t awaited, before;
  fflush(stdout);
  fflush(stderr);
  await_signals(&awaited, &before);
  const int failure = clt_spawn_start(&pid, &spawn);
  if (in >= 0) close(in);
  if (out >= 0) close(out);
  if (err >= 0) close(err);
  while (failure == 0 && waitpid(pid, &status, WNOHANG) == 0) {
    siginfo_t info;
    const int received = sigwaitinfo(&awaited, &info);
    if (received < 0 || received == SIGCHLD) continue;
    cli_stop(received);
    if (info.si_code <= 0) kill(pid, received); /* the terminal sends Ctrl-C to the application, too */
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (failure) cli_failure("cannot run '%s': %s", words[0], strerror(failure));
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
