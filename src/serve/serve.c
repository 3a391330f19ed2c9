/* Requests to a search: ask, tell, best, pending, stop. */
#include "serve/serve.h"
#include "base/base.h"
#include "base/json.h"
#include "format/format.h"
#include "space/space.h"

#define MOST_ASKED 10000

/* --- "ask" --- */

/* Configurations told before the first ask are the search's warm start; they do not count towards the budget. */
static int start_search(clt_served *s, clt_error *error) {
  clt_search_loop *l = &s->loop;
  if (s->started) return CLT_OK;
  l->has_default = s->default_config != CLT_CONFIG_NONE && clt_space_contains(l->space, s->default_config);
  l->initial = clt_new_array(1 + s->n_earlier, sizeof *l->initial);
  if (l->initial == NULL) return clt_fail_memory(error);
  const clt_config first = l->has_default ? clt_space_canonical(l->space, s->default_config) : CLT_CONFIG_NONE;
  if (l->has_default) l->initial[l->n_initial++] = s->default_config;
  for (size_t i = 0; i < s->n_earlier; i++)
    if (s->earlier[i] != first) l->initial[l->n_initial++] = s->earlier[i];
  if (l->budget < INT64_MAX) l->budget += (int64_t)s->n_earlier;
  s->started = true;
  int rc = clt_loop_reuse(l, false, error);
  return rc ? rc : clt_loop_start(l, s->setup, error);
}

static void add_counts(const clt_served *s, json_t *out) {
  const clt_search_loop *l = &s->loop;
  json_object_set_new(out, "evaluations", json_integer(l->n_begun - (json_int_t)l->n_pending));
  json_object_set_new(out, "pending", json_integer((json_int_t)l->n_measuring));
  json_object_set_new(out, "failed", json_integer((json_int_t)s->n_failed));
}

/* Adds a configuration to the answer's lists; that of a problem file with its build options and launches. */
static void add_configuration(const clt_served *s, json_t *out, clt_config config) {
  clt_launch_sizes *launches = NULL;
  size_t n = 0;
  json_array_append_new(json_object_get(out, "configurations"), clt_json_configuration(s->loop.space, config));
  if (!s->has_options) return;
  clt_instance_launches(&launches, &n, s->instance, config, NULL); /* left out if an expression gives no size */
  json_array_append_new(json_object_get(out, "options"), clt_json_options(s->instance, config));
  json_array_append_new(json_object_get(out, "launches"), clt_json_launches(launches, n));
  free(launches);
}

static void begin_lists(const clt_served *s, json_t *out) {
  json_object_set_new(out, "configurations", json_array());
  if (!s->has_options) return;
  json_object_set_new(out, "options", json_array());
  json_object_set_new(out, "launches", json_array());
}

static int answer_ask(clt_serving *serving, const clt_node *root, json_t *out, clt_error *error) {
  clt_served *s = serving->served;
  clt_search_loop *l = &s->loop;
  clt_read_object(root, CLT_NAMES("id", "ask"), true);
  const int64_t n = clt_read_integer_within(root, "ask", 1, 1, MOST_ASKED);
  if (!clt_node_ok(root)) return root->reading->rc;
  int rc = start_search(s, error);
  if (rc) { /* a searcher that failed to start cannot continue */
    clt_served_free(s);
    serving->served = NULL;
    return rc;
  }
  begin_lists(s, out);
  clt_config config = 0;
  for (int64_t i = 0; rc == CLT_OK && i < n && config != CLT_CONFIG_NONE; i++) {
    rc = clt_loop_next(l, (size_t)(n - i), &config, error);
    if (rc || config == CLT_CONFIG_NONE) break;
    add_configuration(s, out, config);
  }
  const bool none = json_array_size(json_object_get(out, "configurations")) == 0;
  if (!none) rc = CLT_OK; /* the next ask reports the failure again */
  json_object_set_new(out, "over", json_boolean(none && (l->n_pending == 0 || l->n_begun >= l->budget)));
  return rc;
}

/* --- "tell", "best" --- */

/* "time_s": a number of seconds, or a list of them, one per run. */
static void read_time(const clt_node *told, clt_measurement *m) {
  clt_node place = clt_node_member(told, "time_s");
  const size_t n = clt_node_count(&place);
  if (n > CLT_MAX_RUNS) clt_node_fail(&place, "has %zu runs; at most %d are kept", n, CLT_MAX_RUNS);
  if (json_is_array(place.json) && n == 0) clt_node_fail(&place, "needs at least one run");
  for (size_t i = 0; i < n && clt_node_ok(told); i++) {
    clt_node run = clt_node_item(&place, i);
    double seconds;
    if (!clt_json_read_number(&seconds, run.json) || !(seconds > 0))
      clt_node_fail(&run, "needs a number of seconds above 0");
    else
      m->time_s = fmin(m->time_s, m->runs_s[m->n_runs++] = seconds);
  }
}

