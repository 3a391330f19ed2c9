/* Loads a problem file, except the kernel (load_kernel.c) and the command (load_command.c). */
#include <ctype.h>

#include "base/base.h"
#include "base/file.h"
#include "problem/instance.h"
#include "problem/load.h"
#include "space/expr.h"

#define MAX_DEPTH 32
#define MAX_GROUPS 256
#define MAX_GROUP_DEPTH 16
#define MAX_METRIC_NAME_BYTES 63

/* --- values that `clatune init` leaves to the user: texts that begin with "TODO" --- */

typedef struct open_ends {
  clt_node first;
  char others[512]; /* lines: "12, 14" */
} open_ends;

static void find_open_ends(open_ends *found, const clt_node *node, int depth) {
  const char *name, *text = json_string_value(node->json);
  size_t used = strlen(found->others);
  json_t *member;
  if (depth > MAX_DEPTH) return;
  if (text && clt_starts_with(text, "TODO")) {
    if (found->first.json == NULL)
      found->first = *node;
    else
      snprintf(found->others + used, sizeof found->others - used, "%s%d", used ? ", " : "",
               clt_json_line(node->reading->source->text, node->key));
  }
  for (size_t i = 0; i < json_array_size(node->json); i++) {
    clt_node item = clt_node_item(node, i);
    find_open_ends(found, &item, depth + 1);
  }
  json_object_foreach((json_t *)node->json, name, member) {
    if (!clt_is_name(name)) continue; /* a comment */
    clt_node below = clt_node_member(node, name);
    find_open_ends(found, &below, depth + 1);
  }
}

/* --- parameters --- */

/* Reads the "Name" of a parameter: a C name that is not yet used. */
static const char *load_name(const clt_problem *problem, const clt_node *node) {
  const char *name = clt_read_required_text(node, "Name");
  if (!clt_node_ok(node)) return NULL;
  if (!clt_is_name(name))
    clt_member_fail(node, "Name", "\"%s\" is not a valid name; use letters, digits and '_'", name);
  else if (clt_is_keyword(name, strlen(name)))
    clt_member_fail(node, "Name", "\"%s\" is reserved, because it has a meaning in expressions; choose another name",
                    name);
  else if (clt_is_declared(problem, name))
    clt_member_fail(node, "Name", "there are two parameters named \"%s\"", name);
  return name;
}

static void load_sizes(clt_problem *problem, const clt_node *root, const clt_node *benchmark_config) {
  clt_node list = clt_node_member(root, "ProblemParameters");
  size_t n = clt_read_list(&list);
  problem->sizes = clt_node_new(root, n + json_object_size(benchmark_config->json), sizeof *problem->sizes);
  for (size_t i = 0; i < n && clt_node_ok(root); i++) {
    clt_node node = clt_node_item(&list, i), stated = clt_node_member(&node, "Default");
    clt_problem_parameter size = {.rule = json_string_value(stated.json)};
    if (!clt_read_object(&node, CLT_NAMES("Name", "Default", "Min", "Max", "Macro"), true)) return;
    if (!clt_node_has(&node, "Default")) clt_node_fail(&node, "needs a \"Default\"");
    size.key = clt_load_key(&stated);
    if (size.rule == NULL) size.default_value = clt_read_integer(&node, "Default", 0);
    size.min = clt_read_integer(&node, "Min", INT64_MIN);
    size.max = clt_read_integer(&node, "Max", INT64_MAX);
    if (clt_node_ok(root))
      root->reading->rc = clt_default_size(&size.default_value, problem, &size, NULL, root->reading->error);
    size.name = load_name(problem, &node);
    size.no_macro = !clt_read_flag(&node, "Macro", true);
    if (clt_node_ok(root)) problem->sizes[problem->n_sizes++] = size;
  }
  problem->n_passed = problem->n_sizes;
}

