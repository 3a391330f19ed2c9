/* Progress on a terminal or in lines, and the signals that end a command in an orderly way. */
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/cli.h"
#include "session/session.h"

#define BAR_CELLS 20
#define TERMINAL_PERIOD_S 0.1
#define PLAIN_PERIOD_S 10.0
#define MUCH_LONGER 2.0    /* times the expected time */
#define LITTLE_LEFT_S 60.0 /* its changes need no explanation */

void cli_progress_init(cli_progress *progress, bool quiet, const clt_objective *objective) {
  const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
  *progress = (cli_progress){.quiet = quiet, .objective = objective};
  progress->terminal = isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
  progress->colour = progress->terminal && !(no_colour && no_colour[0]);
}

const char *cli_duration(char out[32], double seconds) {
  if (!isfinite(seconds) || seconds < 0 || seconds > 1e7) return strcpy(out, "?");
  long s = lround(seconds);
  if (s < 60) {
    snprintf(out, 32, "%lds", s);
  } else if (s < 3600) {
    snprintf(out, 32, "%ldm%02lds", s / 60, s % 60);
  } else {
    snprintf(out, 32, "%ldh%02ldm", s / 3600, s / 60 % 60);
  }
  return out;
}

void cli_progress_bar(double share, bool colour, const char *text) {
  struct winsize size;
  int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 100;
  int filled = share >= 1 ? BAR_CELLS : (int)(BAR_CELLS * share), room = columns - BAR_CELLS - 4;
  cli_command_terminal(colour ? "\r\033[36m[%.*s%*s]\033[0m " : "\r[%.*s%*s] ", filled, "####################",
                       BAR_CELLS - filled, "");
  fprintf(stderr, "%.*s", room, text);
  cli_command_terminal("\033[K");
}

/* Says why, if much more time is left than was expected; else the estimate is only noted. */
static void tell_growth(cli_progress *p, const clt_progress *now, double left_s) {
  const double end_s = now->elapsed_s + left_s, since_s = now->elapsed_s - p->expected.at_s;
  const int64_t n_before = p->expected.measured, n_since = now->so_far->measured - n_before;
  char left[32], expected[32];
  if (!isfinite(left_s)) return;
  if (p->expected.end_s > 0 && end_s > MUCH_LONGER * p->expected.end_s && left_s > LITTLE_LEFT_S) {
    cli_progress_end(p);
    fprintf(stderr, "clatune: left %s; before, %s was expected: ", cli_duration(left, left_s),
            cli_duration(expected, p->expected.end_s - p->expected.at_s));
    if (n_since > 0)
      fprintf(stderr, "evaluations took %.2g s each, and take %.2g s now\n", p->expected.at_s / (double)n_before,
              since_s / (double)n_since);
    else
      fprintf(stderr, "no evaluation has ended for %s\n", cli_duration(expected, since_s));
    p->expected.end_s = 0;
  }
  if (p->expected.end_s > 0 && end_s > p->expected.end_s) return;
  p->expected.end_s = end_s;
  p->expected.at_s = now->elapsed_s;
  p->expected.measured = now->so_far->measured;
}

void cli_progress_update(cli_progress *progress, const clt_progress *now) {
  bool new_phase = strcmp(progress->phase, now->phase) != 0;
  const double now_s = clt_now_s(); /* elapsed_s stands still while the device is waited for */
  if (progress->quiet || (!new_phase && now_s < progress->next_s)) return;
  snprintf(progress->phase, sizeof progress->phase, "%s", now->phase);
  progress->next_s = now_s + (progress->terminal ? TERMINAL_PERIOD_S : PLAIN_PERIOD_S);
  char text[800], best[96], left[48] = "", failed[160] = "", total[32] = "", known[40] = "";
  size_t used = 0;
  const int64_t n_slow = clt_tune_n_failed(NULL, now->so_far, CLT_REASON_ABANDONED);
  for (int i = CLT_REASON_NONE + 1; i < CLT_N_REASONS; i++) {
    const int64_t n = clt_tune_n_failed(NULL, now->so_far, (clt_reason)i);
    if (n && i != CLT_REASON_ABANDONED && used < sizeof failed)
      used += (size_t)snprintf(failed + used, sizeof failed - used, "%s%s %lld",
                               used ? ", " : "  failed: ", clt_reason_name((clt_reason)i), (long long)n);
  }
  if (n_slow && used < sizeof failed) snprintf(failed + used, sizeof failed - used, "  slow: %lld", (long long)n_slow);
  if (now->so_far->reused > 0) snprintf(known, sizeof known, "  %lld known", (long long)now->so_far->reused);
  if (now->total > 0) snprintf(total, sizeof total, "/%lld", (long long)now->total);
  /* The remaining time: of the evaluations at the present rate, or of the time limit. */
  double rate = now->elapsed_s > 0 ? (double)now->so_far->measured / now->elapsed_s : 0;
  double work_s = now->total > 0 && rate > 0 ? (double)(now->total - now->done) / rate : NAN;
  double limit_s = now->time_limit_s > 0 ? now->time_limit_s - now->elapsed_s : NAN;
  const double left_s = fmin(work_s, limit_s);
  const bool goes_on = now->total <= 0 || now->done < now->total;
  if (goes_on) snprintf(left, sizeof left, "  left %s", cli_duration((char[32]){0}, left_s));
  tell_growth(progress, now, left_s);
  clt_objective_value_text(best, progress->objective, now->best_value);
  if (strcmp(now->phase, "default") == 0 && now->done == 0)
    snprintf(text, sizeof text, "measuring the default configuration");
  else if (now->waits)
    snprintf(text, sizeof text, "%s  %lld%s  best %s%s", now->phase, (long long)now->done, total, best, left);
  else
    snprintf(text, sizeof text, "%s  %lld%s%s  %.2g/s  best %s%s%s", now->phase, (long long)now->done, total, known,
             rate, best, left, failed);
  if (now->waits) snprintf(text + strlen(text), sizeof text - strlen(text), ": %s", now->waits);
  if (progress->terminal) {
    cli_progress_bar(now->total > 0 ? (double)now->done / (double)now->total : 0, progress->colour, text);
    progress->bar_shown = true;
  } else {
    fprintf(stderr, "clatune: %s\n", text);
  }
}

void cli_progress_end(cli_progress *progress) {
  if (progress->bar_shown) cli_command_terminal("\r\033[K");
  progress->bar_shown = false;
}

/* --- signals --- */

static volatile int received;

/* A terminal and `timeout` may both signal, or one of them twice; at once, that is one request. */
#define SAME_REQUEST_S 1.0

static void on_signal(int number) {
  static double received_s; /* signals are not handled within a handler */
  const double now_s = clt_now_s();
  if (received && now_s - received_s > SAME_REQUEST_S) _exit(128 + number);
  if (received == 0) received_s = now_s;
  if (received == 0) received = number;
}

/* A signal that is ignored from the start (nohup) stays ignored. */
void cli_signals_install(void) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction old, action = {.sa_handler = on_signal};
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
    if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(signals[i], &action, NULL);
}

void cli_stop(int signal) {
  if (received == 0) received = signal;
}

const volatile int *cli_signals_flag(void) { return &received; }

bool cli_wait_for_others(const char *why) {
  if (why) cli_message(CLI_FAILURE, "%s; waiting until it is free", why);
  return received == 0;
}
