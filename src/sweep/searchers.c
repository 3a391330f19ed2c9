/* "Searchers": plug-ins with their options, and lists of configurations; "Evaluator". */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "space/expr.h"
#include "sweep/sweep.h"

#define MAX_PLUG_INS 64

/* --- plug-ins --- */

static int no_such(const clt_source *source, const clt_node *node, const char *kind, const char *name,
                   const char *const *names, size_t n, clt_error *error) {
  const char *near = clt_nearest_name(name, names, n);
  if (near) return clt_node_fail(source, node, error, "there is no %s \"%s\"; did you mean \"%s\"?", kind, name, near);
  return clt_node_fail(source, node, error, "there is no %s \"%s\" (see 'clatune tune --help')", kind, name);
}

static int no_such_searcher(const clt_source *source, const clt_node *node, const char *name, clt_error *error) {
  const char *names[MAX_PLUG_INS];
  size_t n = clt_n_searchers() < MAX_PLUG_INS ? clt_n_searchers() : MAX_PLUG_INS;
  for (size_t i = 0; i < n; i++) names[i] = clt_searcher_at(i)->name;
  return no_such(source, node, "searcher", name, names, n, error);
}

static int no_such_evaluator(const clt_source *source, const clt_node *node, const char *name, clt_error *error) {
  const char *names[MAX_PLUG_INS];
  size_t n = clt_n_evaluators() < MAX_PLUG_INS ? clt_n_evaluators() : MAX_PLUG_INS;
  for (size_t i = 0; i < n; i++) names[i] = clt_evaluator_at(i)->name;
  return no_such(source, node, "evaluator", name, names, n, error);
}

/* Reads them once, so that mistakes show before anything is measured. */
static int try_options(const clt_sweep_options *options, const clt_option *table, size_t n_table, size_t size,
                       const clt_source *source, const clt_node *node, clt_error *error) {
  clt_error cause = {0};
  void *parsed = clt_new_array(1, size);
  if (parsed == NULL) return clt_fail_memory(error);
  int rc = clt_options_parse(parsed, size, table, n_table, options->settings, options->n, &cause);
  free(parsed);
  return rc ? clt_key_wrap(source, node->key, CLT_E_FORMAT, error, &cause) : CLT_OK;
}

/* --- listed configurations --- */

static int check_configurations(const clt_source *source, const clt_node *list, clt_error *error) {
  size_t n = json_array_size(list->json);
  int rc = clt_node_list(source, list, error);
  if (rc) return rc;
  if (n == 0 || n > CLT_MAX_SWEEP_LISTED)
    return clt_node_fail(source, list, error, "needs 1 to %d configurations", CLT_MAX_SWEEP_LISTED);
  for (size_t i = 0; i < n; i++) {
    clt_node item = clt_node_item(list, i);
    if (!json_is_object(item.json))
      return clt_node_fail(source, &item, error, "needs a configuration: {\"name\": value, ...}");
  }
  return CLT_OK;
}

static int read_configurations_file(clt_sweep_searcher *out, const clt_sweep *sweep, const char *name,
                                    clt_error *error) {
  clt_source source = {.path = clt_path_join(sweep->folder, name)};
  int rc = source.path ? CLT_OK : clt_fail_memory(error);
  if (rc == CLT_OK) rc = clt_source_read(&source, &out->configurations, CLT_MAX_PLAN_BYTES, error);
  clt_node list = {.json = out->configurations};
  if (rc == CLT_OK) rc = check_configurations(&source, &list, error);
  free(source.text);
  free(source.path);
  return rc;
}

static int read_configurations(clt_sweep_searcher *out, const clt_sweep *sweep, const clt_node *node,
                               clt_error *error) {
  if (json_is_string(node->json)) return read_configurations_file(out, sweep, json_string_value(node->json), error);
  int rc = check_configurations(&sweep->source, node, error);
  if (rc == CLT_OK) out->configurations = json_incref((json_t *)node->json);
  return rc;
}

static json_t *as_json(clt_value value) {
  switch (value.type) {
    case CLT_INT: return json_integer(value.integer);
    case CLT_REAL: return json_real(value.real);
    case CLT_BOOL: return json_boolean(value.integer);
    case CLT_STRING: return json_string(value.text);
  }
  return NULL;
}