static void load_parameters(clt_problem *problem, const clt_node *space) {
  clt_node list = clt_node_member(space, "TuningParameters");
  size_t n = clt_read_list(&list);
  if (list.json == NULL)
    clt_node_fail(space, "needs \"TuningParameters\"");
  else if (n == 0)
    clt_node_fail(&list, "needs a tuning parameter");
  else if (n > CLT_MAX_PARAMETERS)
    clt_node_fail(&list, "has %zu tuning parameters; the maximum is %d", n, CLT_MAX_PARAMETERS);
  problem->parameters = clt_node_new(&list, CLT_MAX_PARAMETERS, sizeof *problem->parameters);
  for (size_t i = 0; i < n && clt_node_ok(space); i++) {
    clt_node node = clt_node_item(&list, i), values = clt_node_member(&node, "Values");
    clt_tuning_parameter parameter = {0};
    const json_t *stated = json_object_get(node.json, "Default");
    if (!clt_read_object(&node, CLT_NAMES("Name", "Type", "Values", "Default"), false)) return;
    parameter.name = load_name(problem, &node);
    parameter.key = clt_load_key(&values);
    parameter.type = clt_read_text(&node, "Type");
    if (values.json == NULL) {
      clt_node_fail(&node, "needs \"Values\"");
    } else if (json_is_string(values.json)) {
      parameter.values = clt_expand_problem_size(problem, json_string_value(values.json), &values);
    } else if (!json_is_array(values.json)) {
      clt_node_fail(&values, "needs a list, or a string such as \"[1, 2, 4]\"");
    } else {
      parameter.list = values.json;
      if (json_array_size(values.json) == 0) clt_node_fail(&values, "needs a value");
    }
    /* In some T1 files, the default is a list with one item. */
    if (json_is_array(stated)) stated = json_array_get(stated, 0);
    parameter.default_value = json_is_null(stated) ? NULL : stated;
    if (clt_node_ok(space) && parameter.type && strcmp(parameter.type, "permutation") == 0)
      clt_load_permutation(problem, parameter.name, &node);
    else if (clt_node_ok(space) && problem->n_parameters == CLT_MAX_PARAMETERS)
      clt_node_fail(&list, "gives more than %d tuning parameters", CLT_MAX_PARAMETERS);
    else if (clt_node_ok(space))
      problem->parameters[problem->n_parameters++] = parameter;
  }
}

/* --- ConfigurationSpace.Groups, Strategy --- */

#define UNGROUPED SIZE_MAX

static void load_group(clt_problem *problem, size_t parent, const clt_node *list, int depth) {
  size_t group = problem->guidance.n_groups;
  if (group == MAX_GROUPS || depth > MAX_GROUP_DEPTH) {
    clt_node_fail(list, "has more than %d groups, or groups nested more than %d deep", MAX_GROUPS, MAX_GROUP_DEPTH);
    return;
  }
  problem->guidance.group_parents[group] = parent;
  problem->guidance.n_groups++;
  for (size_t i = 0; i < json_array_size(list->json) && clt_node_ok(list); i++) {
    clt_node item = clt_node_item(list, i);
    if (json_is_array(item.json))
      load_group(problem, group, &item, depth + 1);
    else if (!json_is_string(item.json))
      clt_node_fail(&item, "needs the name of a tuning parameter, or a list of them");
    if (!json_is_string(item.json)) continue;
    const char *name = json_string_value(item.json);
    int index = clt_problem_parameter_index(problem, name);
    if (index < 0) {
      clt_node_fail_name(&item, "tuning parameter", name, problem->parameters, problem->n_parameters,
                         sizeof *problem->parameters);
    } else if (problem->guidance.group_of[index] != UNGROUPED) {
      clt_node_fail(&item, "\"%s\" is in two groups; leave it in one", name);
    } else {
      problem->guidance.group_of[index] = group;
    }
  }
}

