/* The metrics of a problem, the one that is the objective, and the cost of a measurement. */
#include <ctype.h>
#include <strings.h>

#include "base/base.h"
#include "base/text.h"
#include "device/device.h"
#include "measurement/measurement.h"
#include "problem/command.h"

/* The built-in metrics. FIGURE exists only if the program reports a figure that is not a time. */
enum { TIME, ENERGY, FIGURE };
#define MOST_SLOTS (CLT_SLOT_DEVICE + 256)

/* The compiled part of a metric. */
typedef struct meaning {
  clt_expr *expr; /* NULL: the metric is built in */
  clt_trend in_time;
  bool reads_energy;
} meaning;

struct clt_objective {
  const clt_space *space;
  clt_metric *metrics; /* their texts belong to the problem or to `text` */
  meaning *meanings;
  size_t n, n_built_ins;
  clt_columns columns; /* the metrics after the built-in ones */
  struct aim {
    size_t metric;
    clt_goal goal;
  } aims[CLT_MOST_OBJECTIVES]; /* n_aims; the first one is what the functions about one objective mean */
  size_t n_aims;
  char *text; /* the objectives as the caller wrote them, each ended by '\0' */
};

/* --- words of the field --- */

double clt_unit_amount(const char *unit, bool of_energy) {
  static const struct {
    const char *text;
    double amount;
  } prefixes[] = {{"", 1},         {"m", 1e-3}, {"milli", 1e-3}, {"mili", 1e-3}, {"u", 1e-6}, {"\xc2\xb5", 1e-6},
                  {"micro", 1e-6}, {"n", 1e-9}, {"nano", 1e-9},  {"k", 1e3}};
  static const char *const names[2][3] = {{"s", "sec", "second"}, {"J", "joule", "joule"}};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    for (size_t k = 0; k < 3; k++) {
      const char *name = names[of_energy][k], *rest = unit + strlen(prefixes[i].text);
      if (strncasecmp(unit, prefixes[i].text, strlen(prefixes[i].text)) != 0) continue;
      if (strncasecmp(rest, name, strlen(name)) != 0) continue;
      rest += strlen(name);
      if (*rest == '\0' || strcasecmp(rest, "s") == 0) return prefixes[i].amount;
    }
  return 0;
}

clt_goal clt_goal_of_words(const char *name, const char *unit) {
  static const char *const maximised[] = {"flop", "fitness", "throughput", "bandwidth"};
  static const char *const rates[] = {"/s", "/sec", "/second", "/W",
                                      "/J"}; /* compared with the end of the unit, so that "ms/step" does not match */
  static const char *const minimised[] = {"time", "duration", "latency", "energy", "power", "cost", "loss", "cycles"};
  for (int k = 0; k < 2; k++) {
    const char *text = k ? unit : name;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
      if (clt_ends_with(text, rates[i])) return CLT_MAXIMISE;
    for (size_t i = 0; i < sizeof maximised / sizeof *maximised; i++)
      if (strcasestr(text, maximised[i])) return CLT_MAXIMISE;
    for (size_t i = 0; i < sizeof minimised / sizeof *minimised; i++)
      if (strcasestr(text, minimised[i])) return CLT_MINIMISE;
  }
  return CLT_GOAL_NOT_STATED;
}

/* --- metrics --- */

/* Adds a metric with an expression, which may use earlier metrics of the problem. */
static int add_metric(clt_objective *o, clt_metric_scope *scope, clt_metric metric, clt_error *error) {
  clt_trend trends[MOST_SLOTS] = {CLT_TREND_NONE};
  meaning *m = &o->meanings[o->n];
  scope->above = o->metrics + o->n_built_ins;
  scope->n_above = o->n - o->n_built_ins;
  o->metrics[o->n++] = metric;
  int rc = clt_metric_compile(&m->expr, metric.expression, scope, error);
  if (rc) return rc;
  trends[CLT_SLOT_TIME] = CLT_TREND_RISING;
  for (size_t i = 0; i < clt_expr_n_slots(m->expr); i++) {
    size_t slot = clt_expr_slot(m->expr, i);
    m->reads_energy |= slot == CLT_SLOT_ENERGY;
    if (slot < CLT_SLOT_METRICS || slot >= CLT_SLOT_DEVICE) continue;
    const meaning *other = &o->meanings[slot - CLT_SLOT_METRICS + o->n_built_ins];
    m->reads_energy |= other->reads_energy;
    trends[slot] = other->in_time;
  }
  m->in_time = clt_expr_trend(m->expr, trends);
  return CLT_OK;
}

