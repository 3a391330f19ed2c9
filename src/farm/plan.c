/* Reads plan files: devices, problems, searchers, budgets, seeds and limits. */
#include <sys/stat.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/plugin.h"
#include "eval/evaluators.h"
#include "farm/plan.h"
#include "problem/guidance.h"
#include "problem/load.h"
#include "search/search.h"
#include "space/expr.h"

#define MAX_DEVICES 64
#define MAX_PROBLEMS 1024
#define MAX_SEARCHERS 64
#define MAX_NUMBERS 10000 /* seeds, budgets */
#define MAX_CELLS 1000000

void clt_sweep_count_values(clt_sweep *sweep, const clt_node *node, size_t n) {
  sweep->n_values += n;
  if (sweep->n_values > CLT_MAX_SWEEP_VALUES)
    clt_node_fail(node, "the plan lists, draws and checks more than %d values in all; list fewer, or split it",
                  CLT_MAX_SWEEP_VALUES);
}

static size_t count_items(const clt_node *node, size_t most, const char *what) {
  const size_t n = clt_node_count(node);
  if (n == 0 || n > most) clt_node_fail(node, "needs 1 to %zu %s", most, what);
  return clt_node_ok(node) ? n : 0;
}

/* --- options --- */

/* Reads the options of the plug-in `name`, which is given at `place`, and checks them against its table, so that
 * mistakes show before anything is measured. */
static clt_setting *read_options(size_t *n_out, const clt_node *node, const clt_plugins *plugins, const char *name,
                                 const clt_node *place) {
  clt_error cause = {0};
  const char *names[CLT_MOST_PLUGINS];
  const size_t n = clt_plugin_names(names, plugins), index = clt_plugin_index(plugins, name);
  if (index == n) {
    clt_node_fail_name(place, clt_plugin_kind(plugins), name, names, n, sizeof *names);
    return NULL;
  }
  const clt_option_table t = clt_plugin_table(plugins, index);
  clt_setting *settings = clt_load_settings(n_out, node, 17);
  void *parsed = clt_node_new(node, 1, t.size);
  if (clt_node_ok(node) && clt_options_parse(parsed, t.size, t.options, t.n, settings, *n_out, &cause))
    clt_node_wrap(node, CLT_E_FORMAT, &cause);
  return settings;
}

/* --- searchers --- */

/* A list of configurations, or the path of a file with one, which replaces the path in the plan. */
static const json_t *read_configurations(clt_sweep *sweep, const clt_node *parent, const clt_node *node) {
  const char *name = json_string_value(node->json);
  clt_source source = {0};
  clt_reading reading = {&source, node->reading->error, CLT_OK};
  clt_node list = *node;
  if (name && sweep->trust) {
    clt_node_fail_as(node, CLT_E_UNSUPPORTED, "names a file; a submitted plan must list its configurations itself");
    return NULL;
  }
  if (name) {
    char *path = clt_node_keep(node, clt_path_join(sweep->folder, name));
    if (path == NULL) return NULL;
    reading.rc = clt_source_read(&source, path, CLT_MAX_PLAN_BYTES, reading.error);
    if (reading.rc == CLT_OK && json_object_set((json_t *)parent->json, "Configurations", source.root))
      reading.rc = clt_fail_memory(reading.error);
    list = clt_node_root(&reading);
  }
  size_t n = clt_read_list(&list);
  if (n == 0 || n > CLT_MAX_SWEEP_LISTED) clt_node_fail(&list, "needs 1 to %d configurations", CLT_MAX_SWEEP_LISTED);
  for (size_t i = 0; i < n && clt_node_ok(&list); i++) {
    clt_node item = clt_node_item(&list, i);
    if (!json_is_object(item.json)) clt_node_fail(&item, "needs a configuration: {\"name\": value, ...}");
  }
  clt_source_release(&source);
  if (clt_node_ok(node)) node->reading->rc = reading.rc;
  return list.json;
}

/* The values of a parameter in "Grid". */
typedef struct grid_axis {
  const char *name;
  json_t *given;     /* a scalar, a list, or a text */
  clt_value *parsed; /* of a text as in T1 ("[2**i for i in range(4)]"); NULL: `given` has the values */
  size_t n;
} grid_axis;