static int read_configuration(const clt_served *s, const clt_node *told, clt_config *out) {
  const clt_space *space = s->loop.space;
  clt_node place = clt_node_member(told, "configuration");
  bool given[CLT_MAX_PARAMETERS];
  clt_error cause = {0};
  if (place.json == NULL) return clt_node_fail(told, "needs a \"configuration\"");
  *out = 0;
  int rc = clt_config_read_onto(out, given, space, place.json, &cause);
  if (rc == CLT_OK) rc = clt_config_check_given(given, space, &cause);
  if (rc) return clt_node_wrap(&place, rc, &cause);
  if (clt_space_contains(space, *out)) return *out = clt_space_canonical(space, *out), CLT_OK;
  const char *violated = clt_space_violation(space, *out, NULL);
  return clt_node_fail(&place, "is not in the space%s%s", violated ? ": it violates " : "", violated ? violated : "");
}

/* Reads a "tell". The caller releases *m, also on failure. */
static int read_told(const clt_served *s, const clt_node *root, clt_measurement *m) {
  const clt_objective *o = s->loop.objective;
  clt_node told = clt_node_member(root, "tell"), reason = clt_node_member(&told, "reason"),
           value = clt_node_member(&told, "value"), energy = clt_node_member(&told, "energy_J");
  const bool has_figure = clt_objective_default(o) > 0;
  clt_config config = CLT_CONFIG_NONE;
  clt_measurement_init(m, config);
  clt_read_object(root, CLT_NAMES("id", "tell"), true);
  if (!json_is_object(told.json) && clt_node_ok(root)) clt_node_fail(&told, "needs an object");
  clt_read_object(&told, CLT_NAMES("configuration", "time_s", "value", "energy_J", "reason", "log"), true);
  if (!clt_node_ok(root) || read_configuration(s, &told, &config)) return root->reading->rc;
  clt_measurement_init(m, config);
  m->clock = CLT_CLOCK_HOST;
  read_time(&told, m);
  const char *name = clt_read_text(&told, "reason"), *log = clt_read_text(&told, "log");
  if (!clt_node_ok(root)) return root->reading->rc;
  if (name) {
    const char *names[CLT_N_REASONS];
    size_t why = CLT_REASON_NONE + 1;
    for (size_t i = 0; i < CLT_N_REASONS; i++) names[i] = clt_reason_name((clt_reason)i);
    while (why < CLT_N_REASONS && strcmp(names[why], name) != 0) why++;
    if (why == CLT_N_REASONS)
      return clt_node_fail_name(&reason, "reason", name, names + 1, CLT_N_REASONS - 1, sizeof *names);
    if (m->n_runs > 0 || value.json || energy.json)
      return clt_node_fail(&reason,
                           "cannot be combined with a result; give \"reason\" only for a failed configuration");
    clt_measurement_fail(m, (clt_reason)why, log);
    return CLT_OK;
  }
  if (value.json && !has_figure) return clt_node_fail(&value, "is not used by this objective; give \"time_s\"");
  if (value.json && !clt_json_read_number(&m->figure, value.json)) return clt_node_fail(&value, "needs a number");
  if (energy.json && (!clt_json_read_number(&m->energy_J, energy.json) || !(m->energy_J > 0)))
    return clt_node_fail(&energy, "needs a number of joules above 0");
  const char *lacks = NULL;
  if (clt_objective_needs_energy(o) && energy.json == NULL) lacks = "energy_J";
  if (!has_figure && m->n_runs == 0) lacks = "time_s";
  if (has_figure && value.json == NULL) lacks = "value";
  if (lacks) return clt_node_fail(&told, "needs a \"%s\", or a \"reason\" if the configuration failed", lacks);
  if (has_figure && m->n_runs == 0) m->runs_s[m->n_runs++] = NAN;
  for (size_t i = 0; has_figure && i < m->n_runs; i++) m->figures[i] = i ? NAN : m->figure;
  return CLT_OK;
}

/* A configuration that the searcher did not ask for: it is stored, and becomes part of the warm start if the search has
 * not started. */
static int keep_earlier(clt_served *s, const clt_measurement *m, clt_error *error) {
  clt_search_loop *l = &s->loop;
  if (clt_map_find(&s->told, m->config))
    return clt_fail(error, CLT_E_ARGUMENT, "this configuration already has a result; tell each one once");
  if (clt_grow(&s->earlier, &s->earlier_capacity, s->n_earlier + 1, sizeof *s->earlier)) return clt_fail_memory(error);
  int rc = clt_store_add(l->store, &l->key, l->space, CLT_RECORD_SEARCH, m, error);
  if (rc == CLT_OK) rc = clt_served_count(s, m, error);
  if (rc == CLT_OK && !s->started) s->earlier[s->n_earlier++] = m->config;
  l->version = UINT64_MAX; /* the loop reads the store again */
  return rc;
}