/* --- choosing --- */

/* Splits "maximise EXPRESSION" into goal and subject. */
static clt_goal read_goal(const char **subject, const char *text) {
  static const char *const words[] = {"minimise", "minimize", "min", "maximise", "maximize", "max"};
  while (isspace((unsigned char)*text)) text++;
  *subject = text;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t n = strlen(words[i]);
    if (strncasecmp(text, words[i], n) != 0 || !isspace((unsigned char)text[n])) continue;
    while (isspace((unsigned char)text[n])) n++;
    *subject = text + n;
    return i < 3 ? CLT_MINIMISE : CLT_MAXIMISE;
  }
  return CLT_GOAL_NOT_STATED;
}

static int fail_unknown(const clt_objective *o, const char *subject, clt_error *error) {
  const char *near = clt_nearest_among(subject, o->metrics, o->n, sizeof *o->metrics);
  if (near) return clt_fail(error, CLT_E_ARGUMENT, "there is no objective '%.200s'; did you mean '%s'?", subject, near);
  clt_text names = {0};
  for (size_t i = 0; i < o->n; i++) clt_text_printf(&names, "%s%s", i ? ", " : "", o->metrics[i].name);
  clt_fail(
      error, CLT_E_ARGUMENT,
      "there is no objective '%.200s' among %.500s; for an expression write 'minimise %.200s' or 'maximise %.200s'",
      subject, names.bytes ? names.bytes : "", subject, subject);
  clt_text_release(&names);
  return CLT_E_ARGUMENT;
}

static int choose_objective(clt_objective *o, const char *text, clt_metric_scope *scope, clt_error *error) {
  const char *subject;
  clt_goal goal = read_goal(&subject, text);
  size_t chosen = o->n;
  for (size_t i = o->n; i-- > 0;) { /* if a metric of the problem is called "figure", it takes precedence */
    size_t k = (i + o->n_built_ins) % o->n;
    if (strcmp(o->metrics[k].name, subject) == 0) chosen = k;
  }
  if (chosen == o->n) {
    clt_error why = {0};
    if (*subject == '\0') return clt_fail(error, CLT_E_ARGUMENT, "an objective is missing before or after a comma");
    if (goal == CLT_GOAL_NOT_STATED) return fail_unknown(o, subject, error);
    int rc = add_metric(o, scope, (clt_metric){subject, subject, "", goal}, &why);
    if (rc == CLT_E_MEMORY) return clt_fail_memory(error);
    if (rc) return clt_fail(error, rc, "invalid objective '%.200s': %s", subject, why.message);
  }
  if (!goal) goal = o->metrics[chosen].goal;
  for (size_t i = 0; i < o->n_aims; i++)
    if (o->aims[i].metric == chosen)
      return clt_fail(error, CLT_E_ARGUMENT, "the objective '%.200s' is listed twice", subject);
  o->aims[o->n_aims++] = (struct aim){chosen, goal};
  if (goal) return CLT_OK;
  return clt_fail(error, CLT_E_ARGUMENT,
                  "the metric '%s' has no goal; write 'minimise %s' or 'maximise %s', as --objective or as "
                  "\"Objective\" in the problem file",
                  subject, subject, subject);
}

/* Chooses what the text lists. Commas in brackets belong to an expression. */
static int choose_objectives(clt_objective *o, clt_metric_scope *scope, clt_error *error) {
  int depth = 0, rc = CLT_OK;
  bool ends = false;
  for (char *begin = o->text, *at = begin; rc == CLT_OK && !ends; at++) {
    ends = *at == '\0';
    depth += (*at == '(') - (*at == ')');
    if (!ends && (*at != ',' || depth > 0)) continue;
    if (o->n_aims == CLT_MOST_OBJECTIVES)
      return clt_fail(error, CLT_E_ARGUMENT, "more than %d objectives: '%.200s' is one too many", CLT_MOST_OBJECTIVES,
                      begin);
    for (char *last = at; last > begin && isspace((unsigned char)last[-1]); last--) last[-1] = '\0';
    *at = '\0';
    rc = choose_objective(o, begin, scope, error);
    begin = at + 1;
  }
  return rc;
}