/* A new reference. */
static json_t *grid_value(const grid_axis *axis, size_t i) {
  if (axis->parsed) return clt_json_value(axis->parsed[i]);
  return json_incref(json_is_array(axis->given) ? json_array_get(axis->given, i) : axis->given);
}

/* A text that is not a list is itself the value. *product: the number of combinations so far. */
static void read_grid_axis(grid_axis *axis, size_t *product, const clt_node *grid) {
  clt_node node = clt_node_member(grid, axis->name);
  const char *text = json_string_value(axis->given);
  axis->n = json_is_array(axis->given) ? json_array_size(axis->given) : 1;
  if (text && clt_values_parse(&axis->parsed, &axis->n, text, NULL, NULL, 0, NULL)) axis->parsed = NULL, axis->n = 1;
  bool good = axis->n > 0 && axis->n <= CLT_MAX_SWEEP_LISTED && axis->n * *product <= CLT_MAX_SWEEP_LISTED;
  for (size_t i = 0; good && i < axis->n; i++) {
    clt_value scalar;
    json_t *value = grid_value(axis, i);
    good = clt_json_to_value(&scalar, value);
    json_decref(value);
  }
  *product *= axis->n;
  if (!good)
    clt_node_fail(&node, "needs a value or a list of values, with at most %d combinations in all",
                  CLT_MAX_SWEEP_LISTED);
}

/* "Grid": all combinations as a list of configurations; the last parameter varies fastest. */
static const json_t *read_grid(clt_sweep *sweep, const clt_node *node) {
  grid_axis axes[CLT_MAX_PARAMETERS];
  size_t n = 0, product = 1;
  const char *name;
  json_t *given, *list = json_array();
  const size_t n_names = json_object_size(node->json);
  if (clt_read_object(node, NULL, false) && (n_names == 0 || n_names > CLT_MAX_PARAMETERS))
    clt_node_fail(node, "needs values of 1 to %d parameters", CLT_MAX_PARAMETERS);
  json_object_foreach((json_t *)node->json, name, given) {
    if (!clt_node_ok(node)) break;
    axes[n] = (grid_axis){.name = name, .given = given};
    read_grid_axis(&axes[n++], &product, node);
  }
  clt_sweep_count_values(sweep, node, product * n);
  for (size_t i = 0; i < product && clt_node_ok(node); i++) {
    json_t *configuration = json_object();
    size_t each = product; /* how many combinations have the same value, one after the other */
    bool made = json_array_append_new(list, configuration) == 0;
    for (const grid_axis *a = axes; a < axes + n; a++) {
      each /= a->n;
      made = made && json_object_set_new(configuration, a->name, grid_value(a, i / each % a->n)) == 0;
    }
    if (!made) clt_node_fail_as(node, CLT_E_MEMORY, "out of memory");
  }
  while (n > 0) free(axes[--n].parsed);
  if (json_array_append_new(sweep->kept, list)) clt_node_fail_as(node, CLT_E_MEMORY, "out of memory");
  return list;
}

static void read_searcher(clt_sweep_searcher *out, clt_sweep *sweep, const clt_node *node) {
  clt_node list = clt_node_member(node, "Configurations"), grid = clt_node_member(node, "Grid"),
           options = clt_node_member(node, "Options"), place = clt_node_member(node, "Searcher");
  if (json_is_string(node->json)) {
    out->searcher = json_string_value(node->json);
    place = *node;
  } else if (clt_read_object(node, CLT_NAMES("Name", "Searcher", "Options", "Configurations", "Grid"), true)) {
    out->label = clt_read_text(node, "Name");
    out->searcher = clt_read_text(node, "Searcher");
    if ((list.json != NULL) + (grid.json != NULL) + (out->searcher != NULL) != 1)
      clt_node_fail(node, "needs exactly one of \"Searcher\", \"Configurations\" and \"Grid\"");
    if (options.json && !out->searcher) clt_node_fail(&options, "needs a \"Searcher\" next to it");
  }
  if (!clt_node_ok(node)) return;
  if (out->searcher)
    out->settings = read_options(&out->n_settings, &options, &clt_searchers, out->searcher, &place);
  else
    out->configurations = list.json ? read_configurations(sweep, node, &list) : read_grid(sweep, &grid);
  if (out->label == NULL || out->label[0] == 0) out->label = out->searcher ? out->searcher : "grid";
}

