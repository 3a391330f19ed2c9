#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/memory.h"
#include "device/device.h"
#include "measurement/statistics.h"
#include "problem/command.h"
#include "session/session.h"

/* --- the filter of standard output and standard error --- */

typedef struct shown_stream {
  int fd;
  bool exact;   /* without the filter */
  bool closed;  /* the reader has closed it */
  char rest[4]; /* the first bytes of an incomplete character */
  size_t n_rest;
} shown_stream;

static shown_stream shown_out = {.fd = STDOUT_FILENO}, shown_err = {.fd = STDERR_FILENO};

/* For fopencookie: 0 is a failure, with the reason in errno. DEL passes: JSON has it unescaped, and terminals ignore
 * it. */
static ssize_t write_shown(void *cookie, const char *bytes, size_t n) {
  shown_stream *s = cookie;
  clt_text in = {0}, out = {0};
  if (!s->exact) {
    clt_text_add_bytes(&in, s->rest, s->n_rest);
    clt_text_add_bytes(&in, bytes, n);
    size_t used = in.rc ? 0 : clt_text_add_shown(&out, in.bytes, in.n, "\n\t\177");
    s->n_rest = in.rc ? 0 : in.n - used;
    memcpy(s->rest, in.bytes + used, s->n_rest);
  }
  bool failed = in.rc || out.rc;
  const char *at = s->exact ? bytes : out.bytes;
  for (size_t left = s->exact ? n : out.n; !failed && left > 0;) {
    ssize_t written = write(s->fd, at, left);
    failed = written < 0 && errno != EINTR;
    s->closed = s->closed || (failed && errno == EPIPE);
    if (written > 0) at += written, left -= (size_t)written;
  }
  int why = errno;
  clt_text_release(&in);
  clt_text_release(&out);
  errno = why;
  return failed ? 0 : (ssize_t)n;
}