/* Uses the problem of the scope's instance, or only its space, which has no metrics of its own. */
static int make_objective(clt_objective **out, clt_metric_scope *scope, const clt_metric *figure, clt_columns columns,
                          const char *text, clt_error *error) {
  const clt_instance *instance = scope->instance;
  const clt_problem *problem = instance ? clt_instance_problem(instance) : NULL;
  size_t n_stated = problem ? problem->guidance.n_metrics : 0;
  size_t n_most = FIGURE + 1 + columns.n + n_stated + CLT_MOST_OBJECTIVES;
  if (text == NULL && problem) text = problem->guidance.objective;
  if (text == NULL || *text == '\0') text = figure ? figure->name : "time";
  clt_objective *o = clt_new_array(1, sizeof *o);
  if (o == NULL) return clt_fail_memory(error);
  o->space = instance ? clt_instance_space(instance) : scope->space;
  o->metrics = clt_new_array(n_most, sizeof *o->metrics);
  o->meanings = clt_new_array(n_most, sizeof *o->meanings);
  o->text = strdup(text);
  int rc = o->metrics && o->meanings && o->text ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) {
    o->metrics[TIME] = (clt_metric){"time", "time_s", "s", CLT_MINIMISE};
    o->meanings[TIME].in_time = CLT_TREND_RISING;
    o->metrics[ENERGY] = (clt_metric){"energy", "energy_J", "J", CLT_MINIMISE};
    o->meanings[ENERGY].reads_energy = true;
    if (figure) o->metrics[FIGURE] = *figure;
    o->n = o->n_built_ins = figure ? FIGURE + 1 : FIGURE;
    o->columns = columns;
    for (size_t i = 0; i < columns.n; i++) o->metrics[o->n++] = columns.all[i].metric;
  }
  for (size_t i = 0; rc == CLT_OK && i < n_stated; i++) rc = add_metric(o, scope, problem->guidance.metrics[i], error);
  if (rc == CLT_OK) rc = choose_objectives(o, scope, error);
  if (rc)
    clt_objective_free(o);
  else
    *out = o;
  return rc;
}

int clt_objective_new(clt_objective **out, const clt_instance *instance, const char *text, clt_error *error) {
  const clt_command *command = clt_instance_command(instance);
  const clt_figure *own = command && !clt_figure_is_time(&command->figure) ? &command->figure : NULL;
  clt_metric_scope scope = {.instance = instance};
  clt_metric figure = {"figure", "figure", own ? own->unit : "", CLT_MINIMISE};
  if (own && own->larger_is_better) figure.goal = CLT_MAXIMISE;
  return make_objective(out, &scope, own ? &figure : NULL, (clt_columns){0}, text, error);
}

int clt_objective_new_for(clt_objective **out, const clt_space *space, const clt_size *sizes, size_t n_sizes,
                          const clt_metric *figure, const char *text, clt_error *error) {
  return clt_objective_new_with(out, space, sizes, n_sizes, figure, (clt_columns){0}, text, error);
}

int clt_objective_new_with(clt_objective **out, const clt_space *space, const clt_size *sizes, size_t n_sizes,
                           const clt_metric *figure, clt_columns columns, const char *text, clt_error *error) {
  clt_metric_scope scope = {.space = space, .sizes = sizes, .n_sizes = n_sizes};
  return make_objective(out, &scope, figure, columns, text, error);
}

void clt_objective_free(clt_objective *o) {
  if (o == NULL) return;
  for (size_t i = 0; o->meanings && i < o->n; i++) clt_expr_free(o->meanings[i].expr);
  free(o->metrics);
  free(o->meanings);
  free(o->text);
  free(o);
}

/* --- asking --- */

const char *clt_objective_name(const clt_objective *o) { return o->metrics[o->aims[0].metric].name; }
const char *clt_objective_expression(const clt_objective *o) { return o->metrics[o->aims[0].metric].expression; }
const char *clt_objective_unit(const clt_objective *o) { return o->metrics[o->aims[0].metric].unit; }
clt_goal clt_objective_goal(const clt_objective *o) { return o->aims[0].goal; }
bool clt_objective_is_time(const clt_objective *o) {
  return o->aims[0].metric == TIME && o->aims[0].goal == CLT_MINIMISE;
}
size_t clt_objective_n_metrics(const clt_objective *o) { return o->n; }
size_t clt_objective_chosen(const clt_objective *o) { return o->aims[0].metric; }
size_t clt_objective_n(const clt_objective *o) { return o->n_aims; }

size_t clt_objective_default(const clt_objective *o) { return o->n_built_ins > FIGURE ? FIGURE : TIME; }

