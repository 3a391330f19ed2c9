#include "worker/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static const char *const phase_names[CLT_N_WORKER_PHASES] = {"build", "launch", "running", "verify", "done"};

const char *clt_worker_phase_name(clt_worker_phase phase) { return phase_names[phase]; }

int clt_worker_phase_parse(clt_worker_phase *out, const char *name) {
  for (int i = 0; i < CLT_N_WORKER_PHASES; i++)
    if (strcmp(name, phase_names[i]) == 0) return *out = (clt_worker_phase)i, CLT_OK;
  return CLT_E_FORMAT;
}

json_t *clt_message_text(const char *text) {
  json_t *out = json_string(text);
  if (out) return out;
  char *plain = strdup(text);
  if (plain == NULL) return NULL;
  for (char *c = plain; *c; c++)
    if ((unsigned char)*c >= 0x80) *c = '?';
  out = json_string(plain);
  free(plain);
  return out;
}

/* JSON has no NaN and no infinity: null and "inf" stand for them. */
static json_t *number(double x) {
  if (isnan(x)) return json_null();
  if (isinf(x)) return json_string("inf");
  return json_real(x);
}

static int get_number(double *out, const json_t *object, const char *key, double min, clt_error *error) {
  const json_t *x = json_object_get(object, key);
  double value = NAN;
  if (json_is_number(x)) {
    value = json_number_value(x);
  } else if (json_is_string(x) && strcmp(json_string_value(x), "inf") == 0) {
    value = INFINITY;
  } else if (!json_is_null(x)) {
    return clt_fail(error, CLT_E_FORMAT, "a message lacks the number '%s'", key);
  }
  if (value < min) return clt_fail(error, CLT_E_FORMAT, "in a message, '%s' is %g", key, value);
  *out = value;
  return CLT_OK;
}

const char *clt_message_string(const json_t *message, const char *key) {
  const char *text = json_string_value(json_object_get(message, key));
  return text ? text : "";
}

int clt_message_integer(int64_t *out, const json_t *message, const char *key, int64_t min, int64_t max,
                        clt_error *error) {
  const json_t *x = json_object_get(message, key);
  if (!json_is_integer(x)) return clt_fail(error, CLT_E_FORMAT, "a message lacks the whole number '%s'", key);
  int64_t value = json_integer_value(x);
  if (value < min || value > max)
    return clt_fail(error, CLT_E_FORMAT, "in a message, '%s' is %lld", key, (long long)value);
  *out = value;
  return CLT_OK;
}

json_t *clt_message_phase(clt_worker_phase phase) {
  return json_pack("{s:s, s:s}", "reply", "phase", "phase", phase_names[phase]);
}

static json_t *runs_message(const clt_measurement *m) {
  json_t *runs = json_array();
  for (size_t i = 0; runs && i < m->n_runs; i++)
    if (json_array_append_new(runs, number(m->runs_s[i]))) {
      json_decref(runs);
      return NULL;
    }
  return runs;
}

json_t *clt_message_from_measurement(const clt_measurement *m) {
  const clt_phases *p = &m->phases;
  return json_pack("{s:I, s:s, s:o, s:o, s:o, s:s, s:{s:o, s:o, s:o, s:o, s:o}, s:o, s:o}", "config",
                   (json_int_t)m->config, "reason", clt_reason_name(m->reason), "time_s", number(m->time_s), "energy_J",
                   number(m->energy_J), "runs_s", runs_message(m), "clock",
                   m->clock == CLT_CLOCK_DEVICE ? "device" : "host", "phases", "build_s", number(p->build_s),
                   "first_launch_s", number(p->first_launch_s), "runs_s", number(p->runs_s), "verify_s",
                   number(p->verify_s), "wait_s", number(p->wait_s), "max_abs_error", number(m->max_abs_error), "log",
                   m->log ? clt_message_text(m->log) : json_null());
}

static int get_phases(clt_phases *out, const json_t *object, clt_error *error) {
  const struct {
    const char *key;
    double *slot;
  } table[] = {{"build_s", &out->build_s},
               {"first_launch_s", &out->first_launch_s},
               {"runs_s", &out->runs_s},
               {"verify_s", &out->verify_s},
               {"wait_s", &out->wait_s}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    int rc = get_number(table[i].slot, object, table[i].key, 0, error);
    if (rc) return rc;
  }
  return CLT_OK;
}

static int get_runs(clt_measurement *out, const json_t *runs, clt_error *error) {
  if (!json_is_array(runs) || json_array_size(runs) > CLT_MAX_RUNS)
    return clt_fail(error, CLT_E_FORMAT, "in a message, 'runs_s' is no list of at most %d numbers", CLT_MAX_RUNS);
  for (size_t i = 0; i < json_array_size(runs); i++) {
    const json_t *run = json_array_get(runs, i);
    if (!json_is_number(run) || !(json_number_value(run) >= 0))
      return clt_fail(error, CLT_E_FORMAT, "in a message, 'runs_s[%zu]' is no time", i);
    out->runs_s[i] = json_number_value(run);
  }
  out->n_runs = json_array_size(runs);
  return CLT_OK;
}

