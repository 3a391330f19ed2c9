#include "cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/output.h"

#define BAR_CELLS 20
#define TERMINAL_PERIOD_S 0.1
#define PLAIN_PERIOD_S 10.0

void cli_progress_init(cli_progress *progress, bool quiet, const clt_problem *problem, const clt_objective *objective) {
  const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
  *progress = (cli_progress){.quiet = quiet, .problem = problem, .objective = objective};
  progress->terminal = isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
  progress->colour = progress->terminal && !(no_colour && no_colour[0]);
}

static int columns(void) {
  struct winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 100;
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

static void failures(char *out, size_t capacity, const clt_progress *now) {
  size_t used = 0;
  out[0] = '\0';
  for (int i = CLT_CORRECT + 1; i < CLT_N_INVALIDITIES; i++)
    if (now->by_invalidity[i] && used < capacity)
      used += (size_t)snprintf(out + used, capacity - used, "%s%s %lld",
                               used ? ", " : "  failed: ", clt_invalidity_name((clt_invalidity)i),
                               (long long)now->by_invalidity[i]);
}

/* Seconds that are left: of the work at the present rate, or of the time limit; NaN where neither is known. */
static double time_left_s(const clt_progress *now, double rate) {
  double work_s = now->total > 0 && rate > 0 ? (double)(now->total - now->done) / rate : NAN;
  double limit_s = now->time_limit_s > 0 ? now->time_limit_s - now->elapsed_s : NAN;
  return fmin(work_s, limit_s);
}

/* What a program is ranked by has a unit of its own. */
static const char *best_text(char out[96], const cli_progress *progress, const clt_progress *now) {
  bool by_time = progress->objective == NULL || clt_objective_is_time(progress->objective);
  return by_time ? cli_figure(out, progress->problem, now->best_s) : cli_value(out, progress->objective, now->best_value);
}

static void describe(char *out, size_t capacity, const cli_progress *progress, const clt_progress *now) {
  char best[96], left[32], failed[160], total[32] = "", known[40] = "";
  double rate = now->elapsed_s > 0 ? (double)now->measured / now->elapsed_s : 0;
  failures(failed, sizeof failed, now);
  if (now->reused > 0) snprintf(known, sizeof known, "  %lld known", (long long)now->reused);
  if (now->total > 0) snprintf(total, sizeof total, "/%lld", (long long)now->total);
  snprintf(out, capacity, "%s  %lld%s%s  %.2g/s  best %s  left %s%s", now->phase, (long long)now->done, total, known,
           rate, best_text(best, progress, now), cli_duration(left, time_left_s(now, rate)), failed);
}

void cli_progress_bar(double share, bool colour, const char *text) {
  int filled = share >= 1 ? BAR_CELLS : (int)(BAR_CELLS * share), room = columns() - BAR_CELLS - 4;
  fprintf(stderr, "\r%s[%.*s%*s]%s %.*s\033[K", colour ? "\033[36m" : "", filled, "####################",
          BAR_CELLS - filled, "", colour ? "\033[0m" : "", room, text);
  fflush(stderr);
}

static void draw_bar(cli_progress *progress, const clt_progress *now) {
  char text[400];
  describe(text, sizeof text, progress, now);
  cli_progress_bar(now->total > 0 ? (double)now->done / (double)now->total : 0, progress->colour, text);
  progress->bar_shown = true;
}

void cli_progress_update(cli_progress *progress, const clt_progress *now) {
  bool new_phase = strcmp(progress->phase, now->phase) != 0;
  if (progress->quiet || (!new_phase && now->elapsed_s < progress->next_s)) return;
  snprintf(progress->phase, sizeof progress->phase, "%s", now->phase);
  progress->next_s = now->elapsed_s + (progress->terminal ? TERMINAL_PERIOD_S : PLAIN_PERIOD_S);
  if (progress->terminal) {
    draw_bar(progress, now);
  } else {
    char text[400];
    describe(text, sizeof text, progress, now);
    fprintf(stderr, "clatune: %s\n", text);
  }
}

void cli_progress_end(cli_progress *progress) {
  if (progress->bar_shown) fputs("\r\033[K", stderr);
  progress->bar_shown = false;
}
