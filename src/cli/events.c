/* --events: the events of a tuning as JSON lines. */
#include <errno.h>
#include <signal.h>

#include "base/base.h"
#include "cli/cli.h"

#define WAITS_PERIOD_S 1.0

FILE *cli_events_open(const cli_arguments *arguments) {
  const char *path = cli_text(arguments, "events");
  bool is_stdout = path && strcmp(path, "-") == 0;
  if (path == NULL || is_stdout) return path ? stdout : NULL;
  FILE *out = fopen(path, "we");
  if (out == NULL) cli_failure("cannot open '%s' for the events: %s", path, strerror(errno));
  return out;
}

int cli_events_close(FILE *events) {
  if (events == NULL || events == stdout) return 0; /* main checks it */
  bool failed = ferror(events);
  failed = fclose(events) || failed;
  return failed ? cli_message(CLI_FAILURE, "cannot write all events: %s", strerror(errno)) : 0;
}

void cli_event(const cli_events *e, const char *name, json_t *body) {
  if (e->out == NULL) {
    json_decref(body);
    return;
  }
  json_t *line = json_pack("{s:s, s:s*}", "event", name, "tuning", e->tuning);
  json_object_update_new(line, body);
  json_dumpf(line, e->out, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
  json_decref(line);
  putc('\n', e->out);
  if (fflush(e->out) && e->out == stdout && errno == EPIPE) cli_stop(SIGPIPE); /* its reader has closed it */
}

void cli_event_started(const cli_events *e, const clt_instance *instance, const clt_device_info *device,
                       const clt_tune_settings *settings) {
  json_t *started = json_pack("{s:i, s:I}", "schema", CLI_SCHEMA, "started_s", (json_int_t)time(NULL));
  json_object_update_new(started, cli_json_session(instance, device, settings, e->objective));
  cli_event(e, "started", started);
}

json_t *cli_json_evaluation(const cli_events *e, const clt_progress *now) {
  const clt_measurement *m = now->last;
  bool correct = clt_measurement_correct(m);
  json_t *runs = json_array();
  for (size_t i = 0; correct && i < m->n_runs; i++) json_array_append_new(runs, clt_json_real(m->runs_s[i]));
  return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:b}", "runs_s", runs, "configuration",
                   clt_json_configuration(e->space, m->config), "time_s", clt_json_real(m->time_s), "reason",
                   clt_reason_name(m->reason), "metrics", cli_json_metrics(e->objective, m), "value",
                   clt_json_real(correct ? clt_objective_value(e->objective, m) : NAN), "known",
                   now->so_far->measured == e->measured);
}

void cli_events_progress(cli_events *e, const clt_progress *now) {
  const clt_measurement *best = &now->so_far->best;
  json_int_t done = (json_int_t)now->done;
  if (strcmp(e->phase, now->phase) != 0) {
    snprintf(e->phase, sizeof e->phase, "%s", now->phase);
    cli_event(e, "phase",
              json_pack("{s:s, s:I, s:I, s:f}", "phase", now->phase, "evaluations", done, "total",
                        (json_int_t)now->total, "elapsed_s", now->elapsed_s));
  }
  const double now_s = clt_now_s();
  if (now->waits && now_s >= e->waits_next_s) {
    e->waits_next_s = now_s + WAITS_PERIOD_S;
    cli_event(e, "waits",
              json_pack("{s:I, s:f, s:s}", "evaluations", done, "elapsed_s", now->elapsed_s, "waits", now->waits));
  }
  if (now->last && e->out) {
    json_t *evaluation = json_pack("{s:I, s:f}", "evaluations", done, "elapsed_s", now->elapsed_s);
    json_object_update_new(evaluation, cli_json_evaluation(e, now));
    cli_event(e, "evaluation", evaluation);
  }
  e->measured = now->so_far->measured;
  if (best->config == CLT_CONFIG_NONE || (best->config == e->best && now->best_value == e->best_value)) return;
  e->best = best->config;
  e->best_value = now->best_value;
  cli_event(e, "incumbent",
            json_pack("{s:I, s:f, s:o, s:o, s:o}", "evaluations", done, "elapsed_s", now->elapsed_s, "configuration",
                      clt_json_configuration(e->space, best->config), "time_s", clt_json_real(best->time_s), "value",
                      clt_json_real(now->best_value)));
}
