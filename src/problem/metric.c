#include "problem/metric.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "problem/parts.h"

#define MAX_NAME_BYTES 63

bool clt_is_metric_name(const char *text) {
  size_t n = strlen(text);
  if (n == 0 || n > MAX_NAME_BYTES || !isalpha((unsigned char)text[0])) return false;
  for (const char *c = text; *c; c++)
    if (!isalnum((unsigned char)*c) && strchr("_/.*^-", *c) == NULL) return false;
  return true;
}

clt_metric_slots clt_metric_slots_of(void) {
  size_t first = CLT_MAX_PARAMETERS + clt_device_n_properties();
  return (clt_metric_slots){first, first + 1, first + 2, first + 3, first + 3 + CLT_MAX_METRICS};
}

static clt_symbol variable(const char *name, size_t slot) { return (clt_symbol){.name = name, .slot = (uint32_t)slot}; }

/* An instance's symbols: where it has no device, the properties' slots lie behind its parameters; here behind all that
 * there could be. */
static int instance_symbols(clt_symbol **out, size_t *n, const clt_instance *instance, clt_error *error) {
  int rc = clt_instance_symbols(instance, out, n, error);
  size_t n_parameters = instance->problem->n_parameters;
  for (size_t i = 0; rc == CLT_OK && i < *n; i++) {
    clt_symbol *symbol = &(*out)[i];
    if (!symbol->constant && symbol->slot >= n_parameters)
      symbol->slot += (uint32_t)(CLT_MAX_PARAMETERS - n_parameters);
  }
  return rc;
}

static int plain_symbols(clt_symbol **out, size_t *n, const clt_metric_scope *scope, clt_error *error) {
  size_t n_parameters = clt_space_n_parameters(scope->space), n_made = 0;
  clt_symbol *symbols = clt_new_array(scope->n_sizes + n_parameters, sizeof *symbols);
  if (symbols == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < scope->n_sizes; i++)
    symbols[n_made++] = (clt_symbol){
        .name = scope->sizes[i].name, .constant = true, .value = {CLT_INT, .integer = scope->sizes[i].value}};
  for (size_t i = 0; i < n_parameters; i++) symbols[n_made++] = variable(clt_space_parameter(scope->space, i)->name, i);
  *out = symbols;
  *n = n_made;
  return CLT_OK;
}

int clt_metric_compile(clt_expr **out, const char *text, const clt_metric_scope *scope, clt_error *error) {
  const clt_metric_slots slots = clt_metric_slots_of();
  clt_symbol *known = NULL, *all;
  size_t n = 0;
  int rc =
      scope->instance ? instance_symbols(&known, &n, scope->instance, error) : plain_symbols(&known, &n, scope, error);
  if (rc) return rc;
  all = clt_new_array(n + 3 + scope->n_above, sizeof *all);
  if (all == NULL) {
    free(known);
    return clt_fail_memory(error);
  }
  all[0] = variable("figure", slots.figure); /* of two of one name the later one holds */
  for (size_t i = 0; i < scope->n_above; i++) all[1 + i] = variable(scope->above[i].name, slots.metrics + i);
  memcpy(all + 1 + scope->n_above, known, n * sizeof *all);
  n += 1 + scope->n_above;
  all[n++] = variable("time_s", slots.time);
  all[n++] = variable("energy_J", slots.energy);
  rc = clt_expr_compile(out, text, all, n, error);
  free(known);
  free(all);
  return rc;
}

int clt_metrics_check(const struct clt_instance *instance, clt_error *error) {
  const clt_problem *problem = instance->problem;
  clt_metric above[CLT_MAX_METRICS];
  clt_metric_scope scope = {.instance = instance, .above = above};
  int rc = CLT_OK;
  for (; rc == CLT_OK && scope.n_above < problem->n_metrics; scope.n_above++) {
    clt_expr *expr = NULL;
    clt_error cause = {0};
    above[scope.n_above] = clt_problem_metric(problem, scope.n_above);
    rc = clt_metric_compile(&expr, above[scope.n_above].expression, &scope, &cause);
    if (rc) rc = clt_key_wrap(&problem->source, problem->metrics[scope.n_above].key, rc, error, &cause);
    clt_expr_free(expr);
  }
  return rc;
}
