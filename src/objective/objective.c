/* Which metrics there are, and which of them is the objective. */
#include "objective/objective.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"

/* What a text asks for. */
typedef struct request {
  const char *subject; /* a metric's name, or an expression */
  clt_goal goal;
} request;

static request read_request(const char *text) {
  static const struct {
    const char *word;
    clt_goal goal;
  } words[] = {
      {"minimise", CLT_MINIMISE}, {"minimize", CLT_MINIMISE}, {"maximise", CLT_MAXIMISE}, {"maximize", CLT_MAXIMISE}};
  while (isspace((unsigned char)*text)) text++;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t n = strlen(words[i].word);
    if (strncasecmp(text, words[i].word, n) != 0 || !isspace((unsigned char)text[n])) continue;
    while (isspace((unsigned char)text[n])) n++;
    return (request){text + n, words[i].goal};
  }
  return (request){text, CLT_GOAL_NOT_STATED};
}

/* --- metrics --- */

static int add(clt_objective *o, const clt_metric *metric, clt_error *error) {
  clt_compiled_metric *m = &o->metrics[o->n++];
  *m = (clt_compiled_metric){
      strdup(metric->name), strdup(metric->expression), strdup(metric->unit), metric->goal, NULL, false, false};
  return m->name && m->text && m->unit ? CLT_OK : clt_fail_memory(error);
}

/* What an expression reads, also by way of the metrics above. */
static void note_reads(clt_objective *o, clt_compiled_metric *m) {
  const clt_metric_slots places = clt_metric_slots_of();
  for (size_t i = 0; i < clt_expr_n_slots(m->expr); i++) {
    size_t slot = clt_expr_slot(m->expr, i);
    m->reads_configuration |= slot < CLT_MAX_PARAMETERS;
    m->reads_energy |= slot == places.energy;
    if (slot < places.metrics) continue;
    const clt_compiled_metric *other = &o->metrics[slot - places.metrics + CLT_BUILT_IN_METRICS];
    m->reads_configuration |= other->reads_configuration;
    m->reads_energy |= other->reads_energy;
  }
}

/* scope->above grows by it. */
static int add_compiled(clt_objective *o, clt_metric_scope *scope, clt_metric *above, const clt_metric *metric,
                        clt_error *error) {
  int rc = add(o, metric, error);
  clt_compiled_metric *m = &o->metrics[o->n - 1];
  if (rc == CLT_OK) rc = clt_metric_compile(&m->expr, metric->expression, scope, error);
  if (rc) return rc;
  note_reads(o, m);
  above[scope->n_above++] = *metric;
  return CLT_OK;
}

static int add_built_ins(clt_objective *o, clt_error *error) {
  int rc = add(o, &(clt_metric){"time", "time_s", "s", CLT_MINIMISE}, error);
  if (rc == CLT_OK) rc = add(o, &(clt_metric){"energy", "energy_J", "J", CLT_MINIMISE}, error);
  if (rc == CLT_OK) o->metrics[CLT_METRIC_ENERGY].reads_energy = true;
  return rc;
}

static size_t find(const clt_objective *o, const char *name) {
  size_t i = 0;
  while (i < o->n && strcmp(o->metrics[i].name, name) != 0) i++;
  return i;
}

/* --- choosing --- */