static void load_space(clt_problem *problem, const clt_node *root) {
  clt_node space = clt_node_member(root, "ConfigurationSpace"), config = clt_node_member(root, "BenchmarkConfig"),
           conditions = clt_node_member(&space, "Conditions"), aliases = clt_node_member(&space, "Aliases"),
           groups = clt_node_member(&space, "Groups");
  const char *name;
  json_t *number;
  if (space.json == NULL) clt_node_fail(root, "needs a \"ConfigurationSpace\"");
  if (!clt_read_object(&space, CLT_NAMES("TuningParameters", "Conditions", "Aliases", "Groups"), false)) return;
  size_t n = clt_read_list(&conditions);
  problem->conditions = clt_node_new(&space, n + CLT_MAX_PARAMETERS, sizeof *problem->conditions);
  load_sizes(problem, root, &config);
  load_parameters(problem, &space);
  /* Whole numbers of BAT's "BenchmarkConfig" can be used in expressions. They cannot be set, and are not passed to the
   * kernel. */
  json_object_foreach((json_t *)config.json, name, number) {
    bool usable = clt_is_name(name) && !clt_is_keyword(name, strlen(name));
    if (clt_node_ok(root) && json_is_integer(number) && usable && !clt_is_declared(problem, name))
      problem->sizes[problem->n_sizes++] = (clt_problem_parameter){
          .name = name, .default_value = json_integer_value(number), .min = INT64_MIN, .max = INT64_MAX};
  }
  for (size_t i = 0; i < n && clt_node_ok(root); i++) {
    clt_node node = clt_node_item(&conditions, i), expression = node;
    if (!json_is_string(node.json)) {
      if (!clt_read_object(&node, CLT_NAMES("Expression", "Parameters"), false)) return;
      expression = clt_node_member(&node, "Expression");
      if (expression.json == NULL) clt_node_fail(&node, "needs an \"Expression\"");
    }
    problem->conditions[problem->n_conditions++] = clt_add_expression(problem, &expression);
  }
  problem->aliases = clt_load_list(&n, &aliases, sizeof *problem->aliases);
  for (size_t i = 0; i < n && clt_node_ok(root); i++) {
    clt_node node = clt_node_item(&aliases, i), value = clt_node_member(&node, "Value");
    if (!clt_read_object(&node, CLT_NAMES("When", "Parameter", "Value"), true)) return;
    clt_stated_alias alias = {.value = value.json, .key = clt_load_key(&node)};
    alias.when = clt_load_expression(problem, &node, "When");
    alias.parameter = clt_read_required_text(&node, "Parameter");
    if (!alias.when) clt_node_fail(&node, "needs a \"When\"");
    if (value.json == NULL) clt_node_fail(&node, "needs a \"Value\"");
    problem->aliases[problem->n_aliases++] = alias;
  }
  clt_read_list(&groups);
  if (groups.json == NULL || !clt_node_ok(root)) return;
  problem->guidance.group_parents = clt_node_new(root, MAX_GROUPS, sizeof *problem->guidance.group_parents);
  problem->guidance.group_of = clt_node_new(root, problem->n_parameters, sizeof *problem->guidance.group_of);
  if (!clt_node_ok(root)) return;
  for (size_t i = 0; i < problem->n_parameters; i++) problem->guidance.group_of[i] = UNGROUPED;
  load_group(problem, 0, &groups, 0);
  for (size_t i = 0; i < problem->n_parameters; i++)
    if (problem->guidance.group_of[i] == UNGROUPED)
      clt_node_fail(&groups, "\"%s\" is in no group; add it to one", problem->parameters[i].name);
}

int64_t *clt_load_integers(size_t *n_out, const clt_node *node, int64_t min, int64_t max, size_t most) {
  clt_error cause = {0};
  clt_value *values = NULL;
  size_t n = clt_node_count(node);
  if (node->json == NULL || !clt_node_ok(node)) return NULL;
  if (json_is_string(node->json))
    clt_node_wrap(node, clt_values_parse(&values, &n, json_string_value(node->json), "int64", NULL, 0, &cause), &cause);
  int64_t *numbers = clt_node_ok(node) ? clt_node_new(node, n, sizeof *numbers) : NULL;
  for (size_t i = 0; numbers && i < n && clt_node_ok(node); i++) {
    clt_node item = clt_node_item(node, i);
    if (values)
      numbers[i] = values[i].integer;
    else if (!clt_json_integer(&numbers[i], item.json))
      clt_node_fail(&item, json_is_array(node->json)
                               ? "needs a whole number"
                               : "needs a whole number, a list of them, or a text such as \"range(1, 11)\"");
  }
  free(values);
  if (n == 0) clt_node_fail(node, "must not be empty");
  if (n > most) clt_node_fail(node, "has %zu numbers; at most %zu are allowed", n, most);
  for (size_t i = 0; numbers && i < n && clt_node_ok(node); i++)
    if (numbers[i] < min || numbers[i] > max)
      clt_node_fail(node, "%lld is out of range; it must be from %lld to %lld", (long long)numbers[i], (long long)min,
                    (long long)max);
  *n_out = n;
  return numbers;
}