static int64_t *read_distinct_numbers(size_t *n, clt_sweep *sweep, const clt_node *parent, const char *name,
                                      int64_t min) {
  clt_node node = clt_node_member(parent, name);
  int64_t *numbers = clt_load_integers(n, &node, min, INT64_MAX, MAX_NUMBERS);
  clt_map seen = {0};
  clt_sweep_count_values(sweep, &node, *n);
  for (size_t i = 0; i < *n && clt_node_ok(parent); i++) {
    bool is_new = false;
    if (clt_map_add(&seen, (uint64_t)numbers[i], &is_new) == NULL)
      clt_node_fail_as(&node, CLT_E_MEMORY, "out of memory");
    else if (!is_new)
      clt_node_fail(&node, "%lld is listed twice", (long long)numbers[i]);
  }
  clt_map_release(&seen);
  return numbers;
}

/* Searchers, budgets and seeds of a problem. */
typedef struct tuning_axes {
  clt_sweep_searcher *searchers;
  size_t n_searchers;
  int64_t *budgets, *seeds;
  size_t n_budgets, n_seeds;
} tuning_axes;

/* Members that are missing are inherited from the plan. */
static tuning_axes read_axes(clt_sweep *sweep, const clt_node *parent, const tuning_axes *usual) {
  clt_node list = clt_node_member(parent, "Searchers");
  tuning_axes axes = {0};
  size_t n = list.json && clt_node_ok(parent) ? count_items(&list, MAX_SEARCHERS, "searchers") : 0;
  axes.searchers = clt_node_new(&list, n, sizeof *axes.searchers);
  for (size_t i = 0; i < n && clt_node_ok(parent); i++) {
    clt_node item = clt_node_item(&list, i);
    read_searcher(&axes.searchers[axes.n_searchers++], sweep, &item);
    for (size_t k = 0; k < i && clt_node_ok(parent); k++) /* labels must be unique, they identify searchers in tables */
      if (strcmp(axes.searchers[i].label, axes.searchers[k].label) == 0)
        clt_node_fail(&list, "\"%s\" is listed twice; give one of them another \"Name\"", axes.searchers[i].label);
  }
  axes.budgets = read_distinct_numbers(&axes.n_budgets, sweep, parent, "Budgets", 1);
  axes.seeds = read_distinct_numbers(&axes.n_seeds, sweep, parent, "Seeds", 0);
  if (axes.n_searchers == 0) axes.searchers = usual->searchers, axes.n_searchers = usual->n_searchers;
  if (axes.n_budgets == 0) axes.budgets = usual->budgets, axes.n_budgets = usual->n_budgets;
  if (axes.n_seeds == 0) axes.seeds = usual->seeds, axes.n_seeds = usual->n_seeds;
  return axes;
}

/* --- problems --- */

/* Loads a problem, or finds it if the plan has named it before. */
static void load_problem(clt_sweep_problem *p, clt_sweep *sweep, const clt_node *place) {
  clt_error cause = {0};
  char *path = NULL;
  for (const clt_sweep_problem *other = sweep->problems; other < p && p->problem == NULL; other++)
    if (strcmp(other->name, p->name) == 0) p->problem = other->problem;
  if (p->problem) return;
  if (sweep->trust)
    clt_node_wrap(place, clt_sweep_resolve(&path, p->name, sweep->trust, &cause), &cause);
  else
    path = clt_path_join(sweep->folder, p->name);
  path = clt_node_ok(place) ? clt_node_keep(place, path) : NULL;
  if (path == NULL) return;
  clt_node_wrap(place, clt_problem_new(&p->problem, path, &cause), &cause);
  if (clt_node_ok(place) && sweep->trust && !sweep->trust->programs && clt_problem_runs_programs(p->problem))
    clt_node_fail_as(place, CLT_E_UNSUPPORTED, "runs programs or has a module of C; allow that with --allow-programs");
}

