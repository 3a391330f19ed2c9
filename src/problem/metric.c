#include "problem/metric.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "device/device.h"
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

/* Of the instance, or else of the space and the sizes. */
static int known_symbols(clt_symbol **out, size_t *n_out, const clt_metric_scope *scope, clt_error *error) {
  if (scope->instance) {
    int rc = clt_instance_symbols(scope->instance, out, n_out, error);
    size_t n_parameters = scope->instance->problem->n_parameters;
    /* Where there is no device, the properties' slots lie behind the parameters; here behind all that there could be.
     */
    for (size_t i = 0; rc == CLT_OK && i < *n_out; i++)
      if (!(*out)[i].constant && (*out)[i].slot >= n_parameters)
        (*out)[i].slot += (uint32_t)(CLT_MAX_PARAMETERS - n_parameters);
    return rc;
  }
  size_t n_parameters = clt_space_n_parameters(scope->space), n = 0;
  clt_symbol *symbols = clt_new_array(scope->n_sizes + n_parameters, sizeof *symbols);
  if (symbols == NULL) return clt_fail_memory(error);
  for (size_t i = 0; i < scope->n_sizes; i++)
    symbols[n++] = (clt_symbol){
        .name = scope->sizes[i].name, .constant = true, .value = {CLT_INT, .integer = scope->sizes[i].value}};
  for (size_t i = 0; i < n_parameters; i++) symbols[n++] = variable(clt_space_parameter(scope->space, i)->name, i);
  *out = symbols;
  *n_out = n;
  return CLT_OK;
}

int clt_metric_compile(clt_expr **out, const char *text, const clt_metric_scope *scope, clt_error *error) {
  const clt_metric_slots slots = clt_metric_slots_of();
  clt_symbol *known = NULL, *all = NULL;
  size_t n_known = 0, n = 0;
  int rc = known_symbols(&known, &n_known, scope, error);
  if (rc == CLT_OK && (all = clt_new_array(n_known + 3 + scope->n_above, sizeof *all)) == NULL)
    rc = clt_fail_memory(error);
  if (rc == CLT_OK) { /* of two of one name the later one holds */
    all[n++] = variable("figure", slots.figure);
    for (size_t i = 0; i < scope->n_above; i++) all[n++] = variable(scope->above[i].name, slots.metrics + i);
    for (size_t i = 0; i < n_known; i++) all[n++] = known[i];
    all[n++] = variable("time_s", slots.time);
    all[n++] = variable("energy_J", slots.energy);
    rc = clt_expr_compile(out, text, all, n, error);
  }
  free(known);
  free(all);
  return rc;
}

int clt_metrics_check(const clt_instance *instance, clt_error *error) {
  const clt_problem *problem = instance->problem;
  clt_metric_scope scope = {.instance = instance, .above = problem->metrics};
  int rc = CLT_OK;
  for (; rc == CLT_OK && scope.n_above < problem->n_metrics; scope.n_above++) {
    clt_expr *expr = NULL;
    clt_error cause = {0};
    char key[64];
    snprintf(key, sizeof key, "Metrics[%zu].Expression", scope.n_above);
    rc = clt_metric_compile(&expr, problem->metrics[scope.n_above].expression, &scope, &cause);
    if (rc) clt_key_wrap(&problem->source, key, rc, error, &cause);
    clt_expr_free(expr);
  }
  return rc;
}