bool clt_objective_is_default(const clt_objective *o) {
  size_t own = clt_objective_default(o);
  return o->n_aims == 1 && o->aims[0].metric == own && o->aims[0].goal == o->metrics[own].goal;
}

const char *clt_goal_name(clt_goal goal) { return goal == CLT_MAXIMISE ? "maximise" : "minimise"; }

static bool ranks_by_time(const clt_objective *o, size_t index) {
  const clt_trend worse = o->aims[index].goal == CLT_MAXIMISE ? CLT_TREND_FALLING : CLT_TREND_RISING;
  return o->meanings[o->aims[index].metric].in_time == worse;
}

bool clt_objective_ranks_by_time(const clt_objective *o) { return o->n_aims == 1 && ranks_by_time(o, 0); }

size_t clt_objective_restates(size_t *earlier, const clt_objective *o) {
  *earlier = o->n_aims;
  for (size_t i = 0; i < o->n_aims; i++) {
    if (!ranks_by_time(o, i)) continue;
    if (*earlier < i) return i;
    *earlier = i;
  }
  return 0;
}

bool clt_objective_needs_energy(const clt_objective *o) {
  bool needs = false;
  for (size_t i = 0; i < o->n_aims; i++) needs |= o->meanings[o->aims[i].metric].reads_energy;
  return needs;
}

bool clt_objective_ranks_as_usual(const clt_objective *o) {
  return clt_objective_ranks_by_time(o) || clt_objective_is_default(o);
}

clt_metric clt_objective_metric(const clt_objective *o, size_t index) { return o->metrics[index]; }

/* --- values and costs --- */

static double column_value(const clt_columns *columns, size_t index, clt_config config) {
  size_t low = 0, high = columns->n_measurements;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (columns->measurements[middle].config == config) return columns->all[index].values[middle];
    if (columns->measurements[middle].config < config)
      low = middle + 1;
    else
      high = middle;
  }
  return NAN;
}

/* Evaluates all metrics up to `index`, because expressions use earlier ones. Without a device, its properties are
 * NaN. */
double clt_objective_metric_value(const clt_objective *o, size_t index, const clt_measurement *m) {
  double time_s = m->time_s, figure = m->figure, out = NAN;
  if (!clt_measurement_correct(m)) return NAN;
  if (o->n_built_ins > FIGURE && isnan(figure)) {
    /* Older records, from before clt_measurement.figure existed, hold the cost of the figure in time_s: the figure
     * itself if it is minimised, its reciprocal if it is maximised. Only this function reads them. */
    figure = clt_goal_value(o->metrics[FIGURE].goal, time_s);
    time_s = NAN;
  }
  if (index == TIME) return time_s;
  if (index == ENERGY) return m->energy_J;
  if (index == FIGURE && index < o->n_built_ins) return figure;
  if (index - o->n_built_ins < o->columns.n) return column_value(&o->columns, index - o->n_built_ins, m->config);
  if (o->meanings[index].reads_energy && isnan(m->energy_J)) return NAN;
  clt_value slots[MOST_SLOTS] = {{0}}, value;
  for (size_t i = CLT_MAX_PARAMETERS; i < CLT_SLOT_DEVICE + clt_device_n_properties(); i++)
    slots[i] = (clt_value){.type = CLT_REAL, .real = NAN};
  for (size_t i = 0; m->config != CLT_CONFIG_NONE && i < clt_space_n_parameters(o->space); i++)
    slots[i] = clt_space_value(o->space, m->config, i);
  slots[CLT_SLOT_TIME].real = time_s;
  slots[CLT_SLOT_ENERGY].real = m->energy_J;
  slots[CLT_SLOT_FIGURE].real = figure;
#define VALUE(member) m->use.member,
  const double use[] = {CLT_KERNEL_USE_TABLE(VALUE)};
  _Static_assert(sizeof use == CLT_METRIC_USES * sizeof *use, "the names that expressions know");
  for (size_t i = 0; i < CLT_METRIC_USES; i++) slots[CLT_SLOT_USE + i].real = use[i];
  for (size_t k = o->n_built_ins; k <= index; k++) {
    const clt_expr *expr = o->meanings[k].expr;
    if (expr == NULL)
      out = column_value(&o->columns, k - o->n_built_ins, m->config);
    else
      out = clt_expr_eval(expr, slots, &value, NULL) == CLT_OK ? clt_value_number(value) : NAN;
    slots[CLT_SLOT_METRICS + k - o->n_built_ins].real = out;
  }
  return out;
}