/* Adds the cells of a problem: sizes outermost, then searcher, budget, seed. */
static void read_problem(clt_sweep_problem *p, clt_sweep *sweep, const tuning_axes *usual, const clt_node *node) {
  clt_node place = json_is_string(node->json) ? *node : clt_node_member(node, "Problem");
  size_t of_set = 0;
  if (!json_is_string(node->json) &&
      !clt_read_object(node, CLT_NAMES("Problem", "Sizes", "Searchers", "Budgets", "Seeds"), true))
    return;
  p->name = json_string_value(place.json);
  if (p->name == NULL || p->name[0] == '\0') clt_node_fail(node, "needs a \"Problem\": the path of a problem file");
  if (clt_node_ok(node)) load_problem(p, sweep, &place);
  if (!clt_node_ok(node)) return;
  p->n_sizes = clt_problem_n_sizes(p->problem);
  clt_sweep_read_sizes(p, sweep, node);
  const tuning_axes axes = read_axes(sweep, node, usual);
  if (!clt_node_ok(node)) return;
  for (size_t i = 0; i < axes.n_searchers; i++)
    of_set += axes.searchers[i].searcher ? axes.n_budgets * axes.n_seeds : 1;
  size_t n = of_set > MAX_CELLS ? MAX_CELLS + 1 : p->n_sets * of_set, first = sweep->n_cells;
  const size_t first_set = first ? sweep->cells[first - 1].size_set + 1 : 0;
  if (n > MAX_CELLS - first)
    clt_node_fail(node, "the plan has more than %d tunings per device; split it", MAX_CELLS);
  else if (clt_grow(&sweep->cells, &sweep->cells_capacity, first + n, sizeof *sweep->cells))
    clt_node_fail_as(node, CLT_E_MEMORY, "out of memory");
  for (size_t set = 0; set < p->n_sets && clt_node_ok(node); set++)
    for (const clt_sweep_searcher *by = axes.searchers; by < axes.searchers + axes.n_searchers; by++)
      for (size_t i = 0; i < (by->searcher ? axes.n_budgets * axes.n_seeds : 1); i++)
        sweep->cells[sweep->n_cells++] = (clt_sweep_cell){.problem = p->problem,
                                                          .sizes = p->sizes + set * p->n_sizes,
                                                          .n_sizes = p->n_sizes,
                                                          .size_set = first_set + set,
                                                          .by = by,
                                                          .budget = by->searcher ? axes.budgets[i / axes.n_seeds] : 0,
                                                          .seed = (uint64_t)axes.seeds[i % axes.n_seeds]};
  if (clt_problem_is_command(p->problem) != clt_sweep_is_of_commands(sweep))
    clt_node_fail(node, "a plan cannot have both kernels and programs; make two plans");
}

/* --- evaluator, devices, tuning --- */

static void read_evaluator(clt_sweep *sweep, const clt_node *root) {
  clt_node node = clt_node_member(root, "Evaluator"), name = node, options = clt_node_member(&node, "Options");
  if (node.json == NULL || !clt_node_ok(root)) return;
  if (json_is_string(node.json)) {
    sweep->evaluator = json_string_value(node.json);
  } else {
    if (!clt_read_object(&node, CLT_NAMES("Evaluator", "Options"), true)) return;
    name = clt_node_member(&node, "Evaluator");
    sweep->evaluator = clt_read_text(&node, "Evaluator");
  }
  if (sweep->evaluator == NULL) sweep->evaluator = "opencl";
  if (sweep->trust && strcmp(sweep->evaluator, "opencl") != 0 &&
      !(sweep->trust->programs && strcmp(sweep->evaluator, "command") == 0))
    clt_node_fail_as(&name, CLT_E_UNSUPPORTED, "a submitted plan may only have the evaluator \"opencl\"");
  sweep->evaluator_settings =
      read_options(&sweep->n_evaluator_settings, &options, &clt_evaluators, sweep->evaluator, &name);
}

static double read_number_within(const clt_node *parent, const char *name, double otherwise, double min, double max) {
  clt_node node = clt_node_member(parent, name);
  double number = clt_read_number(parent, name, otherwise);
  if (node.json && !(number >= min && number <= max)) clt_node_fail(&node, "needs a number from %g to %g", min, max);
  return number;
}

