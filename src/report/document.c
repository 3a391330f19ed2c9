/* A tuning as JSON: what docs/how-to/read-the-report.md lists, and what the text and the page show. */
#include "base/base.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "device/device.h"
#include "format/format.h"
#include "measurement/measurement.h"
#include "problem/guidance.h"
#include "report/report.h"
#include "store/best.h"

#define FASTEST 10
#define MOST_VALUES 16 /* of a parameter in plots and text; of longer lists those with the best costs */
#define MOST_FAILING 12
#define LEAST_FAILED_ROWS 3 /* of a value, before its share of failures means anything */
#define MOST_PAIRS ((size_t)1 << 20)
/* All pairs of parameters of an ordinary space; of large ones as many as take about a second and a megabyte. */
#define MOST_PAIR_ROWS 2000000
#define MOST_CELLS 100000

/* A parameter, and the summaries of its values. */
typedef struct factor {
  size_t index; /* in the space */
  const clt_parameter *parameter;
  clt_effect *effects; /* one a value */
  double importance;
  uint64_t shown[MOST_VALUES]; /* values that were measured, in the order of the list */
  size_t n_shown, best,
      standard; /* the values of the best row, always among those shown, and of the default; SIZE_MAX: none */
} factor;

typedef struct document_draft {
  const clt_tuning *t;
  const clt_report_options *options;
  factor *factors;
  size_t n_factors;
  size_t *groups; /* scratch, one a row */
} document_draft;

/* --- parts --- */

static json_t *value_json(clt_value value) {
  return value.type == CLT_STRING ? clt_report_string(value.text) : clt_json_value(value);
}

static json_t *cost_json(const document_draft *d, double cost) { return clt_json_real(clt_tuning_value(d->t, cost)); }

/* The figures computed of a row in addition to the objective; not the wall time of a program that reports a figure. */
static json_t *metrics_json(document_draft *d, const clt_report_row *row, bool as_finalist) {
  const clt_objective *o = d->t->objective;
  json_t *list = json_array();
  for (size_t i = 0; i < clt_objective_n_metrics(o); i++) {
    clt_metric metric = clt_objective_metric(o, i);
    double value = clt_row_metric(d->t, row, i, as_finalist);
    if (i == clt_objective_chosen(o) || !isfinite(value)) continue;
    if (i != clt_objective_default(o) && strcmp(metric.name, "time") == 0) continue;
    clt_json_append(&list, json_pack("{s:o, s:o, s:f}", "name", clt_report_string(metric.name), "unit",
                                     clt_report_string(metric.unit), "value", value));
  }
  return list;
}

static json_t *row_json(document_draft *d, size_t index) {
  const clt_report_row *row = &d->t->rows.items[index];
  const clt_space *space = d->t->space;
  json_t *configuration = json_object();
  for (size_t i = 0; i < clt_space_n_parameters(space); i++)
    clt_json_set(&configuration, clt_space_parameter(space, i)->name,
                 value_json(clt_space_value(space, row->config, i)));
  double error = NAN, confidence = NAN, low = NAN, high = NAN;
  json_t *value = json_null();
  if (clt_objective_is_default(d->t->objective)) {
    value = cost_json(d, row->final_cost);
    error = clt_interval_error(&row->final_interval, isnan(row->final_figure) ? row->final_s : row->final_figure);
    if (isfinite(error))
      confidence = row->final_interval.confidence, low = row->final_interval.low, high = row->final_interval.high;
  }
  const double time_s = isnan(row->final_s) ? row->time_s : row->final_s;
  const double share = clt_launch_share(&row->state, time_s, d->t->instance, row->config);
  return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "evaluation",
                   (json_int_t)index + 1, "time_s", clt_json_real(row->time_s), "value", cost_json(d, row->cost),
                   "spread", clt_json_real(row->spread), "finalist_s", clt_json_real(row->final_s), "finalist_value",
                   value, "finalist_interval", clt_json_real(error), "finalist_confidence", clt_json_real(confidence),
                   "finalist_low", clt_json_real(low), "finalist_high", clt_json_real(high), "configuration",
                   configuration, "text", clt_report_config(d->t->space, row->config), "metrics",
                   metrics_json(d, row, false), "state", clt_json_state(&row->state, share));
}