/* The values of one parameter of a grid: a scalar, a list of them, or a text as of T1 ("[2**i for i in range(4)]"). A
 * text that is no list is the value itself. */
static json_t *grid_values(const json_t *json) {
  clt_value *values = NULL;
  size_t n = 0;
  if (json_is_array(json)) return json_incref((json_t *)json);
  json_t *list = json_array();
  const char *text = json_string_value(json);
  if (text && clt_values_parse(&values, &n, text, NULL, NULL, 0, NULL) == CLT_OK) {
    for (size_t i = 0; i < n; i++) json_array_append_new(list, as_json(values[i]));
  } else {
    json_array_append(list, (json_t *)json);
  }
  free(values);
  return list;
}

static bool is_scalar(const json_t *json) {
  return json_is_string(json) || json_is_boolean(json) || json_is_number(json);
}

static int read_grid(clt_sweep_searcher *out, const clt_source *source, const clt_node *node, clt_error *error) {
  const char *name;
  json_t *value;
  size_t total = 1;
  int rc = clt_node_object(source, node, error);
  if (rc) return rc;
  out->grid = json_object();
  json_object_foreach((json_t *)node->json, name, value) {
    clt_node here = clt_node_member(node, name);
    json_t *list = here.json ? grid_values(here.json) : NULL;
    size_t n = json_array_size(list);
    bool good = n > 0 && n <= CLT_MAX_SWEEP_LISTED && (total *= n) <= CLT_MAX_SWEEP_LISTED;
    for (size_t i = 0; good && i < n; i++) good = is_scalar(json_array_get(list, i));
    if (!good) {
      json_decref(list);
      return clt_node_fail(source, &here, error, "needs a value, or a list of values; all combinations are at most %d",
                           CLT_MAX_SWEEP_LISTED);
    }
    if (json_object_set_new(out->grid, name, list)) return clt_fail_memory(error);
  }
  return json_object_size(out->grid) ? CLT_OK : clt_node_fail(source, node, error, "must not be empty");
}

/* --- a searcher --- */

static int read_plug_in(clt_sweep_searcher *out, const clt_sweep *sweep, const clt_node *node, const clt_node *options,
                        clt_error *error) {
  const clt_searcher_type *type = clt_searcher_find(out->searcher);
  clt_node name = json_is_string(node->json) ? *node : clt_node_member(node, "Searcher");
  if (type == NULL) return no_such_searcher(&sweep->source, &name, out->searcher, error);
  int rc = clt_sweep_read_options(&out->options, &sweep->source, options, error);
  if (rc) return rc;
  return try_options(&out->options, type->options, type->n_options, type->options_size, &sweep->source, options, error);
}

static int read_members(clt_sweep_searcher *out, const clt_sweep *sweep, const clt_node *node, clt_error *error) {
  static const char *const known[] = {"Name", "Searcher", "Options", "Configurations", "Grid"};
  const clt_source *source = &sweep->source;
  clt_node list = clt_node_member(node, "Configurations"), grid = clt_node_member(node, "Grid");
  clt_node options = clt_node_member(node, "Options");
  int rc = clt_node_known(source, node, known, sizeof known / sizeof *known, true, error);
  if (rc == CLT_OK) rc = clt_node_text(&out->label, source, node, "Name", false, error);
  if (rc == CLT_OK) rc = clt_node_text(&out->searcher, source, node, "Searcher", false, error);
  if (rc) return rc;
  if ((list.json != NULL) + (grid.json != NULL) + (out->searcher != NULL) != 1)
    return clt_node_fail(source, node, error, "needs one of \"Searcher\", \"Configurations\" and \"Grid\"");
  if (out->searcher) return read_plug_in(out, sweep, node, &options, error);
  if (options.json) return clt_node_fail(source, &options, error, "belongs to a \"Searcher\"");
  return list.json ? read_configurations(out, sweep, &list, error) : read_grid(out, source, &grid, error);
}