/* "Transfer": true, false, or the time until which measurements are used as sources. */
static void read_transfer(clt_sweep *sweep, const clt_node *tuning) {
  clt_node node = clt_node_member(tuning, "Transfer");
  const char *text = json_string_value(node.json);
  struct tm time = {0};
  if (text == NULL) {
    sweep->tuning.no_transfer = !clt_read_flag(tuning, "Transfer", false);
    return;
  }
  sweep->tuning.no_transfer = false;
  sweep->learns_before_submission = strcmp(text, "submission") == 0;
  struct stat file; /* "submission" in a plan that is not submitted: its file's modification time */
  if (sweep->learns_before_submission && !sweep->trust && stat(sweep->source.path, &file) == 0)
    sweep->tuning.learn_before_s = (int64_t)file.st_mtime;
  const char *end = sweep->learns_before_submission ? NULL : strptime(text, "%Y-%m-%dT%H:%M:%SZ", &time);
  const int day = time.tm_mday;
  if (end) sweep->tuning.learn_before_s = (int64_t)timegm(&time);
  if (!sweep->learns_before_submission &&
      (end == NULL || *end || time.tm_mday != day || sweep->tuning.learn_before_s <= 0))
    clt_node_fail(&node, "needs true, false, \"submission\", or a time such as \"2026-11-23T10:00:00Z\"");
}

/* The limits of a search and other options of `clatune tune`. */
static void read_tuning(clt_sweep *sweep, const clt_node *root) {
  clt_tune_settings *s = &sweep->tuning;
  clt_node node = clt_node_member(root, "Tuning"), objective = clt_node_member(&node, "Objective");
  clt_node limit = clt_node_member(&node, "Time");
  clt_tune_settings_init(s);
  s->objective = ""; /* the default, not the problems' own, so that tables compare the same quantity */
  s->no_transfer = s->is_separate = true;
  if (node.json == NULL ||
      !clt_read_object(&node,
                       CLT_NAMES("Finalists", "Time", "SpaceFraction", "Target", "Stagnation", "Tolerance",
                                 "Confidence", "Batch", "Threads", "Transfer", "Fresh", "SkipDefault", "Objective"),
                       true))
    return;
  s->finalists = (unsigned)clt_read_integer_within(&node, "Finalists", s->finalists, 0, 1000);
  s->stagnation = clt_read_integer_within(&node, "Stagnation", s->stagnation, 1, INT64_MAX);
  s->batch = (size_t)clt_read_integer_within(&node, "Batch", 0, 1, 1000000);
  s->threads = (unsigned)clt_read_integer_within(&node, "Threads", 0, 1, 1024);
  if (json_is_string(limit.json))
    s->time_s = clt_seconds_parse(json_string_value(limit.json));
  else
    s->time_s = read_number_within(&node, "Time", s->time_s, 0.001, 1e9);
  if (json_is_string(limit.json) && !(s->time_s >= 0.001 && s->time_s <= 1e9))
    clt_node_fail(&limit, "needs from 0.001 to 1e9 " CLT_SECONDS_FORMS);
  s->space_fraction = read_number_within(&node, "SpaceFraction", s->space_fraction, 1e-12, 1);
  s->target = read_number_within(&node, "Target", s->target, 1e-12, 1e9);
  s->tolerance = read_number_within(&node, "Tolerance", s->tolerance, 1e-6, 1);
  s->confidence = read_number_within(&node, "Confidence", s->confidence, 0.01, 0.9999);
  read_transfer(sweep, &node);
  s->no_reuse = clt_read_flag(&node, "Fresh", s->no_reuse);
  s->skip_default = clt_read_flag(&node, "SkipDefault", s->skip_default);
  if (objective.json == NULL) return;
  s->objective = json_string_value(objective.json);
  if (s->objective == NULL) clt_node_fail(&objective, "needs a text, as --objective does");
}

/* --- the plan --- */