clt_setting *clt_load_settings(size_t *n_out, const clt_node *node, int digits) {
  const char *name;
  json_t *value;
  if (node->json == NULL || !clt_read_object(node, NULL, false)) return NULL;
  clt_setting *settings = clt_node_new(node, json_object_size(node->json), sizeof *settings);
  json_object_foreach((json_t *)node->json, name, value) {
    clt_node here = clt_node_member(node, name);
    const char *text = json_string_value(value);
    if (!text && !json_is_boolean(value) && !json_is_number(value))
      clt_node_fail(&here, "needs a string, a number, true or false");
    if (!clt_node_ok(node)) return NULL;
    if (json_is_boolean(value))
      text = json_is_true(value) ? "yes" : "no";
    else if (json_is_integer(value))
      text = clt_node_keep(&here, clt_format("%lld", (long long)json_integer_value(value)));
    else if (json_is_real(value))
      text = clt_node_keep(&here, clt_format("%.*g", digits, json_real_value(value)));
    settings[(*n_out)++] = (clt_setting){name, text};
  }
  return settings;
}

/* --- Metrics, Objective --- */

/* A letter, then letters, digits and some other characters. */
static bool is_metric_name(const char *text) {
  size_t n = strlen(text);
  if (n == 0 || n > MAX_METRIC_NAME_BYTES || !isalpha((unsigned char)text[0])) return false;
  for (const char *c = text; *c; c++)
    if (!isalnum((unsigned char)*c) && strchr("_/.*^-", *c) == NULL) return false;
  return true;
}

static void load_metrics(clt_problem *problem, const clt_node *root) {
  clt_node list = clt_node_member(root, "Metrics");
  clt_guidance *guidance = &problem->guidance;
  guidance->objective = clt_read_text(root, "Objective");
  size_t n;
  guidance->metrics = clt_load_list(&n, &list, sizeof *guidance->metrics);
  if (n > CLT_MAX_METRICS) clt_node_fail(&list, "has %zu metrics; the maximum is %d", n, CLT_MAX_METRICS);
  for (size_t i = 0; i < n && clt_node_ok(root); i++) {
    clt_node entry = clt_node_item(&list, i);
    clt_metric metric = {.goal = CLT_GOAL_NOT_STATED};
    if (!clt_read_object(&entry, CLT_NAMES("Name", "Expression", "Unit", "Goal"), true)) return;
    metric.name = clt_read_required_text(&entry, "Name");
    if (!clt_node_ok(root)) return;
    if (!is_metric_name(metric.name))
      clt_member_fail(&entry, "Name",
                      "must be a letter followed by letters, digits or any of _/.*^- (at most 63 characters)");
    if (strcmp(metric.name, "time") == 0 || strcmp(metric.name, "energy") == 0)
      clt_member_fail(&entry, "Name", "\"%s\" is a built-in metric; choose another name", metric.name);
    for (size_t k = 0; k < guidance->n_metrics; k++)
      if (strcmp(guidance->metrics[k].name, metric.name) == 0)
        clt_member_fail(&entry, "Name", "there are two metrics named \"%s\"", metric.name);
    const char *text = clt_read_required_text(&entry, "Expression"), *unit = clt_read_text(&entry, "Unit");
    metric.unit = unit ? unit : "";
    int goal = clt_read_choice(&entry, "Goal", CLT_NAMES("Minimise", "Maximise", "Minimize", "Maximize"), -1);
    if (goal >= 0) metric.goal = goal % 2 ? CLT_MAXIMISE : CLT_MINIMISE;
    metric.expression = text ? clt_expand_problem_size(problem, text, &entry) : NULL;
    if (clt_node_ok(root)) guidance->metrics[guidance->n_metrics++] = metric;
  }
}

