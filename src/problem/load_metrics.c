/* "Metrics" and "Objective": figures of merit. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/metric.h"
#include "problem/parts.h"

static int load_goal(clt_goal *out, const clt_source *source, const clt_node *entry, clt_error *error) {
  static const char *const goals[] = {"Minimise", "Maximise", "Minimize", "Maximize"};
  int choice = -1;
  int rc = clt_node_choice(&choice, source, entry, "Goal", goals, 4, error);
  if (rc == CLT_OK && choice >= 0) *out = choice % 2 ? CLT_MAXIMISE : CLT_MINIMISE;
  return rc;
}

static int check_name(const clt_problem *problem, const clt_stated_metric *m, const clt_node *entry, clt_error *error) {
  clt_node name = clt_node_member(entry, "Name");
  if (!clt_is_metric_name(m->name))
    return clt_node_fail(&problem->source, &name, error,
                         "needs a letter, then letters, digits, '_', '/', '.', '*', '^' or '-', at most 63");
  if (strcmp(m->name, "time") == 0 || strcmp(m->name, "energy") == 0)
    return clt_node_fail(&problem->source, &name, error, "\"%s\" is there without being stated; choose another name",
                         m->name);
  for (const clt_stated_metric *other = problem->metrics; other < m; other++)
    if (strcmp(other->name, m->name) == 0)
      return clt_node_fail(&problem->source, &name, error, "there are two metrics \"%s\"", m->name);
  return CLT_OK;
}

/* Counted before it is filled, so that what was read of it is released on failure. */
static int load_metric(clt_problem *problem, const clt_node *entry, clt_error *error) {
  static const char *const known[] = {"Name", "Expression", "Unit", "Goal"};
  const clt_source *source = &problem->source;
  clt_stated_metric *m = &problem->metrics[problem->n_metrics++];
  char *text = NULL;
  int rc = clt_node_object(source, entry, error);
  if (rc == CLT_OK) rc = clt_node_known(source, entry, known, 4, true, error);
  if (rc == CLT_OK) rc = clt_node_text(&m->name, source, entry, "Name", true, error);
  if (rc == CLT_OK) rc = check_name(problem, m, entry, error);
  if (rc == CLT_OK) rc = clt_node_text(&text, source, entry, "Expression", true, error);
  if (rc == CLT_OK) rc = clt_node_text(&m->unit, source, entry, "Unit", false, error);
  if (rc == CLT_OK) rc = load_goal(&m->goal, source, entry, error);
  if (rc == CLT_OK) {
    m->key = clt_format("%s.Expression", entry->key);
    m->expression = clt_expand_problem_size(problem, text);
    if (m->key == NULL || m->expression == NULL) rc = clt_fail_memory(error);
  }
  free(text);
  return rc;
}

int clt_load_metrics(clt_problem *problem, const clt_node *root, clt_error *error) {
  clt_node list = clt_node_member(root, "Metrics");
  int rc = clt_node_text(&problem->objective, &problem->source, root, "Objective", false, error);
  if (rc || list.json == NULL) return rc;
  rc = clt_node_list(&problem->source, &list, error);
  if (rc) return rc;
  size_t n = json_array_size(list.json);
  if (n > CLT_MAX_METRICS)
    return clt_node_fail(&problem->source, &list, error, "has %zu entries; %d are possible", n, CLT_MAX_METRICS);
  problem->metrics = clt_new_array(n, sizeof *problem->metrics);
  if (problem->metrics == NULL) return clt_fail_memory(error);
  for (size_t i = 0; rc == CLT_OK && i < n; i++) {
    clt_node entry = clt_node_item(&list, i);
    rc = load_metric(problem, &entry, error);
  }
  return rc;
}

void clt_metrics_release(clt_problem *problem) {
  for (size_t i = 0; i < problem->n_metrics; i++) {
    clt_stated_metric *m = &problem->metrics[i];
    free(m->name);
    free(m->expression);
    free(m->unit);
    free(m->key);
  }
  free(problem->metrics);
  free(problem->objective);
}

size_t clt_problem_n_metrics(const clt_problem *problem) { return problem->n_metrics; }

clt_metric clt_problem_metric(const clt_problem *problem, size_t index) {
  const clt_stated_metric *m = &problem->metrics[index];
  return (clt_metric){m->name, m->expression, m->unit ? m->unit : "", m->goal};
}

const char *clt_problem_objective(const clt_problem *problem) { return problem->objective; }