static int read_sections(clt_sweep *sweep, clt_error *error) {
  clt_reading reading = {&sweep->source, error, CLT_OK};
  clt_node root = clt_node_root(&reading), problems = clt_node_member(&root, "Problems"),
           devices = clt_node_member(&root, "Devices");
  /* The defaults: the default searcher, seed 1, the default budget of a tuning. */
  clt_sweep_searcher *searcher = clt_node_new(&root, 1, sizeof *searcher);
  int64_t *numbers = clt_node_new(&root, 2, sizeof *numbers);
  if (!clt_read_object(&root,
                       CLT_NAMES("Name", "Devices", "Problems", "Searchers", "Budgets", "Seeds", "Evaluator", "Tuning"),
                       true))
    return reading.rc;
  sweep->name = clt_read_text(&root, "Name");
  if (devices.json && !json_is_string(devices.json)) clt_read_list(&devices);
  size_t n = devices.json && clt_node_ok(&root) ? count_items(&devices, MAX_DEVICES, "devices") : 0;
  sweep->devices = clt_node_new(&devices, n, sizeof *sweep->devices);
  for (size_t i = 0; i < n && clt_node_ok(&root); i++) {
    clt_node item = clt_node_item(&devices, i);
    const char *text = json_string_value(item.json);
    if (text == NULL || text[0] == '\0')
      clt_node_fail(&item, "needs a text, such as \"all\", \"gpu\" or part of a device's name");
    sweep->devices[sweep->n_devices++] = text;
  }
  read_evaluator(sweep, &root);
  read_tuning(sweep, &root);
  if (!clt_node_ok(&root)) return reading.rc;
  searcher->label = searcher->searcher = CLT_DEFAULT_SEARCHER;
  numbers[1] = 1;
  const tuning_axes usual = {searcher, 1, numbers, numbers + 1, 1, 1};
  const tuning_axes axes = read_axes(sweep, &root, &usual);
  if (problems.json == NULL) clt_node_fail(&root, "needs \"Problems\"");
  n = count_items(&problems, MAX_PROBLEMS, "problems");
  sweep->problems = clt_node_new(&problems, n, sizeof *sweep->problems);
  for (size_t i = 0; i < n && clt_node_ok(&root); i++) {
    clt_node item = clt_node_item(&problems, i);
    read_problem(&sweep->problems[sweep->n_problems++], sweep, &axes, &item);
  }
  return reading.rc;
}

/* text NULL: the plan is the file `path`. */
static int load(clt_sweep **out, const char *path, const char *text, const clt_sweep_trust *trust, clt_error *error) {
  clt_sweep *sweep = calloc(1, sizeof *sweep);
  if (sweep == NULL) return clt_fail_memory(error);
  sweep->kept = json_array();
  sweep->trust = trust;
  int rc = text ? clt_source_parse(&sweep->source, path, text, error)
                : clt_source_read(&sweep->source, path, CLT_MAX_PLAN_BYTES, error);
  if (rc == CLT_OK) sweep->folder = clt_source_keep(&sweep->source, text ? strdup("") : clt_path_folder(path), error);
  if (rc == CLT_OK && sweep->folder == NULL) rc = CLT_E_MEMORY;
  if (rc == CLT_OK) rc = read_sections(sweep, error);
  sweep->trust = NULL;
  if (rc == CLT_OK)
    *out = sweep;
  else
    clt_sweep_free(sweep);
  return rc;
}

int clt_sweep_load(clt_sweep **out, const char *path, clt_error *error) { return load(out, path, NULL, NULL, error); }

int clt_sweep_load_shared(clt_sweep **out, const char *text, const char *name, const clt_sweep_trust *trust,
                          clt_error *error) {
  if (strlen(text) > CLT_MAX_PLAN_BYTES)
    return clt_fail(error, CLT_E_RANGE, "the plan '%s' is too large; split it", name);
  int rc = load(out, name, text, trust, error);
  if (rc == CLT_OK && (rc = clt_sweep_check_cells(*out, error))) {
    clt_sweep_free(*out);
    *out = NULL;
  }
  if (rc && error && strcmp(error->file, name) == 0)
    error->line = 0; /* a submitted plan is a single line, so line numbers are useless */
  return rc;
}

void clt_sweep_free(clt_sweep *sweep) {
  if (sweep == NULL) return;
  for (size_t i = 0; i < sweep->n_problems; i++) {
    size_t first = 0; /* entry with the problem */
    while (sweep->problems[first].problem != sweep->problems[i].problem) first++;
    if (first == i) clt_problem_free(sweep->problems[i].problem);
    free(sweep->problems[i].sizes);
  }
  free(sweep->cells);
  json_decref(sweep->kept);
  clt_source_release(&sweep->source);
  free(sweep);
}