/* Compiles all metrics to report mistakes. */
static int check_metrics(const clt_instance *instance, clt_error *error) {
  const clt_problem *problem = instance->problem;
  clt_metric_scope scope = {.instance = instance, .above = problem->guidance.metrics};
  int rc = CLT_OK;
  for (; rc == CLT_OK && scope.n_above < problem->guidance.n_metrics; scope.n_above++) {
    clt_expr *expr = NULL;
    clt_error cause = {0};
    char key[64];
    snprintf(key, sizeof key, "Metrics[%zu].Expression", scope.n_above);
    rc = clt_metric_compile(&expr, problem->guidance.metrics[scope.n_above].expression, &scope, &cause);
    if (rc) clt_key_wrap(&problem->source, key, rc, error, &cause);
    clt_expr_free(expr);
  }
  return rc;
}

/* --- the problem file --- */

static int load_sections(clt_problem *problem, clt_error *error) {
  clt_reading reading = {&problem->source, error, CLT_OK};
  open_ends open = {0};
  char others[sizeof open.others + 20] = "";
  clt_node root = clt_node_root(&reading), general = clt_node_member(&root, "General"),
           kernel = clt_node_member(&root, "KernelSpecification"), strategy = clt_node_member(&root, "Strategy"),
           options = clt_node_member(&strategy, "Options"), budget = clt_node_member(&root, "Budget"),
           timing = clt_node_member(&root, "Timing");
  const json_t *group = json_object_get(json_object_get(root.json, "Capture"), "Local"), *size;
  size_t i;
  find_open_ends(&open, &root, 0);
  if (open.others[0]) snprintf(others, sizeof others, " (also line %s)", open.others);
  if (open.first.json)
    clt_node_fail(&open.first, "fill in this value%s: %s", others, json_string_value(open.first.json));
  if (json_object_get(root.json, "cache") || json_object_get(root.json, "results"))
    clt_node_fail(&root, "is a recording, not a problem file; 'clatune report' and 'clatune replay' read it");
  clt_read_object(&root,
                  CLT_NAMES("General", "ProblemParameters", "ConfigurationSpace", "KernelSpecification", "Command",
                            "Strategy", "ReferenceArguments", "Reference", "Budget", "Search", "BenchmarkConfig",
                            "Metrics", "Objective", "Timing", "Capture"),
                  false);
  if (general.json)
    clt_read_object(
        &general, CLT_NAMES("BenchmarkName", "FormatVersion", "LoggingLevel", "TimeUnit", "OutputFile", "OutputFormat"),
        false);
  problem->name = clt_read_text(&general, "BenchmarkName");
  /* KTT writes one object, Kernel Tuner a list of them. */
  size_t n_budgets = json_is_object(budget.json) ? 1 : clt_read_list(&budget);
  for (i = 0; i < n_budgets; i++) {
    clt_node entry = clt_node_item(&budget, i);
    clt_read_object(&entry, CLT_NAMES("Type", "BudgetValue"), false);
    bool other =
        clt_read_choice(&entry, "Type", CLT_NAMES("ConfigurationCount", "TuningDuration", "ConfigurationFraction"), 1);
    double count = clt_read_number(&entry, "BudgetValue", 0);
    if (!other && !(count >= 1 && count <= 1e15))
      clt_member_fail(&entry, "BudgetValue", "needs a number of configurations, at least 1");
    if (!other && clt_node_ok(&root)) problem->guidance.budget = (int64_t)count;
  }
  problem->problem_size =
      clt_load_extent(problem, &kernel, "ProblemSize"); /* before other expressions, which may use it */
  load_space(problem, &root);
  clt_load_command(problem, &root);
  if (clt_node_ok(&root) && problem->command == NULL) {
    clt_load_kernel(problem, &root);
    if (problem->language == NULL) clt_load_reference(problem, &root);
  }
  if (strategy.json && clt_read_object(&strategy, CLT_NAMES("Searcher", "Options"), true)) {
    problem->guidance.searcher = clt_read_text(&strategy, "Searcher");
    problem->guidance.settings = clt_load_settings(&problem->guidance.n_settings, &options, 15);
  }
  load_metrics(problem, &root);
  if (timing.json && problem->command) clt_node_fail(&timing, "is for kernels only; remove it");
  if (json_is_array(group)) problem->known_group = 1;
  json_array_foreach(group, i, size) problem->known_group *= (uint64_t)json_integer_value(size);
  if (timing.json && clt_read_object(&timing, CLT_NAMES("Cache"), true))
    problem->guidance.cold_cache = clt_read_choice(&timing, "Cache", CLT_NAMES("warm", "cold"), 0) == 1;
  /* The default name is the kernel's name, else the file name without folder and ending. */
  const char *slash = strrchr(problem->source.path, '/'), *file = slash ? slash + 1 : problem->source.path;
  const char *dot = strrchr(file, '.'), **name = &problem->name;
  if (clt_node_ok(&root) && (*name == NULL || (*name)[0] == 0)) *name = problem->kernel_name;
  if (clt_node_ok(&root) && *name == NULL && problem->n_launches > 0) *name = problem->launches[0].kernel;
  if (clt_node_ok(&root) && *name == NULL)
    *name = clt_node_keep(&root, dot && dot > file ? strndup(file, (size_t)(dot - file)) : strdup(file));
  if (clt_node_ok(&root)) problem->cold_name = clt_node_keep(&root, clt_format("%s%s", *name, CLT_COLD_NAME));
  return reading.rc;
}