static int read_searcher(clt_sweep_searcher *out, const clt_sweep *sweep, const clt_node *node, clt_error *error) {
  static const clt_node none = {0};
  int rc;
  if (json_is_string(node->json)) {
    out->searcher = strdup(json_string_value(node->json));
    rc = out->searcher ? read_plug_in(out, sweep, node, &none, error) : clt_fail_memory(error);
  } else {
    rc = clt_node_object(&sweep->source, node, error);
    if (rc == CLT_OK) rc = read_members(out, sweep, node, error);
  }
  if (rc || (out->label && out->label[0])) return rc;
  free(out->label);
  out->label = strdup(out->searcher ? out->searcher : "grid");
  return out->label ? CLT_OK : clt_fail_memory(error);
}

/* Labels tell searchers apart in tables. */
static int check_labels(const clt_sweep_axes *axes, const clt_source *source, const clt_node *list, clt_error *error) {
  for (size_t i = 0; i < axes->n_searchers; i++)
    for (size_t k = 0; k < i; k++)
      if (strcmp(axes->searchers[i].label, axes->searchers[k].label) == 0)
        return clt_node_fail(source, list, error, "\"%s\" stands twice; give one of them another \"Name\"",
                             axes->searchers[i].label);
  return CLT_OK;
}

int clt_sweep_read_searchers(clt_sweep_axes *out, const clt_sweep *sweep, const clt_node *parent, clt_error *error) {
  clt_node list = clt_node_member(parent, "Searchers");
  if (list.json == NULL) return CLT_OK;
  bool one = !json_is_array(list.json);
  size_t n = one ? 1 : json_array_size(list.json);
  if (n == 0 || n > CLT_MAX_SWEEP_SEARCHERS)
    return clt_node_fail(&sweep->source, &list, error, "needs 1 to %d searchers", CLT_MAX_SWEEP_SEARCHERS);
  out->searchers = clt_new_array(n, sizeof *out->searchers);
  if (out->searchers == NULL) return clt_fail_memory(error);
  out->own_searchers = true;
  int rc = CLT_OK;
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_node item = one ? list : clt_node_item(&list, i);
    out->n_searchers++;
    rc = read_searcher(&out->searchers[i], sweep, &item, error);
  }
  return rc ? rc : check_labels(out, &sweep->source, &list, error);
}

void clt_sweep_searchers_free(clt_sweep_searcher *searchers, size_t n) {
  for (size_t i = 0; i < n; i++) {
    clt_sweep_options_release(&searchers[i].options);
    json_decref(searchers[i].configurations);
    json_decref(searchers[i].grid);
    free(searchers[i].label);
    free(searchers[i].searcher);
  }
  free(searchers);
}

/* --- the evaluator --- */

int clt_sweep_read_evaluator(clt_sweep *sweep, const clt_node *root, clt_error *error) {
  static const char *const known[] = {"Evaluator", "Options"};
  const clt_source *source = &sweep->source;
  clt_node node = clt_node_member(root, "Evaluator"), name = node, options = {0};
  int rc = CLT_OK;
  if (node.json == NULL) return CLT_OK;
  if (json_is_string(node.json)) {
    rc = clt_node_text(&sweep->evaluator, source, root, "Evaluator", false, error);
  } else {
    rc = clt_node_object(source, &node, error);
    if (rc == CLT_OK) rc = clt_node_known(source, &node, known, 2, true, error);
    if (rc == CLT_OK) rc = clt_node_text(&sweep->evaluator, source, &node, "Evaluator", false, error);
    name = clt_node_member(&node, "Evaluator");
    options = clt_node_member(&node, "Options");
  }
  if (rc == CLT_OK && sweep->evaluator == NULL && (sweep->evaluator = strdup("opencl")) == NULL)
    rc = clt_fail_memory(error);
  if (rc) return rc;
  const clt_evaluator_type *type = clt_evaluator_find(sweep->evaluator);
  if (type == NULL) return no_such_evaluator(source, &name, sweep->evaluator, error);
  rc = clt_sweep_read_options(&sweep->evaluator_options, source, &options, error);
  if (rc) return rc;
  return try_options(&sweep->evaluator_options, type->options, type->n_options, type->options_size, source, &options,
                     error);
}