void cli_streams_open(void) {
  const cookie_io_functions_t functions = {.write = write_shown};
  FILE *out = fopencookie(&shown_out, "w", functions), *err = fopencookie(&shown_err, "w", functions);
  if (out == NULL || err == NULL) cli_failure("out of memory");
  setvbuf(out, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
  setvbuf(err, NULL, _IOLBF, BUFSIZ);
  stdout = out;
  stderr = err;
}

void cli_exact_output(void) { shown_out.exact = !isatty(STDOUT_FILENO); }

/* To the terminal, unfiltered: control sequences. */
static void __attribute__((format(printf, 1, 2))) command_terminal(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fflush(stderr);
  shown_err.exact = true;
  vfprintf(stderr, format, arguments);
  fflush(stderr);
  shown_err.exact = false;
  va_end(arguments);
}

/* --- messages --- */

int cli_output_failed(void) {
  return shown_out.closed ? CLI_FAILURE : cli_message(CLI_FAILURE, "cannot write to standard output");
}

static void __attribute__((format(printf, 1, 0))) say(const char *format, va_list arguments) {
  fputs("clatune: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
}

int cli_message(int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  return code;
}

int cli_exit_code(int code) {
  switch (code) {
    case CLT_E_ARGUMENT: return CLI_USAGE;
    case CLT_E_DEVICE:
    case CLT_E_AMBIGUOUS: return CLI_NO_DEVICE;
    case CLT_E_NO_VALID: return CLI_NO_VALID;
    case CLT_E_VERIFY: return CLI_VERIFY_FAILED;
    case CLT_E_STORE: return CLI_STORE_UNUSABLE;
    default: return CLI_FAILURE;
  }
}

int cli_say(const clt_error *error) {
  char text[2048];
  clt_error_format(text, sizeof text, error);
  return cli_message(cli_exit_code(error->code), "%s", text);
}

/* --- the end of the program --- */

clt_error cli_error;

static struct kept {
  void (*release)(void *what);
  void *what;
} * kept;
static size_t n_kept, kept_capacity;

void *cli_keep(void *what, void (*release)(void *what)) {
  if (clt_grow(&kept, &kept_capacity, n_kept + 1, sizeof *kept)) {
    release(what);
    cli_failure("out of memory");
  }
  kept[n_kept++] = (struct kept){release, what};
  return what;
}

void *cli_keep_memory(void *memory) {
  if (memory == NULL) cli_failure("out of memory");
  return cli_keep(memory, free);
}

void *cli_new(size_t n, size_t bytes) { return cli_keep_memory(calloc(n ? n : 1, bytes)); }

void cli_end(void) {
  for (size_t i = n_kept; i-- > 0;) /* memory last: other objects may point to it */
    if (kept[i].release != free) kept[i].release(kept[i].what);
  for (size_t i = 0; i < n_kept; i++)
    if (kept[i].release == free) free(kept[i].what);
  free(kept);
  kept = NULL;
  n_kept = kept_capacity = 0;
}

void cli_exit(int code) {
  cli_end();
  exit(code);
}

int cli_die(int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  cli_exit(code);
}

int cli_report(const clt_error *error) { cli_exit(cli_say(error)); }

void cli_check(int rc) {
  if (rc) cli_report(&cli_error);
}

void cli_check_typed(int rc) {
  if (rc) cli_error.code = CLT_E_ARGUMENT;
  cli_check(rc);
}

void cli_log(void *user, clt_log_level level, const char *text) {
  const bool *quiet = user;
  if (level == CLT_LOG_WARNING) fprintf(stderr, "clatune: warning: %s\n", text);
  if (level == CLT_LOG_INFO && !(quiet && *quiet)) fprintf(stderr, "clatune: %s\n", text);
}

/* --- JSON --- */

int cli_print_json(json_t *json) {
  if (json == NULL) cli_failure("out of memory");
  int rc = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
  json_decref(json);
  putchar('\n');
  if (rc && !ferror(stdout)) cli_failure("out of memory");
  return rc ? CLI_FAILURE : 0; /* main prints the reason */
}

void cli_add_json(clt_text *out, json_t *json, int indent) {
  const char *name;
  json_t *item;
  size_t n = 0, index;
  bool is_object = json_is_object(json), nested = is_object;
  json_array_foreach(json, index, item) nested |= json_is_object(item) || json_is_array(item);
  if (!nested || (is_object && json_object_size(json) == 0)) {
    char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    clt_text_add(out, text ? text : "null");
    free(text);
    return;
  }
  json_object_foreach(json, name, item) {
    json_t *key = json_string(name);
    clt_text_printf(out, "%s\n%*s", n++ ? "," : "{", indent + 2, "");
    cli_add_json(out, key, 0);
    clt_text_add(out, ": ");
    cli_add_json(out, item, indent + 2);
    json_decref(key);
  }
  json_array_foreach(json, index, item) {
    clt_text_printf(out, "%s\n%*s", index ? "," : "[", indent + 2, "");
    cli_add_json(out, item, indent + 2);
  }
  clt_text_printf(out, "\n%*s%s", indent, "", is_object ? "}" : "]");
}

json_t *cli_json_configuration(const clt_space *space, clt_config config) {
  json_t *out = json_object();
  for (size_t i = 0; i < clt_space_n_parameters(space); i++)
    json_object_set_new(out, clt_space_parameter(space, i)->name, clt_json_value(clt_space_value(space, config, i)));
  return out;
}

json_t *cli_json_configuration_text(const clt_instance *instance, const char *text) {
  const clt_space *space = clt_instance_space(instance);
  clt_config config;
  return clt_config_parse(&config, space, text, NULL) ? json_null() : cli_json_configuration(space, config);
}

json_t *cli_json_sizes(const clt_instance *instance) {
  json_t *out = json_object();
  for (size_t i = 0; i < clt_instance_n_sizes(instance); i++) {
    clt_size size = clt_instance_size(instance, i);
    json_object_set_new(out, size.name, json_integer(size.value));
  }
  return out;
}

json_t *cli_json_device(const clt_device_info *device) {
  json_t *out = device ? clt_device_json(device) : NULL;
  return out ? out : json_null();
}

json_t *cli_json_best_options(const clt_instance *instance, clt_config config) {
  char *options = NULL;
  if (clt_instance_options(&options, instance, config, NULL)) return json_null();
  json_t *out = json_string(options);
  free(options);
  return out;
}

static json_t *json_extent(const size_t *extent, unsigned n) {
  json_t *list = json_array();
  for (unsigned d = 0; d < n; d++) json_array_append_new(list, json_integer((json_int_t)extent[d]));
  return list;
}

json_t *cli_json_launches(const clt_launch_sizes *launches, size_t n) {
  json_t *list = json_array();
  for (const clt_launch_sizes *l = launches; l < launches + n; l++)
    json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:I, s:I}", "kernel", l->kernel, "global",
                                          json_extent(l->global, l->n_dimensions), "local",
                                          l->local[0] ? json_extent(l->local, l->n_dimensions) : json_null(), "repeat",
                                          (json_int_t)l->repeat, "group", (json_int_t)l->group));
  return list;
}