static int fail_unknown(const clt_objective *o, const char *text, clt_error *error) {
  const char *names[CLT_MAX_METRICS + CLT_BUILT_IN_METRICS];
  for (size_t i = 0; i < o->n; i++) names[i] = o->metrics[i].name;
  const char *near = clt_nearest_name(text, names, o->n);
  return clt_fail(
      error, CLT_E_ARGUMENT,
      "there is no objective '%.200s'%s%s%s; an expression needs its goal: 'minimise %.200s' or 'maximise %.200s'",
      text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", text, text);
}

static int choose(clt_objective *o, clt_metric_scope *scope, clt_metric *above, const char *text, clt_error *error) {
  request asked = read_request(text);
  clt_error why = {0};
  o->chosen = find(o, asked.subject);
  if (o->chosen == o->n) {
    if (asked.goal == CLT_GOAL_NOT_STATED) return fail_unknown(o, asked.subject, error);
    int rc = add_compiled(o, scope, above, &(clt_metric){asked.subject, asked.subject, "", asked.goal}, &why);
    if (rc == CLT_E_MEMORY) return clt_fail_memory(error);
    if (rc) return clt_fail(error, rc, "the objective '%.200s': %s", asked.subject, why.message);
  }
  o->goal = asked.goal ? asked.goal : o->metrics[o->chosen].goal;
  if (o->goal) return CLT_OK;
  return clt_fail(error, CLT_E_ARGUMENT, "the metric '%s' states no goal: say 'minimise %s' or 'maximise %s'",
                  asked.subject, asked.subject, asked.subject);
}

/* Tried from a nanosecond to a quarter of an hour, which is where times lie. */
static bool gets_worse_with_time(const clt_objective *o) {
  double last = 0;
  for (int i = -9; i <= 3; i++) {
    double cost = clt_objective_cost_of(o, CLT_CONFIG_NONE, pow(10, i), NAN);
    if (!(cost > last)) return false;
    last = cost;
  }
  return true;
}

static int complete(clt_objective **out, clt_objective *o, int rc) {
  if (rc) {
    clt_objective_free(o);
    return rc;
  }
  const clt_compiled_metric *m = &o->metrics[o->chosen];
  o->ranks_by_time = !m->reads_configuration && !m->reads_energy && gets_worse_with_time(o);
  *out = o;
  return CLT_OK;
}

static int new_empty(clt_objective **out, const clt_space *space, size_t n_stated, clt_error *error) {
  clt_objective *o = calloc(1, sizeof *o);
  if (o == NULL) return clt_fail_memory(error);
  o->space = space;
  o->metrics = clt_new_array(CLT_BUILT_IN_METRICS + n_stated + 1, sizeof *o->metrics);
  *out = o;
  return o->metrics ? add_built_ins(o, error) : clt_fail_memory(error);
}

int clt_objective_new(clt_objective **out, const clt_instance *instance, const char *text, clt_error *error) {
  const clt_problem *problem = clt_instance_problem(instance);
  size_t n = clt_problem_n_metrics(problem);
  clt_objective *o = NULL;
  clt_metric above[CLT_MAX_METRICS + 1];
  clt_metric_scope scope = {.instance = instance, .above = above};
  int rc = new_empty(&o, clt_instance_space(instance), n, error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_metric metric = clt_problem_metric(problem, i);
    rc = add_compiled(o, &scope, above, &metric, error);
  }
  if (text == NULL) text = clt_problem_objective(problem);
  if (rc == CLT_OK) rc = choose(o, &scope, above, text ? text : "time", error);
  return complete(out, o, rc);
}

int clt_objective_new_for(clt_objective **out, const clt_space *space, const clt_size *sizes, size_t n_sizes,
                          const char *text, clt_error *error) {
  clt_objective *o = NULL;
  clt_metric above[1];
  clt_metric_scope scope = {.space = space, .sizes = sizes, .n_sizes = n_sizes, .above = above};
  int rc = new_empty(&o, space, 0, error);
  if (rc == CLT_OK) rc = choose(o, &scope, above, text ? text : "time", error);
  return complete(out, o, rc);
}

void clt_objective_free(clt_objective *o) {
  if (o == NULL) return;
  for (size_t i = 0; o->metrics && i < o->n; i++) {
    clt_compiled_metric *m = &o->metrics[i];
    free(m->name);
    free(m->text);
    free(m->unit);
    clt_expr_free(m->expr);
  }
  free(o->metrics);
  free(o);
}

/* --- asking --- */

const char *clt_objective_name(const clt_objective *o) { return o->metrics[o->chosen].name; }
const char *clt_objective_expression(const clt_objective *o) { return o->metrics[o->chosen].text; }
const char *clt_objective_unit(const clt_objective *o) { return o->metrics[o->chosen].unit; }
clt_goal clt_objective_goal(const clt_objective *o) { return o->goal; }
bool clt_objective_is_time(const clt_objective *o) { return o->chosen == CLT_METRIC_TIME && o->goal == CLT_MINIMISE; }
bool clt_objective_needs_energy(const clt_objective *o) { return o->metrics[o->chosen].reads_energy; }
bool clt_objective_ranks_by_time(const clt_objective *o) { return o->ranks_by_time; }
size_t clt_objective_n_metrics(const clt_objective *o) { return o->n; }
size_t clt_objective_chosen(const clt_objective *o) { return o->chosen; }

clt_metric clt_objective_metric(const clt_objective *o, size_t index) {
  const clt_compiled_metric *m = &o->metrics[index];
  return (clt_metric){m->name, m->text, m->unit, m->goal};
}