static int answer_tell(clt_serving *serving, const clt_node *root, json_t *out, clt_error *error) {
  clt_served *s = serving->served;
  const clt_search_loop *l = &s->loop;
  clt_measurement m;
  bool asked = false;
  int rc = read_told(s, root, &m);
  for (size_t i = 0; rc == CLT_OK && i < l->n_pending; i++) asked = asked || l->pending[i].canonical == m.config;
  if (rc == CLT_OK) rc = asked ? clt_loop_answer(&s->loop, &m, error) : keep_earlier(s, &m, error);
  if (rc == CLT_OK) {
    json_object_set_new(out, "asked", json_boolean(asked));
    json_object_set_new(out, "best", json_boolean(s->best == m.config));
    add_counts(s, out);
  }
  clt_measurement_release(&m);
  return rc;
}

static int answer_best(clt_serving *serving, const clt_node *root, json_t *out, clt_error *error) {
  (void)error;
  const clt_served *s = serving->served;
  json_t *best = json_null();
  if (!clt_read_object(root, CLT_NAMES("id", "best"), true)) return root->reading->rc;
  if (s->best != CLT_CONFIG_NONE)
    best = json_pack("{s:o, s:o, s:o}", "configuration", clt_json_configuration(s->loop.space, s->best), "time_s",
                     clt_json_real(s->best_time_s), "value", clt_json_real(s->best_value));
  json_object_set_new(out, "best", best);
  add_counts(s, out);
  return CLT_OK;
}

/* "pending": configurations that were asked for and have no result yet, for a measuring loop that was restarted. */
static int answer_pending(clt_serving *serving, const clt_node *root, json_t *out, clt_error *error) {
  (void)error;
  const clt_served *s = serving->served;
  if (!clt_read_object(root, CLT_NAMES("id", "pending"), true)) return root->reading->rc;
  begin_lists(s, out);
  for (size_t i = 0; i < s->loop.n_pending; i++)
    if (s->loop.pending[i].measuring) add_configuration(s, out, s->loop.pending[i].canonical);
  return CLT_OK;
}

static int answer_stop(clt_serving *serving, const clt_node *root, json_t *out, clt_error *error) {
  (void)error;
  if (!clt_read_object(root, CLT_NAMES("id", "stop"), true)) return root->reading->rc;
  serving->stopped = true;
  json_object_set_new(out, "stopped", json_true());
  return CLT_OK;
}

/* --- lines --- */

static const struct {
  const char *name;
  bool needs_search;
  int (*answer)(clt_serving *serving, const clt_node *root, json_t *out, clt_error *error);
} requests[] = {{"space", false, clt_serve_space}, {"ask", true, answer_ask},         {"tell", true, answer_tell},
                {"best", true, answer_best},       {"pending", true, answer_pending}, {"stop", false, answer_stop}};

static int answer_request(clt_serving *serving, const clt_node *root, json_t *out, clt_error *error) {
  const size_t n = sizeof requests / sizeof *requests;
  size_t chosen = n;
  if (!json_is_object(root->json))
    return clt_fail(error, CLT_E_FORMAT, "a request must be a JSON object, such as {\"ask\": 1}");
  for (size_t i = 0; i < n; i++) {
    if (json_object_get(root->json, requests[i].name) == NULL) continue;
    if (chosen < n)
      return clt_fail(
          error, CLT_E_FORMAT,
          "a request must have only one of \"space\", \"ask\", \"tell\", \"best\", \"pending\" and \"stop\"");
    chosen = i;
  }
  if (chosen == n)
    return clt_fail(error, CLT_E_FORMAT,
                    "a request needs \"space\", \"ask\", \"tell\", \"best\", \"pending\" or \"stop\"");
  if (requests[chosen].needs_search && serving->served == NULL)
    return clt_fail(error, CLT_E_ARGUMENT, "there is no search yet; start one with \"space\"");
  return requests[chosen].answer(serving, root, out, error);
}

json_t *clt_serve_request(clt_serving *serving, const clt_text *line) {
  clt_source source = {0};
  clt_error error = {0};
  clt_reading reading = {&source, &error, CLT_OK};
  json_t *out = json_object(), *id = NULL;
  int rc = line->rc ? clt_fail_memory(&error) : CLT_OK;
  if (rc == CLT_OK && line->n > CLT_SERVE_MOST_BYTES)
    rc = clt_fail(&error, CLT_E_RANGE, "the request is longer than %zu bytes", CLT_SERVE_MOST_BYTES);
  if (rc == CLT_OK && memchr(line->bytes, 0, line->n))
    rc = clt_fail(&error, CLT_E_FORMAT, "the request contains a NUL byte");
  if (rc == CLT_OK) rc = clt_source_parse(&source, "request", line->bytes, &error);
  if (rc == CLT_OK) {
    clt_node root = clt_node_root(&reading);
    id = json_incref(json_object_get(source.root, "id"));
    rc = answer_request(serving, &root, out, &error);
  }
  if (rc) {
    char text[2048];
    clt_error_format(text, sizeof text, &error);
    json_object_clear(out);
    json_object_set_new(out, "error", clt_json_text(text));
  }
  if (id) json_object_set_new(out, "id", id);
  clt_source_release(&source);
  return out;
}

void clt_serving_release(clt_serving *serving) { clt_served_free(serving->served); }