double clt_objective_value(const clt_objective *o, const clt_measurement *m) {
  return clt_objective_metric_value(o, o->aims[0].metric, m);
}

/* Values of at least LEAST are costs themselves. 0 has a cost below theirs, and a negative value a cost below that. */
#define LEAST 1e-80 /* values nearer to 0 have the cost of 0 */
#define MOST 1e80   /* larger magnitudes have the cost of this one */
#define OF_ZERO 1e-100
#define BELOW_ZERO 1e-110 /* the costs of negative values: from 1e-280 to 1e-120 */
#define OF_MINUS_ONE 1e-200

double clt_goal_cost(clt_goal goal, double value) {
  double rising = OF_ZERO;
  if (!isfinite(value)) return NAN;
  if (value >= LEAST) rising = fmin(value, MOST);
  if (value <= -LEAST) rising = OF_MINUS_ONE / fmin(-value, MOST);
  return goal == CLT_MAXIMISE ? 1 / rising : rising;
}

double clt_goal_value(clt_goal goal, double cost) {
  if (!(cost > 0) || isinf(cost)) return NAN;
  const double rising = goal == CLT_MAXIMISE ? 1 / cost : cost;
  if (rising > LEAST / 2) return rising; /* 1 / (1 / x) may be below x */
  return rising < BELOW_ZERO ? -OF_MINUS_ONE / rising : 0;
}

double clt_cost_ratio(double cost, double other) {
  const double ratio = cost / other;
  return ratio > LEAST && ratio < MOST ? ratio : NAN;
}

double clt_objective_cost_of(const clt_objective *o, double value) { return clt_goal_cost(o->aims[0].goal, value); }
double clt_objective_value_of(const clt_objective *o, double cost) { return clt_goal_value(o->aims[0].goal, cost); }

double clt_objective_cost(const clt_objective *o, const clt_measurement *m) {
  double costs[CLT_MOST_OBJECTIVES];
  return clt_objective_costs(o, m, costs) ? costs[0] : NAN;
}

bool clt_objective_costs(const clt_objective *o, const clt_measurement *m, double *out) {
  bool all = true;
  for (size_t i = 0; i < o->n_aims; i++) {
    out[i] = clt_goal_cost(o->aims[i].goal, clt_objective_metric_value(o, o->aims[i].metric, m));
    all = all && !isnan(out[i]);
  }
  return all;
}

clt_metric clt_objective_nth(const clt_objective *o, size_t index) {
  clt_metric metric = o->metrics[o->aims[index].metric];
  metric.goal = o->aims[index].goal;
  return metric;
}

double clt_objective_nth_value(const clt_objective *o, size_t index, const clt_measurement *m) {
  return clt_objective_metric_value(o, o->aims[index].metric, m);
}

bool clt_costs_dominate(const double *costs, const double *others, size_t n) {
  bool better = false;
  for (size_t i = 0; i < n; i++) {
    if (!(costs[i] <= others[i])) return false; /* or one has no value */
    better |= costs[i] < others[i];
  }
  return better;
}

const char *clt_objective_value_text(char out[96], const clt_objective *o, double value) {
  return clt_metric_value_text(out, &o->metrics[o->aims[0].metric], value);
}

const char *clt_metric_value_text(char out[96], const clt_metric *metric, double value) {
  const char *unit = metric->unit;
  if (!isfinite(value)) return strcpy(out, "-");
  if (strcmp(unit, "s") == 0) return clt_time_text(out, value);
  clt_snprintf(out, 96, "%.4g%s%.60s", value, unit[0] ? " " : "", unit);
  return out;
}

double clt_objective_default_cost(const clt_objective *o, const clt_measurement *m) {
  size_t own = clt_objective_default(o);
  return clt_goal_cost(o->metrics[own].goal, clt_objective_metric_value(o, own, m));
}

void clt_objective_figure_as_time(const clt_objective *o, const clt_measurement *m, clt_measurement *out) {
  *out = *m;
  if (o->n_built_ins <= FIGURE || isnan(m->figure)) return;
  const clt_goal goal = o->metrics[FIGURE].goal;
  const bool has_times = m->figure > 0;
  out->time_s = has_times ? clt_goal_cost(goal, m->figure) : NAN;
  for (size_t i = 0; i < m->n_runs; i++) out->runs_s[i] = has_times ? clt_goal_cost(goal, m->figures[i]) : NAN;
  if (has_times) out->figure = NAN;
}