int clt_problem_new(clt_problem **out, const char *path, clt_error *error) {
  return clt_problem_parse(out, path, NULL, error);
}

int clt_problem_parse(clt_problem **out, const char *path, const char *text, clt_error *error) {
  clt_problem *problem = calloc(1, sizeof *problem);
  if (problem == NULL) return clt_fail_memory(error);
  clt_error mistake = {0};
  clt_instance *instance = NULL;
  int rc = text ? clt_source_parse(&problem->source, path, text, &mistake)
                : clt_source_read(&problem->source, path, CLT_MAX_TEXT_BYTES, &mistake);
  if (rc == CLT_E_FORMAT && (clt_ends_with(path, ".cl") || clt_ends_with(path, ".ocl"))) /* a frequent mistake */
    clt_fail(error, rc, "'%s' is a kernel, not a problem file; 'clatune init %s' writes one for it", path, path);
  else if (rc == CLT_E_FORMAT && strstr(problem->source.text, "PARAMS") && strstr(problem->source.text, "EVALUATION"))
    clt_fail(error, rc,
             "'%s' is a configuration file of Giles' tuner; convert it with "
             "'python3 -m clatune.compat.giles %s > problem.json'",
             path, path);
  else if (rc && error && error->code == 0)
    *error = mistake;
  if (rc == CLT_OK) problem->folder = clt_source_keep(&problem->source, clt_path_folder(path), error);
  if (rc == CLT_OK && problem->folder == NULL) rc = CLT_E_MEMORY;
  if (rc == CLT_OK) rc = load_sections(problem, error);
  /* Compile everything once with the default sizes, to report mistakes in expressions and values immediately. */
  if (rc == CLT_OK) rc = clt_instance_new_compiled(&instance, problem, NULL, 0, NULL, NULL, error);
  if (rc == CLT_OK) rc = check_metrics(instance, error);
  clt_instance_free(instance);
  if (rc == CLT_OK)
    *out = problem;
  else
    clt_problem_free(problem);
  return rc;
}

void clt_problem_free(clt_problem *problem) {
  if (problem == NULL) return;
  free(problem->expressions);
  clt_source_release(&problem->source);
  free(problem);
}

bool clt_problem_is_file(const char *path) {
  char *text = NULL;
  if (clt_file_read(&text, NULL, path, CLT_MAX_TEXT_BYTES, NULL)) return false;
  json_t *json = json_loads(text, 0, NULL);
  const bool yes = json_object_get(json, "KernelSpecification") || json_object_get(json, "Command");
  json_decref(json);
  free(text);
  return yes;
}