/* --- effects of parameters --- */

static size_t position_of(const clt_tuning *t, size_t row, size_t parameter) {
  uint32_t positions[CLT_MAX_PARAMETERS];
  clt_space_positions(positions, t->space, t->rows.items[row].config);
  return positions[parameter];
}

/* Those of which one value alone was measured come last. */
static int by_variety_and_importance(const void *a, const void *b) {
  const factor *x = a, *y = b;
  if ((x->n_shown > 1) != (y->n_shown > 1)) return x->n_shown > 1 ? -1 : 1;
  const double p = fmax(x->importance, -1), q = fmax(y->importance, -1); /* NaN: last */
  if (p != q) return p > q ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

static int make_factor(document_draft *d, size_t index, clt_error *error) {
  factor *f = &d->factors[index];
  *f = (factor){
      .index = index, .parameter = clt_space_parameter(d->t->space, index), .best = SIZE_MAX, .standard = SIZE_MAX};
  for (size_t i = 0; i < d->t->rows.n; i++) d->groups[i] = position_of(d->t, i, index);
  size_t n = f->parameter->n_values;
  int rc = clt_effects_new(&f->effects, &f->importance, n, d->t, d->groups, error);
  if (rc) return rc;
  if (d->t->best != SIZE_MAX) f->best = d->groups[d->t->best];
  if (d->t->standard != SIZE_MAX) f->standard = d->groups[d->t->standard];
  clt_report_ranked shown[MOST_VALUES]; /* the best configuration's value before all others */
  for (size_t v = 0; v < n; v++) {
    double key = f->effects[v].least;
    if (isnan(key)) key = INFINITY;
    if (v == f->best) key = -INFINITY;
    if (f->effects[v].n) f->n_shown = clt_rank(shown, f->n_shown, MOST_VALUES, (clt_report_ranked){key, v, 0, v});
  }
  for (size_t i = 0; i < f->n_shown; i++) f->shown[i] = shown[i].index;
  clt_sort_u64(f->shown, f->n_shown);
  return CLT_OK;
}

static json_t *parameter_json(document_draft *d, const factor *f) {
  /* Times had names of their own before there were objectives. */
  static const char *const names[2][4] = {{"best", "better_quartile", "median", "worse_quartile"},
                                          {"least_s", "lower_quartile_s", "median_s", "upper_quartile_s"}};
  bool is_time = clt_objective_is_time(d->t->objective);
  json_t *values = json_array();
  for (size_t v = 0, shown = 0; v < f->parameter->n_values; v++) {
    const clt_effect *e = &f->effects[v];
    const double costs[] = {e->least, e->lower_quartile, e->median, e->upper_quartile};
    if (e->n == 0) continue;
    bool is_shown = shown < f->n_shown && f->shown[shown] == v;
    shown += is_shown;
    json_t *json = json_pack("{s:o, s:I, s:I, s:b, s:b, s:b}", "value", value_json(f->parameter->values[v]), "rows",
                             (json_int_t)e->n, "failed", (json_int_t)e->n_failed, "shown", is_shown, "of_best",
                             v == f->best, "of_default", v == f->standard);
    for (size_t i = 0; i < 4; i++) clt_json_set(&json, names[is_time][i], cost_json(d, costs[i]));
    if (is_shown && isfinite(e->least))
      clt_json_set(&json, "text", clt_report_config(d->t->space, d->t->rows.items[e->best_row].config));
    clt_json_append(&values, json);
  }
  return json_pack("{s:s, s:o, s:o}", "name", f->parameter->name, "importance", clt_json_real(f->importance), "values",
                   values);
}

/* Two parameters together: a row a shown value of the first, a number a shown value of the second. */
static int pair_json(json_t **out, document_draft *d, const factor *first, const factor *second, clt_error *error) {
  size_t n, n_second = second->parameter->n_values;
  clt_effect *effects;
  *out = json_null();
  if (!clt_size_multiply(&n, first->parameter->n_values, n_second) || n > MOST_PAIRS) return CLT_OK;
  for (size_t i = 0; i < d->t->rows.n; i++)
    d->groups[i] = position_of(d->t, i, first->index) * n_second + position_of(d->t, i, second->index);
  int rc = clt_effects_new(&effects, NULL, n, d->t, d->groups, error);
  if (rc) return rc;
  json_t *best = json_array(), *median = json_array();
  for (size_t a = 0; a < first->n_shown; a++) {
    json_t *best_row = json_array(), *median_row = json_array();
    for (size_t b = 0; b < second->n_shown; b++) {
      const clt_effect *e = &effects[first->shown[a] * n_second + second->shown[b]];
      clt_json_append(&best_row, cost_json(d, e->least));
      clt_json_append(&median_row, cost_json(d, e->median));
    }
    clt_json_append(&best, best_row);
    clt_json_append(&median, median_row);
  }
  free(effects);
  *out = json_pack("{s:[s, s], s:o, s:o}", "parameters", first->parameter->name, second->parameter->name, "best", best,
                   "median", median);
  return CLT_OK;
}

/* The two most important parameters, and the other pairs in the order of importance. */
static int put_pairs(document_draft *d, json_t **json, clt_error *error) {
  json_t *pair, *first_pair = json_null(), *others = json_array();
  size_t n_rows = 0, n_cells = 0;
  int rc = CLT_OK;
  bool done = false;
  for (size_t b = 1; !done && b < d->n_factors; b++) {
    for (size_t a = 0; a < b && !done; a++) {
      const factor *first = &d->factors[a], *second = &d->factors[b];
      n_rows += d->t->rows.n;
      n_cells += first->n_shown * second->n_shown;
      done = b > 1 && (n_rows > MOST_PAIR_ROWS || n_cells > MOST_CELLS);
      if (!done) rc = pair_json(&pair, d, first, second, error);
      done = done || rc;
      if (!done && b == 1)
        first_pair = pair;
      else if (!done && !json_is_null(pair))
        clt_json_append(&others, pair);
    }
  }
  clt_json_set(json, "pairs", first_pair);
  clt_json_set(json, "other_pairs", others);
  return rc;
}

/* --- failures --- */

static json_t *reasons_json(document_draft *d, bool texts) {
  json_int_t counts[CLT_N_REASONS] = {0};
  json_t *reasons = json_object();
  for (size_t i = 0; i < d->t->rows.n; i++) counts[d->t->rows.items[i].reason]++;
  for (int r = CLT_REASON_NONE + 1; r < CLT_N_REASONS; r++)
    if (counts[r] && r != CLT_REASON_ABANDONED)
      clt_json_set(&reasons, clt_reason_name((clt_reason)r),
                   texts ? json_string(clt_reason_text((clt_reason)r)) : json_integer(counts[r]));
  return reasons;
}

/* The values with which more fails than on the whole, the largest share first. */
static json_t *failing_json(document_draft *d) {
  clt_report_ranked most[MOST_FAILING];
  size_t n_most = 0, n = d->t->rows.n;
  double of_all = (double)(n - d->t->n_correct - d->t->n_abandoned) / (double)n;
  for (size_t i = 0; i < d->n_factors; i++) {
    const factor *f = &d->factors[i];
    for (size_t v = 0; v < f->parameter->n_values; v++) {
      const clt_effect *e = &f->effects[v];
      double share = e->n ? (double)e->n_failed / (double)e->n : 0;
      if (e->n_failed < LEAST_FAILED_ROWS || share <= of_all) continue;
      n_most = clt_rank(most, n_most, MOST_FAILING, (clt_report_ranked){-share, 0, i, v});
    }
  }
  json_t *list = json_array();
  for (size_t i = 0; i < n_most; i++) {
    const factor *f = &d->factors[most[i].of];
    const clt_effect *e = &f->effects[most[i].index];
    clt_json_append(&list, json_pack("{s:s, s:o, s:I, s:I}", "parameter", f->parameter->name, "value",
                                     value_json(f->parameter->values[most[i].index]), "rows", (json_int_t)e->n,
                                     "failed", (json_int_t)e->n_failed));
  }
  return list;
}

/* --- the search --- */

/* Each improvement, and some of all configurations for a plot; how long it took; whether rows are in the order of their
 * numbers: a whole space, no search. */
static void put_progress(document_draft *d, json_t **json) {
  const clt_report_rows *rows = &d->t->rows;
  json_t *progress = json_array(), *evaluation = json_array(), *seconds = json_array(), *value = json_array();
  json_t *text = json_array();
  double best = INFINITY, spent_s = 0;
  size_t stride = rows->n / CLT_REPORT_MOST_POINTS + 1;
  bool in_order = rows->n > 2;
  for (size_t i = 0; i < rows->n; i++) {
    const clt_report_row *row = &rows->items[i];
    spent_s += row->spent_s;
    if (i && rows->items[i - 1].config > row->config) in_order = false;
    if (i % stride == 0 && isfinite(row->cost)) {
      clt_json_append(&evaluation, json_integer((json_int_t)i + 1));
      clt_json_append(&seconds, clt_json_real(spent_s));
      clt_json_append(&value, cost_json(d, row->cost));
      clt_json_append(&text, clt_report_config(d->t->space, row->config));
    }
    if (!(row->cost < best)) continue;
    best = row->cost;
    clt_json_append(&progress, json_pack("{s:I, s:o, s:o, s:o}", "evaluation", (json_int_t)i + 1, "best_s",
                                         clt_json_real(row->time_s), "best_value", cost_json(d, best), "spent_s",
                                         clt_json_real(spent_s)));
  }
  clt_json_set(json, "progress", progress);
  clt_json_set(
      json, "points",
      json_pack("{s:o, s:o, s:o, s:o}", "evaluation", evaluation, "spent_s", seconds, "value", value, "text", text));
  clt_json_set(json, "spent_s", clt_json_real(spent_s));
  clt_json_set(json, "in_order", json_boolean(in_order));
}

static const char *name_of_file(const document_draft *d, const char *path) {
  const char *slash = d->options->share ? strrchr(path, '/') : NULL;
  return slash ? slash + 1 : path;
}

/* Adds each word of a text behind `before`, quoted for a shell where `quote`. */
static void add_words(clt_text *out, const char *words, const char *before, bool quote) {
  for (const char *word = words + strspn(words, " "); *word; word += strspn(word, " ")) {
    size_t n = strcspn(word, " ");
    char *one = strndup(word, n);
    clt_text_printf(out, "%s%s", out->n ? " " : "", before);
    if (one && quote) clt_text_add_word(out, one);
    if (one && !quote) clt_text_add(out, one);
    free(one);
    word += n;
  }
}

/* The metrics of the best and the options that it is built with: as the problem file has them, else as the tuning that
 * found it wrote them down. And what asks for it again. */
static void put_use(document_draft *d, json_t **json, const clt_report_row *best, bool as_finalist) {
  const clt_tuning *t = d->t;
  json_t *metrics = metrics_json(d, best, as_finalist), *noted = json_object_get(t->session, "metrics"), *metric;
  size_t i;
  char *configuration = clt_config_string(t->space, best->config), *options = NULL;
  const char *text = configuration ? configuration : "";
  bool is_noted = t->session && strcmp(clt_json_string(t->session, "best"), text) == 0;
  clt_text words = {0}, command = {0};
  if (t->instance == NULL && is_noted && json_array_size(noted)) json_array_clear(metrics);
  json_array_foreach(t->instance == NULL && is_noted ? noted : NULL, i, metric) {
    const char *name = clt_json_string(metric, "name");
    if (strcmp(name, clt_objective_name(t->objective)) == 0) continue;
    clt_json_append(&metrics, json_pack("{s:o, s:o, s:f}", "name", clt_report_string(name), "unit",
                                        clt_report_string(clt_json_string(metric, "unit")), "value",
                                        json_number_value(json_object_get(metric, "value"))));
  }
  clt_json_set(json, "metrics", metrics);
  /* The arguments of a program are not known without its problem file. */
  bool is_host = t->device_info && clt_device_is_host(t->device_info);
  if (t->instance ? clt_problem_has_options(clt_instance_problem(t->instance)) : !is_host) {
    if (t->instance && !d->options->share) clt_instance_options(&options, t->instance, best->config, NULL);
    if (options == NULL && is_noted && !d->options->share) options = strdup(clt_json_string(t->session, "options"));
    if (options && options[0])
      clt_text_add(&words, options);
    else
      add_words(&words, text, "-D", false);
  }
  clt_json_set(json, "options", words.n ? clt_report_string(words.bytes) : json_null());
  if (t->problem_path && t->problem_path[0]) {
    clt_text_add(&command, "clatune lookup");
    clt_text_add_word(&command, name_of_file(d, t->problem_path));
    add_words(&command, t->sizes, "--size", true);
    if (t->device_info) clt_text_add(&command, " --device");
    if (t->device_info) clt_text_add_word(&command, t->device_info->name);
    if (t->store) clt_text_add(&command, " --store");
    if (t->store) clt_text_add_word(&command, name_of_file(d, t->store));
    if (d->options->objective) clt_text_add(&command, " --objective");
    if (d->options->objective) clt_text_add_word(&command, d->options->objective);
  }
  clt_json_set(json, "lookup", command.n ? clt_report_string(command.bytes) : json_null());
  if (words.rc || command.rc || configuration == NULL) {
    json_decref(*json);
    *json = NULL;
  }
  clt_text_release(&words);
  clt_text_release(&command);
  free(configuration);
  free(options);
}

/* The best as a row, with what counts of it: its median as a finalist, if finalists decide; and how far it is ahead
 * of the default configuration, where both were measured side by side. */
static void put_best(document_draft *d, json_t **json) {
  const clt_tuning *t = d->t;
  clt_report_ranked fastest[FASTEST];
  size_t n = clt_tuning_fastest(t, fastest, FASTEST);
  const clt_report_row *best = d->t->best == SIZE_MAX ? NULL : &t->rows.items[d->t->best];
  const bool as_finalist = t->best_is_finalist;
  double cost = best ? best->cost : NAN;
  if (as_finalist) cost = best->final_cost;
  json_t *list = json_array();
  for (size_t i = 0; i < n; i++) clt_json_append(&list, row_json(d, fastest[i].index));
  clt_json_set(json, "best", best ? row_json(d, d->t->best) : json_null());
  clt_json_set(json, "best_value", cost_json(d, cost));
  clt_json_set(json, "best_is_finalist", json_boolean(as_finalist));
  const clt_report_row *standard = d->t->standard == SIZE_MAX ? NULL : &t->rows.items[d->t->standard];
  clt_json_set(json, "default", standard ? row_json(d, d->t->standard) : json_null());
  clt_json_set(json, "default_value", cost_json(d, t->default_cost));
  clt_json_set(json, "gain_over_default", clt_json_real(clt_cost_ratio(t->default_cost, cost)));
  if (best) put_use(d, json, best, as_finalist);
  clt_json_set(json, "fastest", list);
}

static json_t *objective_json(const clt_tuning *t) {
  const clt_objective *o = t->objective;
  return json_pack("{s:o, s:o, s:s}", "name", clt_report_string(clt_objective_name(o)), "unit",
                   clt_report_string(clt_objective_unit(o)), "goal", clt_goal_name(clt_objective_goal(o)));
}

static json_t *device_json(const clt_device_info *info) {
  json_t *json = info ? clt_device_json(info) : json_null(), *value;
  const char *key;
  json_object_foreach(json, key, value) {
    if (json_is_string(value)) json_object_set_new(json, key, clt_report_string(json_string_value(value)));
  }
  return json;
}

/* When it was measured, and what the newest tuning said of itself: a store's text, of which only this is taken. */
static void put_session(document_draft *d, json_t **json) {
  static const char *const texts[] = {"searcher", "ended_by", "how_sure"};
  static const char *const numbers[] = {"seed", "evaluations", "load", "processors"};
  const clt_tuning *t = d->t;
  const struct {
    const char *key;
    int64_t at_s;
  } times[] = {{"measured_from", t->first_s}, {"measured_until", t->last_s}};
  json_t *session = json_is_object(t->session) ? json_object() : NULL, *notes = json_array(), *note;
  size_t n;
  for (int i = 0; i < 2; i++) {
    time_t at = (time_t)times[i].at_s;
    struct tm date;
    char text[32] = "";
    bool known = at > 0 && gmtime_r(&at, &date) && strftime(text, sizeof text, "%Y-%m-%d %H:%M", &date) > 0;
    clt_json_set(json, times[i].key, clt_json_text(known ? text : NULL));
  }
  for (size_t i = 0; session && i < sizeof texts / sizeof *texts; i++)
    clt_json_set(&session, texts[i], clt_report_string(clt_json_string(t->session, texts[i])));
  for (size_t i = 0; session && i < sizeof numbers / sizeof *numbers; i++) {
    json_t *number = json_object_get(t->session, numbers[i]);
    clt_json_set(&session, numbers[i], json_is_number(number) ? json_incref(number) : json_null());
  }
  json_array_foreach(json_object_get(t->session, "notes"), n, note)
      clt_json_append(&notes, clt_report_string(json_is_string(note) ? json_string_value(note) : ""));
  if (t->unchecked)
    clt_json_append(&notes, json_string("best configuration: " CLT_UNCHECKED ", run 'clatune tune' to its end"));
  clt_json_set(json, "notes", notes);
  clt_json_set(json, "session", session ? session : json_null());
}

/* --- all of it --- */

int clt_tuning_document(json_t **out, const clt_tuning *tuning, const clt_report_options *options, clt_error *error) {
  size_t n_parameters = clt_space_n_parameters(tuning->space);
  document_draft d = {.t = tuning,
                      .options = options,
                      .factors = clt_new_array(n_parameters, sizeof *d.factors),
                      .groups = clt_new_array(tuning->rows.n, sizeof *d.groups)};
  json_t *json = json_object(), *parameters = json_array(), *ranking = json_array(), *model = NULL;
  double *costs = clt_new_array(tuning->rows.n, sizeof *costs);
  int rc = d.factors && d.groups && costs ? CLT_OK : clt_fail_memory(error);
  clt_json_set(&json, "title", clt_report_string(tuning->title));
  clt_json_set(&json, "objective", objective_json(tuning));
  clt_json_set(&json, "sizes", clt_report_string(tuning->sizes));
  clt_json_set(&json, "key", clt_report_string(tuning->device));
  clt_json_set(&json, "device", device_json(tuning->device_info));
  clt_json_set(&json, "configurations", json_integer((json_int_t)tuning->rows.n));
  clt_json_set(&json, "correct", json_integer((json_int_t)tuning->n_correct));
  clt_json_set(&json, "abandoned", json_integer((json_int_t)tuning->n_abandoned));
  clt_json_set(&json, "valid", json_integer((json_int_t)clt_space_valid(tuning->space)));
  clt_json_set(&json, "whole_space", json_boolean(tuning->own_space == NULL));
  clt_json_set(&json, "reasons", reasons_json(&d, false));
  clt_json_set(&json, "reason_texts", reasons_json(&d, true));
  put_session(&d, &json);
  put_best(&d, &json);
  put_progress(&d, &json);
  clt_json_set(&json, "front", clt_report_front(tuning));
  for (size_t i = 0; rc == CLT_OK && i < tuning->rows.n; i++) costs[i] = tuning->rows.items[i].cost;
  if (rc == CLT_OK) clt_json_set(&json, "median_value", cost_json(&d, clt_median(costs, tuning->rows.n)));
  for (size_t i = 0; rc == CLT_OK && i < n_parameters; i++) {
    rc = make_factor(&d, i, error);
    if (rc == CLT_OK) clt_json_append(&parameters, parameter_json(&d, &d.factors[i]));
  }
  if (rc == CLT_OK) {
    qsort(d.factors, n_parameters, sizeof *d.factors, by_variety_and_importance);
    while (d.n_factors < n_parameters && d.factors[d.n_factors].n_shown > 1)
      clt_json_append(&ranking, json_integer((json_int_t)d.factors[d.n_factors++].index));
    rc = put_pairs(&d, &json, error);
  }
  clt_json_set(&json, "parameters", parameters);
  clt_json_set(&json, "ranking", ranking);
  if (rc == CLT_OK) clt_json_set(&json, "failing", failing_json(&d));
  if (rc == CLT_OK && options->without_model) model = json_null();
  if (rc == CLT_OK && !options->without_model) rc = clt_report_fit(&model, tuning, options, error);
  if (rc == CLT_OK) clt_json_set(&json, "model", model);
  if (rc == CLT_OK && json == NULL) rc = clt_fail_memory(error);
  for (size_t i = 0; d.factors && i < n_parameters; i++) free(d.factors[i].effects);
  free(d.factors);
  free(d.groups);
  free(costs);
  if (rc)
    json_decref(json);
  else
    *out = json;
  return rc;
}