json_t *cli_json_quality(const clt_problem *problem, double value) {
  const char *name = clt_problem_quality_name(problem);
  if (name == NULL) return json_null();
  return json_pack("{s:s, s:s, s:o}", "name", name, "unit", clt_problem_quality_unit(problem), "value",
                   clt_json_real(value));
}

void cli_print_quality(const clt_problem *problem, double value, int width) {
  const char *name = clt_problem_quality_name(problem), *unit = clt_problem_quality_unit(problem);
  if (name == NULL) return;
  if (isfinite(value))
    printf("%-*s %.3g%s%s\n", width - 1, name, value, unit[0] ? " " : "", unit);
  else
    printf("%-*s not known\n", width - 1, name);
}

const char *cli_figure(char out[64], const clt_objective *o, double value) {
  clt_metric standard = clt_objective_metric(o, clt_objective_default(o));
  if (strcmp(standard.name, "time") == 0) return clt_time_text(out, value);
  if (!isfinite(value)) return strcpy(out, "-");
  snprintf(out, 64, "%.5g %.40s", value, standard.unit);
  return out;
}

const char *cli_figure_of(char out[64], const clt_objective *o, const clt_measurement *m) {
  return cli_figure(out, o, clt_objective_metric_value(o, clt_objective_default(o), m));
}

#define WIDE 0.5 /* wider intervals are printed as ranges */

const char *cli_median_of(char out[200], const clt_objective *o, const clt_measurement *m) {
  char figure[64], text[64], high[64];
  const clt_interval interval = clt_measurement_interval(m);
  const double error = clt_interval_error(&interval, isnan(m->figure) ? m->time_s : m->figure);
  cli_figure_of(figure, o, m);
  if (isfinite(error) && error > WIDE)
    clt_snprintf(out, 200, "%s, %s to %s (%.3g %%)", figure, cli_figure(text, o, interval.low),
                 cli_figure(high, o, interval.high), 100 * fmin(interval.confidence, CLT_USUAL_CONFIDENCE));
  else
    clt_snprintf(out, 200, "%s%s", figure, clt_interval_text(text, error, interval.confidence));
  return out;
}

/* --- objectives and metrics --- */

static void free_objective(void *objective) { clt_objective_free(objective); }

clt_objective *cli_objective(const cli_arguments *arguments, const clt_instance *instance) {
  clt_objective *out;
  const char *typed = cli_text(arguments, "objective");
  int rc = clt_objective_new(&out, instance, typed, &cli_error);
  if (typed && rc == CLT_E_EXPRESSION) cli_check_typed(rc);
  cli_check(rc);
  return cli_keep(out, free_objective);
}

static const char *goal_name(const clt_objective *objective) {
  return clt_objective_goal(objective) == CLT_MAXIMISE ? "maximise" : "minimise";
}

json_t *cli_json_objective(const clt_objective *o) {
  return json_pack("{s:s, s:s, s:s, s:s}", "name", clt_objective_name(o), "expression", clt_objective_expression(o),
                   "unit", clt_objective_unit(o), "goal", goal_name(o));
}