static int get_measurement(clt_measurement *out, const json_t *message, clt_error *error) {
  clt_reason reason;
  const char *log = json_string_value(json_object_get(message, "log"));
  const char *name = clt_message_string(message, "reason");
  if (clt_reason_parse(&reason, name, NULL))
    return clt_fail(error, CLT_E_FORMAT, "in a message, 'reason' is '%.32s'", name);
  int rc = get_runs(out, json_object_get(message, "runs_s"), error);
  if (rc == 0) rc = get_number(&out->max_abs_error, message, "max_abs_error", 0, error);
  if (rc == 0) rc = get_phases(&out->phases, json_object_get(message, "phases"), error);
  if (rc == 0) rc = get_number(&out->time_s, message, "time_s", 0, error);
  if (rc == 0 && json_object_get(message, "energy_J")) rc = get_number(&out->energy_J, message, "energy_J", 0, error);
  if (rc) return rc;
  out->clock = strcmp(clt_message_string(message, "clock"), "device") == 0 ? CLT_CLOCK_DEVICE : CLT_CLOCK_HOST;
  if (reason != CLT_REASON_NONE) clt_measurement_fail(out, reason, log);
  return CLT_OK;
}

int clt_message_to_measurement(clt_measurement *out, const json_t *message, clt_error *error) {
  int64_t config;
  int rc = clt_message_integer(&config, message, "config", 0, INT64_MAX, error);
  if (rc) return rc;
  clt_measurement m;
  clt_measurement_init(&m, (clt_config)config);
  rc = get_measurement(&m, message, error);
  if (rc) {
    clt_measurement_release(&m);
    return rc;
  }
  *out = m;
  return CLT_OK;
}

json_t *clt_message_from_timing(const clt_worker_timing *t) {
  return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:b, s:o}", "min_runs", t->min_runs, "max_runs", t->max_runs,
                   "max_total_s", number(t->max_total_s), "steady_relative", number(t->steady_relative), "best_s",
                   number(t->best_s), "abandon_factor", number(t->abandon_factor), "warm_up", t->warm_up, "energy_s",
                   number(t->energy_s));
}

int clt_message_to_timing(clt_worker_timing *out, const json_t *message, clt_error *error) {
  clt_worker_timing t = {.warm_up = json_is_true(json_object_get(message, "warm_up"))};
  int64_t min_runs = 0, max_runs = 0;
  int rc = clt_message_integer(&max_runs, message, "max_runs", 1, CLT_MAX_RUNS, error);
  if (rc == 0) rc = clt_message_integer(&min_runs, message, "min_runs", 1, max_runs, error);
  if (rc == 0) rc = get_number(&t.max_total_s, message, "max_total_s", 0, error);
  if (rc == 0) rc = get_number(&t.steady_relative, message, "steady_relative", 0, error);
  if (rc == 0) rc = get_number(&t.best_s, message, "best_s", 0, error);
  if (rc == 0) rc = get_number(&t.abandon_factor, message, "abandon_factor", 0, error);
  if (rc == 0 && json_object_get(message, "energy_s")) rc = get_number(&t.energy_s, message, "energy_s", 0, error);
  if (rc) return rc;
  t.min_runs = (int)min_runs;
  t.max_runs = (int)max_runs;
  *out = t;
  return CLT_OK;
}

int clt_message_add_quality(json_t *reply, double quality) {
  return json_object_set_new(reply, "quality", number(quality));
}

int clt_message_to_quality(double *out, const json_t *reply, clt_error *error) {
  double value = NAN;
  if (json_object_get(reply, "quality")) {
    int rc = get_number(&value, reply, "quality", -INFINITY, error);
    if (rc == 0 && isinf(value)) rc = clt_fail(error, CLT_E_FORMAT, "in a message, 'quality' is infinite");
    if (rc) return rc;
  }
  *out = value;
  return CLT_OK;
}

json_t *clt_message_from_error(const clt_error *error) {
  return json_pack("{s:s, s:i, s:o, s:o, s:i, s:o}", "reply", "error", "code", error->code, "message",
                   clt_message_text(error->message), "file", clt_message_text(error->file), "line", error->line, "key",
                   clt_message_text(error->key));
}

int clt_message_to_error(const json_t *message, clt_error *error) {
  int64_t code = CLT_E_WORKER, line = 0;
  if (clt_message_integer(&code, message, "code", CLT_E_UNSUPPORTED, -1, NULL)) code = CLT_E_WORKER;
  if (clt_message_integer(&line, message, "line", 0, INT32_MAX, NULL)) line = 0;
  const char *file = clt_message_string(message, "file"), *key = clt_message_string(message, "key");
  return clt_fail_at(error, (int)code, *file ? file : NULL, (int)line, *key ? key : NULL, "%s",
                     clt_message_string(message, "message"));
}