static bool is_shown(const clt_objective *o, size_t index, double value) {
  return isfinite(value) && index != clt_objective_default(o) &&
         strcmp(clt_objective_metric(o, index).name, "time") != 0;
}

json_t *cli_json_metrics(const clt_objective *o, const clt_measurement *m) {
  json_t *out = json_array();
  for (size_t i = 0; i < clt_objective_n_metrics(o); i++) {
    clt_metric metric = clt_objective_metric(o, i);
    double value = clt_objective_metric_value(o, i, m);
    if (is_shown(o, i, value))
      json_array_append_new(out,
                            json_pack("{s:s, s:f, s:s}", "name", metric.name, "value", value, "unit", metric.unit));
  }
  return out;
}

void cli_print_metrics(const clt_objective *o, const clt_measurement *m, int width) {
  for (size_t i = 0; i < clt_objective_n_metrics(o); i++) {
    clt_metric metric = clt_objective_metric(o, i);
    double value = clt_objective_metric_value(o, i, m);
    if (is_shown(o, i, value) && i != clt_objective_chosen(o))
      printf("%-*s %.4g%s%s\n", width - 1, metric.name, value, metric.unit[0] ? " " : "", metric.unit);
  }
}

const char *cli_value(char out[96], const clt_objective *o, double value) {
  return clt_objective_value_text(out, o, value);
}

const char *cli_objective_text(char out[160], const clt_objective *o) {
  snprintf(out, 160, "%s %.140s", goal_name(o), clt_objective_name(o));
  return out;
}

bool cli_has_words(const char *text, const char *words) {
  for (const char *word = words + strspn(words, " "); *word; word += strcspn(word, " "), word += strspn(word, " ")) {
    size_t n = strcspn(word, " ");
    const char *at = text;
    while (*at && (strcspn(at, " ") != n || strncmp(at, word, n) != 0)) at += strcspn(at, " "), at += strspn(at, " ");
    if (*at == '\0') return false;
  }
  return true;
}

/* --- progress --- */

#define BAR_CELLS 20
#define TERMINAL_PERIOD_S 0.1
#define PLAIN_PERIOD_S 10.0

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
  command_terminal("\r%s[%.*s%*s]%s ", colour ? "\033[36m" : "", filled, "####################", BAR_CELLS - filled, "",
                   colour ? "\033[0m" : "");
  fprintf(stderr, "%.*s", room, text);
  command_terminal("\033[K");
}

void cli_progress_update(cli_progress *progress, const clt_progress *now) {
  bool new_phase = strcmp(progress->phase, now->phase) != 0;
  if (progress->quiet || (!new_phase && now->elapsed_s < progress->next_s)) return;
  snprintf(progress->phase, sizeof progress->phase, "%s", now->phase);
  progress->next_s = now->elapsed_s + (progress->terminal ? TERMINAL_PERIOD_S : PLAIN_PERIOD_S);
  char text[400], best[96], left[32], failed[160] = "", total[32] = "", known[40] = "";
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
  snprintf(text, sizeof text, "%s  %lld%s%s  %.2g/s  best %s  left %s%s", now->phase, (long long)now->done, total,
           known, rate, cli_value(best, progress->objective, now->best_value),
           cli_duration(left, fmin(work_s, limit_s)), failed);
  if (strcmp(now->phase, "default") == 0 && now->done == 0)
    snprintf(text, sizeof text, "measuring the default configuration");
  if (progress->terminal) {
    cli_progress_bar(now->total > 0 ? (double)now->done / (double)now->total : 0, progress->colour, text);
    progress->bar_shown = true;
  } else {
    fprintf(stderr, "clatune: %s\n", text);
  }
}

void cli_progress_end(cli_progress *progress) {
  if (progress->bar_shown) command_terminal("\r\033[K");
  progress->bar_shown = false;
}

/* --- signals --- */

static volatile int received;

static void on_signal(int number) {
  if (received) _exit(128 + number);
  received = number;
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
